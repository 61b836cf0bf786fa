//! The wrapper that tmux runs around a harness: runs it, and reports its end.

use orange_system::variables;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::app::{App, OF_PLACE};
use crate::drive::agent::{self, AgentExit};
use crate::drive::harness::{ConversationStart, Harness, StartOptions, StartPaths, quoted_names, reporting};
use crate::drive::last_lines;
use crate::drive::transcript::{self, pane};
use crate::hooks::agent_processes::RecordRoom;
use crate::hooks::trace;
use crate::hooks::wall::{self, Wall};
use crate::relay::Companion;
use crate::setup::{SetupRecord, mcp};
use crate::store::activity::{self, ActivityNote, NoteKind};
use crate::store::environment::Environment;
use crate::store::event::{self, Spawn};
use crate::store::{WorkItem, WorkItemDir, home, secret, transcripts, work_item};
use crate::{Error, Result};
use orange_system::exec::ProgramCall;
use orange_system::fault;
use orange_system::process::ProcessRoot;

/// Begins the wrapper again in the environment of its agent, and keeps of its own what says in which pane it is. Returns only on failure.
pub fn begin(app: &App, environment: Environment) -> Error {
    let call = ProgramCall::new(&app.program).args(std::env::args_os().skip(1));
    let call = call.only(|name| OF_PLACE.iter().any(|own| name == *own));
    let call = environment.iter().fold(call, |call, (name, value)| call.env(name, value));
    fault::variables().into_iter().fold(call, |call, (name, value)| call.env(name, value)).become_it()
}

/// Runs the harness of a spawn and reports its end to a process outside this session, which may be ended by what the
/// exit rules say. An agent that could not be run has ended, too.
pub fn run(app: &App, dir: &WorkItemDir, number: u32) -> Result<AgentExit> {
    let begun = Instant::now();
    let pane = std::env::var("TMUX_PANE").ok();
    let is_piped = pane.as_ref().is_some_and(|pane| match pipe(app, dir, number, pane) {
        Ok(is_piped) => is_piped,
        // An agent that nobody records works all the same.
        Err(error) => {
            let why = error.one_line();
            warn(dir, number, &format!("what its pane shows is not recorded: {why}"));
            false
        }
    });
    let ended = attend(app, dir, number);
    if is_piped {
        // An agent may end before the one who records it has begun.
        transcripts::until_recorded(dir, number);
    }
    let shown = pane.and_then(|pane| last_lines::of(&app.tmux, &pane)).unwrap_or_default();
    let report = report(dir, number, &ended, begun.elapsed(), &shown);
    app.start_detached_for(number, &report.iter().map(String::as_str).collect::<Vec<_>>(), dir)?;
    ended
}

/// Records in this file what a pane shows, until `input` ends.
pub fn record(input: &mut impl Read, file: &Path) -> Result<()> {
    pane::record(input, file)
}

/// Has tmux record what the pane shows. False where a person pipes the pane already.
fn pipe(app: &App, dir: &WorkItemDir, number: u32, pane: &str) -> Result<bool> {
    home::make_folder(&dir.transcripts())?;
    let file = dir.pane(number);
    app.tmux.pipe(pane, &app.program, &[OsStr::new("agent"), OsStr::new("record"), file.as_os_str()])
}

/// Runs the harness with the prompt that was kept for this spawn, in the task's worktree, and waits for its end.
fn attend(app: &App, dir: &WorkItemDir, number: u32) -> Result<AgentExit> {
    let (task, _) = WorkItem::read(&app.home, dir)?;
    let spawn = check_on_record(dir, number)?;
    let Some(workspace) = &task.owned.workspace else {
        return Err(Error::new(crate::ErrorKind::Refused, format!("{} has no worktree", dir.shown())));
    };
    let folder = app.home.workspace(workspace);
    let project = app.project_of(&task)?;
    let harness = app.harness(&spawn.harness)?;
    let report = reports(app, dir, number, &harness);
    let start = StartOptions {
        full: spawn.permissions == event::Permissions::Full,
        walled: wall::is_walled(&spawn),
        reviews: spawn.actor == event::Actor::Reviewer,
        consent: SetupRecord::read(&app.home)?.has(&spawn.harness, &project.path),
        mcp: mcp::is_installed(app),
        report,
        effort: spawn.effort.as_deref(),
        model: spawn.model.as_deref(),
        conversation: conversation(dir, &spawn)?,
        variables: &quoted_names(std::env::vars_os().map(|(name, _)| name)),
    };
    let places = StartPaths {
        prompt: &dir.prompt(number),
        task_dir: &dir.path,
        worktree: &folder,
        // Without a worktree, what a harness is told to trust is the folder.
        repo: if task.worktree().is_some() { &project.path } else { &folder },
        home: app.home.root(),
        orange: &app.program,
    };
    let call = harness
        .call(start, places)?
        .env(variables::PROGRAM, &app.program)
        .env(variables::TASK, &dir.id)
        .env(variables::ACTOR, spawn.actor.as_str())
        .env(variables::SPAWN, number.to_string())
        .env(variables::SECRET, secret::read(dir, number)?.unwrap_or_default());
    let call = of_step(call, dir, &spawn)?;
    let root = ProcessRoot::Agent(dir.id.clone(), number);
    let holder = ProgramCall::new(&app.program).args(["agent", "hold"]);
    let call = if wall::is_walled(&spawn) {
        let (worktree, record) = (folder.as_path(), &spawn);
        Wall { app, dir, task: &task, record, project: &project, harness: &harness, worktree }.around(call)?
    } else {
        call
    };
    let room = RecordRoom::make(dir, number)?;
    let mut companion = Companion::start(app, dir, number);
    let started = |agent| {
        room.note(agent)?;
        // The process that asked for this agent may have got the answer that there is none, and have recorded that.
        check_on_record(dir, number).map(drop)
    };
    let ended = agent::run(call, holder, &[root], started, |child| companion.lost(child));
    companion.end();
    ended
}

