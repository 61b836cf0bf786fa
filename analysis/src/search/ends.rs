//! The ends of an agent that the exit rules of its state tell apart: an ordinary one, which no rule about ends is for, and
//! one for each such rule.

use orange_core::{Condition, End, Ending, Machine, StateId};

/// The number of an exit rule in its machine.
pub type RuleIndex = u16;

/// The rules of a state that are about how its agent ended.
pub fn rules<'m>(machine: &'m Machine<'_>, state: StateId) -> impl Iterator<Item = RuleIndex> + use<'m> {
    let rules = machine.exit_rules_of(state);
    rules.filter(|rule| ending(machine, *rule).is_some()).map(|rule| rule as RuleIndex)
}

/// An end that this rule is for and, if there is any, none before it; an ordinary one without a rule.
pub fn example<'m>(machine: &Machine<'m>, rule: Option<RuleIndex>) -> End<'m> {
    let Some((rule, ending)) = rule.and_then(|rule| Some((usize::from(rule), ending(machine, rule.into())?)))
    else {
        return End::PLAIN;
    };
    let output = ending.output.unwrap_or_default();
    let said = End { output, lasted: ending.after.unwrap_or_default(), ..End::PLAIN };
    let codes = ending.codes.iter().map(|code| End { code: Some(*code), ..said });
    let signals = ending.signals.iter().map(|signal| End { signal: Some(*signal), ..said });
    let before = machine.exit_rules_of(machine.exit_rules[rule].state).start..rule;
    let is_taken = |end: &End<'_>| before.clone().any(|it| fits(machine, it, end));
    codes
        .clone()
        .chain(signals.clone())
        .find(|it| !is_taken(it))
        .or(codes.chain(signals).next())
        .unwrap_or(said)
}

/// Whether a rule is about how an agent ended, and this is such an end.
pub fn fits(machine: &Machine<'_>, rule: usize, end: &End<'_>) -> bool {
    ending(machine, rule).is_some_and(|it| it.fits(end))
}

/// The ends that a rule is for, if it is about them.
pub fn ending<'m>(machine: &Machine<'m>, rule: usize) -> Option<Ending<'m>> {
    match machine.exit_rules[rule].condition {
        Condition::Ended(ending) => Some(ending),
        Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => None,
    }
}
