//! The figures of a proof: how often each step can run, and how missions end.

use std::collections::BTreeMap;

use orange_codegen::diag::Trace;
use orange_core::mission::{Mission, MissionStatus, StepStatus};
use orange_core::plan::{Plan, StepId};

use super::{PlanBound, unaided};
use crate::missions::{MissionEdge, MissionSearch, has_fewer_items};

/// Numbers of attempts of steps, and ends of missions.
#[derive(Clone, Debug)]
pub struct PlanFigures {
    /// The configurations that a mission can come to.
    pub configurations: usize,
    /// The acts between them.
    pub acts: usize,
    /// The most attempts of one mission, beside retries by hand; absent where there is none or the search was cut.
    pub attempts: Option<u32>,
    /// The most questions of one mission to persons, beside retries by hand; absent where there is no bound or the search was cut.
    pub asks: Option<u32>,
    /// The most attempts that follow from the plan without a search, restarted agents included.
    pub bound: u64,
    /// The most attempts at each step, and its most agents, in source order.
    pub by_step: Vec<Attempts>,
    /// Every end, a nearer one first.
    pub ends: Vec<MissionEnd>,
    /// True if more may be true than was found.
    pub is_cut: bool,
}

/// Number of times that one step can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempts {
    pub step: String,
    /// The most attempts, beside retries by hand; absent where there is none or the search was cut.
    pub most: Option<u32>,
    /// The most agents of one attempt.
    pub agents: u32,
}

/// Possible end of a mission, beside retries by hand.
#[derive(Clone, Debug)]
pub struct MissionEnd {
    /// `completed` or `failed`.
    pub status: &'static str,
    /// The steps that have run, in source order.
    pub ran: Vec<String>,
    /// The steps that have failed themselves, in source order.
    pub failed: Vec<String>,
    /// The steps whose loop is exhausted.
    pub exhausted: Vec<String>,
    /// A shortest run that ends so.
    pub trace: Trace,
}

impl PlanFigures {
    pub(super) fn of(plan: &Plan<'_>, search: &MissionSearch<'_>, bound: &PlanBound) -> Self {
        let order = order(search).filter(|_| !search.is_cut() && !has_fewer_items(plan));
        let most = |counts: &dyn Fn(StepId) -> bool| {
            let ended = |edge: &MissionEdge| {
                let all = edge.act.step().into_iter().chain(edge.withdrawn.iter().copied());
                all.filter(|it| counts(*it)).count() as u32
            };
            Some(longest(search, order.as_ref()?, &ended))
        };
        let is_ask = |id: StepId| plan.step(id).is_ask();
        let by_step = plan.step_ids().map(|id| Attempts {
            step: plan.step(id).id.to_owned(),
            most: most(&|it| it == id),
            agents: search.agents(id),
        });
        Self {
            configurations: search.configurations().count(),
            acts: search.edges().len(),
            attempts: most(&|it| !is_ask(it)),
            asks: most(&is_ask),
            bound: bound.attempts(),
            by_step: by_step.collect(),
            ends: ends(plan, search),
            is_cut: search.is_cut(),
        }
    }
}

/// Every configuration after those that lead there without a person's retry; `None` if some lead back to themselves.
pub(super) fn order(search: &MissionSearch<'_>) -> Option<Vec<usize>> {
    let count = search.configurations().count();
    let mut next = vec![Vec::new(); count];
    let mut waits = vec![0_u32; count];
    for edge in search.unaided_edges() {
        next[edge.from.index()].push(edge.to.index());
        waits[edge.to.index()] += 1;
    }
    let mut order: Vec<usize> = (0..count).filter(|it| waits[*it] == 0).collect();
    let mut at = 0;
    while let Some(from) = order.get(at).copied() {
        at += 1;
        for to in &next[from] {
            waits[*to] -= 1;
            if waits[*to] == 0 {
                order.push(*to);
            }
        }
    }
    (order.len() == count).then_some(order)
}

/// The largest sum of these numbers in one run, from its start and without a person's retry.
fn longest(search: &MissionSearch<'_>, order: &[usize], count: &dyn Fn(&MissionEdge) -> u32) -> u32 {
    let mut next = vec![Vec::new(); order.len()];
    for edge in search.unaided_edges() {
        next[edge.from.index()].push((edge.to.index(), count(edge)));
    }
    let mut most: Vec<Option<u32>> = vec![None; order.len()];
    search.starts().for_each(|it| most[it.index()] = Some(0));
    for from in order {
        let Some(before) = most[*from] else { continue };
        for (to, weight) in &next[*from] {
            most[*to] = most[*to].max(Some(before + weight));
        }
    }
    most.into_iter().flatten().max().unwrap_or(0)
}

fn ends(plan: &Plan<'_>, search: &MissionSearch<'_>) -> Vec<MissionEnd> {
    let is_reached = unaided(search);
    let mut known = BTreeMap::new();
    let mut ends = Vec::new();
    let reached =
        search.configurations().filter(|(id, it)| is_reached[id.index()] && it.status.is_terminal());
    for (id, mission) in reached {
        let names = |holds: fn(&Mission, StepId) -> bool| -> Vec<String> {
            let steps = plan.step_ids().filter(|id| holds(mission, *id));
            steps.map(|id| plan.step(id).id.to_owned()).collect()
        };
        let (ran, failed) = (names(has_run), names(has_failed_itself));
        let exhausted = names(|mission, id| mission.step(id).is_exhausted);
        let key = (mission.status.as_str(), ran, failed, exhausted);
        if known.insert(key.clone(), ()).is_none() {
            let (status, ran, failed, exhausted) = key;
            ends.push(MissionEnd { status, ran, failed, exhausted, trace: search.trace(id, None) });
        }
    }
    ends.sort_by_key(|it| it.status != MissionStatus::Completed.as_str());
    ends
}

/// True if an attempt of a step, or of its handler, has completed, or the step has failed itself.
fn has_run(mission: &Mission, id: StepId) -> bool {
    mission.step(id).has_report() || has_failed_itself(mission, id)
}

fn has_failed_itself(mission: &Mission, id: StepId) -> bool {
    let state = mission.step(id);
    state.status == StepStatus::Failed
        && state.failure.as_ref().is_some_and(|it| it.is_own())
        && !state.is_exhausted
}
