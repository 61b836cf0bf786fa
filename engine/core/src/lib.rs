//! The types of Orange and every decision: tables, guards, gates, sections. No I/O, no dependencies.
//!
//! A [`Machine`] is the compiled, immutable form of one workflow. Every function here takes values and returns values:
//! [`Machine::life`] decides what happens to a task, [`Machine::decide`] answers a request, [`Machine::decide_exit`]
//! applies the exit rules, and [`Machine::options`] lists the states to which a task can go. A [`plan::Plan`] is the
//! compiled form of one step workflow, [`mission::Mission::apply`] decides what happens to one run of it, and
//! [`scheduler::Scheduler::apply`] which crab of a fleet gets its steps. The crate is `no_std`, so that it cannot touch files, clocks,
//! processes or the network.

#![warn(missing_docs)]
#![no_std]

extern crate alloc;

pub mod action;
mod actor;
mod bounds;
pub mod budget;
mod command;
mod decide;
pub mod delegation;
mod end;
mod exit;
pub mod feedback;
pub mod foreign;
pub mod forge;
mod forward;
mod gate;
mod guard;
mod hash;
mod hook;
pub mod host;
pub mod intake;
mod life;
mod machine;
pub mod merge;
pub mod mission;
pub mod need;
mod not_open;
pub mod notify;
pub mod phone;
pub mod plan;
mod program;
mod prompt;
pub mod queue;
pub mod reclaim;
mod rejection;
mod restart;
mod reviewers;
pub mod schedule;
pub mod scheduler;
mod section;
mod unknown;
pub mod verdict;
pub mod wall;
mod watch;
mod workflow;
pub mod zone;

#[cfg(test)]
mod tests;

pub use action::Action;
pub use actor::{Actor, ActorId, Actors, MAX_ACTORS};
pub use bounds::names_window;
pub use budget::Budget;
pub use command::{COMMANDS, is_refused_in_wall, options, unknown_command};
pub use decide::{Cause, Choice, Decision, Effect, View};
pub use delegation::{Children, DelegateInto, Delegates, OpenChildren};
pub use end::{AgentEnd, Deadline, Ending, LeftState, Limit};
pub use exit::{Condition, DEFAULT_STUCK_AFTER, Exit, ExitDecision, ExitRule, MAX_RESUME_AFTER, Outcome};
pub use gate::{
    Fields, Gate, Lack, Missing, SectionGate, SeenSection, Verdict, VerdictOf, When, WorkSince,
    check_section, has_word,
};
pub use guard::{Guard, Range};
pub use hash::fnv1a;
pub use hook::{HarnessOf, Hook, OnFailure, Permissions, Role, Spawn, Workspace};
pub use life::{Forced, Input, LifeEvent, LifeFacts, LifeTurn, Refusal};
pub use machine::{
    CRASH_COUNT, Commands, Counter, CounterId, Machine, PromptId, REVIEW_ROUND, State, StateId, Transition,
    TransitionId,
};
pub use not_open::NotOpen;
pub use program::{Answers, Checks, Program, ProgramAnswer};
pub use prompt::{ORIGIN_HEAD, Piece, Prompt, Value, Values};
pub use rejection::{Asker, Rejection};
pub use restart::{Delay, MAX_RESTARTS, limit_after, restart_after};
pub use section::{Heading, closing_line, fingerprint, section};
pub use unknown::UnknownName;
pub use watch::{Fact, FactKind, LastRerun, MAX_RERUNS, RERUN_PATIENCE, RerunStep, WatchRule};
pub use workflow::{Compiled, Workflow};

/// The shape of the tables that generated code fills in. Generated code compares it with its own, so that output of an older compiler
/// fails with a line that says what to do, before all errors about fields that it lacks.
pub const ABI: u32 = 19;

#[cfg(feature = "serde")]
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
