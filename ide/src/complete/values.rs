//! Completion of keys, names and words.

use std::cmp::Reverse;

use orange_analysis::catalogue;
use orange_codegen::model::keys::{ACTIONS, MapKeys, NameKind, Object, Takes};
use orange_codegen::model::visit::{Ancestor, Visited, visit};
use orange_codegen::model::{ANY, Definition, Workflow};
use orange_codegen::syntax::{Node, NodeKind, Text};
use orange_codegen::{Format, Span};

use super::place::{Found, Wanted};
use super::{CURSOR, Completion, CompletionKind, CursorWord, operands, prompt};
use crate::document::{Document, DocumentKind};
use crate::project::{Project, keys_of};
use crate::workspace::Workspace;

/// The request, and what is known of its document.
pub(super) struct Asked<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) document: &'a Document,
    pub(super) project: &'a Project<'a>,
    pub(super) cursor: &'a CursorWord<'a>,
    /// True if a value in TOML has no quotes yet.
    pub(super) is_open: bool,
}

/// The checks that a comment can allow, if the cursor stands in one that does.
pub(super) fn allowed_checks(cursor: &CursorWord<'_>) -> Option<Vec<Completion>> {
    let (_, comment) = cursor.line_before().rsplit_once('#')?;
    let list = comment.trim_start().strip_prefix("orange: allow(")?;
    if list.contains(')') {
        return None;
    }
    let completion = |check: &&'static orange_codegen::catalogue::Check| Completion {
        label: check.name.to_owned(),
        kind: CompletionKind::Check,
        detail: Some(catalogue::summary(check).to_owned()),
        span: cursor.word,
        text: check.name.to_owned(),
    };
    Some(catalogue::all().iter().map(completion).collect())
}

/// The words that can stand at a place.
pub(super) fn at(asked: &Asked<'_>, found: &Found<'_>) -> Vec<Completion> {
    match &found.wanted {
        Wanted::Key { objects, present } => keys(asked, objects, present),
        Wanted::Name { keys: MapKeys::Known(kind), present } => {
            let names = asked.project.names(*kind).into_iter();
            let names = names.filter(|it| !present.contains(&it.as_str()));
            names.map(|it| asked.key(&it, CompletionKind::Name(*kind), None)).collect()
        }
        Wanted::Name { keys: MapKeys::New(_), .. } => Vec::new(),
        Wanted::Value { takes, text } => asked.value(found, takes, text),
    }
}

fn keys(asked: &Asked<'_>, objects: &[&'static Object], present: &[&str]) -> Vec<Completion> {
    let mut keys: Vec<_> = objects.iter().flat_map(|it| it.keys).collect();
    keys.retain(|it| !present.contains(&it.name));
    let used = used_keys(asked);
    let uses = |name: &str| used.iter().filter(|it| **it == name).count();
    keys.sort_by_key(|it| (!it.required, Reverse(uses(it.name))));
    let mut found: Vec<Completion> = Vec::new();
    for key in keys {
        if found.iter().all(|it| it.label != key.name) {
            let detail = if key.required { format!("{} Required.", key.doc) } else { key.doc.to_owned() };
            found.push(asked.key(key.name, CompletionKind::Key, Some(detail)));
        }
    }
    found
}

