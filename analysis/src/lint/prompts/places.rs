//! Places where an agent can be when it gives each command of its prompt, or of a message that it reads.

use std::collections::{BTreeSet, HashSet};

use orange_core::{Actor, PromptId, TransitionId};

use super::shared::{InstructionOrigin, Instructions, all_instructions};
use crate::lint::prompt_facts::{AgentInState, StatusTarget, Walker, survives};
use crate::lint::{ActorKind, Facts};

/// A command that no transition allows, wherever its agent can be.
#[derive(Debug)]
pub(super) struct RefusedCommand {
    pub by: InstructionOrigin,
    /// Index of the command among those of the text.
    pub command: usize,
    /// Places where the agent can be when it gives it; empty if the command names no state.
    pub from: Vec<AgentInState>,
}

/// A command of a prompt that the engine grants.
#[derive(Debug)]
pub(super) struct Granted {
    pub prompt: PromptId,
    /// Index of the command among those of the prompt.
    pub command: usize,
    /// Places where the agent can be when it gives it, and may.
    pub from: Vec<AgentInState>,
    /// Place where it lives on then, if it does.
    pub to: Option<AgentInState>,
}

/// More pairs of a place and a command than this are not looked at.
const MAX_PLACES: usize = 2_000_000;

/// Refused and granted commands of all prompts and messages.
#[derive(Debug, Default)]
pub(super) struct PromptedCommands {
    pub refused: Vec<RefusedCommand>,
    pub granted: Vec<Granted>,
}

impl PromptedCommands {
    /// Goes through the commands of every prompt and message in their order. An agent may pass over any of them, and others may take
    /// the task on, so that with each command that is granted the agent can be in one more place.
    pub fn of(facts: &Facts<'_>) -> Self {
        let mut commands = Self::default();
        let mut walker = Walker::new(facts.machine);
        let mut looked_at = 0;
        for it in all_instructions(facts).filter(|it| !it.reading.commands.is_empty()) {
            if looked_at > MAX_PLACES || commands.add(facts, &it, &mut walker, &mut looked_at).is_none() {
                break;
            }
        }
        commands
    }

    fn add(
        &mut self,
        facts: &Facts<'_>,
        it: &Instructions<'_>,
        walker: &mut Walker<'_>,
        looked_at: &mut usize,
    ) -> Option<()> {
        let machine = facts.machine;
        let can = |place: &AgentInState, to| place.state == to || place.may_request(machine, to);
        let mut here = beginnings(facts, it, walker)?;
        let mut known: HashSet<AgentInState> = here.iter().copied().collect();
        for (at, command) in it.reading.commands.iter().enumerate() {
            *looked_at += here.len();
            let to = match command.target {
                StatusTarget::State(to) => to,
                StatusTarget::Unknown => {
                    self.refused.push(RefusedCommand { by: it.by, command: at, from: Vec::new() });
                    continue;
                }
                StatusTarget::Open => {
                    here = walker.closure(here.into_iter(), |_, _| true)?;
                    known = here.iter().copied().collect();
                    continue;
                }
            };
            let able: Vec<AgentInState> = here.iter().filter(|it| can(it, to)).copied().collect();
            if able.is_empty() && !here.is_empty() {
                self.refused.push(RefusedCommand { by: it.by, command: at, from: here.clone() });
                // The rest of the prompt is for an agent that this has been granted to.
                let granted: BTreeSet<AgentInState> =
                    here.iter().map(|it| AgentInState { state: to, ..*it }).collect();
                here.extend(granted.into_iter().filter(|it| known.insert(*it)));
                continue;
            }
            let lives = |place: &&AgentInState| {
                machine.between(place.state, to).any(|id| survives(machine, id, place.actor))
            };
            let arrived: BTreeSet<AgentInState> =
                able.iter().filter(lives).map(|it| AgentInState { state: to, ..*it }).collect();
            if it.starts.is_empty() && at == 0 && !arrived.is_empty() {
                // Nothing but its first command says where an agent with an unused prompt could be.
                (here, known) = (Vec::new(), HashSet::new());
            }
            if arrived.iter().any(|it| !known.contains(it)) {
                let more = walker.closure(arrived.iter().copied(), |by, id| others_take(facts, by, id))?;
                here.extend(more.into_iter().filter(|it| known.insert(*it)));
            }
            if let InstructionOrigin::Prompt(prompt) = it.by {
                self.granted.push(Granted { prompt, command: at, from: able, to: arrived.first().copied() });
            }
        }
        Some(())
    }
}

/// Places where the agent can be at first. A reader of a message has been led on by a prompt, and a prompt that is not used can
/// begin anywhere.
fn beginnings(
    facts: &Facts<'_>,
    it: &Instructions<'_>,
    walker: &mut Walker<'_>,
) -> Option<Vec<AgentInState>> {
    if it.starts.is_empty() {
        let alive = facts.states().filter(|(_, it)| !it.terminal);
        let both = |state| [Actor::Worker, Actor::Reviewer].map(|actor| AgentInState { state, actor });
        return Some(alive.flat_map(|(state, _)| both(state)).collect());
    }
    let starts = it.starts.iter().map(|it| it.place);
    match it.by {
        InstructionOrigin::Message(_) => it.runs.map(<[AgentInState]>::to_vec),
        InstructionOrigin::Prompt(_) => walker.closure(starts, |by, id| others_take(facts, by, id)),
    }
}

/// True if others take a transition while an agent runs: those whom `by` leaves it to, an exit rule when the other agent ends, and
/// readers of a command for it.
fn others_take(facts: &Facts<'_>, actor: Actor, id: TransitionId) -> bool {
    let transition = facts.machine.transition(id);
    let by_rule = facts.actor_kinds[id.0 as usize] == ActorKind::Engine
        && facts.machine.state(transition.from).agent != actor;
    !transition.by.allows(actor)
        || by_rule
        || facts.prompt_facts.others_name(actor, transition.from, transition.to)
}
