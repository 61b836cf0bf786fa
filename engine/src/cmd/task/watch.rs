//! `orange task watch`: what happens to tasks, as it happens.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::doings;
use super::named_or_here;
use super::show::event_words;
use crate::answer::{Agent, Assessment, Watched};
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::TaskName;
use crate::flow::activity;
use crate::store::{DirKind, Follow, Record, Task, TaskDir, clock, list, task};
use crate::{Error, Kind, Result};

/// The time between two looks.
const POLL: Duration = Duration::from_millis(200);

/// Prints each event of one task until that task is over, or of all tasks until it is interrupted or the output is closed.
pub fn run(app: &App, task: &TaskName, tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<Answer> {
    match &task.name {
        Some(_) => one(app, &named_or_here(app, task)?, tell)?,
        None => all(app, DirKind::Task, tell)?,
    }
    Ok(Answer::default())
}

/// Prints each event of one task or mission until it is over.
pub fn one(app: &App, dir: &TaskDir, tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<()> {
    let mut follow = Follow::from_now(dir.clone())?;
    let mut doings = Doings::default();
    while is_under_way(app, dir)? {
        let Some(records) = follow.more()? else { return Ok(()) };
        if !tell_each(dir, &records, tell)? || !doings.tell(app, dir, tell)? {
            return Ok(());
        }
        if records.is_empty() {
            std::thread::sleep(POLL);
        }
    }
    // The events that came with the end of the task.
    tell_each(dir, &follow.more()?.unwrap_or_default(), tell).map(drop)
}

/// Prints each event of all tasks, or of all missions. New ones are followed from their first event, and one that cannot be read
/// stops no other.
pub fn all(app: &App, kind: DirKind, tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<()> {
    let mut follows: BTreeMap<String, Follow> = BTreeMap::new();
    let mut doings: BTreeMap<String, Doings> = BTreeMap::new();
    for dir in list::dirs(&app.home, &[kind], None)? {
        follows.insert(
            dir.id.clone(),
            Follow::from_now(dir.clone()).unwrap_or_else(|_| Follow::from_start(dir)),
        );
    }
    loop {
        for dir in list::dirs(&app.home, &[kind], None)? {
            let follow = follows.entry(dir.id.clone()).or_insert_with(|| Follow::from_start(dir.clone()));
            let is_heard = match follow.more() {
                Ok(records) => tell_each(&dir, &records.unwrap_or_default(), tell)?,
                Err(error) => tell(&broken(&dir, &error)?)?,
            };
            let doings = doings.entry(dir.id.clone()).or_default();
            if !is_heard || !doings.tell(app, &dir, tell)? {
                return Ok(());
            }
        }
        std::thread::sleep(POLL);
    }
}

fn is_under_way(app: &App, dir: &TaskDir) -> Result<bool> {
    match task::read_journal(dir).map(|journal| journal.history()) {
        Ok(history) => Ok(history.open.is_some() || !app.is_end(dir.kind, &history.owned)),
        Err(error) if error.kind == Kind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What was printed about the agents of a task.
#[derive(Default)]
struct Doings {
    /// The metadata of the file at the last look.
    looked_at: Option<(u64, SystemTime)>,
    printed: BTreeMap<u32, String>,
}

impl Doings {
    /// Prints what agents do since the last look, without what cannot be read. Returns whether the output is still open.
    fn tell(&mut self, app: &App, dir: &TaskDir, tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<bool> {
        let file = std::fs::metadata(dir.activity());
        let found = file.and_then(|file| Ok((file.len(), file.modified()?))).ok();
        if found.is_none() || std::mem::replace(&mut self.looked_at, found) == found {
            return Ok(true);
        }
        let Ok((task, journal)) = Task::read(&app.home, dir) else { return Ok(true) };
        for agent in activity::of_task(app, dir, &task, &journal.history(), || None) {
            let Assessment { state, reason, .. } = &agent.assessment;
            // The single steps of a working agent are left out.
            let word = if state.is_well() {
                state.as_str().to_owned()
            } else {
                format!("{} {reason}", state.as_str())
            };
            if self.printed.insert(agent.spawn, word.clone()) != Some(word) && !tell(&doing(dir, &agent)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn doing(dir: &TaskDir, agent: &Agent) -> Result<Answer> {
    let now = clock::now();
    let answer = doings::how_to_answer(agent).map(|how| format!(" (`{how}`, or `deny`)")).unwrap_or_default();
    let text = format!("{now} {} {}{answer}", dir.id, doings::line(agent));
    Answer::of(&Watched::Doing { r#type: "agent.doing", task: &dir.id, timestamp: &now, agent }, text)
}

/// Returns whether the output is still open.
fn tell_each(dir: &TaskDir, records: &[Record], tell: &dyn Fn(&Answer) -> Result<bool>) -> Result<bool> {
    for record in records {
        let text = format!("{} {} {}", record.timestamp, dir.id, event_words(record));
        if !tell(&Answer::of(&Watched::Event { task: &dir.id, record }, text)?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn broken(dir: &TaskDir, error: &Error) -> Result<Answer> {
    let text = format!("{}: error: {}", dir.id, error.one_line());
    Answer::of(&Watched::Broken { task: &dir.id, error }, text)
}
