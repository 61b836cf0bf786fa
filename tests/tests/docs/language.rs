//! The pages about languages: every workflow and every scenario on them is sound, and every key is there.

use std::collections::BTreeSet;

use orange_analysis::scenario;
use orange_codegen::lower::{Arena, lower};
use orange_codegen::model::keys::{Object, STEP_WORKFLOW, Takes, WORKFLOW};
use orange_codegen::{Source, compile};

use crate::page::{Page, root};

const PAGE: &str = "docs/workflow.md";
const AUTHORING: &str = "docs/authoring.md";

#[test]
fn every_workflow_on_the_page_compiles_without_a_finding() {
    let page = Page::read(PAGE);
    let blocks = page.blocks().into_iter().filter(|block| ["yaml", "toml"].contains(&block.language));
    let mut count = 0;
    for block in blocks {
        let path = format!("{}.{}", name_of(&block.text), block.language);
        let found = compile(&Source::new(&path, block.text)).diagnostics;
        let found: Vec<_> = found.iter().map(|it| format!("{}: {}", it.code(), it.message)).collect();
        assert!(found.is_empty(), "{PAGE}:{}: {found:#?}", block.line);
        count += 1;
    }
    assert!(count >= 7, "only {count} workflows are left");
}

#[test]
fn every_key_of_the_language_is_on_the_page() {
    let mut keys = BTreeSet::new();
    keys_of(&WORKFLOW, &mut keys);
    let page = Page::read(PAGE).text;
    let forgotten: Vec<_> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(forgotten.is_empty(), "docs/workflow.md does not have {forgotten:?}");
    assert!(!STEP_WORKFLOW.keys.is_empty() && page.contains("[[steps]]"));
}

#[test]
fn every_scenario_on_the_page_comes_out_as_it_says() {
    let workflow = Source::read(&root().join("workflows/minimal.yml")).unwrap();
    let checked = compile(&workflow).checked.unwrap();
    let arena = Arena::default();
    let machine = lower(&checked, &arena).unwrap();
    let page = Page::read(AUTHORING);
    let blocks = page.blocks();
    let mut count = 0;
    for block in blocks.iter().filter(|block| block.text.contains("scenarios:")) {
        let (read, found) = scenario::read(&Source::new("flow.test.yml", block.text.clone()));
        assert!(found.is_empty(), "{AUTHORING}:{}: {found:#?}", block.line);
        for scenario in &read.unwrap().all {
            let failed = scenario::run(&machine, scenario).failed;
            assert!(failed.is_empty(), "{AUTHORING}:{}: {failed:#?}", block.line);
            count += 1;
        }
    }
    assert!(count > 0, "no scenario is left");
}

#[test]
fn every_key_of_a_scenario_is_on_the_page() {
    let mut keys = BTreeSet::new();
    keys_of(&scenario::FILE, &mut keys);
    let page = Page::read(AUTHORING).text;
    let forgotten: Vec<_> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(forgotten.is_empty(), "{AUTHORING} does not have {forgotten:?}");
}

fn name_of(text: &str) -> &str {
    let line = text.lines().find(|line| line.starts_with("name")).unwrap();
    line.trim_start_matches("name").trim_matches([':', '=', ' ', '"'])
}

fn keys_of(object: &'static Object, keys: &mut BTreeSet<&'static str>) {
    for key in object.keys {
        keys.insert(key.name);
        keys_inside(&key.takes, keys);
    }
}

fn keys_inside(takes: &'static Takes, keys: &mut BTreeSet<&'static str>) {
    match takes {
        Takes::Object(object) => keys_of(object, keys),
        Takes::Tagged(_, objects) => {
            for object in *objects {
                keys.insert(object.what);
                keys_of(object, keys);
            }
        }
        Takes::List(inner) | Takes::OneOrList(inner) | Takes::Map(inner) => keys_inside(inner, keys),
        Takes::Text
        | Takes::Boolean
        | Takes::Integer(_)
        | Takes::Word(_)
        | Takes::Name(_)
        | Takes::Guard
        | Takes::Heading
        | Takes::Scalar => {}
    }
}
