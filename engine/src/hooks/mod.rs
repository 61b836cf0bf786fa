//! The hooks: what transitions do to the outside. Each is idempotent and succeeds when nothing is to be done, so that
//! the engine can finish a transition that a kill has interrupted by running its hooks again. A message without a
//! reader is a failure, though.

pub mod agent_check;
pub mod agent_processes;
pub mod agents;
pub mod answers;
pub mod given;
pub mod imported;
pub mod merge_result;
pub mod prepare;
pub mod program;
pub mod pull_request;
pub mod reclaim;
pub mod saved;
pub mod steps;
pub mod sync;
pub mod trace;
pub mod wall;
pub mod workspace;

mod other;

use orange_core::{Action, Effect, Hook, Machine};

use self::workspace::WorktreeRoom;
use crate::app::App;
use crate::drive::harness::shell_word;
use crate::store::{LockedWorkItem, Set, WorkItem, owed};
use crate::{Error, ErrorKind, Result};
use orange_system::process;

/// Context of a hook beside its task and its parameters.
#[derive(Debug)]
pub struct HookContext<'r> {
    pub app: &'r App,
    /// The machine of the task.
    pub machine: &'static Machine<'static>,
    /// The number of the event that began the transition; later events belong to this transition.
    pub since: u64,
    /// Its place in the transition.
    pub index: usize,
    /// A counter and its new value, to be written before the hook acts.
    pub counter: Option<(String, u32)>,
}

/// Runs one hook. The engine-owned values that it changes are for the event that closes it.
///
/// # Errors
/// The failure of the hook; the caller journals it and goes on.
pub fn run(
    context: &HookContext<'_>,
    locked: &mut LockedWorkItem,
    hook: &'static Hook<'static>,
) -> Result<Set> {
    let app = context.app;
    let done = match hook.action {
        Action::AcquireWorkspace => return workspace::acquire(app, locked),
        Action::ReleaseWorkspace => return workspace::release(app, locked),
        Action::KillSession => return agents::kill_session(app, locked),
        Action::KillReviewer => return agents::kill_reviewer(app, locked),
        Action::SpawnAgent | Action::SpawnReviewer => spawn(context, locked, hook),
        Action::NotifyWorker => notify_worker(context, locked, hook),
        // A process locks one task at a time: that process waits until this one is released.
        Action::SpawnNext => owed::note(&app.home, locked.dir())
            .and_then(|()| app.start_detached(&["task", "spawn-next", &locked.dir().id], locked.dir())),
        Action::PushBranch => other::push_branch(app, locked).and_then(|()| answers::post(app, locked)),
        Action::SyncBranch => sync::sync_branch(app, locked, hook.value),
        Action::CreatePr => pull_request::open(app, locked).map(drop),
        Action::DeleteRemoteBranch => other::delete_remote_branch(app, locked),
        // Its counter is in the event that closes the hook.
        Action::Increment | Action::Reset => Ok(()),
        Action::SetField => other::set_field(locked, hook.field, hook.value),
        Action::WriteFeedback => other::write_feedback(locked),
        Action::Notify => other::notify(locked, hook.message),
        Action::RunCommand => other::run_command(app, locked, hook.argv, hook.timeout),
    };
    done.map(|()| Set::new())
}

/// Sends a message to the worker. If none is alive to get it, one is started if the hook names a prompt, which says what to read.
fn notify_worker(context: &HookContext<'_>, locked: &mut LockedWorkItem, hook: &Hook<'_>) -> Result<()> {
    let message = hook.message.replace("{orange}", &shell_word(&context.app.program));
    if agents::started_since(context.app, locked, hook, context.since)?
        || agents::notify_worker(
            context.app,
            locked,
            &format!("{}.{}", context.since, context.index),
            &message,
        )?
    {
        return Ok(());
    }
    match hook.spawn() {
        Some(_) => spawn(context, locked, hook),
        None => Err(Error::new(ErrorKind::Refused, "no worker is alive to get the message")
            .help("`orange task respawn` starts one that reads TASK.md")),
    }
}

fn spawn(context: &HookContext<'_>, locked: &mut LockedWorkItem, hook: &Hook<'_>) -> Result<()> {
    if agents::started_since(context.app, locked, hook, context.since)? {
        return Ok(());
    }
    agents::start(
        context.app,
        context.machine,
        locked,
        hook,
        context.counter.as_ref(),
        agents::Occasion::Spawn.into(),
    )
}

/// Refuses hooks that cannot work, before anything has changed: a harness, tmux or git that is missing or too old, a process table
/// that cannot be read, a worktree that is not available. Returns the slot for the worktree that is going to be acquired.
pub fn preflight(app: &App, task: &WorkItem, effects: &[Effect<'_>]) -> Result<Option<WorktreeRoom>> {
    check_spawns(app, task, effects)?;
    if acquires(effects) { workspace::preflight(app, task) } else { Ok(None) }
}

/// As [`preflight`], without a slot: nothing is going to be acquired.
pub fn dry_run(app: &App, task: &WorkItem, effects: &[Effect<'_>]) -> Result<()> {
    check_spawns(app, task, effects)?;
    if acquires(effects) { workspace::dry_run(app, task) } else { Ok(()) }
}

fn check_spawns(app: &App, task: &WorkItem, effects: &[Effect<'_>]) -> Result<()> {
    if effects.iter().any(|effect| matches!(effect.hook.action, Action::KillSession | Action::KillReviewer)) {
        process::check()?;
    }
    let mut spawns = effects.iter().filter_map(|effect| effect.hook.spawn());
    spawns.try_for_each(|spawn| agent_check::preflight(app, task, spawn))
}

fn acquires(effects: &[Effect<'_>]) -> bool {
    effects.iter().any(|effect| effect.hook.action.acquires())
}
