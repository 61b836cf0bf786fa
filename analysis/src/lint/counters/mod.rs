//! Lints about guards and the counters that they compare.

mod counter_drift;
mod counter_never_incremented;
mod counter_unused;
mod entry_skips_increment;
mod guard_always;
mod guard_gap;
mod guard_never;
mod increment_after_use;
pub(super) mod literal_equals_bound;
mod shared;
#[cfg(test)]
mod tests;
mod wrong_bound;

use orange_codegen::catalogue::A10;
use orange_codegen::diag::Diagnostic;

use super::Facts;
use crate::search::Cut;

super::group! {
    C20 "guard-never" Warn guard_never;
    C21 "guard-always" Warn guard_always;
    C23 "guard-gap" Warn guard_gap;
    C25 "counter-never-incremented" Warn counter_never_incremented;
    C26 "counter-drift" Info counter_drift;
    C27 "increment-after-use" Warn increment_after_use;
    C28 "counter-unused" Info counter_unused;
    C29 "entry-skips-increment" Warn entry_skips_increment;
    C2A "literal-equals-bound" Info literal_equals_bound;
    C2B "wrong-bound" Warn wrong_bound;
}

/// The finding that the search was cut. A counter that a guard compares with a large number is the usual reason.
pub(super) fn undecided(facts: &Facts<'_>, cut: Cut) -> Diagnostic {
    let message = format!("the search stopped before it had seen every case: {cut}");
    let guards = shared::guards(facts);
    let compared = guards.iter().flat_map(|it| it.guard.expr.comparisons());
    match compared.max_by_key(|it| it.value).filter(|it| it.value >= FAR) {
        Some(it) => {
            let name = shared::name(facts, it.counter);
            Diagnostic::new(&A10, it.span, message)
                .label(it.span, format!("every value of `{name}` up to {} is a case of its own", it.value))
                .help(format!(
                    "what is proved holds for every case that was searched; compare `{name}` with a smaller number"
                ))
        }
        None => Diagnostic::new(&A10, facts.workflow.name.span, message).help(
            "what is proved holds for every case that was searched; compare fewer counters, or split the workflow",
        ),
    }
}

/// The least number in a guard that is too large to be a bound of rounds.
const FAR: u32 = 20;
