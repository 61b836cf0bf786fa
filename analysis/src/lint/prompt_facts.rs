//! What prompts tell agents: which commands to run and which sections to write, and where an agent that was told can be running.
//!
//! Prompts are prose, so that a reader of them can only be careful: what is forbidden, spoken of or left open is no command, and a
//! command under a condition may not be run. Every finding that rests on it takes the reading under which least is wrong.

mod blocks;
mod hearing;
mod names;
mod reading;
mod runs;
mod sentence;
mod words;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::rc::Rc;

use orange_core::{Actor, Actors, Machine, PromptId, StateId, TransitionId};

pub use self::runs::{AgentInState, Start, Walker, survives};

use crate::search::Quick;
use orange_codegen::lower;
use orange_codegen::model::Workflow;
use orange_codegen::span::Span;

/// What all prompts tell, and the messages of hooks.
#[derive(Clone, Debug)]
pub struct PromptFacts {
    /// By [`PromptId`]: what it says.
    pub readings: Vec<Reading>,
    /// By [`PromptId`]: how agents are started with it.
    pub starts: Vec<Vec<Start>>,
    /// By [`PromptId`]: where an agent that was started with it can be running; `None` where that is more than can be looked at.
    pub runs: Vec<Option<Vec<AgentInState>>>,
    /// The messages of hooks.
    pub messages: Vec<Message>,
    /// By [`StateId`]: the first prompt with which an agent can be running there.
    first_in: Vec<Option<PromptId>>,
    /// The moves that prompts and messages ask for, and which agents do.
    asked: HashMap<(StateId, StateId), Actors, Quick>,
}

/// What a hook tells somebody who is there already: the worker, or a person.
#[derive(Clone, Debug)]
pub struct Message {
    /// The hook in the source.
    pub hook: Span,
    /// What it says.
    pub reading: Reading,
    /// Who is told, and where the task then is: once for each transition that the hook was declared for.
    pub starts: Vec<Start>,
    /// Where the task can be while they act on it; `None` where that is more than can be looked at.
    pub runs: Option<Vec<AgentInState>>,
}

/// What one prompt, or one message, says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The status commands, in order.
    pub commands: Vec<Command>,
    /// The sections that it names, in order.
    pub sections: Vec<SectionName>,
    /// The words that it asks for as a verdict.
    pub verdicts: Vec<VerdictWord>,
    /// Whether it shows a line that begins with `Verdict:`.
    pub verdict_line: bool,
    /// The states that it has an `If status is …` for.
    pub branches: Vec<StateId>,
    /// Whether it says what to do otherwise.
    pub otherwise: bool,
    /// Whether it tells the agent to end.
    pub ends: bool,
}

/// `orange task update --status …`, or `--status …` alone, in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The name that it gives.
    pub name: String,
    /// What that name means.
    pub target: Target,
    /// The name in the source.
    pub span: Span,
    /// Where it stands in the text of the prompt, in bytes.
    pub at: usize,
    /// Whether it is to be run.
    pub mood: Mood,
    /// Whether it is to be run in some case only.
    pub conditional: bool,
    /// Whether that case is one that will come: `when …`.
    pub will_come: bool,
    /// The states of that case, where it is about the status; empty for every other.
    pub only_in: Rc<[StateId]>,
    /// Whether the agent is then told to wait.
    pub waits: bool,
    /// Whether it is told, in the same breath, to go on.
    pub goes_on: bool,
    /// Whether `orange task update` stands before it.
    pub is_whole: bool,
}

/// What a command gives as the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This state.
    State(StateId),
    /// A name that no state has.
    Unknown,
    /// Whatever the agent puts there: `<status>`.
    Open,
}

/// How a prompt speaks of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It is to be done.
    Told,
    /// That it is done is taken for granted: `before setting …`.
    Presumed,
    /// It is spoken of: `once … is set`.
    Mentioned,
    /// It is not to be done.
    Negated,
}

/// A section that a prompt names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionName {
    /// Where it stands in the text of the prompt, in bytes: its `#`s, or the last word of its name.
    pub at: usize,
    /// Whether it is only to be read.
    pub reads: bool,
    /// How it is spoken of.
    pub mood: Mood,
}

/// A word that a prompt asks for as a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictWord {
    /// The word in the source.
    pub span: Span,
    /// As it is written.
    pub word: String,
}

