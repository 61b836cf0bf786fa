//! The search: every run of a workflow, on an abstract task, by the decisions of the core themselves.
//!
//! It is breadth-first, so that the first path to anything is a shortest one, and one from the initial state where there is
//! any; one search serves all checks.

pub mod components;
pub mod counters;
pub mod ends;
pub mod reviewers;
pub mod sections;
pub mod task;
pub mod times;
mod work;

mod decisions;
mod explore;
mod hash;
mod hooks;
mod limits;
mod numbers;
mod reads;
mod steps;
mod symmetry;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use orange_core::{Actor, CounterId, Effect, Machine, StateId, TransitionId, names_window};

use self::counters::SearchCounters;
use self::ends::RuleIndex;
use self::explore::Explorer;
pub(crate) use self::hash::Quick;
pub use self::limits::{Cut, MAX_CONFIGURATIONS, MAX_STEPS, SearchLimits};
pub(crate) use self::reads::ReadSet;
use self::reviewers::{ReviewerIndex, Reviewers};
use self::sections::{MAX_CONTENTS, Sections};
use self::symmetry::{Exchange, Symmetry};
use self::task::ContentId;
use self::task::{Event, MAX_COUNTERS, MAX_SECTIONS, Task};
use self::times::Times;

/// The number of a configuration, in the order of distance.
pub type ConfigurationId = u32;

/// The number of a step.
pub type EdgeId = u32;

/// Everything that a task under one workflow can come to.
#[derive(Debug)]
pub struct Search<'m> {
    /// The workflow's tables.
    pub machine: &'m Machine<'m>,
    /// The sections that gates read, and their contents.
    pub sections: Sections<'m>,
    /// The reviewers that have names.
    pub reviewers: Reviewers<'m>,
    /// The counters that are followed.
    pub counters: SearchCounters,
    /// The times after which a task moves on.
    pub times: Times<'m>,
    symmetry: Symmetry,
    configurations: Vec<Task>,
    /// Number of those that a task created in the initial state can come to.
    ordinary: usize,
    /// By configuration: the step that first led there; absent for a task as it is created.
    arrivals: Vec<Option<EdgeId>>,
    edges: Vec<Edge>,
    /// By configuration: where its steps begin in `edges`.
    rows: Vec<u32>,
    events: Vec<(HookIndex, Event)>,
    /// By state: the sections that can stand there from before, a bit each.
    stale: Vec<u16>,
    cut: Option<Cut>,
}

/// The number of a watch rule in its machine.
pub type WatchIndex = u16;

/// Index of a hook in its transition; a respawn or a start has one of its own, [`OWN_HOOK`].
pub type HookIndex = u16;

/// The hook with which a state's agent is started again.
pub const OWN_HOOK: HookIndex = u16::MAX;

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Configuration in which it begins.
    pub from: ConfigurationId,
    /// Configuration to which it leads.
    pub to: ConfigurationId,
    pub step: SearchStep,
    events: Range<u32>,
    /// Exchange of reviewers after the step: the configuration to which it leads stands for the one that it comes to.
    exchange: Exchange,
}