/// The keys of the document, each as often as it stands there.
fn used_keys(asked: &Asked<'_>) -> Vec<&'static str> {
    let mut used = Vec::new();
    if let Some((tree, keys)) = asked.document.tree().zip(keys_of(asked.workspace, asked.document)) {
        visit(tree, keys, &mut |_, visited| {
            if let Visited::Key { key: Some(key), .. } = visited {
                used.push(key.name);
            }
        });
    }
    used
}

impl Asked<'_> {
    fn key(&self, name: &str, kind: CompletionKind, detail: Option<String>) -> Completion {
        let behind = self.cursor.line_behind().trim_start();
        let sign = match self.document.source.format {
            _ if behind.starts_with([':', '=', '"', '\'']) => "",
            Format::Yaml => ": ",
            Format::Toml => " = ",
        };
        let text = format!("{name}{sign}");
        Completion { label: name.to_owned(), kind, detail, span: self.cursor.word, text }
    }

    fn value(&self, found: &Found<'_>, takes: &'static Takes, text: &Text) -> Vec<Completion> {
        match takes {
            Takes::Boolean => self.words(&["true", "false"], text),
            Takes::Word(words) => self.words(words, text),
            Takes::Name(kind) => self.names(found, *kind, text),
            Takes::NameOr(kind, words) => {
                let mut all = self.words(words, text);
                all.extend(self.names(found, *kind, text));
                all
            }
            Takes::Heading => self.names(found, NameKind::Sections, text),
            Takes::Guard => self.guard(text),
            Takes::Condition => self.condition(text),
            Takes::ListName => {
                let before = text.value.split(CURSOR).next().unwrap_or_default();
                let words = operands::operand(self.project, before).into_iter();
                words.map(|(label, kind)| self.part(label, kind)).collect()
            }
            Takes::Prompt(kind) => {
                let before = text.value.split(CURSOR).next().unwrap_or_default();
                prompt::complete(self.project, *kind, before, self.cursor.word)
            }
            Takes::OneOf(several) => several.iter().flat_map(|it| self.value(found, it, text)).collect(),
            Takes::OneOrList(inner) => self.value(found, inner, text),
            Takes::NewName(_)
            | Takes::Text
            | Takes::Integer(_)
            | Takes::Duration
            | Takes::Scalar
            | Takes::Object(_)
            | Takes::Tagged(..)
            | Takes::List(_)
            | Takes::Map(..) => Vec::new(),
        }
    }

    /// A value that takes the place of the whole scalar.
    fn whole(&self, label: String, kind: CompletionKind, text: &Text) -> Completion {
        let at = text.value.find(CURSOR).unwrap_or_default();
        let behind = text.value.len().saturating_sub(at + CURSOR.len());
        let word = self.cursor.word;
        let span = Span::new(word.start.saturating_sub(at as u32), word.end + behind as u32);
        let is_quoted = self.document.text()[..span.start as usize].ends_with(['"', '\'']);
        let wants_quotes = self.is_open || (!is_quoted && label.starts_with(['#', '*', '&', '!', '@']));
        let text = if wants_quotes { format!("\"{label}\"") } else { label.clone() };
        Completion { label, kind, detail: None, span, text }
    }

    fn words(&self, words: &[&str], text: &Text) -> Vec<Completion> {
        words.iter().map(|it| self.whole((*it).to_owned(), CompletionKind::Word, text)).collect()
    }

    fn names(&self, found: &Found<'_>, kind: NameKind, text: &Text) -> Vec<Completion> {
        let names = match kind {
            NameKind::Actions => ACTIONS.iter().map(|it| it.what.to_owned()).collect(),
            NameKind::Files => self.files(),
            NameKind::Sections => self.project.sections(),
            NameKind::Roles => {
                let mut roles = self.project.names(kind);
                roles.push(ANY.to_owned());
                roles
            }
            NameKind::Results => self.project.results(step_around(found)),
            NameKind::States
            | NameKind::Prompts
            | NameKind::Gates
            | NameKind::Counters
            | NameKind::Steps
            | NameKind::Harnesses
            | NameKind::Actors
            | NameKind::Reviewers
            | NameKind::Verdicts
            | NameKind::Values
            | NameKind::Inputs
            | NameKind::Outputs
            | NameKind::Workflows => self.project.names(kind),
        };
        let rank = |it: &str| (self.rank(found, kind, it), Reverse(self.project.uses(kind, it)));
        let listed = listed_beside(found, kind, text);
        let names = names.into_iter().filter(|it| !it.is_empty() && !listed.contains(&it.as_str()));
        let mut ranked: Vec<_> = names.map(|it| (rank(&it), it)).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let kind = CompletionKind::Name(kind);
        ranked.into_iter().map(|(_, name)| self.whole(name, kind, text)).collect()
    }

    /// Rank of a name: 0 for one that is probably meant.
    fn rank(&self, found: &Found<'_>, kind: NameKind, name: &str) -> u32 {
        let Some(ancestor) = found.ancestors.last() else { return 1 };
        let near = |key: &str| ancestor.node.value_of(key).map(words_of).unwrap_or_default();
        let machine = match self.project.workflow.compilation.definition() {
            Some(Definition::Machine(workflow)) => Some(workflow),
            Some(Definition::Steps(_)) | None => None,
        };
        match (kind, ancestor.key) {
            (NameKind::States, "from" | "status") if self.document.kind == DocumentKind::Workflow => {
                let is_terminal =
                    machine.is_some_and(|it| it.states.iter().any(|it| it.terminal && it.name.value == name));
                u32::from(is_terminal)
            }
            (NameKind::States, "to") => u32::from(near("from").contains(&name)),
            (NameKind::States, "then") => {
                let from =
                    found.ancestors.iter().rev().find_map(|it| it.node.value_of("status")).map(words_of);
                let is_declared = machine.is_some_and(|it| leads(it, &from.unwrap_or_default(), name));
                u32::from(!is_declared)
            }
            (NameKind::States, command) => u32::from(!usual(command).contains(&name)),
            (NameKind::Prompts, _) => self.rank_of_prompt(found, name),
            _ => 1,
        }
    }

    /// A prompt is probably the one that is named like its state, or that nothing starts yet.
    fn rank_of_prompt(&self, found: &Found<'_>, name: &str) -> u32 {
        let states = |key| found.ancestors.iter().rev().find_map(|it| it.node.value_of(key)).map(words_of);
        let near: Vec<&str> = match found.ancestors.iter().rev().nth(1) {
            Some(Ancestor { object: None, key, .. }) => vec![key],
            Some(_) | None => states("to").unwrap_or_default(),
        };
        let action =
            found.ancestors.last().and_then(|it| it.node.value_of("action")?.text()).unwrap_or_default();
        let is_alike = |it: &&str| it.contains(name) || name.contains(*it);
        let mentions = &self.project.mentions;
        let is_used = mentions.iter().any(|it| {
            it.occurrence.kind == NameKind::Prompts
                && !it.occurrence.is_definition
                && it.occurrence.name == name
        });
        match () {
            () if near.iter().any(is_alike) => 0,
            () if !is_used => 1,
            () if action.contains("reviewer") == name.contains("review") => 2,
            () => 3,
        }
    }

    /// The files beside a workflow that can hold a prompt, or of scenarios the workflows.
    fn files(&self) -> Vec<String> {
        let Some(folder) = self.document.path.parent() else { return Vec::new() };
        let wants_workflow = self.document.kind == DocumentKind::Scenarios;
        let is_meant = |name: &str| match wants_workflow {
            true => {
                [".yml", ".yaml", ".toml"].iter().any(|it| name.ends_with(it)) && !name.contains(".test.")
            }
            false => [".md", ".txt"].iter().any(|it| name.ends_with(it)),
        };
        let mut found: Vec<String> = self.workspace.files_in(folder);
        found.retain(|it| is_meant(it));
        found
    }

    /// In a clause a counter, behind it a comparison.
    fn guard(&self, text: &Text) -> Vec<Completion> {
        let before = text.value.split(CURSOR).next().unwrap_or_default().trim_end();
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let word = |label: &str, kind| Completion {
            label: label.to_owned(),
            kind,
            detail: None,
            span: self.cursor.word,
            text: label.to_owned(),
        };
        if before.ends_with(['<', '>', '=']) {
            return ["0", "1", "2", "3"].iter().map(|it| word(it, CompletionKind::Word)).collect();
        }
        if before.ends_with(is_word) {
            let last = before.rsplit(|it| !is_word(it)).next().unwrap_or_default();
            let is_number = last.starts_with(|it: char| it.is_ascii_digit());
            let signs: &[&str] = if is_number { &["&&", "||"] } else { &["<", "<=", "==", "!=", ">=", ">"] };
            return signs.iter().map(|it| word(it, CompletionKind::Word)).collect();
        }
        let kind = CompletionKind::Name(NameKind::Counters);
        self.project.names(NameKind::Counters).iter().map(|it| word(it, kind)).collect()
    }

    /// `step.field == 'value'`.
    fn condition(&self, text: &Text) -> Vec<Completion> {
        let before = text.value.split(CURSOR).next().unwrap_or_default();
        let words = operands::condition(self.project, before).into_iter();
        words.map(|(label, kind)| self.part(label, kind)).collect()
    }

    /// A word that takes the place of the one at the cursor.
    fn part(&self, label: String, kind: CompletionKind) -> Completion {
        Completion { text: label.clone(), label, kind, detail: None, span: self.cursor.word }
    }
}

