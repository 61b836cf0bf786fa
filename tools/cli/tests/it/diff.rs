//! `diff`: what changes for tasks that are under way.

use serde_json::json;

use crate::scratch::{CLEAN, CommandResult, Scratch};

const OLD: &str = "\
name: flow
states:
  pending: {}
  working: {respawn_prompt: worker}
  qa: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: qa, hooks: [{action: kill_session}]}
  - {from: qa, to: done, hooks: [{action: release_workspace}]}
prompts:
  worker: Do it, then orange task update --status qa
";

fn without_qa() -> String {
    OLD.replace("  qa: {}\n", "")
        .replace(
            "to: qa, hooks: [{action: kill_session}",
            "to: done, hooks: [{action: kill_session}, {action: release_workspace}",
        )
        .replace("  - {from: qa, to: done, hooks: [{action: release_workspace}]}\n", "")
        .replace("--status qa", "--status done")
}

#[track_caller]
fn diff(new: &str, args: &[&str]) -> CommandResult {
    let scratch = Scratch::with(&[("old.yml", OLD), ("new.yml", new)]);
    scratch.run(&[&["diff", "old.yml", "new.yml"], args].concat())
}

#[track_caller]
fn check(new: &str, exit: i32, codes: &[&str]) {
    let run = diff(new, &["--format", "json"]);
    assert_eq!(
        (run.codes(), run.exit),
        (codes.iter().map(|it| (*it).to_owned()).collect(), exit),
        "{}",
        run.out
    );
    assert_eq!(run.json()["breaking"], json!(exit == 1));
}

#[test]
fn nothing_is_said_of_what_stays_the_same() {
    check(OLD, 0, &[]);
    let run = diff(&format!("# A comment.\n{OLD}"), &[]);
    assert_eq!((run.exit, run.out.as_str(), run.err.as_str()), (0, "", ""));
}

#[test]
fn a_deadline_is_compared_by_the_names_of_its_states() {
    let timed = |states: &str| {
        let qa = OLD.replace("  working: {respawn_prompt: worker}\n  qa: {}\n", states);
        format!("{qa}deadlines: [{{states: [working, qa], after: 4h}}]\n")
    };
    let old = timed("  working: {respawn_prompt: worker}\n  qa: {}\n");
    let new = timed("  qa: {}\n  working: {respawn_prompt: worker}\n");
    let scratch =
        Scratch::with(&[("old.yml", &old), ("new.yml", &new), ("longer.yml", &old.replace("4h", "5h"))]);
    assert!(scratch.run(&["diff", "old.yml", "new.yml", "--format", "json"]).codes().is_empty());
    assert_eq!(scratch.run(&["diff", "old.yml", "longer.yml", "--format", "json"]).codes(), ["D06"]);
}

#[test]
fn what_breaks_exits_with_1_and_a_forgotten_version_does_not() {
    check(&OLD.replace("Do it", "Do it well"), 0, &["D06"]);
    check(&OLD.replace("name: flow", "name: flow\nversion: 2").replace("Do it", "Do it well"), 0, &[]);
    check(&without_qa(), 1, &["D01", "D06"]);
    check(
        &OLD.replace("  qa: {}", "  qa: {terminal: true}")
            .replace("  - {from: qa, to: done, hooks: [{action: release_workspace}]}\n", ""),
        1,
        &["D05", "D06"],
    );
    check(&OLD.replace("name: flow", "name: other"), 1, &["D01"]);
}

#[test]
fn people_see_both_files() {
    let run = diff(&OLD.replace("to: qa,", "to: qa, when: \"review_round < 1\","), &[]);
    assert!(run.out.contains("at new.yml:9:36:"), "{}", run.out);
    assert!(run.out.contains("In old.yml, line 9, column 5,"), "{}", run.out);
    assert!(run.out.ends_with("1 breaking change, 1 warning\n"), "{}", run.out);
    let run = diff(&without_qa(), &["--format", "short"]);
    assert!(run.out.starts_with("old.yml:5:3: warn[D01 removed-state]: `qa` is gone"), "{}", run.out);
}

#[test]
fn json_has_the_place_in_the_other_file() {
    let run = diff(&OLD.replace("to: qa,", "to: qa, when: \"review_round < 1\","), &["--format", "json"]);
    let found = &run.json()["diagnostics"][0];
    assert_eq!((&found["code"], &found["file"]), (&json!("D03"), &json!("new.yml")));
    assert_eq!(found["witness"], json!({"review_round": 1}));
    assert_eq!(
        (&found["counterpart"]["file"], &found["counterpart"]["line"]),
        (&json!("old.yml"), &json!(9))
    );
}

