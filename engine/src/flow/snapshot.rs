//! A task as values for the core.

use orange_core::{Facts, Machine, Permissions, Role, Seen, Spawn, StateId, View, When};

use crate::app::App;
use crate::store::event::{self, Pass};
use crate::store::{Task, TaskHistory, suggest};
use crate::{Error, Kind, Result};

/// The values that a view borrows.
#[derive(Clone, Debug)]
pub struct Snapshot<'t> {
    status: StateId,
    counters: Vec<u32>,
    seen: Vec<Seen<'t>>,
    task: &'t Task,
    restarts: u32,
    last: Option<Spawn<'t>>,
}

impl<'t> Snapshot<'t> {
    /// The task under its machine.
    pub fn of(machine: &Machine<'_>, task: &'t Task, history: &'t TaskHistory) -> Result<Snapshot<'t>> {
        Ok(Snapshot::at(machine, task, history, status_of(machine, task)?))
    }

    /// The task under its machine, as if it were in this state.
    pub fn at(
        machine: &Machine<'_>,
        task: &'t Task,
        history: &'t TaskHistory,
        status: StateId,
    ) -> Snapshot<'t> {
        let seen = |(pass, when): (&'t Pass, When)| {
            let fingerprint = u64::from_str_radix(&pass.hash, 16).ok()?;
            Some(Seen { section: &pass.section, fingerprint, when })
        };
        let passed = history.passes.values().map(|pass| (pass, When::Passed));
        let entered = history.entered.iter().map(|stood| (stood, When::Entered));
        let found = history.found.iter().map(|stood| (stood, When::Started));
        let last = history.agents_here.get(&machine.state(status).agent.into());
        Snapshot {
            status,
            counters: machine.counters.iter().map(|counter| task.counter(counter.name)).collect(),
            seen: passed.chain(entered).chain(found).filter_map(seen).collect(),
            task,
            restarts: history.restarts,
            last: last.and_then(|last| as_started(machine, last)),
        }
    }

    /// The facts for the core.
    pub fn facts(&self) -> Facts<'_> {
        let owned = &self.task.owned;
        Facts {
            view: self.view(),
            has_summary: !self.task.summary.trim().is_empty(),
            has_worktree: owned.workspace.is_some(),
            has_session: owned.tmux_session.is_some(),
            hooks_wait: owned.hooks_wait.is_some(),
            restarts: self.restarts,
            last: self.last,
        }
    }

    /// The view for decisions.
    pub fn view(&self) -> View<'_> {
        View { status: self.status, counters: &self.counters, body: &self.task.body, seen: &self.seen }
    }
}

/// How an agent was started, if its workflow still has its prompt.
fn as_started<'t>(machine: &Machine<'_>, record: &'t event::Spawn) -> Option<Spawn<'t>> {
    let reviews = record.actor == event::Actor::Reviewer;
    let role = if reviews { Role::Reviewer } else { Role::Worker };
    let permissions = match record.permissions {
        event::Permissions::Full => Permissions::Full,
        event::Permissions::Reduced | event::Permissions::Other(_) => Permissions::Reduced,
    };
    Some(Spawn {
        model: record.model.as_deref(),
        effort: record.effort.as_deref(),
        ..Spawn::new(machine.prompt_named(&record.prompt)?, role, permissions)
    })
}

/// The state of the task.
pub fn status_of(machine: &Machine<'_>, task: &Task) -> Result<StateId> {
    machine.state_named(task.status()).ok_or_else(|| {
        let message = format!(
            "the workflow {} no longer has the status {}, where this task is",
            machine.name,
            task.status()
        );
        Error::new(Kind::Refused, message).help(left_behind(machine, &task.id))
    })
}

/// What a person can do for a task whose status its workflow no longer has.
pub fn left_behind(machine: &Machine<'_>, id: &str) -> String {
    let names: Vec<_> = machine.states.iter().map(|state| state.name).collect();
    format!(
        "a person moves it on with `orange task migrate {id} --to STATUS` ({}), or ends it with `orange task cancel {id}`",
        names.join(", ")
    )
}

/// The state of this name; the error suggests the nearest one.
pub fn state_named(machine: &Machine<'_>, name: &str) -> Result<StateId> {
    machine.state_named(name).ok_or_else(|| {
        let names: Vec<_> = machine.states.iter().map(|state| state.name).collect();
        let near = suggest::nearest(name, names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Error::new(Kind::NotFound, format!("the workflow {} has no status `{name}`", machine.name))
            .help(format!("{near}it has: {}", names.join(", ")))
    })
}

/// Whether a task still has to get a worktree and an agent.
pub fn waits(app: &App, task: &Task) -> bool {
    // A task of another binary's workflow cannot be started here.
    app.machine_of(&task.owned).and_then(|machine| is_to_start(machine, task)).unwrap_or(false)
}

/// The same under this machine. A task whose hooks wait starts with these.
pub fn is_to_start(machine: &Machine<'_>, task: &Task) -> Result<bool> {
    Ok(task.owned.hooks_wait.is_none()
        && machine.is_to_start(status_of(machine, task)?, task.owned.workspace.is_some()))
}
