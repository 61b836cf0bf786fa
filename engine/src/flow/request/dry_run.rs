//! The answer that a request would get, without locking, writing or running anything.

use orange_core::{LifeEvent, LifeTurn, Machine};

use crate::app::App;
use crate::flow::life::{self, closing};
use crate::flow::request::check_turn;
use crate::flow::request::transition_result;
use crate::flow::{Goal, definition};
use crate::hooks;
use crate::store::{Event, OpenTransition, Record, Set, WorkItem, WorkItemDir, WorkItemHistory, journal};
use crate::{Result, store};
use orange_api::TransitionResult;

/// Says what a request would do. It assumes that the hooks of an open transition succeed.
pub fn dry_run(app: &App, dir: &WorkItemDir, goal: Goal<'_>) -> Result<TransitionResult> {
    let preview = TaskPreview::of(app, dir)?;
    let machine = app.machine_of(&preview.task.owned)?;
    let (task, history) = (&preview.task, &preview.history);
    let (turn, asked) =
        life::assuming(app, machine, task, history, goal.input(app, machine, task, history)?)?;
    check_turn(app, task, &turn)?;
    hooks::dry_run(app, task, turn.hooks())?;
    let asks = asked.iter().map(ToString::to_string).collect();
    Ok(TransitionResult { asks, ..preview.planned(machine, &turn) })
}

/// A task as a request would find it, after an open transition is finished and a new definition is followed.
#[derive(Debug)]
pub struct TaskPreview {
    pub task: WorkItem,
    /// The state that its journal folds to.
    pub history: WorkItemHistory,
    records: Vec<Record>,
}

impl TaskPreview {
    /// Reads the task, and adds in memory what the next command would write first.
    pub fn of(app: &App, dir: &WorkItemDir) -> Result<TaskPreview> {
        let (task, store::journal::Journal { records, .. }) = WorkItem::read(&app.home, dir)?;
        let mut preview = TaskPreview { history: WorkItemHistory::fold(&records), task, records };
        let machine = match app.machine_of(&preview.task.owned) {
            Ok(machine) => machine,
            // Loading succeeds without a machine; the command that needs one reports the error.
            Err(_) if preview.history.transition.open.is_none() => return Ok(preview),
            Err(error) => return Err(error),
        };
        definition::check(machine, &preview.task, &preview.history)?;
        if let Some(pending) = preview.history.transition.open.clone() {
            let (closed, set) = closing(machine, &preview.task, &pending.plan);
            preview.add(closed, with_counters(set, &pending));
        }
        if let Some((changed, set)) = definition::change(app, machine, &preview.task) {
            preview.add(changed, set);
        }
        Ok(preview)
    }

    fn add(&mut self, event: Event, set: Set) {
        let records = journal::records(self.history.last_seq, vec![(event, set)]);
        records.iter().for_each(|record| self.history.apply(record));
        self.task.owned = self.history.owned.clone();
        self.records.extend(records);
    }

    /// The answer to this turn.
    pub fn planned(&self, machine: &Machine<'_>, turn: &LifeTurn<'_>) -> TransitionResult {
        let forced = turn.events.iter().find_map(|event| {
            if let LifeEvent::Forced { what, to, .. } = event { Some((*what, *to)) } else { None }
        });
        let to = turn.decision().map(|decision| decision.to).or(forced.map(|(_, to)| to));
        let hooks = match forced {
            Some((what, to)) => machine.forced_hooks(what, to).iter().map(|hook| hook.name()).collect(),
            None => turn.hooks().iter().map(|effect| effect.hook.name()).collect::<Vec<_>>(),
        };
        TransitionResult {
            id: self.task.id.clone(),
            from: self.task.status().to_owned(),
            to: to.map_or(self.task.status(), |to| machine.state(to).name).to_owned(),
            review_round: self.task.counter("review_round"),
            hooks: hooks.into_iter().map(str::to_owned).collect(),
            dry_run: true,
            ..transition_result::beginning(&self.records)
        }
    }
}

/// Also sets what the hooks that have not ended would count.
fn with_counters(set: Set, pending: &OpenTransition) -> Set {
    pending
        .left()
        .filter_map(|hook| hook.counter.as_ref())
        .fold(set, |set, it| set.counter(&it.name, it.value))
}
