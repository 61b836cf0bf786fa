//! `orange task watch`: what happens to tasks, as it happens.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::doings;
use super::named_or_here;
use super::show::event_words;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line};
use crate::cmd::args::TaskName;
use crate::cmd::needs::why;
use crate::flow::{activity, need};
use crate::store::event::Event;
use crate::store::{FollowedJournal, Record, WorkItem, WorkItemDir, WorkItemKind, list, work_item};
use crate::{Error, ErrorKind, Result};
use orange_api::{Agent, Assessment, Need, Watched};
use orange_system::clock;

/// The time between two looks.
const POLL: Duration = Duration::from_millis(200);

/// Output of the lines: each event in JSON, and for people what matters, or everything.
#[derive(Clone, Copy)]
pub struct Out<'o> {
    /// True if people see everything, too.
    pub is_verbose: bool,
    /// Prints, and returns whether the output is still open.
    pub tell: &'o dyn Fn(&CommandAnswer) -> Result<bool>,
}

/// Prints what happens to one task until that task is over, or to all tasks until it is interrupted or the output is closed.
pub fn run(app: &App, task: &TaskName, out: Out<'_>) -> Result<CommandAnswer> {
    match &task.name {
        Some(_) => one(app, &named_or_here(app, task)?, out)?,
        None => all(app, WorkItemKind::Task, out)?,
    }
    Ok(CommandAnswer::default())
}

/// Prints what happens to one task or mission until it is over.
pub fn one(app: &App, dir: &WorkItemDir, out: Out<'_>) -> Result<()> {
    let mut follow = FollowedJournal::from_now(dir.clone())?;
    let mut followed = FollowedTask::default();
    while is_under_way(app, dir)? {
        let Some(records) = follow.more()? else { return Ok(()) };
        if !followed.tell(app, dir, &records, out)? {
            return Ok(());
        }
        if records.is_empty() {
            std::thread::sleep(POLL);
        }
    }
    // The events that came with the end of the task.
    followed.tell_each(app, dir, &follow.more()?.unwrap_or_default(), out).map(drop)
}

/// Prints what happens to all tasks, or to all missions. New ones are followed from their first event, and one that cannot be read
/// stops no other.
pub fn all(app: &App, kind: WorkItemKind, out: Out<'_>) -> Result<()> {
    let mut follows: BTreeMap<String, FollowedJournal> = BTreeMap::new();
    let mut all_followed: BTreeMap<String, FollowedTask> = BTreeMap::new();
    for dir in list::dirs(&app.home, &[kind], None)? {
        follows.insert(
            dir.id.clone(),
            FollowedJournal::from_now(dir.clone()).unwrap_or_else(|_| FollowedJournal::from_start(dir)),
        );
    }
    loop {
        for dir in list::dirs(&app.home, &[kind], None)? {
            let follow =
                follows.entry(dir.id.clone()).or_insert_with(|| FollowedJournal::from_start(dir.clone()));
            let followed = all_followed.entry(dir.id.clone()).or_default();
            let is_heard = match follow.more() {
                Ok(records) => followed.tell(app, &dir, &records.unwrap_or_default(), out)?,
                Err(error) => (out.tell)(&broken(&dir, &error)?)?,
            };
            if !is_heard {
                return Ok(());
            }
        }
        std::thread::sleep(POLL);
    }
}

