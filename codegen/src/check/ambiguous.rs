//! A07: of the transitions between two states, no two can fire at once.
//!
//! Only `when` chooses between them. Two without one always clash, and gates do not choose: a gate says whether
//! the transition that fires may pass.

use super::CheckContext;
use crate::catalogue::{A07, A10};
use crate::diag::Diagnostic;
use crate::guard::cells::{MAX_CELLS, Undecided};
use crate::guard::decide::{self, Overlap};
use crate::model::{Transition, Workflow};
use crate::span::Span;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let workflow = &context.draft.workflow;
    let mut sorted: Vec<&Transition> = workflow.transitions.iter().collect();
    sorted.sort_by_key(|it| (it.from.value, it.to.value));
    for pair in sorted.chunk_by(|a, b| (a.from.value, a.to.value) == (b.from.value, b.to.value)) {
        if pair.len() > 1 {
            check_pair(context, workflow, pair);
        }
    }
}

fn check_pair(context: &mut CheckContext<'_>, workflow: &Workflow, pair: &[&Transition]) {
    let guards: Vec<_> = pair.iter().map(|it| it.when.as_ref().map(|when| &when.expr)).collect();
    match decide::overlaps(&guards, &workflow.counters, &mut context.work) {
        Ok(overlaps) => {
            for overlap in overlaps {
                let finding = ambiguous(context, pair[overlap.first], pair[overlap.second], overlap);
                context.report(finding);
            }
        }
        Err(Undecided { cells }) => {
            let what = format!("the transitions {}", arrow(context, pair[0]));
            let finding = undecided(&what, "exclude each other", cells, place(context, pair[0]));
            context.report(finding);
        }
    }
}

fn ambiguous(
    context: &CheckContext<'_>,
    first: &Transition,
    second: &Transition,
    overlap: Overlap,
) -> Diagnostic {
    let arrow = arrow(context, first);
    let place = |it: &Transition| place(context, it);
    let finding = match overlap.witness {
        Some(witness) => {
            let message = format!("two transitions {arrow} can both fire: {}", witness.range);
            Diagnostic::new(&A07, place(second), message).witness(witness)
        }
        None => {
            let message = format!("two transitions {arrow} always both fire: neither has a `when`");
            Diagnostic::new(&A07, place(second), message)
        }
    };
    let gated = [first, second].iter().any(|it| !it.gates.is_empty());
    let gates = if gated { " (a gate does not choose between transitions, only `when` does)" } else { "" };
    let help = match (&first.when, &second.when) {
        (None, None) => format!("delete one of them, or give each a `when` that excludes the other{gates}"),
        (Some(_), Some(_)) => format!("change one `when` so that no counter values satisfy both{gates}"),
        (None, Some(_)) | (Some(_), None) => {
            format!("give both a `when`, so that no counter values satisfy both{gates}")
        }
    };
    finding.label(place(first), fires(first)).label(place(second), fires(second)).help(help)
}

fn fires(transition: &Transition) -> String {
    match &transition.when {
        Some(when) => format!("fires when {}", when.text),
        None => "fires always: it has no `when`".to_owned(),
    }
}

fn arrow(context: &CheckContext<'_>, transition: &Transition) -> String {
    format!("`{} → {}`", context.name(transition.from.value), context.name(transition.to.value))
}

/// The clause inside its string; without one, the declaration's first line.
fn place(context: &CheckContext<'_>, transition: &Transition) -> Span {
    transition.when.as_ref().map_or_else(|| context.first_line(transition.span), |when| when.clause)
}

/// The finding that a question was too large to answer.
pub(super) fn undecided(what: &str, question: &str, cells: u64, place: Span) -> Diagnostic {
    let message = match cells > MAX_CELLS {
        true => format!(
            "whether {what} {question} was not decided: their guards distinguish {cells} combinations of counter \
             values, and the limit is {MAX_CELLS}"
        ),
        false => format!(
            "whether {what} {question} was not decided: the guards of this file are too many and too long"
        ),
    };
    Diagnostic::new(&A10, place, message).help("compare fewer counters, or with fewer different numbers")
}
