//! Prepares a new worktree as the settings of its project say: files of the repository, then programs.

use orange_system::variables;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::app::App;
use crate::drive::git::{self, Git};
use crate::hooks::given::{self, Means};
use crate::hooks::program::{ProgramEnd, ProgramRun};
use crate::hooks::saved::with_context;
use crate::hooks::wall::{self, ProgramKind, ProgramPlace};
use crate::store::effective::{Effective, effective};
use crate::store::event::Preparation;
use crate::store::projects::Project;
use crate::store::settings::WorktreeProgram;
use crate::store::settings::ports::PortRange;
use crate::store::{Event, LockedWorkItem, Set, WorkItem, pool, ports};
use crate::store::{environment, secret};
use crate::{Error, ErrorKind, Result};
use orange_system::fault;
use orange_system::process::{self, ProcessRoot};

/// The place of the first port in an argument.
const PORT: &str = "{port}";

/// The ports of the worktree of a task, if its project has any.
pub fn ports_of(app: &App, task: &WorkItem) -> Result<Option<PortRange>> {
    match task.worktree() {
        Some(name) => ports::of_slot(&app.home, &app.project_of(task)?, number(name)),
        None => Ok(None),
    }
}

/// The variables that say which worktree and which ports a program has; empty ones without a worktree, since a process may
/// inherit others.
pub fn variables(worktree: Option<&str>, ports: Option<PortRange>) -> Vec<(&'static str, OsString)> {
    let all = ports.map(|it| (it.first..=it.last).map(|port| port.to_string()).collect::<Vec<_>>().join(" "));
    vec![
        ("ORANGE_SLOT", worktree.map_or_else(String::new, |name| number(name).to_string()).into()),
        ("ORANGE_PORT", ports.map_or_else(String::new, |it| it.first.to_string()).into()),
        ("ORANGE_PORTS", all.unwrap_or_default().into()),
    ]
}

/// These arguments with the first port in the place of `{port}`.
///
/// # Errors
/// `refused` where there is no port.
pub fn with_port(argv: &[impl AsRef<str>], ports: Option<PortRange>) -> Result<Vec<String>> {
    let fill = |word: &str| match ports {
        _ if !word.contains(PORT) => Ok(word.to_owned()),
        Some(ports) => Ok(word.replace(PORT, &ports.first.to_string())),
        None => Err(Error::new(ErrorKind::Refused, format!("the project has no ports for `{word}`"))
            .help("give it some: `orange project update --ports 4000:10`")),
    };
    argv.iter().map(|word| fill(word.as_ref())).collect()
}

/// Journals what the worktree is to get, before it exists, so that the next process after a kill goes on with that. Settings that have
/// changed since begin again.
pub fn begin(app: &App, project: &Project, locked: &mut LockedWorkItem, name: &str) -> Result<()> {
    let settings = effective(&app.home, project)?;
    if let Some(warning) = settings.trust.call(&project.name) {
        locked.call_attention(&warning)?;
    }
    let wanted = wanted(app, project, &settings, name)?;
    let before = locked.history().worktree.prepared.as_ref();
    if before.is_some_and(|before| before.wanted == wanted && !before.is_complete) {
        return Ok(());
    }
    clear(app, project, locked)?;
    // A task whose journal is gone may have left something.
    given::take_all(&app.home, &project.path, name)?;
    if !is_nothing(&wanted) {
        locked.append(Event::WorktreePreparing(wanted), Set::new())?;
    }
    Ok(())
}

/// Gives a worktree what was journaled: files that it lacks, then the programs that have not succeeded.
///
/// # Errors
/// Those of a file that it cannot get, and of a program that fails; a later call goes on from there.
pub fn go_on(app: &App, project: &Project, locked: &mut LockedWorkItem) -> Result<()> {
    let Some(prepared) = locked.history().worktree.prepared.clone().filter(|it| !it.is_complete) else {
        return Ok(());
    };
    let name = prepared.wanted.workspace.clone();
    // Settings that a person no longer trusts are not used, although they were when this began.
    let settings = effective(&app.home, project)?;
    if wanted(app, project, &settings, &name)? != prepared.wanted {
        begin(app, project, locked, &name)?;
        return go_on(app, project, locked);
    }
    let worktree = app.home.workspace(&name);
    let left_out = match git::given(&app.home.given(&name))?.filter(|_| prepared.succeeded > 0) {
        None => give(app, project, locked, &prepared.wanted)?,
        Some(given) => why_left_out(project, &worktree, &prepared.wanted, &given)?,
    };
    let left_out = left_out.into_values().collect();
    let ports = ports::of_slot(&app.home, project, number(&name))?;
    for program in settings.setup.value.iter().skip(prepared.succeeded) {
        run(app, locked, program, &name, ports)?;
    }
    fault::step("end", "the preparation");
    locked.append(Event::WorktreePrepared { workspace: name, left_out }, Set::new())
}

