//! `orange task list`

use serde_json::{Value, json};

use super::session_of;
use crate::cmd::answer::{Answer, one_line, table};
use crate::cmd::project;
use crate::cmd::screen;
use crate::drive::tmux::Pane;
use crate::orange::Orange;
use crate::store::{self, Listed, Task, TaskDir, suggest};
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
    let listed = store::list(&orange.home, project.as_ref().map(|project| project.name.as_str()))?;
    let wanted = |listed: &&Listed| match &listed.task {
        Ok(task) => {
            status.map_or_else(|| all || !orange.is_over(&task.owned), |status| task.status() == status)
        }
        Err(_) => true,
    };
    let listed: Vec<&Listed> = listed.iter().filter(wanted).collect();
    let panes = panes(orange, &listed);
    if as_json {
        return Ok(Answer::new(listed.iter().map(|listed| to_json(listed, &panes)).collect(), ""));
    }
    if listed.is_empty() {
        return Ok(Answer::new(Value::Null, "no tasks; `orange task create` makes one"));
    }
    let width = screen::width();
    let rows: Vec<_> = listed.iter().map(|listed| row(listed, &panes, width)).collect();
    let header = ["ID", "PROJECT", "BRANCH", "STATUS", "SESSION", "ROUND", "SUMMARY"];
    let table = table(header, &rows);
    let Some(width) = width else { return Ok(Answer::new(Value::Null, table)) };
    // The summary is the last column: what does not fit is cut from it.
    let lines: Vec<_> = table.lines().map(|line| screen::fit(line, width)).collect();
    Ok(Answer::new(Value::Null, lines.join("\n")))
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

/// tmux is asked once, and only if some task should have a session.
fn panes(orange: &Orange, listed: &[&Listed]) -> std::result::Result<Vec<Pane>, Error> {
    let has_session =
        |listed: &&Listed| listed.task.as_ref().is_ok_and(|task| task.owned.tmux_session.is_some());
    if listed.iter().any(has_session) { orange.tmux.panes() } else { Ok(Vec::new()) }
}

fn session(dir: &TaskDir, task: &Task, panes: &std::result::Result<Vec<Pane>, Error>) -> &'static str {
    match panes {
        Ok(panes) => session_of(dir, task, panes),
        Err(_) => "unknown",
    }
}

/// On a terminal the last column has what is left of its width; else it is cut to what most terminals have.
fn row(listed: &Listed, panes: &std::result::Result<Vec<Pane>, Error>, width: Option<usize>) -> [String; 7] {
    match &listed.task {
        Ok(task) => [
            task.id.clone(),
            task.project.clone(),
            one_line(&task.branch, branch_width(width)),
            task.status().to_owned(),
            session(&listed.dir, task, panes).to_owned(),
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

fn to_json(listed: &Listed, panes: &std::result::Result<Vec<Pane>, Error>) -> Value {
    match &listed.task {
        Ok(task) => json!({
            "id": task.id,
            "project": task.project,
            "branch": task.branch,
            "status": task.status(),
            "workflow": task.owned.workflow,
            "review_round": task.counter("review_round"),
            "crash_count": task.counter("crash_count"),
            "summary": task.summary,
            "workspace": task.owned.workspace,
            "tmux_session": task.owned.tmux_session,
            "session": session(&listed.dir, task, panes),
            "waiting_until": task.owned.waiting_until,
            "attention": task.attention,
            "updated_at": task.updated_at,
        }),
        Err(error) => json!({
            "id": listed.dir.id,
            "project": listed.dir.project,
            "error": { "code": error.kind.code(), "message": error.message, "help": error.help },
        }),
    }
}
