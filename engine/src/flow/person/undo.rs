//! Takes a cancellation back: the task gets its status again, and its worktree with the work that was not committed. No agent
//! starts.
//!
//! `task.reopened` is journaled first, in one write with the status. The worktree follows; the process that gives it to the task
//! restores the work into it before anybody works there, and journals `work.restored`. After a kill, or once a worktree is free, the
//! monitor goes on, and so do the same command and the next start of an agent.

use orange_core::{Actor, Machine};

use crate::app::App;
use crate::drive::git::Git;
use crate::flow::lock_recovered;
use crate::flow::names::KnownNames;
use crate::flow::person::create::admit;
use crate::hooks::workspace;
use crate::store::{
    self, Event, LockedWorkItem, Record, Set, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, find,
    journal,
};
use crate::{Error, ErrorKind, Result};
use orange_system::{clock, fault};

/// A task that was reopened.
#[derive(Debug)]
pub struct Undone {
    /// The state of cancelled tasks.
    pub from: String,
    /// The state now.
    pub to: String,
    /// The commit with the uncommitted work that its worktree has again, or is to get.
    pub backup: Option<String>,
    /// Reason for which it has no worktree yet, if it is to have one.
    pub waits_for: Option<String>,
    /// Folders that were set aside when it was cancelled, and stay there.
    pub set_aside: Vec<String>,
}

/// Record of a cancellation in the journal.
struct Cancelled {
    to: String,
    had_worktree: bool,
    backups: Vec<String>,
    set_aside: Vec<String>,
}

/// Plan for taking a cancellation back.
struct Plan {
    undone: Undone,
    event: Event,
    /// The commit of the branch, if that is gone.
    lost: Option<String>,
}

/// Work that a cancellation has left of a worktree.
#[derive(Default)]
struct UndoWork {
    /// The commit with the uncommitted work.
    backup: Option<String>,
    /// The commit of the branch, if that is gone.
    lost: Option<String>,
}

/// Takes the cancellation of a task back. For a task that was reopened and has no worktree yet, it tries again to get one.
///
/// # Errors
/// `refused` for a task that is not cancelled, whose branch has moved or another task has, or whose workflow no longer has
/// its status.
pub fn undo(app: &App, dir: &WorkItemDir, dry_run: bool) -> Result<Undone> {
    app.caller.check_person("take a cancellation back")?;
    if dry_run {
        let (task, journal) = WorkItem::read(&app.home, dir)?;
        return plan(app, dir, &task, &journal.records).map(|plan| plan.undone);
    }
    let recovered = lock_recovered(app, dir)?;
    if let Some(backup) = again(app, &recovered) {
        let to = recovered.task().status().to_owned();
        let waits_for = give_worktree(app, recovered)?;
        return Ok(Undone { from: to.clone(), to, backup, waits_for, set_aside: Vec::new() });
    }
    // The project's lock comes before the task's.
    drop(recovered);
    let (undone, locked) = store::in_project(&app.home, dir, |mut locked, others| {
        admit(app, others)?;
        let (_, journal::Journal { records, .. }) = WorkItem::read(&app.home, dir)?;
        let Plan { undone, event, lost } = plan(app, dir, locked.task(), &records)?;
        if let Some(commit) = lost {
            let git = Git::at(&app.project_of(locked.task())?.path);
            git.branch_at(&locked.task().branch, &commit)?;
        }
        let set = Set::new().status(&undone.to).stopped_at(Some(&clock::now()));
        fault::step("reopen", &dir.id);
        locked.append(event, set)?;
        locked.clear_attention()?;
        Ok((undone, locked))
    })?;
    let waits_for =
        if locked.history().worktree.reopening.is_some() { give_worktree(app, locked)? } else { None };
    Ok(Undone { waits_for, ..undone })
}

/// True if a task that was reopened and has no worktree yet could get it now.
pub fn may_go_on(app: &App, task: &WorkItem) -> bool {
    task.kind == WorkItemKind::Task
        && !app.is_over(task)
        && workspace::is_free(app, &task.project, &task.id).unwrap_or_default()
}

/// Completes what was killed, or had to wait. Returns what was done, in words.
pub fn go_on(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    let locked = lock_recovered(app, dir)?;
    if again(app, &locked).is_none() {
        return Ok(None);
    }
    let waits_for = give_worktree(app, locked)?;
    Ok(waits_for.is_none().then(|| "gave the task that was reopened its worktree and its work".to_owned()))
}

/// The backup of a task that was reopened and has not got its worktree.
fn again(app: &App, locked: &LockedWorkItem) -> Option<Option<String>> {
    locked.history().worktree.reopening.clone().filter(|_| !app.is_over(locked.task()))
}

