//! `orange task create`

use std::collections::BTreeMap;
use std::io::Read;

use orange_core::{Actor, Machine, StateId};

use crate::answer::{Created, Success};
use crate::app::App;
use crate::cmd::answer::{Answer, one_line};
use crate::cmd::args::CreateArgs;
use crate::cmd::project;
use crate::cmd::task::hints;
use crate::drive::git::{BranchState, Git};
use crate::flow::snapshot::state_named;
use crate::flow::{self, Goal};
use crate::hooks::pull_request;
use crate::store::projects::Project;
use crate::store::{self, Draft, Task, TaskDir};
use crate::{Error, Kind, Result};

/// Makes the task and starts its agent.
pub fn run(app: &App, args: &CreateArgs) -> Result<Answer> {
    let project = project::named_or_here(app, args.project.as_deref())?;
    let workflow = args.workflow.as_deref().unwrap_or_else(|| project.workflow());
    let machine = app.machines.named(workflow)?;
    let start = start_of(machine, entry_of(machine, args.status.as_deref())?);
    check(app, &project, args)?;
    check_work(machine, &project, args, start)?;
    if args.no_spawn {
        check_can_wait(machine, start)?;
    } else if starts_agent(machine, start) {
        check_environment(app, &project, harness_of(machine, args, start))?;
    }

    let draft = draft(app, machine, &project, args, begins_in(machine, start))?;
    app.machines.keep(machine)?;
    let mut open = store::create(&app.home, &draft, |others| admit(app, others))?;
    if args.branch.is_some() {
        pull_request::adopt(app, &mut open)?;
    }
    let dir = open.dir().clone();
    drop(open);
    let waits_for = if args.no_spawn { None } else { begin(app, machine, &dir, start)? };
    answer(app, &dir, waits_for.as_ref())
}

/// How a task begins.
#[derive(Clone, Copy)]
enum Start {
    /// In the initial state, and goes on as with `orange task spawn`.
    Spawn,
    /// In the initial state, and takes the transition to this one, hooks and all.
    To(StateId),
    /// In this state, which no transition leads to from the initial one.
    In(StateId),
}

fn start_of(machine: &Machine<'_>, entry: StateId) -> Start {
    if entry == machine.initial {
        Start::Spawn
    } else if machine.between(machine.initial, entry).next().is_some() {
        Start::To(entry)
    } else {
        Start::In(entry)
    }
}

fn begins_in(machine: &Machine<'_>, start: Start) -> StateId {
    match start {
        Start::Spawn | Start::To(_) => machine.initial,
        Start::In(state) => state,
    }
}

fn entry_of(machine: &Machine<'_>, status: Option<&str>) -> Result<StateId> {
    let Some(name) = status else { return Ok(machine.initial) };
    let id = state_named(machine, name)?;
    if machine.state(id).entry || id == machine.initial {
        return Ok(id);
    }
    let entries: Vec<_> = machine.states.iter().filter(|state| state.entry).map(|state| state.name).collect();
    Err(Error::new(Kind::Refused, format!("no task may be created as {name}")).help(format!(
        "in {} a task begins as: {}",
        machine.name,
        entries.join(", ")
    )))
}

/// Everything that would make the task useless is refused before it exists.
fn check(app: &App, project: &Project, args: &CreateArgs) -> Result<()> {
    app.harness(&args.harness)?;
    app.harness(&args.review_harness)?;
    check_summary(args.summary.as_deref(), "leave it out: then the agent asks what is to be done")?;
    args.branch.as_ref().map_or(Ok(()), |branch| check_branch(project, branch))
}

