//! What becomes of a task when its pull request was merged or closed.

use orange_core::{Actor, Machine, StateId};

use crate::Result;
use crate::app::App;
use crate::drive::gh::{PrState, PullRequest};
use crate::flow::begin::begin;
use crate::flow::forced::Forced;
use crate::flow::request::{carry_out, of_command};
use crate::flow::snapshot::{Snapshot, status_of};
use crate::flow::{TransitionResult, lock_recovered};
use crate::hooks;
use crate::store::{Event, LockedTask, Task, TaskDir};

/// Ends a task whose pull request has ended, as the engine's own act: merged, it goes to where merged tasks go; closed, it
/// is cancelled. By the workflow's transition where one is open, and else without one. What came of it, in words.
///
/// # Errors
/// Those of the store and of what the hooks need; `refused` when the workflow has no such state.
pub fn follow(app: &App, dir: &TaskDir, pr: &PullRequest) -> Result<Option<String>> {
    let locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    let is_over = machine.state(status_of(machine, locked.task())?).terminal;
    if is_over || locked.task().pr_url.as_deref() != Some(&pr.url) {
        return Ok(None);
    }
    let url = pr.url.clone();
    let (to, forced, events, word) = match pr.state {
        PrState::Open => return Ok(None),
        PrState::Merged => {
            let to = of_command(machine, machine.commands.merge, "merge")?;
            (to, Forced::Merge, merged(app, locked.task(), pr)?, "merged")
        }
        PrState::Closed => {
            let to = of_command(machine, machine.commands.cancel, "cancel")?;
            (to, Forced::Cancel, vec![Event::PrClosed { url }], "closed")
        }
    };
    let result = end(app, machine, locked, to, forced, events)?;
    Ok(Some(format!("its pull request was {word}: {}", result.text().replace('\n', "; "))))
}

/// Takes over a pull request that somebody else has opened for the branch of a task, and goes on as [`follow`] does. What
/// came of it, in words.
///
/// # Errors
/// Those of the store and of [`follow`].
pub fn found(app: &App, dir: &TaskDir, pr: &PullRequest) -> Result<String> {
    hooks::pull_request::keep(&mut lock_recovered(app, dir)?, &pr.url)?;
    let linked = format!("its branch has a pull request: {}", pr.url);
    Ok(match follow(app, dir, pr)? {
        Some(story) => format!("{linked}; {story}"),
        None => linked,
    })
}

/// What the journal says of a pull request that was merged.
///
/// # Errors
/// `not_found` when the project was removed.
pub fn merged(app: &App, task: &Task, pr: &PullRequest) -> Result<Vec<Event>> {
    let into = app.project_of(task)?.default_branch;
    let merged = Event::TaskMerged { strategy: "pr".to_owned(), into, commit: pr.commit.clone() };
    Ok(vec![Event::PrMerged { url: pr.url.clone() }, merged])
}

fn end(
    app: &App,
    machine: &'static Machine<'static>,
    mut locked: LockedTask,
    to: StateId,
    forced: Forced,
    events: Vec<Event>,
) -> Result<TransitionResult> {
    let events = events.into_iter().map(Into::into).collect();
    let decision = {
        let snapshot = Snapshot::of(machine, locked.task(), locked.history())?;
        machine.decide(&snapshot.view(), to, Actor::Engine)
    };
    match decision {
        Ok(decision) => {
            let room = hooks::preflight(app, locked.task(), &decision.effects)?;
            begin(machine, &mut locked, &decision, events, room)?;
        }
        // What an agent or a person would still have to do, GitHub has decided.
        Err(_) => forced.begin(machine, &mut locked, machine.state(to).name, Actor::Engine, events)?,
    }
    carry_out(app, locked)
}
