//! Places where an agent can be running: the state in which it starts, and the transitions that it lives through.

use orange_core::action::{Ends, Starts};
use orange_core::{Actor, Hook, Machine, StateId, Transition, TransitionId};

/// An agent in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentInState {
    /// State of the task.
    pub state: StateId,
    /// Kind of the agent.
    pub actor: Actor,
}

/// Start of an agent with a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptStart {
    /// The agent, and where it then is.
    pub place: AgentInState,
    /// The transition that starts it; absent where it is started again.
    pub transition: Option<TransitionId>,
}

/// By prompt: how agents are started with it.
pub(super) fn starts(machine: &Machine<'_>) -> Vec<Vec<PromptStart>> {
    let mut starts = vec![Vec::new(); machine.prompts.len()];
    let mut add = |hook: &Hook<'_>, state: StateId, transition: Option<TransitionId>| {
        if let Some(spawn) = hook.spawn() {
            let place = AgentInState { state, actor: spawn.actor() };
            starts[usize::from(spawn.prompt.0)].push(PromptStart { place, transition });
        }
    };
    for (id, transition) in (0u32..).map(TransitionId).zip(machine.transitions) {
        transition.hooks.iter().for_each(|hook| add(hook, transition.to, Some(id)));
    }
    for (id, state) in (0u16..).map(StateId).zip(machine.states) {
        if let Some(hook) = &state.respawn {
            add(hook, id, None);
        }
    }
    starts
}

impl AgentInState {
    /// True if some transition leads from here to a state, and the agent may ask for it.
    pub fn may_request(&self, machine: &Machine<'_>, to: StateId) -> bool {
        machine.between(self.state, to).any(|id| machine.transition(id).by.allows(self.actor))
    }
}

/// Follows agents through transitions. A bound on all its steps together keeps the time linear.
#[derive(Debug)]
pub struct Walker<'m> {
    machine: &'m Machine<'m>,
    /// By state and agent: the last walk that came there.
    seen: Vec<u32>,
    walk: u32,
    work: usize,
}

/// Number of transitions that one walker looks at, at most.
const MAX_WORK: usize = 2_000_000;

impl<'m> Walker<'m> {
    /// One that has not walked yet.
    pub fn new(machine: &'m Machine<'m>) -> Self {
        Self { machine, seen: vec![0; 2 * machine.states.len()], walk: 0, work: MAX_WORK }
    }

    /// These places, and all that the agents come to by transitions of this kind that they live through, in the order of
    /// distance. `None` when that is more than can be looked at.
    pub fn closure(
        &mut self,
        from: impl Iterator<Item = AgentInState>,
        takes: impl Fn(Actor, TransitionId) -> bool,
    ) -> Option<Vec<AgentInState>> {
        self.walk += 1;
        let mut reached: Vec<AgentInState> = from.filter(|it| self.is_new(*it)).collect();
        let mut next = 0;
        while let Some(place) = reached.get(next).copied() {
            next += 1;
            for to in self.machine.targets(place.state) {
                for id in self.machine.between(place.state, to) {
                    self.work = self.work.checked_sub(1)?;
                    let arrived = AgentInState { state: to, ..place };
                    if takes(place.actor, id)
                        && survives(self.machine, id, place.actor)
                        && self.is_new(arrived)
                    {
                        reached.push(arrived);
                    }
                }
            }
        }
        Some(reached)
    }

    fn is_new(&mut self, place: AgentInState) -> bool {
        let slot = 2 * usize::from(place.state.0) + usize::from(place.actor == Actor::Reviewer);
        std::mem::replace(&mut self.seen[slot], self.walk) != self.walk
    }
}

/// True if an agent lives through a transition: no hook of it ends the agent or starts another one in its place, it leads to no
/// end, and it is not one that the engine alone takes, when the agent is dead. A person lives through all but the end.
pub fn survives(machine: &Machine<'_>, id: TransitionId, actor: Actor) -> bool {
    let Transition { to, by, hooks, .. } = machine.transition(id);
    if actor == Actor::Human {
        return !machine.state(*to).terminal;
    }
    let somebody = by.iter().any(|it| it != Actor::Engine);
    somebody && !machine.state(*to).terminal && !hooks.iter().any(|hook| ends(hook, actor))
}

fn ends(hook: &Hook<'_>, actor: Actor) -> bool {
    let traits = hook.action.traits();
    let ends = match traits.ends {
        Some(Ends::Session) => true,
        Some(Ends::Reviewer) => actor == Actor::Reviewer,
        None => false,
    };
    let replaces = match traits.starts {
        Some(Starts::New) => true,
        Some(Starts::BesideWorker) => hook.spawn().is_some_and(|it| it.actor() == actor),
        Some(Starts::MissingWorker) | None => false,
    };
    ends || replaces || hook.action.releases()
}
