//! `--format sarif` and `--format github`: what code scanning and annotations are made of.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::check::{BROKEN, WARNED};
use crate::scratch::{CLEAN, Scratch};

/// One finding that has everything: labels, a witness, a trace and a fix are somewhere in these.
pub(crate) fn everything() -> Scratch {
    let scratch = Scratch::with(&[
        ("broken.yml", BROKEN),
        ("flows/warned.yml", WARNED),
        ("seed-default.yml", include_str!("../../../../tests/fixtures/seed-default.yml")),
    ]);
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/diagnostics");
    for case in fs::read_dir(cases).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_file()) {
        scratch.write(
            &format!("cases/{}", case.file_name().unwrap().to_str().unwrap()),
            fs::read(&case).unwrap(),
        );
    }
    scratch
}

#[track_caller]
fn assert_valid(document: &Value) {
    let schema = include_str!("../../../../tests/fixtures/sarif/sarif-schema-2.1.0.json");
    let mut schema: Value = serde_json::from_str(schema).unwrap();
    // Its pattern for languages has a bracket too many, and so is not a regular expression to a strict reader.
    for object in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][object]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(document).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sarif_is_valid_by_its_published_schema() {
    let scratch = everything();
    let found = scratch.run(&["check", ".", "--format", "sarif"]).json();
    assert_valid(&found);
    let results = found["runs"][0]["results"].as_array().unwrap();
    for part in ["relatedLocations", "codeFlows", "fixes"] {
        assert!(results.iter().any(|it| it.get(part).is_some()), "no result has {part}");
    }
    let nothing = Scratch::with(&[("clean.yml", CLEAN)]).run(&["check", ".", "--format", "sarif"]).json();
    assert_valid(&nothing);
    assert_eq!(nothing["runs"][0]["results"], json!([]));
}

#[test]
fn a_result_has_the_place_and_the_rule_of_its_finding() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
    let found = scratch.run(&["check", ".", "--format", "sarif"]).json();
    let run = &found["runs"][0];
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("A01"), &json!("error")));
    let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!((&rule["id"], &rule["name"]), (&json!("A01"), &json!("unknown-to")));
    assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("# A01 unknown-to\n"));
    assert_eq!(
        result["locations"][0]["physicalLocation"],
        json!({
            "artifactLocation": {"uri": "broken.yml", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": 7, "startColumn": 25, "endLine": 7, "endColumn": 29},
        })
    );
    assert_eq!(
        result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
        "transitions[pending→doen].to"
    );
    assert_eq!(
        result["fixes"][0]["artifactChanges"][0]["replacements"],
        json!([{
            "deletedRegion": {"startLine": 7, "startColumn": 25, "endLine": 7, "endColumn": 29},
            "insertedContent": {"text": "done"},
        }])
    );
}

