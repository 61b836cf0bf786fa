//! CA4: an agent without a wall can forge the verdict by which a task goes to an end.

use std::collections::{HashSet, VecDeque};

use orange_core::wall::Level;
use orange_core::{Actor, Condition, Gate, Hook, TransitionId};

use super::CA4;
use crate::lint::Facts;
use crate::search::task::Agent;
use crate::search::{ConfigurationId, Edge, EdgeId, ExitResult, HookIndex, SearchStep};
use orange_codegen::diag::{Diagnostic, Trace};
use orange_codegen::span::Span;

/// A run to an end by a verdict, with an agent without a wall that was alive before that.
pub(crate) struct Forged {
    run: Vec<EdgeId>,
    /// Index of the step in the run that starts the agent.
    started: usize,
    /// Index of the step in the run that goes by a verdict.
    decided: usize,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    forged(facts).and_then(|it| finding(facts, &it)).into_iter().collect()
}

/// True if the workflow demands a wall somewhere.
pub(crate) fn demands_wall(facts: &Facts<'_>) -> bool {
    facts.workflow.sandboxes().any(|it| it.demand.level == Level::Wall)
}

/// Finds a run in which an agent without a wall starts, and the task then goes to an end by a verdict or by what a reviewer asks for. An
/// agent without a wall can write to the files of the task as long as it likes: everything that follows its start can be its doing.
pub(crate) fn forged(facts: &Facts<'_>) -> Option<Forged> {
    let search = facts.search;
    if !demands_wall(facts) || !has_unwalled(facts) {
        return None;
    }
    // By configuration and by what the run has had: nothing, such an agent, and then a decision.
    let mut queue: VecDeque<(ConfigurationId, Phase)> = VecDeque::new();
    let mut known: HashSet<(ConfigurationId, Phase)> = HashSet::new();
    let mut arrivals: Vec<[Option<(EdgeId, Phase)>; 3]> = vec![[None; 3]; search.size()];
    for (id, _) in search.configurations().filter(|(id, _)| search.arrival(*id).is_none()) {
        known.insert((id, Phase::Walled));
        queue.push_back((id, Phase::Walled));
    }
    while let Some((at, phase)) = queue.pop_front() {
        for (id, edge) in search.numbered_from(at) {
            let next = match phase {
                Phase::Walled if unwalled_start(facts, edge).is_some() => Phase::Unwalled,
                Phase::Unwalled if decides(facts, edge) => Phase::Decided,
                Phase::Walled | Phase::Unwalled | Phase::Decided => phase,
            };
            if !known.insert((edge.to, next)) {
                continue;
            }
            arrivals[edge.to as usize][next as usize] = Some((id, phase));
            if next == Phase::Decided && facts.machine.state(search.task(edge.to).status).terminal {
                return Some(Forged::of(facts, &arrivals, edge.to));
            }
            queue.push_back((edge.to, next));
        }
    }
    None
}

/// Part of a run so far that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// No agent without a wall.
    Walled,
    /// An agent without a wall.
    Unwalled,
    /// An agent without a wall, and then a decision.
    Decided,
}

impl Forged {
    fn of(facts: &Facts<'_>, arrivals: &[[Option<(EdgeId, Phase)>; 3]], end: ConfigurationId) -> Forged {
        let mut run = Vec::new();
        let mut phases = Vec::new();
        let mut at = (end, Phase::Decided);
        while let Some((id, before)) = arrivals[at.0 as usize][at.1 as usize] {
            run.push(id);
            phases.push(at.1);
            at = (facts.search.edge(id).from, before);
        }
        run.reverse();
        phases.reverse();
        let first = |wanted: Phase| phases.iter().position(|it| *it == wanted).unwrap_or_default();
        Forged { started: first(Phase::Unwalled), decided: first(Phase::Decided), run }
    }
}

/// The trace of the run.
pub(crate) fn forged_run(facts: &Facts<'_>, it: &Forged) -> Trace {
    facts.tell(&it.run, "the verdict can be forged".to_owned())
}

fn has_unwalled(facts: &Facts<'_>) -> bool {
    let hooks = facts.machine.transitions.iter().flat_map(|it| it.hooks);
    let again = facts.machine.states.iter().filter_map(|it| it.respawn.as_ref());
    hooks.chain(again).any(is_unwalled)
}

fn is_unwalled(hook: &Hook<'_>) -> bool {
    hook.spawn().is_some_and(|it| it.sandbox.level == Level::Off)
}

