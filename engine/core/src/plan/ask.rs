//! Asks: steps whose work is the answer of a person.

use alloc::vec;
use alloc::vec::Vec;

use super::{Plan, Step, StepId};

/// The answer with which a step completes that asks for an approval.
pub const APPROVE: &str = "approve";

/// The answer with which a step fails that asks for an approval.
pub const REJECT: &str = "reject";

/// Number of seconds before the end of the time for an answer at which people are reminded.
const LAST_REMINDER: u32 = 60 * 60;

/// Question of a step to a person. Its text is the prompt of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask<'a> {
    /// Names of the persons who may answer; empty if everybody may who answers the pauses of the mission.
    pub who: &'a [&'a str],
    /// True if the question comes with the context of the step.
    pub shows_context: bool,
    /// True if the question comes with the changes of the mission, so that no agent and no program works while it is open.
    pub shows_diff: bool,
    /// True if the answers are `approve` and `reject`; else they are the results of the step.
    pub is_approval: bool,
    /// The answer that counts when nobody has answered in time; without one, the step fails then.
    pub on_timeout: Option<&'a str>,
}

impl Ask<'_> {
    /// True if a person of this name may answer.
    pub fn admits(&self, person: &str) -> bool {
        self.who.is_empty() || self.who.contains(&person)
    }
}

impl<'a> Step<'a> {
    /// True if a person is asked, and no agent and no program works.
    pub fn is_ask(&self) -> bool {
        self.ask.is_some()
    }

    /// True if nothing else may work in the worktree meanwhile, or while it is shown to a person.
    pub(crate) fn needs_worktree(&self) -> bool {
        self.ask.is_none_or(|it| it.shows_diff)
    }

    /// The seconds after its question at which its people are reminded, in order: half of the time for an answer, and an hour before its
    /// end. None without a time, and of another step.
    pub fn reminders(&self) -> Vec<u32> {
        let Some(timeout) = self.timeout.filter(|_| self.is_ask()) else { return Vec::new() };
        let mut reminders = vec![timeout / 2, timeout.saturating_sub(LAST_REMINDER)];
        reminders.retain(|it| *it > 0);
        reminders.sort_unstable();
        reminders.dedup();
        reminders
    }

    /// The first of its reminders after this many seconds, or else the end of the time for an answer. `None` of a question without a time.
    pub fn due_after(&self, seconds: u32) -> Option<u32> {
        let timeout = self.timeout.filter(|_| self.is_ask())?;
        Some(self.reminders().into_iter().find(|it| *it > seconds).unwrap_or(timeout))
    }

    /// The answers that a person may give to an ask; empty of another step.
    pub fn answers(&self) -> Vec<&'a str> {
        match self.ask {
            None => Vec::new(),
            Some(ask) if ask.is_approval => vec![APPROVE, REJECT],
            Some(_) => self.results.to_vec(),
        }
    }
}

impl Plan<'_> {
    /// True if a step of it asks a person.
    pub fn has_asks(&self) -> bool {
        self.steps.iter().any(Step::is_ask)
    }

    /// The steps that ask a person, in source order.
    pub fn asks(&self) -> impl Iterator<Item = StepId> {
        self.step_ids().filter(|it| self.step(*it).is_ask())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: Ask<'_> =
        Ask { who: &[], shows_context: true, shows_diff: false, is_approval: true, on_timeout: None };

    fn asking(timeout: Option<u32>) -> Step<'static> {
        Step { ask: Some(&ASK), timeout, ..Step::EMPTY }
    }

    #[test]
    fn people_are_reminded_at_half_and_an_hour_before_the_end() {
        let check = |timeout: u32, expect: &[u32]| {
            let step = asking(Some(timeout));
            assert_eq!(step.reminders(), expect, "{timeout}");
            // Each reminder is due after the one before it, and the end comes last.
            let mut due = vec![step.due_after(0).unwrap()];
            while let Some(last) = due.last().copied().filter(|it| *it < timeout) {
                due.push(step.due_after(last).unwrap());
            }
            assert_eq!(due, [expect, &[timeout]].concat(), "{timeout}");
        };
        check(1, &[]);
        check(2, &[1]);
        check(60 * 60, &[30 * 60]);
        check(90 * 60, &[30 * 60, 45 * 60]);
        check(120 * 60, &[60 * 60]);
        check(240 * 60, &[120 * 60, 180 * 60]);
        assert_eq!((asking(None).reminders(), asking(None).due_after(0)), (vec![], None));
        let work = Step { timeout: Some(60), ..Step::EMPTY };
        assert_eq!((work.reminders(), work.due_after(0)), (vec![], None));
    }
}
