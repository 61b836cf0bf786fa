//! Reasons for the ends of agents, and their effects: waiting for a rate limit, coming back once, and an end to it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::processes;
use crate::task::{Task, is_alive, kill, try_kill};
use crate::world::World;

const PATIENT: &str = r##"
name: patient
states:
  pending: {}
  working: {respawn_prompt: worker}
  stuck: {}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - {from: working, to: done, gate: {section: '## Handoff', required: true}, hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: working, to: stuck}
  - {from: stuck, to: working}
  - {from: [pending, working, stuck], to: cancelled, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, has_artifact: {section: '## Handoff', required: true}, then: done}
    - {status: working, exit: {code: 75}, on_output: "rate limit", action: wait, resume_after: 1}
    - {status: working, on_output: "come back later", action: wait, resume_after: 900}
    - {status: working, no_artifact: true, action: crash, stuck_after: 4, respawn: true}
prompts:
  worker: |
    # Task: {summary}
    Branch: {branch}
    Status: {status}
    Write ## Handoff with DONE, then orange task update --status done
"##;

fn world() -> World {
    let world = World::new();
    world.workflow("patient.yml", PATIENT.trim_start());
    world
}

fn create<'w>(world: &'w World, agents: &str) -> Task<'w> {
    world.create("fix", &format!("Mend it [agents: {agents}]"), &["--workflow", "patient"])
}

/// The process that is to start the next agent of a task.
pub(crate) fn resumer(task: &Task<'_>) -> Option<i32> {
    let is_it = |folder: &Path| processes::runs(folder, &["agent", "resume", "--task", &task.id]);
    processes::that(is_it).into_iter().find(|pid| is_alive(*pid))
}

/// A task whose agent is to come back in a quarter of an hour, and the process that waits for that is dead.
fn abandoned<'w>(world: &'w World, agents: &str) -> Task<'w> {
    let task = create(world, agents);
    task.has_events(1, "agent.waiting");
    world.until("somebody sees to it", || resumer(&task).is_some());
    resumer(&task).into_iter().for_each(kill);
    // As long as its end is being recorded, only the agent itself may say so.
    world.until("the secret of the agent is gone", || task.secret("1").is_none());
    task
}

/// Says in the journal that the agent should have come back at another time.
pub(crate) fn due_at(task: &Task<'_>, time: &str) {
    let file = task.folder().join("history.jsonl");
    let until = task.owned("waiting_until");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, text.replace(until.as_str().unwrap(), time)).unwrap();
}

/// The agents that were started, and those of them that are alive.
fn agents(task: &Task<'_>) -> (usize, usize) {
    let started = task.events_of("agent.spawned").len() + task.events_of("agent.respawned").len();
    (started, started - task.events_of("agent.exited").len())
}

#[test]
fn a_rate_limit_is_waited_for_and_is_no_crash() {
    let world = world();
    let task = create(&world, "limited work");
    task.reaches("done");
    assert_eq!((agents(&task), task.events_of("agent.crashed")), ((2, 0), vec![]));
    assert_eq!((task.owned("crash_count"), task.owned("waiting_until")), (json!(0), json!(null)));

    let ended = &task.events_of("agent.exited")[0];
    assert_eq!(ended["code"], 75);
    assert!(ended["duration"].is_u64(), "{ended}");
    let lines = json!(["API Error: Rate", "limit reached"]);
    assert_eq!(ended["last_lines"], lines, "what it showed, without colours");
    let waited = &task.events_of("agent.waiting")[0];
    assert_eq!((&waited["spawn"], &waited["after"]), (&json!(1), &json!(1)));
    assert!(waited["reason"].as_str().unwrap().contains("\"rate limit\" in its last lines"), "{waited}");
    assert!(waited["until"].as_str() <= task.events_of("agent.respawned")[0]["timestamp"].as_str());
}

#[test]
fn who_waits_is_shown_until_when_and_why() {
    let world = world();
    let task = create(&world, "busy");
    task.has_events(1, "agent.waiting");
    let until = task.owned("waiting_until");
    let show = task.show();
    assert_eq!((&show["session"], &show["waiting_until"]), (&json!("crashed"), &until));
    assert_eq!((&show["status"], &show["attention"]), (&json!("working"), &Value::Null));
    assert_eq!(world.ok(&["task", "list"])[0]["waiting_until"], until);
    let text = world.orange(&["task", "show", &task.id]).out;
    assert!(
        text.contains(&format!("waiting    until {}: the agent ended", until.as_str().unwrap())),
        "{text}"
    );
    assert!(text.contains("exited with 75\n  | Come back later.\n"), "{text}");
    let list = world.orange(&["task", "list"]).out;
    assert!(list.contains(&format!("until {}", until.as_str().unwrap())), "{list}");
}

#[test]
fn the_monitor_starts_what_nobody_is_left_to_start() {
    let world = world();
    let task = abandoned(&world, "busy hang");
    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!((agents(&task), &looked["events"]), ((1, 0), &json!([])), "it is not due");
    due_at(&task, "2001-01-01T00:00:00.000Z");
    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!(looked["events"][0]["outcome"], "started again as agent 2", "{looked}");
    assert!(is_alive(task.agent(2).begun()));
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]));
    assert_eq!(agents(&task), (2, 1));
}

#[test]
fn a_clock_that_was_set_back_keeps_nobody_waiting() {
    let world = world();
    let task = abandoned(&world, "busy hang");
    due_at(&task, "2999-01-01T00:00:00.000Z");
    task.ok("update", &["--summary", "Mend it now"]);
    assert!(is_alive(task.agent(2).begun()), "the next change of the task sees to it");
}

