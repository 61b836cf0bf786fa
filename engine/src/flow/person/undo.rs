//! Takes a cancellation or a merge back: the task gets its status again, and its worktree with the work that was not committed. No
//! agent starts.
//!
//! `task.reopened` is journaled first, in one write with the status. The worktree follows; the process that gives it to the task
//! restores the work into it before anybody works there, and journals `work.restored`. After a kill, or once a worktree is free, the
//! monitor goes on, and so do the same command and the next start of an agent.

use orange_core::Actor;

use crate::app::App;
use crate::drive::git::Git;
use crate::flow::lock_recovered;
use crate::flow::names::KnownNames;
use crate::flow::person::create::admit;
use crate::flow::person::unmerge::{self, DoneMerge};
use crate::hooks::workspace;
use crate::store::{
    self, Event, LockedWorkItem, Record, Set, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, find,
    journal, list,
};
use crate::{Error, ErrorKind, Result};
use orange_api::TakenBack;
use orange_system::{clock, fault};

/// A task that was reopened.
#[derive(Debug)]
pub struct Undone {
    /// The state of cancelled or merged tasks.
    pub from: String,
    /// The state now.
    pub to: String,
    /// The commit with the uncommitted work that its worktree has again, or is to get.
    pub backup: Option<String>,
    /// Reason for which it has no worktree yet, if it is to have one.
    pub waits_for: Option<String>,
    /// Folders that were set aside when it was cancelled, and stay there.
    pub set_aside: Vec<String>,
    /// The merge that was taken back, if it was merged.
    pub merge: Option<TakenBack>,
}

/// Record in the journal of how a task was finished.
struct TaskEnd {
    to: String,
    had_worktree: bool,
    backups: Vec<String>,
    set_aside: Vec<String>,
}

/// Plan for taking a cancellation or a merge back.
struct Plan {
    undone: Undone,
    event: Event,
    /// The merge, if the task is merged.
    done: Option<DoneMerge>,
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

/// Takes the cancellation or the merge of a task back. Where the target takes no push, a pull request is to take the merge back first, and
/// the task stays as it is. For a task that was reopened and has no worktree yet, it tries again to get one.
///
/// # Errors
/// `refused` for a task that is neither cancelled nor merged here, whose branch has moved or another task has, whose workflow no
/// longer has its status, or whose target has since changed the same lines.
pub fn undo(app: &App, dir: &WorkItemDir, dry_run: bool) -> Result<Undone> {
    app.caller.check_person("take a cancellation or a merge back")?;
    if dry_run {
        let (task, journal) = WorkItem::read(&app.home, dir)?;
        let Plan { undone, done, .. } = plan(app, dir, &task, &journal.records)?;
        let merge = done.map(|done| unmerge::would_take_back(app, &task, &done)).transpose()?;
        return Ok(Undone { merge, ..undone });
    }
    let mut recovered = lock_recovered(app, dir)?;
    if let Some(backup) = again(app, &recovered) {
        let to = recovered.task().status().to_owned();
        let waits_for = give_worktree(app, recovered)?;
        return Ok(Undone { from: to.clone(), to, backup, waits_for, set_aside: Vec::new(), merge: None });
    }
    let (_, journal::Journal { records, .. }) = WorkItem::read(&app.home, dir)?;
    let done = plan(app, dir, recovered.task(), &records)?.done;
    let merge = match done {
        Some(done) => {
            let task = recovered.task();
            let is_over = |kind, owned: &_| app.is_done(kind, owned);
            admit(app, &list::others_of_branch(&app.home, dir, &task.branch, &is_over)?)?;
            Some(unmerge::take_back(app, &mut recovered, &done)?)
        }
        None => None,
    };
    if let Some(merge) = merge.as_ref().filter(|merge| merge.pr_url.is_some()) {
        let status = recovered.task().status().to_owned();
        let (backup, waits_for, set_aside) = (None, None, Vec::new());
        let merge = Some(merge.clone());
        return Ok(Undone { from: status.clone(), to: status, backup, waits_for, set_aside, merge });
    }
    // The project's lock comes before the task's.
    drop(recovered);
    let (undone, locked) =
        store::in_project(&app.home, dir, &|kind, owned| app.is_done(kind, owned), |mut locked, others| {
            admit(app, others)?;
            let (_, journal::Journal { records, .. }) = WorkItem::read(&app.home, dir)?;
            let Plan { undone, event, lost, .. } = plan(app, dir, locked.task(), &records)?;
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
    Ok(Undone { waits_for, merge, ..undone })
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
    let status = machine.state_named(task.status());
    let is_cancelled = status.is_some() && machine.commands.cancel == status;
    let is_merged = app.is_over(task) && !is_cancelled && WorkItemHistory::fold(records).branch.is_merged;
    let Some(end) = end(task, records).filter(|_| is_cancelled || is_merged) else {
        let message = format!(
            "task {} is {}, neither cancelled nor merged",
            KnownNames::of(app).name(dir),
            task.status()
        );
        return Err(Error::new(ErrorKind::Refused, message).help(format!(
            "only a cancellation or a merge can be taken back; {} shows where the task can go",
            dir.command("next")
        )));
    };
    if machine.state_named(&end.to).is_none() {
        let message = format!("the workflow {} no longer has the status {}", machine.name, end.to);
        return Err(Error::new(ErrorKind::Refused, message)
            .help(format!("`orange task migrate {} --to STATUS` moves the task to another one", task.id)));
    }
    let done = if is_merged { Some(unmerge::done(task, records)?) } else { None };
    let UndoWork { backup, lost } = match &done {
        Some(done) => UndoWork { backup: None, lost: merged_branch(app, task, &done.source)? },
        None if end.had_worktree => work(app, task, &end)?,
        None => UndoWork::default(),
    };
    let event = Event::TaskReopened {
        from: task.status().to_owned(),
        to: end.to.clone(),
        worktree: end.had_worktree,
        backup: backup.clone(),
        actor: Actor::Human.into(),
    };
    let TaskEnd { to, set_aside, .. } = end;
    let from = task.status().to_owned();
    let undone = Undone { from, to, backup, waits_for: None, set_aside, merge: None };
    Ok(Plan { undone, event, done, lost })
}

/// The commit of the branch of a merged task, if that is gone; refuses one that has moved since.
fn merged_branch(app: &App, task: &WorkItem, source: &str) -> Result<Option<String>> {
    let Some(tip) = Git::at(&app.project_of(task)?.path).branch_tip(&task.branch)? else {
        return Ok(Some(source.to_owned()));
    };
    if tip == source {
        return Ok(None);
    }
    let (at, was) = (short(&tip), short(source));
    let message = format!("the branch {} has moved since: it is at {at}, and {was} was merged", task.branch);
    Err(Error::new(ErrorKind::Refused, message)
        .help("put it back with `git branch --force`, or make a new task for what it has now"))
}

/// The last end in the journal of a task that is over.
fn end(task: &WorkItem, records: &[Record]) -> Option<TaskEnd> {
    let mut begun = records.iter().enumerate().filter_map(|(at, record)| {
        if let Event::TransitionStarted(plan) = &record.event { Some((at, plan)) } else { None }
    });
    let (at, plan) = begun.rfind(|(_, plan)| plan.to == task.status())?;
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
    Some(TaskEnd { to: plan.from.clone(), had_worktree, backups, set_aside })
}

/// The work of the backups; refuses a branch that is not where the work left it.
fn work(app: &App, task: &WorkItem, end: &TaskEnd) -> Result<UndoWork> {
    let git = Git::at(&app.project_of(task)?.path);
    let mut work = None;
    for commit in &end.backups {
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
