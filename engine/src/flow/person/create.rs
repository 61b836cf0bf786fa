//! Creates a task, and starts it.

use std::cell::Cell;

use orange_core::budget::Budget;
use orange_core::{Actor, Hook, Machine, Spawn, StateId};

use crate::app::App;
use crate::drive::git::{BranchState, Git};
use crate::flow::parent::Parent;
use crate::flow::request::{Goal, request};
use crate::flow::snapshot::{first_spawn, state_named};
use crate::flow::{blocked, foreign, spawn};
use crate::hooks::{agent_check, pull_request};
use crate::store::create::NewSource;
use crate::store::projects::Project;
use crate::store::slug::slug;
use crate::store::{self, LockedWorkItem, WorkItem, WorkItemDir, WorkItemDraft, list};
use crate::{Error, ErrorKind, Result};

/// The longest branch that is made from a text.
pub const LONGEST: usize = 50;

/// The wishes of the caller.
#[derive(Clone, Copy, Debug)]
pub struct NewTask<'a> {
    pub project: &'a Project,
    /// The workflow, if not the project's.
    pub workflow: Option<&'a str>,
    /// The state in which it begins, if not the initial one.
    pub status: Option<&'a str>,
    /// The branch, if it has a name already.
    pub branch: Option<&'a str>,
    /// The branch that it is based on and merged into, if that is not the default branch.
    pub base: Option<&'a str>,
    /// Summary of the work, if that is known.
    pub summary: Option<&'a str>,
    /// The text from which a branch is made if there is none.
    pub about: Option<&'a str>,
    /// The harness of workers.
    pub harness: &'a str,
    /// The harness of reviewers.
    pub review_harness: &'a str,
    /// Further information about the work, if there is any.
    pub context: Option<&'a str>,
    /// Of waiting tasks, the one with the highest number starts first.
    pub priority: i32,
    /// The tasks that are to be merged before it starts, by id or branch.
    pub blocked_by: &'a [String],
    /// Limits of its own.
    pub budget: Option<Budget>,
    /// The task whose agent creates it and waits for it.
    pub parent: Option<&'a Parent>,
    /// Origin, if the engine makes it by itself.
    pub source: Option<&'a NewSource>,
    /// Create it without starting it.
    pub no_spawn: bool,
}

/// A task that was created.
#[derive(Debug)]
pub struct NewlyCreated {
    pub dir: WorkItemDir,
    /// Reason for which it is not started yet, if it waits for something.
    pub waits_for: Option<Error>,
}

/// Creates the task and starts its agent. It refuses what would make the task useless before the task exists.
pub fn create(app: &App, new: NewTask<'_>) -> Result<NewlyCreated> {
    let (machine, start, draft) = checked(app, new)?;
    app.machines.keep(machine)?;
    app.remember_environment(&new.project.name)?;
    let mut locked = match new.about {
        Some(about) if new.branch.is_none() => with_free_branch(app, new, about, draft)?,
        Some(_) | None => {
            store::create_among(&app.home, &draft, &|kind, owned| app.is_done(kind, owned), |others| {
                check_limits(app, new)?;
                admit(app, others)
            })?
        }
    };
    if new.branch.is_some() {
        pull_request::adopt(app, &mut locked)?;
    }
    let dir = locked.dir().clone();
    drop(locked);
    let waits_for = if new.no_spawn { None } else { begin(app, machine, &dir, start)? };
    Ok(NewlyCreated { dir, waits_for })
}

/// Creates the task on the first branch about this text that nothing has.
fn with_free_branch(
    app: &App,
    new: NewTask<'_>,
    about: &str,
    draft: WorkItemDraft,
) -> Result<LockedWorkItem> {
    for branch in branches_about(about) {
        if !is_free(new.project, &branch)? {
            continue;
        }
        let draft = WorkItemDraft { branch: Some(branch), ..draft.clone() };
        let is_taken = Cell::new(false);
        let created = store::create(&app.home, &draft, |others| {
            check_limits(app, new)?;
            is_taken.set(!others.is_empty());
            admit_alone(others)
        });
        if !is_taken.get() {
            return created;
        }
    }
    // A text without a letter of ASCII makes no branch.
    store::create_among(&app.home, &draft, &|kind, owned| app.is_done(kind, owned), |others| {
        check_limits(app, new)?;
        admit(app, others)
    })
}

/// Checks once more, while no other task of the project is created, that the agent may create one.
fn check_limits(app: &App, new: NewTask<'_>) -> Result<()> {
    new.parent.map_or(Ok(()), |parent| parent.check_limits(app))
}

/// The branch that [`with_free_branch`] would take.
fn free_branch(app: &App, project: &Project, about: &str) -> Result<Option<String>> {
    for branch in branches_about(about) {
        if is_free(project, &branch)?
            && list::of_branch(&app.home, &project.name, &branch, &|_, _| false)?.is_empty()
        {
            return Ok(Some(branch));
        }
    }
    Ok(None)
}

