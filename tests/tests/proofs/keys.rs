//! The keys of the language that the random workflows use: a key that none of them has cannot be attacked.

use std::collections::BTreeSet;

use orange_codegen::Source;
use orange_codegen::model::keys::{Key, Object, STEP_WORKFLOW, Takes, WORKFLOW};
use orange_codegen::syntax::{Node, NodeKind, parse};
use orange_tests::flows::wide_flow;
use orange_tests::steps::{small_steps, wide_steps};

/// Reason for the keys of reviewers with names.
const PANELS: &str = "`analysis/tests/panels.rs` attacks random panels of reviewers with names";

/// The keys that no random workflow has, with the reason.
const UNUSED: &[(&str, &str)] = &[
    ("a list of verdicts: all", PANELS),
    ("a list of verdicts: any", PANELS),
    ("spawn_agent: name", PANELS),
    ("spawn_reviewer: name", PANELS),
    ("a command: on", "no configuration follows from it: a merge that it refuses changes nothing"),
    ("a state: on_budget", "an end for a used-up budget is decided by tests of values"),
    ("a prompt: include", "no proof reads prompts"),
    ("a step: worktree", "a workflow with it does not compile yet"),
    ("a step: prompt_file", "as `include`"),
    ("a role: prompt_file", "as `include`"),
];

#[test]
fn every_key_stands_in_some_random_workflow() {
    let objects = [WORKFLOW.with_inner(), STEP_WORKFLOW.with_inner()].concat();
    let keys = objects.into_iter().flat_map(|object| object.keys.iter().map(|key| named(object, key)));
    let known: BTreeSet<String> = keys.collect();
    let mut used = BTreeSet::new();
    for seed in 0..400 {
        let machine = Source::new("flow.yml", wide_flow(seed).to_string());
        used_keys(&tree(&machine), &Takes::Object(&WORKFLOW), &mut used);
        for planned in [small_steps(seed), wide_steps(seed)] {
            let steps = Source::new("flow.toml", planned.to_string());
            used_keys(&tree(&steps), &Takes::Object(&STEP_WORKFLOW), &mut used);
        }
    }
    let unused: BTreeSet<String> = known.difference(&used).cloned().collect();
    let expected: BTreeSet<String> = UNUSED.iter().map(|(key, _)| (*key).to_owned()).collect();
    assert_eq!(unused, expected);
}

fn named(object: &Object, key: &Key) -> String {
    format!("{}: {}", object.what, key.name)
}

fn tree(source: &Source) -> Node {
    parse(source).0.unwrap_or_else(|| panic!("{}", source.text))
}

fn used_keys(node: &Node, takes: &Takes, keys: &mut BTreeSet<String>) {
    match (takes, &node.kind) {
        (Takes::Object(object), NodeKind::Mapping(pairs)) => {
            for (name, value) in pairs {
                if let Some(key) = object.keys.iter().find(|key| Some(key.name) == text(name)) {
                    keys.insert(named(object, key));
                    used_keys(value, &key.takes, keys);
                }
            }
        }
        (Takes::Tagged(tag, objects), NodeKind::Mapping(pairs)) => {
            let named = pairs.iter().find(|(name, _)| text(name) == Some(tag)).and_then(|(_, it)| text(it));
            if let Some(object) = objects.iter().find(|it| Some(it.what) == named) {
                used_keys(node, &Takes::Object(object), keys);
            }
        }
        (Takes::Map(_, inner), NodeKind::Mapping(pairs)) => {
            pairs.iter().for_each(|(_, value)| used_keys(value, inner, keys));
        }
        (Takes::List(inner) | Takes::OneOrList(inner), NodeKind::Sequence(items)) => {
            items.iter().for_each(|item| used_keys(item, inner, keys));
        }
        (Takes::OneOrList(inner), _) => used_keys(node, inner, keys),
        (Takes::OneOf(several), _) => {
            several.iter().filter(|it| has_shape(node, it)).for_each(|it| used_keys(node, it, keys));
        }
        _ => {}
    }
}

/// True if a node is an object with every key that it must have, or a list where one is meant.
fn has_shape(node: &Node, takes: &Takes) -> bool {
    match (takes, &node.kind) {
        (Takes::Object(object), NodeKind::Mapping(pairs)) => {
            let mut required = object.keys.iter().filter(|key| key.required);
            required.all(|key| pairs.iter().any(|(name, _)| text(name) == Some(key.name)))
        }
        (Takes::List(_), NodeKind::Sequence(_)) => true,
        _ => false,
    }
}

fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar(it) => Some(&it.text.value),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
    }
}
