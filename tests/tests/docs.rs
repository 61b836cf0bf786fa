//! The pages: every workflow on them compiles, and every key of the language is on its page.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use orange_codegen::model::keys::{Object, STEP_WORKFLOW, Takes, WORKFLOW};
use orange_codegen::{Source, compile};

const LANGUAGE: &str = include_str!("../../docs/workflow.md");

#[test]
fn every_workflow_on_the_page_compiles_without_a_finding() {
    let blocks: Vec<_> =
        blocks(LANGUAGE).filter(|(language, _)| ["yaml", "toml"].contains(language)).collect();
    assert!(blocks.len() >= 7, "only {} workflows are left", blocks.len());
    for (language, text) in blocks {
        let path = format!("{}.{language}", name_of(text));
        let found = compile(&Source::new(&path, text)).diagnostics;
        let found: Vec<_> = found.iter().map(|it| format!("{}: {}", it.code(), it.message)).collect();
        assert!(found.is_empty(), "{path}: {found:#?}");
    }
}

#[test]
fn every_key_of_the_language_is_on_the_page() {
    let mut keys = BTreeSet::new();
    keys_of(&WORKFLOW, &mut keys);
    let forgotten: Vec<_> = keys.iter().filter(|key| !LANGUAGE.contains(&format!("`{key}`"))).collect();
    assert!(forgotten.is_empty(), "docs/workflow.md does not have {forgotten:?}");
    assert!(!STEP_WORKFLOW.keys.is_empty() && LANGUAGE.contains("[[steps]]"));
}

/// The fenced blocks of a page: the language that is named, and what is inside.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut parts = page.split("\n```");
    parts.next();
    let opened = parts.enumerate().filter(|(at, _)| at % 2 == 0);
    opened.filter_map(|(_, part)| part.split_once('\n'))
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
