//! A breadth-first search of every run of a plan. The core decides what follows each act; nothing here has rules of its own.

mod act;
mod driven;
mod key;
mod past;
mod report;
pub(crate) mod worlds;

pub(crate) use act::answer;
pub use act::{MissionAct, PauseReply};
pub(crate) use driven::Conflicts;
pub(crate) use past::sent_back_by;
pub(crate) use report::{has_fewer_items, has_longer_lists, start_with};

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use orange_codegen::diag::{Trace, TraceStep};
use orange_core::mission::{
    Answerer, AttemptEnd, Effect, Event, ItemState, ItemStatus, Mission, MissionStatus, StepState, StepStatus,
};
use orange_core::plan::{Execution, Inputs, Intervene, Plan, Policy, Step, StepId, WorktreeUse};

use self::past::Past;
use crate::search::SearchLimits;

/// The most steps of all missions that a search keeps where one step runs at a time.
const MAX_KEPT_STEPS: usize = 300_000;

/// The most steps of all missions that a search keeps where several run at a time: each takes longer.
const MAX_KEPT_CONCURRENT_STEPS: usize = 150_000;

/// Number of steps one after the other from which on a plan has parts that end for good before others begin.
const LONG_PLAN: usize = 8;

/// Cases that a search looks at.
#[derive(Clone, Copy, Debug)]
pub struct SearchScope {
    /// Policy for the pauses of missions.
    pub policy: Policy,
    /// Steps that may fail.
    pub failures: Failures,
    /// True if a person tries failed steps again, and retries failed missions.
    pub by_hand: bool,
    /// True if agents end without a word. The other searches leave that out, since it changes nothing but the number of attempts.
    pub losses: bool,
}

/// Steps that fail in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failures {
    /// Those that name a handler: what other failures lead to is an end.
    Handled,
    All,
}

/// The ends of agents and programs that a search tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// Of the step that runs next: one runs at a time.
    OfNext,
    /// Of the first one at work: in which order the others end decides nothing.
    InOrder,
    /// Of each one at work.
    InAnyOrder,
}

/// A mission that a search has found, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MissionConfigurationId(u32);

impl MissionConfigurationId {
    /// Its place in tables by configuration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One act, and what it leads to.
#[derive(Clone, Debug)]
pub struct MissionEdge {
    /// Configuration in which it happens.
    pub from: MissionConfigurationId,
    pub act: MissionAct,
    /// Configuration to which it leads.
    pub to: MissionConfigurationId,
    /// The steps that worked or asked, and are sent back by it: one for each attempt.
    pub withdrawn: Vec<StepId>,
}

/// Every run of a plan.
#[derive(Debug)]
pub struct MissionSearch<'p> {
    plan: &'p Plan<'p>,
    /// By [`MissionConfigurationId`]: what decisions can distinguish of a mission.
    configurations: Vec<Rc<Mission>>,
    /// By [`MissionConfigurationId`]: the steps that start or work there.
    work: Vec<Vec<StepId>>,
    edges: Vec<MissionEdge>,
    /// By [`MissionConfigurationId`]: the edge by which the search came there first.
    first: Vec<Option<usize>>,
    /// By step: how many agents an attempt can have before it counts as failed; 0 of a step that no run starts.
    agents: Vec<u32>,
    /// Configuration in which a step may write in a worktree in which another one works.
    second_writer: Option<MissionConfigurationId>,
    /// Configuration of a completed mission in which a step lacks items that it needs.
    lacks_items: Option<MissionConfigurationId>,
    /// Number of the first configurations, which differ in their inputs alone.
    starts: usize,
    is_cut: bool,
    /// True if it does not tell apart what steps have done that have ended for good.
    is_coarse: bool,
    /// For each start of a step and each ask: the answers of persons that counts then; `None` stands for none.
    approvals: Approvals,
}

/// For a step that starts, and an ask: the answers of persons that count then. `None` stands for a start without one.
pub type Approvals = BTreeMap<(StepId, StepId), BTreeSet<Option<String>>>;

