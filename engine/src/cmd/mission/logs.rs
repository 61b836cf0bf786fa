//! `orange mission logs`

use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{LogsArgs, TaskName};
use crate::cmd::task::logs;
use crate::store::event::Spawn;
use crate::store::{Event, WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};

/// Shows the transcript of the last agent, or of the last one of a step or of an item, such as `panel.2`.
pub fn run(
    app: &App,
    dir: &WorkItemDir,
    step: Option<&str>,
    as_json: bool,
    tell: &dyn Fn(&CommandAnswer) -> Result<bool>,
) -> Result<CommandAnswer> {
    let spawn = step.map(|step| last_of(app, dir, step)).transpose()?;
    let args = LogsArgs { task: TaskName { name: None }, spawn, follow: false, raw: false };
    logs::run(app, dir, &args, as_json, tell)
}

fn last_of(app: &App, dir: &WorkItemDir, step: &str) -> Result<u32> {
    let (_, journal) = WorkItem::read(&app.home, dir)?;
    let last = |is_it: &dyn Fn(&Spawn) -> bool| {
        journal.records.iter().rev().find_map(|record| {
            let Event::AgentSpawned(spawn) = &record.event else { return None };
            is_it(spawn).then_some(spawn.spawn)
        })
    };
    let of_step = last(&|spawn| spawn.step.as_deref() == Some(step));
    of_step.or_else(|| last(&|spawn| spawn.name.as_deref() == Some(step))).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("no agent has worked at a step `{step}`"))
            .help(format!("`orange mission show {}` shows its steps", dir.id))
    })
}
