//! The names that stand in a file: where each is defined, and where it is meant.
//!
//! The table of keys says which values are names; a name is resolved by its kind, its text and its step. Whether a
//! reference has a definition is for the decoder to report.

use std::ops::Range;

use super::keys::{MapKeys, NameKind, Object, PromptKind, Takes};
use super::visit::{Ancestor, Visited, visit};
use super::{prompts, step_condition, step_prompt};
use crate::guard;
use crate::span::Span;
use crate::syntax::{Node, NodeKind, Scalar, Text};

/// A name in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// Its place, without quotes.
    pub span: Span,
    /// Kind of the thing that has the name.
    pub kind: NameKind,
    /// The name.
    pub name: String,
    /// The step that a result or an output belongs to.
    pub step: Option<String>,
    /// True if the thing is defined here.
    pub is_definition: bool,
}

impl Occurrence {
    /// True if both name one thing.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.kind, &self.name, &self.step) == (other.kind, &other.name, &other.step)
    }
}

/// The names in the tree of a file, whose values the table describes so, in the order of the source. Texts of included files are not
/// looked into.
pub fn occurrences(tree: &Node, object: &'static Object) -> Vec<Occurrence> {
    let mut found = Vec::new();
    visit(tree, object, &mut |ancestors, visited| match visited {
        Visited::Name { scalar, keys, .. } => {
            let (kind, is_definition) = match keys {
                MapKeys::New(kind) => (kind, true),
                MapKeys::Known(kind) => (kind, false),
            };
            found.push(whole(kind, scalar, step_of(kind, ancestors), is_definition));
        }
        Visited::Value { node, takes } => {
            if let NodeKind::Scalar(scalar) = &node.kind
                && !scalar.is_null()
            {
                value(&mut found, ancestors, scalar, takes);
            }
        }
        Visited::Object { .. } | Visited::Key { .. } => {}
    });
    found.sort();
    found.dedup();
    found
}

/// The names of values and counters in a text with placeholders.
pub fn in_prompt(text: &Text, kind: PromptKind) -> Vec<Occurrence> {
    let trimmed = |word: Range<usize>| step_condition::trimmed(&text.value, word);
    match kind {
        PromptKind::Task | PromptKind::Message => {
            let value = |word: Range<usize>| match prompts::is_value(&text.value[word.clone()]) {
                true => part(NameKind::Values, text, word, None),
                false => part(NameKind::Counters, text, word, None),
            };
            prompts::placeholders(&text.value).map(trimmed).map(value).collect()
        }
        PromptKind::Step => {
            let names = |word: Range<usize>| match text.value[word.clone()].contains('.') {
                true => parts(text, step_condition::operand_names(&text.value, word)).collect(),
                false => vec![part(NameKind::Values, text, word, None)],
            };
            step_prompt::placeholders(&text.value).map(trimmed).flat_map(names).collect()
        }
    }
}