impl<'p> MissionSearch<'p> {
    /// Searches the runs of a plan.
    pub fn run(plan: &'p Plan<'p>, scope: SearchScope) -> Self {
        Self::within(plan, scope, &SearchLimits::default())
    }

    /// Searches the runs of a plan until somebody stops it; then it is cut. Where there are too many, it tries again without telling apart
    /// what steps have done that have ended for good.
    pub fn within(plan: &'p Plan<'p>, scope: SearchScope, limits: &SearchLimits<'_>) -> Self {
        let search = Self::apart(plan, scope, limits, None);
        let has_parts = past::longest_path(plan) >= LONG_PLAN && !has_longer_lists(plan);
        if !search.is_cut || limits.is_stopped() || !has_parts {
            return search;
        }
        let coarse = Self::apart(plan, scope, limits, Some(&Past::of(plan)));
        if coarse.is_cut { search } else { coarse }
    }

    fn apart(
        plan: &'p Plan<'p>,
        scope: SearchScope,
        limits: &SearchLimits<'_>,
        past: Option<&Past<'_>>,
    ) -> Self {
        let mut search = Self {
            plan,
            configurations: Vec::new(),
            work: Vec::new(),
            edges: Vec::new(),
            first: Vec::new(),
            agents: vec![0; plan.steps.len()],
            second_writer: None,
            lacks_items: None,
            starts: 0,
            is_cut: false,
            is_coarse: past.is_some(),
            approvals: Approvals::new(),
        };
        search.is_cut = has_longer_lists(plan);
        let ends = ends(plan, scope);
        let rounds: Vec<i64> = plan.step_ids().map(|it| report::rounds_read(plan, it)).collect();
        let distinguished = |mission: &Mission, conflicts: &Conflicts| {
            let mut key = key::of(plan, &rounds, mission, conflicts);
            past.into_iter().for_each(|it| it.forget(&mut key));
            key
        };
        let kept = if ends == Ends::OfNext { MAX_KEPT_STEPS } else { MAX_KEPT_CONCURRENT_STEPS };
        let most = (kept / plan.steps.len().max(1)).max(50);
        let mut known = HashMap::new();
        let mut open = VecDeque::new();
        for inputs in report::starts(plan) {
            let mut mission = Mission::with_inputs(plan, scope.policy, inputs);
            if mission.apply(plan, Event::Begin).is_err() {
                return search;
            }
            let conflicts = Conflicts::default();
            search.drive(ends, &mut mission, &conflicts);
            let key = distinguished(&mission, &conflicts);
            open.push_back((search.add(&mut known, key, None), mission, conflicts));
        }
        search.starts = open.len();
        while let Some((from, mission, conflicts)) = open.pop_front() {
            if limits.is_stopped() {
                search.is_cut = true;
                break;
            }
            if scope.failures == Failures::All {
                search.note_agents(from, &mission);
            }
            for act in act::at(plan, scope, ends, &mission) {
                let (mut next, mut conflicts) = (mission.clone(), conflicts.clone());
                let event = act.event(&mission);
                conflicts.note(&act, &event);
                let is_accepted = next.apply(plan, event).is_ok_and(|it| !it.contains(&Effect::Repeated));
                if !is_accepted {
                    continue;
                }
                search.drive(ends, &mut next, &conflicts);
                let withdrawn = withdrawn(&mission, &next);
                let is_full = search.configurations.len() >= most;
                let key = distinguished(&next, &conflicts);
                let (to, is_new) = match known.get(&key) {
                    Some(to) => (*to, false),
                    None if is_full => {
                        search.is_cut = true;
                        continue;
                    }
                    None => (search.add(&mut known, key, Some(search.edges.len())), true),
                };
                search.edges.push(MissionEdge { from, act, to, withdrawn });
                if is_new {
                    search.note_items(to, &next);
                    open.push_back((to, next, conflicts));
                }
            }
        }
        search
    }

