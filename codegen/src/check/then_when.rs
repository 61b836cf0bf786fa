//! A09: of the clauses of a `then_when`, exactly one holds, whatever the counters are.

use super::CheckContext;
use super::ambiguous::undecided;
use crate::catalogue::A09;
use crate::diag::{Diagnostic, Witness};
use crate::guard::Guard;
use crate::guard::cells::Undecided;
use crate::guard::decide::{self, Overlap};

/// Clauses that a message still points at.
const MAX_LABELS: usize = 8;

pub(super) fn check(context: &mut CheckContext<'_>) {
    for clauses in &context.draft.choices {
        check_clauses(context, clauses);
    }
}

fn check_clauses(context: &mut CheckContext<'_>, clauses: &[Guard]) {
    let Some(first) = clauses.first() else { return };
    let guards: Vec<_> = clauses.iter().map(|it| &it.expr).collect();
    let counters = &context.draft.workflow.counters;
    let gap = decide::gap(&guards, counters, &mut context.work);
    let some: Vec<_> = guards.iter().copied().map(Some).collect();
    let overlaps = gap.and_then(|gap| Ok((gap, decide::overlaps(&some, counters, &mut context.work)?)));
    match overlaps {
        Ok((gap, overlaps)) => {
            context.found.extend(gap.map(|witness| missing(clauses, witness)));
            context.found.extend(overlaps.into_iter().map(|it| doubled(clauses, it)));
        }
        Err(Undecided { cells }) => {
            let finding = undecided("exactly one `then_when` clause", "holds", cells, first.clause);
            context.report(finding);
        }
    }
}

fn missing(clauses: &[Guard], witness: Witness) -> Diagnostic {
    let message = format!("no `then_when` clause holds: {}", witness.range);
    let finding = Diagnostic::new(&A09, clauses[0].clause, message).witness(witness);
    let labelled = clauses
        .iter()
        .take(MAX_LABELS)
        .fold(finding, |finding, clause| finding.label(clause.clause, format!("holds when {}", clause.text)));
    labelled.help("add a clause for the values that are left out, or widen one")
}

fn doubled(clauses: &[Guard], overlap: Overlap) -> Diagnostic {
    let (first, second) = (&clauses[overlap.first], &clauses[overlap.second]);
    let range = overlap.witness.as_ref().map_or("always", |it| it.range.as_str());
    let finding =
        Diagnostic::new(&A09, second.clause, format!("two `then_when` clauses hold at once: {range}"))
            .label(first.clause, format!("holds when {}", first.text))
            .label(second.clause, format!("holds when {}", second.text))
            .help("exactly one clause must hold: change one so that no counter values satisfy both");
    match overlap.witness {
        Some(witness) => finding.witness(witness),
        None => finding,
    }
}