/// Step that a task can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// A task that was created past the initial state gets its worktree and its agent.
    Start,
    /// Somebody writes a section, and nothing follows yet.
    Write(Wrote),
    /// This agent changes the work in the worktree, or the engine by `sync_branch`, and verdicts that count for one work are of an earlier
    /// one.
    Commit(Actor),
    /// An agent ends while hooks wait. Its end is judged once these have run.
    EndWhileWaiting(Actor),
    /// Somebody asks for a transition, perhaps after writing what its gate wants. The engine does where a hook has failed, where a
    /// watch rule applies, and where the time in the state is over and no agent of the state is there to be ended.
    Request {
        /// The transition that fires.
        transition: TransitionId,
        by: Actor,
        /// Section that they write before, if any.
        wrote: Option<Wrote>,
        /// The watch rule for which the engine takes it, if it is one.
        watch: Option<WatchIndex>,
    },
    /// An agent ends, perhaps after writing something, and the exit rules decide.
    Exit {
        agent: Actor,
        /// The reviewer with a name that ends while others are alive, if it is one.
        one: Option<ReviewerIndex>,
        /// Section that it writes before, if any.
        wrote: Option<Wrote>,
        /// The rule about ends that it ends for, and that decides; none for an ordinary end.
        end: Option<RuleIndex>,
        /// Effect of the end on the task.
        outcome: ExitResult,
    },
    /// The state's agent is started again: a person asks for it, or a wait is over.
    Respawn,
    /// A request or the end of an agent leads to a transition, but a hook of it fails, and stops the others.
    Failure {
        /// The transition.
        transition: TransitionId,
        /// Index of the hook that fails.
        hook: HookIndex,
        /// Cause of the transition.
        failed: FailedHook,
    },
    /// Somebody has the hooks run that wait.
    Retry {
        by: Actor,
        /// Index of the transition's hook that fails, if one does and not by itself.
        failing: Option<HookIndex>,
    },
}

/// Cause of a transition of which a hook fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedHook {
    /// Actor that asks, or the agent that ends.
    pub by: Actor,
    /// The reviewer with a name that ends while others are alive, if it is one.
    pub one: Option<ReviewerIndex>,
    /// Section that they write before, if any.
    pub wrote: Option<Wrote>,
    /// End of the agent, by the rule about ends if there is one; `None` for a request.
    pub exit: Option<Option<RuleIndex>>,
    /// The watch rule for which the engine takes the transition, if it is one.
    pub watch: Option<WatchIndex>,
}

/// A section and what is written there; it is content that no gate has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrote {
    /// The number of the section.
    pub section: u8,
    /// Content of the section afterwards.
    pub content: ContentId,
}

/// Effect of an agent's end on its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitResult {
    /// An exit rule takes this transition.
    Advance(TransitionId),
    /// It crashed too often: the engine's own move.
    Escalate(TransitionId),
    /// It stays, one crash richer.
    Crash {
        /// True if the agent is started again.
        respawned: bool,
    },
    /// It stays, and the session is shown as dead.
    Marked,
    /// It stays, and its agent is started again after a while.
    Waits {
        /// True if that while is over, and nothing has happened meanwhile.
        resumed: bool,
    },
}

impl<'m> Search<'m> {
    /// Searches a machine.
    pub fn run(machine: &'m Machine<'m>) -> Self {
        Self::within(machine, &SearchLimits::default())
    }

    /// Searches a machine as far as the limits allow.
    pub fn within(machine: &'m Machine<'m>, limits: &SearchLimits<'_>) -> Self {
        let mut search = Self::new(machine, limits.is_reduced);
        if search.explore(limits) {
            return search;
        }
        // A reviewer was alive when it was started: which of them matters.
        let mut search = Self { symmetry: Symmetry::default(), ..Self::new(machine, limits.is_reduced) };
        search.explore(limits);
        search
    }

    fn new(machine: &'m Machine<'m>, is_reduced: bool) -> Self {
        let mut sections = Sections::of(machine);
        let reviewers = Reviewers::of(machine);
        let symmetry = match is_reduced {
            true => Symmetry::of(machine, &sections, &reviewers),
            false => Symmetry::default(),
        };
        if !is_reduced {
            sections.forget_nothing();
        }
        Self {
            machine,
            sections,
            reviewers,
            symmetry,
            counters: SearchCounters::of(machine),
            times: Times::of(machine),
            configurations: Vec::new(),
            ordinary: 0,
            arrivals: Vec::new(),
            edges: Vec::new(),
            rows: vec![0],
            events: Vec::new(),
            stale: vec![0; machine.states.len()],
            cut: None,
        }
    }

    /// Looks at every configuration within the limits; false if reviewers were exchanged that cannot be.
    fn explore(&mut self, limits: &SearchLimits<'_>) -> bool {
        self.cut = self.too_large();
        if self.cut.is_some() {
            return true;
        }
        Explorer::new(self, limits).explore()
    }

