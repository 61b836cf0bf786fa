//! Agents that work and agents that judge: the states in which agents work, the agents that can be alive where a verdict decides,
//! and the writer of the verdict.

use std::collections::{BTreeMap, VecDeque};

use orange_core::{Actor, Actors, PromptId, StateId, TransitionId};

use crate::lint::Facts;
use crate::search::task::{Agent, Task};
use crate::search::{ConfigurationId, Edge, EdgeId, ExitResult, SearchStep};
use orange_codegen::model::{SectionGate, Transition};

/// The agents that a task can have.
const AGENTS: [Actor; 2] = [Actor::Worker, Actor::Reviewer];

/// Facts about agents that work and agents that judge.
#[derive(Debug)]
pub struct Judges {
    /// The verdicts that decide, by state and heading.
    pub(super) verdicts: BTreeMap<(StateId, String), SectionVerdicts>,
    /// By state: whether agents work there. Elsewhere they only judge.
    works: Vec<bool>,
    /// By prompt: whether some agent that works is started with it.
    prompts: Vec<bool>,
    /// By transition: whether it goes by a verdict when somebody asks for it, and when an exit rule takes it.
    decided: Vec<[bool; 2]>,
    /// By configuration: what the worker and the reviewer can be there, over all runs.
    roles: Vec<[AgentRoles; 2]>,
}

/// The gates of one state that take a verdict from one section, and the artifacts of its exit rules that do.
#[derive(Debug)]
pub(super) struct SectionVerdicts {
    /// The places of the verdicts, in source order.
    pub(super) places: Vec<orange_codegen::span::Span>,
    /// True if every one of them wants something new.
    pub(super) is_fresh: bool,
    /// The places of those that do not.
    pub(super) stale: Vec<orange_codegen::span::Span>,
    /// Whom the workflow declares to write it.
    declared: Option<Actors>,
}

/// Possible roles of an agent that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AgentRoles {
    /// The step by which one first came there that has worked on the task.
    worked: Option<EdgeId>,
    /// True if one can be there that was started to judge.
    judges: bool,
}

/// Writer of a section that carries a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictWriter {
    /// Only persons go by it.
    OfPersons,
    /// One that the workflow declares, whose work it is not.
    Declared,
    /// One of those who can be alive there, and nobody there has worked.
    Follows,
    /// The workflow declares this agent, and it is its own work.
    Judged(Actor),
    /// This agent could, and it is its own work.
    Unknown(Actor),
}

