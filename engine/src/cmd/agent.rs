//! `orange agent`: the wrapper that tmux runs around a harness, and what it reports to.

use serde_json::json;

use crate::cmd::answer::Answer;
use crate::cmd::args::AgentCommand;
use crate::drive::agent::Ended;
use crate::drive::harness;
use crate::flow::{self, End};
use crate::orange::Orange;
use crate::store::{Task, TaskDir, find};
use crate::{Error, Kind, Result};

/// Runs it.
pub fn run(orange: &Orange, command: &AgentCommand) -> Result<Answer> {
    match command {
        AgentCommand::Run { task, spawn } => wrap(orange, &by_id(orange, task)?, *spawn),
        AgentCommand::Ended { task, spawn, code, signal, reason } => {
            let end = End { spawn: *spawn, code: *code, signal: *signal, reason: reason.clone() };
            let story = flow::ended(orange, &by_id(orange, task)?, &end)?;
            let text = format!("task {task}, agent {spawn}: {story}");
            Ok(Answer::new(json!({ "id": task, "spawn": spawn, "outcome": story }), text))
        }
    }
}

/// The task of exactly this id; what a wrapper is told is never a prefix or a branch.
pub fn by_id(orange: &Orange, id: &str) -> Result<TaskDir> {
    find::named(&orange.home, id, None, |_| false)
}

/// Runs the harness of a spawn with the prompt that was kept for it, waits for its end, and reports that to a process
/// outside this session, which may be ended by what the exit rules say.
fn wrap(orange: &Orange, dir: &TaskDir, number: u32) -> Result<Answer> {
    let (task, journal) = Task::read(&orange.home, dir)?;
    let Some(spawn) = journal.log().agents.get(&number).cloned() else {
        return Err(Error::new(Kind::Refused, format!("task {} has no live agent {number}", dir.id)));
    };
    let Some(workspace) = &task.owned.workspace else {
        return Err(Error::new(Kind::Refused, format!("task {} has no worktree", dir.id)));
    };
    let folder = orange.home.workspace(workspace);
    let ended = harness::named(&spawn.harness)
        .and_then(|harness| harness.run(&dir.prompt(number), spawn.permissions == "full", &folder));
    let report = report(dir, number, &ended);
    orange.start_detached(&report.iter().map(String::as_str).collect::<Vec<_>>(), dir)?;
    ended.map(|Ended { code, signal }| Answer::new(json!({ "code": code, "signal": signal }), ""))
}

/// The command that takes note of an agent's end.
fn report(dir: &TaskDir, spawn: u32, ended: &Result<Ended>) -> Vec<String> {
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
    words
}
