//! `orange task create`

use std::io::Read;

use orange_core::{Actor, Machine, StateId};
use serde_json::json;

use crate::cmd::answer::{Answer, one_line};
use crate::cmd::args::CreateArgs;
use crate::cmd::project;
use crate::drive::{git::Git, harness};
use crate::flow;
use crate::flow::request::Goal;
use crate::flow::snapshot::state_named;
use crate::orange::Orange;
use crate::store::projects::Project;
use crate::store::{self, Draft, Open, Task, TaskDir};
use crate::{Error, Kind, Result};

/// Makes the task and starts its agent.
pub fn run(orange: &Orange, args: &CreateArgs) -> Result<Answer> {
    let project = project::named_or_here(orange, args.project.as_deref())?;
    let workflow = args.workflow.as_deref().or(project.workflow.as_deref()).unwrap_or("default");
    let machine = orange.machines.named(workflow)?;
    let entry = entry_of(machine, args.status.as_deref())?;
    check(&project, args)?;
    let start = start_of(machine, entry);
    let only_created = args.no_spawn && start.begins == entry;
    if !only_created && starts_agent(machine, &start) {
        check_environment(orange, &project, args)?;
    }

    let draft = draft(machine, &project, args, start.begins)?;
    let open = store::create(&orange.home, &draft, |others| admit(orange, others))?;
    let dir = open.dir().clone();
    let started = if only_created {
        drop(open);
        Started::Later
    } else {
        begin(orange, machine, open, &start)?
    };
    answer(orange, &dir, &started)
}

/// How a task reaches the state that it is to begin in.
struct Start {
    /// The state that it is created in.
    begins: StateId,
    /// Whether a declared transition then leads to where it was asked for.
    goes_to: Option<StateId>,
}

enum Started {
    Now,
    Later,
    /// No worktree is free: it waits until `spawn_next` or a person starts it.
    Waiting(Error),
}

/// A state that a transition leads to from the initial one is entered by that transition, hooks and all; another
/// entry state is entered as it is.
fn start_of(machine: &Machine<'_>, entry: StateId) -> Start {
    if entry == machine.initial {
        return Start { begins: entry, goes_to: None };
    }
    match machine.between(machine.initial, entry).next() {
        Some(_) => Start { begins: machine.initial, goes_to: Some(entry) },
        None => Start { begins: entry, goes_to: None },
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
fn check(project: &Project, args: &CreateArgs) -> Result<()> {
    harness::named(&args.harness)?;
    harness::named(&args.review_harness)?;
    if let Some(branch) = &args.branch {
        Git::at(&project.path).check_branch_name(branch)?;
        if *branch == project.default_branch {
            return Err(Error::new(
                Kind::Refused,
                format!("{branch} is the default branch of {}", project.name),
            )
            .help("a task needs a branch of its own"));
        }
    }
    Ok(())
}

fn starts_agent(machine: &Machine<'_>, start: &Start) -> bool {
    start.begins == machine.initial || machine.state(start.begins).respawn.is_some()
}

/// What no agent can do without. A task that waits for a worktree is made; one that waits for a program is not.
fn check_environment(orange: &Orange, project: &Project, args: &CreateArgs) -> Result<()> {
    orange.tmux.check()?;
    harness::named(&args.harness)?.check(orange.path())?;
    let git = Git::at(&project.path);
    git.check()?;
    git.check_identity()
}

fn admit(orange: &Orange, others: &[Task]) -> Result<()> {
    match others.iter().find(|task| !project::is_over(orange, task)) {
        Some(task) => {
            Err(Error::new(Kind::Refused, format!("task {} has the branch {} already", task.id, task.branch))
                .help("choose another branch, or go on with that task"))
        }
        None => Ok(()),
    }
}

fn draft(machine: &Machine<'_>, project: &Project, args: &CreateArgs, begins: StateId) -> Result<Draft> {
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
    Ok(Draft {
        project: project.name.clone(),
        branch: args.branch.clone(),
        summary: args.summary.clone().unwrap_or_default(),
        harness: args.harness.clone(),
        review_harness: args.review_harness.clone(),
        workflow: machine.name.to_owned(),
        definition: machine.source_hash.to_owned(),
        status: machine.state(begins).name.to_owned(),
        counters: machine.counters.iter().map(|counter| (counter.name.to_owned(), counter.default)).collect(),
        body,
        actor: Actor::Human.as_str().to_owned(),
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

fn begin(
    orange: &Orange,
    machine: &'static Machine<'static>,
    mut open: Open,
    start: &Start,
) -> Result<Started> {
    let dir = open.dir().clone();
    let outcome = match start.goes_to {
        Some(to) => {
            drop(open);
            flow::request(orange, &dir, Goal::Named(machine.state(to).name), false).map(drop)
        }
        None if start.begins == machine.initial => {
            drop(open);
            flow::spawn(orange, &dir).map(drop)
        }
        None => flow::start_entered(orange, machine, &mut open).map(drop),
    };
    match outcome {
        Ok(()) => Ok(Started::Now),
        Err(error) if error.kind == Kind::Refused => Ok(Started::Waiting(error)),
        Err(error) => Err(Error {
            message: format!(
                "task {} is created, and its agent could not be started: {}",
                dir.id, error.message
            ),
            help: format!("{}; then `orange task spawn {}`", error.help.trim_end_matches('.'), dir.id),
            ..error
        }),
    }
}

fn answer(orange: &Orange, dir: &TaskDir, started: &Started) -> Result<Answer> {
    let (task, _) = Task::read(&orange.home, dir)?;
    let waiting = match started {
        Started::Waiting(error) => Some(error),
        Started::Now | Started::Later => None,
    };
    let json = json!({
        "success": true,
        "id": task.id,
        "project": task.project,
        "branch": task.branch,
        "status": task.status(),
        "workflow": task.owned.workflow,
        "workspace": task.owned.workspace,
        "tmux_session": task.owned.tmux_session,
        "attention": task.attention,
        "waiting": waiting.map(|error| &error.message),
        "path": dir.task_md(),
    });
    let mut text =
        format!("{}  {}  {}  {}", task.id, task.branch, task.status(), one_line(&task.summary, 60));
    if let Some(error) = waiting {
        text += &format!("\nnot started: {error}");
    }
    if let Some(attention) = &task.attention {
        text += &format!("\nattention: {attention}");
    }
    Ok(Answer::new(json, text))
}