impl PromptFacts {
    /// Reads every prompt of a workflow, which `machine` is the tables of.
    pub fn of(workflow: &Workflow, machine: &Machine<'_>) -> Self {
        let states = (0u16..).map(StateId);
        let states: HashMap<&str, StateId> =
            workflow.states.iter().map(|it| it.name.value.as_str()).zip(states).collect();
        let readings: Vec<Reading> =
            workflow.prompts.iter().map(|prompt| reading::read(&prompt.text, &states)).collect();
        let starts = runs::starts(machine);
        let mut walker = Walker::new(machine);
        let runs: Vec<Option<Vec<AgentInState>>> =
            starts.iter().map(|starts| walker.closure(starts.iter().map(|it| it.place), |_| true)).collect();
        let mut first_in = vec![None; machine.states.len()];
        for (prompt, runs) in (0u16..).map(PromptId).zip(&runs) {
            for place in runs.iter().flatten() {
                first_in[usize::from(place.state.0)].get_or_insert(prompt);
            }
        }
        let messages = messages(workflow, &states, &mut walker);
        let mut prompt_facts = Self { readings, starts, runs, messages, first_in, asked: HashMap::default() };
        prompt_facts.asked = prompt_facts.all_asked(machine);
        prompt_facts
    }

    /// What a prompt says.
    pub fn reading(&self, prompt: PromptId) -> &Reading {
        &self.readings[usize::from(prompt.0)]
    }

    /// The first prompt with which an agent can be running in a state.
    pub fn prompt_in(&self, state: StateId) -> Option<PromptId> {
        self.first_in[usize::from(state.0)]
    }

    /// Whether the other one of a task's two agents, which may be running beside this one, is told to ask for `to`.
    pub fn other_asks(&self, actor: Actor, from: StateId, to: StateId) -> bool {
        let other = if actor == Actor::Reviewer { Actor::Worker } else { Actor::Reviewer };
        self.asked.get(&(from, to)).is_some_and(|by| by.allows(other))
    }

    fn all_asked(&self, machine: &Machine<'_>) -> HashMap<(StateId, StateId), Actors, Quick> {
        let mut asked = HashMap::default();
        let prompts = self.readings.iter().zip(&self.runs);
        let to_agents = self.messages.iter().filter(|it| !it.is_for_person());
        for (reading, runs) in prompts.chain(to_agents.map(|it| (&it.reading, &it.runs))) {
            for (command, to) in reading.told_commands() {
                for place in runs.iter().flatten().filter(|it| command.concerns(it.state)) {
                    if place.may_request(machine, to) {
                        let by = asked.entry((place.state, to)).or_insert(Actors::NONE);
                        *by = by.with(place.actor);
                    }
                }
            }
        }
        asked
    }
}

/// The messages of all hooks. One of a list of transitions is one message.
fn messages(workflow: &Workflow, states: &HashMap<&str, StateId>, walker: &mut Walker<'_>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut known: HashMap<Span, usize, Quick> = HashMap::default();
    for (id, transition) in (0u32..).map(TransitionId).zip(lower::transitions(workflow)) {
        for hook in &transition.hooks {
            let told = hook.message.as_ref().zip(hook.action.traits().tells);
            let Some((text, actor)) = told else { continue };
            let at = *known.entry(text.span).or_insert_with(|| {
                let reading = reading::read(text, states);
                messages.push(Message { hook: hook.span, reading, starts: Vec::new(), runs: None });
                messages.len() - 1
            });
            let place = AgentInState { state: transition.to.value, actor };
            messages[at].starts.push(Start { place, transition: Some(id) });
        }
    }
    for message in &mut messages {
        message.runs = walker.closure(message.starts.iter().map(|it| it.place), |_| true);
    }
    messages
}

impl Message {
    /// Whether it is for a person.
    pub fn is_for_person(&self) -> bool {
        self.starts.iter().any(|it| it.place.actor == Actor::Human)
    }
}

impl Reading {
    /// The commands that are to be run, with the states that they lead to.
    pub fn told_commands(&self) -> impl Iterator<Item = (&Command, StateId)> {
        self.commands.iter().filter(|it| it.mood == Mood::Told).filter_map(|it| match it.target {
            Target::State(to) => Some((it, to)),
            Target::Unknown | Target::Open => None,
        })
    }

    /// Whether it names any command that it does not forbid.
    pub fn names_a_command(&self) -> bool {
        self.commands.iter().any(|it| it.mood != Mood::Negated)
    }
}

impl Command {
    /// Whether it can be meant for an agent that is in this state.
    pub fn concerns(&self, state: StateId) -> bool {
        self.only_in.is_empty() || self.only_in.contains(&state)
    }
}