/// The step that a result is of.
fn step_around<'n>(found: &Found<'n>) -> Option<&'n str> {
    let mapping = found.ancestors.last()?.node;
    ["id", "complete"].iter().find_map(|key| mapping.value_of(key)?.text())
}

/// The other names of the list in which a name stands, where a list has each once.
fn listed_beside<'n>(found: &Found<'n>, kind: NameKind, text: &Text) -> Vec<&'n str> {
    let is_once = matches!(kind, NameKind::States | NameKind::Counters | NameKind::Actors | NameKind::Steps);
    let list = found.ancestors.last().and_then(|it| it.node.value_of(it.key));
    let list = list.filter(|it| is_once && matches!(it.kind, NodeKind::Sequence(_)));
    let mut words = list.map(words_of).unwrap_or_default();
    words.retain(|word| *word != text.value);
    words
}

fn words_of(node: &Node) -> Vec<&str> {
    match &node.kind {
        NodeKind::Sequence(items) => items.iter().filter_map(Node::text).collect(),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) => node.text().into_iter().collect(),
    }
}

fn leads(workflow: &Workflow, from: &[&str], to: &str) -> bool {
    let name = |it: orange_codegen::model::StateId| workflow.states[usize::from(it.0)].name.value.as_str();
    workflow.transitions.iter().any(|it| from.contains(&name(it.from.value)) && name(it.to.value) == to)
}

/// The usual states of a command.
fn usual(command: &str) -> &'static [&'static str] {
    match command {
        "spawn" => &["working"],
        "clarify" => &["clarification"],
        "review" => &["agent-review"],
        "merge" => &["done"],
        "cancel" => &["cancelled"],
        "crash" => &["stuck"],
        _ => &[],
    }
}
