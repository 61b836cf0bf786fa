//! What becomes of a task when its pull request was merged or closed.

use orange_core::{Forced, Input};

use crate::Result;
use crate::app::App;
use crate::drive::gh::{PrState, PullRequest};
use crate::flow::life;
use crate::flow::lock_recovered;
use crate::flow::request::{begin, carry_out};
use crate::hooks;
use crate::store::event::Strategy;
use crate::store::{Event, Task, TaskDir};

/// Ends a task whose pull request has ended, as the engine's own act: merged, it goes to where merged tasks go; closed, it
/// is cancelled. By the workflow's transition where one is open, and else without one. What came of it, in words.
///
/// # Errors
/// Those of the store and of what the hooks need; `refused` when the workflow has no such state.
pub fn follow(app: &App, dir: &TaskDir, pr: &PullRequest) -> Result<Option<String>> {
    let locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    if locked.task().pr_url.as_deref() != Some(&pr.url) {
        return Ok(None);
    }
    let (end, events, word) = match pr.state {
        PrState::Open => return Ok(None),
        PrState::Merged => (Forced::Merge, merged(app, locked.task(), pr)?, "merged"),
        PrState::Closed => (Forced::Cancel, vec![Event::PrClosed { url: pr.url.clone() }], "closed"),
    };
    let turn = life::ask(app, machine, locked.task(), locked.history(), Input::PullRequest { end })?;
    if turn.events.is_empty() {
        return Ok(None);
    }
    let led_to_it = events.into_iter().map(Into::into).collect();
    let result = carry_out(app, begin(app, machine, locked, &turn, led_to_it)?)?;
    Ok(Some(format!("its pull request was {word}: {}", result.text().replace('\n', "; "))))
}

/// Takes over a pull request that somebody else has opened for the branch of a task, and goes on as [`follow`] does. What
/// came of it, in words.
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
    let merged = Event::TaskMerged { strategy: Strategy::PullRequest, into, commit: pr.commit.clone() };
    Ok(vec![Event::PrMerged { url: pr.url.clone() }, merged])
}
