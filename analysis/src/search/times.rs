//! Times that are over. A timeout or a deadline may be over at any moment, and one that is over stays so: a timeout until the next
//! transition, a deadline until the task leaves its states.

use orange_core::{Condition, Deadline, ExitRule, LeftState, Machine, StateId};

use super::ends::RuleIndex;

/// Deadlines of which it is followed whether they are over; of others, an end may always come earlier.
const MAX_DEADLINES: usize = 7;

/// The times of a machine after which a task moves on.
#[derive(Clone, Debug)]
pub struct Times<'m> {
    deadlines: Vec<Deadline<'m>>,
    /// By state: the seconds of its timeout.
    timeouts: Vec<Option<u32>>,
}

/// Times that are over in a task: a bit for each deadline, and one for the timeout of its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassedTimes(pub(super) u8);

const TIMEOUT: u8 = 1 << MAX_DEADLINES;

impl<'m> Times<'m> {
    /// The times of a machine.
    pub(super) fn of(machine: &Machine<'m>) -> Self {
        let mut times = Self { deadlines: Vec::new(), timeouts: vec![None; machine.states.len()] };
        for rule in machine.exit_rules.iter().filter(|rule| !rule.only_notifies()) {
            match rule.condition {
                Condition::Overdue(deadline) if !times.deadlines.contains(&deadline) => {
                    times.deadlines.push(deadline);
                }
                Condition::Ended(ending) if ending.after.is_some() => {
                    times.timeouts[usize::from(rule.state.0)] = ending.after;
                }
                Condition::Overdue(_)
                | Condition::Ended(_)
                | Condition::Always
                | Condition::Artifact(_)
                | Condition::NoArtifact
                | Condition::Spent => {}
            }
        }
        times.deadlines.truncate(MAX_DEADLINES);
        times
    }

    /// The times that are over when that of a rule is, if it is about one.
    pub(super) fn passed(
        &self,
        machine: &Machine<'_>,
        before: PassedTimes,
        rule: Option<RuleIndex>,
    ) -> PassedTimes {
        let Some(rule) = rule.map(|it| &machine.exit_rules[usize::from(it)]) else { return before };
        let Some(after) = rule.after() else { return before };
        let timeout = self.timeouts[usize::from(rule.state.0)];
        let is_whole = |it: &Deadline<'_>| it.states.contains(&rule.state) && it.after <= after;
        let is_over = |it: &Deadline<'_>| match rule.condition {
            Condition::Overdue(own) => {
                *it == own || is_whole(it) && own.states.iter().all(|state| it.states.contains(state))
            }
            Condition::Ended(_)
            | Condition::Always
            | Condition::Artifact(_)
            | Condition::NoArtifact
            | Condition::Spent => is_whole(it),
        };
        let has_lasted = match rule.condition {
            Condition::Overdue(own) => {
                own.states == [rule.state] && timeout.is_some_and(|timeout| timeout <= after)
            }
            Condition::Ended(_)
            | Condition::Always
            | Condition::Artifact(_)
            | Condition::NoArtifact
            | Condition::Spent => true,
        };
        let deadlines = self.numbered().filter(|(_, it)| is_over(it));
        let bits = deadlines.fold(before.0, |bits, (bit, _)| bits | bit);
        PassedTimes(if has_lasted { bits | TIMEOUT } else { bits })
    }

    /// The times that are still over when a task comes to a state.
    pub(super) fn entered(&self, before: PassedTimes, state: StateId) -> PassedTimes {
        if before == PassedTimes::default() {
            return before;
        }
        let left = self.numbered().filter(|(_, it)| !it.states.contains(&state));
        PassedTimes(left.fold(before.0 & !TIMEOUT, |bits, (bit, _)| bits & !bit))
    }

    /// True if the time of a rule is over before.
    pub(super) fn is_over(&self, passed: PassedTimes, rule: &ExitRule<'_>) -> bool {
        match rule.condition {
            Condition::Overdue(own) => self.over(passed).any(|it| *it == own),
            Condition::Ended(ending) => ending.after.is_some() && passed.0 & TIMEOUT != 0,
            Condition::Always | Condition::Artifact(_) | Condition::NoArtifact | Condition::Spent => false,
        }
    }

    /// For how long a task has been in its state, at least.
    pub(super) fn lasted(&self, passed: PassedTimes, state: StateId) -> u32 {
        let timeout = self.timeouts[usize::from(state.0)].filter(|_| passed.0 & TIMEOUT != 0);
        timeout.unwrap_or_default()
    }

    /// Times at which a task has left other states, at the latest: it was in each of them until now, if no deadline that is over says
    /// otherwise.
    pub(super) fn left(&self, machine: &Machine<'_>, passed: PassedTimes) -> Vec<LeftState> {
        if self.over(passed).next().is_none() {
            return Vec::new();
        }
        let left = |state: Option<StateId>| {
            let is_other = |it: &&Deadline<'_>| state.is_none_or(|state| !it.states.contains(&state));
            let ago = self.over(passed).filter(is_other).map(|it| it.after).max();
            LeftState { state, ago: ago.unwrap_or_default() }
        };
        std::iter::once(None).chain(machine.state_ids().map(Some)).map(left).collect()
    }

    fn over(&self, passed: PassedTimes) -> impl Iterator<Item = &Deadline<'m>> {
        self.numbered().filter(move |(bit, _)| passed.0 & bit != 0).map(|(_, it)| it)
    }

    fn numbered(&self) -> impl Iterator<Item = (u8, &Deadline<'m>)> {
        self.deadlines.iter().enumerate().map(|(at, it)| (1 << at, it))
    }
}
