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
pub(super) mod shared;
#[cfg(test)]
mod tests;
mod wrong_bound;

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
