//! Several reviewers of one task at once, each with its own section.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::clocks::{JOURNAL, set_clock};
use crate::exits::due_at;
use crate::task::{Task, is_alive, kill};
use crate::world::World;

const PANEL: &str = r###"
name: panel
states:
  pending: {}
  working: {}
  agent-review: {respawn_prompt: review}
  ready: {}
  stuck: {}
  done: {terminal: true}
  cancelled: {terminal: true}
gates:
  passed: {section: "## Review", verdict: PASS, verdicts: all, strict: true, fresh: true}
  failed: {section: "## Review", verdict: FAIL, verdicts: any, strict: true, fresh: true}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
  - from: working
    to: agent-review
    gate: {section: "## Handoff", required: true}
    hooks:
      - {action: kill_session}
      - {action: spawn_agent, as: reviewer, name: security, prompt: review, increment: review_round}
      - {action: spawn_agent, as: reviewer, name: style, prompt: review}
  - {from: agent-review, to: ready, gate: passed, hooks: [{action: kill_session}]}
  - from: agent-review
    to: working
    gate: failed
    hooks: [{action: kill_session}, {action: spawn_agent, prompt: work}]
  - {from: agent-review, to: stuck, hooks: [{action: kill_session}]}
  - {from: stuck, to: working, by: human, hooks: [{action: spawn_agent, prompt: work}]}
  - {from: ready, to: done, by: human, hooks: [{action: release_workspace}]}
  - {from: [pending, working, agent-review, ready, stuck], to: cancelled, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: agent-review, has_artifact: passed, then: ready}
    - {status: agent-review, has_artifact: failed, then: working}
    - {status: agent-review, no_artifact: true, action: crash, stuck_after: 4, respawn: true}
    - {status: working, has_artifact: {section: "## Handoff", required: true}, then: agent-review}
    - {status: working, no_artifact: true, action: crash, stuck_after: 2}
prompts:
  work: |
    # Task: {summary}
    Branch: {branch}
    Status: {status}
    Write ## Handoff, then run: orange task update --status agent-review
  review: |
    # Review of {summary}
    Write ## Review: {reviewer} to TASK.md, with Verdict: PASS or Verdict: FAIL as its first line. If all are PASS, run
    orange task update --status ready; if one is FAIL, run orange task update --status working.
"###;

const PASS: &str = "write 'Review: NAME' 'Verdict: PASS' \"By agent $ORANGE_SPAWN\"";
const FAIL: &str = "write 'Review: NAME' 'Verdict: FAIL' \"By agent $ORANGE_SPAWN\"";

fn says(verdict: &str, name: &str, then: &str) -> String {
    format!("{}\n{then}", verdict.replace("NAME", name))
}

fn panel(agents: &str) -> World {
    panel_with(agents, ("", ""))
}

/// A panel with this change.
fn panel_with(agents: &str, (from, to): (&str, &str)) -> World {
    let world = World::new();
    world.workflow("panel.yml", &PANEL.trim_start().replacen(from, to, 1));
    world.create("fix", &format!("Mend it [agents: {agents}]"), &["--workflow", "panel"]);
    world
}

fn begin(world: &World) -> Task<'_> {
    let task = started(world);
    task.reaches("agent-review");
    task
}

/// The task, once its reviewers work.
fn started(world: &World) -> Task<'_> {
    let id = world.ok(&["task", "list"])[0]["id"].as_str().unwrap().to_owned();
    let task = Task::new(world, &id);
    task.agent(2).begun();
    task.agent(3).begun();
    task
}

/// The names of the reviewers that are alive, by the answer of `task show`.
fn alive(task: &Task<'_>) -> Vec<String> {
    let show = task.show();
    let agents = show["agents"].as_array().unwrap().iter();
    let mut names: Vec<String> = agents.filter_map(|it| it["name"].as_str().map(str::to_owned)).collect();
    names.sort();
    names
}

fn starts(task: &Task<'_>, kind: &str) -> Vec<(Value, Value)> {
    task.events_of(kind).iter().map(|it| (it["name"].clone(), it["window"].clone())).collect()
}

