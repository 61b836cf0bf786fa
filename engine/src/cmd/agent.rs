//! `orange agent`: the wrapper that tmux runs around a harness, and the commands that take its reports.

use std::io;

use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{AgentCommand, EndedArgs, InsideArgs, SpawnName};
use crate::cmd::relayed;
use crate::doctor;
use crate::flow::{ended, inside, mission, run, serve, waiting};
use crate::store::event::Exited;
use crate::store::{WorkItemDir, WorkItemKind, environment, find};
use crate::{Error, Result, caller};

pub fn run(app: &App, command: &AgentCommand) -> Result<CommandAnswer> {
    match command {
        AgentCommand::Run(SpawnName { task, spawn }) => {
            app.caller.check_not_agent("`orange agent run`")?;
            let dir = find::by_id(&app.home, task)?;
            match environment::take(&dir, *spawn)? {
                Some(environment) => Err(run::begin(app, environment)),
                // It has begun, and its environment has the agent's secret.
                None => run::run(app, &dir_of(app, task, *spawn)?, *spawn).map(|_| CommandAnswer::default()),
            }
        }
        AgentCommand::Serve(SpawnName { task, spawn }) => {
            answer_requests(app, &dir_of(app, task, *spawn)?, *spawn)
        }
        AgentCommand::Hold => hold(),
        AgentCommand::Detach { words } => app.leave_running(words).map(|()| CommandAnswer::default()),
        AgentCommand::Record { file } => {
            run::record(&mut io::stdin().lock(), file).map(|()| CommandAnswer::default())
        }
        AgentCommand::Ended(EndedArgs {
            of: SpawnName { task, spawn },
            code,
            signal,
            reason,
            duration,
            last_lines,
        }) => {
            let end = Exited {
                code: *code,
                signal: *signal,
                duration: *duration,
                last_lines: last_lines.lines().map(str::to_owned).collect(),
                ..Exited::of(*spawn, reason.as_str())
            };
            let dir = dir_of(app, task, *spawn)?;
            let story = match dir.kind {
                WorkItemKind::Task => ended(app, &dir, &end)?,
                WorkItemKind::Mission => mission::ended::ended(app, &dir, &end)?,
            };
            Ok(CommandAnswer::text(format!("{} {task}, agent {spawn}: {story}", dir.kind.word())))
        }
        AgentCommand::Resume(SpawnName { task, spawn }) => {
            let dir = dir_of(app, task, *spawn)?;
            let story = match dir.kind {
                _ if !waiting::until_due(&dir, *spawn)? => None,
                WorkItemKind::Task => waiting::overdue(app, &dir)?,
                WorkItemKind::Mission => {
                    mission::advance::advance(app, &dir)?;
                    None
                }
            };
            Ok(answer(&dir, story))
        }
        AgentCommand::Limited(SpawnName { task, spawn }) => {
            let dir = dir_of(app, task, *spawn)?;
            let story = match dir.kind {
                WorkItemKind::Task => waiting::limit_met(app, &dir, *spawn)?,
                WorkItemKind::Mission => mission::limit::met(app, &dir, *spawn)?,
            };
            Ok(answer(&dir, story))
        }
        AgentCommand::Attack { targets } => doctor::wall::attack(targets).map(CommandAnswer::text),
        AgentCommand::Event { .. } | AgentCommand::Inside(_) => Ok(CommandAnswer::default()),
    }
}

/// Leads to the proxy and becomes the harness, in a wall, where there is no store. Returns only on failure.
pub fn inside(args: &InsideArgs) -> Error {
    if args.bridge {
        return inside::bridge(&args.proxy, ready);
    }
    inside::become_harness(&args.proxy, &args.words)
}

/// One byte tells the process that started this one that it is ready.
fn ready() -> io::Result<()> {
    rustix::io::write(rustix::stdio::stdout(), b"\n").map(drop).map_err(io::Error::from)
}

/// Answer that says what was done, if anything was.
fn answer(dir: &WorkItemDir, story: Option<String>) -> CommandAnswer {
    let text = |story| CommandAnswer::text(format!("{} {}: {story}", dir.kind.word(), dir.id));
    story.map_or_else(CommandAnswer::default, text)
}

/// The task of an agent, for a caller with that agent's secret.
fn dir_of(app: &App, task: &str, spawn: u32) -> Result<WorkItemDir> {
    let dir = find::by_id(&app.home, task)?;
    caller::check_shown(&dir, spawn, caller::shown().as_deref())?;
    Ok(dir)
}

/// Answers the requests of an agent. One byte tells the wrapper that it is ready.
fn answer_requests(app: &App, dir: &WorkItemDir, spawn: u32) -> Result<CommandAnswer> {
    serve::serve(app, dir, spawn, relayed::check, ready).map(|()| CommandAnswer::default())
}

/// Waits for the end of standard input.
fn hold() -> Result<CommandAnswer> {
    io::copy(&mut io::stdin(), &mut io::sink())
        .map_err(|cause| Error::new(crate::ErrorKind::Environment, format!("cannot wait: {cause}")))?;
    Ok(CommandAnswer::default())
}