impl Judges {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let verdicts = verdicts(facts);
        let works = works(facts, &verdicts);
        let starts = facts.prompt_facts.starts.iter();
        let prompts = starts.map(|starts| starts.iter().any(|it| works[index(it.place.state)])).collect();
        let decided = facts.transitions.iter().map(|it| goes_by_verdict(facts, it)).collect();
        let mut judges = Self { verdicts, works, prompts, decided, roles: Vec::new() };
        if !judges.verdicts.is_empty() {
            judges.roles = vec![<[AgentRoles; 2]>::default(); facts.search.size()];
            judges.spread(facts);
        }
        judges
    }

    /// Follows every agent through every run.
    fn spread(&mut self, facts: &Facts<'_>) {
        let mut queue: VecDeque<ConfigurationId> = facts.search.configurations().map(|(id, _)| id).collect();
        let mut is_queued = vec![true; queue.len()];
        while let Some(at) = queue.pop_front() {
            is_queued[at as usize] = false;
            for (id, edge) in facts.search.numbered_from(at) {
                if facts.search.task(edge.to).is_deserted() {
                    continue;
                }
                let after = self.after(facts, id, edge);
                let known = &mut self.roles[edge.to as usize];
                let joined = [0, 1].map(|agent| AgentRoles {
                    worked: known[agent].worked.or(after[agent].worked),
                    judges: known[agent].judges || after[agent].judges,
                });
                if joined != *known {
                    *known = joined;
                    if !std::mem::replace(&mut is_queued[edge.to as usize], true) {
                        queue.push_back(edge.to);
                    }
                }
            }
        }
    }

    /// Roles of the agents after a step.
    fn after(&self, facts: &Facts<'_>, id: EdgeId, edge: &Edge) -> [AgentRoles; 2] {
        let (before, next) = (facts.search.task(edge.from), facts.search.task(edge.to));
        AGENTS.map(|agent| {
            let is_unheard = next.unhandled_exit == Some(agent);
            if next.agent(agent) != Agent::Live && !is_unheard {
                return AgentRoles::default();
            }
            let carried = self.roles[edge.from as usize][slot(agent)];
            let (stays, starts) = lives(facts, edge, before, agent);
            let works = self.works[index(next.status)];
            let started = starts.into_iter().fold(AgentRoles::default(), |role, prompt| {
                let works = works || prompt.is_none_or(|it| self.prompts[usize::from(it.0)]);
                AgentRoles { worked: role.worked.or(works.then_some(id)), judges: role.judges || !works }
            });
            let carried = if stays || is_unheard { carried } else { AgentRoles::default() };
            let worked = carried.worked.is_some() || (works && carried.judges);
            AgentRoles {
                worked: worked.then_some(id).or(started.worked),
                judges: (carried.judges && !works) || started.judges,
            }
        })
    }

    /// The agents that can be there and have worked, or could still be asked about although they have ended.
    pub(super) fn have_worked(&self, at: ConfigurationId) -> impl Iterator<Item = Actor> {
        let roles = self.roles.get(at as usize).copied().unwrap_or_default();
        AGENTS.into_iter().filter(move |agent| roles[slot(*agent)].worked.is_some())
    }

    /// True if an agent that has worked can be in a state.
    pub(super) fn is_there(&self, facts: &Facts<'_>, state: StateId) -> bool {
        let mut there = facts.search.configurations().filter(|(_, task)| task.status == state);
        there.any(|(id, _)| self.have_worked(id).next().is_some())
    }

    /// True if an agent that was started to judge can be in a state.
    pub(super) fn has_judge(&self, facts: &Facts<'_>, state: StateId) -> bool {
        let mut there = facts.search.configurations().filter(|(_, task)| task.status == state);
        there.any(|(id, _)| self.roles[id as usize].iter().any(|it| it.judges))
    }

    /// The transition of a step that goes by a verdict: its gate wants one, or an exit rule that leads there does.
    fn decided(&self, edge: &Edge) -> Option<TransitionId> {
        let (id, is_exit) = match edge.step {
            SearchStep::Request { transition, .. } => (transition, false),
            SearchStep::Exit { outcome: ExitResult::Advance(transition), .. } => (transition, true),
            SearchStep::Exit {
                outcome:
                    ExitResult::Escalate(_)
                    | ExitResult::Crash { .. }
                    | ExitResult::Marked
                    | ExitResult::Waits { .. },
                ..
            }
            | SearchStep::Start
            | SearchStep::Write(_) | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Respawn
            // The transition without a failed hook is a step from there, too.
            | SearchStep::Failure { .. }
            | SearchStep::Retry { .. } => return None,
        };
        self.decided[id.0 as usize][usize::from(is_exit)].then_some(id)
    }

    /// The agents that have worked and pass a gate with a verdict by this step.
    pub(super) fn passing(&self, facts: &Facts<'_>, edge: &Edge) -> Vec<Actor> {
        let Some(transition) = self.decided(edge) else { return Vec::new() };
        let by = facts.machine.transition(transition).by;
        let passes = |agent: &Actor| match edge.step {
            // Where a time is over or a hook has failed, the engine takes it, although an agent is alive.
            SearchStep::Request { by: Actor::Engine, .. } => false,
            SearchStep::Request { .. } => {
                by.allows(*agent) && facts.search.task(edge.from).agent(*agent) == Agent::Live
            }
            SearchStep::Exit { agent: ended, .. } => ended == *agent,
            SearchStep::Start
            | SearchStep::Write(_)
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Respawn
            | SearchStep::Failure { .. }
            | SearchStep::Retry { .. } => false,
        };
        self.have_worked(edge.from).filter(passes).collect()
    }

    /// A run to a configuration in which this agent is there and has worked.
    pub(super) fn run_to(&self, facts: &Facts<'_>, mut at: ConfigurationId, agent: Actor) -> Vec<EdgeId> {
        let mut run = Vec::new();
        while let Some(id) = self.roles[at as usize][slot(agent)].worked {
            let edge = facts.search.edge(id);
            run.push(id);
            at = edge.from;
            let (stays, _) = lives(facts, edge, facts.search.task(at), agent);
            // A step that led to itself, or a loop, was not the first to come here.
            if !stays || run.len() > facts.search.size() {
                break;
            }
        }
        run.reverse();
        facts.search.run_to(at).into_iter().chain(run).collect()
    }

    /// Writer of the section of these verdicts.
    pub(crate) fn writer(&self, facts: &Facts<'_>, state: StateId, heading: &str) -> VerdictWriter {
        let Some(it) = self.verdicts.get(&(state, heading.to_owned())) else {
            return VerdictWriter::OfPersons;
        };
        let goes_by = |edge: &Edge| {
            facts.search.task(edge.from).status == state
                && self.decided(edge).is_some()
                && !matches!(edge.step, SearchStep::Request { by: Actor::Human, .. })
        };
        if facts.search.first_edge(goes_by).is_none() {
            return VerdictWriter::OfPersons;
        }
        let may = |agent: &Actor| it.declared.is_none_or(|by| by.allows(*agent));
        let places = facts.search.configurations().filter(|(_, task)| !it.is_fresh || task.status == state);
        let worked = places.flat_map(|(id, _)| self.have_worked(id)).find(may);
        // An agent that is declared can have written it before it ended, and in another state.
        let anywhere = || facts.search.configurations().flat_map(|(id, _)| self.have_worked(id)).find(may);
        let worked = worked.or_else(|| it.declared.and_then(|_| anywhere()));
        match (worked, it.declared) {
            (None, Some(_)) => VerdictWriter::Declared,
            (None, None) => VerdictWriter::Follows,
            (Some(agent), Some(_)) => VerdictWriter::Judged(agent),
            (Some(agent), None) => VerdictWriter::Unknown(agent),
        }
    }

    /// Every state and section in which a verdict decides, with who writes it.
    pub(crate) fn writers<'j>(
        &'j self,
        facts: &'j Facts<'_>,
    ) -> impl Iterator<Item = (StateId, &'j str, VerdictWriter)> {
        self.verdicts
            .keys()
            .map(|(state, heading)| (*state, heading.as_str(), self.writer(facts, *state, heading)))
    }
}

