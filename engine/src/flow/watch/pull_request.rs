//! Ends a task whose pull request was merged or closed.

use orange_core::{Forced, Input};

use orange_journal::history::AskedAnswer;

use crate::Result;
use crate::app::App;
use crate::drive::forge::{CheckedCommit, ForgeMergeState, PrState, PullRequest};
use crate::flow::life;
use crate::flow::lock_recovered;
use crate::flow::person::by_forge;
use crate::flow::refusal::short;
use crate::flow::request::transition_result;
use crate::flow::request::{begin, carry_out};
use crate::hooks;
use crate::store::event::{ChecksSeen, Strategy};
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir};

/// Ends a task whose pull request was merged or closed, on behalf of the engine. The task of a merged one goes to the merged
/// state, the task of a closed one is cancelled: by the workflow's transition, or without one. For an open pull request, records
/// its checks. Returns a message about the change.
pub fn follow(app: &App, dir: &WorkItemDir, pr: &PullRequest) -> Result<Option<String>> {
    let locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    if locked.task().pr_url.as_deref() != Some(&pr.url) {
        return Ok(None);
    }
    let (end, events, word) = match pr.state {
        PrState::Open => return open(app, locked, pr),
        PrState::Merged => (Forced::Merge, merged(app, locked.task(), pr)?, "merged"),
        PrState::Closed => (Forced::Cancel, vec![Event::PrClosed { url: pr.url.clone() }], "closed"),
    };
    let turn = life::ask(app, machine, locked.task(), locked.history(), Input::PullRequest { end })?;
    if turn.events.is_empty() {
        return Ok(None);
    }
    let led_to_it = events.into_iter().map(Into::into).collect();
    let result = carry_out(app, begin(app, machine, locked, &turn, led_to_it)?)?;
    Ok(Some(format!("its pull request was {word}: {}", transition_result::text(&result).replace('\n', "; "))))
}

/// Records what is new of an open pull request, and returns a message about it.
fn open(app: &App, mut locked: LockedWorkItem, pr: &PullRequest) -> Result<Option<String>> {
    let asked = asked_for(app, &mut locked, pr)?;
    let checks = checked(locked, pr)?;
    Ok(match (asked, checks) {
        (Some(asked), Some(checks)) => Some(format!("{asked}; {checks}")),
        (asked, checks) => asked.or(checks),
    })
}

/// Asks the forge about a merge that it has accepted. Returns a message if it does not make it.
fn asked_for(app: &App, locked: &mut LockedWorkItem, pr: &PullRequest) -> Result<Option<String>> {
    let Some(asked) = locked.history().branch.asked_merge.clone().filter(|asked| asked.url == pr.url) else {
        return Ok(None);
    };
    let forge = || app.forge_of(&app.project_of(locked.task())?);
    let state = match asked.answer {
        Some(AskedAnswer::Pending { id, .. }) => {
            let unknown =
                || ForgeMergeState::Refused("the forge does not know the merge any more".to_owned());
            forge()?.merge_state(&pr.url, &id, &asked.commit)?.unwrap_or_else(unknown)
        }
        Some(AskedAnswer::Queued { .. }) => match forge()?.queued(&pr.url)? {
            Some(false) => ForgeMergeState::Refused("it has left the queue of the repository".to_owned()),
            Some(true) | None => return Ok(None),
        },
        Some(AskedAnswer::Refused { .. }) | None => return Ok(None),
    };
    by_forge::record(locked, &pr.url, &state)?;
    Ok(match state {
        ForgeMergeState::Refused(why) => Some(format!("its pull request was not merged: {why}")),
        ForgeMergeState::Queued => Some("its pull request is queued for merge".to_owned()),
        ForgeMergeState::Pending(_) | ForgeMergeState::Merged(_) => None,
    })
}

/// Records the checks of an open pull request, and returns a message about them, if they differ from the recorded ones.
fn checked(mut locked: LockedWorkItem, pr: &PullRequest) -> Result<Option<String>> {
    let Some(CheckedCommit { commit, state, unknown, .. }) = pr.checks.clone() else { return Ok(None) };
    let seen = ChecksSeen { url: pr.url.clone(), commit, state };
    if locked.history().branch.checks.as_ref() == Some(&seen) {
        return Ok(None);
    }
    let mut story = format!("the checks of its pull request at {}: {}", short(&seen.commit), seen.state);
    if let Some(word) = unknown {
        story += &format!(" (`{}` is a word that this version does not know)", word.escape_debug());
    }
    locked.append(Event::PrChecks(seen), Set::new())?;
    Ok(Some(story))
}

/// Links a pull request that an agent or a person has opened for the branch of a task, and continues as [`follow`]. Returns a
/// message about the change.
pub fn found(app: &App, dir: &WorkItemDir, pr: &PullRequest) -> Result<String> {
    hooks::pull_request::keep(&mut lock_recovered(app, dir)?, &pr.url)?;
    let linked = format!("its branch has a pull request: {}", pr.url);
    Ok(match follow(app, dir, pr)? {
        Some(story) => format!("{linked}; {story}"),
        None => linked,
    })
}

/// The events of a merged pull request.
pub fn merged(app: &App, task: &WorkItem, pr: &PullRequest) -> Result<Vec<Event>> {
    let into = app.project_of(task)?.default_branch;
    let merged =
        Event::TaskMerged { strategy: Strategy::PullRequest, into, commit: pr.commit.clone(), kept: false };
    Ok(vec![Event::PrMerged { url: pr.url.clone() }, merged])
}
