//! `prove`: what is known of a workflow.

use serde_json::Value;

use crate::scratch::{CommandResult, Scratch};

const DEFAULT: &str = include_str!("../../../../tests/fixtures/seed-default.yml");
const STEPS: &str = include_str!("../../../../tests/fixtures/dev-task.toml");

/// One agent, one person, and nothing that is left behind.
const SOUND: &str = r###"name: sound
states:
  pending: {}
  working: {respawn_prompt: worker}
  reviewing: {}
  stuck: {}
  done: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - from: working
    to: reviewing
    gate: {section: "## Handoff", required: true}
    hooks: [{action: kill_session}]
  - {from: working, to: stuck, hooks: [{action: kill_session}]}
  - {from: stuck, to: working, hooks: [{action: spawn_agent, prompt: worker}]}
  - {from: reviewing, to: done, hooks: [{action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, has_artifact: {section: "## Handoff", required: true}, then: reviewing}
    - {status: working, no_artifact: true, action: crash, stuck_after: 2}
prompts:
  worker: "Write ## Handoff, then orange task update --status reviewing"
"###;

fn prove(name: &str, text: &str, more: &[&str]) -> CommandResult {
    Scratch::with(&[(name, text)]).run(&[&["prove", name], more].concat())
}

#[test]
fn what_holds_is_proved_with_its_argument() {
    let run = prove("sound.yml", SOUND, &[]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.starts_with("sound.yml: 8 properties: 8 proved\n\n"), "{}", run.out);
    assert!(run.out.contains("proved: no agent is lost unseen\n  of the "), "{}", run.out);
    let out = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let longest = "longest run without a person: 2 transitions, pending → working → stuck";
    assert!(out.contains(longest), "{}", run.out);
    assert!(run.out.contains("\nWhat this rests on\n  - "), "{}", run.out);
}

#[test]
fn what_does_not_hold_is_refuted_with_the_run_that_breaks_it() {
    let run = prove("default.yml", DEFAULT, &[]);
    assert_eq!((run.exit, run.err.as_str()), (1, ""));
    assert!(run.out.contains("refuted: never two agents in one worktree"), "{}", run.out);
    assert!(run.out.contains("C62 spawn-while-alive: "), "{}", run.out);
    assert!(run.out.contains("    run: it starts in pending. "), "{}", run.out);
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
}

#[test]
fn programs_get_the_same_as_json() {
    let run = prove("default.yml", DEFAULT, &["--format", "json"]);
    assert_eq!((run.exit, run.err.as_str()), (1, ""));
    let proof: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&proof["version"], &proof["workflow"]), (&1.into(), &"default".into()));
    let of = |name: &str| {
        proof["properties"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone()
    };
    assert_eq!(of("ends-reachable")["verdict"], "proved");
    assert!(of("ends-reachable")["argument"].is_string());
    assert_eq!(of("one-agent")["verdict"], "refuted");
    assert_eq!(of("one-agent")["findings"][0]["code"], "C62");
    assert_eq!(of("one-agent")["findings"][0]["trace"][0], "pending");
    let figures = &proof["figures"];
    assert_eq!((&figures["longest_run"], &figures["agents"]), (&Value::Null, &Value::Null));
    assert_eq!(of("loops-bounded")["findings"][0]["code"], "C05");
    let sound: Value = serde_json::from_str(&prove("sound.yml", SOUND, &["--format", "json"]).out).unwrap();
    for figure in ["longest_run", "agents"] {
        assert!(sound["figures"][figure]["count"].is_number(), "{sound}");
    }
    assert!(proof["rests_on"].as_array().unwrap().iter().all(Value::is_string));
}

#[test]
fn what_cannot_be_proved_says_why() {
    let run = prove("sound.yml", &SOUND.replace("to: done", "to: doen"), &[]);
    assert_eq!((run.exit, run.out.as_str()), (1, ""));
    assert!(run.err.contains("A01"), "{}", run.err);
    assert_eq!(Scratch::new().run(&["prove", "nowhere.yml"]).exit, 2);
}

#[test]
fn a_step_workflow_is_proved_with_its_bounds_and_ends() {
    let scratch = Scratch::with(&[("dev-task.toml", STEPS)]);
    scratch.write_prompts();
    let run = scratch.run(&["prove", "dev-task.toml"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.starts_with("dev-task.toml: 5 properties: 5 proved\n\n"), "{}", run.out);
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    let out = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "proved: every mission ends, or waits for a person",
        "at most 10 attempts beside retries by hand, each at most 2 agents; by step: plan 1, implement 1, review 4, fix 3, pr 1",
        "proved: never two steps that write in a worktree, or one beside a step that reads there",
        "`pr` has completed",
        "- completed: plan, implement, review and pr have run script: complete plan; complete implement; complete review PASS; complete pr",
        "the loop of fix is exhausted",
    ] {
        assert!(out.contains(line), "{line}\n{}", run.out);
    }
}

#[test]
fn the_proof_of_a_step_workflow_as_json_has_its_own_figures() {
    let scratch = Scratch::with(&[("dev-task.toml", &STEPS.replace("'PASS'", "'DONE'"))]);
    scratch.write_prompts();
    let run = scratch.run(&["prove", "dev-task.toml", "--format", "json"]);
    assert_eq!((run.exit, run.err.as_str()), (1, ""), "{}", run.out);
    let proof = run.json();
    let silent =
        proof["properties"].as_array().unwrap().iter().find(|it| it["name"] == "no-silent-success").unwrap();
    assert_eq!(
        (silent["verdict"].as_str(), silent["findings"][0]["code"].as_str()),
        (Some("refuted"), Some("B09"))
    );
    let figures = &proof["figures"];
    assert_eq!((figures["attempts"].as_u64(), figures["is_cut"].as_bool()), (Some(10), Some(false)));
    assert_eq!(figures["by_step"][2]["most"], 4);
    assert_eq!(figures["ends"][0]["status"], "completed");
}
