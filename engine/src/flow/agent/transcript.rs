//! Finds the transcript of an agent, alive or not.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::app::App;
pub use crate::drive::transcript::pane::plain;
pub use crate::drive::transcript::turns::{TranscriptTurn, TurnContent, of as turns};
use crate::hooks::trace;
use crate::store::event::Spawn;
use crate::store::transcripts::{self, StoredTranscript, TranscriptForm};
use crate::store::{Event, Record, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, work_item};
use crate::{Error, ErrorKind, Result};
use orange_system::changes::FolderWatch;
use orange_system::files::open_regular;
use orange_system::nofollow;

/// Longest wait of a follower for a change of a file before it looks again.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// An agent, and where its transcript is.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The record of its start.
    pub agent: Spawn,
    /// Its conversation, if it is known.
    pub conversation: Option<String>,
    /// True if its end is not recorded.
    pub is_alive: bool,
    /// Place of its transcript, if it has one.
    pub source: Option<TranscriptSource>,
}

/// The source of a transcript.
#[derive(Clone, Debug)]
pub enum TranscriptSource {
    /// The stored file.
    Stored(StoredTranscript),
    /// A file that may still grow: the harness's own, or the recording of the pane.
    Growing(TranscriptForm, PathBuf),
}

impl TranscriptSource {
    /// The form of the transcript.
    pub fn form(&self) -> TranscriptForm {
        match self {
            TranscriptSource::Stored(kept) => kept.form,
            TranscriptSource::Growing(form, _) => *form,
        }
    }

    /// The transcript, or the end of a long one.
    pub fn read(&self) -> Result<Vec<u8>> {
        match self {
            TranscriptSource::Stored(kept) => kept.read(),
            TranscriptSource::Growing(_, path) => open_regular(path)
                .and_then(|mut file| transcripts::end_of(&mut file, transcripts::LONGEST))
                .map_err(|cause| Error::io("read", path, &cause)),
        }
    }
}

/// The transcript of this agent of a task, or of its last one.
pub fn transcript(app: &App, dir: &WorkItemDir, spawn: Option<u32>) -> Result<Transcript> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let history = journal.history();
    let agents: Vec<Spawn> = journal.records.iter().filter_map(started).collect();
    let wanted = spawn.unwrap_or(history.agents.last_spawn);
    let Some(agent) = agents.iter().find(|agent| agent.spawn == wanted).cloned() else {
        return Err(no_agent(dir, &agents, spawn));
    };
    let source = source(app, dir, &task, &history, &agent)?;
    let is_alive = history.agents.alive.contains_key(&wanted);
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
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
    agent: &Spawn,
) -> Result<Option<TranscriptSource>> {
    let own = || {
        trace::own_file(app, dir, task, agent)
            .map(|it| TranscriptSource::Growing(TranscriptForm::Jsonl, it.path))
    };
    let pane = || {
        let path = dir.pane(agent.spawn);
        nofollow::metadata(&path).is_ok().then_some(TranscriptSource::Growing(TranscriptForm::Pane, path))
    };
    if history.agents.alive.contains_key(&agent.spawn) {
        return Ok(own().or_else(pane));
    }
    let kept = transcripts::all(dir)?.into_iter().rfind(|kept| kept.spawn == agent.spawn);
    Ok(kept.map(TranscriptSource::Stored).or_else(pane).or_else(own))
}

fn no_agent(dir: &WorkItemDir, agents: &[Spawn], spawn: Option<u32>) -> Error {
    let error = |message: String| Error::new(ErrorKind::NotFound, message);
    match (agents.len(), spawn) {
        (0, _) | (_, None) => error(format!("{} has had no agent", dir.shown())).help(match dir.kind {
            WorkItemKind::Task => "`orange task next` shows what starts one".to_owned(),
            WorkItemKind::Mission => format!("{} shows what it waits for", dir.command("show")),
        }),
        (count, Some(spawn)) => error(format!("{} has had no agent {spawn}", dir.shown()))
            .help(format!("they are numbered from 1 to {count}; {} lists them", dir.command("show"))),
    }
}

