//! Facts about the name, the key or the check at a place, in Markdown.

mod machine;
mod steps;
#[cfg(test)]
mod tests;

use std::ops::Range;

use orange_analysis::catalogue;
use orange_analysis::insight::Insight;
use orange_codegen::Span;
use orange_codegen::model::keys::{Key, NameKind, Object, STEP_WORKFLOW, WORKFLOW};
use orange_codegen::model::occurrences::{Occurrence, occurrences};
use orange_codegen::model::visit::{Visited, visit};
use orange_codegen::model::{Action, Definition, StepValue, Value};
use orange_codegen::syntax::Node;
use orange_core::{COMMANDS, options};

pub use self::machine::contract;
pub(crate) use self::machine::{bare, name_of};
use crate::document::{Document, DocumentKind};

/// Facts about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The text that they are about.
    pub span: Span,
    /// The facts, in Markdown.
    pub text: String,
}

/// Facts about what stands at a byte of a workflow. Those from a search are left out without an insight of this very text.
pub fn hover(document: &Document, insight: Option<&Insight>, offset: u32) -> Option<Hover> {
    if document.kind != DocumentKind::Workflow {
        return None;
    }
    let tree = document.tree()?;
    let definition = document.compilation.definition();
    let object = table(document, definition);
    allowed_check(document.text(), offset)
        .or_else(|| requested_state(document, document.text(), insight, offset))
        .or_else(|| command(document.text(), offset))
        .or_else(|| name(document, definition, insight, tree, object, offset))
        .or_else(|| key(tree, object, offset))
}

/// Facts about what stands at a byte of a file with a prompt of this workflow: a state that is asked for, a command, a placeholder.
pub fn in_prompt(workflow: &Document, insight: Option<&Insight>, text: &str, offset: u32) -> Option<Hover> {
    requested_state(workflow, text, insight, offset).or_else(|| command(text, offset)).or_else(|| {
        let word = word_at(text, offset, |it| it.is_ascii_alphanumeric() || it == b'_')?;
        let name = text.get(word.clone()).filter(|_| text[..word.start].ends_with('{'))?;
        let text = format!("**placeholder** `{name}`: {}", placeholder(name)?);
        Some(Hover { span: span_of(&word), text })
    })
}

/// The keys of the language in which a document is written.
fn table(document: &Document, definition: Option<&Definition>) -> &'static Object {
    let has_steps = match definition {
        Some(Definition::Steps(_)) => true,
        Some(Definition::Machine(_)) => false,
        None => document.tree().is_some_and(|it| it.value_of("steps").is_some()),
    };
    if has_steps { &STEP_WORKFLOW } else { &WORKFLOW }
}

/// The name at a place. Of several, the shortest one is the one that somebody points at.
fn name(
    document: &Document,
    definition: Option<&Definition>,
    insight: Option<&Insight>,
    tree: &Node,
    object: &'static Object,
    offset: u32,
) -> Option<Hover> {
    let found = occurrences(tree, object).into_iter().filter(|it| holds(it.span, offset));
    let occurrence = found.min_by_key(|it| it.span.end - it.span.start)?;
    let text = described(document, definition, insight, &occurrence)?;
    Some(Hover { span: occurrence.span, text })
}

fn described(
    document: &Document,
    definition: Option<&Definition>,
    insight: Option<&Insight>,
    occurrence: &Occurrence,
) -> Option<String> {
    let name = occurrence.name.as_str();
    let of_definition = match definition {
        Some(Definition::Machine(workflow)) => {
            machine::described(document, workflow, insight.and_then(Insight::machine), occurrence)
        }
        Some(Definition::Steps(steps)) => {
            steps::described(steps, insight.and_then(Insight::steps), occurrence)
        }
        None => None,
    };
    of_definition.or_else(|| {
        Some(match occurrence.kind {
            NameKind::Actions => {
                let action = Action::ALL.iter().find(|it| it.name() == name)?;
                format!("**hook** `{name}`\n\n{}", action.doc())
            }
            NameKind::Values => format!("**placeholder** `{name}`: {}", placeholder(name)?),
            NameKind::Workflows => format!("**workflow** `{name}`"),
            NameKind::Harnesses => format!("**harness** `{name}`"),
            NameKind::Files => format!("**file** `{name}`, in the folder of the workflow"),
            NameKind::Actors => format!("**actor** `{name}`: {}", actor(name)),
            NameKind::Reviewers => format!("**reviewer** `{name}`"),
            NameKind::Roles => format!("**role** `{name}`"),
            NameKind::Results => format!("**result** `{name}`"),
            NameKind::Verdicts => format!("**verdict** `{name}`"),
            NameKind::Inputs => format!("**input** `{name}`"),
            NameKind::Outputs => format!("**output** `{name}`"),
            NameKind::States => format!("**state** `{name}`"),
            NameKind::Prompts => format!("**prompt** `{name}`"),
            NameKind::Gates => format!("**gate** `{name}`"),
            NameKind::Counters => format!("**counter** `{name}`"),
            NameKind::Steps => format!("**step** `{name}`"),
            NameKind::Sections => format!("**section** `{name}`"),
        })
    })
}

fn actor(name: &str) -> &'static str {
    match name {
        "worker" => "the agent that does the work",
        "reviewer" => "the agent that judges the work",
        "human" => "a person",
        "engine" => "the engine, when an agent has ended or a time is over",
        _ => "a program, which asks with a token",
    }
}

