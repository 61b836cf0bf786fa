//! Runs that no person takes part in: whether each of them ends, and how long the longest one is.
//!
//! Agents, declared actors and the engine move the task on, as `by` and the exit rules let them, until it is in a terminal state or nobody
//! but a person can. An agent that is alive asks by itself, whatever the exit rules of its state say. Where one has ended, is
//! not started again and leaves no other alive, the task waits for a person, too, whatever its state says, unless a declared actor or
//! the engine may take a transition there. An agent that waits is started again only so often without a transition: a loop takes one.

use std::collections::BTreeSet;

use orange_core::{Actor, TransitionId};

use super::facts::Facts;
use crate::search::components::Components;
use crate::search::task::Event;
use crate::search::{ConfigurationId, Edge, EdgeId, ExitResult, OWN_HOOK, Search, SearchStep};

/// The steps of a search that nobody has to ask for.
#[derive(Debug)]
pub struct Unattended<'f> {
    facts: &'f Facts<'f>,
    /// True if the budget of the task has a number of starts, after which a transition that starts an agent leads to a person.
    counts_starts: bool,
    /// By [`EdgeId`].
    part: Vec<StepRole>,
    components: Components,
}

/// Role of a step in a run without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepRole {
    /// Such a run goes on with it.
    Moves,
    /// Something is written, or an agent ends, and the run is where it was.
    Stays,
    /// It takes a person.
    NeedsPerson,
}

/// A run that can go on for ever.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// A shortest run to where the loop begins.
    pub run: Vec<EdgeId>,
    /// The steps of the loop, once.
    pub turn: Vec<EdgeId>,
}

/// The run of which something is most.
#[derive(Clone, Debug, Default)]
pub struct Longest {
    pub sum: u64,
    /// Its steps in order, the person's own first.
    pub steps: Vec<EdgeId>,
}

impl<'f> Unattended<'f> {
    /// Tells the steps apart.
    pub fn of(facts: &'f Facts<'f>) -> Self {
        Self::with(facts, false)
    }

    /// Tells the steps apart for a task whose budget has no more starts, if the workflow limits them: the start that a hook of a
    /// transition asks for waits then, and while hooks wait, nobody but a person moves the task on.
    pub fn within_budget(facts: &'f Facts<'f>) -> Self {
        Self::with(facts, facts.machine.budget.starts.is_some())
    }

    fn with(facts: &'f Facts<'f>, counts_starts: bool) -> Self {
        let search = facts.search;
        let part: Vec<StepRole> = search.edges().map(|(_, edge)| role(facts, edge, counts_starts)).collect();
        let arrows = search.edges().zip(&part).filter(|(_, part)| **part != StepRole::NeedsPerson);
        let arrows = arrows.map(|((_, edge), _)| (edge.from, edge.to));
        let components = Components::of(search.size(), arrows);
        Self { facts, counts_starts, part, components }
    }

    /// The steps that move a task on without a person.
    pub fn moves(&self) -> impl Iterator<Item = (EdgeId, &'f Edge)> {
        self.facts.search.edges().filter(|(id, _)| self.part[*id as usize] == StepRole::Moves)
    }

    /// True if some loop has no end.
    pub fn has_loops(&self) -> bool {
        self.turning(&self.components).next().is_some()
    }

    /// The loops that have no end, each set of states once, those that begin soonest first. One in which nothing is written is shortest
    /// to tell, and then one in which every write is followed at once by what it is for.
    pub fn loops(&self) -> Vec<Lasso> {
        let mut loops = Vec::new();
        if self.turning(&self.components).next().is_none() {
            return loops;
        }
        let mut reported = BTreeSet::new();
        let kinds: [fn(&Edge) -> bool; 3] = [
            |edge| edge.step.wrote().is_none(),
            |edge| !matches!(edge.step, SearchStep::Write(_) | SearchStep::Commit(_)),
            |_| true,
        ];
        for is_meant in kinds {
            let components = self.components_of(is_meant);
            let mut seen = BTreeSet::new();
            for (id, edge) in self.turning(&components).filter(|(_, edge)| is_meant(edge)) {
                if !seen.insert(components.number(edge.from)) {
                    continue;
                }
                let turn = self.turn(id, &components, is_meant);
                let states: BTreeSet<_> =
                    turn.iter().map(|it| self.search().task(self.search().edge(*it).from).status).collect();
                if reported.insert(states) {
                    loops.push(Lasso { run: self.search().run_to(edge.from), turn });
                }
            }
        }
        loops
    }

