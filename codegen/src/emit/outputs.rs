//! The outputs of steps as types: a struct for each step that declares some, and an enum for those that are words.

use std::collections::HashMap;

use orange_core::plan::{Output, OutputId, Plan, StepId, ValueType};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::named::NamedEnum;
use crate::names;

/// The types of all outputs of a plan. `variants` are its steps in Rust.
pub(super) fn types(plan: &Plan<'_>, variants: &[Ident]) -> TokenStream {
    let names = TypeNames::of(plan);
    let with_outputs = plan.step_ids().zip(variants).filter(|(id, _)| !plan.step(*id).outputs.is_empty());
    let types = with_outputs.map(|(id, step)| {
        let words = plan.step(id).outputs.iter().zip(0..).filter_map(|(output, at)| {
            let ident = names.words.get(&(id, OutputId(at)))?;
            Some(words(plan.step(id).id, output, ident))
        });
        let outputs = outputs(plan, &names, id, step);
        quote!(#outputs #(#words)*)
    });
    quote!(#(#types)*)
}

/// The names of the types, all of which differ.
struct TypeNames {
    outputs: HashMap<StepId, Ident>,
    words: HashMap<(StepId, OutputId), Ident>,
}

impl TypeNames {
    fn of(plan: &Plan<'_>) -> TypeNames {
        let steps = || plan.step_ids().map(|id| (id, plan.step(id)));
        let taken = ["Step", "Role"].map(str::to_owned).into_iter();
        let taken = taken.chain(steps().map(|(_, step)| names::result(step.id)));
        let of_steps: Vec<StepId> =
            steps().filter(|(_, step)| !step.outputs.is_empty()).map(|(id, _)| id).collect();
        let of_words: Vec<(StepId, OutputId)> = of_steps
            .iter()
            .flat_map(|id| (0..).zip(plan.step(*id).outputs).map(move |(at, output)| (*id, at, output)))
            .filter(|(_, _, output)| matches!(output.kind, ValueType::Words(_)))
            .map(|(id, at, _)| (id, OutputId(at)))
            .collect();
        let outputs = of_steps.iter().map(|id| names::outputs(plan.step(*id).id));
        let words = of_words.iter().map(|(id, output)| {
            let step = plan.step(*id);
            names::words(step.id, step.outputs[output.index()].name)
        });
        let all = names::differing(taken.chain(outputs).chain(words));
        let mut idents = all.iter().skip(2 + plan.steps.len()).map(|it| format_ident!("{it}"));
        let outputs = of_steps.into_iter().zip(idents.by_ref()).collect();
        TypeNames { outputs, words: of_words.into_iter().zip(idents).collect() }
    }
}

/// The enum of an output that is one of some words.
fn words(step: &str, output: &Output<'_>, ident: &Ident) -> TokenStream {
    let ValueType::Words(words) = output.kind else { return TokenStream::new() };
    let variants = names::differing(words.iter().map(|it| names::variant(it)));
    let variants: Vec<Ident> = variants.iter().map(|it| format_ident!("{it}")).collect();
    let named = NamedEnum {
        ident: ident.clone(),
        kind: &format!("value of `{step}.{}`", output.name),
        plural: "values",
        doc: format!("Possible values of the output `{}` of `{step}`.", output.name),
        number: None,
        names: words.to_vec(),
        variants: &variants,
    };
    let tokens = named.tokens();
    quote! {
        #tokens

        impl orange::plan::FromValue for #ident {
            fn from_value(value: &orange::plan::Value) -> Option<Self> {
                <String as orange::plan::FromValue>::from_value(value)?.parse().ok()
            }
        }
    }
}

/// The struct of the outputs of a step.
fn outputs(plan: &Plan<'_>, names: &TypeNames, id: StepId, variant: &Ident) -> TokenStream {
    let (step, Some(ident)) = (plan.step(id), names.outputs.get(&id)) else { return TokenStream::new() };
    let fields = names::differing(step.outputs.iter().map(|it| names::field(it.name)));
    let fields: Vec<Ident> = fields.iter().map(|it| format_ident!("{it}")).collect();
    let written: Vec<&str> = step.outputs.iter().map(|it| it.name).collect();
    let docs = step.outputs.iter().map(|it| format!(" `{}`: {}.", it.name, it.kind.values()));
    let types = (0..).zip(step.outputs).map(|(at, output)| match output.kind {
        ValueType::Words(_) => match names.words.get(&(id, OutputId(at))) {
            Some(words) => quote!(#words),
            None => quote!(String),
        },
        ValueType::Text => quote!(String),
        ValueType::Number { .. } => quote!(i64),
        ValueType::Bool => quote!(bool),
        ValueType::List { .. } => quote!(Vec<String>),
    });
    let handler = step.on_fail.map(|it| format!(", or of `{}`, which handles its failure", plan.step(it).id));
    let doc = format!(" The outputs of a report of `{}`{}.", step.id, handler.unwrap_or_default());
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct #ident {
            #(#[doc = #docs] pub #fields: #types,)*
        }

        impl #ident {
            /// The outputs of a report.
            ///
            /// # Errors
            /// The first one that is missing, unknown or of another type.
            pub fn read(reported: &orange::plan::Inputs) -> Result<Self, orange::plan::ValueFault> {
                let declared = PLAN.step(Step::#variant.id()).outputs;
                orange::plan::check_outputs(declared, reported)?;
                Ok(Self { #(#fields: orange::plan::output(declared, #written, reported)?,)* })
            }
        }
    }
}
