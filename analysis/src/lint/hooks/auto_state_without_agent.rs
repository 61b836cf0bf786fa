//! C68: a task enters a state that does not wait for a person, and the agent of that state is neither alive nor started.

use orange_core::{Actor, Hook, Transition, TransitionId};

use super::C68;
use super::places::numbered;
use crate::lint::Facts;
use crate::search::task::Agent;
use crate::search::{Edge, EdgeId, SearchStep};
use orange_codegen::diag::Diagnostic;

/// Facts of the search about one transition.
#[derive(Clone, Copy, Default)]
struct TransitionFacts {
    /// True if after some step the agent is alive, or the exit rules are asked about its end at once.
    manned: bool,
    /// The first step without an agent after it, from a state that waits for a person or has a living agent.
    first: Option<EdgeId>,
    /// The first step in which a person moves on a task whose agent has ended.
    by_person: Option<EdgeId>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let candidates: Vec<bool> = facts.machine.transitions.iter().map(|it| is_candidate(facts, it)).collect();
    let mut seen = vec![TransitionFacts::default(); candidates.len()];
    for (id, edge) in facts.search.edges() {
        let transition = edge.step.transition().map(|it| it.0 as usize);
        if let Some(at) = transition.filter(|at| candidates[*at]) {
            seen[at].add(facts, id, edge);
        }
    }
    let ids = (0..).map(TransitionId);
    let mut found: Vec<(u32, Diagnostic)> = ids
        .zip(seen)
        .filter_map(|(id, seen)| Some((facts.transition(id).declaration, finding(facts, id, seen)?)))
        .collect();
    found.sort_by_key(|(declaration, _)| *declaration);
    found.dedup_by_key(|(declaration, _)| *declaration);
    found.into_iter().map(|(_, found)| found).collect()
}

/// True if the transition leads to a state where agents work, and no hook starts one. `hook-needs-session` reports a message to
/// an agent that is not alive.
fn is_candidate(facts: &Facts<'_>, transition: &Transition<'_>) -> bool {
    let to = facts.machine.state(transition.to);
    let starts = |it: &Hook<'_>| it.action.traits().starts.is_some();
    !to.terminal && !to.waits_for_human && !transition.hooks.iter().any(starts)
}

impl TransitionFacts {
    fn add(&mut self, facts: &Facts<'_>, id: EdgeId, edge: &Edge) {
        let (before, after) = (facts.search.task(edge.from), facts.search.task(edge.to));
        let agent = facts.machine.state(after.status).agent;
        if after.agent(agent) == Agent::Live || after.unhandled_exit.is_some() {
            self.manned = true;
            return;
        }
        // If no agent worked in the state before, an earlier transition is at fault.
        if facts.waits(before.status) || before.live_agents() > 0 {
            self.first.get_or_insert(id);
        }
        let is_person = matches!(edge.step, SearchStep::Request { by: Actor::Human, .. });
        if is_person && facts.waits(before.status) && !facts.was_never_started(edge) {
            self.by_person.get_or_insert(id);
        }
    }
}

fn finding(facts: &Facts<'_>, id: TransitionId, seen: TransitionFacts) -> Option<Diagnostic> {
    let is_always = !seen.manned && facts.search.cut().is_none();
    let edge = if is_always { seen.first? } else { seen.by_person? };
    let transition = facts.transition(id);
    let (state, name) = (facts.machine.state(transition.to.value), facts.name(transition.to.value));
    let message = match is_always {
        true => format!(
            "{} starts no {}, and none is alive: nobody works in `{name}`",
            facts.arrow(transition),
            state.agent
        ),
        false => format!(
            "{} can be taken when no {} is alive, and starts none: nobody works in `{name}` then",
            facts.arrow(transition),
            state.agent
        ),
    };
    let place = facts.first_line(transition.span);
    let mut story = vec![(place, format!("starts no {}", state.agent))];
    let rule = facts.exit_rules.iter().find(|it| it.status.value == transition.to.value);
    story.extend(rule.map(|it| {
        (facts.first_line(it.span), format!("waits for the end of a {} that is not there", state.agent))
    }));
    let prompt =
        state.respawn.as_ref().and_then(Hook::spawn).map_or("…", |it| facts.machine.prompt(it.prompt).name);
    let start = format!(
        "start one here: `- action: kill_session`, then `- {{action: spawn_agent, prompt: {prompt}}}`"
    );
    let help = match is_always {
        true => start,
        false => format!("{start}; or let only the agent that stays alive ask: `by: {}`", state.agent),
    };
    let run = facts.search.run_through(edge);
    let trace = facts.tell(&run, format!("no {} is alive", state.agent));
    Some(numbered(Diagnostic::new(&C68, place, message), story).trace(trace).help(help))
}
