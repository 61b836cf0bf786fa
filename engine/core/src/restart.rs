//! Restarts of agents: their start, their delay and their limit.

use crate::wall::Demand;
use crate::{HarnessOf, Hook, Machine, PromptId, Spawn, StateId, Workspace};

/// The number of agents that the engine starts again without a transition between them; after that it leaves the task to a
/// person.
pub const MAX_RESTARTS: u32 = 20;

/// The longest delay after a crash, in seconds.
const LONGEST: u32 = 300;

/// The seconds until an agent is started again, when `before` agents have been since the task's last transition; `None`
/// when it is not started again. A `wait` rule gives the delay; after crashes it is 0, then 10 s, 20 s, 40 s and so on.
pub fn restart_after(before: u32, resume_after: Option<u32>) -> Option<u32> {
    let grown = || match before {
        0 => 0,
        _ => 10_u32.checked_shl(before - 1).map_or(LONGEST, |delay| delay.min(LONGEST)),
    };
    (before < MAX_RESTARTS).then(|| resume_after.unwrap_or_else(grown))
}

/// The seconds until an agent that met a limit goes on, when the end of the limit is unknown and `before` agents have
/// waited since the task's last transition: 5 minutes, 10, 20, 40, and then an hour.
pub fn limit_after(before: u32) -> u32 {
    const HOUR: u32 = 3600;
    300_u32.checked_mul(1 << before.min(8)).map_or(HOUR, |delay| delay.min(HOUR))
}

/// The cause for which a mission's step waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Its agent has met a limit of its provider.
    Limit {
        /// The seconds until the end, if the harness says so.
        left: Option<u32>,
    },
    /// Its agent is alive, and does not read that the limit is over.
    Deaf,
    /// Its agent has ended without a word, or could not continue its conversation.
    Ended,
}

impl Delay {
    /// The seconds until the step goes on, when it has waited `before` times; `None` when a person has to look at it. The rules are
    /// those of tasks.
    pub fn seconds(self, before: u32) -> Option<u32> {
        let resume_after = match self {
            Delay::Limit { left } => Some(left.unwrap_or_else(|| limit_after(before))),
            Delay::Deaf | Delay::Ended => None,
        };
        restart_after(before, resume_after)
    }
}

impl<'a> Machine<'a> {
    /// Spawn with which a person starts the agent of a state again: it has the respawn prompt of the state. A state without one
    /// uses the prompts with which transitions into it start an agent: that of the `last` agent if it is among them, or the first.
    /// A transition from the crash state does not count, since its prompt is about the crash. If no transition into the state
    /// starts an agent, the last agent came from another state, and is started as before.
    pub fn restart(&self, state: StateId, last: Option<Spawn<'_>>) -> Option<Spawn<'a>> {
        let declared = self.state(state).respawn.as_ref().and_then(Hook::spawn);
        let is_own = |from| self.commands.crash != Some(from);
        let into = self.transitions.iter().filter(|it| it.to == state && is_own(it.from));
        let mut own = into.flat_map(|it| it.hooks).filter_map(Hook::spawn);
        let first = own.clone().next();
        let same = last.as_ref().and_then(|last| own.find(|spawn| spawn.prompt == last.prompt));
        declared.or(same).or(first).copied().or_else(|| last.map(|last| self.as_declared(last)))
    }

    /// Place in which the agents of a state work.
    pub fn workspace(&self, state: StateId) -> Workspace {
        self.restart(state, None).map_or(Workspace::Worktree, |spawn| spawn.workspace)
    }

    /// The declared start that this one was, or the usual one of its role if the workflow has changed.
    fn as_declared(&self, last: Spawn<'_>) -> Spawn<'a> {
        let declared = self.spawns().find(|it| it.can_be(&last)).copied();
        declared.unwrap_or_else(|| Spawn::new(last.prompt, last.role, last.permissions))
    }

    /// Every declared start of an agent: those of transitions, then those that respawn.
    fn spawns(&self) -> impl Iterator<Item = &'a Spawn<'a>> {
        let of_states = self.states.iter().filter_map(|it| it.respawn.as_ref());
        self.transitions.iter().flat_map(|it| it.hooks).chain(of_states).filter_map(Hook::spawn)
    }

    /// The declared starts of agents with this prompt.
    pub fn starts_with(&self, prompt: PromptId) -> impl Iterator<Item = &'a Spawn<'a>> {
        self.spawns().filter(move |it| it.prompt == prompt)
    }

    /// The demand on its programs, such as those of gates: they run what its agents write.
    pub fn demand_on_programs(&self) -> Demand {
        Demand::on_programs(self.spawns().map(|it| it.sandbox))
    }

    /// The harnesses that it names itself, beside those of the task. A name may come several times.
    pub fn harnesses(&self) -> impl Iterator<Item = &'a str> {
        self.spawns().filter_map(|it| match it.harness {
            HarnessOf::Task | HarnessOf::Review => None,
            HarnessOf::Named(name) => Some(name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_wait_longer_each_time_and_have_an_end() {
        let delays: [_; 8] = core::array::from_fn(|before| restart_after(before as u32, None));
        assert_eq!(delays, [0, 10, 20, 40, 80, 160, 300, 300].map(Some));
        assert_eq!(restart_after(MAX_RESTARTS - 1, None), Some(LONGEST));
        assert_eq!(restart_after(MAX_RESTARTS, None), None);
        assert_eq!(restart_after(u32::MAX, None), None);
    }

    #[test]
    fn an_unknown_limit_is_waited_for_longer_each_time() {
        assert_eq!([0, 1, 2, 3, 4, 19, u32::MAX].map(limit_after), [300, 600, 1200, 2400, 3600, 3600, 3600]);
    }

    #[test]
    fn a_rule_says_how_long_it_waits_and_not_how_often() {
        assert_eq!(restart_after(0, Some(900)), Some(900));
        assert_eq!(restart_after(19, Some(900)), Some(900));
        assert_eq!(restart_after(20, Some(1)), None);
    }

    #[test]
    fn a_step_waits_as_a_task_does() {
        let said = Delay::Limit { left: Some(7) };
        assert_eq!([0, 19, MAX_RESTARTS].map(|before| said.seconds(before)), [Some(7), Some(7), None]);
        let unknown = Delay::Limit { left: None };
        assert_eq!([0, 1, 9].map(|before| unknown.seconds(before)), [Some(300), Some(600), Some(3600)]);
        for delay in [Delay::Deaf, Delay::Ended] {
            let seconds = [0, 1, 2, 6, MAX_RESTARTS].map(|before| delay.seconds(before));
            assert_eq!(seconds, [Some(0), Some(10), Some(20), Some(300), None], "{delay:?}");
        }
    }
}
