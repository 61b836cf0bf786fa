//! A person's answers to the questions of agents: files in the task's folder, for which the asking processes wait.

use std::fs::DirEntry;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::flow::activity::is_asked;
use crate::flow::{lock_recovered, typed};
use crate::store::activity::{self, Activity, Note};
use crate::store::event::{self, Report};
use crate::store::{Event, LockedTask, Set, TaskDir, atomic, find, home};
use crate::{Error, Kind, Result, nofollow};

/// A person's answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Whether the agent may do it.
    pub allow: bool,
    /// A message to the agent.
    pub message: Option<String>,
}

/// The name of a request: `<task>.<spawn>.<mark>`.
pub fn name(dir: &TaskDir, spawn: u32, mark: &str) -> String {
    format!("{}.{spawn}.{mark}", dir.id)
}

/// The file for the answer to this request.
pub fn path(dir: &TaskDir, request: &str) -> PathBuf {
    let own = request.strip_prefix(&dir.id).unwrap_or(request).trim_start_matches('.');
    dir.answers().join(format!("{}.json", own.replace('/', "-")))
}

/// The answer to this request, if there is one.
pub fn given(dir: &TaskDir, request: &str) -> Option<Answer> {
    serde_json::from_slice(&nofollow::read(&path(dir, request), nofollow::LONGEST).ok()?).ok()
}

/// Answers a request that is open: it has no answer, and the agent waits for one. The error lists the open requests.
pub fn answer(app: &App, request: &str, answer: &Answer) -> Result<Note> {
    app.caller.check_person("answer what an agent asks")?;
    let task = request.split('.').next().unwrap_or_default();
    let dir = find::by_id(&app.home, task).map_err(|error| {
        Error::new(error.kind, format!("there is no request `{request}`"))
            .help("`orange task list` and `orange task show` name each with `waiting`")
    })?;
    let mut locked = lock_recovered(app, &dir)?;
    let asked = open_requests(app, &locked);
    let Some(note) = asked.iter().find(|note| note.request.as_deref() == Some(request)) else {
        return Err(not_open(&dir, request, &asked));
    };
    if note.pid.is_none() {
        typed::answer(app, &locked, note, answer)?;
    }
    home::make_folder(&dir.answers())?;
    let text = serde_json::to_vec(answer).unwrap_or_default();
    let word = if answer.allow { "allow" } else { "deny" };
    let tool = note.tool.as_deref().unwrap_or("a tool");
    let report = Report {
        spawn: note.spawn,
        state: event::Activity::Answered,
        reason: format!("{word}: {tool}: {}", note.text.as_deref().unwrap_or_default()),
        request: Some(request.to_owned()),
        ..Report::default()
    };
    locked.append(Event::AgentActivity(report), Set::new())?;
    atomic::write(&path(&dir, request), &text)?;
    Ok(note.clone())
}

/// The requests of the task's agents that can be answered.
fn open_requests(app: &App, locked: &LockedTask) -> Vec<Note> {
    let dir = locked.dir();
    let notes = activity::read(dir);
    let asked = locked.history().agents.values().flat_map(|record| {
        let mut activity = Activity::of(&notes, record.spawn);
        typed::name_requests(app, dir, locked.task(), record, &mut activity);
        activity.asked
    });
    let is_open = |note: &Note| {
        let is_answered = |request: &String| path(dir, request).symlink_metadata().is_ok();
        is_asked(note) && note.request.as_ref().is_some_and(|request| !is_answered(request))
    };
    asked.filter(is_open).collect()
}

fn not_open(dir: &TaskDir, request: &str, asked: &[Note]) -> Error {
    let was_answered = path(dir, request).symlink_metadata().is_ok();
    let why = if was_answered { "was answered already" } else { "is not open, or not any more" };
    let help = match asked {
        [] => format!("the agents of {} ask nothing that can be answered now", dir.id),
        [..] => {
            let names = asked.iter().filter_map(|note| {
                let text = note.text.as_deref().unwrap_or_default();
                Some(format!(
                    "{} ({}: {text})",
                    note.request.as_deref()?,
                    note.tool.as_deref().unwrap_or("?")
                ))
            });
            format!("open now: {}", names.collect::<Vec<_>>().join(", "))
        }
    };
    Error::new(Kind::Refused, format!("the request `{request}` {why}")).help(help)
}

/// Removes the answers to requests of an agent that has ended.
pub fn forget(dir: &TaskDir, spawn: u32) -> Result<()> {
    let of_spawn = format!("{spawn}.");
    let folder = dir.answers();
    let entries =
        nofollow::entries(&folder).map_err(|cause| Error::io("read the folder", &folder, &cause))?;
    let is_its = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(&of_spawn);
    entries.iter().filter(|entry| is_its(entry)).try_for_each(|entry| atomic::remove(&entry.path()))
}
