//! C21: a guard that every value of the counters satisfies.

use super::C21;
use super::shared::{GuardOwner, GuardSite, guards};
use crate::lint::Facts;
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::guard::{Guard, decide};
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    guards(facts)
        .iter()
        .filter(|site| is_alone(site) && always(facts, site))
        .map(|site| finding(facts, site))
        .collect()
}

/// A clause beside which no other one can hold is those others' fault.
fn is_alone(site: &GuardSite<'_>) -> bool {
    match site.decides {
        GuardOwner::Transition(_) | GuardOwner::Watch => true,
        GuardOwner::Clause(clauses, _) => clauses.len() == 1,
    }
}

/// [`super::guard_never`] reports what cannot be decided; it asks about the same cells.
fn always(facts: &Facts<'_>, site: &GuardSite<'_>) -> bool {
    let gap = decide::gap(&[&site.guard.expr], &facts.workflow.counters, &mut facts.work.borrow_mut());
    gap.is_ok_and(|gap| gap.is_none())
}

fn finding(facts: &Facts<'_>, site: &GuardSite<'_>) -> Diagnostic {
    let guard = site.guard;
    let message = format!("`{}` holds for every value: it keeps nothing out", guard.text);
    let found = Diagnostic::new(&C21, guard.clause, message)
        .label(guard.clause, "counters are whole numbers from 0 on");
    match site.decides {
        GuardOwner::Transition(_) | GuardOwner::Watch => found
            .help("delete `when`, or compare with a number that leaves some values out")
            .fix_if(without(&facts.source.text, guard)),
        GuardOwner::Clause(_, clause) => {
            let to = facts.name(clause.then.value);
            found.help(format!(
                "write `then: {to}` in the place of `then_when`, or compare with another number"
            ))
        }
    }
}

/// Deletes the key and the guard. Another number may have been meant.
fn without(source: &str, guard: &Guard) -> Option<Fix> {
    let before = source[..guard.span.range().start].trim_end();
    let key = before.strip_suffix([':', '='])?.trim_end();
    let start = ["when", "\"when\"", "'when'"].iter().find_map(|it| key.strip_suffix(it))?.len();
    let edit = edit::remove_entry(source, Span::new(start as u32, guard.span.end))?;
    Some(Fix { title: "delete the guard".to_owned(), edits: vec![edit], safe: false })
}
