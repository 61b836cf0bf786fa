//! The keys that say what the usual names of states mean, once a state has another name: `commands` and `entry`.

use orange_codegen::model::{Commands, Definition, StateId, Workflow};
use orange_codegen::syntax::{Node, NodeKind};
use orange_codegen::{Compilation, Format, Span};

use super::{FileEdit, Location};
use crate::project::Project;

/// A command, and the state to which a workflow leads it.
type Command = (&'static str, fn(&Commands) -> Option<StateId>);

const COMMANDS: [Command; 6] = [
    ("spawn", |it| it.spawn),
    ("clarify", |it| it.clarify),
    ("review", |it| it.review),
    ("merge", |it| it.merge),
    ("cancel", |it| it.cancel),
    ("crash", |it| it.crash),
];

/// The edit that says which state each command leads to, where that would be another one after a rename.
pub(super) fn kept(project: &Project<'_>, before: &Compilation, after: &Compilation) -> Option<FileEdit> {
    let (Definition::Machine(before), Definition::Machine(after)) =
        (before.definition()?, after.definition()?)
    else {
        return None;
    };
    let lost = COMMANDS.iter().filter_map(|(name, state)| {
        let led = state(&before.commands).filter(|it| state(&after.commands) != Some(*it))?;
        Some(format!("{name}: {}", after.states.get(usize::from(led.0))?.name.value))
    });
    let lost: Vec<String> = lost.collect();
    let workflow = &project.workflow;
    if lost.is_empty() || workflow.source.format == Format::Toml {
        return None;
    }
    let (at, text) = place(workflow.tree()?, workflow.text(), &lost)?;
    let location = Location { path: workflow.path.clone(), span: Span::at(at) };
    Some(FileEdit { location, text, in_text: false })
}

/// The edits that say in which states a task may be created, where these are the usual ones and would be others after a rename.
pub(super) fn entries_kept(
    project: &Project<'_>,
    before: &Compilation,
    after: &Compilation,
) -> Option<Vec<FileEdit>> {
    let (Definition::Machine(before), Definition::Machine(after)) =
        (before.definition()?, after.definition()?)
    else {
        return None;
    };
    let entries = |it: &Workflow| it.states.iter().map(|it| it.entry).collect::<Vec<_>>();
    let workflow = &project.workflow;
    if entries(before) == entries(after) || workflow.source.format == Format::Toml {
        return None;
    }
    let states = workflow.tree()?.value_of("states")?;
    let NodeKind::Mapping(declared) = &states.kind else { return None };
    let is_entry = |name: &str| before.states.iter().any(|it| it.entry && it.name.value == name);
    let marked = declared.iter().filter(|(key, _)| key.text().is_some_and(is_entry));
    let edits = marked.map(|(key, value)| {
        let (at, text) = entry_mark(key, value, workflow.text())?;
        let location = Location { path: workflow.path.clone(), span: Span::at(at) };
        Some(FileEdit { location, text, in_text: false })
    });
    edits.collect()
}

/// The place at which a state says that a task may be created in it, and the text.
fn entry_mark(name: &Node, state: &Node, text: &str) -> Option<(u32, String)> {
    const MARK: &str = "entry: true";
    let NodeKind::Mapping(keys) = &state.kind else {
        let colon = text.get(name.span.end as usize..)?.starts_with(':');
        return colon.then(|| (name.span.end + 1, format!(" {{{MARK}}}")));
    };
    if text.get(state.span.start as usize..)?.starts_with('{') {
        let separator = if keys.is_empty() { "" } else { ", " };
        return Some((state.span.start + 1, format!("{MARK}{separator}")));
    }
    let at = keys.first()?.0.span.start;
    let line = &text[text[..at as usize].rfind('\n').map_or(0, |it| it + 1)..at as usize];
    line.trim().is_empty().then(|| (at, format!("{MARK}\n{line}")))
}

/// The place of the entries, and their text: before the first entry of `commands`, or before `states`.
fn place(tree: &Node, text: &str, entries: &[String]) -> Option<(u32, String)> {
    let Some(commands) = tree.value_of("commands") else {
        let NodeKind::Mapping(keys) = &tree.kind else { return None };
        let at = keys.iter().find(|(key, _)| key.text() == Some("states"))?.0.span.start;
        return Some((at, format!("commands: {{{}}}\n", entries.join(", "))));
    };
    let NodeKind::Mapping(keys) = &commands.kind else { return None };
    let at = keys.first()?.0.span.start;
    let line = &text[text[..at as usize].rfind('\n').map_or(0, |it| it + 1)..at as usize];
    let separator = if line.trim().is_empty() { format!("\n{line}") } else { ", ".to_owned() };
    Some((at, entries.iter().map(|it| format!("{it}{separator}")).collect()))
}
