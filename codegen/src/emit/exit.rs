//! `exit`: what the exit rules of a state come to, as an exhaustive match over states.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::guard::{as_written, condition, first_of};
use super::resolve::{arm, others};
use super::{Emission, text};
use crate::lower;
use crate::model::{Condition, ExitRule, Outcome};

pub(super) fn exit(emission: &Emission<'_>) -> TokenStream {
    let rules: Vec<_> = lower::exit_rules(emission.workflow).into_iter().enumerate().collect();
    let by_state: Vec<_> = rules.chunk_by(|(_, a), (_, b)| a.status.value == b.status.value).collect();
    let arms = by_state.iter().map(|rules| state_arm(emission, rules));
    let ruleless = others(emission, by_state.iter().map(|rules| rules[0].1.status.value));
    let ruleless = arm(&ruleless, quote!(orange::Exit::Unmatched));
    let as_written = as_written();
    quote! {
        /// The result of the exit rules of a state. `met` tells for each exit rule of the tables whether its artifact is there, or
        /// the agent ended as it says; its entries for rules without either are not read.
        #as_written
        pub const fn exit(
            state: State,
            met: &[bool; EXIT_RULES],
            counters: &Counters,
        ) -> orange::Exit {
            match state {
                #(#arms)*
                #ruleless
            }
        }
    }
}

/// An exit rule and its number.
type Numbered<'e> = (usize, &'e ExitRule);

fn state_arm(emission: &Emission<'_>, rules: &[Numbered<'_>]) -> TokenStream {
    let state = emission.state(rules[0].1.status.value);
    let branches = rules.iter().map(|(number, rule)| {
        let applies = match rule.condition {
            Condition::Always => None,
            Condition::HasArtifact(_) | Condition::Ended(_) | Condition::Overdue(_) | Condition::Spent => {
                let number = text::number(*number);
                Some(quote!(met[#number]))
            }
            Condition::NoArtifact => no_artifact(rules),
        };
        (applies, outcome(emission, &rule.outcome))
    });
    let says = first_of(branches, quote!(orange::Exit::Unmatched));
    quote!(State::#state => #says,)
}

/// None of the state's artifacts is there; always so where no rule asks for one.
fn no_artifact(rules: &[Numbered<'_>]) -> Option<TokenStream> {
    let absent: Vec<_> = rules
        .iter()
        .filter(|(_, rule)| matches!(rule.condition, Condition::HasArtifact(_)))
        .map(|(number, _)| {
            let number = text::number(*number);
            quote!(!met[#number])
        })
        .collect();
    (!absent.is_empty()).then(|| quote!(#(#absent)&&*))
}

fn outcome(emission: &Emission<'_>, outcome: &Outcome) -> TokenStream {
    match outcome {
        Outcome::Then(to) => {
            let to = emission.state(to.value);
            quote!(orange::Exit::Then(State::#to.id()))
        }
        Outcome::ThenWhen(clauses) => {
            let branches = clauses.iter().map(|clause| {
                let to = emission.state(clause.then.value);
                (Some(condition(emission, &clause.when.expr)), quote!(orange::Exit::Then(State::#to.id())))
            });
            first_of(branches, quote!(orange::Exit::Unmatched))
        }
        Outcome::Crash { stuck_after, respawn, .. } => {
            let stuck_after = Literal::u32_unsuffixed(*stuck_after);
            quote!(orange::Exit::Crash { stuck_after: #stuck_after, respawn: #respawn })
        }
        Outcome::MarkDead => quote!(orange::Exit::MarkDead),
        Outcome::Wait { resume_after, .. } => {
            let resume_after = Literal::u32_unsuffixed(*resume_after);
            quote!(orange::Exit::Wait { resume_after: #resume_after })
        }
    }
}