    /// Carries out what the engine does at once, where something may happen between the start of a step and its end.
    fn drive(&mut self, ends: Ends, mission: &mut Mission, conflicts: &Conflicts) {
        if ends == Ends::OfNext {
            return;
        }
        let mut effects = Vec::new();
        // It refuses nothing that it has asked for itself.
        _ = conflicts.drive(self.plan, mission, &mut effects);
        for effect in effects {
            let (Effect::Start { step, .. } | Effect::Ask { step, .. }) = effect else { continue };
            for ask in self.plan.asks().filter(|it| *it != step) {
                self.approvals.entry((step, ask)).or_default().insert(approval(mission, ask));
            }
        }
    }

    /// Notes a completed mission in which a step has fewer completed items than it needs, or one that has not landed.
    fn note_items(&mut self, at: MissionConfigurationId, mission: &Mission) {
        let lacks = |id: StepId| {
            let state = mission.step(id);
            let is_done = |it: &&ItemState| it.status == ItemStatus::Completed;
            let needed = match self.plan.step(id).fan_out {
                Some(fan_out) => fan_out.needed(state.items.len()),
                None => state.items.len(),
            };
            state.status == StepStatus::Completed && state.items.iter().filter(is_done).count() < needed
        };
        if mission.status == MissionStatus::Completed && self.plan.step_ids().any(lacks) {
            self.lacks_items.get_or_insert(at);
        }
    }

    /// For each start of a step and each ask: the answers of persons that count then.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// Notes whether a step may write where another one works, and how many agents one attempt of each step can have.
    fn note_agents(&mut self, at: MissionConfigurationId, mission: &Mission) {
        let mut started = mission.clone();
        if let Some((step, attempt)) = mission.next(self.plan) {
            _ = started.apply(self.plan, Event::Start { step, attempt });
        }
        let may_write = |step: StepId| {
            let mut started = started.clone();
            let queued = queued(started.step(step));
            let start = queued.map(|attempt| started.apply(self.plan, Event::Start { step, attempt }));
            start.is_some_and(|it| it.is_ok()) && !has_one_writer(self.plan, &started)
        };
        if !has_one_writer(self.plan, &started) || self.plan.step_ids().any(may_write) {
            self.second_writer.get_or_insert(at);
        }
        let working: Vec<(StepId, u32)> = started.working().collect();
        for (step, attempt) in working {
            if self.agents[step.index()] == 0 {
                self.agents[step.index()] = agents(self.plan, &started, step, attempt);
            }
        }
    }

    fn add(
        &mut self,
        known: &mut HashMap<Rc<Mission>, MissionConfigurationId>,
        key: Mission,
        first: Option<usize>,
    ) -> MissionConfigurationId {
        let id = MissionConfigurationId(self.configurations.len() as u32);
        let next = key.next(self.plan).map(|(step, _)| step);
        let mut work: Vec<StepId> = next.into_iter().chain(key.working().map(|(step, _)| step)).collect();
        work.dedup();
        self.work.push(work);
        let key = Rc::new(key);
        known.insert(Rc::clone(&key), id);
        self.configurations.push(key);
        self.first.push(first);
        id
    }

    /// Every mission that was found, a nearer one first. Attempts are left out.
    pub fn configurations(&self) -> impl DoubleEndedIterator<Item = (MissionConfigurationId, &Mission)> {
        let all = self.configurations.iter().map(Rc::as_ref).enumerate();
        all.map(|(index, mission)| (MissionConfigurationId(index as u32), mission))
    }

    /// The configurations in which missions begin, which differ in their inputs alone.
    pub fn starts(&self) -> impl Iterator<Item = MissionConfigurationId> + use<> {
        (0..self.starts as u32).map(MissionConfigurationId)
    }

    pub fn configuration(&self, id: MissionConfigurationId) -> &Mission {
        &self.configurations[id.0 as usize]
    }

    /// The steps that start or work there.
    pub fn work(&self, id: MissionConfigurationId) -> &[StepId] {
        &self.work[id.0 as usize]
    }

    /// The steps that start, work or ask there.
    fn open(&self, id: MissionConfigurationId) -> impl Iterator<Item = StepId> {
        self.work(id).iter().copied().chain(self.configuration(id).open_asks().map(|(step, _)| step))
    }

    /// Every act that was looked at.
    pub fn edges(&self) -> &[MissionEdge] {
        &self.edges
    }

