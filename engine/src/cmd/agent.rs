//! `orange agent`: the wrapper that tmux runs around a harness, and what it reports to.

use serde_json::json;

use crate::cmd::answer::Answer;
use crate::cmd::args::AgentCommand;
use crate::drive::exec::become_independent;
use crate::drive::harness;
use crate::flow::{self, End};
use crate::orange::Orange;
use crate::store::{Task, TaskDir, find};
use crate::{Error, Kind, Result};

/// Runs it.
pub fn run(orange: &Orange, command: &AgentCommand) -> Result<Answer> {
    match command {
        AgentCommand::Run { task, spawn } => wrap(orange, &by_id(orange, task)?, *spawn),
        AgentCommand::Ended { task, spawn, code, signal } => {
            become_independent()?;
            let reason = match (code, signal) {
                (Some(code), _) => format!("exited with {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended".to_owned(),
            };
            let end = End { spawn: *spawn, code: *code, signal: *signal, reason };
            let story = flow::ended(orange, &by_id(orange, task)?, &end)?;
            Ok(Answer::new(json!({ "spawn": spawn, "outcome": story }), story))
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
    let (code, signal) = match &ended {
        Ok(ended) => (ended.code, ended.signal),
        Err(_) => (Some(127), None),
    };
    let number = number.to_string();
    let mut report =
        vec!["agent".to_owned(), "ended".into(), "--task".into(), dir.id.clone(), "--spawn".into(), number];
    report.extend(code.map(|code| format!("--code={code}")));
    report.extend(signal.map(|signal| format!("--signal={signal}")));
    let report: Vec<&str> = report.iter().map(String::as_str).collect();
    orange.start_detached(&report, dir)?;
    ended.map(|_| Answer::new(json!({ "code": code, "signal": signal }), ""))
}
