//! Definitions and references of a name, and the edits that give it another.

mod commands;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::model::keys::NameKind;
use orange_codegen::model::occurrences::Occurrence;
use orange_codegen::{Compilation, Level, PromptFiles, Source, Span, compile};

use crate::document::{Document, DocumentKind};
use crate::project::{Mention, Project};
use crate::workspace::Workspace;

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// The part of it.
    pub span: Span,
}

/// Another text for a part of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEdit {
    /// The part that goes.
    pub location: Location,
    /// The text that comes.
    pub text: String,
    /// True if it is a heading in the text of a prompt, so that somebody should look at it.
    pub in_text: bool,
}

/// The places at which the thing with the name at this byte is defined. A section is defined by the gates that read it.
pub fn definitions(workspace: &Workspace, document: &Document, offset: u32) -> Vec<Location> {
    let Some(project) = Project::of(workspace, document) else { return Vec::new() };
    let Some(mention) = project.at(&document.path, offset) else { return Vec::new() };
    if mention.occurrence.kind == NameKind::Files {
        return file(workspace, document, &mention.occurrence.name).into_iter().collect();
    }
    let is_section = mention.occurrence.kind == NameKind::Sections;
    let is_gate = |it: &Mention| it.path == project.workflow.path && !it.in_text;
    let is_definition = |it: &&Mention| if is_section { is_gate(it) } else { it.occurrence.is_definition };
    project.mentions_of(&mention.occurrence).filter(is_definition).map(location).collect()
}

/// All places of the name at this byte, in every file of its workflow; with the definition or without.
pub fn references(
    workspace: &Workspace,
    document: &Document,
    offset: u32,
    definition: bool,
) -> Vec<Location> {
    let Some(project) = Project::of(workspace, document) else { return Vec::new() };
    let Some(mention) = project.at(&document.path, offset) else { return Vec::new() };
    let mentions = project.mentions_of(&mention.occurrence);
    let found: BTreeSet<_> =
        mentions.filter(|it| definition || !it.occurrence.is_definition).map(location).collect();
    found.into_iter().collect()
}

/// The places of the name at this byte in the same file; `true` where it is defined.
pub fn highlights(workspace: &Workspace, document: &Document, offset: u32) -> Vec<(Span, bool)> {
    let Some(project) = Project::of(workspace, document) else { return Vec::new() };
    let Some(mention) = project.at(&document.path, offset) else { return Vec::new() };
    let mentions = project.mentions_of(&mention.occurrence).filter(|it| it.path == document.path);
    mentions.map(|it| (it.occurrence.span, it.occurrence.is_definition)).collect()
}

/// The name at this byte, if it can get another.
///
/// # Errors
/// In words: why it cannot.
pub fn renameable(workspace: &Workspace, document: &Document, offset: u32) -> Result<(Span, String), String> {
    let project = project_of(workspace, document)?;
    let Occurrence { span, name, .. } = &named(&project, document, offset)?.occurrence;
    Ok((*span, name.clone()))
}

fn project_of<'w>(workspace: &'w Workspace, document: &'w Document) -> Result<Project<'w>, String> {
    Project::of(workspace, document).ok_or_else(|| "this file belongs to no workflow".to_owned())
}

/// The name at this byte, if it can get another.
fn named<'p>(project: &'p Project<'_>, document: &Document, offset: u32) -> Result<&'p Mention, String> {
    let mention = project.at(&document.path, offset).ok_or("the cursor is not on a name")?;
    let occurrence = &mention.occurrence;
    let built_in = match occurrence.kind {
        NameKind::Values => Some("a placeholder"),
        NameKind::Actions => Some("an action of hooks"),
        NameKind::Harnesses => Some("a harness"),
        NameKind::Files => Some("a file, which the editor renames"),
        NameKind::Workflows => Some("the workflow, whose file has the same name"),
        NameKind::States
        | NameKind::Prompts
        | NameKind::Gates
        | NameKind::Counters
        | NameKind::Steps
        | NameKind::Actors
        | NameKind::Reviewers
        | NameKind::Verdicts
        | NameKind::Sections
        | NameKind::Roles
        | NameKind::Results
        | NameKind::Inputs
        | NameKind::Outputs => None,
    };
    if let Some(what) = built_in {
        return Err(format!("`{}` names {what}", occurrence.name));
    }
    let has_definition = project.mentions_of(occurrence).any(|it| it.occurrence.is_definition);
    if !has_definition && !matches!(occurrence.kind, NameKind::Sections | NameKind::Roles) {
        return Err(format!("`{}` is always there, or defined nowhere", occurrence.name));
    }
    Ok(mention)
}

