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
        repr: "u16",
        order: "in the order of the source",
        names: machine.states.iter().map(|state| state.name.to_owned()).collect(),
        variants: &emission.states,
    };
    let transition = NamedEnum {
        kind: "transition",
        plural: "transitions",
        repr: "u32",
        order: "by the state that each leaves, then the one it enters, then in the order of the source",
        names: names::transition_texts(emission.ends()),
        variants: &emission.transitions,
    };
    let prompt = NamedEnum {
        kind: "prompt",
        plural: "prompts",
        repr: "u16",
        order: "in the order of the source",
        names: machine.prompts.iter().map(|prompt| prompt.name.to_owned()).collect(),
        variants: &emission.prompts,
    };
    let ends = ends(emission, &transition);
    let [state, transition, prompt] = [state, transition, prompt].map(|it| it.tokens());
    quote!(#state #transition #ends #prompt)
}

struct NamedEnum<'e> {
    kind: &'static str,
    plural: &'static str,
    /// What its numbers are in the tables.
    repr: &'static str,
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
        let repr = format_ident!("{}", self.repr);
        let count = text::number(names.len());
        let name = self.by_number(quote!(Self::NAMES[self as usize]));
        let number = self.by_number(quote!(orange::#id(self as #repr)));
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
                    #name
                }

                /// Its number in the tables.
                pub const fn id(self) -> orange::#id {
                    #number
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

    /// An enum without variants has no numbers, and no value to ask.
    fn by_number(&self, value: TokenStream) -> TokenStream {
        if self.variants.is_empty() { quote!(match self {}) } else { value }
    }

    fn ident(&self) -> Ident {
        format_ident!("{}", names::variant(self.kind))
    }
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
