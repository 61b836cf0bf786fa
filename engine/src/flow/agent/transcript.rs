//! Finds the transcript of an agent, alive or not.

use std::path::PathBuf;

use crate::app::App;
use crate::hooks::trace;
use crate::store::event::Spawn;
use crate::store::transcripts::{self, Form, StoredTranscript};
use crate::store::{Event, Record, Task, TaskDir, TaskHistory};
use crate::{Error, Kind, Result, nofollow};

/// An agent, and where its transcript is.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The record of its start.
    pub agent: Spawn,
    /// Its conversation, if it is known.
    pub conversation: Option<String>,
    /// Whether its end is not recorded.
    pub is_alive: bool,
    /// Where its transcript is, if anywhere.
    pub source: Option<Source>,
}

/// The source of a transcript.
#[derive(Clone, Debug)]
pub enum Source {
    /// The stored file.
    Stored(StoredTranscript),
    /// A file that may still grow: the harness's own, or the recording of the pane.
    Growing(Form, PathBuf),
}

impl Source {
    /// The form of the transcript.
    pub fn form(&self) -> Form {
        match self {
            Source::Stored(kept) => kept.form,
            Source::Growing(form, _) => *form,
        }
    }
}

/// The transcript of this agent of a task, or of its last one.
pub fn transcript(app: &App, dir: &TaskDir, spawn: Option<u32>) -> Result<Transcript> {
    let (task, journal) = Task::read(&app.home, dir)?;
    let history = journal.history();
    let agents: Vec<Spawn> = journal.records.iter().filter_map(started).collect();
    let wanted = spawn.unwrap_or(history.last_spawn);
    let Some(agent) = agents.iter().find(|agent| agent.spawn == wanted).cloned() else {
        return Err(no_agent(dir, &agents, spawn));
    };
    let source = source(app, dir, &task, &history, &agent)?;
    let is_alive = history.agents.contains_key(&wanted);
    let found = journal.records.iter().find_map(|record| conversation(record, wanted));
    let conversation = found.or_else(|| agent.conversation.clone());
    Ok(Transcript { agent, conversation, is_alive, source })
}

fn started(record: &Record) -> Option<Spawn> {
    if let Event::AgentSpawned(spawn) | Event::AgentRespawned(spawn) = &record.event {
        return Some(spawn.clone());
    }
    None
}

fn conversation(record: &Record, wanted: u32) -> Option<String> {
    if let Event::AgentExited(exited) = &record.event {
        return exited.conversation.clone().filter(|_| exited.spawn == wanted);
    }
    None
}

fn source(
    app: &App,
    dir: &TaskDir,
    task: &Task,
    history: &TaskHistory,
    agent: &Spawn,
) -> Result<Option<Source>> {
    let own = || trace::own_file(app, dir, task, agent).map(|it| Source::Growing(Form::Jsonl, it.path));
    let pane = || {
        let path = dir.pane(agent.spawn);
        nofollow::metadata(&path).is_ok().then_some(Source::Growing(Form::Pane, path))
    };
    if history.agents.contains_key(&agent.spawn) {
        return Ok(own().or_else(pane));
    }
    let kept = transcripts::all(dir)?.into_iter().rfind(|kept| kept.spawn == agent.spawn);
    Ok(kept.map(Source::Stored).or_else(pane).or_else(own))
}

fn no_agent(dir: &TaskDir, agents: &[Spawn], spawn: Option<u32>) -> Error {
    let error = |message: String| Error::new(Kind::NotFound, message);
    match (agents.len(), spawn) {
        (0, _) | (_, None) => error(format!("task {} has had no agent", dir.id))
            .help("`orange task next` shows what starts one"),
        (count, Some(spawn)) => error(format!("task {} has had no agent {spawn}", dir.id))
            .help(format!("they are numbered from 1 to {count}; `orange task show {}` lists them", dir.id)),
    }
}
