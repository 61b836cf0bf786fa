//! Guards as Rust conditions, as their author wrote them, and the chains of `if` that they stand in.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Emission;
use crate::guard::{Compare, Expr, Op};

/// Guards stand as they were written, even where Rust would say it shorter; and not every workflow has one.
pub(super) fn as_written() -> TokenStream {
    quote! {
        #[allow(
            unused_comparisons,
            unused_variables,
            clippy::absurd_extreme_comparisons,
            clippy::double_comparisons,
            clippy::if_same_then_else,
            clippy::impossible_comparisons,
            clippy::nonminimal_bool,
            clippy::overly_complex_bool_expr,
            clippy::redundant_comparisons
        )]
    }
}

/// The condition that a guard is, over a variable `counters`.
pub(super) fn condition(emission: &Emission<'_>, guard: &Expr) -> TokenStream {
    match guard {
        Expr::Or(parts) => {
            let parts = parts.iter().map(|part| condition(emission, part));
            quote!(#(#parts)||*)
        }
        Expr::And(parts) => {
            let parts = parts.iter().map(|part| match part {
                Expr::Or(_) => {
                    let part = condition(emission, part);
                    quote!((#part))
                }
                Expr::And(_) | Expr::Not(_) | Expr::Compare(_) => condition(emission, part),
            });
            quote!(#(#parts)&&*)
        }
        Expr::Not(inner) => {
            let inner = condition(emission, inner);
            quote!(!(#inner))
        }
        Expr::Compare(compare) => comparison(emission, compare),
    }
}

/// The value of the first branch whose condition holds; one without a condition always does.
pub(super) fn first_of(
    branches: impl IntoIterator<Item = (Option<TokenStream>, TokenStream)>,
    otherwise: TokenStream,
) -> TokenStream {
    let mut chain = TokenStream::new();
    for (condition, value) in branches {
        match condition {
            Some(condition) => chain.extend(quote!(if #condition { #value } else)),
            None => return last(chain, value),
        }
    }
    last(chain, otherwise)
}

fn last(chain: TokenStream, value: TokenStream) -> TokenStream {
    if chain.is_empty() { value } else { quote!(#chain { #value }) }
}

fn comparison(emission: &Emission<'_>, compare: &Compare) -> TokenStream {
    let counter = &emission.counters[usize::from(compare.counter.0)];
    let value = Literal::u32_unsuffixed(compare.value);
    let op = match compare.op {
        Op::Less => quote!(<),
        Op::AtMost => quote!(<=),
        Op::Greater => quote!(>),
        Op::AtLeast => quote!(>=),
        Op::Equal => quote!(==),
        Op::NotEqual => quote!(!=),
    };
    quote!(counters.#counter #op #value)
}