/// `fix-login`, `fix-login-2`, …; none for a text without a letter of ASCII.
fn branches_about(text: &str) -> impl Iterator<Item = String> {
    let slug = slug(text, LONGEST);
    let first = (!slug.is_empty()).then(|| slug.clone());
    first
        .clone()
        .into_iter()
        .chain((2..).map_while(move |number: u32| Some(format!("{}-{number}", first.as_ref()?))))
}

/// True if the repository has no such branch, and can have one.
fn is_free(project: &Project, branch: &str) -> Result<bool> {
    match check_branch(project, branch) {
        Ok(()) => Ok(Git::at(&project.path).branch_state(branch)? == BranchState::Nowhere),
        Err(error) if matches!(error.kind, ErrorKind::Refused | ErrorKind::Usage) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Refuses a branch that any other task or mission has, finished ones, too: then it names this one alone.
fn admit_alone(others: &[WorkItem]) -> Result<()> {
    match others.first() {
        Some(task) => Err(Error::new(ErrorKind::Refused, format!("task {} has that branch", task.id))
            .help("choose another branch")),
        None => Ok(()),
    }
}

/// Refuses a blocked task that would not wait where the queue starts it.
fn check_begins_waiting(machine: &Machine<'_>, start: TaskStart, blocked_by: &[String]) -> Result<()> {
    match start {
        TaskStart::To(state) if !blocked_by.is_empty() => {
            let name = machine.state(state).name;
            Err(Error::new(ErrorKind::Usage, format!("a task that begins in {name} starts at once"))
                .help("leave out --blocked-by, or --status"))
        }
        TaskStart::Spawn | TaskStart::To(_) | TaskStart::In(_) => Ok(()),
    }
}

/// The task that [`create`] would make.
pub fn would_create(app: &App, new: NewTask<'_>) -> Result<WorkItemDraft> {
    let (_, _, mut draft) = checked(app, new)?;
    if let Some(about) = new.about.filter(|_| new.branch.is_none()) {
        draft.branch = free_branch(app, new.project, about)?;
    }
    if let Some(branch) = &draft.branch {
        admit(
            app,
            &list::of_branch(&app.home, &draft.project, branch, &|kind, owned| app.is_done(kind, owned))?,
        )?;
    }
    Ok(draft)
}

/// Refuses what would make the task useless.
fn checked(app: &App, new: NewTask<'_>) -> Result<(&'static Machine<'static>, TaskStart, WorkItemDraft)> {
    new.parent.map_or(Ok(()), |it| it.check(app, &new.project.name, new.workflow, new.base))?;
    let of_parent = new.parent.and_then(Parent::workflow);
    let new = NewTask { base: new.base.or(new.parent.and_then(Parent::base)), ..new };
    let machine = app.machines.named(new.workflow.or(of_parent).unwrap_or_else(|| new.project.workflow()))?;
    let start = start_of(machine, entry_of(machine, new.status)?);
    check(app, new)?;
    let blocked_by = blocked::named(app, &new.project.name, new.blocked_by)?;
    new.parent.map_or(Ok(()), |parent| parent.check_circle(app, &blocked_by))?;
    check_begins_waiting(machine, start, &blocked_by)?;
    check_work(machine, new, start)?;
    if new.no_spawn {
        check_can_wait(machine, start)?;
    } else if starts_agent(machine, start) {
        check_environment(app, new, first_agent(machine, new, start))?;
    }

    let inherited = foreign::inherited(app)?;
    let draft = draft(app, machine, new, begins_in(machine, start), inherited);
    let draft = WorkItemDraft { blocked_by, ..draft };
    Ok((machine, start, draft))
}

/// Beginning of a task.
#[derive(Clone, Copy)]
enum TaskStart {
    /// In the initial state, and goes on as with `orange task spawn`.
    Spawn,
    /// In the initial state, and takes the transition to this one, hooks and all.
    To(StateId),
    /// In this state, which no transition leads to from the initial one.
    In(StateId),
}

fn start_of(machine: &Machine<'_>, entry: StateId) -> TaskStart {
    if entry == machine.initial {
        TaskStart::Spawn
    } else if machine.between(machine.initial, entry).next().is_some() {
        TaskStart::To(entry)
    } else {
        TaskStart::In(entry)
    }
}

fn begins_in(machine: &Machine<'_>, start: TaskStart) -> StateId {
    match start {
        TaskStart::Spawn | TaskStart::To(_) => machine.initial,
        TaskStart::In(state) => state,
    }
}

fn entry_of(machine: &Machine<'_>, status: Option<&str>) -> Result<StateId> {
    let Some(name) = status else { return Ok(machine.initial) };
    let id = state_named(machine, name)?;
    if machine.state(id).entry || id == machine.initial {
        return Ok(id);
    }
    let entries: Vec<_> = machine.states.iter().filter(|state| state.entry).map(|state| state.name).collect();
    Err(Error::new(ErrorKind::Refused, format!("no task may be created as {name}")).help(format!(
        "in {} a task begins as: {}",
        machine.name,
        entries.join(", ")
    )))
}

fn check(app: &App, new: NewTask<'_>) -> Result<()> {
    let has_own_budget = new.budget.is_some() && new.source.is_none();
    if has_own_budget {
        app.caller.check_person("give a task a budget")?;
    }
    app.harness(new.harness)?;
    app.harness(new.review_harness)?;
    check_summary(new.summary, "leave it out: then the agent asks what is to be done")?;
    new.base.map_or(Ok(()), |base| check_base(new.project, base, new.branch))?;
    new.branch.map_or(Ok(()), |branch| check_branch(new.project, branch))
}

/// Refuses a base that does not exist, and the task's own branch.
fn check_base(project: &Project, base: &str, branch: Option<&str>) -> Result<()> {
    let git = Git::at(&project.path);
    git.check_branch_name(base)?;
    if branch == Some(base) {
        return Err(Error::new(ErrorKind::Usage, format!("`{base}` is the branch of the task itself"))
            .help("name the branch that its work is merged into: --base BRANCH"));
    }
    if let Some(warning) = git.catch_up(base, &project.default_branch)? {
        return Err(Error::new(ErrorKind::Environment, warning).help("mend that, or leave out --base"));
    }
    git.check_branch_exists(base)
        .map_err(|error| error.help("name a branch that is here or on the remote, or leave out --base"))
}

/// Refuses an empty summary: a person who means none does not give one.
pub fn check_summary(summary: Option<&str>, help: &str) -> Result<()> {
    match summary {
        Some(text) if text.trim().is_empty() => {
            Err(Error::new(ErrorKind::Usage, "the summary is empty").help(help))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses what no task of the project can have for its branch.
pub fn check_branch(project: &Project, branch: &str) -> Result<()> {
    let git = Git::at(&project.path);
    git.check_branch_name(branch)?;
    git.check_room_for(branch)?;
    if branch != project.default_branch {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Refused, format!("{branch} is the default branch of {}", project.name))
        .help("choose another branch: a task or a mission has one of its own"))
}

/// Refuses to begin with the review of work that is not there.
fn check_work(machine: &Machine<'_>, new: NewTask<'_>, start: TaskStart) -> Result<()> {
    let TaskStart::In(state) = start else { return Ok(()) };
    let state = machine.state(state);
    if state.respawn.is_some() && state.agent == Actor::Worker {
        return Ok(());
    }
    let what = format!("a task that begins in {} is about work that is there", state.name);
    let Some(branch) = new.branch else {
        return Err(Error::new(ErrorKind::Usage, format!("{what}: which branch is it on?"))
            .help(format!("name it: `orange task create BRANCH --status {}`", state.name)));
    };
    let git = Git::at(&new.project.path);
    let warning = git.catch_up(branch, &new.project.default_branch)?;
    if git.branch_state(branch)? != BranchState::Nowhere {
        return Ok(());
    }
    let why = warning.map(|warning| format!(" ({warning})")).unwrap_or_default();
    Err(Error::new(ErrorKind::NotFound, format!("{what}, and there is no branch {branch}{why}"))
        .help("give the name of one that is here or on the remote, or leave out --status"))
}

/// Spawn of the first agent, if the workflow has one.
fn first_agent(
    machine: &'static Machine<'static>,
    new: NewTask<'_>,
    start: TaskStart,
) -> Option<Spawn<'static>> {
    let to = match start {
        TaskStart::In(state) => return machine.state(state).respawn.as_ref().and_then(Hook::spawn).copied(),
        TaskStart::To(state) => Some(state),
        TaskStart::Spawn => machine.start(new.summary.is_some()),
    };
    first_spawn(machine, to?)
}

fn starts_agent(machine: &Machine<'_>, start: TaskStart) -> bool {
    match start {
        TaskStart::Spawn | TaskStart::To(_) => true,
        TaskStart::In(state) => machine.state(state).respawn.is_some(),
    }
}

fn check_can_wait(machine: &Machine<'_>, start: TaskStart) -> Result<()> {
    match start {
        TaskStart::Spawn | TaskStart::In(_) => Ok(()),
        TaskStart::To(state) => {
            let name = machine.state(state).name;
            Err(Error::new(ErrorKind::Usage, format!("a task comes to {name} by being started"))
                .help("leave out --no-spawn, or --status"))
        }
    }
}

/// Checks the programs that an agent needs. A task that waits for a worktree is made; one that waits for a program is not.
fn check_environment(app: &App, new: NewTask<'_>, spawn: Option<Spawn<'_>>) -> Result<()> {
    app.tmux.check()?;
    match spawn {
        Some(spawn) => {
            let harness = app.harness(spawn.harness_name(new.harness, new.review_harness))?;
            agent_check::check_harness(app, &harness, &spawn)?;
            agent_check::check_questions(app, &harness, &spawn, &new.project.path)?;
        }
        None => app.harness(new.harness)?.check(app.path())?,
    }
    let git = Git::at(&new.project.path);
    git.check()?;
    git.check_identity()
}

/// Refuses a branch that an unfinished one of these tasks and missions has, or that git cannot have beside theirs.
pub fn admit(app: &App, others: &[WorkItem]) -> Result<()> {
    match others.iter().find(|task| !app.is_done_with_worktree(task)) {
        Some(task) => {
            let (word, id) = (task.kind.word(), &task.id);
            let message = format!("{word} {id} has the branch {} already", task.branch);
            let help = format!(
                "choose a branch that is not `{}`, nor above or below it, or go on with that {word}",
                task.branch
            );
            Err(Error::new(ErrorKind::Refused, message).help(help))
        }
        None => Ok(()),
    }
}

fn draft(
    app: &App,
    machine: &Machine<'_>,
    new: NewTask<'_>,
    begins: StateId,
    inherited: Option<NewSource>,
) -> WorkItemDraft {
    let body = match new.context.map(str::trim_end).filter(|text| !text.trim().is_empty()) {
        Some(text) if text.trim_start().starts_with("## ") => format!("\n{text}\n"),
        Some(text) => format!("\n## Context\n\n{text}\n"),
        None => "\n".to_owned(),
    };
    let counters = machine.counters.iter().map(|counter| (counter.name.to_owned(), counter.default));
    WorkItemDraft {
        project: new.project.name.clone(),
        branch: new.branch.map(str::to_owned),
        base: new.base.filter(|base| *base != new.project.default_branch).map(str::to_owned),
        summary: new.summary.unwrap_or_default().to_owned(),
        harness: new.harness.to_owned(),
        review_harness: new.review_harness.to_owned(),
        priority: new.priority,
        blocked_by: Vec::new(),
        workflow: machine.name.to_owned(),
        definition: machine.source_hash.to_owned(),
        status: machine.state(begins).name.to_owned(),
        counters: counters.collect(),
        body,
        actor: new.source.map_or_else(|| app.caller.actor(), |_| Actor::Engine).into(),
        creator: app.caller.task().map(str::to_owned),
        parent: new.parent.map(|parent| parent.task.id.clone()),
        budget: new.budget,
        source: new.source.cloned().or(inherited),
        mission: None,
    }
}

/// Starts the task, where its start starts anything; what it waits for, if it cannot be started yet.
fn begin(app: &App, machine: &Machine<'_>, dir: &WorkItemDir, start: TaskStart) -> Result<Option<Error>> {
    let outcome = match start {
        TaskStart::To(state) => request(app, dir, Goal::Named(machine.state(state).name)),
        TaskStart::Spawn | TaskStart::In(_) if starts_agent(machine, start) => spawn(app, dir, false),
        TaskStart::Spawn | TaskStart::In(_) => return Ok(None),
    };
    match outcome {
        Ok(_) => Ok(None),
        Err(error) if error.kind == ErrorKind::Refused => Ok(Some(error)),
        Err(error) => {
            let what =
                format!("task {} is created, and its agent could not be started: {}", dir.id, error.message);
            let first = if error.help.is_empty() { "mend that" } else { error.help.trim_end_matches('.') };
            let help = format!("{first}; then `orange task spawn {}`", dir.id);
            Err(Error::new(error.kind, what).help(help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::tests::MACHINES;
    use crate::machines::Machines;
    use crate::store::{Event, Set, tests};

    #[test]
    fn a_branch_is_taken_until_its_task_or_mission_is_done() {
        let (folder, home) = tests::home();
        let dir = tests::mission(&home, "brew").dir().clone();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let attempt = |status: &str| {
            let mut locked = LockedWorkItem::lock(&app.home, &dir).unwrap();
            locked.append(Event::Unknown, Set::new().status(status)).unwrap();
            drop(locked);
            store::create(&app.home, &tests::draft("brew"), |others| admit(&app, others)).map(drop)
        };
        for status in ["pending", "running", "paused", "failed"] {
            let error = attempt(status).unwrap_err();
            assert_eq!(error.message, format!("mission {} has the branch brew already", dir.id), "{status}");
        }
        attempt("completed").unwrap();
        let mission = store::create(&app.home, &tests::mission_draft("brew"), |others| admit(&app, others));
        assert!(mission.unwrap_err().message.starts_with("task "));
    }
}