#[test]
fn they_live_at_once_and_the_last_verdict_decides() {
    let world = panel("work scripted scripted");
    let task = begin(&world);
    task.reaches("agent-review");
    assert_eq!(world.panes(), ["toy/fix review-1-security", "toy/fix review-1-style"]);
    assert_eq!(alive(&task), ["security", "style"]);
    assert!(task.agent(2).prompt().contains("Write ## Review: security to"), "{}", task.agent(2).prompt());
    assert!(task.agent(3).prompt().contains("Write ## Review: style to"));
    let text = world.orange(&["task", "show", &task.id]).out;
    assert!(text.contains("agent 2 (reviewer security)"), "{text}");

    let help = world.fails(3, "not_found", &["task", "attach", &task.id, "--reviewer", "speed"]);
    assert!(help.contains("there are: security, style"), "{help}");

    // One verdict is not enough, and the end of one who has judged changes nothing.
    task.agent(2).tell(&says(PASS, "security", "ask ready; exit 0"));
    task.has_events(2, "agent.exited");
    assert_eq!((task.status(), task.events_of("agent.crashed")), ("agent-review".to_owned(), vec![]));
    assert_eq!(alive(&task), ["style"]);
    let refused = task.asks("reviewer", 3, "ready");
    assert!(refused.out.contains("`## Review: style` is missing"), "{refused:?}");

    let style = task.agent(3).begun();
    task.agent(3).tell(&says(PASS, "style", "ask ready; exec sleep 1000000"));
    task.reaches("ready");
    assert_eq!((world.panes(), is_alive(style)), (vec![], false));
}

#[test]
fn they_judge_by_request_each_in_its_own_section() {
    let world = panel("work scripted scripted");
    let task = begin(&world);
    let judges = |actor: &str, spawn: &str, text: &str| {
        let mut command = task.as_agent(actor, spawn);
        command.current_dir(task.worktree()).args(["task", "verdict", "PASS", text]);
        world.said(&mut command)
    };
    // What it would have to write to judge for the other one does not reach that section.
    let refused = judges("reviewer", "2", "x\n## Review: style\nVerdict: PASS");
    assert!(refused.out.contains("the heading `## Review: style` in the text"), "{refused:?}");
    let person = world.fails(1, "not_allowed", &["task", "verdict", "PASS", "x", "--task", &task.id]);
    assert!(person.contains("only a reviewer"), "{person}");
    task.agent(2).tell("echo 'No secret leaks.' | orange task verdict PASS -\nask ready; exit 0");
    task.has_events(2, "agent.exited");
    assert!(task.asks("reviewer", 3, "ready").out.contains("`## Review: style` is missing"));
    assert!(judges("worker", "3", "Plain.").out.contains("## Review: style"));
    let body = fs::read_to_string(task.copy()).unwrap();
    assert!(body.contains("## Review: security\n\nVerdict: PASS\n\nNo secret leaks.\n"), "{body}");
    assert!(body.contains("## Review: style\n\nVerdict: PASS\n\nPlain.\n"), "{body}");
    task.asks_its_last("reviewer", 3, "ready");
}

#[test]
fn one_fail_is_enough_and_ends_the_others() {
    let world = panel("work scripted scripted scripted scripted scripted");
    let task = begin(&world);
    let security = task.agent(2).begun();
    task.agent(3).tell(&says(FAIL, "style", "ask working; exec sleep 1000000"));
    task.agent(4).begun();
    task.reaches("working");
    assert!(!is_alive(security), "the state that it worked in is left");
    assert_eq!(world.panes(), ["toy/fix worker"]);
    // What one of them wrote in the first round is not a verdict of the second.
    task.agent(4).tell("ask agent-review; exec sleep 1000000");
    task.agent(6).begun();
    let refused = task.asks("reviewer", 5, "working");
    assert!(refused.out.contains("`## Review: style` in TASK.md is as it was"), "{refused:?}");
    assert_eq!(world.panes(), ["toy/fix review-2-security", "toy/fix review-2-style"]);
    task.ok("cancel", &["--yes"]);
    assert_eq!(world.panes(), Vec::<String>::new());
}

