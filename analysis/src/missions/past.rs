//! Steps that have ended for good: nothing runs them again, and nothing reads them any more.

use orange_core::mission::{Mission, Report, StepStatus};
use orange_core::plan::{Plan, StepId, StepSet};

/// The relations of steps that say which of them have ended for good.
#[derive(Debug)]
pub(super) struct Past<'p> {
    plan: &'p Plan<'p>,
    /// The loop steps, each with all that it can send back.
    loops: Vec<(StepId, StepSet)>,
    /// By step: those that depend on it or read it.
    readers: Vec<Vec<StepId>>,
}

impl<'p> Past<'p> {
    pub(super) fn of(plan: &'p Plan<'p>) -> Self {
        let loops = plan.step_ids().filter(|it| plan.step(*it).is_loop());
        let reads = |reader: StepId, id: StepId| {
            let rule = plan.step(reader);
            let list = rule.fan_out.and_then(|it| it.list.step());
            let condition = rule.condition.is_some_and(|it| it.reads_one_of(&StepSet::of(plan, &[id])));
            condition || list == Some(id) || rule.depends_on.contains(&id)
        };
        Self {
            plan,
            loops: loops.map(|it| (it, sent_back_by(plan, it))).collect(),
            readers: plan
                .step_ids()
                .map(|id| plan.step_ids().filter(|it| reads(*it, id)).collect())
                .collect(),
        }
    }

    /// Leaves out of a mission what its steps that have ended for good have reported, and how often they have run; of loop steps and handlers
    /// also whether they have run, where the last round did not need them.
    pub(super) fn forget(&self, key: &mut Mission) {
        let open = self.open(key);
        let is_past = |id: StepId| {
            let readers = &self.readers[id.index()];
            !open.has(id) && readers.iter().all(|it| !open.has(*it))
        };
        let past: Vec<StepId> = self.plan.step_ids().filter(|it| is_past(*it)).collect();
        for id in past {
            let step = &mut key.steps[id.index()];
            let rule = self.plan.step(id);
            let has_run = match rule.is_loop() || rule.handles.is_some() {
                true => step.status == StepStatus::Completed || step.is_handled,
                false => step.has_report(),
            };
            step.latest = has_run.then(Report::default);
            (step.completions, step.rounds, step.sent_back_by) = (0, 0, None);
            step.attempts.clear();
            step.items.clear();
            step.latest_items.clear();
        }
    }

    /// The steps that may still change: those that have not ended, or have failed so that a person may run them again, those that an open
    /// loop can send back, their handlers, and those for which one of these comes before.
    fn open(&self, mission: &Mission) -> StepSet {
        let plan = self.plan;
        let may_change = |id: &StepId| {
            let state = mission.step(*id);
            !state.status.is_terminal() || (state.status == StepStatus::Failed && !state.is_handled)
        };
        let mut open = StepSet::of(plan, &plan.step_ids().filter(may_change).collect::<Vec<_>>());
        while self.widen(&mut open) {}
        open
    }

    /// Adds the steps that change with these. `true` if there are any.
    fn widen(&self, open: &mut StepSet) -> bool {
        let mut is_wider = false;
        let mut add = |open: &mut StepSet, id: StepId| {
            is_wider |= !open.has(id);
            open.add(id);
        };
        for (id, sent_back) in &self.loops {
            if open.has(*id) || self.plan.step(*id).on_fail.is_some_and(|it| open.has(it)) {
                sent_back.iter().for_each(|it| add(open, it));
            }
        }
        for id in self.plan.order {
            let rule = self.plan.step(*id);
            let before = rule.depends_on.iter().copied().chain(rule.handles);
            if before.into_iter().any(|it| open.has(it)) {
                add(open, *id);
            }
        }
        is_wider
    }
}

/// The most steps of a plan of which each waits for the one before.
pub(super) fn longest_path(plan: &Plan<'_>) -> usize {
    let mut lengths = vec![0; plan.steps.len()];
    for id in plan.order {
        let before = plan.step(*id).depends_on.iter().map(|it| lengths[it.index()]).max();
        lengths[id.index()] = before.unwrap_or(0) + 1;
    }
    lengths.into_iter().max().unwrap_or(0)
}

/// Every step that a loop step can send back: those that it re-queues, itself, those between, those whose condition or list reads one
/// of them, and everything downstream of these.
pub(crate) fn sent_back_by(plan: &Plan<'_>, id: StepId) -> StepSet {
    let mut set = StepSet::of(plan, plan.step(id).requeue);
    let (after, before) = (plan.downstream(&set), plan.upstream(id));
    set.add(id);
    after.iter().filter(|it| before.has(*it)).for_each(|it| set.add(it));
    let round = set.clone();
    let reads = |it: &StepId| {
        let step = plan.step(*it);
        let list = step.fan_out.and_then(|it| it.list.step());
        list.is_some_and(|it| round.has(it)) || step.condition.is_some_and(|it| it.reads_one_of(&round))
    };
    plan.step_ids().filter(reads).for_each(|it| set.add(it));
    plan.downstream(&set).iter().for_each(|it| set.add(it));
    set
}
