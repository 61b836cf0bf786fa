//! The schema's verdicts about workflows, by an independent validator.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use orange_codegen::syntax::{self, Node, NodeKind, ScalarForm};
use orange_codegen::{Level, Source, compile};

use serde_json::{Value, json};

use super::{scenarios, schema};

const FLOW: &str = "\
name: flow
version: 1
states:
  pending: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: done, hooks: [{action: spawn_agent, prompt: p}]}
prompts: {p: x}
";

/// The schema as it is printed.
fn written() -> Value {
    serde_json::to_value(schema()).unwrap()
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&written()).unwrap()
}

/// A tree as readers of YAML 1.2 see it.
fn value(node: &Node) -> Value {
    match &node.kind {
        NodeKind::Mapping(entries) => entries
            .iter()
            .map(|(key, it)| (value(key).as_str().unwrap_or_default().to_owned(), value(it)))
            .collect(),
        NodeKind::Sequence(items) => items.iter().map(value).collect(),
        NodeKind::Scalar(it) if it.style == ScalarForm::Plain => match it.text.value.as_str() {
            "" | "~" | "null" => Value::Null,
            "true" => json!(true),
            "false" => json!(false),
            text => text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number)),
        },
        NodeKind::Scalar(it) => json!(it.text.value),
    }
}

fn faults(source: &Source) -> Vec<String> {
    faults_by(&validator(), source)
}

fn faults_by(validator: &Validator, source: &Source) -> Vec<String> {
    let tree = syntax::parse(source).0.unwrap_or_else(|| panic!("{} has no tree", source.path));
    let value = value(&tree);
    validator.iter_errors(&value).map(|it| format!("{} at {}", it, it.instance_path())).collect()
}

