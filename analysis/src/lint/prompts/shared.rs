//! Shared questions of the lints of prompts.

use orange_core::{PromptId, StateId};

use crate::lint::Facts;
use crate::lint::prompt_facts::{AgentInState, PromptFacts, PromptStart, Reading, find_heading};
use orange_codegen::model::{Prompt, SectionGate};
use orange_codegen::span::Span;

/// A prompt with what is known about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prompted<'f> {
    pub id: PromptId,
    pub name: &'f str,
    pub prompt: &'f Prompt,
    pub reading: &'f Reading,
    /// Starts of agents with it; empty for one that is not used.
    pub starts: &'f [PromptStart],
}

/// Every prompt, in source order.
pub(super) fn prompts<'f>(facts: &Facts<'f>) -> impl Iterator<Item = Prompted<'f>> + use<'f> {
    let (prompts, prompt_facts) = (&facts.workflow.prompts, facts.prompt_facts);
    let all = (0u16..).map(PromptId).zip(prompts).zip(prompt_facts.readings.iter().zip(&prompt_facts.starts));
    all.map(|((id, prompt), (reading, starts))| Prompted {
        id,
        name: &prompt.name.value,
        prompt,
        reading,
        starts,
    })
}

/// The prompt with this number.
pub(super) fn prompt<'f>(facts: &Facts<'f>, id: PromptId) -> Prompted<'f> {
    let (at, prompt_facts) = (usize::from(id.0), facts.prompt_facts);
    let prompt = &facts.workflow.prompts[at];
    Prompted {
        id,
        name: &prompt.name.value,
        prompt,
        reading: &prompt_facts.readings[at],
        starts: &prompt_facts.starts[at],
    }
}

/// Origin of instructions: a prompt, or a hook's message by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum InstructionOrigin {
    Prompt(PromptId),
    Message(usize),
}

/// A prompt or a message, and who reads it where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instructions<'f> {
    pub by: InstructionOrigin,
    pub reading: &'f Reading,
    /// Readers, and the state of the task then; empty for a prompt that is not used.
    pub starts: &'f [PromptStart],
    /// Places where the task can be while they act on them; `None` if there are more than the walker looks at.
    pub runs: Option<&'f [AgentInState]>,
}

/// Every prompt and every message.
pub(super) fn all_instructions<'f>(facts: &Facts<'f>) -> impl Iterator<Item = Instructions<'f>> + use<'f> {
    let prompt_facts = facts.prompt_facts;
    let prompts = (0u16..).zip(&prompt_facts.readings).map(|(id, _)| InstructionOrigin::Prompt(PromptId(id)));
    let messages = (0..prompt_facts.messages.len()).map(InstructionOrigin::Message);
    prompts.chain(messages).map(|by| instructions(prompt_facts, by))
}

/// The prompt or the message.
pub(super) fn instructions(prompt_facts: &PromptFacts, by: InstructionOrigin) -> Instructions<'_> {
    match by {
        InstructionOrigin::Prompt(id) => {
            let at = usize::from(id.0);
            let runs = prompt_facts.runs[at].as_deref();
            Instructions { by, reading: &prompt_facts.readings[at], starts: &prompt_facts.starts[at], runs }
        }
        InstructionOrigin::Message(at) => {
            let message = &prompt_facts.messages[at];
            let runs = message.runs.as_deref();
            Instructions { by, reading: &message.reading, starts: &message.starts, runs }
        }
    }
}

impl Instructions<'_> {
    /// Name of the instructions in a finding.
    pub fn name(&self, facts: &Facts<'_>) -> String {
        match self.by {
            InstructionOrigin::Prompt(id) => format!("`{}`", prompt(facts, id).name),
            InstructionOrigin::Message(_) => {
                let first = self.starts.iter().find_map(|it| it.transition);
                let arrow = first.map_or_else(String::new, |id| facts.arrow(facts.transition(id)));
                format!("the message of {arrow}")
            }
        }
    }

    /// Reader of the instructions: `the agent` or `the person`.
    pub fn reader(&self, facts: &Facts<'_>) -> &'static str {
        match self.by {
            InstructionOrigin::Message(at) if facts.prompt_facts.messages[at].is_for_person() => "the person",
            InstructionOrigin::Prompt(_) | InstructionOrigin::Message(_) => "the agent",
        }
    }

    /// Place where the reader gets them, and the words that say so.
    pub fn given(&self, facts: &Facts<'_>, start: &PromptStart) -> (Span, String) {
        match self.by {
            InstructionOrigin::Prompt(id) => started(facts, &prompt(facts, id), start),
            InstructionOrigin::Message(at) => {
                let state = facts.name(start.place.state);
                let span = facts.first_line(facts.prompt_facts.messages[at].hook);
                (span, format!("{} reads it when the task is in `{state}`", self.reader(facts)))
            }
        }
    }
}

