//! Changes what people decide about a task: its harnesses, its summary, its priority, and what it waits for.

use crate::app::App;
use crate::flow::blocked::{self, check_circle};
use crate::flow::lock_recovered;
use crate::flow::person::create::check_summary;
use crate::flow::request::dry_run::TaskPreview;
use crate::flow::waiting;
use crate::hooks::agent_processes;
use crate::store::event;
use crate::store::scalar::Value;
use crate::store::{WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result, store};

/// The wishes of the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edits<'e> {
    /// The harness of workers.
    pub harness: Option<&'e str>,
    /// The harness of reviewers.
    pub review_harness: Option<&'e str>,
    /// Summary of the work.
    pub summary: Option<&'e str>,
    /// Of waiting tasks, the one with the highest number starts first.
    pub priority: Option<i32>,
    /// The tasks that are to be merged before it starts, by id or branch; an empty list unblocks it.
    pub blocked_by: Option<&'e [String]>,
    /// True if a person has seen the engine's call for attention.
    pub seen: bool,
    /// The call for attention that the person has seen, if `seen` is about no other.
    pub seen_call: Option<&'e str>,
    /// Only say what would change.
    pub dry_run: bool,
}

impl Edits<'_> {
    /// Refuses what asks for nothing, before any task is looked for.
    pub fn check(&self) -> Result<()> {
        let texts = [self.harness, self.review_harness, self.summary];
        let is_empty =
            texts.iter().all(Option::is_none) && self.priority.is_none() && self.blocked_by.is_none();
        if is_empty && !self.seen {
            return Err(Error::new(ErrorKind::Usage, "nothing to edit").help(
                "give --harness, --review-harness, --summary, --priority, --blocked-by, --unblock or --seen",
            ));
        }
        check_summary(self.summary, "say in it what is to be done")
    }
}

/// Makes the changes, all of them or none, and returns their keys. The harness of an agent that is alive stays as it is.
///
/// # Errors
/// `not_found` for an unknown harness or task; `refused` for the harness of a living agent, and for a task that would wait for
/// itself.
pub fn edit(app: &App, dir: &WorkItemDir, edits: Edits<'_>) -> Result<Vec<&'static str>> {
    app.caller.check_person("edit a task")?;
    for harness in [edits.harness, edits.review_harness].into_iter().flatten() {
        app.harness(harness)?;
    }
    let blockers = edits.blocked_by.map(|names| blocked::named(app, &dir.project, names)).transpose()?;
    let admit = |history: &WorkItemHistory| {
        check_circle(app, dir, blockers.as_deref().unwrap_or_default())?;
        check_seats(app, dir, history, edits)
    };
    let (priority, blocked_by) =
        (edits.priority.map(|number| number.to_string()), blockers.as_ref().map(|ids| ids.join(", ")));
    let changes = [
        ("harness", edits.harness.map(Value::Text)),
        ("review_harness", edits.review_harness.map(Value::Text)),
        ("summary", edits.summary.map(Value::Text)),
        ("priority", priority.as_deref().map(Value::Plain)),
        ("blocked_by", blocked_by.as_deref().map(list)),
        ("attention", edits.seen.then_some(Value::Null)),
    ];
    let changes: Vec<(&'static str, Value<'_>)> =
        changes.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    if edits.dry_run {
        admit(&TaskPreview::of(app, dir)?.history)?;
    } else {
        drop(lock_recovered(app, dir)?);
        store::edit_in_project(&app.home, dir, &changes, |locked| {
            check_call(locked.task().attention.as_deref(), edits.seen_call)?;
            admit(locked.history())
        })?;
        waiting::overdue(app, dir)?;
    }
    Ok(changes.into_iter().map(|(key, _)| key).collect())
}

fn list(ids: &str) -> Value<'_> {
    if ids.is_empty() { Value::Null } else { Value::Text(ids) }
}

/// Refuses to confirm another call than the one that the person has seen.
fn check_call(current: Option<&str>, seen: Option<&str>) -> Result<()> {
    match seen {
        Some(call) if current != Some(call) => {
            Err(Error::new(ErrorKind::Refused, "this call for attention is over, or another one has come")
                .help("`orange task list` shows the tasks that need you"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Another harness could not continue what a living agent has begun.
fn check_seats(app: &App, dir: &WorkItemDir, history: &WorkItemHistory, edits: Edits<'_>) -> Result<()> {
    let seats = [
        (event::Actor::Worker, edits.harness, "--harness"),
        (event::Actor::Reviewer, edits.review_harness, "--review-harness"),
    ];
    for (actor, _, option) in seats.into_iter().filter(|(_, wanted, _)| wanted.is_some()) {
        for record in history.agents.alive.values().filter(|record| record.actor == actor) {
            if agent_processes::is_alive(dir, record, &app.tmux.panes_of(&dir.id)?)? {
                let spawn = record.spawn;
                let message = format!("agent {spawn} ({actor}) is alive, so {option} cannot change");
                return Err(Error::new(ErrorKind::Refused, message).help(format!(
                    "end it first with `orange task stop {0}`; `orange task respawn {0}` starts the new one",
                    dir.id
                )));
            }
        }
    }
    Ok(())
}
