//! `orange task list`

use std::sync::OnceLock;

use serde::Serialize;
use serde_json::{Value, json};

use super::session::Session;
use crate::cmd::answer::{Answer, error_json, one_line, table, written};
use crate::cmd::project;
use crate::cmd::screen;
use crate::drive::tmux::Pane;
use crate::orange::Orange;
use crate::store::{Listed, Task, TaskDir, list, suggest};
use crate::{Error, Kind, Result};

/// Lists tasks, unfinished ones unless `all` or a status is asked for. One that cannot be read is listed with its error.
/// Of the answer's two forms only the one that is going to be printed is made: there may be thousands of tasks.
pub fn run(
    orange: &Orange,
    status: Option<&str>,
    project: Option<&str>,
    all: bool,
    as_json: bool,
) -> Result<Answer> {
    if let Some(status) = status {
        check_status(orange, status)?;
    }
    let project = project.map(|name| project::named_or_here(orange, Some(name))).transpose()?;
    let project = project.as_ref().map(|project| project.name.as_str());
    let is_wanted = |task: &Task| {
        status.map_or_else(|| all || !orange.is_over(&task.owned), |status| task.status() == status)
    };
    let is_shown = |listed: &Listed| listed.task.as_ref().map_or(true, is_wanted);
    let panes = Panes { orange, known: OnceLock::new() };
    let tasks = orange.home.tasks();
    if as_json {
        let rows = list::each(&tasks, project, |it| is_shown(&it).then(|| to_json(&it, &panes)))?;
        let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
        return Ok(Answer::new(Value::Null, format!("[{}]", rows.join(","))));
    }
    let width = screen::width();
    let rows = list::each(&tasks, project, |it| is_shown(&it).then(|| row(&it, &panes, width)))?;
    if rows.is_empty() {
        return Ok(Answer::new(Value::Null, "no tasks; `orange task create` makes one"));
    }
    let header = ["ID", "PROJECT", "BRANCH", "STATUS", "SESSION", "ROUND", "SUMMARY"];
    let table = table(header, &rows);
    let Some(width) = width else { return Ok(Answer::new(Value::Null, table)) };
    // The summary is the last column: what does not fit is cut from it.
    let lines: Vec<_> = table.lines().map(|line| screen::fit(line, width)).collect();
    Ok(Answer::new(Value::Null, lines.join("\n")))
}

/// The panes of the tmux server, which is asked once, and only if some task should have a session.
struct Panes<'o> {
    orange: &'o Orange,
    known: OnceLock<Result<Vec<Pane>>>,
}

impl Panes<'_> {
    fn session_of(&self, dir: &TaskDir, task: &Task) -> &'static str {
        let panes = || self.known.get_or_init(|| self.orange.tmux.panes()).as_deref().map_err(Clone::clone);
        Session::of(dir, task, panes).as_str()
    }
}

/// A task that can be read, for programs; the keys in the order of the alphabet.
#[derive(Serialize)]
struct Row<'a> {
    attention: Option<&'a str>,
    branch: &'a str,
    crash_count: u32,
    id: &'a str,
    project: &'a str,
    review_round: u32,
    session: &'a str,
    status: &'a str,
    summary: &'a str,
    tmux_session: Option<&'a str>,
    updated_at: &'a str,
    waiting_until: Option<&'a str>,
    workflow: &'a str,
    workspace: Option<&'a str>,
}

fn check_status(orange: &Orange, status: &str) -> Result<()> {
    let machines = orange.machines.usable()?;
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
fn row(listed: &Listed, panes: &Panes<'_>, width: Option<usize>) -> [String; 7] {
    match &listed.task {
        Ok(task) => [
            task.id.clone(),
            task.project.clone(),
            one_line(&task.branch, branch_width(width)),
            task.status().to_owned(),
            panes.session_of(&listed.dir, task).to_owned(),
            task.counter("review_round").to_string(),
            match (&task.attention, &task.owned.waiting_until) {
                (Some(attention), _) => format!("! {}", one_line(attention, width.unwrap_or(70))),
                (None, Some(until)) => {
                    one_line(&format!("waits until {until}: {}", task.summary), width.unwrap_or(70))
                }
                (None, None) => one_line(&task.summary, width.unwrap_or(50)),
            },
        ],
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

/// On a narrow terminal the branch gives way, so that it is seen which tasks want attention.
fn branch_width(terminal: Option<usize>) -> usize {
    const OTHERS: usize = 68;
    terminal.map_or(30, |width| width.saturating_sub(OTHERS).clamp(12, 30))
}

fn to_json(listed: &Listed, panes: &Panes<'_>) -> Result<String> {
    let task = match &listed.task {
        Ok(task) => task,
        Err(error) => {
            let error = error_json(error);
            return written(&json!({ "id": listed.dir.id, "project": listed.dir.project, "error": error }));
        }
    };
    let owned = &task.owned;
    written(&Row {
        attention: task.attention.as_deref(),
        branch: &task.branch,
        crash_count: task.counter("crash_count"),
        id: &task.id,
        project: &task.project,
        review_round: task.counter("review_round"),
        session: panes.session_of(&listed.dir, task),
        status: &owned.status,
        summary: &task.summary,
        tmux_session: owned.tmux_session.as_deref(),
        updated_at: &task.updated_at,
        waiting_until: owned.waiting_until.as_deref(),
        workflow: &owned.workflow,
        workspace: owned.workspace.as_deref(),
    })
}
