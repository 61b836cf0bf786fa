//! `orange task list`

use orange_core::Machine;

use crate::answer::{Agent, ListedTask, Spending, TaskRow};
use crate::app::App;
use crate::cmd::answer::{Answer, one_line, table, written};
use crate::cmd::args::ListArgs;
use crate::cmd::project;
use crate::cmd::screen;
use crate::flow::activity;
use crate::flow::queue::Queue;
use crate::flow::session::{self, Panes, Session};
use crate::store::pool::Saved;
use crate::store::{DirKind, Listed, Owned, Task, TaskDir, list, projects, suggest, task};
use crate::{Error, Kind, Result};

/// Lists tasks, unfinished ones unless `all` or a status is asked for. A task that cannot be read is listed with its error.
/// Only the form of the answer that is printed is built, since there may be thousands of tasks.
pub fn run(app: &App, args: &ListArgs, as_json: bool) -> Result<Answer> {
    let ListArgs { status, project, all } = args;
    let (status, project, all) = (status.as_deref(), project.as_deref(), *all);
    if let Some(status) = status {
        check_status(app, status)?;
    }
    let project = project.map(|name| project::named_or_here(app, Some(name))).transpose()?;
    let project = project.as_ref().map(|project| project.name.as_str());
    let is_wanted = |owned: &Owned| {
        status.map_or_else(|| all || !app.is_end(DirKind::Task, owned), |status| owned.status == status)
    };
    let is_shown = |listed: &Listed| listed.task.as_ref().map_or(true, |task| is_wanted(&task.owned));
    let saved = Saved::read(&app.home);
    let mut known = list::journals(&app.home, &DirKind::ALL, project)?;
    // Commands that need the projects or the pool report what is wrong with them.
    let queue = saved.and_then(|saved| Queue::of(&app.home, saved, &known)).ok();
    let around = Around { app, panes: Panes::of(app), queue };
    known.retain(|one| one.dir.kind == DirKind::Task && one.may_be(is_wanted));
    if as_json {
        let rows = list::each(known, |it| is_shown(&it).then(|| written(&around.listed(&it))));
        let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
        return Ok(Answer::text(format!("[{}]", rows.join(","))));
    }
    let width = screen::width();
    let rows = list::each(known, |it| is_shown(&it).then(|| row(&around.listed(&it), width)));
    if rows.is_empty() {
        return Ok(Answer::text(nothing(app, args)?));
    }
    let header = ["ID", "PROJECT", "BRANCH", "STATUS", "SESSION", "ROUND", "SUMMARY"];
    let table = table(header, &rows);
    let Some(width) = width else { return Ok(Answer::text(table)) };
    // The summary is the last column and is cut to the width that is left.
    let lines: Vec<_> = table.lines().map(|line| screen::fit(line, width)).collect();
    Ok(Answer::text(lines.join("\n")))
}

/// The text of a list without tasks: how to begin.
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
  orange setup                                               answers what your coding agents would ask, if you agree
  orange task create add-login \"Implement the login form\"    a task, whose agent starts at once

`orange help` shows every command.";

const NONE_UNDER_WAY: &str = "\
No task is under way. `orange task create BRANCH \"SUMMARY\"` makes one and starts its agent; `orange task list --all` shows those that
are over, and `orange help` every command.";

/// Facts for the list that are not in a task.
struct Around<'o> {
    app: &'o App,
    panes: Panes<'o>,
    /// The reason for which each task waits.
    queue: Option<Queue>,
}

