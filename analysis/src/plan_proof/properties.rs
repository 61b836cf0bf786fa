//! The properties: what each claims, which run breaks it, and why it holds where none does.

use orange_codegen::diag::Trace;
use orange_core::mission::{Mission, MissionStatus, StepFailure, StepStatus};
use orange_core::plan::{Plan, StepId, StepSet, WorktreeUse};

use super::figures::order;
use super::{PlanProofFacts, PlanProperty, asks};
use crate::missions::{MissionConfigurationId, MissionSearch};

/// Every property, in the order in which a reader wants to know.
pub static PROPERTIES: &[PlanProperty] = &[
    PlanProperty {
        name: "ends-or-pauses",
        claim: "every mission ends, or waits for a person",
        watched_by: &[],
        broken: endless,
        argument: ends,
        without_search: |_| None,
    },
    PlanProperty {
        name: "attempts-bounded",
        claim: "no step runs more often than `max_retries` allows",
        watched_by: &[],
        broken: too_often,
        argument: attempts,
        without_search: |known| Some(known.bound.words()),
    },
    PlanProperty {
        name: "one-writer",
        claim: "never two steps that write in a worktree, or one beside a step that reads there",
        watched_by: &[],
        broken: second_writer,
        argument: one_writer,
        without_search: |_| None,
    },
    PlanProperty {
        name: "no-silent-success",
        claim: "no mission ends as completed without the last step of a branch, or with a failure that nothing has handled",
        watched_by: &["B09"],
        broken: silent,
        argument: no_silence,
        without_search: |_| None,
    },
    PlanProperty {
        name: "every-step-runs",
        claim: "every step runs in some mission",
        watched_by: &["B08", "B11"],
        broken: left_out,
        argument: |known| format!("a run was found for each of the {} steps", known.plan.steps.len()),
        without_search: |_| None,
    },
];

/// Those of plans that ask persons.
pub static PROPERTIES_OF_ASKS: &[PlanProperty] = &[
    PlanProperty {
        name: "asks-answered",
        claim: "every answer to an ask leads on or ends the mission",
        watched_by: &[],
        broken: asks::unanswered,
        argument: asks::answers,
        without_search: |_| None,
    },
    PlanProperty {
        name: "approved",
        claim: "steps that start only after the answers of persons",
        watched_by: &[],
        broken: |_| None,
        argument: asks::approvals,
        without_search: |_| None,
    },
];

pub(super) fn searches<'k>(known: &'k PlanProofFacts<'_>) -> [&'k MissionSearch<'k>; 2] {
    [&known.search, &known.stepwise]
}

/// A mission that neither ends nor waits, or comes back to where it was.
fn endless(known: &PlanProofFacts<'_>) -> Option<Trace> {
    searches(known).into_iter().find_map(|search| {
        let is_stuck = |id: MissionConfigurationId, it: &Mission| {
            !it.status.is_terminal()
                && it.questions.is_empty()
                && search.work(id).is_empty()
                && it.open_asks().next().is_none()
        };
        let stuck = search.configurations().find(|(id, it)| is_stuck(*id, it)).map(|(id, _)| id);
        let returns = || {
            let order = order(search);
            let mut all = search.configurations().map(|(id, _)| id);
            if order.is_some() { None } else { all.next_back() }
        };
        let (at, why) = match stuck {
            Some(id) => (id, "nothing follows"),
            None => (returns()?, "and so on"),
        };
        Some(search.trace(at, Some(why.to_owned())))
    })
}

fn ends(known: &PlanProofFacts<'_>) -> String {
    let [all, stepwise] = searches(known).map(|it| it.configurations().count());
    let asks = if known.plan.has_asks() { ", a person is asked," } else { "" };
    format!(
        "no run comes back to one of the {all} configurations that it has left, unless a person retries, and in each a step starts{asks} or \
         the mission has ended; with a pause after every step, the same holds of {stepwise} configurations"
    )
}