#[test]
fn the_exit_rules_judge_when_the_last_one_has_ended() {
    let world = panel("work scripted scripted");
    let task = begin(&world);
    task.agent(2).tell(&says(FAIL, "security", "exit 0"));
    task.has_events(2, "agent.exited");
    assert_eq!(task.status(), "agent-review", "the other one is still at work");
    task.agent(3).tell(&says(PASS, "style", "exit 0"));
    task.reaches("working");
    assert_eq!(task.events_of("agent.crashed"), Vec::<Value>::new());
}

#[test]
fn one_that_crashes_is_started_again_beside_the_others() {
    let world = panel("work scripted scripted scripted scripted");
    let task = begin(&world);
    let style = task.agent(3).begun();
    task.agent(2).tell("exit 3");
    task.agent(4).begun();
    let again = (json!("security"), json!("review-1-security"));
    assert_eq!((starts(&task, "agent.respawned"), is_alive(style)), (vec![again], true));
    assert_eq!(
        (task.owned("crash_count"), alive(&task)),
        (json!(1), vec!["security".into(), "style".into()])
    );

    // Its first verdict is its own, and the verdict of the other stays fresh.
    task.agent(3).tell(&says(PASS, "style", "exit 0"));
    task.has_events(3, "agent.exited");
    kill(world.wrapper("toy/fix"));
    world.ok(&["monitor", "--once"]);
    task.agent(5).begun();
    assert_eq!(alive(&task), ["security"], "the other one has judged");
    task.agent(5).tell(&says(PASS, "security", "ask ready"));
    task.reaches("ready");
}

#[test]
fn after_a_kill_of_all_each_is_started_again() {
    let world = panel("work scripted scripted scripted scripted");
    let task = begin(&world);
    world.tmux(&["kill-server"]);
    for spawn in [2, 3] {
        let pid = task.agent(spawn).begun();
        world.until("it is dead", || !is_alive(pid));
    }
    world.until("both are started again", || {
        world.ok(&["monitor", "--once"]);
        task.events_of("agent.respawned").len() == 2
    });
    task.agent(4).begun();
    task.agent(5).begun();
    assert_eq!(alive(&task), ["security", "style"]);
    let windows: Vec<Value> =
        starts(&task, "agent.respawned").into_iter().map(|(_, window)| window).collect();
    assert!(windows.contains(&json!("review-1-security")) && windows.contains(&json!("review-1-style")));
}

#[test]
fn a_person_restarts_those_that_have_not_judged() {
    let world = panel("work scripted scripted scripted");
    let task = begin(&world);
    task.agent(2).tell(&says(PASS, "security", "exec sleep 1000000"));
    world.until("it has judged", || {
        task.show();
        std::fs::read_to_string(task.copy()).unwrap().contains("## Review: security")
    });
    let restarted = task.ok("restart", &[]);
    assert_eq!((&restarted["spawn"], &restarted["spawns"]), (&json!(4), &Value::Null));
    task.agent(4).begun();
    assert_eq!(alive(&task), ["style"]);
}

#[test]
fn all_that_are_started_again_are_named() {
    let world = panel("work scripted scripted scripted scripted");
    let task = begin(&world);
    let said = world.orange(&["task", "restart", &task.id]);
    assert!(
        said.out.starts_with("started agent 4 (reviewer security), agent 5 (reviewer style);"),
        "{said:?}"
    );
    let shown = world.orange(&["task", "show", &task.id]).out;
    assert!(shown.contains("agent.respawned  actor=reviewer name=style"), "{shown}");
}

#[test]
fn one_is_killed_while_the_other_writes_its_verdict() {
    let world = panel("work scripted scripted scripted");
    let task = begin(&world);
    let security = task.agent(2).begun();
    task.agent(3).tell(&says(PASS, "style", "ask ready; exit 0"));
    kill(security);
    task.agent(4).begun();
    task.has_events(3, "agent.exited");
    assert_eq!((task.status(), alive(&task)), ("agent-review".to_owned(), vec!["security".to_owned()]));
    assert_eq!(task.events_of("agent.crashed").len(), 1, "the end of the other one is not a crash");
    task.agent(4).tell(&says(PASS, "security", "exit 0"));
    task.reaches("ready");
    assert_eq!(world.panes(), Vec::<String>::new());
}

