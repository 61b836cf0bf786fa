//! Enums whose values have a name in the workflow and, where the tables number them, a number.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::text;

/// One enum: a state, a step, a result.
pub(super) struct NamedEnum<'e> {
    /// Its name in Rust.
    pub(super) ident: Ident,
    /// Name of one of its values in messages.
    pub(super) kind: &'e str,
    /// Plural of that name.
    pub(super) plural: &'e str,
    /// Doc of the enum, in a sentence.
    pub(super) doc: String,
    pub(super) number: Option<Number>,
    pub(super) names: Vec<&'e str>,
    pub(super) variants: &'e [Ident],
}

/// Numbers of the values of an enum in the tables.
pub(super) struct Number {
    /// The type of a number, in `orange-core`.
    pub(super) id: TokenStream,
    /// The integer type that it holds.
    pub(super) repr: &'static str,
}

impl NamedEnum<'_> {
    pub(super) fn tokens(&self) -> TokenStream {
        let definition = self.definition();
        let inherent = self.inherent();
        let conversions = self.conversions();
        quote!(#definition #inherent #conversions)
    }

    /// An enum without variants has no numbers, and no value to ask.
    pub(super) fn by_number(&self, value: TokenStream) -> TokenStream {
        if self.variants.is_empty() { quote!(match self {}) } else { value }
    }

    fn definition(&self) -> TokenStream {
        let Self { ident, names, variants, .. } = self;
        let doc = format!(" {}", self.doc);
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
        let Self { ident, plural, names, variants, .. } = self;
        let count = text::number(names.len());
        let name = self.by_number(quote!(Self::NAMES[self as usize]));
        let all_doc = format!(" All {plural}.");
        let names_doc = format!(" The names of all {plural}, in the order of [`{ident}::ALL`].");
        let numbers = self.number.as_ref().map(|number| self.numbers(number));
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

                #numbers
            }
        }
    }

    fn numbers(&self, Number { id, repr }: &Number) -> TokenStream {
        let repr = format_ident!("{repr}");
        let number = self.by_number(quote!(orange::#id(self as #repr)));
        let doc = format!(" The {} with this number in the tables.", self.kind);
        quote! {
            /// Its number in the tables.
            pub const fn id(self) -> orange::#id {
                #number
            }

            #[doc = #doc]
            pub fn from_id(id: orange::#id) -> Option<Self> {
                Self::ALL.get(id.0 as usize).copied()
            }
        }
    }

    fn conversions(&self) -> TokenStream {
        let Self { ident, kind, .. } = self;
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
}