/// True if the gate of a transition wants a verdict; and true if that gate or an exit rule that leads there does.
fn goes_by_verdict(facts: &Facts<'_>, transition: &Transition) -> [bool; 2] {
    let is_gated = transition.section_gates().any(|it| it.asks_for_verdict());
    [is_gated, is_gated || ruled(facts, transition).any(|it| it.asks_for_verdict())]
}

/// True if an agent that is there before a step is there after it, too; and those that the step starts, several if they are
/// reviewers with names, with the prompt where that is known.
fn lives(facts: &Facts<'_>, edge: &Edge, before: &Task, agent: Actor) -> (bool, Vec<Option<PromptId>>) {
    let mut task = *before;
    if let SearchStep::Exit { .. } = edge.step
        && let Some(ended) = edge.step.ended()
        && before.unhandled_exit.is_none()
    {
        task.set_agent(ended, Agent::Dead);
    }
    let (mut stays, mut starts) = (task.agent(agent) == Agent::Live, Vec::new());
    if let SearchStep::Failure { failed, .. } = edge.step
        && failed.exit.is_some()
        && edge.step.ended() == Some(agent)
    {
        stays = false;
        task.set_agent(agent, Agent::Dead);
    }
    let hooks = facts.search.ran(edge).map(|(id, ran)| &facts.machine.transition(id).hooks[ran]);
    let Some(hooks) = hooks else {
        let is_there = facts.search.task(edge.to).agent(agent) == Agent::Live;
        let respawn = facts.machine.state(before.status).respawn;
        let prompt = respawn.as_ref().and_then(|it| it.spawn()).map(|it| it.prompt);
        return (stays, (is_there && !stays).then_some(prompt).into_iter().collect());
    };
    for hook in hooks {
        let was = task.agent(agent) == Agent::Live;
        task.apply(hook);
        match (was, task.agent(agent) == Agent::Live) {
            (false, true) => starts.push(hook.spawn().map(|it| it.prompt)),
            (true, true) if agent == Actor::Reviewer && hook.reviewer().is_some() => {
                starts.push(hook.spawn().map(|it| it.prompt));
            }
            (true, false) => (stays, starts) = (false, Vec::new()),
            (true, true) | (false, false) => {}
        }
    }
    (stays, starts)
}