/// Refuses an empty summary: whoever means none does not give one.
pub(super) fn check_summary(summary: Option<&str>, help: &str) -> Result<()> {
    match summary {
        Some(text) if text.trim().is_empty() => {
            Err(Error::new(Kind::Usage, "the summary is empty").help(help))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses what no task of the project can have for its branch.
pub(super) fn check_branch(project: &Project, branch: &str) -> Result<()> {
    let git = Git::at(&project.path);
    git.check_branch_name(branch)?;
    git.check_room_for(branch)?;
    if branch != project.default_branch {
        return Ok(());
    }
    Err(Error::new(Kind::Refused, format!("{branch} is the default branch of {}", project.name))
        .help("a task needs a branch of its own"))
}

/// Refuses to begin with the review of work that is not there.
fn check_work(machine: &Machine<'_>, project: &Project, args: &CreateArgs, start: Start) -> Result<()> {
    let Start::In(state) = start else { return Ok(()) };
    let state = machine.state(state);
    if state.respawn.is_some() && state.agent == Actor::Worker {
        return Ok(());
    }
    let what = format!("a task that begins in {} is about work that is there", state.name);
    let Some(branch) = &args.branch else {
        return Err(Error::new(Kind::Usage, format!("{what}: which branch is it on?"))
            .help(format!("name it: `orange task create BRANCH --status {}`", state.name)));
    };
    let git = Git::at(&project.path);
    let warning = git.catch_up(branch, &project.default_branch)?;
    if git.branch_state(branch)? != BranchState::Nowhere {
        return Ok(());
    }
    let why = warning.map(|warning| format!(" ({warning})")).unwrap_or_default();
    Err(Error::new(Kind::NotFound, format!("{what}, and there is no branch {branch}{why}"))
        .help("give the name of one that is here or on the remote, or leave out --status"))
}

/// The harness of the agent that is started first.
fn harness_of<'a>(machine: &Machine<'_>, args: &'a CreateArgs, start: Start) -> &'a str {
    let reviews = match start {
        Start::Spawn | Start::To(_) => false,
        Start::In(state) => machine.state(state).agent == Actor::Reviewer,
    };
    if reviews { &args.review_harness } else { &args.harness }
}

fn starts_agent(machine: &Machine<'_>, start: Start) -> bool {
    match start {
        Start::Spawn | Start::To(_) => true,
        Start::In(state) => machine.state(state).respawn.is_some(),
    }
}

fn check_can_wait(machine: &Machine<'_>, start: Start) -> Result<()> {
    match start {
        Start::Spawn | Start::In(_) => Ok(()),
        Start::To(state) => {
            let name = machine.state(state).name;
            Err(Error::new(Kind::Usage, format!("a task comes to {name} by being started"))
                .help("leave out --no-spawn, or --status"))
        }
    }
}

/// What no agent can do without. A task that waits for a worktree is made; one that waits for a program is not.
fn check_environment(app: &App, project: &Project, harness: &str) -> Result<()> {
    app.tmux.check()?;
    app.harness(harness)?.check(app.path())?;
    let git = Git::at(&project.path);
    git.check()?;
    git.check_identity()
}

/// Refuses a branch that an unfinished one of these tasks has.
pub(super) fn admit(app: &App, others: &[Task]) -> Result<()> {
    match others.iter().find(|task| !app.is_over(&task.owned)) {
        Some(task) => {
            Err(Error::new(Kind::Refused, format!("task {} has the branch {} already", task.id, task.branch))
                .help("choose another branch, or go on with that task"))
        }
        None => Ok(()),
    }
}

fn draft(
    app: &App,
    machine: &Machine<'_>,
    project: &Project,
    args: &CreateArgs,
    begins: StateId,
) -> Result<Draft> {
    let context = match args.context.as_deref() {
        Some("-") => Some(read_stdin()?),
        Some(text) => Some(text.to_owned()),
        None => None,
    };
    let body = match context.as_deref().map(str::trim_end).filter(|text| !text.trim().is_empty()) {
        Some(text) if text.trim_start().starts_with("## ") => format!("\n{text}\n"),
        Some(text) => format!("\n## Context\n\n{text}\n"),
        None => "\n".to_owned(),
    };
    let mut counters = BTreeMap::new();
    counters.extend(machine.counters.iter().map(|counter| (counter.name.to_owned(), counter.default)));
    Ok(Draft {
        project: project.name.clone(),
        branch: args.branch.clone(),
        summary: args.summary.clone().unwrap_or_default(),
        harness: args.harness.clone(),
        review_harness: args.review_harness.clone(),
        workflow: machine.name.to_owned(),
        definition: machine.source_hash.to_owned(),
        status: machine.state(begins).name.to_owned(),
        counters,
        body,
        actor: app.caller.actor().into(),
        creator: app.caller.task().map(str::to_owned),
    })
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|cause| {
        Error::new(Kind::Usage, format!("cannot read the context from standard input: {cause}"))
            .help("it must be UTF-8 text")
    })?;
    Ok(text)
}

/// Starts the task, where its start starts anything; what it waits for, if it cannot be started yet.
fn begin(app: &App, machine: &Machine<'_>, dir: &TaskDir, start: Start) -> Result<Option<Error>> {
    let outcome = match start {
        Start::To(state) => flow::request(app, dir, Goal::Named(machine.state(state).name)),
        Start::Spawn | Start::In(_) if starts_agent(machine, start) => flow::spawn(app, dir),
        Start::Spawn | Start::In(_) => return Ok(None),
    };
    match outcome {
        Ok(_) => Ok(None),
        Err(error) if error.kind == Kind::Refused => Ok(Some(error)),
        Err(error) => {
            let what =
                format!("task {} is created, and its agent could not be started: {}", dir.id, error.message);
            let first = if error.help.is_empty() { "mend that" } else { error.help.trim_end_matches('.') };
            let help = format!("{first}; then `orange task spawn {}`", dir.id);
            Err(Error::new(error.kind, what).help(help))
        }
    }
}

fn answer(app: &App, dir: &TaskDir, waits_for: Option<&Error>) -> Result<Answer> {
    let (task, _) = Task::read(&app.home, dir)?;
    let hints = if task.owned.tmux_session.is_some() { hints(app, dir)? } else { Vec::new() };
    let mut text =
        format!("{}  {}  {}  {}", task.id, task.branch, task.status(), one_line(&task.summary, 60));
    text.extend(waits_for.map(|error| format!("\nnot started: {error}")));
    text.extend(task.attention.iter().map(|attention| format!("\nattention: {attention}")));
    text.extend(hints.iter().map(|hint| format!("\n{hint}")));
    let created = Created {
        success: Success,
        id: task.id,
        project: task.project,
        branch: task.branch,
        status: task.owned.status,
        workflow: task.owned.workflow,
        workspace: task.owned.workspace.as_deref().map(str::to_owned),
        tmux_session: task.owned.tmux_session,
        attention: task.attention,
        waiting: waits_for.map(|error| error.message.clone()),
        path: dir.task_md().display().to_string(),
        hints,
    };
    Answer::of(&created, text)
}