    /// Those in which no person runs a step once more.
    pub fn unaided_edges(&self) -> impl Iterator<Item = &MissionEdge> {
        self.edges.iter().filter(|edge| !edge.act.is_by_hand(self.configuration(edge.from)))
    }

    /// A shortest run to a mission.
    pub fn run_to(&self, id: MissionConfigurationId) -> Vec<&MissionEdge> {
        let mut run = Vec::new();
        let mut at = id;
        while let Some(edge) = self.first[at.0 as usize].map(|it| &self.edges[it]) {
            run.push(edge);
            at = edge.from;
        }
        run.reverse();
        run
    }

    /// Number of agents that an attempt at a step can have before it counts as failed; 0 if no run was found that starts it.
    pub fn agents(&self, id: StepId) -> u32 {
        self.agents[id.index()]
    }

    /// A mission in which a step may write where another one works.
    pub fn second_writer(&self) -> Option<MissionConfigurationId> {
        self.second_writer
    }

    /// A completed mission in which a step lacks items that it needs.
    pub fn lacks_items(&self) -> Option<MissionConfigurationId> {
        self.lacks_items
    }

    /// A run in one line, with the script of a walk that does the same.
    pub fn trace(&self, to: MissionConfigurationId, end: Option<String>) -> Trace {
        let stand = |id: MissionConfigurationId| match self.open(id).next() {
            Some(step) => self.plan.step(step).id.to_owned(),
            None => self.configuration(id).status.as_str().to_owned(),
        };
        let run = self.run_to(to);
        let start = run.first().map_or(to, |edge| edge.from);
        let mut start_line = self.start_line(start);
        let steps = run.into_iter().map(|edge| TraceStep {
            by: edge.act.actor(self.plan).to_owned(),
            does: edge.act.does(),
            to: stand(edge.to),
            hooks: Vec::new(),
            span: None,
            script: start_line.take().into_iter().chain([edge.act.script(self.plan)]).collect(),
        });
        Trace { start: stand(start), steps: steps.collect(), end }
    }

    /// The line of a script that begins a mission with the inputs of this configuration, where others begin it otherwise.
    fn start_line(&self, at: MissionConfigurationId) -> Option<String> {
        let inputs = &self.configuration(at).inputs;
        (*inputs != start_with(self.plan, Inputs::new())).then(|| format!("start{}", report::words(inputs)))
    }

    /// True if the reports of steps that have ended for good are left out, and of loop steps and handlers whether they have run.
    pub fn is_coarse(&self) -> bool {
        self.is_coarse
    }

    /// True if runs are left that were not looked at.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// True if a run starts this step; `None` if none was found and not all were looked at.
    pub fn runs(&self, id: StepId) -> Option<bool> {
        let asks = || self.configurations.iter().any(|it| it.step(id).status == StepStatus::Asked);
        let runs = self.work.iter().any(|it| it.contains(&id)) || self.plan.step(id).is_ask() && asks();
        (runs || !self.is_cut).then_some(runs)
    }

    /// The first mission for which this holds.
    pub fn find(&self, holds: impl Fn(&Mission) -> bool) -> Option<MissionConfigurationId> {
        self.configurations().find(|(_, it)| holds(it)).map(|(id, _)| id)
    }

    /// The first mission that the loop of this step has failed, because it is exhausted.
    pub fn exhausted(&self, id: StepId) -> Option<MissionConfigurationId> {
        self.find(|it| it.status == MissionStatus::Failed && it.step(id).is_exhausted)
    }

