//! Starting a state's agent again. The task stays where it is (seed 000).

use orange_core::Machine;

use crate::flow::settled;
use crate::flow::snapshot::status_of;
use crate::hooks::agents::{self, Occasion};
use crate::orange::Orange;
use crate::store::{Open, TaskDir};
use crate::{Error, Kind, Result};

/// Starts the agent of a task's state again, and tells the number of the spawn.
///
/// # Errors
/// `not_respawnable` when the state has no respawn prompt, the task no worktree, or its agent is alive; `environment`.
pub fn respawn(orange: &Orange, dir: &TaskDir) -> Result<u32> {
    let mut open = settled(orange, dir)?;
    orange.check_caller(open.task(), open.log())?;
    let machine = orange.machine_of(&open.task().owned)?;
    let attention = open.task().attention.clone();
    // Before the agent is there: after a kill, whoever asks again is only told that it is alive.
    open.clear_attention()?;
    let started = again(orange, machine, &mut open);
    if let (Err(_), Some(attention)) = (&started, attention) {
        open.call_attention(&attention)?;
    }
    started
}

/// The same for a task that is locked already, and without a person who has looked at it.
///
/// # Errors
/// As [`respawn`].
pub fn again(orange: &Orange, machine: &'static Machine<'static>, open: &mut Open) -> Result<u32> {
    let task = open.task();
    let state = machine.state(status_of(machine, task)?);
    let refuse = |message: String| Error::new(Kind::NotRespawnable, message);
    let Some(hook) = &state.respawn else {
        return Err(refuse(format!("nothing can be respawned in {}: it has no respawn_prompt", state.name))
            .help("`orange task next` shows where the task can go from here"));
    };
    if task.owned.workspace.is_none() {
        return Err(refuse("the task has no worktree".to_owned()).help("`orange task spawn` gives it one"));
    }
    let panes = orange.tmux.panes_of(&task.id)?;
    if let Some((number, record)) = agents::live(open, &panes, state.agent)? {
        return Err(refuse(format!("agent {number} is alive in window {}", record.window))
            .help(format!("look at it with `orange task attach {}`", task.id)));
    }
    if let Some(spawn) = hook.spawn() {
        agents::preflight(orange, task, spawn)?;
    }
    agents::start(orange, machine, open, hook, None, Occasion::Respawn)?;
    Ok(open.log().last_spawn)
}