fn is_under_way(app: &App, dir: &WorkItemDir) -> Result<bool> {
    match work_item::read_journal(dir).map(|journal| journal.history()) {
        Ok(history) => Ok(history.transition.open.is_some() || !app.is_end(dir.kind, &history.owned)),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// State of the output about a task.
#[derive(Default)]
struct FollowedTask {
    branch: Option<String>,
    /// The metadata of the file with the activity of its agents at the last look.
    looked_at: Option<(u64, SystemTime)>,
    /// Last printed activity of each agent.
    printed: BTreeMap<u32, String>,
    /// Last printed need of a person.
    needed: Option<(orange_core::need::NeedKind, String)>,
}

impl FollowedTask {
    /// Prints these events and what follows from them. Returns whether the output is still open.
    fn tell(&mut self, app: &App, dir: &WorkItemDir, records: &[Record], out: Out<'_>) -> Result<bool> {
        if !self.tell_each(app, dir, records, out)? {
            return Ok(false);
        }
        let file = std::fs::metadata(dir.activity());
        let found = file.and_then(|file| Ok((file.len(), file.modified()?))).ok();
        let is_active = found.is_some() && std::mem::replace(&mut self.looked_at, found) != found;
        if is_active && !self.tell_doings(app, dir, out)? {
            return Ok(false);
        }
        if is_active || !records.is_empty() { self.tell_need(app, dir, out) } else { Ok(true) }
    }

    /// Prints these events.
    fn tell_each(&mut self, app: &App, dir: &WorkItemDir, records: &[Record], out: Out<'_>) -> Result<bool> {
        for record in records {
            if self.branch.is_none() {
                self.branch = WorkItem::read_last(&app.home, dir, 0).ok().map(|(task, _)| task.branch);
            }
            let is_shown = out.is_verbose || matters(&record.event);
            let line = || format!("{} {} {}", record.timestamp, self.name(dir), event_words(record));
            let text = if is_shown { line() } else { String::new() };
            if !(out.tell)(&CommandAnswer::of(
                &Watched::Event { task: dir.id.as_str().into(), record: Box::new(Cow::Borrowed(record)) },
                text,
            )?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Prints what agents do since the last look, without what cannot be read.
    fn tell_doings(&mut self, app: &App, dir: &WorkItemDir, out: Out<'_>) -> Result<bool> {
        let Ok((task, journal)) = WorkItem::read(&app.home, dir) else { return Ok(true) };
        for agent in activity::of_task(app, dir, &task, &journal.history(), || None) {
            let Assessment { state, reason, .. } = &agent.assessment;
            // The single steps of a working agent are left out.
            let word = if state.is_well() {
                state.as_str().to_owned()
            } else {
                format!("{} {reason}", state.as_str())
            };
            let is_new = self.printed.insert(agent.spawn, word.clone()) != Some(word);
            if is_new && !(out.tell)(&doing(dir, &task.branch, &agent, out.is_verbose)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Prints for people what a person has to do, or no longer has to.
    fn tell_need(&mut self, app: &App, dir: &WorkItemDir, out: Out<'_>) -> Result<bool> {
        let need = need::look(app, dir, None).ok().flatten().map(|(task, need)| {
            self.branch = Some(task.branch);
            need
        });
        let need = need.filter(|need| need.person);
        let now = need.as_ref().map(|need| (need.kind, need.why.clone()));
        if self.needed == now {
            return Ok(true);
        }
        self.needed = now;
        let what = need.map_or_else(|| "needs nobody any more".to_owned(), |need| wanted(&need));
        let text = format!("{} {} {what}", clock::now(), self.name(dir));
        // It is not an event, so that programs do not get it.
        (out.tell)(&CommandAnswer { json: Some(String::new()), ..CommandAnswer::text(text) })
    }

    fn name<'n>(&'n self, dir: &'n WorkItemDir) -> &'n str {
        self.branch.as_deref().unwrap_or(&dir.id)
    }
}

fn wanted(need: &Need) -> String {
    let first = need.answers().next().map(|action| {
        format!(" (`orange {}{}`)", action.command.join(" "), if action.text { " TEXT" } else { "" })
    });
    format!("needs you, {}: {}{}", need.kind.as_str(), one_line(&why(need), 300), first.unwrap_or_default())
}

/// True if people want to see it without asking for everything.
fn matters(event: &Event) -> bool {
    matches!(
        event,
        Event::TaskCreated { .. }
            | Event::StatusChanged { .. }
            | Event::AgentExited(_)
            | Event::AgentCrashed { .. }
            | Event::AgentGivenUp { .. }
            | Event::HooksWaiting { .. }
            | Event::TaskMerged { .. }
            | Event::TaskForceMerged { .. }
            | Event::TaskMigrated { .. }
            | Event::PrCreated { .. }
            | Event::PrMergeAccepted(_)
            | Event::PrMergeRefused(_)
            | Event::PrMerged { .. }
            | Event::PrClosed { .. }
            | Event::TaskDeleted { .. }
            | Event::TaskRestored { .. }
            | Event::MissionCreated { .. }
            | Event::StepStarted { .. }
            | Event::StepEnded(_)
            | Event::MissionPaused { .. }
            | Event::MissionContinued { .. }
            | Event::MissionCancelled { .. }
            | Event::MissionEnded { .. }
    )
}

fn doing(dir: &WorkItemDir, branch: &str, agent: &Agent, is_shown: bool) -> Result<CommandAnswer> {
    let now = clock::now();
    let answer = doings::how_to_answer(agent).map(|how| format!(" (`{how}`, or `deny`)")).unwrap_or_default();
    let line = || format!("{now} {branch} {}{answer}", doings::line(agent));
    let text = if is_shown { line() } else { String::new() };
    CommandAnswer::of(
        &Watched::Doing {
            r#type: "agent.doing".into(),
            task: dir.id.as_str().into(),
            timestamp: now.as_str().into(),
            agent: Box::new(Cow::Borrowed(agent)),
        },
        text,
    )
}

fn broken(dir: &WorkItemDir, error: &Error) -> Result<CommandAnswer> {
    let text = format!("{}: error: {}", dir.id, error.one_line());
    CommandAnswer::of(&Watched::Broken { task: dir.id.as_str().into(), error: Cow::Borrowed(error) }, text)
}
