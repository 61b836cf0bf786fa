//! How an agent is started again: as what, and by the engine itself how soon and how often.

use crate::{Hook, Machine, Spawn, StateId};

/// After so many agents that the engine has started again without a transition between them it leaves the task to a
/// person (F20).
pub const MAX_RESTARTS: u32 = 20;

/// The longest that an agent waits after a crash, in seconds.
const LONGEST: u32 = 300;

/// The seconds until an agent is started again, when `before` agents have been since the task's last transition; `None`
/// when it is not. An exit rule that waits says how long; after a crash it is at once, then 10 s, 20 s, 40 s and so on.
pub fn restart_after(before: u32, resume_after: Option<u32>) -> Option<u32> {
    let grown = || match before {
        0 => 0,
        _ => 10_u32.checked_shl(before - 1).map_or(LONGEST, |delay| delay.min(LONGEST)),
    };
    (before < MAX_RESTARTS).then(|| resume_after.unwrap_or_else(grown))
}

/// The seconds until an agent that has met a limit is told to go on, when nobody knows when the limit is over and `before`
/// agents have waited since the task's last transition: 5 minutes, 10, 20, 40, and an hour from then on.
pub fn limit_after(before: u32) -> u32 {
    const HOUR: u32 = 3600;
    300_u32.checked_mul(1 << before.min(8)).map_or(HOUR, |delay| delay.min(HOUR))
}

impl Machine<'_> {
    /// How a person has the agent of a state started again: as the state's respawn prompt says. Without one it is as the
    /// transitions into the state start it: with the prompt of the `last` agent there, if one of them has that, else as the
    /// first of them does. The way out of the crash state does not count: its prompt is about what went before. Where no
    /// transition into the state starts one, the last agent lives on from another state, and is started as it was.
    pub fn restart(&self, state: StateId, last: Option<Spawn>) -> Option<Spawn> {
        let declared = self.state(state).respawn.as_ref().and_then(Hook::spawn);
        let is_own = |from| self.commands.crash != Some(from);
        let into = self.transitions.iter().filter(|it| it.to == state && is_own(it.from));
        let mut own = into.flat_map(|it| it.hooks).filter_map(Hook::spawn);
        let first = own.clone().next();
        let same = last.as_ref().and_then(|last| own.find(|spawn| spawn.prompt == last.prompt));
        let spawn = declared.or(same).or(first).or(last.as_ref())?;
        Some(*spawn)
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
}
