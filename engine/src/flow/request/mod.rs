//! A request to move a task, from the lock to the answer.

pub mod ask;
pub mod complete;
pub mod definition;
pub mod dry_run;
pub mod finish;
pub mod refusal;
pub mod retry;
pub mod transition_result;

use std::path::Path;

use orange_core::{Input, LifeTurn, Machine};

use crate::app::App;
use crate::drive::git::{self, Git};
use crate::flow::life::{self, TurnRecord};
use crate::flow::snapshot::state_named;
use crate::flow::{finish, lock_recovered};
use crate::hooks::{self, imported, reclaim};
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_api::TransitionResult;

/// The goal of a request.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'a> {
    /// The state of this name.
    Named(&'a str),
    /// The start of a task.
    Spawn,
    /// The state of merged tasks.
    Merge {
        /// True if it goes there although the workflow refuses.
        force: bool,
    },
    /// The state of cancelled tasks.
    Cancel,
}

/// Moves a task for the caller of this process. A hook that fails is not an error: the answer has it, and the task's `attention`.
pub fn request(app: &App, dir: &WorkItemDir, goal: Goal<'_>) -> Result<TransitionResult> {
    let locked = asked(app, lock_recovered(app, dir)?, goal)?;
    carry_out(app, begun(app, locked, goal)?)
}

/// The locked task, once the programs have answered that gates ask on the way to the goal. An earlier failure is asked about again.
pub fn asked(app: &App, locked: LockedWorkItem, goal: Goal<'_>) -> Result<LockedWorkItem> {
    let machine = app.machine_of(&locked.task().owned)?;
    let locked = if goal.goes_on(machine) { reclaim::restore(app, locked)? } else { locked };
    let by = app.caller.actor_for(&locked.task().id, locked.history());
    let since = Some(locked.history().last_seq);
    ask::answered(app, locked, by, &|locked| {
        let (task, history) = (locked.task(), locked.history());
        let machine = app.machine_of(&task.owned)?;
        let input = goal.input(app, machine, task, history)?;
        life::program(app, machine, task, history, input, since)
    })
}

/// Begins the transition; [`carry_out`] does the rest with the locked task.
pub fn begun(app: &App, locked: LockedWorkItem, goal: Goal<'_>) -> Result<LockedWorkItem> {
    let machine = app.machine_of(&locked.task().owned)?;
    let turn = decide(app, machine, locked.task(), locked.history(), goal)?;
    begin(app, machine, locked, &turn, Vec::new())
}

/// Begins a transition, with the events that led to it, after a preflight of its hooks.
pub fn begin(
    app: &App,
    machine: &'static Machine<'static>,
    mut locked: LockedWorkItem,
    turn: &LifeTurn<'static>,
    led_to_it: Vec<(Event, Set)>,
) -> Result<LockedWorkItem> {
    let effects = turn.decision().map(|decision| decision.effects.as_slice()).unwrap_or_default();
    let room = hooks::preflight(app, locked.task(), effects)?;
    life::record(app, machine, &mut locked, turn, TurnRecord { led_to_it, room, agent: None })?;
    Ok(locked)
}

/// The core's answer to the caller of this process; its rejection is an error of that kind.
pub fn decide(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    goal: Goal<'_>,
) -> Result<LifeTurn<'static>> {
    let turn = life::ask(app, machine, task, history, goal.input(app, machine, task, history)?)?;
    check_turn(app, task, &turn)?;
    Ok(turn)
}

impl Goal<'_> {
    /// True if work may go on there, or its work is needed on the path: an end needs no worktree.
    fn goes_on(self, machine: &Machine<'_>) -> bool {
        match self {
            Goal::Named(name) => machine.state_named(name).is_none_or(|state| !machine.state(state).terminal),
            Goal::Spawn | Goal::Merge { .. } => true,
            Goal::Cancel => false,
        }
    }

    /// The input of the caller of this process, who must be one that may change the task.
    pub fn input(
        self,
        app: &App,
        machine: &Machine<'_>,
        task: &WorkItem,
        history: &WorkItemHistory,
    ) -> Result<Input<'static>> {
        let by = app.check_caller(task, history)?;
        Ok(match self {
            Goal::Named(name) => Input::Request { to: state_named(machine, name)?, by },
            Goal::Spawn => Input::Spawn { by },
            Goal::Merge { force } => Input::Merge { by, force, is_merged: history.branch.is_merged },
            Goal::Cancel => Input::Cancel { by, is_cut_short: history.transition.open.is_some() },
        })
    }
}

/// Refuses a transition past a gate with work that no merge would take.
pub(super) fn check_turn(app: &App, task: &WorkItem, turn: &LifeTurn<'_>) -> Result<()> {
    if turn.decision().is_some_and(|decision| !decision.seen.is_empty()) {
        let worktree = task.worktree().map(|name| app.home.workspace(name));
        check_is_work(app, task, worktree.as_deref())?;
    }
    Ok(())
}

/// Refuses what a merge is going to refuse, or to lose: what passes a gate is going to be merged.
fn check_is_work(app: &App, task: &WorkItem, worktree: Option<&Path>) -> Result<()> {
    let Some(worktree) = worktree.filter(|worktree| worktree.exists()) else { return Ok(()) };
    imported::take(app, task)?;
    let project = app.project_of(task)?;
    let git = Git::at(&project.path);
    git.check_on_branch(worktree, &task.branch)?;
    let may_be_refused = git::may_have(worktree, git::TASK_FILE) || git::may_have_repository(worktree);
    if !may_be_refused {
        return Ok(());
    }
    let Some(commit) = git.head(worktree)? else { return Ok(()) };
    git.check_is_work(&commit, &task.branch, &project.default_branch)
}

/// Finishes the transition that has just begun, and answers. Its hooks may end the session of this process, so they run in a
/// process that outlives it; if that cannot be started, the next command finishes the transition.
pub fn carry_out(app: &App, mut locked: LockedWorkItem) -> Result<TransitionResult> {
    let dir = locked.dir().clone();
    let Some(begun) = locked.history().transition.open.clone() else {
        return Err(Error::new(ErrorKind::Refused, "no transition has begun"));
    };
    if begun.left().next().is_none() {
        finish(app, &mut locked)?;
        drop(locked);
    } else {
        drop(locked);
        let hooks: Vec<&str> = begun.left().map(|hook| hook.name.as_str()).collect();
        app.progress.step(&hooks.join(", "));
        app.detached(&["task", "finish", &dir.id], &dir)?;
    }
    let (_, journal) = WorkItem::read(&app.home, &dir)?;
    if journal.history().transition.open.is_some_and(|open| open.seq == begun.seq) {
        let log = app.home.log_file();
        return Err(Error::new(
            ErrorKind::Environment,
            format!("{} → {} is begun and not finished", begun.plan.from, begun.plan.to),
        )
        .help(format!(
            "the next command on this task goes on with it; {} says what went wrong",
            log.display()
        )));
    }
    Ok(transition_result::read(&dir.id, &journal.records, begun.since))
}