/// Place where an agent is started with a prompt, and the words that say so.
pub(super) fn started(facts: &Facts<'_>, it: &Prompted<'_>, start: &PromptStart) -> (Span, String) {
    let Prompted { id, name, .. } = it;
    match start.transition {
        Some(start_id) => {
            let transition = facts.transition(start_id);
            let hooks = facts.machine.transition(start_id).hooks.iter();
            let at = hooks.map(|it| it.spawn()).position(|it| it.is_some_and(|it| it.prompt == *id));
            let hook = at.and_then(|at| transition.hooks.get(at));
            let span = hook.map_or(transition.span, |it| it.span);
            (facts.first_line(span), format!("{} starts an agent with `{name}`", facts.arrow(transition)))
        }
        None => {
            let state = facts.state(start.place.state);
            let span = state.respawn_prompt.as_ref().map_or(state.name.span, |it| it.span);
            (span, format!("an agent that is started again in `{}` has `{name}`", state.name.value))
        }
    }
}

/// `a`, `b` and `c`, quoted.
pub(super) fn list(words: &[&str]) -> String {
    joined(words, "and")
}

/// The first lines that a section may have: `Verdict: PASS` or `Verdict: FAIL`.
pub(super) fn verdict_lines(gate: &SectionGate) -> String {
    let lines: Vec<String> = gate.words().map(|word| format!("`Verdict: {word}`")).collect();
    match lines.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// `a`, `b` or `c`, quoted.
pub(super) fn any_of(words: &[&str]) -> String {
    joined(words, "or")
}

fn joined(words: &[&str], last: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
    match &quoted[..] {
        [rest @ .., end] if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        few => few.concat(),
    }
}

/// The names of states, each once, in source order.
pub(super) fn names<'f>(facts: &Facts<'f>, states: impl IntoIterator<Item = StateId>) -> Vec<&'f str> {
    let mut states: Vec<StateId> = states.into_iter().collect();
    states.sort_unstable();
    states.dedup();
    states.into_iter().map(|it| facts.name(it)).collect()
}

/// Place where a prompt names a section: its heading, as the gate has it.
pub(super) fn named_section(it: &Prompted<'_>, heading: &str) -> Option<Span> {
    let text = &it.prompt.text;
    // A prompt of several reviewers names the section of the one that reads it.
    let own = heading.rsplit_once(": ").map(|(section, _)| format!("{section}: {{reviewer}}"));
    let found = find_heading(&text.value, heading);
    let found = found.or_else(|| own.and_then(|own| find_heading(&text.value, &own)));
    found.map(|it| text.locate(it.start, it.end))
}

/// The gates and rules with a verdict that an agent with these instructions can meet, those of transitions first.
pub(super) fn verdict_gates<'f>(
    facts: &Facts<'f>,
    it: &Instructions<'f>,
) -> impl Iterator<Item = &'f SectionGate> {
    let mut states: Vec<StateId> = it.runs.into_iter().flatten().map(|it| it.state).collect();
    states.sort_unstable();
    states.dedup();
    let transitions: Vec<&SectionGate> =
        states.iter().flat_map(|it| facts.leaving(*it)).flat_map(|(_, it)| it.section_gates()).collect();
    let rules = states.iter().flat_map(|it| facts.machine.exit_rules_of(*it)).map(|at| facts.exit_rules[at]);
    let artifacts: Vec<&SectionGate> = rules.flat_map(|it| it.condition.section_gates()).collect();
    transitions.into_iter().chain(artifacts).filter(|it| it.asks_for_verdict())
}
