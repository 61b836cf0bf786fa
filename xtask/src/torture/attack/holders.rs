//! Agents that hold a lock, as all their children do: the next agent takes it without waiting, and notes where it cannot.
//!
//! What counts: every child of an agent that is on record, except one that has left the session, the process group, the environment and the
//! tree of its agent. A wrapper that is killed takes the tree with it, and so does the tmux server, whose end is the wrapper's. Hence a life
//! that kills those has only children that stay in the session or keep the environment, and a life that has the other children, too, kills
//! neither.

use std::fs;

use super::super::outcome::Task;
use super::super::plan::Dice;
use super::super::prepare::patient;
use super::super::world::{ProcessRole, World};
use super::life::{Lived, come_to_an_end, nobody_is_left, start, under_kills};
use crate::Result;

/// Commands of an agent at its start. An agent that its wrapper has not recorded yet has no children.
const BEGINS: &str = r#"
exec 9>>"$notes/$ORANGE_TASK.lock"
flock -n 9 || echo "agent $ORANGE_SPAWN" >>"$notes/$ORANGE_TASK.doubles"
until [ -s "$ORANGE_HOME/tasks/toy/$ORANGE_TASK/agents/$ORANGE_SPAWN.json" ]; do sleep 0.05; done
"#;

/// Children that stay in the session or keep the environment.
const STAY: [&str; 8] = [
    "sleep 600 &",
    "nohup sleep 600 >/dev/null 2>&1 &",
    "setsid sleep 600 &",
    "env -i sleep 600 &",
    "(sleep 600 &)",
    "(trap '' HUP TERM; exec sleep 600) &",
    "(setsid sh -c 'trap \"\" HUP TERM; sleep 600 & sleep 600' &)",
    "(setsid sh -c 'sleep 0.2; sleep 600 & sleep 0.2; sleep 600 & exit' &)",
];

/// Children that only their place below the wrapper shows.
const HIDE: [&str; 3] = [
    "env -i setsid sleep 600 &",
    "(env -i setsid sh -c 'trap \"\" HUP TERM; sleep 600 & sleep 600' &)",
    "(env -i setsid sh -c \"trap 'sleep 600 & exit' TERM; while :; do sleep 0.1; done\" &)",
];

/// Those whose kill leaves the tree of an agent whole.
const LEAVE_TREES: [ProcessRole; 6] = [
    ProcessRole::Request,
    ProcessRole::Request,
    ProcessRole::Request,
    ProcessRole::Called,
    ProcessRole::Companion,
    ProcessRole::Agent,
];

/// The maximum of milliseconds between two kills: children that are deaf to TERM end after two seconds.
const MOST_APART: u64 = 2000;

pub(super) fn hold(world: &World, dice: &mut Dice, branch: &str) -> Result<Lived> {
    let kills_wrappers = dice.below(2) == 0;
    let roles = if kills_wrappers { &ProcessRole::ALL[..] } else { &LEAVE_TREES[..] };
    let hidden = if kills_wrappers { &[][..] } else { &HIDE[..] };
    let children = STAY.iter().chain(hidden).filter(|_| dice.below(3) > 0);
    let script: String = children.map(|child| format!("{child}\n")).collect();
    let place = world.path("home/begins");
    fs::write(&place, format!("{BEGINS}{script}")).map_err(|error| error.to_string())?;
    patient(world, branch)?;
    let mut kills = 0;
    for _ in 0..2 + dice.below(2) {
        let words = match dice.below(4) {
            0 => &["monitor", "--once"][..],
            1 => &["task", "respawn", branch],
            _ => &["task", "restart", branch],
        };
        kills += under_kills(world, dice, roles, MOST_APART, || start(world, words))?;
    }
    let unlocked = come_to_an_end(world, branch, &["task", "cancel", branch, "--yes"])?;
    nobody_is_left(world)?;
    fs::remove_file(&place).map_err(|error| error.to_string())?;
    let task = Task::named(world, branch)?;
    let note = |kind: &str| format!("home/agents/{}.{kind}", task.id);
    let doubles = world.note(&note("doubles"));
    if !doubles.is_empty() {
        return Err(format!("a process of the last agent was alive at the start of: {doubles}{script}"));
    }
    let lock = fs::File::open(world.path(&note("lock"))).map_err(|error| error.to_string())?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        format!("the task is cancelled, and a process of an agent is alive, one of:\n{script}")
    })?;
    Ok(Lived { kills, texts: 0, unlocked })
}