/// Gives a worktree the files that it lacks, which git ignores before they are there; returns why it does not get the others.
fn give(
    app: &App,
    project: &Project,
    locked: &mut LockedWorkItem,
    wanted: &Preparation,
) -> Result<BTreeMap<String, String>> {
    let worktree = app.home.workspace(&wanted.workspace);
    let left_out = why_left_out(project, &worktree, wanted, &[])?;
    let copies = wanted.copied.iter().map(|path| (path, Means::Copy));
    let links = wanted.linked.iter().map(|path| (path, Means::Link));
    let given: Vec<_> = copies.chain(links).filter(|(path, _)| !left_out.contains_key(*path)).collect();
    let paths: Vec<String> = given.iter().map(|(path, _)| (*path).clone()).collect();
    Git::at(&project.path).ignore_given(&worktree, &app.home.given(&wanted.workspace), &paths)?;
    for (path, means) in given {
        with_context(app, locked, &project.default_branch, |context| {
            given::give(&project.path, &worktree, path, means, context)
        })?;
    }
    Ok(left_out)
}

/// Paths that the worktree does not get, beyond those that it was given already, each with the reason.
fn why_left_out(
    project: &Project,
    worktree: &Path,
    wanted: &Preparation,
    given: &[String],
) -> Result<BTreeMap<String, String>> {
    let mut left_out = BTreeMap::new();
    let paths = wanted.copied.iter().chain(&wanted.linked);
    for path in paths.filter(|path| !given.contains(*path)) {
        let why = given::why_left_out(&project.path, worktree, path)?;
        left_out.extend(why.map(|why| (path.clone(), why)));
    }
    Ok(left_out)
}

/// Has git ignore in the task's worktree what it was given, before the work in it is backed up.
pub fn decide_given(app: &App, project: &Project, locked: &LockedWorkItem) -> Result<()> {
    let Some(prepared) = &locked.history().worktree.prepared else { return Ok(()) };
    given::decide_given(&app.home, &project.path, &prepared.wanted.workspace, prepared.given())
}

/// Writes the environment of an agent, with its secret, into a file that the wrapper takes: every user of the machine can read the
/// arguments of tmux.
pub fn offer_environment(app: &App, locked: &LockedWorkItem, spawn: u32) -> Result<()> {
    let task = locked.task();
    let mut found = app.environment(&app.project_of(task)?)?.without(&app.denied(task)?);
    let ports = ports_of(app, task)?;
    for (name, value) in variables(task.worktree().map(|name| &**name), ports) {
        found.set(name, value);
    }
    found.set(variables::SECRET, secret::read(locked.dir(), spawn)?.unwrap_or_default());
    environment::offer(locked.dir(), spawn, &found)?;
    app.remember_environment(&task.project)
}

/// Removes what the worktree was given.
pub fn clear(app: &App, project: &Project, locked: &mut LockedWorkItem) -> Result<()> {
    let Some(prepared) = locked.history().worktree.prepared.clone() else { return Ok(()) };
    let workspace = prepared.wanted.workspace;
    given::take_all(&app.home, &project.path, &workspace)?;
    locked.append(Event::WorktreeCleared { workspace }, Set::new())
}

/// Runs a program in the worktree. It is not a person: `orange` takes what it asks for as an agent's wish.
fn run(
    app: &App,
    locked: &mut LockedWorkItem,
    program: &WorktreeProgram,
    name: &str,
    ports: Option<PortRange>,
) -> Result<()> {
    let argv = with_port(&program.argv, ports)?;
    let id = locked.dir().id.clone();
    // One that runs still was begun by a process that was killed.
    process::end(&[ProcessRoot::Gate(id.clone())])?;
    fault::step("run", argv.join(" "));
    app.progress.step(&argv.join(" "));
    let worktree = app.home.workspace(name);
    let number = locked.history().last_seq + 1;
    let place = ProgramPlace {
        app,
        dir: locked.dir(),
        task: locked.task(),
        folder: &worktree,
        kind: ProgramKind::Worktree,
        demand: wall::demand_on_programs(app, locked.dir(), locked.task(), locked.history())?,
    };
    let Some(run) = ProgramRun::of(&argv, program.timeout, place, number) else { return Ok(()) };
    let run = run.env(variables::GATE, &id).env(variables::TASK, &id).env(variables::ACTOR, "worker");
    let run = run.envs(&variables(Some(name), ports)).without(&app.denied(locked.task())?);
    let ProgramEnd { code, output, file, failure } = run.run(&|| true)?;
    let error = failure.as_ref().map(|failure| {
        let whole = file.as_ref().map(|file| format!(" (all of it: {file} in the task's folder)"));
        format!("{}{}", failure.message, whole.unwrap_or_default())
    });
    let shown = argv.join(" ");
    locked.append(Event::SetupEnded { argv, code, output, file, error: error.clone() }, Set::new())?;
    match error {
        None => Ok(()),
        Some(error) => {
            Err(Error::new(ErrorKind::Environment, format!("the worktree is not prepared: {error}")).help(
                format!("mend what `{shown}` needs, then `orange task spawn {id}`; no agent has begun"),
            ))
        }
    }
}

fn wanted(app: &App, project: &Project, settings: &Effective, name: &str) -> Result<Preparation> {
    let ports = ports::of_slot(&app.home, project, number(name))?;
    let argv = |program: &WorktreeProgram| with_port(&program.argv, ports);
    Ok(Preparation {
        workspace: name.to_owned(),
        copied: settings.copy.value.clone(),
        linked: settings.link.value.clone(),
        setup: settings.setup.value.iter().map(argv).collect::<Result<_>>()?,
    })
}

fn is_nothing(wanted: &Preparation) -> bool {
    wanted.copied.is_empty() && wanted.linked.is_empty() && wanted.setup.is_empty()
}

fn number(name: &str) -> u32 {
    pool::number_of(name)
}