/// The edits that give the thing with the name at this byte another name, in every file of its workflow. Where a command finds a state
/// by its usual name, `commands` says it from then on, and `entry` where tasks may be created in a state because of its name.
///
/// # Errors
/// In words: why the workflow would not be the same with that name.
pub fn rename(
    workspace: &Workspace,
    document: &Document,
    offset: u32,
    new: &str,
) -> Result<Vec<FileEdit>, String> {
    let project = project_of(workspace, document)?;
    let mention = named(&project, document, offset)?;
    let old = mention.occurrence.name.as_str();
    if old == new {
        return Ok(Vec::new());
    }
    let is_taken = |it: &Mention| {
        let (one, other) = (&it.occurrence, &mention.occurrence);
        (one.kind, &one.step) == (other.kind, &other.step) && one.name == new
    };
    if project.mentions.iter().any(is_taken) {
        return Err(format!("`{new}` is a name already"));
    }
    let mut edits = BTreeSet::new();
    for it in project.mentions_of(&mention.occurrence) {
        let shown = it.path.display();
        let text = project.text(&it.path).ok_or_else(|| format!("{shown} cannot be read"))?;
        if text.get(it.occurrence.span.range()) != Some(old) {
            return Err(format!("`{old}` is written with escapes in {shown}: write it without them first"));
        }
        let in_text = it.in_text && it.occurrence.kind == NameKind::Sections;
        edits.insert(FileEdit { location: location(it), text: new.to_owned(), in_text });
    }
    let mut edits: Vec<FileEdit> = edits.into_iter().collect();
    let before = compiled(&project, &[]);
    let after = compiled(&project, &edits);
    edits.extend(commands::kept(&project, &before, &after));
    edits.extend(commands::entries_kept(&project, &before, &after).into_iter().flatten());
    is_same_workflow(&before, &compiled(&project, &edits), old, new)?;
    Ok(edits)
}

/// Text with the edits of its file.
pub fn edited(text: &str, path: &Path, edits: &[FileEdit]) -> String {
    let mut edited = text.to_owned();
    let mut here: Vec<&FileEdit> = edits.iter().filter(|it| it.location.path == path).collect();
    here.sort_by_key(|it| std::cmp::Reverse(it.location.span));
    for FileEdit { location, text, .. } in here {
        edited.replace_range(location.span.range(), text);
    }
    edited
}

/// Compiles the workflow before and after: it may have no new error, and must do the same.
fn is_same_workflow(before: &Compilation, after: &Compilation, old: &str, new: &str) -> Result<(), String> {
    let errors = |it: &Compilation| -> BTreeSet<String> {
        let errors = it.diagnostics.iter().filter(|it| it.level == Level::Error);
        errors.map(|it| without(&it.message, old, new)).collect()
    };
    let known = errors(before);
    let found = after.diagnostics.iter().filter(|it| it.level == Level::Error);
    if let Some(fault) = found.into_iter().find(|it| !known.contains(&without(&it.message, old, new))) {
        return Err(format!("with the name `{new}` the workflow has an error: {}", fault.message));
    }
    if tables(before).map(|it| without(&it, old, new)) != tables(after).map(|it| without(&it, old, new)) {
        return Err(format!(
            "with the name `{new}` the workflow does something else, since the name `{old}` or `{new}` has a meaning of its own: \
             say with `entry` and `commands` what is meant, then rename it"
        ));
    }
    Ok(())
}

fn compiled(project: &Project<'_>, edits: &[FileEdit]) -> Compilation {
    let workflow = &project.workflow;
    let prompts: BTreeMap<String, String> =
        project.prompts.iter().map(|(name, it)| (name.clone(), edited(&it.text, &it.path, edits))).collect();
    let text = edited(workflow.text(), &workflow.path, edits);
    let mut source =
        Source::new(workflow.path.to_string_lossy(), text).with_files(PromptFiles::Given(prompts));
    source.format = workflow.source.format;
    compile(&source)
}

/// The tables of a workflow without errors, as text, without their hashes.
fn tables(compilation: &Compilation) -> Option<String> {
    let checked = compilation.checked.as_ref()?;
    let (plans, arena) = (PlanArena::default(), Arena::default());
    if let Some(plan) = lower_plan(checked, &plans) {
        return Some(format!("{:?}", orange_core::plan::Plan { source_hash: "", ..plan }));
    }
    let machine = lower(checked, &arena).ok()?;
    Some(format!("{:?}", orange_core::Machine { source_hash: "", prompts_hash: "", ..machine }))
}

/// A text with one word for both names.
fn without(text: &str, old: &str, new: &str) -> String {
    [old, new].iter().fold(text.to_owned(), |text, name| {
        let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
        let mut rest = text.as_str();
        let mut changed = String::with_capacity(text.len());
        while let Some(at) = rest.find(name) {
            let (before, behind) = (&rest[..at], &rest[at + name.len()..]);
            let is_word = !before.ends_with(is_part) && !behind.starts_with(is_part);
            changed.push_str(before);
            changed.push_str(if is_word { "\u{0}" } else { name });
            rest = behind;
        }
        changed + rest
    })
}

fn location(mention: &Mention) -> Location {
    Location { path: mention.path.clone(), span: mention.occurrence.span }
}

/// The beginning of a file that a document names.
fn file(workspace: &Workspace, document: &Document, name: &str) -> Option<Location> {
    let path = match document.kind {
        DocumentKind::Scenarios => document.path.parent()?.join(name),
        DocumentKind::Workflow | DocumentKind::Other => PromptFiles::beside(&document.path).path(name)?,
    };
    workspace.text(&path).map(|_| Location { path, span: Span::at(0) })
}