    /// The components of some of the steps that nobody has to ask for.
    fn components_of(&self, is_meant: impl Fn(&Edge) -> bool) -> Components {
        let arrows = self.search().edges().zip(&self.part);
        let arrows = arrows.filter(|((_, edge), part)| **part != StepRole::NeedsPerson && is_meant(edge));
        Components::of(self.search().size(), arrows.map(|((_, edge), _)| (edge.from, edge.to)))
    }

    /// The run without a person, and the person's step before it, over which the sum of these weights is largest;
    /// `None` where some loop has no end.
    pub fn longest(&self, weight: impl Fn(EdgeId, &Edge) -> u64) -> Option<Longest> {
        if self.has_loops() {
            return None;
        }
        let best = self.best(&weight);
        let ahead = |edge: &Edge| best[self.components.number(edge.to) as usize].0;
        let first = self.search().edges().filter(|(id, _)| self.part[*id as usize] != StepRole::Stays);
        let first = first.map(|(id, edge)| (weight(id, edge) + ahead(edge), id));
        let Some((sum, first)) = first.max_by_key(|(sum, id)| (*sum, std::cmp::Reverse(*id))) else {
            return Some(Longest::default());
        };
        let next = |id: &EdgeId| best[self.components.number(self.search().edge(*id).to) as usize].1;
        Some(Longest { sum, steps: std::iter::successors(Some(first), next).collect() })
    }

    /// By component: the largest sum from there on, and the step with which it begins.
    fn best(&self, weight: &impl Fn(EdgeId, &Edge) -> u64) -> Vec<(u64, Option<EdgeId>)> {
        let mut best: Vec<(u64, Option<EdgeId>)> = Vec::new();
        for node in self.components.order() {
            let at = self.components.number(*node) as usize;
            best.resize(best.len().max(at + 1), (0, None));
            for (id, edge) in self.search().numbered_from(*node) {
                if self.part[id as usize] == StepRole::NeedsPerson || self.turns(edge) {
                    continue;
                }
                let sum = weight(id, edge) + best[self.components.number(edge.to) as usize].0;
                if sum > best[at].0 {
                    best[at] = (sum, Some(id));
                }
            }
        }
        best
    }

    /// The steps that take a transition in a loop.
    fn turning(&self, components: &Components) -> impl Iterator<Item = (EdgeId, &'f Edge)> {
        let turns = |edge: &Edge| components.together(edge.from, edge.to);
        self.moves().filter(move |(_, edge)| edge.step.begins().is_some() && turns(edge))
    }

    /// True if the run can come back from the step to where it began.
    fn turns(&self, edge: &Edge) -> bool {
        self.components.together(edge.from, edge.to)
    }

    /// The step and a shortest path of such steps back to where it began.
    fn turn(&self, first: EdgeId, components: &Components, is_meant: fn(&Edge) -> bool) -> Vec<EdgeId> {
        let Edge { from: start, to, .. } = *self.search().edge(first);
        if to == start {
            return vec![first];
        }
        let goes_on = |edge: &Edge| {
            role(self.facts, edge, self.counts_starts) != StepRole::NeedsPerson
                && components.together(edge.from, edge.to)
                && is_meant(edge)
        };
        // The component is looked through once, and only once for every loop that is reported.
        let mut budget = usize::MAX;
        let back = self.search().walk(to, goes_on, |edge| edge.to == start, &mut budget);
        std::iter::once(first).chain(back.unwrap_or_default()).collect()
    }

    fn search(&self) -> &'f Search<'f> {
        self.facts.search
    }
}

/// 1 if a step takes a transition, whether all of its hooks run or only some; else 0.
pub fn transitions(edge: &Edge) -> u64 {
    u64::from(edge.step.begins().is_some())
}

/// 1 if a step takes this transition, whether all of its hooks run or only some; else 0.
pub fn times(edge: &Edge, id: TransitionId) -> u64 {
    u64::from(edge.step.begins() == Some(id))
}