    /// The limit of what a configuration can hold that the machine exceeds, if any.
    fn too_large(&self) -> Option<Cut> {
        if self.counters.len() > MAX_COUNTERS {
            Some(Cut::Counters(self.counters.len()))
        } else if self.sections.len() > MAX_SECTIONS {
            Some(Cut::Sections(self.sections.len()))
        } else {
            self.sections.iter().any(|it| it.is_cut).then_some(Cut::Contents(MAX_CONTENTS))
        }
    }

    /// Reason why not everything was looked at; `None` if everything was. With a reason, a thing that was not found may still exist.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Every configuration: the nearest to the initial state first, then those that no task comes to which is created
    /// there.
    pub fn configurations(&self) -> impl Iterator<Item = (ConfigurationId, &Task)> {
        (0..).zip(&self.configurations)
    }

    /// Number of configurations.
    pub fn size(&self) -> usize {
        self.configurations.len()
    }

    /// The configuration with this number.
    pub fn task(&self, id: ConfigurationId) -> &Task {
        &self.configurations[id as usize]
    }

    /// Every step, in the order of the configurations that they begin in.
    pub fn edges(&self) -> impl Iterator<Item = (EdgeId, &Edge)> + Clone {
        (0..).zip(&self.edges)
    }

    /// The step with this number.
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id as usize]
    }

    /// The steps that begin in a configuration. One that the search was cut before has none.
    pub fn edges_from(&self, id: ConfigurationId) -> &[Edge] {
        match self.rows.get(id as usize..id as usize + 2) {
            Some([start, end]) => &self.edges[*start as usize..*end as usize],
            _ => &[],
        }
    }

    /// The steps that begin in a configuration, with their numbers.
    pub fn numbered_from(&self, id: ConfigurationId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let first = self.rows.get(id as usize).copied().unwrap_or_default();
        (first..).zip(self.edges_from(id))
    }

    /// Failures and side effects of a step's hooks.
    pub fn events(&self, edge: &Edge) -> &[(HookIndex, Event)] {
        &self.events[edge.events.start as usize..edge.events.end as usize]
    }

    /// The transition of a step and those of its hooks that have run, the first and the one after the last. One that has failed by itself
    /// is among them.
    pub fn ran(&self, edge: &Edge) -> Option<(TransitionId, Range<usize>)> {
        let waits = self.task(edge.to).waiting.map(|it| usize::from(it.hook) + 1);
        let first = match (edge.step, self.task(edge.from).waiting) {
            (SearchStep::Failure { transition, hook, .. }, _) => return Some((transition, 0..hook.into())),
            (SearchStep::Retry { failing, .. }, Some(waiting)) => {
                let (id, first) = (waiting.transition, usize::from(waiting.hook));
                if let Some(failing) = failing {
                    return Some((id, first..failing.into()));
                }
                Some((id, first))
            }
            (step, _) => step.transition().map(|id| (id, 0)),
        };
        let (id, first) = first?;
        Some((id, first..waits.unwrap_or(self.machine.transition(id).hooks.len())))
    }

    /// True if hooks wait after a step because one of them has failed by itself: it does so each time.
    pub fn has_failed_by_itself(&self, edge: &Edge) -> bool {
        let is_made_to = match edge.step {
            SearchStep::Failure { .. }
            | SearchStep::Write(_)
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_) => true,
            SearchStep::Retry { failing, .. } => failing.is_some(),
            SearchStep::Start
            | SearchStep::Request { .. }
            | SearchStep::Exit { .. }
            | SearchStep::Respawn => false,
        };
        self.task(edge.to).waiting.is_some() && !is_made_to
    }

    /// The exit rule, by its number in the machine, that decides about the end of the state's own agent in a step.
    pub fn deciding(&self, edge: &Edge) -> Option<usize> {
        let SearchStep::Exit { wrote, end, .. } = edge.step else { return None };
        decisions::deciding(self, self.task(edge.from), wrote, end)
    }

    /// True if a task that is created in the initial state can come to this configuration.
    pub fn is_ordinary(&self, id: ConfigurationId) -> bool {
        (id as usize) < self.ordinary
    }

    /// True if a task in this state can have a section that stood there before: one that a gate which wants something new refuses.
    pub fn can_be_stale(&self, state: StateId, section: usize) -> bool {
        self.stale[usize::from(state.0)].checked_shr(section as u32).is_some_and(|it| it & 1 == 1)
    }

    /// True if some hook of some step has an event that `wanted` accepts.
    pub fn happens(&self, wanted: impl Fn(Event) -> bool) -> bool {
        self.events.iter().any(|(_, event)| wanted(*event))
    }

    /// The first configuration of which this holds, by a shortest run.
    pub fn first(&self, holds: impl Fn(&Task) -> bool) -> Option<ConfigurationId> {
        self.configurations().find(|(_, task)| holds(task)).map(|(id, _)| id)
    }

    /// The first step of which this holds, by a shortest run.
    pub fn first_edge(&self, holds: impl Fn(&Edge) -> bool) -> Option<EdgeId> {
        self.edges().find(|(_, edge)| holds(edge)).map(|(id, _)| id)
    }

    /// A shortest run to a configuration: its steps, in order.
    pub fn run_to(&self, id: ConfigurationId) -> Vec<EdgeId> {
        let mut run = Vec::new();
        let mut at = id;
        while let Some(edge) = self.arrivals[at as usize] {
            run.push(edge);
            at = self.edge(edge).from;
        }
        run.reverse();
        run
    }

    /// A shortest run that ends with a step.
    pub fn run_through(&self, id: EdgeId) -> Vec<EdgeId> {
        let mut run = self.run_to(self.edge(id).from);
        run.push(id);
        run
    }

    /// The steps of a run, in which each reviewer keeps its name. The configurations are those that stand for the run's.
    pub fn named(&self, run: &[EdgeId]) -> Vec<Edge> {
        let mut exchange = Exchange::default();
        let step = |id: &EdgeId| {
            let edge = self.edge(*id).clone();
            let step = self.symmetry.exchanged(edge.step, exchange);
            exchange = edge.exchange.after(exchange);
            Edge { step, ..edge }
        };
        run.iter().map(step).collect()
    }

    /// The reviewers that are exchanged with each other: one configuration stands for all that differ only in which of them is which.
    pub fn exchangeable(&self) -> impl Iterator<Item = impl Iterator<Item = ReviewerIndex>> {
        self.symmetry.classes()
    }

    /// The step that first led to a configuration; none for a task as it is created.
    pub fn arrival(&self, id: ConfigurationId) -> Option<EdgeId> {
        self.arrivals[id as usize]
    }

    /// A shortest run from a configuration that ends with such a step, over steps that are `taken`. No more than `budget`
    /// steps are looked at, and what is left of it stays.
    pub fn walk(
        &self,
        from: ConfigurationId,
        taken: impl Fn(&Edge) -> bool,
        ends: impl Fn(&Edge) -> bool,
        budget: &mut usize,
    ) -> Option<Vec<EdgeId>> {
        self.walk_from([from], taken, ends, budget)
    }

    /// A shortest run from any of several configurations that ends with such a step, over steps that are `taken`.
    pub fn walk_from(
        &self,
        from: impl IntoIterator<Item = ConfigurationId>,
        taken: impl Fn(&Edge) -> bool,
        ends: impl Fn(&Edge) -> bool,
        budget: &mut usize,
    ) -> Option<Vec<EdgeId>> {
        let mut queue = VecDeque::from_iter(from);
        let mut arrivals: HashMap<ConfigurationId, Option<EdgeId>, Quick> =
            queue.iter().map(|it| (*it, None)).collect();
        while let Some(at) = queue.pop_front() {
            let first = self.rows.get(at as usize).copied().unwrap_or(0);
            for (id, edge) in (first..).zip(self.edges_from(at)).filter(|(_, edge)| taken(edge)) {
                *budget = budget.checked_sub(1)?;
                if ends(edge) {
                    let before = std::iter::successors(arrivals[&at], |id| arrivals[&self.edge(*id).from]);
                    let mut run: Vec<EdgeId> = std::iter::once(id).chain(before).collect();
                    run.reverse();
                    return Some(run);
                }
                if let Entry::Vacant(place) = arrivals.entry(edge.to) {
                    place.insert(Some(id));
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }

    /// The value of a counter in a task, as far as it is followed.
    pub fn value(&self, task: &Task, counter: CounterId) -> u32 {
        self.counters.value(task, counter)
    }

    /// True if a hook changes the number in the names of windows. A reset from the initial value changes nothing.
    pub(crate) fn renames(&self, task: &Task, effect: &Effect<'_>) -> bool {
        let Some((id, value)) = effect.counter.filter(|(id, _)| names_window(*id)) else { return false };
        let is_reset = effect.hook.resets().is_some();
        !is_reset
            || match self.counters.ceiling(id) {
                Some(ceiling) => self.value(task, id) != value.min(ceiling),
                None => self.machine.rises(id),
            }
    }

    /// The state in which a run began.
    pub fn start_of(&self, run: &[EdgeId], end: ConfigurationId) -> StateId {
        self.task(run.first().map_or(end, |first| self.edge(*first).from)).status
    }
}

impl SearchStep {
    /// The agent that is dead after it has ended: of several reviewers it is the last one.
    pub fn ended(&self) -> Option<Actor> {
        match self {
            Self::Exit { agent, one: None, .. } => Some(*agent),
            Self::Failure { failed: FailedHook { by, one: None, exit: Some(_), .. }, .. } => Some(*by),
            Self::Exit { .. }
            | Self::Failure { .. }
            | Self::Request { .. }
            | Self::Start
            | Self::Write(_)
            | Self::Commit(_)
            | Self::EndWhileWaiting(_)
            | Self::Respawn
            | Self::Retry { .. } => None,
        }
    }

    /// The watch rule for which the engine takes its transition.
    pub fn watch(&self) -> Option<WatchIndex> {
        match self {
            Self::Request { watch, .. } => *watch,
            Self::Failure { failed, .. } => failed.watch,
            Self::Start
            | Self::Write(_)
            | Self::Commit(_)
            | Self::EndWhileWaiting(_)
            | Self::Exit { .. }
            | Self::Respawn
            | Self::Retry { .. } => None,
        }
    }

    /// The transition that it takes.
    pub fn transition(&self) -> Option<TransitionId> {
        match self {
            Self::Request { transition, .. }
            | Self::Exit {
                outcome: ExitResult::Advance(transition) | ExitResult::Escalate(transition),
                ..
            } => Some(*transition),
            Self::Exit {
                outcome: ExitResult::Crash { .. } | ExitResult::Marked | ExitResult::Waits { .. },
                ..
            }
            | Self::Start
            | Self::Write(_)
            | Self::Commit(_)
            | Self::EndWhileWaiting(_)
            | Self::Respawn
            | Self::Failure { .. }
            | Self::Retry { .. } => None,
        }
    }

    /// The transition that it takes, even if a hook of it fails and stops the others.
    pub fn begins(&self) -> Option<TransitionId> {
        match self {
            Self::Failure { transition, .. } => Some(*transition),
            Self::Request { .. }
            | Self::Exit { .. }
            | Self::Start
            | Self::Write(_)
            | Self::Commit(_)
            | Self::EndWhileWaiting(_)
            | Self::Respawn
            | Self::Retry { .. } => self.transition(),
        }
    }

    /// Section and content that it writes, if any.
    pub fn wrote(&self) -> Option<Wrote> {
        match self {
            Self::Write(wrote) => Some(*wrote),
            Self::Request { wrote, .. } | Self::Exit { wrote, .. } => *wrote,
            Self::Failure { failed, .. } => failed.wrote,
            Self::Start | Self::Commit(_) | Self::EndWhileWaiting(_) | Self::Respawn | Self::Retry { .. } => {
                None
            }
        }
    }
}
