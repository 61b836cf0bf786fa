//! What prompts tell agents to run, and in which states an agent with a prompt can be running.

use orange_core::{PromptId, StateId};

use crate::model::{Action, Hook, Prompt, Workflow};
use crate::span::Span;

/// What all prompts tell.
#[derive(Clone, Debug)]
pub struct Told {
    /// By prompt: the status commands in it, in order.
    pub commands: Vec<Vec<Command>>,
    /// By prompt, then by state: whether an agent that was started with it can be running there.
    pub runs_in: Vec<Vec<bool>>,
}

/// `orange task update --status …` in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The name that it gives.
    pub name: String,
    /// The state of that name, if there is one.
    pub to: Option<StateId>,
    /// The name in the prompt.
    pub span: Span,
    /// Whether the agent is told not to.
    pub negated: bool,
}

impl Told {
    /// Reads every prompt of a workflow.
    pub fn of(workflow: &Workflow) -> Self {
        Self {
            commands: workflow.prompts.iter().map(|prompt| commands(workflow, prompt)).collect(),
            runs_in: (0u16..).zip(&workflow.prompts).map(|(at, _)| runs_in(workflow, PromptId(at))).collect(),
        }
    }

    /// Whether an agent that can be running in `from` is told to ask for `to`.
    pub fn asks(&self, from: StateId, to: StateId) -> bool {
        self.commands.iter().zip(&self.runs_in).any(|(commands, runs_in)| {
            runs_in[usize::from(from.0)] && commands.iter().any(|it| !it.negated && it.to == Some(to))
        })
    }
}

const STATUS: &str = "--status";

/// Words before a command that turn it round, in any case.
const NEGATIONS: [&str; 6] = ["not", "never", "don't", "dont", "without", "instead"];

fn commands(workflow: &Workflow, prompt: &Prompt) -> Vec<Command> {
    let text = prompt.text.value.as_str();
    text.match_indices(STATUS)
        .filter_map(|(at, _)| {
            let rest = &text[at + STATUS.len()..];
            let start = at + STATUS.len() + (rest.len() - rest.trim_start_matches([' ', '=']).len());
            let name: String = text[start..].chars().take_while(|it| is_name(*it)).collect();
            let name = name.trim_end_matches(['-', '_']).to_owned();
            (!name.is_empty()).then(|| Command {
                to: state_named(workflow, &name),
                span: prompt.text.locate(start, start + name.len()),
                negated: is_negated(text, at),
                name,
            })
        })
        .collect()
}

fn is_name(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '-' | '_')
}

fn state_named(workflow: &Workflow, name: &str) -> Option<StateId> {
    workflow.states.iter().position(|it| it.name.value == name).map(|at| StateId(at as u16))
}

/// Whether the sentence says before this place not to.
fn is_negated(text: &str, at: usize) -> bool {
    let sentence = text[..at].rfind(['.', '\n', ';']).map_or(&text[..at], |end| &text[end + 1..at]);
    sentence
        .split(|it: char| !(it.is_alphanumeric() || it == '\''))
        .any(|word| NEGATIONS.contains(&word.to_lowercase().as_str()))
}

/// Where an agent with this prompt starts, closed under transitions that neither kill nor spawn.
fn runs_in(workflow: &Workflow, prompt: PromptId) -> Vec<bool> {
    let mut runs = vec![false; workflow.states.len()];
    for state in (0..workflow.states.len())
        .filter(|at| workflow.states[*at].respawn_prompt.as_ref().is_some_and(|it| it.value == prompt))
    {
        runs[state] = true;
    }
    for transition in &workflow.transitions {
        if transition.hooks.iter().any(|hook| spawns(hook) == Some(prompt)) {
            runs[usize::from(transition.to.value.0)] = true;
        }
    }
    let survives = |hooks: &[Hook]| hooks.iter().all(|hook| !ends_it(hook) && spawns(hook).is_none());
    loop {
        let reached: Vec<usize> = workflow
            .transitions
            .iter()
            .filter(|it| runs[usize::from(it.from.value.0)] && survives(&it.hooks))
            .map(|it| usize::from(it.to.value.0))
            .filter(|to| !runs[*to] && !workflow.states[*to].terminal)
            .collect();
        if reached.is_empty() {
            return runs;
        }
        reached.into_iter().for_each(|to| runs[to] = true);
    }
}

fn ends_it(hook: &Hook) -> bool {
    matches!(hook.action, Action::KillSession | Action::ReleaseWorkspace)
}

fn spawns(hook: &Hook) -> Option<PromptId> {
    match &hook.action {
        Action::SpawnAgent(spawn) | Action::SpawnReviewer(spawn) => Some(spawn.prompt.value),
        Action::AcquireWorkspace
        | Action::ReleaseWorkspace
        | Action::KillSession
        | Action::KillReviewer
        | Action::NotifyWorker { .. }
        | Action::SpawnNext
        | Action::PushBranch
        | Action::CreatePr
        | Action::DeleteRemoteBranch
        | Action::Increment { .. }
        | Action::SetField { .. }
        | Action::Notify { .. }
        | Action::RunCommand { .. } => None,
    }
}
