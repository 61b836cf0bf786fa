//! How soon and how often the engine starts an agent again by itself.

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
    fn a_rule_says_how_long_it_waits_and_not_how_often() {
        assert_eq!(restart_after(0, Some(900)), Some(900));
        assert_eq!(restart_after(19, Some(900)), Some(900));
        assert_eq!(restart_after(20, Some(1)), None);
    }
}
