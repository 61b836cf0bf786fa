//! Facts about names, keys and checks in the workflows of the repository.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use orange_codegen::PromptFiles;

use super::*;
use crate::check;
use crate::document::Language;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> Document {
    let text = std::fs::read_to_string(path).unwrap();
    Document::new(path.to_owned(), 1, Language::Other, text, PromptFiles::beside(path), None)
}

/// Holds the text about what stands where `place` begins in a workflow that ships.
#[track_caller]
fn check(file: &str, place: &str, expect: &[&str]) {
    let document = read(&root().join("workflows").join(file));
    let insight = check::workflow(&document.source, &AtomicBool::new(false)).unwrap();
    let (before, after) = place.split_once('|').unwrap();
    let at = document.text().find(&format!("{before}{after}")).expect(place) + before.len();
    let found = hover(&document, Some(&insight), at as u32).expect(place);
    for part in expect {
        assert!(found.text.contains(part), "{part} is not in {}", found.text);
    }
}

#[test]
fn a_state_has_its_runs_its_rules_and_its_contract() {
    check(
        "default.yml",
        "\n  |working:",
        &[
            "**state** `working`",
            "Shortest run: ",
            "A worker can be alive here.",
            "When its agent ends:",
            "run `orange task update --status agent-review`",
            "- → `agent-review` by",
        ],
    );
}

#[test]
fn a_target_has_its_transition() {
    check(
        "default.yml",
        "  - from: working\n    to: |agent-review",
        &["**transition** `working → agent-review`", "Taken by ", "Gate: `## ", "~~~markdown", "Hooks:"],
    );
    check(
        "default.yml",
        "  - from: agent-review\n    to: |working",
        &[
            "Guard: `review_round < 2`, that is review_round <= 1; in `agent-review` `review_round` is 0 to 2 or more",
        ],
    );
}

#[test]
fn counters_hooks_placeholders_and_keys_are_described() {
    check(
        "default.yml",
        "when: \"|review_round < 2",
        &["**counter** `review_round`, 0 in a new task", "- in `agent-review`: 0..2+"],
    );
    check("default.yml", "- action: |kill_session", &["**hook** `kill_session`", "Ends the task's agents"]);
    check("default.yml", "{|summary}", &["**placeholder** `summary`: the summary of the task"]);
    check("default.yml", "\n|exit_monitoring:", &["What happens when an agent has died."]);
    check("default.yml", "section: \"|## ", &["**section** `## ", "Read by:"]);
}

#[test]
fn commands_in_prompts_and_allowed_checks_are_described() {
    check("default.yml", "task update --status |agent-review", &["**state** `agent-review`"]);
    check("default.yml", "orange: allow(|", &["**C"]);
}

#[test]
fn a_prompt_file_is_described_by_its_workflow() {
    let workflow = read(&root().join("workflows/default.yml"));
    let text = "Do {summary}, then `orange task update --status done`.\n";
    let shown = |place: &str| {
        let found = in_prompt(&workflow, None, text, text.find(place).unwrap() as u32);
        found.map(|it| it.text).unwrap_or_default()
    };
    assert!(shown("summary").starts_with("**placeholder** `summary`: the summary of the task"));
    assert!(shown("orange").starts_with("**command** `orange task update`"));
    assert!(shown("done").starts_with("**state** `done`"));
    assert_eq!(shown("then"), "");
}

#[test]
fn a_step_has_its_bound_and_its_readers() {
    check("dev-task.toml", "id = \"|review\"", &["**step** `review`", "At most ", "Read by:"]);
}

/// Hover answers at each name, and nowhere with a panic.
#[test]
fn every_name_of_every_workflow_is_described() {
    let folders = ["workflows", "tests/fixtures", "tests/realistic"];
    let files = folders.iter().flat_map(|it| std::fs::read_dir(root().join(it)).unwrap());
    let mut names = 0;
    for path in files.map(|it| it.unwrap().path()) {
        if !path.extension().is_some_and(|it| it == "yml" || it == "toml") {
            continue;
        }
        let document = read(&path);
        let Some(tree) = document.tree().filter(|_| document.kind == DocumentKind::Workflow) else {
            continue;
        };
        let object = table(&document, document.compilation.definition());
        for it in occurrences(tree, object).iter().step_by(3) {
            let found = hover(&document, None, it.span.start);
            assert!(found.is_some_and(|it| !it.text.is_empty()), "{}: {it:?}", path.display());
            names += 1;
        }
        (0..=document.text().len() + 2).step_by(97).for_each(|at| drop(hover(&document, None, at as u32)));
    }
    assert!(names > 100, "{names}");
}
