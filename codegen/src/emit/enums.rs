//! `State`, `Transition` and `Prompt`: enums whose values have a name and a number.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{Emission, text};
use crate::names;

pub(super) fn all(emission: &Emission<'_>) -> TokenStream {
    let machine = emission.machine;
    let state = NamedEnum {
        kind: "state",
        plural: "states",
        order: "in the order of the source",
        names: machine.states.iter().map(|state| state.name.to_owned()).collect(),
        variants: &emission.states,
    };
    let transition = NamedEnum {
        kind: "transition",
        plural: "transitions",
        order: "by the state it leaves, then the one it enters, then in the order of the source",
        names: names::transition_texts(emission.ends()),
        variants: &emission.transitions,
    };
    let prompt = NamedEnum {
        kind: "prompt",
        plural: "prompts",
        order: "in the order of the source",
        names: machine.prompts.iter().map(|prompt| prompt.name.to_owned()).collect(),
        variants: &emission.prompts,
    };
    let [state, transition, prompt] = [state, transition, prompt].map(|it| it.tokens());
    let ends = ends(emission);
    quote!(#state #transition #ends #prompt)
}

struct NamedEnum<'e> {
    kind: &'static str,
    plural: &'static str,
    order: &'static str,
    names: Vec<String>,
    variants: &'e [Ident],
}

impl NamedEnum<'_> {
    fn tokens(&self) -> TokenStream {
        let definition = self.definition();
        let inherent = self.inherent();
        let conversions = self.conversions();
        quote!(#definition #inherent #conversions)
    }

    fn definition(&self) -> TokenStream {
        let Self { names, variants, .. } = self;
        let ident = self.ident();
        let doc = format!(" The {} of the workflow, {}.", self.plural, self.order);
        let docs = names.iter().map(|name| format!(" `{name}`"));
        quote! {
            #[doc = #doc]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum #ident {
                #(#[doc = #docs] #variants,)*
            }
        }
    }

    fn inherent(&self) -> TokenStream {
        let Self { names, variants, .. } = self;
        let ident = self.ident();
        let id = format_ident!("{ident}Id");
        let count = text::number(names.len());
        let numbers = (0..names.len()).map(text::number);
        let all_doc = format!(" All {}.", self.plural);
        let names_doc = format!(" The names of all {}, in the order of [`{ident}::ALL`].", self.plural);
        let from_doc = format!(" The {} with this number in the tables.", self.kind);
        quote! {
            impl #ident {
                #[doc = #all_doc]
                pub const ALL: [Self; #count] = [#(Self::#variants),*];
                #[doc = #names_doc]
                pub const NAMES: [&'static str; #count] = [#(#names),*];

                /// Its name in the workflow.
                pub const fn as_str(self) -> &'static str {
                    match self { #(Self::#variants => #names,)* }
                }

                /// Its number in the tables.
                pub const fn id(self) -> orange::#id {
                    match self { #(Self::#variants => orange::#id(#numbers),)* }
                }

                #[doc = #from_doc]
                pub fn from_id(id: orange::#id) -> Option<Self> {
                    Self::ALL.get(id.0 as usize).copied()
                }
            }
        }
    }

    fn conversions(&self) -> TokenStream {
        let ident = self.ident();
        let kind = self.kind;
        quote! {
            impl ::core::fmt::Display for #ident {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.pad(self.as_str())
                }
            }

            impl ::core::str::FromStr for #ident {
                type Err = orange::UnknownName;

                fn from_str(name: &str) -> Result<Self, Self::Err> {
                    Self::ALL.into_iter().find(|it| it.as_str() == name).ok_or_else(|| orange::UnknownName {
                        kind: #kind,
                        given: name.into(),
                        known: &Self::NAMES,
                    })
                }
            }

            impl TryFrom<&str> for #ident {
                type Error = orange::UnknownName;

                fn try_from(name: &str) -> Result<Self, Self::Error> {
                    name.parse()
                }
            }
        }
    }

    fn ident(&self) -> Ident {
        format_ident!("{}", names::variant(self.kind))
    }
}

fn ends(emission: &Emission<'_>) -> TokenStream {
    let variants = &emission.transitions;
    let from = emission.machine.transitions.iter().map(|it| emission.state(it.from));
    let to = emission.machine.transitions.iter().map(|it| emission.state(it.to));
    quote! {
        impl Transition {
            /// The state it leaves.
            pub const fn from(self) -> State {
                match self { #(Self::#variants => State::#from,)* }
            }

            /// The state it enters.
            pub const fn to(self) -> State {
                match self { #(Self::#variants => State::#to,)* }
            }
        }
    }
}
