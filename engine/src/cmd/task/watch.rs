//! `orange task watch`: what happens to tasks, as it happens.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::named_or_here;
use super::show::event_words;
use crate::cmd::answer::{Answer, error_json};
use crate::cmd::args::TaskName;
use crate::orange::Orange;
use crate::store::{Follow, Record, TaskDir, list, task};
use crate::{Error, Kind, Result};

/// How long an event may go unnoticed.
const POLL: Duration = Duration::from_millis(200);

/// Tells each event of one task until that is over, or of all tasks until it is interrupted or nobody reads any more.
pub fn run(orange: &Orange, task: &TaskName, tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<Answer> {
    match &task.name {
        Some(_) => one(orange, &named_or_here(orange, task)?, tell)?,
        None => all(orange, tell)?,
    }
    Ok(Answer::new(Value::Null, ""))
}

fn one(orange: &Orange, dir: &TaskDir, tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<()> {
    let mut follow = Follow::from_now(dir.clone())?;
    while is_under_way(orange, dir)? {
        let Some(records) = follow.more()? else { return Ok(()) };
        if !tell_each(dir, &records, tell)? {
            return Ok(());
        }
        if records.is_empty() {
            std::thread::sleep(POLL);
        }
    }
    // What came with the end of the task.
    tell_each(dir, &follow.more()?.unwrap_or_default(), tell).map(drop)
}

/// Tasks that come to be meanwhile are followed from their first event on. One that cannot be read stops no other.
fn all(orange: &Orange, tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<()> {
    let mut follows: BTreeMap<String, Follow> = BTreeMap::new();
    for dir in list::dirs(&orange.home, None)? {
        follows.insert(
            dir.id.clone(),
            Follow::from_now(dir.clone()).unwrap_or_else(|_| Follow::from_start(dir)),
        );
    }
    loop {
        for dir in list::dirs(&orange.home, None)? {
            let follow = follows.entry(dir.id.clone()).or_insert_with(|| Follow::from_start(dir.clone()));
            let is_heard = match follow.more() {
                Ok(records) => tell_each(&dir, &records.unwrap_or_default(), tell)?,
                Err(error) => tell(&broken(&dir, &error))?,
            };
            if !is_heard {
                return Ok(());
            }
        }
        std::thread::sleep(POLL);
    }
}

fn is_under_way(orange: &Orange, dir: &TaskDir) -> Result<bool> {
    match task::read_journal(dir).map(|journal| journal.log()) {
        Ok(log) => Ok(log.open.is_some() || !orange.is_over(&log.owned)),
        Err(error) if error.kind == Kind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether somebody still listens.
fn tell_each(dir: &TaskDir, records: &[Record], tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<bool> {
    for record in records {
        let mut json = record.to_json();
        json["task"] = dir.id.as_str().into();
        let text = format!("{} {} {}", record.timestamp, dir.id, event_words(record));
        if !tell(&Answer::new(json, text))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn broken(dir: &TaskDir, error: &Error) -> Answer {
    let json = json!({ "task": dir.id, "error": error_json(error) });
    Answer::new(json, format!("{}: error: {}", dir.id, error.one_line()))
}
