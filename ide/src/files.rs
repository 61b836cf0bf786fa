//! The edits that keep names of files right when files are renamed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use orange_codegen::Format;
use orange_codegen::model::keys::NameKind;
use orange_codegen::model::occurrences::occurrences;

use crate::document::{Document, DocumentKind};
use crate::names::{FileEdit, Location};
use crate::project::keys_of;
use crate::workspace::Workspace;

/// The edits of the workflows and scenarios that name this file, for its new name. Those that are open are known, and those on the disk
/// in its folder and in the folder above. A workflow from whose folder the file goes is left as it is, since it can no longer name it.
pub fn renamed(workspace: &Workspace, old: &Path, new: &Path) -> Vec<FileEdit> {
    let mut edits = Vec::new();
    for path in users(workspace, old) {
        let Some(document) = workspace.read(&path) else { continue };
        edits.extend(renamed_in(workspace, &document, old, new));
    }
    edits
}

/// The files that may name another one.
fn users(workspace: &Workspace, file: &Path) -> BTreeSet<PathBuf> {
    let mut users: BTreeSet<PathBuf> = workspace.documents().map(|it| it.path.clone()).collect();
    for folder in file.ancestors().skip(1).take(2) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
        users.extend(entries.filter(|it| Format::of_path(&it.to_string_lossy()).is_some()));
    }
    users
}

fn renamed_in(workspace: &Workspace, document: &Document, old: &Path, new: &Path) -> Vec<FileEdit> {
    let read = document.tree().zip(keys_of(workspace, document));
    let (Some((tree, keys)), Some(folder)) = (read, document.path.parent()) else { return Vec::new() };
    let Some(name) = new.strip_prefix(folder).ok().and_then(Path::to_str) else { return Vec::new() };
    let names = occurrences(tree, keys).into_iter().filter(|it| it.kind == NameKind::Files);
    let edits = names.filter_map(|it| {
        let path = match document.kind {
            DocumentKind::Scenarios => folder.join(&it.name),
            DocumentKind::Workflow | DocumentKind::Other => document.source.prompt_files.path(&it.name)?,
        };
        let is_written = document.text().get(it.span.range()) == Some(it.name.as_str());
        let location = Location { path: document.path.clone(), span: it.span };
        let edit = FileEdit { location, text: name.to_owned(), in_text: false };
        (path == old && is_written && is_plain(name)).then_some(edit)
    });
    edits.collect()
}

/// True if a name means the same with quotes and without.
fn is_plain(name: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '/' | '.' | '-' | '_' | ' ');
    name.starts_with(char::is_alphanumeric) && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Language;
    use crate::names::edited;

    const FLOW: &str = "name: flow\nstates: {pending: {}, done: {terminal: true}}\ntransitions: []\n\
        prompts:\n  work: {include: prompts/work.md}\n  other: {include: \"other.md\"}\n";

    /// A folder with a workflow, two prompts and scenarios that name the workflow.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("prompts")).unwrap();
        for (name, text) in [
            ("flow.yml", FLOW),
            ("prompts/work.md", "do it"),
            ("other.md", "do it"),
            ("more.test.yml", "workflow: flow.yml\nscenarios: []\n"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[track_caller]
    fn check(old: &str, new: &str, file: &str, expect: Option<(&str, &str)>) {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let edits = renamed(&Workspace::default(), &path(old), &path(new));
        let text = fs::read_to_string(path(file)).unwrap();
        let after = edited(&text, &path(file), &edits);
        let expect = expect.map_or(text.clone(), |(from, to)| text.replace(from, to));
        assert_eq!(after, expect, "{edits:?}");
        assert_eq!(edits.len(), usize::from(text != expect));
    }

    #[test]
    fn who_names_a_file_names_it_by_its_new_name() {
        check("prompts/work.md", "prompts/do.md", "flow.yml", Some(("prompts/work.md", "prompts/do.md")));
        check("other.md", "prompts/other.md", "flow.yml", Some(("\"other.md\"", "\"prompts/other.md\"")));
        check("flow.yml", "ship.yml", "more.test.yml", Some(("flow.yml", "ship.yml")));
    }

    #[test]
    fn a_file_that_goes_elsewhere_is_left_alone() {
        check("other.md", "../other.md", "flow.yml", None);
        check("other.md", "a: b.md", "flow.yml", None);
        check("prompts/nobody.md", "prompts/x.md", "flow.yml", None);
    }

    #[test]
    fn the_text_of_the_editor_counts() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let mut workspace = Workspace::default();
        let text = format!("# one\n{FLOW}");
        workspace.open(path("flow.yml"), 1, Language::Workflow, text.clone());
        let edits = renamed(&workspace, &path("other.md"), &path("x.md"));
        assert_eq!(edited(&text, &path("flow.yml"), &edits), text.replace("other.md", "x.md"));
    }
}
