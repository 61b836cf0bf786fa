//! A refusal of the core as an error: it adds the commit of the worktree, and the command that helps.

use std::path::Path;

use orange_core::{Input, Lack, LifeFacts, Machine, Missing, Refusal, Rejection, View, When, Workspace};

use crate::app::App;
use crate::drive::git;
use crate::store::{OpenTransition, WorkItem, WorkItemHistory};
use crate::{Error, ErrorKind};

/// The refusal as an error for its reader.
pub fn error(
    app: &App,
    machine: &Machine<'_>,
    task: &WorkItem,
    history: &WorkItemHistory,
    facts: &LifeFacts<'_>,
    refusal: Refusal,
) -> Error {
    let view = &facts.view;
    let id = &task.id;
    let refused = |kind: ErrorKind| Error::new(kind, refusal.message(machine, view));
    let next = || format!("`orange task next {id}` shows where the task can go from here");
    match refusal {
        Refusal::Rejected { rejection, .. } => {
            let worktree = task.owned.workspace.as_ref().map(|name| app.home.workspace(name));
            let message = message(rejection, machine, view, history, worktree.as_deref());
            // An agent stands in the worktree of its task, and its prompt names no id.
            let update = match app.caller.task() {
                Some(_) => "orange task update".to_owned(),
                None => format!("orange task update {id}"),
            };
            Error::new(kind_of(rejection), message).help(rejection.help(machine, view, &update))
        }
        Refusal::NoState(command) => no_state(machine, command),
        Refusal::Started => refused(ErrorKind::Refused).help(
            "`orange task respawn` starts a dead agent again; `orange task next` shows where the task can go",
        ),
        Refusal::NoRespawnPrompt if machine.state(view.status).terminal => refused(ErrorKind::NotRespawnable)
            .help("the task is over: create a new one for what is still to be done"),
        Refusal::NoRespawnPrompt if machine.life(facts, Input::Restart { is_alive: false }).is_ok() => {
            let restart = format!(
                "`orange task restart {id}` starts the agent that works there as it was started first"
            );
            refused(ErrorKind::NotRespawnable).help(format!("{restart}; {}", next()))
        }
        Refusal::HooksWait => hooks_wait(task, history),
        Refusal::NoRespawnPrompt | Refusal::NoAgent => refused(ErrorKind::NotRespawnable).help(next()),
        Refusal::NoWorkspace(Workspace::Worktree) => {
            refused(ErrorKind::NotRespawnable).help("`orange task spawn` gives it one")
        }
        Refusal::NoWorkspace(Workspace::Folder) => refused(ErrorKind::NotRespawnable)
            .help(format!("a transition with release_workspace gives it back; {}", next())),
        Refusal::Alive => refused(ErrorKind::NotRespawnable).help(format!(
            "`orange task attach {id}` shows it; `orange task restart {id}` ends it and starts it again"
        )),
    }
}

/// The error for a task that stays where it is until its hooks have run.
pub fn hooks_wait(task: &WorkItem, history: &WorkItemHistory) -> Error {
    let message = match &history.transition.waiting_hooks {
        Some(OpenTransition { plan, error, .. }) => {
            let error = error.as_deref().unwrap_or_default();
            let failed = task.owned.hooks_wait.as_deref().unwrap_or("a hook");
            format!("the hooks of {} → {} wait, since {failed} failed: {error}", plan.from, plan.to)
        }
        None => "hooks of the last transition wait, since one of them failed".to_owned(),
    };
    let id = &task.id;
    Error::new(ErrorKind::HooksWait, message).help(format!(
        "mend that, then `orange task update {id} --retry-hooks` runs them; `orange task cancel {id}` drops them"
    ))
}

/// The error for a command that the workflow has no state for.
pub fn no_state(machine: &Machine<'_>, command: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("the workflow {} has no status for `{command}`", machine.name))
        .help(format!("name one under `commands: {{{command}: …}}` in the workflow"))
}

fn kind_of(rejection: Rejection) -> ErrorKind {
    match rejection {
        Rejection::NoTransition { .. } => ErrorKind::NoTransition,
        Rejection::NotAllowed { .. } => ErrorKind::NotAllowed,
        Rejection::GuardFailed { .. } => ErrorKind::GuardFailed,
        Rejection::GateFailed { .. } | Rejection::NotAsked { .. } => ErrorKind::GateFailed,
    }
}

/// The reason, in one sentence. About a section that has not changed since it last passed, it says whether the work has.
pub fn message(
    rejection: Rejection,
    machine: &Machine<'_>,
    view: &View<'_>,
    history: &WorkItemHistory,
    worktree: Option<&Path>,
) -> String {
    let since = since_it_passed(rejection, machine, history, worktree).unwrap_or_default();
    rejection.message(machine, view) + &since
}

fn since_it_passed(
    rejection: Rejection,
    machine: &Machine<'_>,
    history: &WorkItemHistory,
    worktree: Option<&Path>,
) -> Option<String> {
    let Rejection::GateFailed { transition, lack, .. } = rejection else { return None };
    let Lack { gate, missing: Missing::Fresh { when: When::Passed } } = lack else { return None };
    let gate = machine.transition(transition).gates.get(gate).and_then(|gate| gate.sections().first())?;
    let then = history.gates.passes.get(gate.section)?.commit.as_deref()?;
    // If the current commit is unknown, only the earlier one is reported.
    let now = worktree.and_then(|worktree| git::stands_on(worktree).unwrap_or_default());
    Some(match now {
        Some(now) if now == then => format!(", at commit {}, where the worktree still stands", short(then)),
        Some(now) => {
            format!(", at commit {}, and the worktree stands on {} now", short(then), short(&now))
        }
        None => format!(", at commit {}", short(then)),
    })
}

/// A commit's abbreviated name.
pub fn short(commit: &str) -> &str {
    const ENOUGH: usize = 10;
    commit.get(..ENOUGH).unwrap_or(commit)
}
