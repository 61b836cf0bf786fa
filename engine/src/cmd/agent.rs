//! `orange agent`: the wrapper that tmux runs around a harness, and what it reports to.

use std::io;
use std::time::{Duration, Instant};

use orange_core::Actor;
use serde_json::json;

use crate::cmd::answer::Answer;
use crate::cmd::args::AgentCommand;
use crate::drive::agent::{self, Ended};
use crate::drive::exec::Call;
use crate::drive::harness::Start;
use crate::drive::last_lines;
use crate::drive::process::Family;
use crate::flow::{self, End, waiting};
use crate::hooks::attended::Attended;
use crate::orange::Orange;
use crate::store::{Task, TaskDir, find};
use crate::{Error, Kind, Result, caller};

/// Runs it.
pub fn run(orange: &Orange, command: &AgentCommand) -> Result<Answer> {
    match command {
        AgentCommand::Run { task, spawn } => wrap(orange, &find::by_id(&orange.home, task)?, *spawn),
        AgentCommand::Hold => hold(),
        AgentCommand::Ended { task, spawn, code, signal, reason, duration, last_lines } => {
            let end = End {
                spawn: *spawn,
                code: *code,
                signal: *signal,
                reason: reason.clone(),
                duration: *duration,
                last_lines: last_lines.lines().map(str::to_owned).collect(),
            };
            let story = flow::ended(orange, &find::by_id(&orange.home, task)?, &end)?;
            let text = format!("task {task}, agent {spawn}: {story}");
            Ok(Answer::new(json!({ "id": task, "spawn": spawn, "outcome": story }), text))
        }
        AgentCommand::Resume { task, spawn } => {
            let story = waiting::resume(orange, &find::by_id(&orange.home, task)?, *spawn)?;
            let text = story.as_ref().map_or_else(String::new, |story| format!("task {task}: {story}"));
            Ok(Answer::new(json!({ "id": task, "spawn": spawn, "outcome": story }), text))
        }
    }
}

/// Waits for the end of standard input.
fn hold() -> Result<Answer> {
    io::copy(&mut io::stdin(), &mut io::sink())
        .map_err(|cause| Error::new(Kind::Environment, format!("cannot wait: {cause}")))?;
    Ok(Answer::new(json!(null), ""))
}

/// Runs the harness of a spawn and reports its end to a process outside this session, which may be ended by what the
/// exit rules say. An agent that could not be run has ended, too.
fn wrap(orange: &Orange, dir: &TaskDir, number: u32) -> Result<Answer> {
    let begun = Instant::now();
    let ended = attend(orange, dir, number);
    let pane = std::env::var("TMUX_PANE").ok();
    let shown = pane.and_then(|pane| last_lines::of(&orange.tmux, &pane)).unwrap_or_default();
    let report = report(dir, number, &ended, begun.elapsed(), &shown);
    orange.start_detached(&report.iter().map(String::as_str).collect::<Vec<_>>(), dir)?;
    ended.map(|Ended { code, signal }| Answer::new(json!({ "code": code, "signal": signal }), ""))
}

/// Runs the harness with the prompt that was kept for this spawn, in the task's worktree, and waits for its end.
fn attend(orange: &Orange, dir: &TaskDir, number: u32) -> Result<Ended> {
    let (task, journal) = Task::read(&orange.home, dir)?;
    let Some(spawn) = journal.log().agents.get(&number).cloned() else {
        return Err(Error::new(Kind::Refused, format!("task {} has no live agent {number}", dir.id)));
    };
    let Some(workspace) = &task.owned.workspace else {
        return Err(Error::new(Kind::Refused, format!("task {} has no worktree", dir.id)));
    };
    let folder = orange.home.workspace(workspace);
    let start = Start {
        full: spawn.permissions == "full",
        reviews: spawn.actor == Actor::Reviewer.as_str(),
        effort: task.effort.as_deref(),
    };
    let call = orange
        .harness(&spawn.harness)?
        .call(&dir.prompt(number), start, &folder)?
        .env(caller::TASK, &dir.id)
        .env(caller::ACTOR, &spawn.actor)
        .env(caller::SPAWN, number.to_string());
    let family = Family::Agent(dir.id.clone(), number);
    let holder = Call::new(&orange.program).args(["agent", "hold"]);
    agent::run(call, holder, &[family], |agent| Attended::note(dir, number, agent))
}

/// The command that takes note of an agent's end.
fn report(dir: &TaskDir, spawn: u32, ended: &Result<Ended>, lived: Duration, shown: &str) -> Vec<String> {
    let (code, signal, reason) = match ended {
        Ok(Ended { code: Some(code), .. }) => (Some(*code), None, format!("exited with {code}")),
        Ok(Ended { code: None, signal: Some(signal) }) => {
            (None, Some(*signal), format!("ended by signal {signal}"))
        }
        Ok(Ended { code: None, signal: None }) => (None, None, "ended".to_owned()),
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
    fn check(ended: Result<Ended>, expect: &[&str]) {
        let dir = Home::at("/orange").task("toy", "t1");
        let report = report(&dir, 2, &ended, Duration::from_secs(7), "-- a\nb");
        assert_eq!(report[..5], ["agent", "ended", "--task", "t1", "--spawn=2"]);
        let (own, rest) = report[5..].split_at(expect.len());
        assert_eq!(own, expect);
        assert_eq!(rest, ["--duration=7", "--last-lines=-- a\nb"]);
    }

    #[test]
    fn every_end_is_reported() {
        check(Ok(Ended { code: Some(3), signal: None }), &["--reason=exited with 3", "--code=3"]);
        check(Ok(Ended { code: None, signal: Some(9) }), &["--reason=ended by signal 9", "--signal=9"]);
        let error = Error::new(Kind::Environment, "`pi` is not installed").help("install it");
        check(Err(error), &["--reason=could not be run: `pi` is not installed; install it"]);
    }
}