/// The agent of a mission also knows its step.
fn of_step(call: ProgramCall, dir: &WorkItemDir, spawn: &Spawn) -> Result<ProgramCall> {
    let (Some(step), Some(attempt)) = (&spawn.step, spawn.attempt) else { return Ok(call) };
    let attempt = work_item::read_journal_last(dir, 0)?.history().mission.counted(attempt);
    let call = call.env(variables::MISSION, &dir.id).env(variables::STEP, step);
    Ok(call.env(variables::ATTEMPT, attempt.to_string()))
}

/// The record of an agent whose end is not on record.
fn check_on_record(dir: &WorkItemDir, number: u32) -> Result<Spawn> {
    let agents = work_item::read_journal_last(dir, 0)?.history().agents.alive;
    agents.get(&number).cloned().ok_or_else(|| {
        Error::new(crate::ErrorKind::Refused, format!("{} has no live agent {number}", dir.shown()))
    })
}

/// Has the harness report what it does, where it can. An agent that does not report works all the same; the log says why.
fn reports(app: &App, dir: &WorkItemDir, number: u32, harness: &Harness) -> bool {
    if !harness.has_reports() {
        return false;
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(why) = harness.why_silent(app.path(), is_set) {
        warn(dir, number, &format!("it does not report what it does: {why}"));
        return false;
    }
    if let Err(error) = reporting::write(harness, &dir.reporting()) {
        warn(dir, number, &format!("it does not report what it does: {}", error.one_line()));
        return false;
    }
    if let Err(cause) = activity::append(dir, &ActivityNote::now(number, NoteKind::Reports)) {
        warn(dir, number, &format!("that it reports what it does cannot be noted: {cause}"));
    }
    true
}

/// A line about this agent in `orange.log`.
fn warn(dir: &WorkItemDir, number: u32, what: &str) {
    log::error!(target: "agent", "{}, agent {number}: {what}", dir.shown());
}

/// The id comes out of files that others write, and goes to a program as an argument.
fn conversation<'s>(dir: &WorkItemDir, spawn: &'s Spawn) -> Result<Option<ConversationStart<'s>>> {
    let Some(id) = spawn.conversation.as_deref() else { return Ok(None) };
    if !transcript::is_id(id) {
        return Err(trace::no_such_id(dir, id));
    }
    Ok(Some(if spawn.resumed { ConversationStart::Resumed(id) } else { ConversationStart::New(id) }))
}

/// The command that takes note of an agent's end.
fn report(
    dir: &WorkItemDir,
    spawn: u32,
    ended: &Result<AgentExit>,
    lived: Duration,
    shown: &str,
) -> Vec<String> {
    let (code, signal, reason) = match ended {
        Ok(AgentExit { code: Some(code), .. }) => (Some(*code), None, format!("exited with {code}")),
        Ok(AgentExit { code: None, signal: Some(signal) }) => {
            (None, Some(*signal), format!("ended by signal {signal}"))
        }
        Ok(AgentExit { code: None, signal: None }) => (None, None, "ended".to_owned()),
        Err(error) => (None, None, format!("could not be run: {}", error.one_line())),
    };
    let mut words = ["agent", "ended", "--task", &dir.id].map(str::to_owned).to_vec();
    words.push(format!("--spawn={spawn}"));
    words.push(format!("--reason={reason}"));
    words.extend(code.map(|code| format!("--code={code}")));
    words.extend(signal.map(|signal| format!("--signal={signal}")));
    words.push(format!("--duration={}", lived.as_secs()));
    words.push(format!("--last-lines={shown}"));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Home;

    #[track_caller]
    fn check(ended: Result<AgentExit>, expect: &[&str]) {
        let dir = Home::at("/orange").task("toy", "t1");
        let report = report(&dir, 2, &ended, Duration::from_secs(7), "-- a\nb");
        assert_eq!(report[..5], ["agent", "ended", "--task", "t1", "--spawn=2"]);
        let (own, rest) = report[5..].split_at(expect.len());
        assert_eq!(own, expect);
        assert_eq!(rest, ["--duration=7", "--last-lines=-- a\nb"]);
    }

    #[test]
    fn every_end_is_reported() {
        check(Ok(AgentExit { code: Some(3), signal: None }), &["--reason=exited with 3", "--code=3"]);
        check(Ok(AgentExit { code: None, signal: Some(9) }), &["--reason=ended by signal 9", "--signal=9"]);
        let error = Error::new(crate::ErrorKind::Environment, "`pi` is not installed").help("install it");
        check(Err(error), &["--reason=could not be run: `pi` is not installed; install it"]);
    }
}
