//! Traces of an agent: its transcript, which is kept before its end is recorded, and the conversation that the next agent may
//! continue.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::app::App;
use crate::drive::harness::Harness;
use crate::drive::prices::Prices;
use crate::drive::transcript::{self, FoundConversation, Sought, is_id};
use crate::hooks::wall;
use crate::store::activity::{self, Activity};
use crate::store::event::{Exited, Spawn, Spent};
use crate::store::transcripts::{self, TranscriptForm};
use crate::store::{Conversation, LockedWorkItem, Seat, WorkItem, WorkItemDir, WorkItemKind, id};
use crate::{Error, ErrorKind, Result};
use orange_system::files::open_regular;
use orange_system::{fault, nofollow};

/// The clocks of two file systems may differ by this much.
const SLACK: Duration = Duration::from_secs(2);

/// Beginning of an agent's conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beginning {
    /// Its id, if it is known beforehand.
    pub conversation: Option<String>,
    /// True if it continues an older conversation.
    pub resumed: bool,
    /// Reason for which it does not continue one, if it should have.
    pub not_resumed: Option<String>,
}

/// Keeps the transcript of an agent that has ended, and adds it, the conversation and the usage to this end. A kill between this and the record of its end
/// does no harm: the next process keeps it again. A transcript that cannot be kept does not prevent the record of the end; the answer reports it.
pub fn keep(app: &App, locked: &LockedWorkItem, end: Exited) -> Exited {
    let Some(record) = locked.history().agents.alive.get(&end.spawn) else { return end };
    let found = own_file(app, locked.dir(), locked.task(), record);
    let Spent { tokens, fresh_tokens, cost, list_price, unpriced, at_least } =
        spent(app, locked.dir(), record, found.as_ref());
    let conversation = found.as_ref().map(|found| found.id.clone());
    let kept = keep_one(app, locked, end.spawn, found.as_ref());
    keep_left(app, locked);
    let (transcript, not_kept) = match kept {
        Ok(transcript) => (transcript, None),
        Err(error) => (None, Some(error.one_line())),
    };
    let end = Exited { tokens, fresh_tokens, cost, list_price, unpriced, at_least, ..end };
    Exited { conversation, transcript, not_kept, ..end }
}

/// The tokens and the cost of this agent so far, as its harness reports them, else from the records of its conversation, which
/// are priced at list price.
pub fn spent(app: &App, dir: &WorkItemDir, record: &Spawn, found: Option<&FoundConversation>) -> Spent {
    let Activity { tokens, cost, .. } = Activity::of(&activity::read(dir), record.spawn);
    if tokens.is_some() || cost.is_some() {
        let unpriced = cost.is_none().then(|| "no cost in the reports of its harness".to_owned());
        return Spent { tokens, cost, unpriced, ..Spent::default() };
    }
    let usage = found.and_then(|found| transcript::spent::usage(&found.path, begun(dir, record)).ok());
    let Some(usage) = usage else { return Spent::default() };
    let Some(tokens) = usage.tokens() else { return Spent::default() };
    let prices = Prices::read(&app.home.prices_toml()).map_err(|error| error.one_line());
    let (list_price, unpriced) = match prices.and_then(|prices| prices.cost_of(&usage)) {
        Ok(cost) => (Some(cost), None),
        Err(why) => (None, Some(why)),
    };
    let fresh_tokens = usage.fresh_tokens();
    Spent { tokens: Some(tokens), fresh_tokens, cost: None, list_price, unpriced, at_least: usage.is_partial }
}

/// Time just before this agent began. A file without a later write is the conversation of the agent before it.
fn begun(dir: &WorkItemDir, record: &Spawn) -> Option<SystemTime> {
    let begun = fs::metadata(dir.prompt(record.spawn)).and_then(|metadata| metadata.modified()).ok();
    let slack = if record.resumed { Duration::ZERO } else { SLACK };
    begun.and_then(|begun| begun.checked_sub(slack))
}

