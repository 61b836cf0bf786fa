//! Commands about several tasks: one after the other, each with its own outcome.

use serde::Serialize;
use std::borrow::Cow;

use super::{named_or_here, repaired};
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, written};
use crate::cmd::args::{TaskFilter, TaskName, TaskNames};
use crate::flow::need;
use crate::flow::observed::Observed;
use crate::flow::queue::StartQueue;
use crate::flow::session::Panes;
use crate::store::{Owned, WorkItemDir, WorkItemKind, list};
use crate::{Error, ErrorKind, Result};
use orange_api::FailedTask;

/// Runs a command that changes tasks, as `changing` does for one.
pub fn changing<T: Serialize>(
    app: &App,
    names: &TaskNames,
    run: impl Fn(&WorkItemDir) -> Result<(T, String)>,
) -> Result<CommandAnswer> {
    each(app, names, |dir| repaired::telling(dir, || run(dir)))
}

/// Runs a command for each of these tasks. One task has its own answer; several, or those that a filter selects, have a list of
/// answers, and the exit status is that of the first that has failed.
pub fn each(
    app: &App,
    names: &TaskNames,
    run: impl Fn(&WorkItemDir) -> Result<CommandAnswer>,
) -> Result<CommandAnswer> {
    let found = match (&names.names[..], &names.filter) {
        ([], None) => return run(&named_or_here(app, &TaskName { name: None })?),
        ([one], None) => return run(&named(app, one)?),
        (_, Some(filter)) => selected(app, filter)?,
        (several, None) => several.iter().map(|name| (name.clone(), named(app, name))).collect(),
    };
    let mut done: Vec<String> = Vec::new();
    let mut outcomes = Vec::new();
    for (name, dir) in found {
        let id = dir.as_ref().map_or(name, |dir| dir.id.clone());
        if done.contains(&id) {
            continue;
        }
        outcomes.push((id.clone(), dir.and_then(|dir| run(&dir))));
        done.push(id);
    }
    together(&outcomes)
}

fn named(app: &App, name: &str) -> Result<WorkItemDir> {
    named_or_here(app, &TaskName { name: Some(name.to_owned()) })
}

/// The tasks that have the values of a filter, oldest first. Finished ones are meant where a status is named.
fn selected(app: &App, filter: &TaskFilter) -> Result<Vec<(String, Result<WorkItemDir>)>> {
    let is_meant = |owned: &Owned| {
        TaskFilter::has(&filter.status, &owned.status)
            && TaskFilter::has(&filter.workflow, &owned.workflow)
            && (!filter.status.is_empty() || !app.is_end(WorkItemKind::Task, owned))
    };
    let mut known = list::journals(&app.home, &[WorkItemKind::Task], None, &|_, owned| is_meant(owned))?;
    known.retain(|one| TaskFilter::has(&filter.project, &one.dir.project) && one.may_be(is_meant));
    let mut found = Vec::new();
    for list::WorkItemEntry { dir, task } in list::each(known, Some) {
        let Ok(task) = task else { continue };
        if is_meant(&task.owned)
            && (filter.need.is_empty() || TaskFilter::has(&filter.need, need_of(app, &dir)?))
        {
            found.push((dir.id.clone(), Ok(dir)));
        }
    }
    Ok(found)
}

/// The kind of what a task needs; empty if that is unknown.
fn need_of(app: &App, dir: &WorkItemDir) -> Result<&'static str> {
    let observed = Observed::read(app, dir, &Panes::of(app))?;
    let queue = StartQueue::about(app, &observed.task);
    let need = need::here(app, dir, &observed, queue.as_ref());
    Ok(need.map_or("", |need| need.kind.as_str()))
}

fn together(outcomes: &[(String, Result<CommandAnswer>)]) -> Result<CommandAnswer> {
    let (mut rows, mut lines, mut wrong) = (Vec::new(), Vec::new(), None);
    for (id, outcome) in outcomes {
        match outcome {
            Ok(answer) => {
                rows.push(answer.json.clone().unwrap_or_default());
                lines.push(format!("{id}  {}", answer.text.replace('\n', "\n  ")));
                wrong = wrong.or(answer.wrong);
            }
            Err(error) => {
                rows.push(written(&FailedTask { id: id.into(), error: Cow::Borrowed(error) })?);
                lines.push(format!("{id}  error: {}", error.to_string().replace('\n', "\n  ")));
                wrong = wrong.or(Some(error.kind));
            }
        }
    }
    if outcomes.is_empty() {
        lines.push("no task has these values".to_owned());
    }
    let answer = CommandAnswer {
        json: Some(format!("[{}]", rows.join(","))),
        text: lines.join("\n"),
        ..CommandAnswer::default()
    };
    Ok(wrong.into_iter().fold(answer, CommandAnswer::wrong))
}

/// Refuses more than one task for a change that only one can have.
pub fn check_one(names: &TaskNames, what: &str) -> Result<()> {
    if names.names.len() < 2 && names.filter.is_none() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, format!("{what} is for one task"))
        .help("name one task; of several, only the status can be changed together"))
}
