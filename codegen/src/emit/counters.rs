//! `Counters`: the counters of a task as fields.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Emission, text};

pub(super) fn counters(emission: &Emission<'_>) -> TokenStream {
    let fields = &emission.counters;
    let names: Vec<_> = emission.machine.counters.iter().map(|counter| counter.name).collect();
    let docs = names.iter().map(|name| format!(" `{name}`"));
    let starts = emission.machine.counters.iter().map(|counter| Literal::u32_unsuffixed(counter.default));
    let count = text::number(fields.len());
    let numbers = (0..fields.len()).map(text::number);
    quote! {
        /// The counters of a task: what guards compare.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct Counters {
            #(#[doc = #docs] pub #fields: u32,)*
        }

        impl Counters {
            /// The names of all counters, in the order of the tables.
            pub const NAMES: [&'static str; #count] = [#(#names),*];
            /// The values in a new task.
            pub const START: Self = Self { #(#fields: #starts),* };

            /// The counters with these values, in the order of [`Counters::NAMES`].
            pub const fn from_values(values: [u32; #count]) -> Self {
                Self { #(#fields: values[#numbers]),* }
            }

            /// The values, in the order of [`Counters::NAMES`].
            pub const fn values(&self) -> [u32; #count] {
                [#(self.#fields),*]
            }
        }

        impl Default for Counters {
            fn default() -> Self {
                Self::START
            }
        }
    }
}
