//! `orange task list`

use std::sync::OnceLock;

use orange_core::Machine;
use serde::Serialize;
use serde_json::{Value, json};

use super::doings;
use super::session::Session;
use crate::app::App;
use crate::cmd::answer::{Answer, one_line, table, written};
use crate::cmd::args::ListArgs;
use crate::cmd::project;
use crate::cmd::screen;
use crate::drive::tmux::Pane;
use crate::flow::activity::Agent;
use crate::flow::queue::Queue;
use crate::store::pool::Saved;
use crate::store::{Listed, Owned, Task, TaskDir, list, projects, suggest, task};
use crate::{Error, Kind, Result};

/// Lists tasks, unfinished ones unless `all` or a status is asked for. One that cannot be read is listed with its error.
/// Of the answer's two forms only the one that is going to be printed is made: there may be thousands of tasks.
pub fn run(app: &App, args: &ListArgs, as_json: bool) -> Result<Answer> {
    let ListArgs { status, project, all } = args;
    let (status, project, all) = (status.as_deref(), project.as_deref(), *all);
    if let Some(status) = status {
        check_status(app, status)?;
    }
    let project = project.map(|name| project::named_or_here(app, Some(name))).transpose()?;
    let project = project.as_ref().map(|project| project.name.as_str());
    let is_wanted =
        |owned: &Owned| status.map_or_else(|| all || !app.is_over(owned), |status| owned.status == status);
    let is_shown = |listed: &Listed| listed.task.as_ref().map_or(true, |task| is_wanted(&task.owned));
    let saved = Saved::read(&app.home);
    let mut known = list::journals(&app.home.tasks(), project)?;
    // What is wrong with projects or the pool is told by whoever needs them.
    let queue = saved.and_then(|saved| Queue::of(&app.home, saved, &known)).ok();
    let around = Around { app, panes: OnceLock::new(), queue };
    known.retain(|task| task.may_be(is_wanted));
    if as_json {
        let rows = list::each(known, |it| is_shown(&it).then(|| to_json(&it, &around)));
        let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
        return Ok(Answer::new(Value::Null, format!("[{}]", rows.join(","))));
    }
    let width = screen::width();
    let rows = list::each(known, |it| is_shown(&it).then(|| row(&it, &around, width)));
    if rows.is_empty() {
        return Ok(Answer::new(Value::Null, nothing(app, args)?));
    }
    let header = ["ID", "PROJECT", "BRANCH", "STATUS", "SESSION", "ROUND", "SUMMARY"];
    let table = table(header, &rows);
    let Some(width) = width else { return Ok(Answer::new(Value::Null, table)) };
    // The summary is the last column: what does not fit is cut from it.
    let lines: Vec<_> = table.lines().map(|line| screen::fit(line, width)).collect();
    Ok(Answer::new(Value::Null, lines.join("\n")))
}

/// What a list without tasks says: how to begin.
fn nothing(app: &App, args: &ListArgs) -> Result<&'static str> {
    let is_plain = args.status.is_none() && args.project.is_none() && !args.all;
    Ok(match () {
        () if projects::read(&app.home)?.is_empty() => NO_PROJECT,
        () if is_plain => NONE_UNDER_WAY,
        () => "no tasks; `orange task create` makes one",
    })
}

const NO_PROJECT: &str = "\
No project yet. To begin:
  orange project add ~/code/coffee                           a repository to work on
  orange setup                                               what your coding agents would ask, settled by consent
  orange task create add-login \"Implement the login form\"    a task, whose agent starts at once

`orange help` shows every command.";

const NONE_UNDER_WAY: &str = "\
No task is under way. `orange task create BRANCH \"SUMMARY\"` makes one and starts its agent; `orange task list --all` shows those that
are over, and `orange help` every command.";

/// What is known beside the tasks.
struct Around<'o> {
    app: &'o App,
    /// The panes of the tmux server, which is asked once, and only if some task should have a session.
    panes: OnceLock<Result<Vec<Pane>>>,
    /// What tasks wait for.
    queue: Option<Queue>,
}

impl Around<'_> {
    fn session_of(&self, dir: &TaskDir, task: &Task) -> Session {
        Session::of(dir, task, || self.all())
    }

    fn agents_of(&self, dir: &TaskDir, task: &Task) -> Vec<Agent> {
        doings::of(self.app, dir, task, || self.all().ok().map(<[Pane]>::to_vec))
    }

    /// What nobody has taken note of yet. A task that waits for its start has nothing of the kind, and its journal is not read:
    /// there may be thousands.
    fn unnoticed(&self, dir: &TaskDir, task: &Task, session: Session) -> Option<String> {
        let is_first = |machine: &Machine<'_>| {
            machine.state_named(task.status()).is_some_and(|state| state == machine.initial)
        };
        let waits = session == Session::Inactive && self.app.machine_of(&task.owned).is_ok_and(is_first);
        let history = (!waits).then(|| task::read_journal(dir).ok()).flatten()?.history();
        doings::unnoticed(dir, &history, session)
    }

    fn waits_for(&self, task: &Task) -> Option<String> {
        if task.owned.workspace.is_some() {
            return None;
        }
        self.queue.as_ref()?.waits_for(self.app, task)
    }

    fn all(&self) -> Result<&[Pane]> {
        self.panes.get_or_init(|| self.app.tmux.panes()).as_deref().map_err(Clone::clone)
    }
}

