//! An agent begins only when every process of the one before is gone: each holds one lock for as long as it lives, with all that it
//! has started, and the next one tries that lock without waiting.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::missions::{TOY, ends};
use crate::task::{Task, is_alive, kill};
use crate::world::World;

/// An agent takes the lock or says that it could not, and its children get the lock with its other open files.
const TAKES_LOCK: &str = r#"
exec 9>>"$ORANGE_HOME/lock"
flock -n 9 || echo "$ORANGE_STEP $ORANGE_ATTEMPT, agent $ORANGE_SPAWN" >>"$ORANGE_HOME/doubles"
"#;

/// Children of every kind that stays in the session or the group of the agent, or keeps its environment.
const LEAVES_CHILDREN: &str = r#"
sleep 1000000 &
env -i sleep 1000000 &
setsid sleep 1000000 &
(trap '' HUP TERM; exec env -i sleep 1000000) &
(setsid sh -c 'trap "" HUP TERM; sleep 1000000 & sleep 1000000' &)
(sh -c 'kill -STOP $$; exec sleep 1000000' &)
(setsid sh -c "trap 'sleep 1000000 & exit' TERM; while :; do sleep 0.1; done" &)
"#;

/// Children that only their place below the agent's wrapper shows.
const HIDES_CHILDREN: &str = r#"
env -i setsid sleep 1000000 &
(env -i setsid sh -c 'trap "" HUP TERM; sleep 1000000 & sleep 1000000' &)
(env -i setsid sh -c "trap 'sleep 1000000 & exit' TERM; while :; do sleep 0.1; done" &)
"#;

fn world() -> World {
    let world = World::new();
    world.workflow("toy.toml", &TOY.replace("timeout = 86400", "timeout = 86400\nstuck_after = 100"));
    world
}

/// A mission whose first agent has left these children and hangs, and whose next ones end well.
fn mission<'w>(world: &'w World, children: &str) -> Task<'w> {
    let first = format!("{TAKES_LOCK}{children}: >\"$ORANGE_HOME/ready\"\nwhile :; do sleep 0.1; done");
    world.acts("build.1", &first);
    for step in ["build", "check", "ship"] {
        world.acts(step, &format!("{TAKES_LOCK}complete PASS done; exec sleep 1000000"));
    }
    let mission = world.start("toy", &[]);
    world.until("the children are there", || world.home().join("ready").exists());
    mission
}

/// A workflow in which the end of an agent is followed by another one in every way that there is.
const FLOW: &str = r"
name: flow
states:
  pending: {}
  working: {respawn_prompt: work}
  stuck: {}
  done: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]
  - {from: working, to: stuck}
  - from: stuck
    to: working
    hooks: [{action: kill_session}, {action: spawn_agent, prompt: work}]
  - {from: [working, stuck], to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, exit: {code: 75}, action: wait, resume_after: 1}
    - {status: working, exit: {code: 71}, action: crash, stuck_after: 4, respawn: false}
    - {status: working, no_artifact: true, action: crash, stuck_after: 4, respawn: true}
prompts:
  work: |
    # Task: {summary}
    Branch: {branch}
    Status: {status}
";

/// A task whose first agent has left these children and then does this, and whose second one takes the lock and hangs.
fn task<'w>(world: &'w World, children: &str, then: &str) -> Task<'w> {
    world.workflow("flow.yml", FLOW.trim_start());
    let words = "Mend it [agents: scripted scripted]";
    let task = world.create("fix", words, &["--workflow", "flow"]);
    task.agent(1).begun();
    task.agent(2).tell(&format!("{TAKES_LOCK}: >\"$ORANGE_HOME/ready-2\"; exec sleep 1000000"));
    task.agent(1).tell(&format!("{TAKES_LOCK}{children}: >\"$ORANGE_HOME/ready\"\n{then}"));
    world.until("the children are there", || world.home().join("ready").exists());
    task
}

const HANGS: &str = "while :; do sleep 0.1; done";

#[track_caller]
fn second_was_alone(world: &World) {
    world.until("the second agent has tried the lock", || world.home().join("ready-2").exists());
    was_alone(world);
}

#[track_caller]
fn was_alone(world: &World) {
    let doubles = fs::read_to_string(world.home().join("doubles")).unwrap_or_default();
    assert_eq!(doubles, "", "agents that found the lock of the one before");
}

#[test]
fn a_dead_agent_s_children_are_gone_before_the_next_attempt() {
    let world = world();
    let mission = mission(&world, &format!("{LEAVES_CHILDREN}{HIDES_CHILDREN}"));
    kill(mission.agent(1).begun());
    ends(&mission, "completed");
    was_alone(&world);
}

#[test]
fn without_its_wrapper_a_dead_agent_s_children_are_found() {
    let world = world();
    let mission = mission(&world, &format!("trap '' HUP\n{LEAVES_CHILDREN}"));
    let agent = mission.agent(1).begun();
    kill(world.wrapper(mission.events_of("agent.spawned")[0]["session"].as_str().unwrap()));
    world.ok(&["monitor", "--once"]);
    assert_eq!(mission.events_of("agent.spawned").len(), 1, "it is alive");
    kill(agent);
    world.ok(&["monitor", "--once"]);
    ends(&mission, "completed");
    was_alone(&world);
}