    /// The steps that start although a dependency was skipped, each with that dependency and the first mission where it does.
    /// Left out are skipped loop steps, which had nothing to do, and dependencies that stand for each other: where one is
    /// skipped, another has run.
    pub fn after_skip(&self) -> BTreeMap<(StepId, StepId), MissionConfigurationId> {
        let starts = self
            .configurations()
            .flat_map(|(id, mission)| self.open(id).map(move |step| (id, mission, step)));
        let pairs = starts.flat_map(|(at, mission, step)| {
            let dependencies = self.plan.step(step).depends_on;
            let is_skipped = |it: &StepId| {
                let state = mission.step(*it);
                state.status == StepStatus::Skipped && !state.has_report()
            };
            let alternative = move |it: StepId| {
                let read = |id: StepId| {
                    let tests = self.plan.step(id).condition?.tests();
                    Some(tests.into_iter().map(|it| it.of).collect::<BTreeSet<_>>())
                };
                let ran = dependencies.iter().filter(|other| mission.step(**other).has_report());
                ran.clone().any(|other| read(*other).is_some() && read(*other) == read(it))
            };
            let skipped =
                dependencies.iter().copied().filter(is_skipped).filter(|it| !self.plan.step(*it).is_loop());
            skipped.filter(move |it| !alternative(*it)).map(move |it| ((step, it), at)).collect::<Vec<_>>()
        });
        // Of several missions, the last one that is put in stays.
        pairs.collect::<Vec<_>>().into_iter().rev().collect()
    }
}

/// The ends that a search of this plan has to try.
fn ends(plan: &Plan<'_>, scope: SearchScope) -> Ends {
    let is_concurrent = plan.is_concurrent() || plan.steps.iter().any(Step::is_fan_out);
    let has_pauses = scope.policy != Policy { execution: Execution::Auto, intervene: Intervene::Never };
    let has_loops = plan.steps.iter().any(Step::is_loop);
    match is_concurrent {
        false if plan.has_asks() => Ends::InAnyOrder,
        false => Ends::OfNext,
        true if has_pauses || has_loops || plan.has_asks() || plan.max_attempts.is_some() => Ends::InAnyOrder,
        true => Ends::InOrder,
    }
}

/// True if in the worktree of the mission one job writes, or any number only read.
fn has_one_writer(plan: &Plan<'_>, mission: &Mission) -> bool {
    let uses = |wanted: WorktreeUse| {
        mission.working().filter(|(step, _)| plan.step(*step).worktree == wanted).count()
    };
    let shown =
        mission.open_asks().filter(|(step, _)| plan.step(*step).ask.is_none_or(|it| it.shows_diff)).count();
    let writers = uses(WorktreeUse::Write) + usize::from(mission.next_landing().is_some());
    writers <= usize::from(uses(WorktreeUse::Read) + shown == 0)
}

/// The first attempt of a step that waits for a place.
fn queued(state: &StepState) -> Option<u32> {
    match state.items.is_empty() {
        true => (state.status == StepStatus::Queued).then(|| state.attempt()),
        false => state.items.iter().find(|it| it.status == ItemStatus::Queued).map(|it| it.attempt),
    }
}

/// Number of agents that this attempt and those after it can have before their job has failed.
fn agents(plan: &Plan<'_>, mission: &Mission, step: StepId, attempt: u32) -> u32 {
    let mut lost = Mission { cap: None, ..mission.clone() };
    let (mut attempt, mut agents) = (attempt, 0);
    while lost.apply(plan, Event::Lose { step, attempt }).is_ok() {
        agents += 1;
        // The next attempt of the same job is the newest one of the step.
        let newest = lost.step(step).attempt();
        if newest == attempt {
            break;
        }
        attempt = newest;
    }
    agents
}

/// The answer of a person that counts for an ask.
fn approval(mission: &Mission, ask: StepId) -> Option<String> {
    let state = mission.step(ask);
    let report = state.latest.as_ref().filter(|_| state.status == StepStatus::Completed)?;
    let is_by_person = matches!(report.answer.as_ref()?.by, Answerer::Person(_));
    report.result.clone().filter(|_| is_by_person)
}

/// The steps that worked or asked, and that an act has sent back.
fn withdrawn(before: &Mission, after: &Mission) -> Vec<StepId> {
    let is_withdrawn = |(step, attempt): &(StepId, u32)| {
        let attempt = after.step(*step).attempts.get((*attempt as usize).wrapping_sub(1));
        attempt.is_some_and(|it| it.end == Some(AttemptEnd::Withdrawn))
    };
    let open = before.working().chain(before.open_asks());
    let mut steps: Vec<StepId> = open.filter(is_withdrawn).map(|(step, _)| step).collect();
    steps.sort();
    steps
}
