//! JUnit, GitLab's Code Quality and reviewdog's format, held against the structure that their readers document; and counts.

use roxmltree::{Document, Node};
use serde_json::{Value, json};

use crate::check::{BROKEN, WARNED};
use crate::formats::everything;
use crate::scratch::{CLEAN, Scratch};

/// Holds XML against what the schema of Jenkins' xUnit plugin (`junit-10.xsd`) allows, and its counts against its cases.
#[track_caller]
pub(crate) fn assert_junit(text: &str) {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let root = document.root_element();
    assert_has(root, "testsuites", &[], &["name", "time", "tests", "failures", "errors"], &["testsuite"]);
    let suites: Vec<Node<'_, '_>> = root.children().filter(Node::is_element).collect();
    assert_counts(root, &suites.iter().flat_map(|it| it.children()).collect::<Vec<_>>());
    for suite in suites {
        let required = ["name", "tests", "failures", "errors"];
        assert_has(suite, "testsuite", &required, &["time", "skipped", "file"], &["testcase"]);
        assert_counts(suite, &suite.children().collect::<Vec<_>>());
        for case in suite.children().filter(Node::is_element) {
            let children = ["skipped", "error", "failure", "system-out", "system-err"];
            assert_has(case, "testcase", &["name"], &["time", "classname", "group"], &children);
            for end in case.children().filter(Node::is_element) {
                let name = end.tag_name().name();
                let optional = if name.starts_with("system") { &[][..] } else { &["type", "message"] };
                assert_has(end, name, &[], optional, &[]);
            }
        }
    }
}

#[track_caller]
fn assert_has(node: Node<'_, '_>, name: &str, required: &[&str], optional: &[&str], children: &[&str]) {
    assert_eq!(node.tag_name().name(), name);
    for attribute in required {
        assert!(node.attribute(*attribute).is_some(), "{name} lacks {attribute}");
    }
    for attribute in node.attributes() {
        assert!([required, optional].concat().contains(&attribute.name()), "{name}: {}", attribute.name());
    }
    for child in node.children().filter(Node::is_element) {
        assert!(children.contains(&child.tag_name().name()), "{name} has {}", child.tag_name().name());
    }
}

#[track_caller]
fn assert_counts(node: Node<'_, '_>, cases: &[Node<'_, '_>]) {
    let with = |end: &str| {
        let has = |case: &&Node<'_, '_>| case.children().any(|it| it.has_tag_name(end));
        cases.iter().filter(has).count().to_string()
    };
    let all = cases.iter().filter(|it| it.has_tag_name("testcase")).count().to_string();
    assert_eq!(node.attribute("tests"), Some(all.as_str()));
    assert_eq!(node.attribute("failures"), Some(with("failure").as_str()));
    assert_eq!(node.attribute("errors"), Some(with("error").as_str()));
}

#[track_caller]
fn assert_fits(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(document).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Schema that GitLab documents: five keys, the place by its first line.
fn code_quality() -> Value {
    let line = json!({"type": "integer", "minimum": 1});
    json!({"type": "array", "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "not": {"pattern": r"^\./"}},
                    "lines": {"required": ["begin"], "properties": {"begin": line, "end": line}},
                },
            },
        },
    }})
}

/// The messages of `reviewdog.proto`, which knows no other keys.
fn rdf() -> Value {
    let number = json!({"type": "integer", "minimum": 1});
    let object = |required: Value, properties: Value| json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false});
    let position = object(json!(["line"]), json!({"line": number, "column": number}));
    let range = object(json!(["start"]), json!({"start": position, "end": position}));
    let text = json!({"type": "string"});
    let code = object(json!(["value"]), json!({"value": text, "url": text}));
    let suggestion = object(json!(["range", "text"]), json!({"range": range, "text": text}));
    let diagnostic = object(
        json!(["message", "location"]),
        json!({
            "message": {"type": "string", "minLength": 1},
            "location": object(json!(["path"]), json!({"path": text, "range": range})),
            "severity": {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
            "code": code,
            "suggestions": {"type": "array", "items": suggestion},
        }),
    );
    object(
        json!(["diagnostics"]),
        json!({
            "source": object(json!(["name"]), json!({"name": text, "url": text})),
            "diagnostics": {"type": "array", "items": diagnostic},
        }),
    )
}

#[test]
fn every_report_has_the_structure_of_its_readers() {
    let scratch = everything();
    let run = |format: &str| scratch.run(&["check", ".", "--format", format]);
    let count = run("json").json()["diagnostics"].as_array().unwrap().len();
    assert_junit(&run("junit").out);
    let gitlab: Value = serde_json::from_str(&run("gitlab").out).unwrap();
    assert_fits(&code_quality(), &gitlab);
    let issues = gitlab.as_array().unwrap();
    let mut fingerprints: Vec<&str> = issues.iter().map(|it| it["fingerprint"].as_str().unwrap()).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!((issues.len(), fingerprints.len()), (count, count));
    let rdjson: Value = serde_json::from_str(&run("rdjson").out).unwrap();
    assert_fits(&rdf(), &rdjson);
    assert_eq!(rdjson["diagnostics"].as_array().unwrap().len(), count);
}