#[test]
fn a_cancelled_attempt_leaves_no_process() {
    let world = world();
    let mission = mission(&world, &format!("{LEAVES_CHILDREN}{HIDES_CHILDREN}"));
    mission.ok("cancel", &["--yes"]);
    mission.is_left();
    assert!(is_free(&world));
}

#[test]
fn a_restarted_task_s_agent_finds_no_process_of_the_last() {
    let world = World::new();
    let task = task(&world, &format!("{LEAVES_CHILDREN}{HIDES_CHILDREN}"), HANGS);
    task.ok("restart", &[]);
    second_was_alone(&world);
}

#[test]
fn an_agent_that_crashed_is_replaced_when_its_children_are_gone() {
    let world = World::new();
    let task = task(&world, &format!("{LEAVES_CHILDREN}{HIDES_CHILDREN}"), HANGS);
    kill(task.agent(1).begun());
    second_was_alone(&world);
}

#[test]
fn a_crash_without_a_wrapper_leaves_no_children_to_the_next() {
    let world = World::new();
    let task = task(&world, &format!("trap '' HUP\n{LEAVES_CHILDREN}"), HANGS);
    let agent = task.agent(1).begun();
    kill(world.wrapper(task.events_of("agent.spawned")[0]["session"].as_str().unwrap()));
    kill(agent);
    world.ok(&["monitor", "--once"]);
    second_was_alone(&world);
}

#[test]
fn a_reported_end_is_followed_when_the_children_are_gone() {
    let world = World::new();
    let task = task(&world, &format!("trap '' HUP\n{LEAVES_CHILDREN}"), HANGS);
    let agent = task.agent(1).begun();
    kill(world.wrapper(task.events_of("agent.spawned")[0]["session"].as_str().unwrap()));
    kill(agent);
    let mut report = world.command(world.program);
    report.env("ORANGE_ACTOR", "engine").envs(task.secret("1").map(|secret| ("ORANGE_SECRET", secret)));
    report.args(["agent", "ended", "--task", &task.id, "--spawn=1", "--reason=ended by signal 9"]);
    let said = report.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    second_was_alone(&world);
}

#[test]
fn an_exit_rule_starts_an_agent_when_the_last_one_s_are_gone() {
    let world = World::new();
    let _task = task(&world, &format!("{LEAVES_CHILDREN}{HIDES_CHILDREN}"), "exit 75");
    second_was_alone(&world);
}

#[test]
fn a_respawned_agent_finds_no_process_of_the_last() {
    let world = World::new();
    let task = task(&world, &format!("{LEAVES_CHILDREN}{HIDES_CHILDREN}"), "exit 71");
    task.has_events(1, "agent.crashed");
    task.ok("respawn", &[]);
    second_was_alone(&world);
}

#[test]
fn a_transition_s_agent_finds_no_process_of_the_last() {
    let world = World::new();
    let task = task(&world, &format!("{LEAVES_CHILDREN}{HIDES_CHILDREN}"), HANGS);
    task.ok("update", &["--status", "stuck"]);
    task.ok("update", &["--status", "working"]);
    second_was_alone(&world);
}

#[test]
fn an_ender_that_is_killed_loses_no_process() {
    let world = World::new();
    let task = task(&world, &format!("{LEAVES_CHILDREN}{HIDES_CHILDREN}"), HANGS);
    let agent = task.agent(1).begun();
    let mut ender = world.command(world.program);
    let mut ender = ender.args(["task", "restart", "fix"]).current_dir(world.repo()).spawn().unwrap();
    // Some children end only when they are killed, two seconds later.
    world.until("the agent is dead", || !is_alive(agent));
    ender.kill().and_then(|()| ender.wait()).unwrap();
    world.ok(&["monitor", "--once"]);
    second_was_alone(&world);
}

/// True if a process that tries the lock gets it.
fn is_free(world: &World) -> bool {
    let lock = world.home().join("lock");
    Command::new("flock").arg("--nonblock").arg(lock).arg("true").status().unwrap().success()
}

#[test]
fn what_an_agent_has_open_stays_with_it() {
    let world = world();
    world.acts("build", "exec sleep 1000000");
    // This starts the server of tmux and a process that brings the mission forward, and both outlive it.
    let script = r#"exec 9>>"$1"; flock -n 9 || exit 9; shift; exec "$@""#;
    let mut start = world.command("sh");
    start.args(["-c", script, "sh"]).arg(world.home().join("lock")).arg(world.program);
    start.args(["--json", "mission", "start", "toy", "Make it faster"]).current_dir(world.repo());
    let started = world.said(&mut start).ok();
    assert_eq!(started["status"], json!("running"), "{started}");
    assert!(is_free(&world));
}
