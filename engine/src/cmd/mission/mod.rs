//! `orange mission`: runs of step workflows.

mod attach;
mod list;
mod logs;
pub mod show;
mod start;
mod watch;

use crate::app::App;
use crate::cmd;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{ContinueArgs, MissionCommand, MissionName};
use crate::cmd::stdin;
use crate::cmd::task::cancel::confirm;
use crate::cmd::task::watch::Out;
use crate::cmd::task::{delete, restore};
use crate::flow::mission::answer_ask::{self, AskAnswer};
use crate::flow::mission::{Projection, advance, answer, run_program};
use crate::flow::observed::Observed;
use crate::flow::session::Panes;
use crate::store::{WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, find};
use crate::{Error, ErrorKind, Result};
use orange_api::{ChangedMission, Success};

/// Runs a command. `tell` prints a message before the command ends, and returns whether the output is still open.
pub fn run(
    app: &App,
    command: &MissionCommand,
    as_json: bool,
    tell: &dyn Fn(&CommandAnswer) -> Result<bool>,
) -> Result<CommandAnswer> {
    match command {
        MissionCommand::Start(args) => start::run(app, args),
        MissionCommand::List(args) => list::run(app, args),
        MissionCommand::Show(name) => show::run(app, &named_or_here(app, name)?),
        MissionCommand::Watch { name, verbose } => {
            watch::run(app, &MissionName { name: name.clone() }, Out { is_verbose: *verbose, tell })
        }
        MissionCommand::Attach(name) => {
            let dir = named_or_here(app, name)?;
            let commands = |_: &WorkItem, history: &WorkItemHistory| attach::commands(&dir, history);
            cmd::attach::run(app, &dir, None, as_json, tell, &commands)
        }
        MissionCommand::Logs { mission, step } => {
            logs::run(app, &named_or_here(app, mission)?, step.as_deref(), as_json, tell)
        }
        MissionCommand::Pane { mission, pane } => {
            cmd::pane::run(app, &named_or_here(app, mission)?, pane, as_json, tell)
        }
        MissionCommand::Continue(args) => go_on(app, args),
        MissionCommand::Answer(args) => {
            let (mission, step, word) = args.parts();
            let dir = named_or_here(app, &MissionName { name: mission.map(str::to_owned) })?;
            let comment = args.comment.as_deref().map(|it| stdin::or_text(it, "the comment")).transpose()?;
            let (comment, commit) = (comment.as_deref().unwrap_or_default(), args.commit.as_deref());
            let answer = AskAnswer { step, word, comment, commit, attempt: None };
            let done = answer_ask::answer(app, &dir, &answer)?;
            changed(app, &dir, &done, Vec::new())
        }
        MissionCommand::Retry { mission, step } => {
            let dir = named_or_here(app, mission)?;
            answer::retry(app, &dir, step.as_deref())?;
            changed(app, &dir, "it runs again", Vec::new())
        }
        MissionCommand::Cancel { mission, yes } => {
            let dir = named_or_here(app, mission)?;
            if !yes {
                confirm(app, &dir, "Cancel", &WorkItem::read_last(&app.home, &dir, 0)?.0, as_json)?;
            }
            let backed_up = answer::cancel(app, &dir)?;
            changed(app, &dir, "it is cancelled", backed_up)
        }
        MissionCommand::Delete { mission, yes, dry_run } => {
            delete::run(app, &named_or_here(app, mission)?, *yes, *dry_run, as_json)
        }
        MissionCommand::Restore { mission, backup, dry_run } => {
            let found = named_or_here(app, mission);
            restore::run(app, WorkItemKind::Mission, mission.name.as_deref(), found, *backup, *dry_run)
        }
        MissionCommand::RunProgram { id } => {
            run_program::run(app, &find::by_id(&app.home, id)?).map(|()| CommandAnswer::default())
        }
        MissionCommand::Advance { id } => {
            advance::advance(app, &find::by_id(&app.home, id)?).map(|()| CommandAnswer::default())
        }
    }
}

fn go_on(app: &App, args: &ContinueArgs) -> Result<CommandAnswer> {
    let dir = named_or_here(app, &args.mission)?;
    let wishes = answer::PauseDecision {
        pause: args.pause,
        accept_failure: args.accept_failure,
        execution: args.policy.execution,
        intervene: args.policy.intervene,
        is_from_phone: false,
    };
    let done = answer::go_on(app, &dir, wishes).map_err(|error| with_unnoticed(app, &dir, error))?;
    changed(app, &dir, &format!("pause {} is answered: {}", done.pause, done.what), Vec::new())
}

/// Adds the end of an agent that nobody has taken note of: until then, the mission does not go on.
fn with_unnoticed(app: &App, dir: &WorkItemDir, error: Error) -> Error {
    let Ok(observed) = Observed::read(app, dir, &Panes::of(app)) else { return error };
    match observed.unnoticed(dir) {
        Some(what) => error.help(what),
        None => error,
    }
}

/// The answer of a command that has changed a mission: how it stands now, and the backups that the command has made.
fn changed(app: &App, dir: &WorkItemDir, done: &str, backed_up: Vec<String>) -> Result<CommandAnswer> {
    let (task, journal) = WorkItem::read_last(&app.home, dir, 0)?;
    // A mission whose plan is damaged can be cancelled, too.
    let projection = Projection::of(dir, &journal.history()).ok();
    let pauses = projection.as_ref().map(|projection| projection.pauses(&dir.id)).unwrap_or_default();
    let step = projection.as_ref().and_then(|projection| Some(projection.name(projection.current()?)));
    let mut lines = vec![format!("{}  {}  {}  {}", task.id, task.branch, task.owned.workflow, task.status())];
    lines.push(done.to_owned());
    lines.extend(backed_up.iter().map(|kept| format!("work is kept in {kept}")));
    lines.extend(step.iter().filter(|_| pauses.is_empty()).map(|step| format!("step {step}")));
    lines.extend(pauses.iter().flat_map(show::pause_lines));
    lines.extend(task.attention.iter().map(|attention| format!("attention: {attention}")));
    let answer = ChangedMission {
        success: Success,
        id: task.id,
        project: task.project,
        branch: task.branch,
        status: task.owned.status,
        workflow: task.owned.workflow,
        step,
        pause: pauses.first().cloned(),
        pauses,
        attention: task.attention,
        done: done.to_owned(),
        backed_up,
    };
    CommandAnswer::of(&answer, lines.join("\n"))
}

/// The named mission, or the mission of the current worktree, or the mission of the agent that asks.
pub fn named_or_here(app: &App, mission: &MissionName) -> Result<WorkItemDir> {
    if let Some(name) = &mission.name {
        return find::named(&app.home, WorkItemKind::Mission, name, None, &|kind, owned| {
            app.is_end(kind, owned)
        });
    }
    let here = find::at(&app.home, &app.folder)?.filter(|dir| dir.kind == WorkItemKind::Mission);
    if let Some(dir) = here {
        return Ok(dir);
    }
    let own = app.caller.task().map(|id| find::by_id(&app.home, id)).transpose()?;
    own.filter(|dir| dir.kind == WorkItemKind::Mission).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "which mission? This folder is not a mission's worktree")
            .help("name it by id or branch, or go into its worktree; `orange mission list` shows them")
    })
}