/// Text that stands in place of a placeholder.
fn placeholder(name: &str) -> Option<&'static str> {
    let of_task = Value::NAMED.iter().find(|(it, _)| *it == name).map(|(_, value)| match value {
        Value::Summary => "the summary of the task",
        Value::Project => "the name of the project",
        Value::Branch => "the branch of the task",
        Value::Status => "the state of the task",
        Value::Id => "the id of the task",
        Value::Workflow => "the name of the workflow",
        Value::Base => "the commit with which the work of the branch is compared",
        Value::Orange => "the program itself, quoted for a shell",
        Value::Reviewer => "the name of the reviewer that is started",
        Value::Port => "the first port of the worktree",
        Value::Counter(_) => "the value of a counter",
    });
    let of_step = || {
        StepValue::ALL.iter().find(|it| it.name() == name).map(|value| match value {
            StepValue::MissionPrompt => "what the start of the mission asks for",
            StepValue::WorktreePath => "the path of the worktree",
            StepValue::Context => "the summaries of the steps on which this step depends",
            StepValue::Step => "the id of the step",
            StepValue::Attempt => "the number of the attempt",
            StepValue::Branch => "the branch of the mission",
            StepValue::Base => "the commit with which the work of the branch is compared",
            StepValue::Item => "the element of the list in `for_each`",
        })
    };
    of_task.or_else(of_step)
}

/// The meaning of the key at a place.
fn key(tree: &Node, object: &'static Object, offset: u32) -> Option<Hover> {
    let mut found: Option<(Span, &'static Key)> = None;
    visit(tree, object, &mut |_, visited| {
        if let Visited::Key { node, key: Some(key) } = visited
            && holds(node.span, offset)
        {
            found = Some((node.span, key));
        }
    });
    let (span, key) = found?;
    let required = if key.required { " (required)" } else { "" };
    Some(Hover { span, text: format!("**{}**{required}\n\n{}", key.name, key.doc) })
}

/// The check that a comment allows at a place.
fn allowed_check(text: &str, offset: u32) -> Option<Hover> {
    let line = line_at(text, offset)?;
    let comment = text.get(line.clone())?;
    let allow = comment.find("orange: allow(")?;
    let end = allow + comment.get(allow..)?.find(')')?;
    let word = word_at(text, offset, |it| it.is_ascii_alphanumeric() || it == b'-')?;
    let is_within = word.start >= line.start + allow + "orange: allow(".len() && word.end <= line.start + end;
    let check = catalogue::find(text.get(word.clone())?).filter(|_| is_within)?;
    let page = format!("{}\n\n{}", catalogue::summary(check), catalogue::page(check));
    Some(Hover { span: span_of(&word), text: format!("**{} {}**\n\n{page}", check.code, check.name) })
}

/// The state that a command in a prompt asks for.
fn requested_state(workflow: &Document, text: &str, insight: Option<&Insight>, offset: u32) -> Option<Hover> {
    let word = word_at(text, offset, |it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_')?;
    let before = text.get(..word.start)?.trim_end_matches(' ');
    if !before.ends_with("--status") {
        return None;
    }
    let Definition::Machine(machine) = workflow.compilation.definition()? else { return None };
    let name = text.get(word.clone())?;
    let state = machine.states.iter().find(|it| it.name.value == name)?;
    let insight = insight.and_then(Insight::machine);
    Some(Hover { span: span_of(&word), text: machine::state(workflow, machine, insight, state) })
}

/// The command of `orange` at a place in a prompt, with its options.
fn command(text: &str, offset: u32) -> Option<Hover> {
    let line = line_at(text, offset)?;
    let at = (offset as usize).checked_sub(line.start)?;
    let shown = text.get(line.clone())?;
    let starts = shown.match_indices("orange").filter(|(start, _)| *start <= at);
    let (start, program) = starts.last()?;
    let rest = shown.get(start + program.len()..)?.trim_start_matches('}');
    let mut words = rest.strip_prefix(' ')?.split(' ');
    let first = words.next()?;
    let (_, below) = COMMANDS.iter().find(|(name, _)| *name == first)?;
    let name = match words.next().map(|it| it.trim_end_matches(|it: char| !it.is_ascii_alphanumeric())) {
        Some(second) if below.contains(&second) => format!("{first} {second}"),
        Some(_) | None if below.is_empty() => first.to_owned(),
        Some(_) | None => return None,
    };
    let end = start + program.len() + (shown.len() - start - program.len() - rest.len()) + 1 + name.len();
    if at > end {
        return None;
    }
    let known: Vec<String> = options(&name).map(|it| format!("`--{it}`")).collect();
    let span = Span::new((line.start + start) as u32, (line.start + end).min(line.end) as u32);
    Some(Hover { span, text: format!("**command** `orange {name}`\n\nOptions: {}", known.join(", ")) })
}

/// The bytes of the line around a byte.
fn line_at(text: &str, offset: u32) -> Option<Range<usize>> {
    let at = offset as usize;
    let start = text.get(..at)?.rfind('\n').map_or(0, |it| it + 1);
    let end = text.get(at..)?.find('\n').map_or(text.len(), |it| at + it);
    Some(start..end)
}

/// The bytes of the word around a byte.
fn word_at(text: &str, offset: u32, is_part: impl Fn(u8) -> bool) -> Option<Range<usize>> {
    let (at, bytes) = (offset as usize, text.as_bytes());
    let before = bytes.get(..at)?.iter().rev().take_while(|it| is_part(**it)).count();
    let after = bytes.get(at..)?.iter().take_while(|it| is_part(**it)).count();
    (before + after > 0).then_some(at - before..at + after)
}

fn holds(span: Span, offset: u32) -> bool {
    (span.start..=span.end).contains(&offset)
}

fn span_of(range: &Range<usize>) -> Span {
    Span::new(range.start as u32, range.end as u32)
}