impl Around<'_> {
    fn listed<'l>(&self, listed: &'l Listed) -> ListedTask<'l> {
        let Listed { dir, task } = listed;
        match task {
            Ok(task) => ListedTask::Readable(Box::new(self.row(dir, task))),
            Err(error) => ListedTask::Unreadable { id: &dir.id, project: &dir.project, error },
        }
    }

    fn row<'l>(&self, dir: &TaskDir, task: &'l Task) -> TaskRow<'l> {
        let owned = &task.owned;
        let (agents, spent) = self.agents_of(dir, task);
        let session = Session::of(dir, task, || self.panes.all());
        TaskRow {
            id: &task.id,
            project: &task.project,
            branch: &task.branch,
            status: &owned.status,
            workflow: &owned.workflow,
            review_round: task.counter("review_round"),
            crash_count: task.counter("crash_count"),
            summary: &task.summary,
            workspace: owned.workspace.as_deref(),
            tmux_session: owned.tmux_session.as_deref(),
            session: session.as_str(),
            agents,
            spent,
            attention: task.attention.as_deref(),
            unnoticed: self.unnoticed(dir, task, session),
            your_turn: session::your_turn(self.app, task, session),
            waits_for: self.waits_for(task),
            waiting_until: owned.waiting_until.as_deref(),
            updated_at: &task.updated_at,
        }
    }

    fn agents_of(&self, dir: &TaskDir, task: &Task) -> (Vec<Agent>, Option<Spending>) {
        activity::overview(self.app, dir, task, || self.panes.all().ok().map(<[_]>::to_vec))
    }

    /// What has happened and is not recorded yet. A task that waits for its start has no agent and no transition, so its
    /// journal is not read: there may be thousands.
    fn unnoticed(&self, dir: &TaskDir, task: &Task, session: Session) -> Option<String> {
        let is_first = |machine: &Machine<'_>| {
            machine.state_named(task.status()).is_some_and(|state| state == machine.initial)
        };
        let waits = session == Session::Inactive && self.app.machine_of(&task.owned).is_ok_and(is_first);
        let history = (!waits).then(|| task::read_journal(dir).ok()).flatten()?.history();
        session::unnoticed(dir, &history, session)
    }

    fn waits_for(&self, task: &Task) -> Option<String> {
        if task.owned.workspace.is_some() {
            return None;
        }
        self.queue.as_ref()?.waits_for(self.app, task)
    }
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

/// On a terminal the last column takes the width that is left; elsewhere it is cut to the width of most terminals.
fn row(listed: &ListedTask<'_>, width: Option<usize>) -> [String; 7] {
    match listed {
        ListedTask::Readable(task) => [
            task.id.to_owned(),
            task.project.to_owned(),
            one_line(task.branch, branch_width(width)),
            task.status.to_owned(),
            // The state of the agent says more than `active` does.
            task.agents.first().map_or(task.session, |agent| agent.assessment.state.as_str()).to_owned(),
            task.review_round.to_string(),
            what_matters(task, width),
        ],
        ListedTask::Unreadable { id, project, error } => {
            let text = one_line(&format!("! {}", error.message), width.unwrap_or(90));
            [*id, project, "-", "unreadable", "-", "-", &text].map(str::to_owned)
        }
    }
}

/// The most important fact about a task for a person.
fn what_matters(task: &TaskRow<'_>, width: Option<usize>) -> String {
    let TaskRow { summary, attention, unnoticed, waiting_until, waits_for, your_turn, .. } = task;
    let waits = || waiting_until.map(|until| format!("waits until {until}: {summary}"));
    let stands = || {
        let agent = task.agents.first().filter(|agent| !agent.assessment.state.is_well())?;
        Some(format!("? {}", agent.assessment.reason))
    };
    let matters = (attention.map(|attention| format!("! {attention}")))
        .or_else(|| unnoticed.as_ref().map(|what| format!("? {what}")))
        .or_else(waits)
        .or_else(stands)
        .or_else(|| waits_for.as_ref().map(|what| format!("{summary} ({what})")))
        .or_else(|| your_turn.as_ref().map(|command| format!("your turn, `{command}`: {summary}")));
    match matters {
        Some(text) => one_line(&text, width.unwrap_or(72)),
        None => one_line(summary, width.unwrap_or(50)),
    }
}

/// On a narrow terminal the branch is shortened, so that the tasks that want attention stay visible.
fn branch_width(terminal: Option<usize>) -> usize {
    const OTHERS: usize = 68;
    terminal.map_or(30, |width| width.saturating_sub(OTHERS).clamp(12, 30))
}
