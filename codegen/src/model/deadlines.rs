//! Deadlines: how long a task may be within some states. Each state of one has an exit rule for it.

use std::cmp::Reverse;

use super::decoder::{Decoder, Field};
use super::keys::DEADLINE;
use super::scope::Scope;
use super::states::{duration, is_notify};
use super::{Condition, ExitRule, Outcome, State, StateId};
use crate::catalogue::{A06, S04};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::Node;

/// Limit for the time of a task within some states.
#[derive(Clone, Debug)]
pub struct Deadline {
    /// The whole mapping.
    pub span: Span,
    /// The states, each once.
    pub states: Vec<Spanned<StateId>>,
    /// Seconds from its arrival in one of them, until it leaves them all; 1 to a week.
    pub after: u32,
    /// The state to which it then goes; without one, a person is notified.
    pub then: Option<Spanned<StateId>>,
}

/// The deadlines that could be understood.
pub(super) fn deadlines(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Vec<Deadline> {
    let items = decoder.list(field);
    items.iter().filter_map(|item| deadline(decoder, scope, item)).collect()
}

fn deadline(decoder: &mut Decoder<'_>, scope: &Scope<'_>, item: &Node) -> Option<Deadline> {
    let fields = decoder.object(item, &DEADLINE)?;
    let after = fields.get("after").and_then(|it| duration(decoder, &it));
    let then = fields.get("then").filter(|it| !is_notify(it));
    let then = then.map_or(Some(None), |it| scope.state(decoder, &it, &A06).map(Some));
    let named = decoder.one_or_list(&fields.get("states")?);
    let named: Vec<_> = named.iter().map(|it| scope.some_state(decoder, it)).collect();
    let mut states = Vec::new();
    for state in named.into_iter().collect::<Option<Vec<_>>>()? {
        if states.iter().any(|it: &Spanned<_>| it.value == state.value) {
            let found = Diagnostic::new(&S04, state.span, "this deadline has the state twice");
            decoder.report(found.help("delete it here"));
        } else {
            states.push(state);
        }
    }
    if states.is_empty() {
        let found = Diagnostic::new(&S04, fields.span, "a deadline is for at least one state");
        decoder.report(found.help("name the states: `states: [working, agent-review]`"));
        return None;
    }
    Some(Deadline { span: fields.span, states, after: after?, then: then? })
}

/// The exit rules about times and budgets: those about times come first, and of them those that move the task before those that tell a person, and among these the longest time first,
/// since a shorter one is over, too.
pub(super) fn rules(states: &[State], deadlines: &[Deadline]) -> Vec<ExitRule> {
    let of_deadlines = deadlines.iter().enumerate().flat_map(|(number, deadline)| {
        let outcome = deadline.then.map_or(Outcome::MarkDead, Outcome::Then);
        deadline.states.iter().map(move |status| {
            let condition = Condition::Overdue(number);
            let rule = ExitRule { span: deadline.span, status: *status, condition, outcome: outcome.clone() };
            (deadline.after, rule)
        })
    });
    let of_states = states.iter().filter_map(|state| state.timeout.clone()).map(|rule| {
        let after = match &rule.condition {
            Condition::Ended(ending) => ending.after,
            Condition::HasArtifact(_)
            | Condition::NoArtifact
            | Condition::Overdue(_)
            | Condition::Spent
            | Condition::Always => None,
        };
        (after.unwrap_or_default(), rule)
    });
    let mut rules: Vec<_> = of_deadlines.chain(of_states).collect();
    rules.sort_by_key(|(after, rule)| (matches!(rule.outcome, Outcome::MarkDead), Reverse(*after)));
    let of_budgets = states.iter().filter_map(|state| state.spent.clone());
    rules.into_iter().map(|(_, rule)| rule).chain(of_budgets).collect()
}
