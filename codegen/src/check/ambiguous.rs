//! A07: of the transitions between two states, no two can fire at once.
//!
//! Two are distinct if their guards never hold at once, if nobody may ask for both, or if their gates ask for different verdicts
//! of one section.

use super::CheckContext;
use crate::catalogue::{A07, A10};
use crate::diag::Diagnostic;
use crate::guard::cells::{MAX_CELLS, Undecided};
use crate::guard::decide::{self, Overlap};
use crate::model::{Transition, Workflow};
use crate::span::Span;

/// The most transitions of one pair that actors or gates make distinct, or whose guards may hold at once: the code that resolves them
/// has a branch for each combination of open ones.
const MAX_DISTINCT: usize = 8;

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
    let any_distinct = pair.iter().any(|one| pair.iter().any(|other| one.is_distinct_from(other)));
    if any_distinct && pair.len() > MAX_DISTINCT {
        let finding = too_many(context, pair);
        context.report(finding);
        return;
    }
    let guards: Vec<_> = pair.iter().map(|it| it.when.as_ref().map(|when| &when.expr)).collect();
    let matters = |first: usize, second: usize| !pair[first].is_distinct_from(pair[second]);
    match decide::overlaps_of(&guards, matters, &workflow.counters, &mut context.work) {
        Ok(overlaps) => {
            for overlap in overlaps {
                let finding = ambiguous(context, pair[overlap.first], pair[overlap.second], overlap);
                context.report(finding);
            }
        }
        Err(_) if any_distinct || pair.len() > MAX_DISTINCT => {
            let where_asked = match any_distinct {
                true => "where their actors or gates are what differs".to_owned(),
                false => format!("where there are more than {MAX_DISTINCT}"),
            };
            let finding = too_large(context, pair, &where_asked);
            context.report(finding);
        }
        Err(Undecided { cells }) => {
            let what = format!("the transitions {}", arrow(context, pair[0]));
            let finding = undecided(&what, "exclude each other", cells, place(context, pair[0]));
            context.report(finding);
        }
    }
}

fn too_many(context: &CheckContext<'_>, pair: &[&Transition]) -> Diagnostic {
    let (arrow, count) = (arrow(context, pair[0]), pair.len());
    let message = format!(
        "{count} transitions {arrow}: where their actors or gates are what differs, there may be {MAX_DISTINCT}"
    );
    Diagnostic::new(&A07, place(context, pair[MAX_DISTINCT]), message)
        .help("lead to several states, or distinguish them by `when` alone")
}

fn too_large(context: &CheckContext<'_>, pair: &[&Transition], where_asked: &str) -> Diagnostic {
    let arrow = arrow(context, pair[0]);
    let message = format!(
        "whether two transitions {arrow} can both fire is too large a question, and it has to be decided {where_asked}"
    );
    Diagnostic::new(&A07, place(context, pair[0]), message)
        .help("compare fewer counters, or with fewer different numbers, or lead to several states")
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
    let gates = if gated { "; of gates, only PASS and FAIL of one section exclude each other" } else { "" };
    let when = match (&first.when, &second.when) {
        (None, None) => "delete one of them, or give each a `when` that excludes the other",
        (Some(_), Some(_)) => "change one `when` so that no counter values satisfy both",
        (None, Some(_)) | (Some(_), None) => "give both a `when`, so that no counter values satisfy both",
    };
    let help = format!("{when}; or give each a `by`, so that nobody may ask for both{gates}");
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
