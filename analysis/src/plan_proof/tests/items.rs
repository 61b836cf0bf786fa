//! Plans with readers, fan-outs and own worktrees: the search does not follow them, so that nothing is proved; a walk does.

use orange_core::mission::{MissionStatus, Report};
use orange_core::plan::{FanOut, ItemList, Step, StepId, WorktreeUse};

use super::*;
use crate::missions::MissionAct;
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
fn nothing_is_proved_of_a_plan_that_the_search_cannot_follow() {
    let reader = Step { id: "a", worktree: WorktreeUse::Read, ..Step::EMPTY };
    let own = Step { id: "a", worktree: WorktreeUse::Own, ..Step::EMPTY };
    let pr = Step { id: "pr", ..Step::EMPTY };
    for steps in [[reader, pr], [own, pr], steps(WorktreeUse::Write), steps(WorktreeUse::Own)] {
        let plan = Plan { name: "items", steps: &steps, order: &ORDER, ..Plan::EMPTY };
        let proof = of_plan(&plan);
        for property in &proof.properties {
            let ProofVerdict::Undecided { cut } = &property.verdict else { panic!("{property:?}") };
            let expect = "it does not follow readers, fan-outs and own worktrees";
            assert!(cut.starts_with(expect), "{}: {cut}", property.name);
        }
        assert!(proof.figures.is_cut && proof.figures.attempts.is_none());
    }
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