/// The place of the hook or the prompt by which a step starts an agent without a wall.
fn unwalled_start(facts: &Facts<'_>, edge: &Edge) -> Option<Span> {
    let search = facts.search;
    let from = search.task(edge.from);
    if let Some(id) = edge.step.begins() {
        let mut unwalled =
            facts.starting(edge).into_iter().filter(|(_, spawn)| spawn.sandbox.level == Level::Off);
        let (at, _) = unwalled.find(|(at, _)| !has_failed(facts, edge, id, *at))?;
        return facts.hook(id, at).map(|it| it.span);
    }
    // Hooks that wait go on.
    if let (SearchStep::Retry { .. }, Some((id, ran))) = (edge.step, search.ran(edge)) {
        let mut task = *from;
        let hooks = (0..).zip(facts.machine.transition(id).hooks);
        let mut starting = hooks.filter(|(at, _)| ran.contains(&usize::from(*at))).filter(|(at, hook)| {
            let is_messaged = hook.action.traits().tells == Some(Actor::Worker) && task.worker == Agent::Live;
            task.apply(hook);
            is_unwalled(hook) && !is_messaged && !has_failed(facts, edge, id, *at)
        });
        let (at, _) = starting.next()?;
        return facts.hook(id, at).map(|it| it.span);
    }
    let started = |actor| {
        search.task(edge.to).agent(actor) == Agent::Live
            && (from.agent(actor) != Agent::Live || edge.step.ended() == Some(actor))
    };
    let again = [edge.from, edge.to].map(|it| search.task(it).status).into_iter().find_map(|status| {
        let hook = facts.machine.state(status).respawn.as_ref().filter(|hook| is_unwalled(hook))?;
        facts.state(status).respawn_prompt.as_ref().map(|it| it.span).filter(|_| hook.spawn().is_some())
    })?;
    [Actor::Worker, Actor::Reviewer].into_iter().any(started).then_some(again)
}

/// True if this hook of a step has started nothing.
fn has_failed(facts: &Facts<'_>, edge: &Edge, id: TransitionId, at: HookIndex) -> bool {
    let Some(hook) = facts.machine.transition(id).hooks.get(usize::from(at)) else { return true };
    facts.search.events(edge).iter().any(|(index, event)| *index == at && event.is_failure_of(hook))
}

/// True if a step goes by a verdict, or by what a reviewer and no worker asks for.
fn decides(facts: &Facts<'_>, edge: &Edge) -> bool {
    let has_verdict =
        |gates: &[Gate<'_>]| gates.iter().flat_map(Gate::sections).any(|it| it.asks_for_verdict());
    let rule = facts.search.deciding(edge).map(|at| &facts.machine.exit_rules[at].condition);
    let is_of_rule = matches!(rule, Some(Condition::Artifact(gates)) if has_verdict(gates));
    // A crash too many asks no gate.
    let is_escalated = matches!(edge.step, SearchStep::Exit { outcome: ExitResult::Escalate(_), .. });
    let asks = matches!(edge.step, SearchStep::Request { by: Actor::Reviewer, .. });
    // An end of an agent that leaves the task where it is decides nothing.
    edge.step.begins().is_some_and(|id| {
        let transition = facts.machine.transition(id);
        let is_of_reviewer = transition.by.names(Actor::Reviewer) && !transition.by.names(Actor::Worker);
        is_of_rule || !is_escalated && (has_verdict(transition.gates) || asks && is_of_reviewer)
    })
}

fn finding(facts: &Facts<'_>, it: &Forged) -> Option<Diagnostic> {
    let edge = |at: usize| it.run.get(at).map(|id| facts.search.edge(*id));
    let place = facts.first_line(unwalled_start(facts, edge(it.started)?)?);
    let decision = edge(it.decided)?.step.begins().map(|id| facts.transition(id));
    let what = decision.map_or_else(|| "a task".to_owned(), |it| facts.arrow(it));
    let message =
        format!("an agent that starts here has no wall, and can forge the verdict that {what} goes by");
    let found = Diagnostic::new(&CA4, place, message).label(place, "no wall is demanded of this agent");
    let found = match decision.map(|it| facts.first_line(it.span)).filter(|it| *it != place) {
        Some(decided) => found.label(decided, "this goes by a verdict"),
        None => found,
    };
    let help = "demand a wall of every agent: `sandbox: wall` at the top of the workflow";
    Some(found.trace(forged_run(facts, it)).help(help))
}