#[test]
fn a_run_without_a_finding_is_a_report_too() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN)]);
    let run = |format: &str| scratch.run(&["check", "clean.yml", "--format", format]).out;
    assert_junit(&run("junit"));
    assert!(run("junit").contains("<testcase name=\"nothing wrong\" classname=\"clean.yml\"/>"));
    assert_eq!(run("gitlab"), "[]\n");
    assert_eq!(serde_json::from_str::<Value>(&run("rdjson")).unwrap()["diagnostics"], json!([]));
}

#[test]
fn junit_fails_what_the_run_fails() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN), ("warned.yml", WARNED)]);
    let run = |args: &[&str]| scratch.run(&[&["check", "--format", "junit"], args].concat());
    let both = run(&["broken.yml", "warned.yml"]).out;
    assert!(
        both.contains("<testsuite name=\"broken.yml\" tests=\"1\" failures=\"1\" errors=\"0\">"),
        "{both}"
    );
    assert!(both.contains("<failure message=\"unknown state `doen`\">broken.yml:7:25: unknown"), "{both}");
    assert!(
        both.contains("<testsuite name=\"warned.yml\" tests=\"1\" failures=\"0\" errors=\"0\">"),
        "{both}"
    );
    assert!(run(&["warned.yml", "--deny", "warnings"]).out.contains("failures=\"1\""));
    let missing = run(&["warned.yml", "nowhere.yml"]);
    assert_junit(&missing.out);
    assert!(missing.exit == 2 && missing.out.contains("<error>error: no such file or folder: nowhere.yml"));
}

#[test]
fn a_fingerprint_of_gitlab_stays_when_lines_move() {
    let fingerprints = |text: &str| {
        let scratch = Scratch::with(&[("broken.yml", text)]);
        let issues: Value =
            serde_json::from_str(&scratch.run(&["check", ".", "--format", "gitlab"]).out).unwrap();
        issues.as_array().unwrap().iter().map(|it| it["fingerprint"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(fingerprints(BROKEN), fingerprints(&format!("# One more line.\n\n{BROKEN}")));
}

#[test]
fn columns_of_reviewdog_are_bytes() {
    let text = BROKEN.replace("doen", "döen");
    let scratch = Scratch::with(&[("broken.yml", &text)]);
    let found: Value = serde_json::from_str(&scratch.run(&["check", ".", "--format", "rdjson"]).out).unwrap();
    assert_eq!(
        found["diagnostics"][0]["location"]["range"],
        json!({"start": {"line": 7, "column": 25}, "end": {"line": 7, "column": 30}})
    );
    let fixed: Value = {
        let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
        serde_json::from_str(&scratch.run(&["check", ".", "--format", "rdjson"]).out).unwrap()
    };
    assert_eq!(fixed["diagnostics"][0]["suggestions"][0]["text"], "done");
    assert_eq!(fixed["diagnostics"][0]["code"], json!({"value": "A01"}));
}

#[test]
fn a_url_is_given_where_pages_are_published() {
    let scratch = Scratch::with(&[("flows/broken.yml", BROKEN)]);
    let of_json = |it: &Value| -> Value { it["diagnostics"][0]["url"].clone() };
    assert_eq!(of_json(&scratch.run(&["check", "flows", "--format", "json"]).json()), Value::Null);
    scratch.write("orange-workflow.toml", "docs = \"https://example.org/{name}.html\"\n");
    let page = json!("https://example.org/unknown-to.html");
    assert_eq!(of_json(&scratch.run(&["check", "flows", "--format", "json"]).json()), page);
    let parsed = |format: &str| -> Value {
        serde_json::from_str(&scratch.run(&["check", "flows", "--format", format]).out).unwrap()
    };
    assert_eq!(parsed("rdjson")["diagnostics"][0]["code"]["url"], page);
    let sarif = parsed("sarif");
    let at = sarif["runs"][0]["results"][0]["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][at]["helpUri"], page);
}

#[test]
fn statistics_count_each_check() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN), ("warned.yml", WARNED), ("other.yml", WARNED)]);
    let run = scratch.run(&["check", ".", "--statistics"]);
    assert_eq!(run.exit, 1);
    assert_eq!(
        run.out,
        "2  error  S06 name-mismatch\n2  warn   S07 yaml-trap\n1  error  A01 unknown-to\nchecked 3 files: 2 errors, 3 warnings\n",
    );
    let json = scratch.run(&["check", ".", "--statistics", "--format", "json"]).json();
    assert_eq!(
        json["statistics"][2],
        json!({"code": "A01", "name": "unknown-to", "level": "error", "count": 1})
    );
    assert_eq!(scratch.run(&["check", ".", "--format", "json"]).json().get("statistics"), None);
    let refused = scratch.run(&["check", ".", "--statistics", "--format", "sarif"]);
    assert!(refused.exit == 2 && refused.err.contains("--statistics has no form in this format"));
}
