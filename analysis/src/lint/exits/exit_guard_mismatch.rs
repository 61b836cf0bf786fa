//! C43: an exit rule leads to a transition whose guard can be closed then.

use super::C43;
use super::advance::{self, Advance};
use super::text::condition_of;
use crate::lint::Facts;
use orange_codegen::catalogue::A10;
use orange_codegen::diag::{Diagnostic, Witness};
use orange_codegen::guard::cells::Undecided;
use orange_codegen::guard::{Guard, decide};
use orange_codegen::model::{Counter, StateId};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let states = facts.asked_cases().map(|it| it.state);
    let advances = states.flat_map(|state| advance::of(facts, state).into_iter().map(move |it| (state, it)));
    let found = advances.filter_map(|(state, advance)| {
        let declared = facts.machine.between(state, advance.to).map(|id| facts.transition(id));
        // One without a guard is open whatever the counters are; without any transition there is another finding.
        let guards: Vec<&Guard> = declared.map(|it| it.when.as_ref()).collect::<Option<_>>()?;
        (!guards.is_empty()).then(|| of_guards(facts, &advance, &guards)).flatten()
    });
    found.collect()
}

fn of_guards(facts: &Facts<'_>, advance: &Advance<'_>, guards: &[&Guard]) -> Option<Diagnostic> {
    let clause = advance.clause.map(|it| &it.when.expr);
    let open: Vec<_> = guards.iter().map(|it| &it.expr).collect();
    match decide::beyond(clause, &open, &facts.workflow.counters, &mut facts.work.borrow_mut()) {
        Ok(None) => None,
        Ok(Some(witness)) => Some(finding(facts, advance, guards, witness)),
        Err(Undecided { cells }) => {
            let message = format!(
                "whether this exit rule's transition is always open was not decided: the guards distinguish {cells} combinations of \
                 counter values"
            );
            let help = "compare fewer counters, or with fewer different numbers";
            Some(Diagnostic::new(&A10, advance.named, message).help(help))
        }
    }
}

fn finding(facts: &Facts<'_>, advance: &Advance<'_>, guards: &[&Guard], witness: Witness) -> Diagnostic {
    let rule = facts.exit_rules[advance.rule];
    let (from, to) = (facts.name(rule.status.value), facts.name(advance.to));
    let what = rule.what();
    let message = format!("this {what} leads to `{to}`, and `{from} → {to}` is closed: {}", witness.range);
    let (place, chooses) = match advance.clause {
        Some(clause) => (clause.when.clause, format!("1. leads to `{to}` when {}", clause.when.text)),
        None => (condition_of(facts, rule), format!("1. leads to `{to}` whatever the counters are")),
    };
    let help = help(facts, advance, guards, &witness);
    let found = Diagnostic::new(&C43, place, message).label(place, chooses).witness(witness);
    let labelled = guards.iter().fold(found, |found, guard| {
        found.label(
            guard.clause,
            format!("2. is open when {}; a closed transition counts as a crash", guard.text),
        )
    });
    labelled.help(help)
}

/// Remedy that makes both agree: where no other transition is open for these values, the guard leaves them out; else the rule leads
/// them to the wrong state.
fn help(facts: &Facts<'_>, advance: &Advance<'_>, guards: &[&Guard], witness: &Witness) -> String {
    let from = facts.exit_rules[advance.rule].status.value;
    let (from_name, to) = (facts.name(from), facts.name(advance.to));
    match (advance.clause, guards) {
        (Some(clause), [_]) if !is_open_elsewhere(facts, from, advance.to, witness) => format!(
            "write `when: \"{}\"` on `{from_name} → {to}`: no other transition is open when {}",
            clause.when.text, witness.range
        ),
        (Some(_), [guard]) => {
            format!("write `when: \"{}\"` here, and lead the other values elsewhere", guard.text)
        }
        (Some(_), _) => "let the clause hold only where one of these guards does".to_owned(),
        (None, _) if facts.machine.exit_rules[advance.rule].after().is_some() => {
            "name a state here to which a transition without a guard leads".to_owned()
        }
        (None, [guard]) => format!(
            "choose with `then_when: [{{when: \"{}\", then: {to}}}, …]`, and lead the other values elsewhere",
            guard.text
        ),
        (None, _) => "choose with `then_when`, and lead the other values elsewhere".to_owned(),
    }
}

/// True if a guard of a transition to another state holds for these values.
fn is_open_elsewhere(facts: &Facts<'_>, from: StateId, to: StateId, witness: &Witness) -> bool {
    let value = |counter: &Counter| {
        let named = witness.values.iter().find(|(name, _)| *name == counter.name);
        named.map_or(counter.start, |(_, value)| *value)
    };
    let values: Vec<u32> = facts.workflow.counters.iter().map(value).collect();
    let mut others = facts.leaving(from).filter(|(_, it)| it.to.value != to);
    others.any(|(_, it)| it.when.as_ref().is_some_and(|guard| guard.expr.holds(&values)))
}
