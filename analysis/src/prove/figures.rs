//! The figures of a proof: how much there is, and how far a workflow goes without a person.

use orange_core::{FactKind, StateId};

use super::{LoopBound, ProofFacts, WorstCase, spending};
use crate::lint::Facts;
use crate::lint::unattended::{Longest, restarts, starts, transitions};
use crate::search::{Edge, ExitResult, SearchStep};

/// Size of a workflow, and how far it goes by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// The configurations that a task can come to: state, counters, sections, agents and worktree.
    pub configurations: usize,
    /// The steps between them.
    pub steps: usize,
    /// The run with the most transitions between two times that a person is needed, the person's own transition
    /// included; absent where some loop has no end or the search was cut.
    pub longest_run: Option<CountedRun>,
    /// The most agents that are started for one thing that a person does; absent as the longest run is.
    pub agents: Option<CountedRun>,
    /// The most agents for one thing that a person does, with those that are started again after a crash; absent as the longest run is.
    pub agents_with_restarts: Option<CountedRun>,
    /// The states in which an agent that ends can leave the task to a person, though they wait for none.
    pub waits_after_crash: Vec<String>,
    /// By kind of fact that the workflow watches: the most transitions of watch rules about it for one thing that a person does.
    pub rounds: Vec<WatchRounds>,
    /// The bounds of the transitions in loops; none where some loop has no end or the search was cut.
    pub bounds: Vec<LoopBound>,
    /// By kind of limit that the workflow has: the most that agents use.
    pub spending: Vec<WorstCase>,
    /// True if more may be true than was found.
    pub is_cut: bool,
}

/// Transitions of the watch rules about one kind of fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchRounds {
    pub cause: FactKind,
    /// The most of them for one thing that a person does; absent where some loop has no end or the search was cut.
    pub most: Option<u64>,
    /// The most requests to run failed checks of one commit again before such a rule applies.
    pub reruns: u8,
}

/// A run of which something is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedRun {
    pub count: u64,
    /// The states that it goes through.
    pub states: Vec<String>,
}

impl Figures {
    pub(super) fn of(known: &ProofFacts<'_, '_>) -> Self {
        let ProofFacts { facts, unattended, .. } = known;
        let is_cut = facts.search.cut().is_some();
        let run = |longest: Option<Longest>| longest.filter(|_| !is_cut).map(|it| CountedRun::of(facts, &it));
        Self {
            configurations: facts.search.size(),
            steps: facts.search.edges().count(),
            longest_run: run(unattended.longest(|_, edge| transitions(edge))),
            agents: run(unattended.longest(|_, edge| if restarts(edge) { 0 } else { starts(facts, edge) })),
            agents_with_restarts: run(unattended.longest(|_, edge| starts(facts, edge))),
            waits_after_crash: waits_after_crash(facts),
            rounds: rounds(known),
            spending: spending::of(known),
            bounds: if is_cut { Vec::new() } else { known.bounds().to_vec() },
            is_cut,
        }
    }
}

impl CountedRun {
    fn of(facts: &Facts<'_>, longest: &Longest) -> Self {
        let name = |id| facts.name(facts.search.task(id).status).to_owned();
        let edges = || longest.steps.iter().map(|id| facts.search.edge(*id));
        let start = edges().next().map(|edge| name(edge.from));
        let after = edges().filter(|edge| edge.step.begins().is_some()).map(|edge| name(edge.to));
        Self { count: longest.sum, states: start.into_iter().chain(after).collect() }
    }
}

fn rounds(known: &ProofFacts<'_, '_>) -> Vec<WatchRounds> {
    let (machine, is_cut) = (known.facts.machine, known.facts.search.cut().is_some());
    let watched =
        FactKind::ALL.into_iter().filter(|kind| machine.watch.iter().any(|it| it.fact.kind() == *kind));
    let is_of = |edge: &Edge, kind: FactKind| {
        edge.step.watch().is_some_and(|rule| machine.watch[usize::from(rule)].fact.kind() == kind)
    };
    let rounds = watched.map(|cause| {
        let longest = known.unattended.longest(|_, edge| u64::from(is_of(edge, cause)));
        let reruns = machine.watch.iter().filter(|it| it.fact.kind() == cause).map(|it| it.rerun).max();
        let most = longest.filter(|_| !is_cut).map(|it| it.sum);
        WatchRounds { cause, most, reruns: reruns.unwrap_or_default() }
    });
    rounds.collect()
}

fn waits_after_crash(facts: &Facts<'_>) -> Vec<String> {
    let mut waits = vec![false; facts.workflow.states.len()];
    for (_, edge) in facts.search.edges() {
        let status = facts.search.task(edge.from).status;
        let left = left_to_a_person(facts, edge, status);
        waits[usize::from(status.0)] |= left && !facts.waits(status);
    }
    let states = facts.states().filter(|(id, _)| waits[usize::from(id.0)]);
    states.map(|(_, state)| state.name.value.clone()).collect()
}

fn left_to_a_person(facts: &Facts<'_>, edge: &Edge, status: StateId) -> bool {
    match edge.step {
        SearchStep::Exit { outcome: ExitResult::Crash { respawned: false }, .. } => true,
        SearchStep::Exit { agent, outcome: ExitResult::Marked, .. } => {
            agent == facts.machine.state(status).agent
        }
        SearchStep::Exit {
            outcome:
                ExitResult::Advance(_)
                | ExitResult::Escalate(_)
                | ExitResult::Crash { .. }
                | ExitResult::Waits { .. },
            ..
        }
        | SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Request { .. }
        | SearchStep::Failure { .. }
        | SearchStep::Retry { .. }
        | SearchStep::Respawn => false,
    }
}