/// The harness's file of the conversation of this agent, if there is one: the file that it has reported, else a file
/// that is found by its contents.
pub fn own_file(app: &App, dir: &WorkItemDir, task: &WorkItem, record: &Spawn) -> Option<FoundConversation> {
    reported_file(dir, record).or_else(|| sought_file(app, dir, task, record))
}

fn reported_file(dir: &WorkItemDir, record: &Spawn) -> Option<FoundConversation> {
    let Activity { session, transcript, .. } = Activity::of(&activity::read(dir), record.spawn);
    let (id, path) = session.zip(transcript.map(PathBuf::from))?;
    (wall::is_own(dir, record, &path) && is_id(&id) && open_regular(&path).is_ok())
        .then_some(FoundConversation { id, path })
}

fn sought_file(app: &App, dir: &WorkItemDir, task: &WorkItem, record: &Spawn) -> Option<FoundConversation> {
    let harness = app.harness(&record.harness).ok()?;
    let prompt = nofollow::read(&dir.prompt(record.spawn), nofollow::LONGEST).ok();
    let prompt = prompt.and_then(|prompt| String::from_utf8(prompt).ok());
    let file = dir.prompt(record.spawn);
    let since = begun(dir, record);
    let worktree = worktree_of(app, task)?;
    let id = record.conversation.as_deref();
    let prompt = match id {
        Some(_) => None,
        None => Some((prompt.as_deref()?, file.as_path())),
    };
    let sought = Sought { patterns: &harness.transcripts, id, worktree: &worktree, since, prompt };
    let home = wall::is_walled(record).then(|| wall::private_home(dir, &record.seat()));
    transcript::find(&sought, &|name| variable(name, home.as_deref()))
        .filter(|found| wall::is_own(dir, record, &found.path))
}

/// Beginning of the conversation of an agent, which may replace another agent of its seat.
pub fn beginning(
    app: &App,
    locked: &LockedWorkItem,
    harness: &Harness,
    seat: &Seat,
    resumes: bool,
    is_walled: bool,
) -> Result<Beginning> {
    let mut not_resumed = None;
    if resumes && !harness.resume.is_empty() {
        match resumable(app, locked, harness, seat, is_walled) {
            Ok(conversation) => {
                return Ok(Beginning { conversation: Some(conversation), resumed: true, not_resumed });
            }
            Err(why) => not_resumed = Some(why),
        }
    }
    let conversation = if harness.session.is_empty() { None } else { Some(id::uuid()?) };
    Ok(Beginning { conversation, resumed: false, not_resumed })
}

/// The conversation that the next agent of this seat continues, or why there is none.
fn resumable(
    app: &App,
    locked: &LockedWorkItem,
    harness: &Harness,
    seat: &Seat,
    is_walled: bool,
) -> std::result::Result<String, String> {
    let known = locked.history().agents.conversations.get(seat);
    let Conversation { spawn, id, harness: name, workspace } =
        known.ok_or_else(|| format!("the conversation of the {seat} before it is not known"))?;
    if *name != harness.name {
        return Err(format!("agent {spawn} had its conversation with {name}"));
    }
    if *workspace != locked.task().owned.workspace {
        return Err(format!("agent {spawn} had its conversation in another worktree"));
    }
    if !is_id(id) {
        return Err(format!("the conversation of agent {spawn} has a name that no program can be given"));
    }
    let worktree = worktree_of(app, locked.task()).ok_or("the task has no worktree")?;
    let patterns = &harness.transcripts;
    let sought = Sought { patterns, id: Some(id), worktree: &worktree, since: None, prompt: None };
    let home = is_walled.then(|| wall::private_home(locked.dir(), seat));
    let is_there =
        patterns.is_empty() || transcript::find(&sought, &|name| variable(name, home.as_deref())).is_some();
    if is_there { Ok(id.clone()) } else { Err(format!("the conversation of agent {spawn} is gone")) }
}