/// Reads on until the agent has ended or `tell` returns that nobody listens; `tell` gets whole lines with `whole_lines`, and
/// otherwise what was written.
pub fn follow(
    app: &App,
    dir: &WorkItemDir,
    found: Transcript,
    whole_lines: bool,
    tell: impl Fn(TranscriptForm, Vec<u8>) -> Result<bool>,
) -> Result<()> {
    let spawn = found.agent.spawn;
    let Some(mut growing) = first(app, dir, found)? else { return Ok(()) };
    let folder = growing.path.parent().unwrap_or(&dir.path);
    let mut changes = FolderWatch::of(&[&dir.path, folder]);
    loop {
        // What the agent did last was there before its end was on record.
        let is_alive = match work_item::read_journal(dir) {
            Ok(journal) => journal.history().agents.alive.contains_key(&spawn),
            Err(error) if error.kind == ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        let new = growing.more(whole_lines && is_alive);
        let new =
            new.map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot read on: {cause}")))?;
        if !new.is_empty() && !tell(growing.form, new)? || !is_alive {
            return Ok(());
        }
        changes.wait_for_any(LONGEST_WAIT);
    }
}

/// A harness makes its file when its conversation begins. One that does not begin one shows why in its pane.
fn first(app: &App, dir: &WorkItemDir, mut found: Transcript) -> Result<Option<Growing>> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let until = Instant::now() + PATIENCE;
    let transcripts = dir.transcripts();
    let folders = [&dir.path, &transcripts].map(PathBuf::as_path);
    let mut changes =
        FolderWatch::of(folders.get(..if transcripts.is_dir() { 2 } else { 1 }).unwrap_or_default());
    loop {
        let is_own = found.source.as_ref().is_some_and(|source| source.form() == TranscriptForm::Jsonl);
        if is_own || !found.is_alive || Instant::now() >= until {
            return found.source.as_ref().map_or(Ok(None), Growing::open);
        }
        changes.wait_for_any(until.saturating_duration_since(Instant::now()));
        found = transcript(app, dir, Some(found.agent.spawn))?;
    }
}

/// A file that is read on while it grows.
struct Growing {
    file: File,
    form: TranscriptForm,
    path: PathBuf,
    read: u64,
    rest: Vec<u8>,
}

impl Growing {
    fn open(source: &TranscriptSource) -> Result<Option<Growing>> {
        let TranscriptSource::Growing(form, path) = source else { return Ok(None) };
        let file = open_regular(path).map_err(|cause| Error::io("read", path, &cause))?;
        Ok(Some(Growing { file, path: path.clone(), form: *form, read: 0, rest: Vec::new() }))
    }

    /// The whole lines that came since; what comes in no lines, as it comes.
    fn more(&mut self, whole_lines: bool) -> io::Result<Vec<u8>> {
        let length = self.file.metadata()?.len();
        if length < self.read {
            // Who records a pane has dropped the first half.
            self.read = length;
        }
        self.file.seek(SeekFrom::Start(self.read))?;
        self.read += (&self.file).take(transcripts::LONGEST).read_to_end(&mut self.rest)? as u64;
        let end = match whole_lines {
            true => self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1),
            false => self.rest.len(),
        };
        Ok(self.rest.drain(..end).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_file_is_read_by_lines() {
        use std::io::Write;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let mut file = File::create(&path).unwrap();
        let source = TranscriptSource::Growing(TranscriptForm::Jsonl, path);
        let mut growing = Growing::open(&source).unwrap().unwrap();
        let mut more = |growing: &mut Growing, bytes: &[u8], whole| {
            file.write_all(bytes).unwrap();
            String::from_utf8(growing.more(whole).unwrap()).unwrap()
        };
        assert_eq!(more(&mut growing, b"one\ntw", true), "one\n");
        assert_eq!(more(&mut growing, b"o\n", true), "two\n");
        assert_eq!(more(&mut growing, b"th", true), "");
        assert_eq!(more(&mut growing, b"ree", false), "three");
        file.set_len(0).unwrap();
        assert_eq!(growing.more(false).unwrap(), b"");
    }
}