/// Gives the task a worktree with its uncommitted work, or says what it waits for.
fn give_worktree(app: &App, mut locked: LockedWorkItem) -> Result<Option<String>> {
    match workspace::preflight(app, locked.task()) {
        Ok(room) => room.map_or(Ok(()), workspace::WorktreeRoom::take)?,
        Err(error) if error.kind == ErrorKind::Refused => return Ok(Some(error.message.clone())),
        Err(error) => return Err(error),
    }
    fault::step("take", "a worktree");
    workspace::acquire(app, &mut locked)?;
    Ok(None)
}

/// Returns the plan that follows from the journal, with the event that begins it.
fn plan(app: &App, dir: &WorkItemDir, task: &WorkItem, records: &[Record]) -> Result<Plan> {
    let machine = app.machine_of(&task.owned)?;
    let Some(cancelled) = cancelled(machine, task, records) else {
        let message = format!("task {} is {}, not cancelled", KnownNames::of(app).name(dir), task.status());
        return Err(Error::new(ErrorKind::Refused, message).help(format!(
            "only a cancellation can be taken back; {} shows where the task can go",
            dir.command("next")
        )));
    };
    if machine.state_named(&cancelled.to).is_none() {
        let message = format!("the workflow {} no longer has the status {}", machine.name, cancelled.to);
        return Err(Error::new(ErrorKind::Refused, message)
            .help(format!("`orange task migrate {} --to STATUS` moves the task to another one", task.id)));
    }
    let UndoWork { backup, lost } =
        if cancelled.had_worktree { work(app, task, &cancelled)? } else { UndoWork::default() };
    let event = Event::TaskReopened {
        from: task.status().to_owned(),
        to: cancelled.to.clone(),
        worktree: cancelled.had_worktree,
        backup: backup.clone(),
        actor: Actor::Human.into(),
    };
    let Cancelled { to, set_aside, .. } = cancelled;
    let undone = Undone { from: task.status().to_owned(), to, backup, waits_for: None, set_aside };
    Ok(Plan { undone, event, lost })
}

/// The last cancellation in the journal of a cancelled task.
fn cancelled(machine: &Machine<'_>, task: &WorkItem, records: &[Record]) -> Option<Cancelled> {
    let is_cancelled = machine.commands.cancel == machine.state_named(task.status());
    let mut begun = records.iter().enumerate().filter_map(|(at, record)| {
        if let Event::TransitionStarted(plan) = &record.event { Some((at, plan)) } else { None }
    });
    let entered = begun.rfind(|(_, plan)| plan.to == task.status());
    let (at, plan) = entered.filter(|_| is_cancelled)?;
    let (mut backups, mut set_aside) = (Vec::new(), Vec::new());
    for record in &records[at..] {
        if let Event::WorkBackedUp { commit, .. } = &record.event {
            backups.push(commit.clone());
        } else if let Event::WorkSetAside { folder } = &record.event {
            set_aside.push(folder.clone());
        }
    }
    let before = WorkItemHistory::fold(&records[..at]);
    let had_worktree = before.worktree.reopening.is_some()
        || before.owned.workspace.as_deref().is_some_and(|name| name != task.id);
    if let Some(Some(kept)) = before.worktree.reopening.filter(|_| backups.is_empty()) {
        backups.push(kept);
    }
    Some(Cancelled { to: plan.from.clone(), had_worktree, backups, set_aside })
}

/// The work of the backups; refuses a branch that is not where the work left it.
fn work(app: &App, task: &WorkItem, cancelled: &Cancelled) -> Result<UndoWork> {
    let git = Git::at(&app.project_of(task)?.path);
    let mut work = None;
    for commit in &cancelled.backups {
        let (head, has_more) = git.work_in(commit)?;
        if has_more || work.is_none() {
            work = Some((head, commit, has_more));
        }
    }
    let Some((head, commit, has_more)) = work else { return Ok(UndoWork::default()) };
    let tip = git.branch_tip(&task.branch)?;
    if let Some(tip) = tip.as_ref().filter(|tip| **tip != head) {
        let (at, was) = (short(tip), short(&head));
        let message =
            format!("the branch {} has moved since: it is at {at}, and the work was on {was}", task.branch);
        return Err(Error::new(ErrorKind::Refused, message).help(format!(
            "`orange task restore {}` makes a branch of the backup; the cancelled task stays as it is",
            task.id
        )));
    }
    let lost = if tip.is_none() { Some(head) } else { None };
    Ok(UndoWork { backup: has_more.then(|| commit.clone()), lost })
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// The help for the name of a task that was deleted.
pub fn deleted_first(app: &App, name: Option<&str>, error: Error) -> Error {
    let is_deleted = error.kind == ErrorKind::NotFound
        && name.is_some_and(|name| find::deleted(&app.home, WorkItemKind::Task, name).is_ok());
    if !is_deleted {
        return error;
    }
    let name = name.unwrap_or_default();
    Error::new(ErrorKind::Refused, format!("task {name} is deleted"))
        .help(format!("bring it back first: `orange task restore {name}`; then `orange task undo {name}`"))
}
