//! The ends of an agent that the exit rules of its state tell apart: an ordinary one, which no rule about ends is for, and
//! one for each such rule.

use orange_core::{AgentEnd, Condition, ExitRule, LeftState, Machine, StateId};

use super::Search;
use super::task::Task;
use super::times::PassedTimes;

/// The number of an exit rule in its machine.
pub type RuleIndex = u16;

/// An end of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndExample<'m> {
    ended: AgentEnd<'m>,
    left: Vec<LeftState>,
}

/// The rules of a state that are about how its agent ended, or about a time or a budget after which the task moves on.
pub fn rules<'m>(machine: &'m Machine<'_>, state: StateId) -> impl Iterator<Item = RuleIndex> + use<'m> {
    let is_about_ends = |rule: &ExitRule<'_>| match rule.condition {
        Condition::Ended(_) | Condition::Overdue(_) => !rule.only_notifies(),
        Condition::Spent => true,
        Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => false,
    };
    let rules = machine.exit_rules_of(state);
    rules.filter(move |rule| is_about_ends(&machine.exit_rules[*rule])).map(|rule| rule as RuleIndex)
}

/// The rules of a state about a time after which the task moves on.
pub fn timed<'m>(machine: &'m Machine<'_>, state: StateId) -> impl Iterator<Item = RuleIndex> + use<'m> {
    rules(machine, state).filter(|rule| is_timed(machine, *rule))
}

/// True if a rule is about a time after which the task moves on.
pub fn is_timed(machine: &Machine<'_>, rule: RuleIndex) -> bool {
    machine.exit_rules[usize::from(rule)].after().is_some()
}

/// An end that this rule is for and, if there is any, none before it; an ordinary one without a rule.
pub fn example<'m>(machine: &Machine<'m>, rule: Option<RuleIndex>) -> EndExample<'m> {
    let Some(number) = rule.map(usize::from) else { return EndExample::of(AgentEnd::PLAIN) };
    let rule = &machine.exit_rules[number];
    let lasted = AgentEnd { lasted: rule.after().unwrap_or_default(), ..AgentEnd::PLAIN };
    let ending = match rule.condition {
        Condition::Ended(ending) => ending,
        // The task was in the other states until now, and has never been elsewhere: no other deadline begins so early.
        Condition::Overdue(deadline) => {
            let states = deadline.states.iter().map(|state| LeftState { state: Some(*state), ago: 0 });
            let left = [LeftState { state: None, ago: deadline.after }].into_iter().chain(states).collect();
            return EndExample { ended: lasted, left };
        }
        Condition::Spent => return EndExample::of(AgentEnd { is_spent: true, ..AgentEnd::PLAIN }),
        Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => {
            return EndExample::of(AgentEnd::PLAIN);
        }
    };
    let said = AgentEnd { output: ending.output.unwrap_or_default(), ..lasted };
    let codes = ending.codes.iter().map(|code| AgentEnd { code: Some(*code), ..said });
    let signals = ending.signals.iter().map(|signal| AgentEnd { signal: Some(*signal), ..said });
    let before = machine.exit_rules_of(rule.state).start..number;
    let is_taken = |end: &AgentEnd<'_>| before.clone().any(|it| fits(machine, it, end));
    let first = codes.clone().chain(signals.clone()).find(|it| !is_taken(it));
    EndExample::of(first.or(codes.chain(signals).next()).unwrap_or(said))
}

/// True if a rule is about the end of an agent, and decides about this end.
pub fn fits(machine: &Machine<'_>, rule: usize, end: &AgentEnd<'_>) -> bool {
    machine.exit_rules[rule].fits(end)
}

/// End of an agent that a rule is for, in words, if it is about that: `with exit status 75`.
pub fn how(machine: &Machine<'_>, rule: RuleIndex) -> Option<String> {
    match machine.exit_rules[usize::from(rule)].condition {
        Condition::Ended(ending) => Some(ending.to_string()),
        Condition::Overdue(deadline) => Some(deadline.to_string()),
        Condition::Spent => Some("with the budget of the state used up".to_owned()),
        Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => None,
    }
}

impl Search<'_> {
    /// An end of an agent of a task, as [`example`] has it, when these times are over. They are those of the task, and the rule's.
    pub fn example(&self, task: &Task, rule: Option<RuleIndex>) -> EndExample<'_> {
        let passed = self.times.passed(self.machine, task.passed, rule);
        let example = example(self.machine, rule);
        let rule = rule.map(|it| &self.machine.exit_rules[usize::from(it)]);
        let is_followed = rule.is_none_or(|it| it.after().is_none() || self.times.is_over(passed, it));
        if passed == PassedTimes::default() || !is_followed {
            return example;
        }
        let lasted = self.times.lasted(passed, task.status);
        EndExample {
            ended: AgentEnd { lasted, ..example.ended },
            left: self.times.left(self.machine, passed),
        }
    }
}

impl<'m> EndExample<'m> {
    fn of(ended: AgentEnd<'m>) -> Self {
        Self { ended, left: Vec::new() }
    }

    pub fn end(&self) -> AgentEnd<'_> {
        AgentEnd { left: &self.left, ..self.ended }
    }
}