#[track_caller]
fn refuses(old: &str, new: &str, place: &str) {
    assert!(FLOW.contains(old), "{old}");
    let faults = faults(&Source::new("flow.yml", FLOW.replacen(old, new, 1)));
    assert!(faults.iter().any(|it| it.contains(place)), "{new}: {faults:?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The workflows in a folder, but for scenario files.
fn workflows(folder: &str) -> Vec<Source> {
    let files = fs::read_dir(root().join(folder)).unwrap().map(|it| it.unwrap().path());
    let wanted = |it: &PathBuf| {
        let name = it.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name.ends_with(".yml") && !name.ends_with(".test.yml"))
            || (name.ends_with(".toml") && name != "Cargo.toml")
    };
    let sources = files.filter(wanted).filter_map(|it| Source::read(&it).ok());
    sources.collect()
}

#[test]
fn an_empty_gate_is_refused() {
    for empty in ["", " {}", " []"] {
        refuses("prompts:", &format!("gates:\n  handoff:{empty}\nprompts:"), "at /gates/handoff");
    }
}

#[test]
fn it_is_a_schema() {
    assert!(jsonschema::draft202012::meta::is_valid(&written()));
    assert!(validator().is_valid(&json!({"name": "a", "states": {}})));
}

#[test]
fn what_compiles_is_valid() {
    let folders = ["workflows", "tests/fixtures", "tests/diagnostics", "tools/cli/templates"];
    let sources: Vec<Source> = folders.iter().flat_map(|it| workflows(it)).collect();
    let sound: Vec<_> =
        sources.iter().filter(|it| compile(it).diagnostics.iter().all(|it| it.level > Level::Deny)).collect();
    assert!(sound.len() > 15, "only {}", sound.len());
    for source in sound {
        assert_eq!(faults(source), Vec::<String>::new(), "{}", source.path);
    }
}

#[test]
fn examples_with_wrong_keys_or_values_are_refused() {
    let wrong = |it: &&Source| {
        let stem = it.path.rsplit('/').next().unwrap_or_default();
        ["s02-", "s04-action", "s04-harness", "s04-wrong-type", "s09-"]
            .iter()
            .any(|wanted| stem.starts_with(wanted))
    };
    let sources = workflows("tests/diagnostics");
    let wrong: Vec<_> = sources.iter().filter(wrong).collect();
    assert!(wrong.len() >= 6, "only {}", wrong.len());
    for source in wrong {
        assert!(!faults(source).is_empty(), "{}", source.path);
    }
}

#[test]
fn what_is_wrong_is_refused_at_its_place() {
    refuses("version: 1", "version: one", "at /version");
    refuses("version: 1", "version: 0", "at /version");
    refuses("version: 1", "versoin: 1", "'versoin' was unexpected");
    refuses("name: flow\n", "", "\"name\" is a required property");
    refuses("terminal: true", "terminal: yes", "at /states/done/terminal");
    refuses("from: pending, ", "", "at /transitions/0");
    refuses("from: pending", "from: [], by: nobody", "at /transitions/0");
    refuses("from: pending", "from: pending, when: review_round", "at /transitions/0/when");
    refuses("from: pending", "from: pending, gate: {section: Handoff}", "at /transitions/0/gate/section");
    refuses("spawn_agent", "spwan_agent", "at /transitions/0/hooks/0/action");
    refuses(", prompt: p", "", "\"prompt\" is a required property at /transitions/0/hooks/0");
    refuses("spawn_agent, prompt: p", "kill_session, prompt: p", "at /transitions/0/hooks/0");
    refuses("spawn_agent", "spawn_agent, harness: two words", "at /transitions/0/hooks/0/harness");
    refuses("terminal: true", "terminal: true, timeout: 2 hours", "at /states/done/timeout");
    refuses("{p: x}", "[p]", "at /prompts");
}

#[test]
fn what_is_wrong_in_steps_is_refused_at_its_place() {
    let text = fs::read_to_string(root().join("tests/fixtures/steps.toml")).unwrap();
    for (old, new, place) in [
        ("execution = \"step\"", "execution = \"steps\"", "at /workflow/execution"),
        ("permissions = \"reduced\"", "permissions = \"none\"", "at /steps/0/permissions"),
        ("timeout = 3600", "timeout = \"1h\"", "at /steps/0/timeout"),
        ("max_retries = 2", "max_retries = true", "at /steps/2/max_retries"),
        ("depends_on = [\"self\"]", "depends_on = {}", "at /steps/1/depends_on"),
        ("id = \"fix\"\n", "", "\"id\" is a required property at /steps/2"),
        ("on_fail = \"stuck\"", "on_failure = \"stuck\"", "'on_failure' was unexpected"),
    ] {
        assert!(text.contains(old), "{old}");
        let faults = faults(&Source::new("steps.toml", text.replacen(old, new, 1)));
        assert!(faults.iter().any(|it| it.contains(place)), "{new}: {faults:?}");
    }
}

#[test]
fn definitions_have_names_of_their_own_and_keys_have_docs() {
    let schema = written();
    let defs = schema["$defs"].as_object().unwrap();
    let names =
        ["workflow", "commands", "state", "transition", "gate", "exit-rule", "then_when-clause", "step"];
    assert!(defs.len() > names.len() + 10);
    assert!(defs["workflow"]["properties"]["version"]["type"].is_array(), "the header of a step workflow");
    for name in names {
        assert!(defs.contains_key(name), "{name} of {:?}", defs.keys());
    }
    for (name, definition) in defs {
        assert_eq!(definition["additionalProperties"], json!(false), "{name}");
        for (key, value) in definition["properties"].as_object().unwrap() {
            assert!(value["description"].is_string() || value["const"].is_string(), "{name} {key}");
        }
    }
}

fn of_scenarios() -> Validator {
    let schema = serde_json::to_value(scenarios()).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Every file of scenarios in a folder.
fn scenario_files(folder: &str) -> Vec<Source> {
    let files = fs::read_dir(root().join(folder)).unwrap().map(|it| it.unwrap().path());
    let files = files.filter(|it| it.to_string_lossy().ends_with(".test.yml"));
    files.map(|it| Source::read(&it).unwrap()).collect()
}

#[test]
fn scenarios_that_can_be_read_are_valid() {
    let validator = of_scenarios();
    let files = [scenario_files("workflows"), scenario_files("tools/cli/templates")].concat();
    assert!(files.len() >= 5, "only {}", files.len());
    for source in files {
        assert_eq!(faults_by(&validator, &source), Vec::<String>::new(), "{}", source.path);
    }
    let page = fs::read_to_string(root().join("docs/authoring.md")).unwrap();
    let blocks = page.split("```yaml\nscenarios:").skip(1).filter_map(|it| it.split("```").next());
    let blocks: Vec<String> = blocks.map(|it| format!("scenarios:{it}")).collect();
    assert_eq!(blocks.len(), 2);
    for text in blocks {
        let source = Source::new("flow.test.yml", text);
        assert_eq!(faults_by(&validator, &source), Vec::<String>::new(), "{}", source.text);
    }
}

#[test]
fn wrong_scenarios_are_refused_by_the_schema_and_the_reader() {
    let validator = of_scenarios();
    let steps = |steps: &str| format!("scenarios:\n- name: a\n  steps:\n  - {steps}\n");
    for text in [
        "scenarios: 1\n".to_owned(),
        "scenario: []\n".to_owned(),
        "scenarios:\n- {steps: []}\n".to_owned(),
        "scenarios:\n- {name: a, given: {status: 1, agent: worker}, steps: []}\n".to_owned(),
        "scenarios:\n- {name: a, execution: now, steps: []}\n".to_owned(),
        steps("{}"),
        steps("{spawn: yes}"),
        steps("{spawn: true, end: worker}"),
        steps("{request: done, by: [worker]}"),
        steps("{complete: a, fail: b}"),
        steps("{complete: a, end: worker}"),
        steps("{complete: a, expect: {pause: soon}}"),
        steps("{request: a, expect: {rejection: no}}"),
        steps("{retry: 1}"),
    ] {
        let source = Source::new("flow.test.yml", text);
        assert!(!faults_by(&validator, &source).is_empty(), "{}", source.text);
        let task = orange_analysis::scenario::read(&source).1.is_empty();
        let mission = orange_analysis::plan_scenario::read(&source).1.is_empty();
        assert!(!task && !mission, "{}", source.text);
    }
}
