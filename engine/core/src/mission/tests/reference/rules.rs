//! Rules of the plan about each step, written down once.

use super::*;

/// Rule of the plan about a step.
pub(super) struct StepRule<'p> {
    pub(super) name: String,
    pub(super) depends_on: Vec<StepId>,
    pub(super) upstream: StepBits,
    pub(super) condition: Option<StepCondition<'p>>,
    pub(super) outputs: &'p [Output<'p>],
    pub(super) declared: Vec<String>,
    pub(super) needs_result: bool,
    pub(super) max_retries: u32,
    pub(super) requeue: StepBits,
    /// Of a loop step: what always goes back when it completes, itself included.
    pub(super) again: StepBits,
    /// Of a loop step: what waits for those, and goes back unless it has completed.
    pub(super) after: StepBits,
    pub(super) handler: Option<StepId>,
    pub(super) handles: Option<StepId>,
    pub(super) stuck_after: u16,
    pub(super) worktree: WorktreeUse,
    pub(super) fan_out: Option<FanOut<'p>>,
    pub(super) ask: Option<Ask<'p>>,
    /// The words that the step has for itself.
    pub(super) words: Vec<String>,
}

pub(super) fn rules<'p>(plan: &Plan<'p>) -> Vec<StepRule<'p>> {
    assert!(plan.steps.len() <= 64, "a set of steps has room for 64");
    let upstream: Vec<StepBits> = plan.step_ids().map(|it| upstream(plan, it)).collect();
    let handled_by =
        |handler: StepId| plan.step_ids().find(|it| plan.steps[it.index()].on_fail == Some(handler));
    let reads_result =
        |it: &Step<'_>, of| tests(it).iter().any(|on| on.of == Operand::Step(of, Field::Result));
    let is_read = |it: StepId| plan.steps.iter().any(|reader| reads_result(reader, it));
    let rule = |id: StepId| {
        let step = &plan.steps[id.index()];
        let handles = handled_by(id);
        let declared = match handles {
            Some(failed) if step.results.is_empty() => plan.steps[failed.index()].results,
            _ => step.results,
        };
        let requeue = StepBits::of(step.requeue.iter().copied());
        let between = upstream[id.index()].all().filter(|it| upstream[it.index()].meets(requeue));
        let round = requeue.and(StepBits::of(between)).and(StepBits::of([id]));
        let reads_round = |test: &StepTest<'_>| test.of.step().is_some_and(|it| round.has(it));
        let lists_round = |it: &Step<'_>| matches!(it.fan_out, Some(FanOut { list: ItemList::Output(from, _), .. }) if round.has(from));
        let readers = plan.step_ids().filter(|it| {
            let step = &plan.steps[it.index()];
            lists_round(step) || tests(step).iter().any(reads_round)
        });
        let again = round.and(StepBits::of(readers));
        StepRule {
            name: step.id.to_owned(),
            depends_on: step.depends_on.to_vec(),
            upstream: upstream[id.index()],
            condition: step.condition,
            outputs: plan.steps[handles.unwrap_or(id).index()].outputs,
            declared: declared.iter().map(|it| (*it).to_owned()).collect(),
            needs_result: !declared.is_empty() || is_read(id) || handles.is_some_and(is_read),
            max_retries: u32::from(step.max_retries),
            requeue,
            again,
            after: StepBits::of(plan.step_ids().filter(|it| upstream[it.index()].meets(again))),
            handler: step.on_fail,
            handles,
            stuck_after: step.stuck_after,
            worktree: step.worktree,
            fan_out: step.fan_out,
            ask: step.ask.copied(),
            words: step.results.iter().map(|it| (*it).to_owned()).collect(),
        }
    };
    plan.step_ids().map(rule).collect()
}

/// Everything for which a step waits.
fn upstream(plan: &Plan<'_>, of: StepId) -> StepBits {
    let direct = |it: StepId| plan.steps[it.index()].depends_on.iter().copied();
    let mut found = StepBits::of(direct(of));
    loop {
        let more = found.and(StepBits::of(found.all().flat_map(direct)));
        if more == found {
            return found;
        }
        found = more;
    }
}

fn tests<'p>(step: &Step<'p>) -> Vec<StepTest<'p>> {
    step.condition.map(|it| it.tests()).unwrap_or_default()
}
