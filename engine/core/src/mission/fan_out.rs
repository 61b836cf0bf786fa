//! Items of a step: they are made when it is queued, and end one by one until the step has ended.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::apply::Boundary;
use super::{
    Attempt, AttemptEnd, Effect, ItemState, ItemStatus, LandingEnd, Mission, StepFailure, StepState,
    StepStatus,
};
use crate::plan::{ItemList, Plan, Step, StepId, StepSet, Value, WorktreeUse};

impl Mission {
    /// Number of attempts that a step needs at once to be queued.
    pub(super) fn attempts_needed(&self, plan: &Plan<'_>, id: StepId) -> u32 {
        match self.step(id).failed_items() {
            0 => self.list(plan, id).map_or(1, |it| it.len() as u32),
            failed => failed,
        }
    }

    /// Queues a step, or those of its items that have failed.
    pub(super) fn queue(&mut self, plan: &Plan<'_>, id: StepId) {
        let step = plan.step(id);
        if !step.has_items() {
            return self.step_mut(id).queue();
        }
        let texts = self.list(plan, id).unwrap_or_else(|| vec![String::new()]);
        let state = self.step_mut(id);
        state.failure = None;
        state.is_handled = false;
        if state.failed_items() == 0 {
            state.items = texts.into_iter().map(ItemState::new).collect();
        }
        for item in 0..state.items.len() {
            if state.items[item].status == ItemStatus::Failed {
                state.queue_item(step, item);
                state.items[item].forget_losses();
            }
        }
        state.show_items();
    }

    /// True if the list of a fan-out is there and not empty, or was read before; true of any other step.
    pub(super) fn has_list(&self, plan: &Plan<'_>, id: StepId) -> bool {
        !plan.step(id).is_fan_out()
            || self.step(id).failed_items() > 0
            || self.list(plan, id).is_some_and(|it| !it.is_empty())
    }

    /// True if a fan-out may have a list once these steps have run.
    pub(super) fn may_have_list(&self, plan: &Plan<'_>, id: StepId, steps: &StepSet) -> bool {
        let list = plan.step(id).fan_out.and_then(|it| it.list.step());
        self.has_list(plan, id) || list.is_some_and(|it| steps.has(it))
    }

    /// The list of a fan-out as it is now; `None` while it is not there, and of another step.
    fn list(&self, plan: &Plan<'_>, id: StepId) -> Option<Vec<String>> {
        let value = match plan.step(id).fan_out?.list {
            ItemList::Fixed(items) => return Some(items.iter().map(|it| String::from(*it)).collect()),
            ItemList::Input(input) => self.inputs.get(plan.inputs.get(input.index())?.name)?,
            ItemList::Output(step, output) => {
                let name = plan.outputs_of(step).get(output.index())?.name;
                self.step(step).latest.as_ref()?.outputs.get(name)?
            }
        };
        match value {
            Value::List(items) => Some(items.clone()),
            Value::Bool(_) | Value::Number(_) | Value::Text(_) => None,
        }
    }

    /// Consequences of the end of an item: none before the last one has ended.
    pub(super) fn item_ended(&mut self, plan: &Plan<'_>, id: StepId) -> Vec<Effect> {
        let state = self.step_mut(id);
        if state.items.iter().any(|it| it.status.is_open()) {
            state.show_items();
            return Vec::new();
        }
        match state.failure_of_items(plan.step(id)) {
            Some(failure) => self.failed(plan, id, failure),
            None => self.items_completed(plan, id),
        }
    }

    /// Consequences of the completion of a step with items.
    fn items_completed(&mut self, plan: &Plan<'_>, id: StepId) -> Vec<Effect> {
        let state = self.step_mut(id);
        let has_warning = state.reports(&state.items).any(|it| it.warning.is_some());
        state.rounds = state.rounds.saturating_add(1);
        match plan.step(id).is_fan_out() {
            true => {
                state.latest = None;
                state.latest_items = state.items.clone();
            }
            false => {
                let report = state.reports(&state.items).next().cloned();
                state.latest = report;
            }
        }
        self.completed(plan, id);
        self.go_on(plan, Some(Boundary::Completed { step: id, has_warning }))
    }
}

impl Step<'_> {
    /// True if its jobs are items: those of a fan-out, or the only one of a step with its own worktree.
    pub(super) fn has_items(&self) -> bool {
        !self.is_ask() && (self.is_fan_out() || self.worktree == WorktreeUse::Own)
    }
}

impl StepState {
    /// Number of its items that have failed.
    pub(super) fn failed_items(&self) -> u32 {
        self.items.iter().filter(|it| it.status == ItemStatus::Failed).count() as u32
    }

    /// The failure that follows from the ends of its items, if fewer have completed than it needs.
    fn failure_of_items(&self, step: &Step<'_>) -> Option<StepFailure> {
        let failures = || self.items.iter().filter_map(|it| it.failure.as_ref());
        let Some(fan_out) = step.fan_out else { return failures().next().cloned() };
        let of = self.items.len();
        let failed = failures().count();
        if of - failed >= fan_out.needed(of) {
            return None;
        }
        // A handler would need an attempt, too.
        let is_capped = failures().any(|it| *it == StepFailure::Cap);
        let items = StepFailure::Items { failed: failed as u16, of: of as u16 };
        Some(if is_capped { StepFailure::Cap } else { items })
    }

    /// Makes a new attempt of an item.
    fn queue_item(&mut self, step: &Step<'_>, item: usize) {
        let number = step.is_fan_out().then_some(item as u16);
        self.attempts.push(Attempt { item: number, ..Attempt::default() });
        let attempt = self.attempt();
        let item = &mut self.items[item];
        item.attempt = attempt;
        item.status = ItemStatus::Queued;
        item.failure = None;
    }

    /// Makes a new attempt of the job of this one.
    pub(super) fn queue_again(&mut self, step: &Step<'_>, attempt: u32) {
        match self.item_of(attempt) {
            None => self.queue(),
            Some(item) => {
                self.queue_item(step, item);
                self.show_items();
            }
        }
    }

    /// Shows by the status of the step how its open items stand.
    pub(super) fn show_items(&mut self) {
        let mut open = self.items.iter().filter(|it| it.status.is_open());
        self.status = match open.all(|it| it.status == ItemStatus::Queued) {
            true => StepStatus::Queued,
            false => StepStatus::Running,
        };
    }

    /// Withdraws the items that have not ended. The branch of one that waits to land stays.
    pub(super) fn withdraw_items(&mut self) {
        for item in self.items.iter_mut().filter(|it| it.status.is_open()) {
            if let Some(attempt) = self.attempts.get_mut((item.attempt as usize).wrapping_sub(1)) {
                match item.status.awaits_report() {
                    true => attempt.end = Some(AttemptEnd::Withdrawn),
                    false => attempt.landing = Some(LandingEnd::Withdrawn),
                }
            }
            item.status = ItemStatus::Cancelled;
        }
    }
}

impl ItemState {
    /// An item without an attempt, which is about to get one.
    fn new(text: String) -> ItemState {
        ItemState { text, status: ItemStatus::Failed, attempt: 0, lost: 0, abandoned: 0, failure: None }
    }

    /// Ends it.
    pub(super) fn end(&mut self, failure: Option<StepFailure>) {
        self.status = if failure.is_some() { ItemStatus::Failed } else { ItemStatus::Completed };
        self.failure = failure;
    }

    pub(super) fn forget_losses(&mut self) {
        (self.lost, self.abandoned) = (0, 0);
    }
}
