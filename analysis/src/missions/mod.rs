//! A breadth-first search of every run of a plan. The core decides what follows each act; nothing here has rules of its own.

mod act;
mod report;
pub(crate) mod worlds;

pub(crate) use act::answer;
pub use act::{MissionAct, PauseReply};
pub(crate) use report::start_with;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use orange_codegen::diag::{Trace, TraceStep};
use orange_core::mission::{
    Answerer, Attempt, AttemptEnd, Effect, Event, Mission, MissionStatus, Report, StepFailure, StepStatus,
};
use orange_core::plan::{Inputs, Plan, Policy, Step, StepId};

use crate::search::SearchLimits;

/// The most steps of all missions that a search keeps.
const MAX_KEPT_STEPS: usize = 300_000;

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
    /// The steps that worked or asked, and are sent back by it.
    pub withdrawn: Vec<StepId>,
}

/// Every run of a plan.
#[derive(Debug)]
pub struct MissionSearch<'p> {
    plan: &'p Plan<'p>,
    /// By [`MissionConfigurationId`]: what decisions can distinguish of a mission.
    configurations: Vec<Rc<Mission>>,
    /// By [`MissionConfigurationId`]: the step that starts there, or works there beside questions.
    next: Vec<Option<StepId>>,
    edges: Vec<MissionEdge>,
    /// By [`MissionConfigurationId`]: the edge by which the search came there first.
    first: Vec<Option<usize>>,
    /// By step: how many agents an attempt can have before it counts as failed; 0 of a step that no run starts.
    agents: Vec<u32>,
    /// Configuration in which a second agent may start beside the first one.
    second_agent: Option<MissionConfigurationId>,
    /// Number of the first configurations, which differ in their inputs alone.
    starts: usize,
    is_cut: bool,
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

    /// Searches the runs of a plan until somebody stops it; then it is cut.
    pub fn within(plan: &'p Plan<'p>, scope: SearchScope, limits: &SearchLimits<'_>) -> Self {
        let mut search = Self {
            plan,
            configurations: Vec::new(),
            next: Vec::new(),
            edges: Vec::new(),
            first: Vec::new(),
            agents: vec![0; plan.steps.len()],
            second_agent: None,
            starts: 0,
            is_cut: false,
            approvals: Approvals::new(),
        };
        if !follows(plan) {
            search.is_cut = true;
            return search;
        }
        let rounds: Vec<i64> = plan.step_ids().map(|it| report::rounds_read(plan, it)).collect();
        let distinguished = |mission: &Mission| distinguished(plan, &rounds, mission);
        let most = (MAX_KEPT_STEPS / plan.steps.len().max(1)).max(50);
        let mut known = HashMap::new();
        let mut open = VecDeque::new();
        for inputs in report::starts(plan) {
            let mut mission = Mission::with_inputs(plan, scope.policy, inputs);
            if mission.apply(plan, Event::Begin).is_err() {
                return search;
            }
            search.start_all(&mut mission);
            open.push_back((search.add(&mut known, distinguished(&mission), None), mission));
        }
        search.starts = open.len();
        while let Some((from, mission)) = open.pop_front() {
            if limits.is_stopped() {
                search.is_cut = true;
                break;
            }
            if scope.failures == Failures::All {
                search.note_agents(from, &mission);
            }
            for act in act::at(plan, scope, &mission) {
                let mut next = mission.clone();
                let is_accepted =
                    next.apply(plan, act.event(&mission)).is_ok_and(|it| !it.contains(&Effect::Repeated));
                if !is_accepted {
                    continue;
                }
                let withdrawn = withdrawn(plan, &mission, &next);
                search.start_all(&mut next);
                let is_full = search.configurations.len() >= most;
                let key = distinguished(&next);
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
                    open.push_back((to, next));
                }
            }
        }
        search
    }

    /// Puts all questions and starts the next step, as the engine does at once, where a person may answer while it works. Without asks,
    /// nothing happens between the start of a step and its end.
    fn start_all(&mut self, mission: &mut Mission) {
        if !self.plan.has_asks() {
            return;
        }
        while let Some((step, attempt)) = mission.next_ask(self.plan).or_else(|| mission.next(self.plan)) {
            let event = match self.plan.step(step).is_ask() {
                true => Event::Ask { step, attempt, commit: None },
                false => Event::Start { step, attempt },
            };
            if mission.apply(self.plan, event).is_err() {
                break;
            }
            for ask in self.plan.asks().filter(|it| *it != step) {
                self.approvals.entry((step, ask)).or_default().insert(approval(mission, ask));
            }
        }
    }

    /// For each start of a step and each ask: the answers of persons that count then.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// Starts the next step, and notes whether another one may start beside it, and how many agents one attempt can have.
    fn note_agents(&mut self, at: MissionConfigurationId, mission: &Mission) {
        let mut started = mission.clone();
        let (step, is_started) = match (mission.next(self.plan), mission.busy()) {
            (None, None) => return,
            (None, Some(step)) => (step, true),
            (Some((step, attempt)), _) => {
                (step, started.apply(self.plan, Event::Start { step, attempt }).is_ok())
            }
        };
        let is_alone = is_started
            && started.next(self.plan).is_none()
            && self.plan.step_ids().filter(|it| *it != step).all(|other| {
                let attempt = started.step(other).attempt();
                started.clone().apply(self.plan, Event::Start { step: other, attempt }).is_err()
            });
        if !is_alone && self.second_agent.is_none() {
            self.second_agent = Some(at);
        }
        if self.agents[step.index()] == 0 {
            let mut lost = Mission { cap: None, ..mission.clone() };
            let mut agents = 0;
            while lost.step(step).status.is_active()
                && lost.apply(self.plan, MissionAct::Lose(step).event(&lost)).is_ok()
            {
                agents += 1;
            }
            self.agents[step.index()] = agents;
        }
    }

    fn add(
        &mut self,
        known: &mut HashMap<Rc<Mission>, MissionConfigurationId>,
        key: Mission,
        first: Option<usize>,
    ) -> MissionConfigurationId {
        let id = MissionConfigurationId(self.configurations.len() as u32);
        self.next.push(key.next(self.plan).map(|(step, _)| step).or(key.busy()));
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

    /// The step that starts there, or works there beside questions.
    pub fn next(&self, id: MissionConfigurationId) -> Option<StepId> {
        self.next[id.0 as usize]
    }

    /// The steps that start or ask there.
    fn open(&self, id: MissionConfigurationId) -> impl Iterator<Item = StepId> {
        self.next(id).into_iter().chain(self.configuration(id).open_asks().map(|(step, _)| step))
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

    /// A mission in which a second agent may start beside the first one.
    pub fn second_agent(&self) -> Option<MissionConfigurationId> {
        self.second_agent
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

    /// True if runs are left that were not looked at.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// True if a run starts this step; `None` if none was found and not all were looked at.
    pub fn runs(&self, id: StepId) -> Option<bool> {
        let asks = || self.configurations.iter().any(|it| it.step(id).status == StepStatus::Asked);
        let runs = self.next.contains(&Some(id)) || self.plan.step(id).is_ask() && asks();
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
                state.status == StepStatus::Skipped && state.latest.is_none()
            };
            let alternative = move |it: StepId| {
                let read = |id: StepId| {
                    let tests = self.plan.step(id).condition?.tests();
                    Some(tests.into_iter().map(|it| it.of).collect::<BTreeSet<_>>())
                };
                let ran = dependencies.iter().filter(|other| mission.step(**other).latest.is_some());
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

/// True if a search can follow a plan: one agent at a time works at it, each at a whole step.
pub(crate) fn follows(plan: &Plan<'_>) -> bool {
    !plan.is_concurrent() && !plan.steps.iter().any(Step::is_fan_out)
}

/// The answer of a person that counts for an ask.
fn approval(mission: &Mission, ask: StepId) -> Option<String> {
    let state = mission.step(ask);
    let report = state.latest.as_ref().filter(|_| state.status == StepStatus::Completed)?;
    let is_by_person = matches!(report.answer.as_ref()?.by, Answerer::Person(_));
    report.result.clone().filter(|_| is_by_person)
}

/// The steps that worked or asked, and that an act has sent back.
fn withdrawn(plan: &Plan<'_>, before: &Mission, after: &Mission) -> Vec<StepId> {
    let is_withdrawn = |id: &StepId| {
        let state = before.step(*id);
        let was_open = matches!(state.status, StepStatus::Running | StepStatus::Asked);
        let attempt = (state.attempt() as usize).checked_sub(1);
        let end = attempt.and_then(|it| after.step(*id).attempts.get(it)?.end.as_ref());
        was_open && end == Some(&AttemptEnd::Withdrawn)
    };
    plan.step_ids().filter(is_withdrawn).collect()
}

/// Parts of a mission that decisions can distinguish: of attempts the number of completions up to the largest that a condition
/// names, no texts that nothing compares, no numbers of pauses.
fn distinguished(plan: &Plan<'_>, rounds: &[i64], mission: &Mission) -> Mission {
    let mut key = mission.clone();
    for (id, most) in plan.step_ids().zip(rounds) {
        let completion =
            Attempt { end: Some(AttemptEnd::Completed(Report::default())), ..Attempt::default() };
        let number = mission.rounds(plan, id).min(*most).max(0) as usize;
        key.steps[id.index()].attempts = vec![completion; number];
    }
    key.pauses = 0;
    key.questions.iter_mut().for_each(|it| it.number = 0);
    for step in &mut key.steps {
        // A round that a person grants counts like one that was left.
        step.completions = step.completions.saturating_sub(step.granted);
        step.granted = 0;
        if let Some(StepFailure::Reported(_) | StepFailure::Stuck(_) | StepFailure::Abandoned(_)) =
            step.failure
        {
            step.failure = Some(StepFailure::Reported(String::new()));
        }
        if let Some(report) = &mut step.latest {
            report.warning = None;
        }
    }
    key
}
