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
    assert!(run.out.starts_with("sound.yml: 6 properties: 6 proved\n\n"), "{}", run.out);
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
    assert!(run.out.contains("    run: the task starts in pending. "), "{}", run.out);
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
    assert_eq!((&figures["longest_run"]["count"], &figures["agents"]["count"]), (&5.into(), &4.into()));
    assert!(proof["rests_on"].as_array().unwrap().iter().all(Value::is_string));
}

#[test]
fn what_cannot_be_proved_says_why() {
    let scratch = Scratch::with(&[("dev-task.toml", STEPS)]);
    scratch.write_prompts();
    let run = scratch.run(&["prove", "dev-task.toml"]);
    assert_eq!((run.exit, run.out.as_str()), (1, ""));
    assert!(run.err.contains("step workflow"), "{}", run.err);
    let run = prove("sound.yml", &SOUND.replace("to: done", "to: doen"), &[]);
    assert_eq!((run.exit, run.out.as_str()), (1, ""));
    assert!(run.err.contains("A01"), "{}", run.err);
    assert_eq!(Scratch::new().run(&["prove", "nowhere.yml"]).exit, 2);
}