#[test]
fn a_trace_becomes_a_code_flow() {
    let found = everything().run(&["check", "seed-default.yml", "--format", "sarif"]).json();
    let results = found["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|it| it["ruleId"] == "C62").unwrap();
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(steps[0]["location"]["message"]["text"], "it starts in `pending`");
    assert!(steps.len() > 3, "{steps:#?}");
    for (at, step) in steps.iter().enumerate() {
        assert_eq!(step["executionOrder"], at + 1);
        assert!(step["location"]["physicalLocation"]["region"]["startLine"].is_u64(), "{step}");
    }
}

#[test]
fn fingerprints_stay_when_lines_move() {
    let fingerprints = |text: &str| {
        let scratch = Scratch::with(&[("seed-default.yml", text)]);
        let found = scratch.run(&["check", ".", "--format", "sarif"]).json();
        let results = found["runs"][0]["results"].as_array().unwrap().clone();
        let mut all: Vec<String> = results
            .iter()
            .map(|it| it["partialFingerprints"]["place/v1"].as_str().unwrap().to_owned())
            .collect();
        all.sort();
        all
    };
    let text = include_str!("../../../../tests/fixtures/seed-default.yml");
    let before = fingerprints(text);
    let mut once = before.clone();
    once.dedup();
    assert!(before.len() > 3 && once == before, "{before:#?}");
    assert_eq!(fingerprints(&format!("# One more line.\n\n{text}")), before);
}

#[test]
fn paths_begin_at_the_root_of_the_repository() {
    let scratch = Scratch::with(&[("repo/.git/HEAD", ""), ("repo/a b/deep/broken.yml", BROKEN)]);
    fs::create_dir(scratch.path().join("repo/a b/.git")).unwrap();
    let run = |folder: &str, args: &[&str]| {
        let mut command = scratch.command(&[&["check"], args].concat());
        String::from_utf8(command.current_dir(scratch.path().join(folder)).output().unwrap().stdout).unwrap()
    };
    for (folder, path) in
        [("repo", "."), ("repo/a b", "deep"), ("repo/a b/deep", "broken.yml"), (".", "repo")]
    {
        let found: Value = serde_json::from_str(&run(folder, &[path, "--format", "sarif"])).unwrap();
        let location =
            &found["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(location, &json!({"uri": "a%20b/deep/broken.yml", "uriBaseId": "%SRCROOT%"}), "{folder}");
        let github = run(folder, &[path, "--format", "github"]);
        assert!(github.starts_with("::error file=a b/deep/broken.yml,line=7,endLine=7,col=25,"), "{github}");
    }
    let elsewhere = Scratch::with(&[("broken.yml", BROKEN)]);
    let path = elsewhere.path().canonicalize().unwrap().join("broken.yml");
    let found: Value =
        serde_json::from_str(&run("repo", &[path.to_str().unwrap(), "--format", "sarif"])).unwrap();
    let uri = &found["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(uri.as_str().unwrap().starts_with("file:///"), "{uri}");
}

#[test]
fn annotations() {
    let scratch = Scratch::with(&[("flows/warned.yml", WARNED), ("x,y/broken.yml", BROKEN)]);
    let run = scratch.run(&["check", ".", "--format", "github"]);
    assert_eq!(run.exit, 1);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(
        lines,
        [
            "::error file=x%2Cy/broken.yml,line=7,endLine=7,col=25,endColumn=29,title=A01 unknown-to\
             ::unknown state `doen`%0Ahelp: did you mean `done`?%0Adocs: orange-workflow explain A01",
            "::warning file=flows/warned.yml,line=5,endLine=5,col=26,endColumn=28,title=S07 yaml-trap\
             ::`on` is text here, and a truth value to readers of YAML 1.1%0Ahelp: put it in quotes: `\"on\"`\
             %0Adocs: orange-workflow explain S07",
        ]
    );
}

#[test]
fn the_worst_annotations_come_first() {
    let scratch = everything();
    let run = scratch.run(&["check", ".", "--format", "github", "--deny", "S07"]);
    let json = scratch.run(&["check", ".", "--format", "json", "--deny", "S07"]).json();
    let kind = |line: &str| line.split(' ').next().unwrap().to_owned();
    let kinds: Vec<String> = run.out.lines().map(kind).collect();
    assert!(
        kinds.is_sorted_by_key(|it| ["::error", "::warning", "::notice"].iter().position(|kind| kind == it))
    );
    assert_eq!(kinds.len(), json["diagnostics"].as_array().unwrap().len());
    let denied = run.out.lines().position(|it| it.contains("title=S07")).unwrap();
    let last_error = run.out.lines().filter(|it| it.contains("title=A")).count();
    assert!(denied >= last_error, "{}", run.out);
}

#[test]
fn a_bad_file_hides_no_good_one_in_any_format() {
    let scratch = Scratch::with(&[("flows/broken.yml", BROKEN), ("flows/warned.yml", WARNED)]);
    scratch.write("flows/binary.yml", b"states:\n\xff\xfe");
    scratch.write("flows/torn.yml", "name: torn\nstates: {a: {}\n");
    std::os::unix::fs::symlink("nowhere", scratch.path().join("flows/gone.yml")).unwrap();
    for format in
        ["human", "graphical", "narrated", "short", "json", "sarif", "github", "gitlab", "rdjson", "junit"]
    {
        let run = scratch.run(&["check", "nowhere", "flows", "--format", format]);
        assert_eq!(run.exit, 2, "{}", run.err);
        assert!(run.err.contains("no such file or folder: nowhere"), "{}", run.err);
        for code in ["A01", "S07", "S01", "S08"] {
            assert!(run.out.contains(code), "{format} lacks {code}: {}", run.out);
        }
        for file in ["broken", "warned", "binary", "torn", "gone"] {
            assert!(run.out.contains(&format!("flows/{file}.yml")), "{format} lacks {file}: {}", run.out);
        }
    }
    let sarif = scratch.run(&["check", "nowhere", "flows", "--format", "sarif"]).json();
    assert_valid(&sarif);
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(
        invocation["toolExecutionNotifications"][0]["message"]["text"],
        "no such file or folder: nowhere"
    );
}