fn too_often(known: &PlanProofFacts<'_>) -> Option<Trace> {
    searches(known).into_iter().find_map(|search| {
        let exceeds = |it: &Mission, id: StepId| it.step(id).completions > known.plan.step(id).max_retries;
        let loops = || known.plan.step_ids().filter(|id| known.plan.step(*id).is_loop());
        let (at, _) = search.configurations().find(|(_, it)| loops().any(|id| exceeds(it, id)))?;
        Some(search.trace(at, Some("a loop step has completed too often".to_owned())))
    })
}

fn attempts(known: &PlanProofFacts<'_>) -> String {
    let figures = &known.figures;
    let Some(most) = figures.attempts else { return known.bound.words() };
    let agents: Vec<u32> = figures.by_step.iter().map(|it| it.agents).filter(|it| *it > 0).collect();
    let same = agents.iter().min().zip(agents.iter().max()).filter(|(least, most)| least == most);
    let works = figures.by_step.iter().zip(known.plan.steps).filter(|(_, step)| !step.is_ask());
    let by_step = works.map(|(it, _)| {
        let agents = if same.is_some() { String::new() } else { format!(" of {} agents each", it.agents) };
        format!("{} {}{agents}", it.step, it.most.unwrap_or(0))
    });
    let each = same.map_or(String::new(), |(agents, _)| format!(", each at most {agents} agents"));
    format!(
        "at most {most} attempts beside retries by hand{each}; by step: {}{}{}",
        by_step.collect::<Vec<_>>().join(", "),
        asks::most(known),
        cap(known).map_or(String::new(), |it| format!("; {it}"))
    )
}

/// Sentence on the cap: whether a mission can reach it, with the run.
fn cap(known: &PlanProofFacts<'_>) -> Option<String> {
    let (most, search) = (known.plan.max_attempts?, known.capped.as_ref()?);
    let has_reached = |it: &Mission| it.steps.iter().any(|it| it.failure == Some(StepFailure::Cap));
    Some(match search.find(has_reached) {
        Some(at) => format!("the cap of {most} attempts can be reached: {}", search.trace(at, None)),
        None if known.bound.without_cap() <= u64::from(most) || !search.is_cut() => {
            format!("no run reaches the cap of {most} attempts")
        }
        None => {
            format!("no run was found that reaches the cap of {most} attempts, and not all were looked at")
        }
    })
}

fn second_writer(known: &PlanProofFacts<'_>) -> Option<Trace> {
    let search = searches(known).into_iter().find(|it| it.second_writer().is_some())?;
    Some(search.trace(search.second_writer()?, Some("2 steps in one worktree".to_owned())))
}

fn one_writer(known: &PlanProofFacts<'_>) -> String {
    let search = &known.search;
    let starts = search.configurations().filter(|(id, _)| !search.work(*id).is_empty()).count();
    let (agents, worktrees) = at_once(known.plan);
    match agents {
        1 => format!(
            "while a step runs, the start of any other is refused, in each of the {starts} configurations where a step starts"
        ),
        agents => {
            let places =
                if worktrees > 1 { format!(", in at most {worktrees} worktrees") } else { String::new() };
            format!(
                "while a step writes, the start of any other there is refused, in each of the {starts} configurations where steps work; \
                 at most {agents} agents and programs at once{places}"
            )
        }
    }
}

/// The most agents and programs at once, and the most worktrees: that of the mission, and one for each item that has its own.
fn at_once(plan: &Plan<'_>) -> (usize, usize) {
    let items = |wanted: &[WorktreeUse]| -> usize {
        let steps = plan.step_ids().filter(|it| {
            let rule = plan.step(*it);
            !rule.is_ask() && wanted.contains(&rule.worktree)
        });
        steps.map(|it| plan.most_items(it)).sum()
    };
    let beside = items(&[WorktreeUse::Read, WorktreeUse::Own]);
    let own = items(&[WorktreeUse::Own]);
    // A step that writes works beside steps with their own worktrees.
    let writer = usize::from(items(&[WorktreeUse::Write]) > 0 && (own > 0 || beside == 0));
    (usize::from(plan.parallel.max(1)).min(beside + writer).max(1), 1 + own)
}

