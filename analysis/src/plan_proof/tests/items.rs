//! Plans with readers, fan-outs and own worktrees.

use std::collections::BTreeSet;

use orange_core::mission::{Mission, MissionStatus, Report, StepFailure, StepState};
use orange_core::plan::{FanOut, ItemList, Step, StepId, WorktreeUse};

use super::*;
use crate::missions::{MissionAct, MissionEdge};
use crate::plan_walk::PlanWalk;

const LIST: FanOut<'static> = FanOut { list: ItemList::Fixed(&["x", "y", "z"]), enough: None };

const PANEL: Step<'static> = Step { id: "panel", fan_out: Some(LIST), stuck_after: 2, ..Step::EMPTY };

const ORDER: [StepId; 2] = [StepId(0), StepId(1)];

/// A fan-out with this use of the worktree, and a step after it.
fn steps(worktree: WorktreeUse) -> [Step<'static>; 2] {
    let after = Step { id: "pr", depends_on: &ORDER[..1], stuck_after: 2, ..Step::EMPTY };
    [Step { worktree, ..PANEL }, after]
}

#[test]
fn the_bound_counts_every_item() {
    let steps = steps(WorktreeUse::Read);
    let plan = Plan { name: "items", steps: &steps, order: &ORDER, ..Plan::EMPTY };
    assert_eq!(PlanBound::of(&plan).by_step, [6, 2]);
}

#[test]
fn a_walk_starts_and_lands_every_item() {
    let steps = steps(WorktreeUse::Own);
    let plan = Plan { name: "items", steps: &steps, order: &ORDER, ..Plan::EMPTY };
    let mut walk = PlanWalk::new(&plan, Policy::DEFAULT);
    assert_eq!(walk.mission.working().count(), 3);
    let complete = |step| MissionAct::Complete(StepId(step), Report::default());
    for _ in 0..3 {
        walk.act(&complete(0), None).unwrap();
    }
    assert_eq!(walk.mission.working().collect::<Vec<_>>(), [(StepId(1), 1)]);
    walk.act(&complete(1), None).unwrap();
    assert_eq!(walk.mission.status, MissionStatus::Completed);
}

/// Every run of a plan of which a person tries nothing again.
fn search<'p>(plan: &'p Plan<'p>, policy: Policy) -> MissionSearch<'p> {
    MissionSearch::run(plan, SearchScope { policy, failures: Failures::All, by_hand: false, losses: false })
}

const UNATTENDED: Policy = Policy { execution: Execution::Auto, intervene: Intervene::Never };

#[test]
fn a_panel_is_proved_with_every_item() {
    let steps = steps(WorktreeUse::Read);
    let plan = Plan { name: "items", parallel: 3, steps: &steps, order: &ORDER, ..Plan::EMPTY };
    let proof = of_plan(&plan);
    for property in &proof.properties {
        assert!(matches!(property.verdict, ProofVerdict::Proved { .. }), "{property:?}");
    }
    assert_eq!(proof.figures.attempts, Some(4));
    let writer = proof.properties.iter().find(|it| it.name == "one-writer").unwrap();
    let ProofVerdict::Proved { argument } = &writer.verdict else { panic!("{writer:?}") };
    assert!(argument.ends_with("at most 3 agents and programs at once"), "{argument}");
}

#[test]
fn an_item_fails_whose_branch_does_not_merge() {
    let steps = steps(WorktreeUse::Own);
    let plan = Plan { name: "items", parallel: 3, steps: &steps, order: &ORDER, ..Plan::EMPTY };
    let search = search(&plan, UNATTENDED);
    let conflict = |act: &MissionAct| matches!(act, MissionAct::Conflict(StepId(0), _));
    let edge = search.edges().iter().find(|it| conflict(&it.act)).unwrap();
    let trace = search.trace(edge.to, None);
    assert_eq!(trace.steps.last().unwrap().script, ["conflict panel"]);
    let failed = search.find(|it| it.status == MissionStatus::Failed).unwrap();
    assert!(!search.is_cut() && search.configuration(failed).step(StepId(0)).failure.is_some());
}

#[test]
fn enough_items_complete_a_step_and_fewer_do_not() {
    for (enough, most) in [(1, 2), (2, 1), (3, 0)] {
        let list = FanOut { list: ItemList::Fixed(&["x", "y", "z"]), enough: Some(enough) };
        let panel = Step { fan_out: Some(list), worktree: WorktreeUse::Read, ..PANEL };
        let after = Step { id: "pr", depends_on: &ORDER[..1], ..Step::EMPTY };
        let steps = [panel, after];
        let plan = Plan { name: "items", parallel: 3, steps: &steps, order: &ORDER, ..Plan::EMPTY };
        let search = search(&plan, UNATTENDED);
        // The items that have failed before the last one ends, and the step completes: none, one, and so on.
        let completes = |it: &&MissionEdge| search.work(it.to) == [StepId(1)];
        let failed = |it: &MissionEdge| {
            let run = search.run_to(it.from).into_iter().filter(|it| it.act.step() == Some(StepId(0)));
            run.chain([it]).filter(|it| matches!(it.act, MissionAct::Fail(..))).count()
        };
        let failures: BTreeSet<usize> = search.edges().iter().filter(completes).map(failed).collect();
        assert_eq!(failures.into_iter().max(), Some(most), "{enough}");
        assert!(search.lacks_items().is_none());
    }
}

#[test]
fn one_order_of_ends_comes_to_every_end_of_a_mission() {
    let mut compared = 0;
    for seed in 0..200 {
        let random = &mut Random(seed + 1);
        let uses = [WorktreeUse::Read, WorktreeUse::Own, WorktreeUse::Write];
        let mut steps = Vec::new();
        for id in ["a", "b", "c", "d"] {
            let at = steps.len();
            let depends_on = if at > 0 && random.below(2) == 0 { &ALL[random.below(at)..at] } else { &[] };
            let list =
                FanOut { list: ItemList::Fixed(&["x", "y"]), enough: [None, Some(1)][random.below(2)] };
            let fan_out = (random.below(3) == 0).then_some(list);
            steps.push(Step { id, depends_on, fan_out, worktree: uses[random.below(3)], ..Step::EMPTY });
        }
        let plan = |max_attempts| Plan {
            name: "order",
            parallel: 1 + (seed % 4) as u8,
            steps: &steps,
            order: &ALL,
            max_attempts,
            ..Plan::EMPTY
        };
        // A cap that nothing reaches has every order searched.
        let (one, all) = (plan(None), plan(Some(1000)));
        let [one, all] = [&one, &all].map(|it| ends(it));
        assert_eq!(one.1, all.1, "{seed}: {steps:#?}");
        compared += usize::from(one.0 < all.0);
    }
    assert!(compared >= 50, "{compared} plans have more than one order");
}

/// Number of configurations, and the statuses of the steps at each end of a mission.
fn ends(plan: &Plan<'_>) -> (usize, BTreeSet<String>) {
    let search = search(plan, UNATTENDED);
    assert!(!search.is_cut());
    let over = search.configurations().map(|(_, it)| it).filter(|it| it.status.is_terminal());
    let shown = |it: &Mission| {
        // Of two failures before a step, either may be the one because of which it has failed.
        let has_failed = |it: &StepState| it.failure.as_ref().is_some_and(StepFailure::is_own);
        let steps: Vec<_> = it.steps.iter().map(|it| (it.status, has_failed(it))).collect();
        format!("{:?} {steps:?}", it.status)
    };
    (search.configurations().count(), over.map(shown).collect())
}

const ALL: [StepId; 4] = [StepId(0), StepId(1), StepId(2), StepId(3)];

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}
