//! Facts that every lint of step workflows may ask for: the steps with their places, their plan, and its search.

use std::cell::Cell;
use std::collections::BTreeSet;

use orange_codegen::diag::{Diagnostic, Trace};
use orange_codegen::model::{Field, Step, StepId, StepPiece, StepPrompt, Steps};
use orange_codegen::span::Spanned;
use orange_core::Verdict;
use orange_core::mission::{Mission, StepFailure};
use orange_core::plan::{self, Execution, Intervene, Operand, Plan, Policy, WorktreeUse};

use crate::lint::MAX_TRACED;
use crate::missions::worlds::Worlds;
use crate::missions::{Failures, MissionConfigurationId, MissionSearch, SearchScope};
use crate::search::SearchLimits;

/// Everything about one checked step workflow.
#[derive(Debug)]
pub struct StepFacts<'f> {
    /// The steps, with a span on everything.
    pub steps: &'f Steps,
    /// Their tables.
    pub plan: &'f Plan<'f>,
    /// Every run of the plan.
    pub search: MissionSearch<'f>,
    /// The order of the steps.
    before: EarlierSteps,
    /// The steps with a condition.
    conditional: Vec<StepId>,
    /// Pairs of steps that do not wait for each other, the first one first: each step with the nearest one before it.
    unordered: Vec<(StepId, StepId)>,
    /// The steps with a dependency or a dependent.
    connected: BTreeSet<StepId>,
    /// Number of acts in the traces so far.
    traced: Cell<usize>,
}

impl<'f> StepFacts<'f> {
    /// Gathers what lints ask for.
    pub fn new(steps: &'f Steps, plan: &'f Plan<'f>) -> Self {
        Self::within(steps, plan, &SearchLimits::default())
    }

    /// Gathers what lints ask for, until somebody stops the search.
    pub(crate) fn within(steps: &'f Steps, plan: &'f Plan<'f>, limits: &SearchLimits<'_>) -> Self {
        let policy = Policy { execution: Execution::Auto, intervene: Intervene::Never };
        let scope = SearchScope { policy, failures: Failures::Handled, by_hand: false, losses: false };
        let search = MissionSearch::within(plan, scope, limits);
        let edges =
            || plan.step_ids().flat_map(|id| plan.step(id).depends_on.iter().map(move |it| (id, *it)));
        let connected = edges().flat_map(|(a, b)| [a, b]).collect();
        let conditional = plan.step_ids().filter(|id| plan.step(*id).condition.is_some()).collect();
        let before = EarlierSteps::of(plan);
        let (unordered, traced) = (Vec::new(), Cell::new(0));
        let mut facts = Self { steps, plan, search, before, conditional, unordered, connected, traced };
        facts.unordered = facts.pairs();
        facts
    }

    /// Every step with its number.
    pub(in crate::lint) fn all(&self) -> impl Iterator<Item = (StepId, &'f Step)> + use<'f> {
        (0..).zip(&self.steps.steps).map(|(id, step)| (StepId(id), step))
    }

    pub(in crate::lint) fn step(&self, id: StepId) -> &'f Step {
        &self.steps.steps[id.index()]
    }