#[test]
fn stranded_tasks_are_listed_and_broken_ones_named() {
    let task = |workflow: &str, status: &str| {
        format!("---\nworkflow: {workflow}\nstatus: {status}\n---\n# A task\n")
    };
    let scratch = Scratch::with(&[("old.yml", OLD), ("new.yml", &without_qa())]);
    scratch.write("home/tasks/coffee/1/TASK.md", task("flow", "qa"));
    scratch.write("home/tasks/coffee/2/TASK.md", task("flow", "working"));
    scratch.write("home/tasks/coffee/3/TASK.md", task("flow", "done"));
    scratch.write("home/tasks/coffee/4/TASK.md", task("other", "qa"));
    scratch.write("home/tasks/coffee/5/TASK.md", "no task");
    scratch.write("home/tasks/coffee/6/TASK.md", [0xff]);
    scratch.write("home/tasks/coffee/.lock", "");
    scratch.write("home/tasks/tea/7/TASK.md", task("flow", "unknown"));
    let run = scratch.run(&["diff", "old.yml", "new.yml", "--home", "home", "--format", "json"]);
    assert_eq!(run.exit, 1);
    let tasks = &run.json()["tasks"];
    let ids: Vec<&str> = tasks.as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["1", "7"]);
    assert_eq!(run.json()["unreadable"].as_array().unwrap().len(), 2);
    assert!(run.err.contains("skipped home/tasks/coffee/5/TASK.md: it has no frontmatter"), "{}", run.err);
    let run = scratch.run(&["diff", "old.yml", "new.yml", "--home", "home"]);
    assert!(
        run.out.contains("coffee/1 would be stranded in qa: the new workflow has no state `qa`\n"),
        "{}",
        run.out
    );
    assert!(run.out.ends_with("1 breaking change, 1 warning, 2 stranded tasks\n"), "{}", run.out);
    assert_eq!(scratch.run(&["diff", "old.yml", "old.yml", "--home", "home"]).exit, 0);
}

#[test]
fn what_cannot_be_compared_exits_with_2() {
    let steps = "[workflow]\nname = \"flow\"\n[[steps]]\nid = \"a\"\n";
    let scratch = Scratch::with(&[("old.yml", OLD), ("broken.yml", "name: ["), ("steps.toml", steps)]);
    for args in [
        &["old.yml", "nothing.yml"][..],
        &["old.yml", "."],
        &["broken.yml", "old.yml"],
        &["old.yml", "broken.yml"],
        &["old.yml", "steps.toml"],
        &["old.yml", "old.yml", "--home", "nowhere"],
    ] {
        let run = scratch.run(&[&["diff"], args].concat());
        assert_eq!((run.exit, run.out.as_str()), (2, ""), "{args:?}");
        assert!(!run.err.is_empty(), "{args:?}");
    }
}

#[test]
fn the_old_one_may_come_from_standard_input() {
    let scratch = Scratch::with(&[("new.yml", &without_qa())]);
    let run = scratch.run_with_stdin(&["diff", "-", "new.yml", "--format", "short"], OLD);
    assert!(run.out.starts_with("<stdin>:5:3: warn[D01"), "{}", run.out);
}

#[test]
fn step_workflows_differ_for_later_missions_only() {
    let old = "[workflow]\nname = \"ship\"\n[[steps]]\nid = \"a\"\nprompt = \"a\"\n\
               [[steps]]\nid = \"b\"\nprompt_file = \"b.md\"\ndepends_on = [\"a\"]\n";
    let new = old.replace("prompt = \"a\"", "prompt = \"a\"\nharness = \"codex\"")
        + "on_fail = \"c\"\n[[steps]]\nid = \"c\"\nprompt = \"c\"\n";
    let scratch = Scratch::with(&[
        ("old/ship.toml", old),
        ("ship.toml", &new),
        ("old/b.md", "Go on. {{context}}"),
        ("b.md", "Go on with it. {{context}}"),
    ]);
    let run = scratch.run(&["diff", "old/ship.toml", "ship.toml"]);
    let expect = "\
a (ship.toml:4)
  harness: codex, where there was none
b (ship.toml:8)
  on_fail: c, where there was none
  prompt: another text
c (ship.toml:13)
  is new

4 changes for missions that start later; a mission that runs keeps its plan
";
    assert_eq!((run.exit, run.out.as_str()), (0, expect));
    let short = scratch.run(&["diff", "ship.toml", "old/ship.toml", "--format", "short"]).out;
    assert!(short.starts_with("old/ship.toml:4: a: harness: none, where there was codex\n"), "{short}");
    assert!(short.ends_with("ship.toml:13: c: is gone\n"), "{short}");
    let json = scratch.run(&["diff", "old/ship.toml", "ship.toml", "--format", "json"]).json();
    assert_eq!((&json["breaking"], json["steps"].as_array().unwrap().len()), (&false.into(), 4));
    assert_eq!(
        (&json["steps"][0]["before"], &json["steps"][0]["after"]),
        (&serde_json::Value::Null, &"codex".into())
    );
    assert_eq!(
        (&json["steps"][3]["old_line"], &json["steps"][3]["new_line"]),
        (&serde_json::Value::Null, &13.into())
    );
    assert_eq!(scratch.run(&["diff", "ship.toml", "ship.toml"]).out, "");
}

#[test]
fn workflows_of_two_kinds_are_not_compared() {
    let steps = include_str!("../../../../tests/fixtures/dev-task.toml");
    let scratch = Scratch::with(&[("clean.yml", CLEAN), ("steps.toml", steps)]);
    scratch.write_prompts();
    for files in [["clean.yml", "steps.toml"], ["steps.toml", "clean.yml"]] {
        let run = scratch.run(&["diff", files[0], files[1]]);
        assert_eq!((run.exit, run.out.as_str()), (2, ""));
        assert!(
            run.err.starts_with("error: steps.toml has steps, and clean.yml has states\n"),
            "{}",
            run.err
        );
    }
}
