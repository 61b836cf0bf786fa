//! `resolve`: which transitions are open, as an exhaustive match over pairs of states.

use orange_core::StateId;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::Emission;
use super::guard::{as_written, condition, first_of};
use crate::guard::cells::WorkBudget;
use crate::guard::decide::overlaps_of;
use crate::lower;
use crate::model::Transition;

pub(super) fn resolve(emission: &Emission<'_>) -> TokenStream {
    let sorted = lower::transitions(emission.workflow);
    let variants: Vec<_> = sorted.iter().copied().zip(&emission.transitions).collect();
    let rows: Vec<_> = variants.chunk_by(|(a, _), (b, _)| a.from.value == b.from.value).collect();
    let arms = rows.iter().map(|row| row_arm(emission, row));
    let closed = closed_arm(emission, &rows);
    let as_written = as_written();
    quote! {
        /// The transitions from a state to another that are open under these counters, at least one. Where there are several, the
        /// actor and the gates choose.
        ///
        /// # Errors
        /// No transition is declared for the pair, or none of them is open.
        #as_written
        pub const fn resolve(
            from: State,
            to: State,
            counters: &Counters,
        ) -> Result<&'static [Transition], orange::NotOpen<State>> {
            match from {
                #(#arms)*
                #closed
            }
        }

        const fn no_transition(from: State, to: State) -> Result<&'static [Transition], orange::NotOpen<State>> {
            Err(orange::NotOpen::NoTransition { from, to })
        }

        const fn guard_failed(from: State, to: State) -> Result<&'static [Transition], orange::NotOpen<State>> {
            Err(orange::NotOpen::GuardFailed { from, to })
        }
    }
}

/// A transition and its variant.
type NamedTransition<'e> = (&'e Transition, &'e Ident);

fn row_arm(emission: &Emission<'_>, row: &[NamedTransition<'_>]) -> TokenStream {
    let from = emission.state(row[0].0.from.value);
    let pairs: Vec<_> = row.chunk_by(|(a, _), (b, _)| a.to.value == b.to.value).collect();
    let open = pairs.iter().map(|pair| pair_arm(emission, pair));
    let illegal =
        arm(&others(emission, pairs.iter().map(|pair| pair[0].0.to.value)), quote!(no_transition(from, to)));
    quote! {
        State::#from => match to {
            #(#open)*
            #illegal
        },
    }
}

fn pair_arm(emission: &Emission<'_>, pair: &[NamedTransition<'_>]) -> TokenStream {
    let to = emission.state(pair[0].0.to.value);
    let open = open_among(emission, pair, &[], guards_exclude(emission, pair));
    quote!(State::#to => #open,)
}

/// True if no two guards hold at once of those that alone tell transitions of a pair apart. Where A10 leaves that open, they may.
fn guards_exclude(emission: &Emission<'_>, pair: &[NamedTransition<'_>]) -> bool {
    let guards: Vec<_> = pair.iter().map(|(it, _)| it.when.as_ref().map(|when| &when.expr)).collect();
    let matters = |first: usize, second: usize| !pair[first].0.is_distinct_from(pair[second].0);
    let overlaps = overlaps_of(&guards, matters, &emission.workflow.counters, &mut WorkBudget::default());
    overlaps.is_ok_and(|it| it.is_empty())
}

/// Those of a pair that are open, where these are and all others before them are not.
fn open_among(
    emission: &Emission<'_>,
    pair: &[NamedTransition<'_>],
    open: &[NamedTransition<'_>],
    guards_exclude: bool,
) -> TokenStream {
    let can_be_open = |it: &NamedTransition<'_>| {
        !guards_exclude || open.iter().all(|(other, _)| it.0.is_distinct_from(other))
    };
    let others = pair.iter().enumerate().filter(|(_, it)| can_be_open(it));
    let branches = others.map(|(at, it)| {
        let guard = it.0.when.as_ref().map(|guard| condition(emission, &guard.expr));
        let with: Vec<_> = open.iter().chain([it]).copied().collect();
        (guard, open_among(emission, &pair[at + 1..], &with, guards_exclude))
    });
    let variants = open.iter().map(|(_, variant)| variant);
    let otherwise = match open.is_empty() {
        true => quote!(guard_failed(from, to)),
        false => quote!(Ok(&[#(Transition::#variants),*])),
    };
    first_of(branches, otherwise)
}

/// The arm of the states that nothing leads out of.
fn closed_arm(emission: &Emission<'_>, rows: &[&[NamedTransition<'_>]]) -> TokenStream {
    arm(&others(emission, rows.iter().map(|row| row[0].0.from.value)), quote!(no_transition(from, to)))
}

/// One arm for all these states, no arm for none.
pub(super) fn arm(states: &[&Ident], value: TokenStream) -> TokenStream {
    if states.is_empty() {
        return TokenStream::new();
    }
    quote!(#(State::#states)|* => #value,)
}

/// Every state but these, which come in ascending order.
pub(super) fn others<'e>(
    emission: &'e Emission<'_>,
    ascending: impl Iterator<Item = StateId>,
) -> Vec<&'e Ident> {
    let mut left_out = ascending.map(|id| usize::from(id.0)).peekable();
    let states = emission.states.iter().enumerate();
    states.filter(|(index, _)| left_out.next_if_eq(index).is_none()).map(|(_, state)| state).collect()
}