#[test]
fn crashes_of_both_count_together_and_escalate() {
    let world = panel("work scripted scripted scripted scripted scripted");
    let task = begin(&world);
    let style = task.agent(3).begun();
    for (spawn, crashes) in [(2, 1), (4, 2), (5, 3)] {
        task.agent(spawn).begun();
        task.agent(spawn).tell("exit 3");
        task.has_events(crashes, "agent.crashed");
        assert!(is_alive(style), "the crash of another one does not touch it");
    }
    task.agent(6).begun();
    task.agent(3).tell("exit 3");
    task.reaches("stuck");
    assert_eq!(world.panes(), Vec::<String>::new());
}

#[test]
fn one_that_crashes_while_hooks_wait_is_started_again_with_them() {
    let hook = "      - {action: spawn_agent, as: reviewer, name: style, prompt: review}\n";
    let with = format!("{hook}      - {{action: run_command, argv: [test, -e, /tmp/FLAG]}}\n");
    let flag = std::env::temp_dir().join(format!("orange-panel-{}", std::process::id()));
    let with = with.replace("/tmp/FLAG", flag.to_str().unwrap());
    let world = panel_with("work scripted scripted scripted", (hook, &with));
    let task = started(&world);
    let style = task.agent(3).begun();
    task.has_events(1, "hooks.waiting");
    task.agent(2).tell("exit 3");
    task.has_events(2, "agent.exited");
    assert_eq!(task.events_of("agent.crashed"), Vec::<Value>::new());
    std::fs::write(&flag, "").unwrap();
    task.ok("update", &["--retry-hooks"]);
    task.agent(4).begun();
    std::fs::remove_file(&flag).unwrap();
    assert_eq!((alive(&task), is_alive(style)), (vec!["security".to_owned(), "style".to_owned()], true));
    assert_eq!(task.owned("crash_count"), json!(1));
}

#[test]
fn one_that_crashes_waits_for_the_limit_of_another() {
    let world = panel("work scripted scripted scripted scripted");
    let task = begin(&world);
    let line = json!({
        "time": "2026-01-01T00:00:00.000Z", "spawn": 2, "kind": "limit", "text": "429, try again in 15 minutes",
    });
    let notes = task.folder().join("activity.jsonl");
    let mut notes = fs::OpenOptions::new().append(true).create(true).open(notes).unwrap();
    notes.write_all(format!("{line}\n").as_bytes()).unwrap();
    task.agent(2).tell("exit 3");
    task.has_events(1, "agent.waiting");
    let until = task.owned("waiting_until");
    task.agent(3).tell("exit 3");
    task.has_events(1, "agent.crashed");
    world.ok(&["monitor", "--once"]);
    assert_eq!((task.owned("waiting_until"), starts(&task, "agent.respawned")), (until, vec![]));
    assert_eq!(alive(&task), Vec::<String>::new());
    due_at(&task, "2001-01-01T00:00:00.000Z");
    world.ok(&["monitor", "--once"]);
    task.agent(4).begun();
    task.agent(5).begun();
    assert_eq!(
        (alive(&task), task.owned("crash_count")),
        (vec!["security".into(), "style".into()], json!(1))
    );
}

#[test]
fn a_time_that_is_over_ends_them_all() {
    let timed = "agent-review: {respawn_prompt: review, timeout: 2h, on_timeout: stuck}";
    let world = panel_with("work scripted scripted", ("agent-review: {respawn_prompt: review}", timed));
    let task = begin(&world);
    let pids = [task.agent(2).begun(), task.agent(3).begun()];
    task.agent(2).tell(&says(PASS, "security", "exec sleep 1000000"));
    world.until("it has judged", || {
        task.show();
        std::fs::read_to_string(task.copy()).unwrap().contains("## Review: security")
    });
    set_clock(&task, JOURNAL, 7201);
    world.ok(&["monitor", "--once"]);
    task.reaches("stuck");
    assert!(pids.iter().all(|pid| !is_alive(*pid)));
    assert_eq!(task.events_of("agent.crashed"), Vec::<Value>::new());
}
