//! Literal content of prompts and of messages of hooks, and the places where an agent that reads them can be.

mod calls;
mod commands;
mod literal;
mod results;
mod runs;

use std::collections::HashMap;

use orange_core::{Actor, Actors, Machine, PromptId, StateId, TransitionId};

pub use self::calls::{network_calls, refused_calls};
pub use self::commands::{UnknownCommand, unknown_commands};
pub use self::literal::{Command, Reading, StatusTarget, VerdictWord, find_heading, headings, status_names};
pub use self::results::{asked_results, result_names};
pub use self::runs::{AgentInState, PromptStart, Walker, survives};

use crate::search::Quick;
use orange_codegen::lower;
use orange_codegen::model::Workflow;
use orange_codegen::span::Span;

/// Readings of all prompts, and of the messages of hooks.
#[derive(Clone, Debug)]
pub struct PromptFacts {
    /// By [`PromptId`]: what it says.
    pub readings: Vec<Reading>,
    /// By [`PromptId`]: how agents are started with it.
    pub starts: Vec<Vec<PromptStart>>,
    /// By [`PromptId`]: where an agent that was started with it can be running; `None` where that is more than the walker looks at.
    pub runs: Vec<Option<Vec<AgentInState>>>,
    /// The messages of hooks.
    pub messages: Vec<HookMessage>,
    /// By [`StateId`]: the first prompt with which an agent can be running there.
    first_in: Vec<Option<PromptId>>,
    /// The transitions that prompts and messages name, and which agents read them there.
    named: HashMap<(StateId, StateId), Actors, Quick>,
}

/// The message of a hook to the worker or to a person.
#[derive(Clone, Debug)]
pub struct HookMessage {
    /// The hook in the source.
    pub hook: Span,
    pub reading: Reading,
    /// Readers of the message, and the state of the task then: once for each transition that the hook was declared for.
    pub starts: Vec<PromptStart>,
    /// Places where the task can be while they act on it; `None` if there are more than the walker looks at.
    pub runs: Option<Vec<AgentInState>>,
}

impl PromptFacts {
    /// Reads every prompt and message of a workflow; `machine` is its tables.
    pub fn of(workflow: &Workflow, machine: &Machine<'_>) -> Self {
        let states = (0u16..).map(StateId);
        let states: HashMap<&str, StateId> =
            workflow.states.iter().map(|it| it.name.value.as_str()).zip(states).collect();
        let readings: Vec<Reading> =
            workflow.prompts.iter().map(|prompt| literal::read(&prompt.text, &states)).collect();
        let starts = runs::starts(machine);
        let mut walker = Walker::new(machine);
        let runs: Vec<Option<Vec<AgentInState>>> = starts
            .iter()
            .map(|starts| walker.closure(starts.iter().map(|it| it.place), |_, _| true))
            .collect();
        let mut first_in = vec![None; machine.states.len()];
        for (prompt, runs) in (0u16..).map(PromptId).zip(&runs) {
            for place in runs.iter().flatten() {
                first_in[usize::from(place.state.0)].get_or_insert(prompt);
            }
        }
        let messages = messages(workflow, &states, &mut walker);
        let mut prompt_facts = Self { readings, starts, runs, messages, first_in, named: HashMap::default() };
        prompt_facts.named = prompt_facts.all_named(machine);
        prompt_facts
    }

    /// Content of a prompt.
    pub fn reading(&self, prompt: PromptId) -> &Reading {
        &self.readings[usize::from(prompt.0)]
    }

    /// The first prompt with which an agent can be running in a state.
    pub fn prompt_in(&self, state: StateId) -> Option<PromptId> {
        self.first_in[usize::from(state.0)]
    }

    /// True if a prompt of the task's other agent, or a message to it, names the command from `from` to `to`.
    pub fn others_name(&self, actor: Actor, from: StateId, to: StateId) -> bool {
        let other = if actor == Actor::Reviewer { Actor::Worker } else { Actor::Reviewer };
        self.named.get(&(from, to)).is_some_and(|by| by.allows(other))
    }

    fn all_named(&self, machine: &Machine<'_>) -> HashMap<(StateId, StateId), Actors, Quick> {
        let mut named = HashMap::default();
        let to_agents =
            self.messages.iter().filter(|it| !it.is_for_person()).map(|it| (&it.reading, &it.runs));
        for (reading, runs) in self.readings.iter().zip(&self.runs).chain(to_agents) {
            for (_, to) in reading.targets() {
                for place in runs.iter().flatten().filter(|it| it.may_request(machine, to)) {
                    let by = named.entry((place.state, to)).or_insert(Actors::NONE);
                    *by = by.with(place.actor);
                }
            }
        }
        named
    }
}

/// The messages of all hooks. A hook of a list of transitions has one message.
fn messages(
    workflow: &Workflow,
    states: &HashMap<&str, StateId>,
    walker: &mut Walker<'_>,
) -> Vec<HookMessage> {
    let mut messages: Vec<HookMessage> = Vec::new();
    let mut known: HashMap<Span, usize, Quick> = HashMap::default();
    for (id, transition) in (0u32..).map(TransitionId).zip(lower::transitions(workflow)) {
        for hook in &transition.hooks {
            let message = hook.message.as_ref().zip(hook.action.traits().tells);
            let Some((text, actor)) = message else { continue };
            let at = *known.entry(text.span).or_insert_with(|| {
                let reading = literal::read(text, states);
                messages.push(HookMessage { hook: hook.span, reading, starts: Vec::new(), runs: None });
                messages.len() - 1
            });
            let place = AgentInState { state: transition.to.value, actor };
            messages[at].starts.push(PromptStart { place, transition: Some(id) });
        }
    }
    for message in &mut messages {
        message.runs = walker.closure(message.starts.iter().map(|it| it.place), |_, _| true);
    }
    messages
}

impl HookMessage {
    /// True if a person reads it.
    pub fn is_for_person(&self) -> bool {
        self.starts.iter().any(|it| it.place.actor == Actor::Human)
    }
}
