//! A rejection of the core in the words of this task: the core cannot know where the worktree stands.

use std::path::Path;

use orange_core::{Machine, Missing, Rejection, View, When};

use crate::drive::git;
use crate::store::TaskHistory;
use crate::{Error, Kind};

/// The rejection as the error that its reader can act on. `worktree` is the folder of the task's worktree, if it has one.
pub fn error(
    rejection: Rejection,
    machine: &Machine<'_>,
    view: &View<'_>,
    history: &TaskHistory,
    worktree: Option<&Path>,
) -> Error {
    let kind = match rejection {
        Rejection::NoTransition { .. } => Kind::NoTransition,
        Rejection::NotAllowed { .. } => Kind::NotAllowed,
        Rejection::GuardFailed { .. } => Kind::GuardFailed,
        Rejection::GateFailed { .. } => Kind::GateFailed,
    };
    Error::new(kind, message(rejection, machine, view, history, worktree)).help(rejection.help(machine, view))
}

/// What stands in the way, in one sentence. Of a section that has not changed since it last passed, it says whether the
/// work has.
pub fn message(
    rejection: Rejection,
    machine: &Machine<'_>,
    view: &View<'_>,
    history: &TaskHistory,
    worktree: Option<&Path>,
) -> String {
    let since = since_it_passed(rejection, machine, history, worktree).unwrap_or_default();
    rejection.message(machine, view) + &since
}

fn since_it_passed(
    rejection: Rejection,
    machine: &Machine<'_>,
    history: &TaskHistory,
    worktree: Option<&Path>,
) -> Option<String> {
    let Rejection::GateFailed { transition, missing: Missing::Fresh { when: When::Passed } } = rejection
    else {
        return None;
    };
    let gate = machine.transition(transition).gate.as_ref()?;
    let then = history.passes.get(gate.section)?.commit.as_deref()?;
    // Without an answer, the commit of then is told alone.
    let now = worktree.and_then(|worktree| git::stands_on(worktree).unwrap_or_default());
    Some(match now {
        Some(now) if now == then => format!(", at commit {}, where the worktree still stands", short(then)),
        Some(now) => {
            format!(", at commit {}, and the worktree stands on {} now", short(then), short(&now))
        }
        None => format!(", at commit {}", short(then)),
    })
}

/// A commit's name as people read it.
pub fn short(commit: &str) -> &str {
    const ENOUGH: usize = 10;
    commit.get(..ENOUGH).unwrap_or(commit)
}
