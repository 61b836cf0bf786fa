//! An agent begins only when every process of the one before is gone: each holds one lock for as long as it lives, with all that it
//! has started, and the next one tries that lock without waiting.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::missions::{TOY, ends};
use crate::task::{Task, kill};
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

/// The same, and children that only their place below the agent's wrapper shows.
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

/// Whether a process that tries the lock gets it.
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
