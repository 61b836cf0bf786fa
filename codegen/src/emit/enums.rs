//! `State`, `Transition` and `Prompt`: the enums of a state machine workflow.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::named::{NamedEnum, Number};
use super::{Emission, text};
use crate::names;

pub(super) fn all(emission: &Emission<'_>) -> TokenStream {
    let machine = emission.machine;
    let state = NamedEnum {
        ident: format_ident!("State"),
        kind: "state",
        plural: "states",
        doc: "The states of the workflow, in the order of the source.".to_owned(),
        number: Some(Number { id: quote!(StateId), repr: "u16" }),
        names: machine.states.iter().map(|state| state.name).collect(),
        variants: &emission.states,
    };
    let texts = names::transition_texts(emission.ends());
    let transition = NamedEnum {
        ident: format_ident!("Transition"),
        kind: "transition",
        plural: "transitions",
        doc: "The transitions of the workflow, by the state that each leaves, then the one it enters, then in the order of the source."
            .to_owned(),
        number: Some(Number { id: quote!(TransitionId), repr: "u32" }),
        names: texts.iter().map(String::as_str).collect(),
        variants: &emission.transitions,
    };
    let prompt = NamedEnum {
        ident: format_ident!("Prompt"),
        kind: "prompt",
        plural: "prompts",
        doc: "The prompts of the workflow, in the order of the source.".to_owned(),
        number: Some(Number { id: quote!(PromptId), repr: "u16" }),
        names: machine.prompts.iter().map(|prompt| prompt.name).collect(),
        variants: &emission.prompts,
    };
    let ends = ends(emission, &transition);
    let [state, transition, prompt] = [state, transition, prompt].map(|it| it.tokens());
    quote!(#state #transition #ends #prompt)
}

fn ends(emission: &Emission<'_>, transitions: &NamedEnum<'_>) -> TokenStream {
    let ends = emission.machine.transitions.iter().map(|it| {
        let [from, to] = [it.from, it.to].map(|state| emission.state(state));
        quote!((State::#from, State::#to))
    });
    let count = text::number(ends.len());
    let from = transitions.by_number(quote!(Self::ENDS[self as usize].0));
    let to = transitions.by_number(quote!(Self::ENDS[self as usize].1));
    quote! {
        impl Transition {
            const ENDS: [(State, State); #count] = [#(#ends),*];

            /// The state it leaves.
            pub const fn from(self) -> State {
                #from
            }

            /// The state it enters.
            pub const fn to(self) -> State {
                #to
            }
        }
    }
}