fn worktree_of(app: &App, task: &WorkItem) -> Option<PathBuf> {
    task.owned.workspace.as_ref().map(|name| app.home.workspace(name))
}

/// A variable of an agent's harness. A walled one has a private home, and no variables that name other folders.
fn variable(name: &str, private_home: Option<&Path>) -> Option<OsString> {
    if let Some(home) = private_home {
        return (name == "HOME").then(|| home.as_os_str().to_owned());
    }
    match name {
        "HOME" => std::env::home_dir().map(PathBuf::into_os_string),
        _ => std::env::var_os(name).filter(|value| !value.is_empty()),
    }
}

/// Keeps the harness's own file, or without one, what the pane has shown.
fn keep_one(
    app: &App,
    locked: &LockedWorkItem,
    spawn: u32,
    found: Option<&FoundConversation>,
) -> Result<Option<String>> {
    let dir = locked.dir();
    let limit = limit(app, locked.task());
    if let Some(FoundConversation { path, .. }) = found {
        let contents = transcript::read(path).map_err(|cause| Error::io("read", path, &cause));
        let kept = contents
            .and_then(|contents| transcripts::keep(dir, spawn, TranscriptForm::Jsonl, &contents, limit));
        return kept.and_then(|name| transcripts::forget_pane(dir, spawn).map(|()| Some(name)));
    }
    let Some(contents) = transcripts::pane(dir, spawn)? else { return Ok(None) };
    if contents.is_empty() {
        return transcripts::forget_pane(dir, spawn).map(|()| None);
    }
    let name = transcripts::keep(dir, spawn, TranscriptForm::Pane, &contents, limit)?;
    fault::step("forget", "the pane");
    transcripts::forget_pane(dir, spawn).map(|()| Some(name))
}

/// Keeps recordings of panes that could not be kept when their agents ended: the disk may have room now.
fn keep_left(app: &App, locked: &LockedWorkItem) {
    let left = transcripts::panes(locked.dir()).unwrap_or_default();
    for spawn in left.into_iter().filter(|spawn| !locked.history().agents.alive.contains_key(spawn)) {
        keep_one(app, locked, spawn, None).map(drop).unwrap_or_default();
    }
}

fn limit(app: &App, task: &WorkItem) -> u64 {
    let said = app.project_of(task).ok().and_then(|project| project.transcripts_mb);
    u64::from(said.unwrap_or(transcripts::DEFAULT_MB)) * 1_000_000
}

/// True if, judging by its end, an agent was to continue a conversation that its harness does not know.
pub fn could_not_resume(harness: &Harness, record: &Spawn, lived: Option<u64>, shown: &[String]) -> bool {
    /// A harness that does not find its conversation ends at once.
    const AT_ONCE: u64 = 30;
    let says_so = |line: &String| harness.resume_errors.iter().any(|error| line.contains(error.as_str()));
    let is_known = harness.resume_errors.is_empty() || shown.iter().any(says_so);
    record.resumed && lived.is_some_and(|lived| lived <= AT_ONCE) && is_known
}

/// The error for a conversation whose id cannot be an argument of the agent.
pub fn no_such_id(dir: &WorkItemDir, id: &str) -> Error {
    let help = match dir.kind {
        WorkItemKind::Task => format!("`orange task respawn {} --fresh` starts the agent without it", dir.id),
        WorkItemKind::Mission => {
            format!("the next attempt begins without it: `orange mission show {}` shows it", dir.id)
        }
    };
    Error::new(ErrorKind::Corrupt, format!("`{id}` is not an id of a conversation")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests;

    #[test]
    fn an_id_that_is_none_is_answered_by_commands_of_its_kind() {
        let (_folder, home) = tests::home();
        let help = |dir: WorkItemDir| no_such_id(&dir, "--help").help.clone();
        assert!(help(home.task("coffee", "t1")).contains("`orange task respawn t1 --fresh`"));
        assert!(help(home.mission("coffee", "m1")).contains("`orange mission show m1`"));
    }
}
