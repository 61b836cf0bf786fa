//! The pages about languages: every workflow and every scenario on them is sound, and every key is there.
//! `ORANGE_REWRITE=1 cargo test -p orange-tests --test docs` writes the rows of the actions again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use orange_analysis::{lint, plan_scenario, scenario};
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::model::keys::{ACTIONS, Object, STEP_WORKFLOW, WORKFLOW};
use orange_codegen::{PromptFiles, Source, compile};
use orange_core::Action;
use orange_core::action::{Remote, Starts, Traits, WorktreeUse};

use crate::page::{MarkdownPage, root};

const PAGE: &str = "docs/workflow.md";
const AUTHORING: &str = "docs/authoring.md";

#[test]
fn every_workflow_on_the_page_compiles_without_a_finding() {
    let page = MarkdownPage::read(PAGE);
    let blocks = page.blocks().into_iter().filter(|block| ["yaml", "toml"].contains(&block.language));
    let prompts = BTreeMap::from([("prompts/worker.md".to_owned(), "# {summary}\n".to_owned())]);
    let mut count = 0;
    for block in blocks {
        let path = format!("{}.{}", name_of(&block.text), block.language);
        let source = Source::new(&path, block.text).with_files(PromptFiles::Given(prompts.clone()));
        let found = compile(&source).diagnostics;
        let found: Vec<_> = found.iter().map(|it| format!("{}: {}", it.code(), it.message)).collect();
        assert!(found.is_empty(), "{PAGE}:{}: {found:#?}", block.line);
        count += 1;
    }
    assert!(count >= 7, "only {count} workflows are left");
}

#[test]
fn the_workflow_of_the_readme_has_no_finding() {
    let page = MarkdownPage::read("README.md");
    let blocks: Vec<_> = page.blocks().into_iter().filter(|block| block.language == "yaml").collect();
    assert_eq!(blocks.len(), 1);
    let found = lint(&Source::new("ship.yml", blocks[0].text.clone())).diagnostics;
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn workflows_on_the_page_of_steps_have_no_finding() {
    let page = MarkdownPage::read("docs/steps.md");
    let blocks: Vec<_> = page.blocks().into_iter().filter(|it| it.language == "toml").collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let found = lint(&Source::new("panel.toml", block.text.clone())).diagnostics;
        let codes: Vec<_> = found.iter().map(|it| it.code()).collect();
        assert_eq!(codes, [""; 0], "docs/steps.md:{}: {found:#?}", block.line);
    }
}

#[test]
fn every_key_of_the_language_is_on_its_page() {
    for (object, path) in [(&WORKFLOW, PAGE), (&STEP_WORKFLOW, "docs/steps.md")] {
        let mut keys = BTreeSet::new();
        keys_of(object, &mut keys);
        let page = MarkdownPage::read(path).text;
        let forgotten: Vec<_> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
        assert!(!keys.is_empty() && forgotten.is_empty(), "{path} does not have {forgotten:?}");
    }
}

/// The rows of all actions, as they are described.
fn actions() -> String {
    let row = |action: &Action| {
        let parameters: Vec<_> = action.parameters().iter().map(|it| format!("`{}`", it.name)).collect();
        let effect = action.doc().trim_end_matches('.');
        let row = ["", &format!("`{}`", action.name()), &parameters.join(", "), needs(*action), effect, ""];
        row.join(" | ").replace("  ", " ").trim().to_owned() + "\n"
    };
    Action::ALL.iter().map(row).collect()
}

/// Needs of an action.
fn needs(action: Action) -> &'static str {
    let Traits { starts, worktree, remote, .. } = *action.traits();
    match (starts, worktree, remote) {
        (Some(Starts::MissingWorker), _, _) => "a worker that is alive, or a `prompt`",
        (Some(Starts::New | Starts::BesideWorker), _, _) | (None, Some(WorktreeUse::Uses), _) => "a worktree",
        (None, _, Some(Remote::Adds | Remote::Deletes)) => "the remote",
        (None, Some(WorktreeUse::Acquires | WorktreeUse::Releases) | None, None) => "",
    }
}

#[test]
fn the_page_has_the_actions_as_they_are_described() {
    const HEAD: &str = "| `action` | parameters | needs | effect |\n|---|---|---|---|\n";
    let page = MarkdownPage::read(PAGE);
    let (before, from) = page.text.split_once(HEAD).unwrap();
    let (found, after) = from.split_once("\n\n").unwrap();
    let expect = actions();
    if std::env::var_os("ORANGE_REWRITE").is_some() {
        fs::write(root().join(&page.path), [before, HEAD, &expect, "\n", after].concat()).unwrap();
    } else {
        assert_eq!(format!("{found}\n"), expect, "ORANGE_REWRITE=1 writes the rows again");
    }
}

#[test]
fn every_scenario_on_the_page_comes_out_as_it_says() {
    let workflow = Source::read(&root().join("workflows/minimal.yml")).unwrap();
    let checked = compile(&workflow).checked.unwrap();
    let arena = Arena::default();
    let machine = lower(&checked, &arena).unwrap();
    let page = MarkdownPage::read(AUTHORING);
    let blocks = page.blocks();
    let mut count = 0;
    let (of_steps, of_machines): (Vec<_>, Vec<_>) = blocks
        .iter()
        .filter(|block| block.text.contains("scenarios:"))
        .partition(|block| block.text.contains("complete:"));
    for block in of_machines {
        let (read, found) = scenario::read(&Source::new("flow.test.yml", block.text.clone()));
        assert!(found.is_empty(), "{AUTHORING}:{}: {found:#?}", block.line);
        for scenario in &read.unwrap().all {
            let failed = scenario::run(&machine, scenario).failed;
            assert!(failed.is_empty(), "{AUTHORING}:{}: {failed:#?}", block.line);
            count += 1;
        }
    }
    assert!(count > 0, "no scenario is left");
    let path = root().join("workflows/dev-task.toml");
    let workflow = Source::read(&path).unwrap();
    let checked = compile(&workflow).checked.unwrap();
    let arena = PlanArena::default();
    let plan = lower_plan(&checked, &arena).unwrap();
    assert!(!of_steps.is_empty(), "no scenario of a step workflow is left");
    for block in of_steps {
        let (read, found) = plan_scenario::read(&Source::new("dev-task.test.yml", block.text.clone()));
        assert!(found.is_empty(), "{AUTHORING}:{}: {found:#?}", block.line);
        for scenario in &read.unwrap() {
            let failed = plan_scenario::run(&plan, scenario).failed;
            assert!(failed.is_empty(), "{AUTHORING}:{}: {failed:#?}", block.line);
        }
    }
}

#[test]
fn every_key_of_a_scenario_is_on_the_page() {
    let mut keys = BTreeSet::new();
    keys_of(&scenario::FILE, &mut keys);
    keys_of(&plan_scenario::FILE, &mut keys);
    let page = MarkdownPage::read(AUTHORING).text;
    let forgotten: Vec<_> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(forgotten.is_empty(), "{AUTHORING} does not have {forgotten:?}");
}

fn name_of(text: &str) -> &str {
    let line = text.lines().find(|line| line.starts_with("name")).unwrap();
    line.trim_start_matches("name").trim_matches([':', '=', ' ', '"'])
}

fn keys_of(object: &'static Object, keys: &mut BTreeSet<&'static str>) {
    let objects = object.with_inner();
    keys.extend(objects.iter().flat_map(|it| it.keys).map(|key| key.name));
    let names = objects.iter().map(|it| it.what);
    keys.extend(names.filter(|name| ACTIONS.iter().any(|action| action.what == *name)));
}