/// True if the engine starts an agent again that has crashed.
pub fn restarts(edge: &Edge) -> bool {
    matches!(edge.step, SearchStep::Exit { outcome: ExitResult::Crash { respawned: true }, .. })
}

/// Number of agents that a step starts.
pub fn starts(facts: &Facts<'_>, edge: &Edge) -> u64 {
    match edge.step {
        SearchStep::Start
        | SearchStep::Respawn
        | SearchStep::Exit { outcome: ExitResult::Crash { respawned: true }, .. } => {
            u64::from(!fails(facts.search, edge, OWN_HOOK, None))
        }
        // The transition without the failure starts as many.
        SearchStep::Retry { .. } => 0,
        SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Request { .. }
        | SearchStep::Failure { .. }
        | SearchStep::Exit {
            outcome:
                ExitResult::Advance(_)
                | ExitResult::Escalate(_)
                | ExitResult::Crash { .. }
                | ExitResult::Marked
                | ExitResult::Waits { .. },
            ..
        } => {
            let starting = facts.starting(edge).into_iter();
            starting.filter(|(at, spawn)| !fails(facts.search, edge, *at, Some(spawn.actor()))).count() as u64
        }
    }
}

/// True if a hook that is to start an agent starts none: there is no worktree, or the same agent is alive.
pub fn fails(search: &Search<'_>, edge: &Edge, hook: u16, actor: Option<Actor>) -> bool {
    search.events(edge).iter().filter(|(at, _)| *at == hook).any(|(_, event)| match event {
        Event::SpawnWithoutWorkspace | Event::SpawnBesideWorktree => true,
        Event::SpawnWhileAlive(alive) => actor.is_some_and(|it| it == *alive),
        Event::AcquireUnderAgent(_)
        | Event::ReleaseUnderAgent(_)
        | Event::NoWorktreeToUse
        | Event::SpawnWithoutSession
        | Event::NobodyToNotify
        | Event::KilledUnderOtherName
        | Event::Idle => false,
    })
}

fn role(facts: &Facts<'_>, edge: &Edge, counts_starts: bool) -> StepRole {
    if counts_starts && edge.step.begins().is_some() && starts(facts, edge) > 0 {
        return StepRole::NeedsPerson;
    }
    part(facts, edge)
}

fn part(facts: &Facts<'_>, edge: &Edge) -> StepRole {
    match edge.step {
        SearchStep::Write(_) | SearchStep::Commit(_) | SearchStep::EndWhileWaiting(_) => StepRole::Stays,
        SearchStep::Start | SearchStep::Respawn => StepRole::NeedsPerson,
        SearchStep::Retry { by: Actor::Human, .. } | SearchStep::Request { by: Actor::Human, .. } => {
            StepRole::NeedsPerson
        }
        SearchStep::Failure { failed, .. } if failed.by == Actor::Human => StepRole::NeedsPerson,
        SearchStep::Retry { .. } | SearchStep::Request { .. } | SearchStep::Failure { .. } => StepRole::Moves,
        SearchStep::Exit { outcome, .. } => match outcome {
            ExitResult::Advance(_) | ExitResult::Escalate(_) | ExitResult::Crash { respawned: true } => {
                StepRole::Moves
            }
            ExitResult::Waits { resumed: true } => StepRole::Stays,
            ExitResult::Crash { respawned: false }
            | ExitResult::Marked
            | ExitResult::Waits { resumed: false } => {
                if goes_on(facts.search, edge.to) {
                    StepRole::Stays
                } else {
                    StepRole::NeedsPerson
                }
            }
        },
    }
}

/// True if a run goes on from here without a person: an agent is alive, or another actor may take a transition.
fn goes_on(search: &Search<'_>, at: ConfigurationId) -> bool {
    search.task(at).live_agents() > 0 || search.edges_from(at).iter().any(is_taken_by_another)
}

/// True if neither a person nor the end of an agent takes this step.
fn is_taken_by_another(edge: &Edge) -> bool {
    match edge.step {
        SearchStep::Request { by, .. } | SearchStep::Retry { by, .. } => by != Actor::Human,
        SearchStep::Failure { failed, .. } => failed.by != Actor::Human && failed.exit.is_none(),
        SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Exit { .. }
        | SearchStep::Respawn => false,
    }
}
