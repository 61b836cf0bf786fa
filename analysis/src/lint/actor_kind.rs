//! The actors that take transitions.

use orange_core::{Actor, Machine, Transition};

use super::prompt_facts::PromptFacts;

/// Actor that takes a transition, as far as the workflow says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// An agent that can be running there, or that alone may.
    Agent,
    /// The engine, by an exit rule or a watch rule.
    Engine,
    /// A declared actor.
    Program,
    Person,
}

/// Actor that takes a transition: a person or an agent who alone may; else the engine where such a rule leads there; else a
/// declared actor; else an agent where hooks start one that can still be running; else a person.
pub(super) fn actor_kind(
    machine: &Machine<'_>,
    prompt_facts: &PromptFacts,
    transition: &Transition<'_>,
) -> ActorKind {
    let is_program = transition.by.declared().next().is_some();
    let human = transition.by.allows(Actor::Human);
    let agent = transition.by.allows(Actor::Worker) || transition.by.allows(Actor::Reviewer);
    if human != agent && !is_program {
        return if agent { ActorKind::Agent } else { ActorKind::Person };
    }
    let is_engines = is_ruled(machine, transition) || is_watched(machine, transition);
    match (is_engines, prompt_facts.prompt_in(transition.from).is_some()) {
        (true, _) => ActorKind::Engine,
        (false, _) if is_program => ActorKind::Program,
        (false, true) => ActorKind::Agent,
        (false, false) => ActorKind::Person,
    }
}

/// True if an exit rule leads to the target of a transition, and the transition is not for facts alone.
pub(super) fn is_ruled(machine: &Machine<'_>, transition: &Transition<'_>) -> bool {
    let mut rules = machine.exit_rules_of(transition.from).map(|rule| machine.exit_rules[rule].outcome);
    transition.cause.is_none() && rules.any(|it| it.targets().any(|to| to == transition.to))
}

/// True if a watch rule leads to the target of a transition.
fn is_watched(machine: &Machine<'_>, transition: &Transition<'_>) -> bool {
    let mut rules = machine.watch_rules_of(transition.from).map(|rule| machine.watch[rule].outcome);
    rules.any(|it| it.targets().any(|to| to == transition.to))
}
