//! A request to move a task, from the lock to the answer.

use orange_core::{Decision, Machine, Rejection, StateId, View};

use crate::flow::begin::{Occasion, begin};
use crate::flow::{Moved, Snapshot, finish, settled};
use crate::hooks;
use crate::orange::Orange;
use crate::store::{Open, Task, TaskDir};
use crate::{Error, Kind, Result};

/// Moves a task for whoever runs this process.
///
/// # Errors
/// A rejection of the core as its kind; `environment` when what the hooks need is not there, before anything has
/// changed; those of the store. A hook that fails later is no error: it is in the answer, and shown as `attention`.
pub fn request(orange: &Orange, dir: &TaskDir, to: Goal<'_>, dry_run: bool) -> Result<Moved> {
    let mut open = settled(orange, dir)?;
    orange.caller.check(&dir.id, open.log())?;
    let machine = orange.machine_of(open.task())?;
    let to = to.state(machine)?;
    let decision = decide(orange, machine, &open, to)?;
    if dry_run {
        return Ok(planned(machine, open.task(), &decision));
    }
    hooks::preflight(orange, open.task(), &decision.effects)?;
    begin(machine, &mut open, &decision, Occasion::Asked)?;
    carry_out(orange, open)
}

/// Where a request wants to go.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'a> {
    /// To the state of this name.
    Named(&'a str),
    /// Where this command drives to; with the command's name.
    Command(fn(&orange_core::Commands) -> Option<StateId>, &'static str),
}

impl Goal<'_> {
    /// The state.
    ///
    /// # Errors
    /// `not_found` when the workflow has no such state, `refused` when it has none for the command.
    pub fn state(self, machine: &Machine<'_>) -> Result<StateId> {
        match self {
            Goal::Named(name) => crate::flow::snapshot::state_named(machine, name),
            Goal::Command(pick, command) => pick(&machine.commands).ok_or_else(|| {
                Error::new(
                    Kind::Refused,
                    format!("the workflow {} has no status for `{command}`", machine.name),
                )
                .help(format!("name one under `commands: {{{command}: …}}` in the workflow"))
            }),
        }
    }
}

/// Finishes the transition that was just begun, and tells what came of it. Hooks may end the session that this
/// process lives in, so they run in a process that outlives it.
///
/// # Errors
/// Those of the store, and of starting that process. The transition is begun then: the next command finishes it.
pub fn carry_out(orange: &Orange, mut open: Open) -> Result<Moved> {
    let dir = open.dir().clone();
    let Some(begun) = open.log().open.clone() else {
        return Err(Error::new(Kind::Refused, "no transition was begun"));
    };
    if begun.plan.hooks.is_empty() {
        finish(orange, &mut open)?;
        drop(open);
    } else {
        drop(open);
        orange.detached(&["task", "finish", &dir.id], &dir)?;
    }
    let (task, journal) = Task::read(&orange.home, &dir)?;
    if journal.log().open.is_some_and(|open| open.seq == begun.seq) {
        let log = orange.home.log_file();
        return Err(Error::new(
            Kind::Environment,
            format!("{} → {} is begun and not finished", begun.plan.from, begun.plan.to),
        )
        .help(format!(
            "the next command on this task goes on with it; {} says what went wrong",
            log.display()
        )));
    }
    Ok(Moved::read(&dir.id, &journal.records, begun.seq, task.counter("review_round")))
}

/// A rejection as the error that its reader can act on.
pub fn rejected(rejection: Rejection, machine: &Machine<'_>, view: &View<'_>) -> Error {
    let kind = match rejection {
        Rejection::NoTransition { .. } => Kind::NoTransition,
        Rejection::NotAllowed { .. } => Kind::NotAllowed,
        Rejection::GuardFailed { .. } => Kind::GuardFailed,
        Rejection::GateFailed { .. } => Kind::GateFailed,
    };
    Error::new(kind, rejection.message(machine, view)).help(rejection.help(machine, view))
}

fn decide(
    orange: &Orange,
    machine: &'static Machine<'static>,
    open: &Open,
    to: StateId,
) -> Result<Decision<'static>> {
    let snapshot = Snapshot::of(machine, open.task(), open.log())?;
    let view = snapshot.view();
    let actor = orange.caller.actor_for(&open.task().id);
    machine.decide(&view, to, actor).map_err(|rejection| rejected(rejection, machine, &view))
}

fn planned(machine: &Machine<'_>, task: &Task, decision: &Decision<'_>) -> Moved {
    Moved {
        id: task.id.clone(),
        from: machine.state(decision.from).name.to_owned(),
        to: machine.state(decision.to).name.to_owned(),
        review_round: task.counter("review_round"),
        hooks: decision.effects.iter().map(|effect| effect.hook.name().to_owned()).collect(),
        dry_run: true,
        ..Moved::default()
    }
}