fn verdicts(facts: &Facts<'_>) -> BTreeMap<(StateId, String), SectionVerdicts> {
    let mut all: BTreeMap<(StateId, String), SectionVerdicts> = BTreeMap::new();
    for (state, _) in facts.states() {
        let gates = facts.leaving(state).flat_map(|(_, it)| it.section_gates());
        for gate in gates.chain(artifacts(facts, state)) {
            let Some(place) = gate.verdict_place() else { continue };
            let known = all.entry((state, gate.section.value.clone())).or_insert(SectionVerdicts {
                places: Vec::new(),
                is_fresh: true,
                stale: Vec::new(),
                declared: None,
            });
            known.places.push(place);
            known.is_fresh &= gate.fresh;
            known.stale.extend((!gate.fresh).then_some(place));
            known.declared = match (known.declared, gate.written_by) {
                (Some(one), Some(other)) => Some(one.joined(other)),
                (one, other) => one.or(other),
            };
        }
    }
    for it in all.values_mut() {
        it.places.sort_unstable();
        it.places.dedup();
    }
    all
}

fn artifacts<'f>(facts: &Facts<'f>, state: StateId) -> impl Iterator<Item = &'f SectionGate> + use<'f> {
    let rules: Vec<_> = facts.machine.exit_rules_of(state).map(|at| facts.exit_rules[at]).collect();
    rules.into_iter().flat_map(|rule| rule.condition.section_gates())
}

/// The artifacts of the exit rules that may take a transition.
fn ruled<'f>(facts: &Facts<'f>, transition: &Transition) -> impl Iterator<Item = &'f SectionGate> + use<'f> {
    let to = transition.to.value;
    let rules = facts.machine.exit_rules_of(transition.from.value).map(|at| facts.exit_rules[at]);
    let leading = rules.filter(move |rule| rule.outcome.targets().any(|it| it == to));
    leading.collect::<Vec<_>>().into_iter().flat_map(|rule| rule.condition.section_gates())
}

/// By state: whether agents work there. They judge where a verdict leads out, unless that is where agents begin.
fn works(facts: &Facts<'_>, verdicts: &BTreeMap<(StateId, String), SectionVerdicts>) -> Vec<bool> {
    let (machine, commands) = (facts.machine, facts.workflow.commands);
    let starts = |id: &TransitionId| machine.transition(*id).hooks.iter().any(|hook| hook.spawn().is_some());
    let begins = |state: StateId| {
        let is_first = machine.between(machine.initial, state).any(|id| starts(&id));
        let is_spawned = [commands.spawn, commands.clarify].contains(&Some(state));
        (is_first || is_spawned) && commands.review != Some(state)
    };
    let judges = |state: StateId| verdicts.keys().any(|(it, _)| *it == state);
    facts.states().map(|(state, _)| !judges(state) || begins(state)).collect()
}

fn slot(agent: Actor) -> usize {
    usize::from(agent == Actor::Reviewer)
}

fn index(state: StateId) -> usize {
    usize::from(state.0)
}
