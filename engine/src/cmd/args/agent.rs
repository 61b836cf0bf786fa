//! The arguments of `orange agent`, which nobody types.

use crate::cmd::args::Command;
use crate::cmd::line::{Arg, Spec, Takes};

/// `orange agent …`: the wrapper around a harness.
#[derive(Debug)]
pub enum AgentCommand {
    /// Run the agent of a spawn and report its end.
    Run {
        /// The task's id.
        task: String,
        /// The number of the spawn.
        spawn: u32,
    },
    /// Have the terminal until the agent is there.
    Hold,
    /// Apply the exit rules after an agent has ended.
    Ended {
        /// The task's id.
        task: String,
        /// The number of the spawn.
        spawn: u32,
        /// Its exit status.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// How it ended, in words.
        reason: String,
        /// How many seconds it lived.
        duration: Option<u64>,
        /// The last lines of its pane.
        last_lines: String,
    },
    /// Start the agent that replaces one, when it is due.
    Resume {
        /// The task's id.
        task: String,
        /// The number of the spawn that ended.
        spawn: u32,
    },
}

pub(super) const SPEC: Spec = Spec::group(
    "agent",
    "What orange itself starts inside tmux, and nobody else",
    &[RUN, HOLD, ENDED, RESUME],
)
.hidden();

const RUN: Spec = Spec::command("run", "Run the agent of a spawn and report its end", |given| {
    Command::Agent(AgentCommand::Run {
        task: given.needed("task"),
        spawn: given.number("spawn").unwrap_or_default(),
    })
})
.args(&[TASK, SPAWN])
.hidden();

const HOLD: Spec = Spec::command("hold", "Have the terminal until the agent is there", |_| {
    Command::Agent(AgentCommand::Hold)
})
.hidden();

const ENDED: Spec = Spec::command("ended", "Apply the exit rules after an agent has ended", |given| {
    Command::Agent(AgentCommand::Ended {
        task: given.needed("task"),
        spawn: given.number("spawn").unwrap_or_default(),
        code: given.number("code"),
        signal: given.number("signal"),
        reason: given.needed("reason"),
        duration: given.number("duration"),
        last_lines: given.needed("last-lines"),
    })
})
.args(&[
    TASK,
    SPAWN,
    Arg::option("code", "N", Takes::Number(I32_MIN, I32_MAX), "Its exit status"),
    Arg::option("signal", "N", Takes::Number(1, I32_MAX), "The signal that ended it"),
    Arg::option("reason", "TEXT", Takes::Text, "How it ended, in words").required(),
    Arg::option("duration", "N", Takes::Number(0, I32_MAX), "How many seconds it lived"),
    Arg::option("last-lines", "TEXT", Takes::Text, "The last lines of its pane").or(""),
])
.hidden();

const RESUME: Spec = Spec::command("resume", "Start the agent that replaces one, when it is due", |given| {
    Command::Agent(AgentCommand::Resume {
        task: given.needed("task"),
        spawn: given.number("spawn").unwrap_or_default(),
    })
})
.args(&[TASK, SPAWN])
.hidden();

const TASK: Arg = Arg::option("task", "ID", Takes::Task, "The task's id").required();

const SPAWN: Arg =
    Arg::option("spawn", "N", Takes::Number(1, u32::MAX as i64), "The number of the spawn").required();

const I32_MIN: i64 = i32::MIN as i64;
const I32_MAX: i64 = i32::MAX as i64;