    pub(in crate::lint) fn name(&self, id: StepId) -> &'f str {
        &self.step(id).id.value
    }

    pub(in crate::lint) fn has_role(&self, id: StepId, role: &str) -> bool {
        self.plan.role(self.plan.step(id).role).eq_ignore_ascii_case(role)
    }

    /// True if a step reviews: it has the role `reviewer`, or is called a review and reports a verdict. One that tests the work has to run
    /// programs, and one that sends others back works itself.
    pub(in crate::lint) fn is_reviewer(&self, id: StepId) -> bool {
        let is_verdict =
            |it: &&str| [Verdict::PASS, Verdict::FAIL].iter().any(|verdict| verdict.as_str() == *it);
        let is_called_review = || {
            self.name(id)
                .split(['-', '_'])
                .any(|it| ["review", "reviewer"].contains(&it.to_ascii_lowercase().as_str()))
        };
        let judges = || is_called_review() && self.plan.results_of(id).iter().any(is_verdict);
        !self.step(id).is_program()
            && !self.step(id).is_ask()
            && !self.plan.step(id).is_loop()
            && (self.has_role(id, "reviewer") || judges())
    }

    /// The first run to this mission, as readers see it; none beyond [`MAX_TRACED`] acts of all traces.
    pub(crate) fn tell(
        &self,
        to: Option<MissionConfigurationId>,
        end: impl Into<Option<String>>,
    ) -> Option<Trace> {
        let to = to?;
        let total = self.traced.get() + self.search.run_to(to).len();
        if total > MAX_TRACED {
            return None;
        }
        self.traced.set(total);
        Some(self.search.trace(to, end.into()))
    }

    /// A word which is never reported, with which the condition of a step compares a result, and the step of that.
    pub(super) fn unknown_value(&self, step: &'f Step) -> Option<(StepId, Spanned<&'f str>)> {
        let tests = step.condition.as_ref()?.tests();
        let mut words = tests.into_iter().filter_map(|test| match test.of {
            Operand::Step(read, Field::Result) => Some((read, test.words())),
            Operand::Step(..) | Operand::Input(_) => None,
        });
        words.find_map(|(read, words)| {
            let declared = self.plan.results_of(read);
            let unknown = |it: &Spanned<&str>| !declared.is_empty() && !declared.contains(&it.value);
            Some((read, words.into_iter().find(unknown)?))
        })
    }

    /// True if a step waits for no other, no other waits for it, and nothing says that this is meant.
    pub(super) fn is_disconnected(&self, id: StepId) -> bool {
        let is_handler = self.plan.step(id).handles.is_some();
        !is_handler
            && !self.step(id).independent
            && !self.connected.is_empty()
            && !self.connected.contains(&id)
    }

    /// Pairs of steps that do not wait for each other.
    pub(super) fn unordered_pairs(&self) -> impl Iterator<Item = (StepId, StepId)> {
        self.unordered.iter().copied()
    }

    /// Those of them that a run can start both.
    pub(super) fn open_pairs(&self) -> impl Iterator<Item = (StepId, StepId)> {
        let pairs = self.unordered_pairs();
        pairs.filter(|(a, b)| !self.is_disconnected(*a) && !self.is_disconnected(*b))
    }

    /// True if two steps have equal conditions.
    pub(super) fn is_overlap(&self, a: StepId, b: StepId) -> bool {
        let condition = |id: StepId| self.plan.step(id).condition;
        condition(a).is_some() && condition(a) == condition(b)
    }

    /// True if the first step waits for the second one, directly or not.
    pub(super) fn waits_for(&self, id: StepId, other: StepId) -> bool {
        self.before.has(id, other)
    }

    fn pairs(&self) -> Vec<(StepId, StepId)> {
        let is_handler = |id: StepId| self.plan.step(id).handles.is_some();
        let is_ask = |id: StepId| self.plan.step(id).is_ask();
        let steps = self.plan.step_ids().filter(|id| !is_handler(*id) && !is_ask(*id));
        let pairs = steps.filter_map(|id| {
            let conditions = self.conditions(id);
            let others = self
                .before
                .unrelated(id)
                .filter(|it| !self.waits_for(*it, id) && !is_handler(*it) && !is_ask(*it));
            others
                .filter(|it| !is_beside(self.plan.step(*it), self.plan.step(id)))
                .filter(|it| !exclude_each_other(self.plan, &self.conditions(*it), &conditions))
                .find(|it| self.run_in_one_mission(*it, id))
                .map(|it| (it, id))
        });
        pairs.collect()
    }

    /// True if some mission runs both steps, or not all runs were looked at.
    fn run_in_one_mission(&self, a: StepId, b: StepId) -> bool {
        let runs = |at: MissionConfigurationId, mission: &Mission, id: StepId| {
            let state = mission.step(id);
            let has_failed = state.failure.as_ref().is_some_and(StepFailure::is_own);
            state.has_report() || has_failed || self.search.work(at).contains(&id)
        };
        let mut missions = self.search.configurations();
        self.search.is_cut()
            || self.search.is_coarse()
            || missions.any(|(at, it)| runs(at, it, a) && runs(at, it, b))
    }

    /// The conditions of a step and of those for which it waits.
    fn conditions(&self, id: StepId) -> Vec<plan::StepCondition<'f>> {
        let those = self.conditional.iter().filter(|it| **it == id || self.waits_for(id, **it));
        those.filter_map(|it| self.plan.step(*it).condition).collect()
    }
}