/// A mission that completes without any of the last steps, or with an open failure.
fn silent(known: &PlanProofFacts<'_>) -> Option<Trace> {
    if let Some(at) = known.search.lacks_items() {
        return Some(known.search.trace(at, Some("a step lacks items that it needs".to_owned())));
    }
    let last = last(known.plan);
    let (at, mission) = known.search.configurations().find(|(_, it)| {
        it.status == MissionStatus::Completed
            && (is_failed(known.plan, it) || !last.iter().any(|id| is_done(it, *id)))
    })?;
    let end = match is_failed(known.plan, mission) {
        true => "a failure that nothing has handled".to_owned(),
        false => format!("without {}", names(known.plan, &last)),
    };
    Some(known.search.trace(at, Some(end)))
}

fn no_silence(known: &PlanProofFacts<'_>) -> String {
    let completed = |it: &Mission| it.status == MissionStatus::Completed;
    let ends: Vec<&Mission> =
        known.search.configurations().map(|(_, it)| it).filter(|it| completed(it)).collect();
    let last = last(known.plan);
    let is_handled = |id: &StepId| ends.iter().any(|it| it.step(*id).is_handled);
    let handled: Vec<StepId> = last.iter().copied().filter(is_handled).collect();
    let or_handled = match &handled[..] {
        [] => String::new(),
        handled => format!(", or {} has failed and its handler has completed", names(known.plan, handled)),
    };
    let items = match known.plan.steps.iter().any(|it| it.is_fan_out() || it.worktree == WorktreeUse::Own) {
        true => {
            ", and each completed step with items has those that it needs, landed where they have branches"
        }
        false => "",
    };
    let count = ends.len();
    format!(
        "in each of the {count} configurations that end as `completed`, {} has completed{or_handled}{items}",
        names(known.plan, &last)
    )
}

/// A step that no run reaches. Lints say why; without them, its name is all.
fn left_out(known: &PlanProofFacts<'_>) -> Option<Trace> {
    let is_cut = searches(known).iter().any(|it| it.is_cut());
    let is_left_out = |it: &StepId| known.search.runs(*it) == Some(false);
    let step = known.plan.step_ids().find(is_left_out).filter(|_| !is_cut)?;
    let start = known.plan.order.first().map(|id| known.plan.step(*id).id.to_owned()).unwrap_or_default();
    Some(Trace {
        start,
        steps: Vec::new(),
        end: Some(format!("no run starts `{}`", known.plan.step(step).id)),
    })
}

fn is_done(mission: &Mission, id: StepId) -> bool {
    let state = mission.step(id);
    state.status == StepStatus::Completed || state.is_handled
}

fn is_failed(plan: &Plan<'_>, mission: &Mission) -> bool {
    plan.step_ids()
        .map(|id| mission.step(id))
        .any(|it| it.is_exhausted || (it.status == StepStatus::Failed && !it.is_handled))
}

/// The steps after which nothing is left to do but loops.
fn last(plan: &Plan<'_>) -> Vec<StepId> {
    let is_part = |id: StepId| !plan.step(id).is_loop() && plan.step(id).handles.is_none();
    let is_last = |id: &StepId| !plan.downstream(&StepSet::of(plan, &[*id])).iter().any(is_part);
    plan.step_ids().filter(|id| is_part(*id)).filter(is_last).collect()
}

fn names(plan: &Plan<'_>, steps: &[StepId]) -> String {
    steps.iter().map(|id| format!("`{}`", plan.step(*id).id)).collect::<Vec<_>>().join(" or ")
}