#[test]
fn of_many_who_come_to_start_it_one_does() {
    let world = world();
    let task = abandoned(&world, "busy hang hang");
    due_at(&task, "2001-01-01T00:00:00.000Z");
    let resume = ["agent", "resume", "--task", &task.id, "--spawn", "1"];
    let comers = [&resume[..], &["monitor", "--once"], &resume, &["monitor", "--once"], &resume];
    let mut comers = comers.map(|args| world.command(world.program).args(args).spawn().unwrap());
    for comer in &mut comers {
        assert!(comer.wait().unwrap().success());
    }
    task.agent(2).begun();
    assert_eq!(agents(&task), (2, 1));
}

#[test]
fn a_person_does_not_wait() {
    let world = world();
    let task = abandoned(&world, "busy hang");
    assert_eq!(task.ok("respawn", &[])["spawn"], 2);
    assert_eq!(task.owned("waiting_until"), json!(null));
    nobody_is_waited_for(&world, &task);

    let other = world.create("other", "Mend it [agents: busy]", &["--workflow", "patient"]);
    other.has_events(1, "agent.waiting");
    other.ok("cancel", &["--yes"]);
    assert_eq!((other.status(), other.owned("waiting_until")), ("cancelled".to_owned(), json!(null)));
    nobody_is_waited_for(&world, &other);
    world.until("its own process is killed, or sees it", || resumer(&other).is_none_or(try_kill));
}

#[test]
fn nobody_is_waited_for_after_a_stop() {
    let world = world();
    let task = abandoned(&world, "busy hang");
    assert_eq!(task.ok("stop", &[])["stopped"], json!([]));
    let show = task.show();
    assert_eq!((&show["session"], &show["waiting_until"]), (&json!("stopped"), &Value::Null));
    nobody_is_waited_for(&world, &task);
}

/// A process that still comes for the agent that was waited for finds nothing to do.
#[track_caller]
fn nobody_is_waited_for(world: &World, task: &Task<'_>) {
    let before = agents(task);
    let came = world.orange(&["agent", "resume", "--task", &task.id, "--spawn", "1"]);
    assert_eq!((came.status, agents(task)), (0, before), "{came:?}");
}

#[test]
fn crashes_come_back_later_each_time() {
    let world = world();
    let task = create(&world, "crash crash hang");
    task.has_events(2, "agent.waiting");
    let waited = task.events_of("agent.waiting");
    assert_eq!((&waited[0]["after"], &waited[1]["after"]), (&json!(0), &json!(10)));
    // Whether its own process comes first, on a slow day, or the monitor: one agent is started.
    if resumer(&task).is_some_and(try_kill) && task.owned("waiting_until").is_string() {
        due_at(&task, "2001-01-01T00:00:00.000Z");
    }
    world.ok(&["monitor", "--once"]);
    assert!(is_alive(task.agent(3).begun()));
    assert_eq!((agents(&task), task.owned("crash_count")), ((3, 1), json!(2)));
}

/// As [`PATIENT`], but nothing ends the session of what is done.
fn without_kill_session(world: &World) {
    let open_ended =
        PATIENT.replacen("hooks: [{action: kill_session}, {action: release_workspace}]", "hooks: []", 1);
    assert_ne!(open_ended, PATIENT);
    world.workflow("patient.yml", open_ended.trim_start());
}

#[test]
fn an_exit_rule_that_ends_the_task_leaves_nothing_to_attend_to() {
    let world = World::new();
    without_kill_session(&world);
    let task = create(&world, "work-die");
    task.reaches("done");
    task.has_events(1, "agent.exited");
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.show()["attention"], json!(null));
    assert_eq!(task.events_of("auto.advanced").len(), 1);
}

#[test]
fn an_agent_that_ends_after_its_task_needs_no_attention() {
    let world = World::new();
    without_kill_session(&world);
    let task = create(&world, "work");
    task.has_events(1, "agent.exited");
    assert_eq!((task.status().as_str(), &task.show()["attention"]), ("done", &json!(null)));
}

/// A task whose agent has written its handoff, and that has not ended yet.
fn handed_off(world: &World) -> Task<'_> {
    let task = create(world, "hang");
    task.agent(1).begun();
    task.write("## Handoff\n\nDONE\n");
    task
}

#[test]
fn an_exit_rule_passes_no_gate_with_a_repository_alone() {
    let world = world();
    let task = handed_off(&world);
    let worktree = task.worktree();
    let nested = worktree.join("frontend");
    fs::create_dir(&nested).unwrap();
    world.git(&nested, &["init", "--quiet"]);
    fs::write(nested.join("page"), "one\n").unwrap();
    world.git(&nested, &["add", "page"]);
    world.git(&nested, &["commit", "--quiet", "--message", "Scaffold"]);
    world.git(&worktree, &["-c", "advice.addEmbeddedRepo=false", "add", "frontend"]);
    world.git(&worktree, &["commit", "--quiet", "--message", "A scaffold"]);
    stays(&world, &task, "`frontend` on `fix` is a repository of its own");
}

#[test]
fn an_exit_rule_passes_no_gate_on_another_branch() {
    let world = world();
    let task = handed_off(&world);
    world.git(&task.worktree(), &["switch", "--quiet", "--create", "elsewhere"]);
    stays(&world, &task, "is on branch `elsewhere`, not on `fix`");
}

/// Its agent ends, and the exit rule that would lead on is blocked for this reason.
#[track_caller]
fn stays(world: &World, task: &Task<'_>, why: &str) {
    kill(task.agent(1).begun());
    task.has_events(1, "agent.exited");
    world.until("a person is asked", || task.show()["attention"].is_string());
    let attention = task.show()["attention"].clone();
    assert!(attention.as_str().unwrap().contains("the transition is blocked"), "{attention}");
    assert!(attention.as_str().unwrap().contains(why), "{attention}");
    assert_eq!(task.status(), "working");
}
