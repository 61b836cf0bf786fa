//! Names in the workflows of this repository: every one can be followed, and renamed there and back.

#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use orange_codegen::model::keys::NameKind;
use orange_codegen::model::occurrences::Occurrence;
use orange_ide::names::{definitions, edited, references, rename, renameable};
use orange_ide::project::Project;
use orange_ide::{Language, Workspace};

/// A folder with a workflow, its prompts and its scenarios.
fn copied(workflow: &Path) -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let from = workflow.parent().unwrap();
    let stem = workflow.file_stem().unwrap().to_str().unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let is_other = name.contains('.') && !name.starts_with(&format!("{stem}."));
        if entry.path().is_file() && !is_other {
            fs::copy(entry.path(), scratch.path().join(&name)).unwrap();
        } else if entry.path().is_dir() && name != "src" && name != "target" {
            fs::create_dir(scratch.path().join(&name)).unwrap();
            for inner in fs::read_dir(entry.path()).unwrap().flatten().filter(|it| it.path().is_file()) {
                fs::copy(inner.path(), scratch.path().join(&name).join(inner.file_name())).unwrap();
            }
        }
    }
    let path = scratch.path().join(workflow.file_name().unwrap());
    (scratch, path)
}

fn workflows() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workflows");
    let files = fs::read_dir(folder).unwrap().flatten().map(|it| it.path());
    let is_workflow = |it: &PathBuf| {
        let name = it.file_name().unwrap().to_str().unwrap();
        (name.ends_with(".yml") || name.ends_with(".toml"))
            && !name.ends_with(".test.yml")
            && name != "Cargo.toml"
    };
    let mut files: Vec<PathBuf> = files.filter(is_workflow).collect();
    files.sort();
    files
}

fn opened(path: &Path) -> Workspace {
    let mut workspace = Workspace::default();
    workspace.open(path.to_owned(), 1, Language::Other, fs::read_to_string(path).unwrap());
    workspace
}

/// A name that nothing has, as its kind is written.
fn fresh(kind: NameKind) -> &'static str {
    if kind == NameKind::Sections {
        "## Zebra"
    } else if kind == NameKind::Counters {
        "zebra_count"
    } else {
        "zebra"
    }
}

#[test]
fn each_name_is_renamed_there_and_back() {
    let whole = std::env::var_os("ORANGE_WHOLE").is_some();
    let (mut renamed, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for workflow in workflows() {
        let (scratch, path) = copied(&workflow);
        let workspace = opened(&path);
        let document = workspace.document(&path).unwrap();
        let project = Project::of(&workspace, document).unwrap();
        let before: Vec<(PathBuf, String)> = project
            .mentions
            .iter()
            .map(|it| it.path.clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|it| (it.clone(), workspace.text(&it).unwrap()))
            .collect();
        let mut known: BTreeSet<(NameKind, &String, &Option<String>)> = BTreeSet::new();
        for mention in project.mentions.iter().filter(|it| it.path == path) {
            let Occurrence { kind, name, step, .. } = &mention.occurrence;
            // Four of each kind are enough for every run; `ORANGE_WHOLE` takes all.
            let of_kind = known.iter().filter(|(it, ..)| it == kind).count();
            if !known.insert((*kind, name, step)) || (of_kind >= 4 && !whole) {
                continue;
            }
            let at = mention.occurrence.span.start;
            let name = format!("{:?} {}", mention.occurrence.kind, mention.occurrence.name);
            if renameable(&workspace, document, at).is_err() {
                continue;
            }
            let new = fresh(mention.occurrence.kind);
            let edits = match rename(&workspace, document, at, new) {
                Ok(edits) => edits,
                Err(why) => {
                    refused.insert(format!("{name}: {why}"));
                    continue;
                }
            };
            assert!(!edits.is_empty(), "{name}");
            for (file, text) in &before {
                fs::write(file, edited(text, file, &edits)).unwrap();
            }
            let there = opened(&path);
            let changed = there.document(&path).unwrap();
            let errors = changed.compilation.diagnostics.iter().filter(|it| it.level.as_str() == "error");
            assert_eq!(errors.count(), 0, "{name} in {}", path.display());
            let place = Project::of(&there, changed).unwrap();
            let now = place.mentions.iter().find(|it| it.path == path && it.occurrence.name == new).unwrap();
            let old = &mention.occurrence.name;
            let back = rename(&there, changed, now.occurrence.span.start, old).unwrap();
            let has_commands = edits.iter().any(|it| it.location.span.is_empty());
            for (file, text) in &before {
                let changed = fs::read_to_string(file).unwrap();
                let is_back = &edited(&changed, file, &back) == text;
                assert!(is_back || has_commands, "{name} back in {}", file.display());
                fs::write(file, text).unwrap();
            }
            renamed.insert(name);
        }
        drop(scratch);
    }
    assert!(renamed.len() > 15, "{} renamed", renamed.len());
    assert!(renamed.contains("States working") && renamed.contains("States agent-review"), "{refused:?}");
    for why in &refused {
        assert!(why.contains("a meaning of its own"), "{why}");
    }
}

#[test]
fn each_reference_has_its_definition() {
    for workflow in workflows() {
        let workspace = opened(&workflow);
        let document = workspace.document(&workflow).unwrap();
        let project = Project::of(&workspace, document).unwrap();
        let step = if std::env::var_os("ORANGE_WHOLE").is_some() { 1 } else { 7 };
        for mention in project.mentions.iter().filter(|it| it.path == workflow).step_by(step) {
            let occurrence = &mention.occurrence;
            let found = definitions(&workspace, document, occurrence.span.start);
            let all = references(&workspace, document, occurrence.span.start, true);
            assert!(all.iter().any(|it| it.path == workflow && it.span == occurrence.span), "{occurrence:?}");
            let is_built_in = matches!(occurrence.name.as_str(), "review_round" | "crash_count")
                || matches!(
                    occurrence.kind,
                    NameKind::Values | NameKind::Actions | NameKind::Harnesses | NameKind::Roles
                );
            assert!(is_built_in || !found.is_empty(), "{occurrence:?} in {}", workflow.display());
        }
    }
}
