//! What several lints of prompts ask.

use orange_core::{PromptId, StateId};

use crate::lint::Facts;
use crate::lint::prompt_facts::{AgentInState, Mood, PromptFacts, Reading, Start};
use orange_codegen::model::{Condition, Gate, Prompt};
use orange_codegen::span::Span;

/// A prompt with what is known about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prompted<'f> {
    pub id: PromptId,
    pub name: &'f str,
    pub prompt: &'f Prompt,
    pub reading: &'f Reading,
    /// How agents are started with it; nothing for one that is not used.
    pub starts: &'f [Start],
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

/// What tells somebody what to do: a prompt, or a hook's message by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Teller {
    Prompt(PromptId),
    Message(usize),
}

/// What is told, and to whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling<'f> {
    pub by: Teller,
    pub reading: &'f Reading,
    /// How agents come to be told; nothing for a prompt that is not used.
    pub starts: &'f [Start],
    /// Where they can be while they act on it; `None` where that is more than can be looked at.
    pub runs: Option<&'f [AgentInState]>,
}

/// Every prompt and every message.
pub(super) fn tellings<'f>(facts: &Facts<'f>) -> impl Iterator<Item = Telling<'f>> + use<'f> {
    let prompt_facts = facts.prompt_facts;
    let prompts = (0u16..).zip(&prompt_facts.readings).map(|(id, _)| Teller::Prompt(PromptId(id)));
    let messages = (0..prompt_facts.messages.len()).map(Teller::Message);
    prompts.chain(messages).map(|by| telling(prompt_facts, by))
}

/// What this one tells.
pub(super) fn telling(prompt_facts: &PromptFacts, by: Teller) -> Telling<'_> {
    match by {
        Teller::Prompt(id) => {
            let at = usize::from(id.0);
            let runs = prompt_facts.runs[at].as_deref();
            Telling { by, reading: &prompt_facts.readings[at], starts: &prompt_facts.starts[at], runs }
        }
        Teller::Message(at) => {
            let message = &prompt_facts.messages[at];
            let runs = message.runs.as_deref();
            Telling { by, reading: &message.reading, starts: &message.starts, runs }
        }
    }
}

impl Telling<'_> {
    /// What to call that which tells it.
    pub fn name(&self, facts: &Facts<'_>) -> String {
        match self.by {
            Teller::Prompt(id) => format!("`{}`", prompt(facts, id).name),
            Teller::Message(_) => {
                let first = self.starts.iter().find_map(|it| it.transition);
                let arrow = first.map_or_else(String::new, |id| facts.arrow(facts.transition(id)));
                format!("the message of {arrow}")
            }
        }
    }

    /// The same, and whom it tells.
    pub fn tells(&self, facts: &Facts<'_>) -> String {
        let whom = match self.by {
            Teller::Prompt(_) => "its agent",
            Teller::Message(at) if facts.prompt_facts.messages[at].is_for_person() => "a person",
            Teller::Message(_) => "the worker",
        };
        format!("{} tells {whom}", self.name(facts))
    }

    /// Where one comes to be told, and in which words to say so.
    pub fn told(&self, facts: &Facts<'_>, start: &Start) -> (Span, String) {
        match self.by {
            Teller::Prompt(id) => started(facts, &prompt(facts, id), start),
            Teller::Message(at) => {
                let state = facts.name(start.place.state);
                (
                    facts.first_line(facts.prompt_facts.messages[at].hook),
                    format!("read when the task is in `{state}`"),
                )
            }
        }
    }
}

/// Where an agent is started with a prompt, and in which words to say so.
pub(super) fn started(facts: &Facts<'_>, it: &Prompted<'_>, start: &Start) -> (Span, String) {
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

/// Where a prompt asks for a section: names it, and not only for reading.
pub(super) fn asked_section(it: &Prompted<'_>, heading: &str) -> Option<Span> {
    let named = named_sections(it, heading);
    let asked = named.into_iter().find(|(_, only_read)| !only_read);
    asked.map(|(span, _)| span)
}

/// Where a prompt names a section, and whether it is only to be read there.
pub(super) fn named_sections(it: &Prompted<'_>, heading: &str) -> Vec<(Span, bool)> {
    let text = &it.prompt.text;
    let named = it.reading.sections.iter().filter(|it| it.mood != Mood::Negated).filter_map(|section| {
        let end = end_of_section(&text.value, section.at, heading)?;
        Some((text.locate(section.at, end), section.reads))
    });
    named.collect()
}

/// Where the name of the section ends that stands here: `## Review`, or the `Review` of `Review section`.
fn end_of_section(text: &str, at: usize, heading: &str) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with('#') {
        let end = at + rest.strip_prefix(heading).map(|_| heading.len())?;
        let ends =
            text[end..].chars().next().is_none_or(|it| !(it.is_alphanumeric() || matches!(it, '_' | '-')));
        return ends.then_some(end);
    }
    let name = heading.trim_start_matches('#').trim();
    let end =
        at + rest.find(|it: char| !(it.is_alphanumeric() || matches!(it, '_' | '-'))).unwrap_or(rest.len());
    let start = end.checked_sub(name.len())?;
    text.get(start..end).filter(|it| it.eq_ignore_ascii_case(name)).map(|_| end)
}

/// The gates and rules with a verdict that an agent who was told this can meet, those of transitions first.
pub(super) fn verdict_gates<'f>(facts: &Facts<'f>, it: &Telling<'f>) -> impl Iterator<Item = &'f Gate> {
    let mut states: Vec<StateId> = it.runs.into_iter().flatten().map(|it| it.state).collect();
    states.sort_unstable();
    states.dedup();
    let transitions: Vec<&Gate> =
        states.iter().flat_map(|it| facts.leaving(*it)).filter_map(|(_, it)| it.gate.as_ref()).collect();
    let rules = states.iter().flat_map(|it| facts.machine.exit_rules_of(*it)).map(|at| facts.exit_rules[at]);
    let artifacts: Vec<&Gate> = rules
        .filter_map(|it| match &it.condition {
            Condition::HasArtifact(gate) => Some(gate),
            Condition::NoArtifact | Condition::Always | Condition::Ended(_) => None,
        })
        .collect();
    transitions.into_iter().chain(artifacts).filter(|it| it.verdict.is_some())
}