fn value(found: &mut Vec<Occurrence>, ancestors: &[Ancestor<'_>], scalar: &Scalar, takes: &Takes) {
    let text = &scalar.text;
    match takes {
        Takes::Name(kind) => found.push(whole(*kind, scalar, step_of(*kind, ancestors), false)),
        Takes::NameOr(kind, words) if !words.contains(&text.value.as_str()) => {
            found.push(whole(*kind, scalar, None, false));
        }
        Takes::NewName(kind) => found.push(whole(*kind, scalar, step_of(*kind, ancestors), true)),
        Takes::Heading => found.push(Occurrence {
            name: text.value.trim().to_owned(),
            ..whole(NameKind::Sections, scalar, None, false)
        }),
        Takes::Guard => {
            found.extend(guard::parse::names(&text.value).map(|it| part(NameKind::Counters, text, it, None)));
        }
        Takes::Condition => found.extend(parts(text, step_condition::names(&text.value))),
        Takes::ListName => {
            found.extend(parts(text, step_condition::operand_names(&text.value, 0..text.value.len())))
        }
        Takes::Prompt(kind) => found.extend(in_prompt(text, *kind)),
        Takes::NameOr(..)
        | Takes::Text
        | Takes::Boolean
        | Takes::Integer(_)
        | Takes::Word(_)
        | Takes::Duration
        | Takes::Scalar
        | Takes::Object(_)
        | Takes::Tagged(..)
        | Takes::List(_)
        | Takes::OneOrList(_)
        | Takes::OneOf(_)
        | Takes::Map(..) => {}
    }
}

fn parts(text: &Text, names: Vec<step_condition::NamedPart>) -> impl Iterator<Item = Occurrence> {
    names.into_iter().map(|it| part(it.kind, text, it.range, it.step.map(|step| text.value[step].to_owned())))
}

/// The step that the mapping with a result or an output is about.
fn step_of(kind: NameKind, ancestors: &[Ancestor<'_>]) -> Option<String> {
    let is_of_step = matches!(kind, NameKind::Results | NameKind::Outputs);
    let mapping = ancestors.last().filter(|_| is_of_step)?.node;
    let id = ["id", "complete"].iter().find_map(|key| mapping.value_of(key)?.text())?;
    Some(id.to_owned())
}

fn whole(kind: NameKind, scalar: &Scalar, step: Option<String>, is_definition: bool) -> Occurrence {
    let text = &scalar.text;
    Occurrence { is_definition, ..part(kind, text, 0..text.value.len(), step) }
}

fn part(kind: NameKind, text: &Text, range: Range<usize>, step: Option<String>) -> Occurrence {
    let span = text.locate(range.start, range.end);
    Occurrence { span, kind, name: text.value[range].to_owned(), step, is_definition: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::keys::{STEP_WORKFLOW, WORKFLOW};
    use crate::source::Source;
    use crate::syntax;

    /// Each name as `kind name`, with `*` before one that is defined there.
    #[track_caller]
    fn check(file: &str, text: &str, object: &'static Object, expect: &[&str]) {
        let tree = syntax::parse(&Source::new(file, text)).0.unwrap();
        let found = occurrences(&tree, object);
        let shown = found.iter().map(|it| {
            assert_eq!(&text[it.span.range()], it.name, "{it:?}");
            let definition = if it.is_definition { "*" } else { "" };
            let step = it.step.as_ref().map(|it| format!(" of {it}")).unwrap_or_default();
            format!("{definition}{:?} {}{step}", it.kind, it.name)
        });
        assert_eq!(shown.collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn names_of_a_workflow() {
        check(
            "a.yml",
            "name: a\nfields: {tries: 0}\nactors: [ci]\nstates: {'x': {on_timeout: y, timeout: 1h}, y: }\ngates: {g: {section: '## S'}}\n",
            &WORKFLOW,
            &[
                "*Workflows a",
                "*Counters tries",
                "*Actors ci",
                "*States x",
                "States y",
                "*States y",
                "*Gates g",
                "Sections ## S",
            ],
        );
        check(
            "a.yml",
            "transitions:\n  - {from: [x, \"y\"], to: z, by: [worker, ci], gate: {all: [g, {section: '## S'}]}, when: 'tries < 2 and review_round>1', reset: tries,\n     hooks: [{action: spawn_reviewer, prompt: p, name: one}, {action: notify, message: 'a {orange} {{b}}'}]}\n",
            &WORKFLOW,
            &[
                "States x",
                "States y",
                "States z",
                "Actors ci",
                "Gates g",
                "Sections ## S",
                "Counters tries",
                "Counters review_round",
                "Counters tries",
                "Actions spawn_reviewer",
                "Prompts p",
                "*Reviewers one",
                "Actions notify",
                "Values orange",
            ],
        );
        check(
            "a.yml",
            "prompts:\n  p: |\n    Do {summary} {tries},\n    {{no}}\n  q: {include: q.md}\n",
            &WORKFLOW,
            &["*Prompts p", "Values summary", "Counters tries", "*Prompts q", "Files q.md"],
        );
    }

    #[test]
    fn names_of_steps() {
        check(
            "a.toml",
            "[workflow]\nname = \"a\"\nroles = ['dev']\n[[steps]]\nid = \"one\"\nrole = \"dev\"\nprompt = \"{{ context }}\"\nresults = ['OK']\n\
             [[steps]]\nid = 'two'\ndepends_on = [\"one\"]\ncondition = \"one.result == 'OK'\"\n",
            &STEP_WORKFLOW,
            &[
                "*Workflows a",
                "*Roles dev",
                "*Steps one",
                "Roles dev",
                "Values context",
                "*Results OK of one",
                "*Steps two",
                "Steps one",
                "Steps one",
                "Results OK of one",
            ],
        );
    }
}