/// A task that can be read, for programs; the keys in the order of the alphabet.
#[derive(Serialize)]
struct Row<'a> {
    agents: Value,
    attention: Option<&'a str>,
    branch: &'a str,
    crash_count: u32,
    id: &'a str,
    project: &'a str,
    review_round: u32,
    session: &'a str,
    spent: Value,
    status: &'a str,
    summary: &'a str,
    tmux_session: Option<&'a str>,
    unnoticed: Option<String>,
    updated_at: &'a str,
    waiting_until: Option<&'a str>,
    waits_for: Option<String>,
    workflow: &'a str,
    workspace: Option<&'a str>,
    your_turn: Option<String>,
}

fn check_status(app: &App, status: &str) -> Result<()> {
    let machines = app.machines.usable()?;
    if machines.iter().any(|machine| machine.state_named(status).is_some()) {
        return Ok(());
    }
    let mut names: Vec<_> =
        machines.iter().flat_map(|machine| machine.states).map(|state| state.name).collect();
    names.sort_unstable();
    names.dedup();
    Err(Error::new(Kind::NotFound, format!("no workflow has a status `{status}`"))
        .help(suggest::help(status, &names, "statuses")))
}

/// On a terminal the last column has what is left of its width; else it is cut to what most terminals have.
fn row(listed: &Listed, around: &Around<'_>, width: Option<usize>) -> [String; 7] {
    match &listed.task {
        Ok(task) => {
            let agents = around.agents_of(&listed.dir, task);
            let session = around.session_of(&listed.dir, task);
            [
                task.id.clone(),
                task.project.clone(),
                one_line(&task.branch, branch_width(width)),
                task.status().to_owned(),
                // That a session is active says less than what the agent in it does.
                agents.first().map_or(session.as_str(), |agent| agent.assessment.state.as_str()).to_owned(),
                task.counter("review_round").to_string(),
                what_matters(
                    task,
                    agents.first(),
                    || around.unnoticed(&listed.dir, task, session),
                    || around.waits_for(task),
                    || doings::your_turn(around.app, task, session),
                    width,
                ),
            ]
        }
        Err(error) => {
            let [branch, session, round] = [(); 3].map(|()| "-".to_owned());
            let text = one_line(&format!("! {}", error.message), width.unwrap_or(90));
            [
                listed.dir.id.clone(),
                listed.dir.project.clone(),
                branch,
                "unreadable".into(),
                session,
                round,
                text,
            ]
        }
    }
}

/// What a person should know first of a task.
fn what_matters(
    task: &Task,
    agent: Option<&Agent>,
    unnoticed: impl FnOnce() -> Option<String>,
    waits_for: impl FnOnce() -> Option<String>,
    your_turn: impl FnOnce() -> Option<String>,
    width: Option<usize>,
) -> String {
    let stands = || {
        agent.filter(|agent| !agent.assessment.state.is_well()).map(|agent| agent.assessment.reason.clone())
    };
    let waits =
        || task.owned.waiting_until.as_ref().map(|until| format!("waits until {until}: {}", task.summary));
    let matters = match &task.attention {
        Some(attention) => Some(format!("! {attention}")),
        None => unnoticed()
            .map(|what| format!("? {what}"))
            .or_else(waits)
            .or_else(|| stands().map(|reason| format!("? {reason}")))
            .or_else(|| waits_for().map(|what| format!("{} ({what})", task.summary)))
            .or_else(|| your_turn().map(|command| format!("your turn, `{command}`: {}", task.summary))),
    };
    match matters {
        Some(text) => one_line(&text, width.unwrap_or(72)),
        None => one_line(&task.summary, width.unwrap_or(50)),
    }
}

/// On a narrow terminal the branch gives way, so that it is seen which tasks want attention.
fn branch_width(terminal: Option<usize>) -> usize {
    const OTHERS: usize = 68;
    terminal.map_or(30, |width| width.saturating_sub(OTHERS).clamp(12, 30))
}

fn to_json(listed: &Listed, around: &Around<'_>) -> Result<String> {
    let task = match &listed.task {
        Ok(task) => task,
        Err(error) => {
            return written(&json!({ "id": listed.dir.id, "project": listed.dir.project, "error": error }));
        }
    };
    let owned = &task.owned;
    let agents = around.agents_of(&listed.dir, task);
    let session = around.session_of(&listed.dir, task);
    let spent = if agents.is_empty() { Value::Null } else { doings::spent(around.app, &listed.dir, task) };
    written(&Row {
        agents: doings::to_json(&agents),
        attention: task.attention.as_deref(),
        branch: &task.branch,
        crash_count: task.counter("crash_count"),
        id: &task.id,
        project: &task.project,
        review_round: task.counter("review_round"),
        session: session.as_str(),
        spent,
        status: &owned.status,
        summary: &task.summary,
        tmux_session: owned.tmux_session.as_deref(),
        unnoticed: around.unnoticed(&listed.dir, task, session),
        updated_at: &task.updated_at,
        waiting_until: owned.waiting_until.as_deref(),
        waits_for: around.waits_for(task),
        workflow: &owned.workflow,
        workspace: owned.workspace.as_deref(),
        your_turn: doings::your_turn(around.app, task, session),
    })
}