/// True if two steps may work at once: both only read, or one has a worktree of its own.
fn is_beside(a: &plan::Step<'_>, b: &plan::Step<'_>) -> bool {
    match (a.worktree, b.worktree) {
        (WorktreeUse::Own, _) | (_, WorktreeUse::Own) | (WorktreeUse::Read, WorktreeUse::Read) => true,
        (WorktreeUse::Write, WorktreeUse::Write | WorktreeUse::Read)
        | (WorktreeUse::Read, WorktreeUse::Write) => false,
    }
}

/// True if no round starts both of two steps: their conditions, or those of steps for which they wait, never hold both.
fn exclude_each_other(plan: &Plan<'_>, a: &[plan::StepCondition<'_>], b: &[plan::StepCondition<'_>]) -> bool {
    let differ = |a: &plan::StepCondition<'_>, b: &plan::StepCondition<'_>| {
        if let Some((a, b)) = a.equality().zip(b.equality()) {
            return (a.0, a.1) == (b.0, b.1) && a.2 != b.2;
        }
        let reads_same = a.tests().iter().any(|one| b.tests().iter().any(|other| one.of == other.of));
        let both = [*a, *b];
        reads_same
            && Worlds::of(plan, &both)
                .is_some_and(|it| it.all().all(|it| !both.iter().all(|both| it.holds(both))))
    };
    a.iter().any(|a| b.iter().any(|b| differ(a, b)))
}

/// For each step those for which it waits, directly or not, a bit each: workflows may have thousands of steps.
#[derive(Debug)]
struct EarlierSteps(Vec<Vec<u64>>);

impl EarlierSteps {
    fn of(plan: &Plan<'_>) -> Self {
        let mut before = vec![vec![0; plan.steps.len().div_ceil(64)]; plan.steps.len()];
        for id in plan.order {
            let mut bits = std::mem::take(&mut before[id.index()]);
            for dependency in plan.step(*id).depends_on {
                bits.iter_mut().zip(&before[dependency.index()]).for_each(|(bits, more)| *bits |= more);
                bits[dependency.index() / 64] |= 1 << (dependency.index() % 64);
            }
            before[id.index()] = bits;
        }
        Self(before)
    }

    /// True if the first step waits for the second one.
    fn has(&self, id: StepId, other: StepId) -> bool {
        self.0[id.index()][other.index() / 64] >> (other.index() % 64) & 1 == 1
    }

    /// The steps before this one in the file for which it does not wait, the nearest one first.
    fn unrelated(&self, id: StepId) -> impl Iterator<Item = StepId> {
        let words = self.0[id.index()].iter().enumerate().take(id.index() / 64 + 1).rev();
        let open = words.filter(|(_, word)| **word != u64::MAX);
        let bits = open.flat_map(|(index, word)| {
            (0..64).rev().filter(move |bit| word >> bit & 1 == 0).map(move |bit| index * 64 + bit)
        });
        bits.filter(move |it| *it < id.index()).map(|it| StepId(it as u16))
    }
}

/// The findings of many, each with its own.
pub(in crate::lint) fn each<T>(
    items: impl IntoIterator<Item = T>,
    find: impl Fn(T) -> Option<Diagnostic>,
) -> Vec<Diagnostic> {
    items.into_iter().filter_map(find).collect()
}

/// The prompt with its placeholders, as it is written.
pub(in crate::lint) fn prompt_text(prompt: &StepPrompt) -> String {
    let pieces = prompt.pieces.iter().map(|piece| match piece {
        StepPiece::Text(text) => text.clone(),
        StepPiece::Value(value) => format!("{{{{{}}}}}", value.name()),
        StepPiece::Read(_, name) => format!("{{{{{}}}}}", name.value),
    });
    pieces.collect()
}
