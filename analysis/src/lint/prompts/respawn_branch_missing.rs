//! C86: a prompt has commands for some of the states in which agents are started with it, and none for another one.

use std::collections::BTreeMap;

use super::C86;
use super::shared::{Prompted, list, prompts, started};
use crate::lint::Facts;
use crate::lint::prompt_facts::{PromptStart, StatusTarget};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::StateId;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    prompts(facts).filter_map(|it| in_prompt(facts, &it)).collect()
}

fn in_prompt(facts: &Facts<'_>, it: &Prompted<'_>) -> Option<Diagnostic> {
    let starts: BTreeMap<StateId, &PromptStart> =
        it.starts.iter().rev().map(|it| (it.place.state, it)).collect();
    let (known, missing): (Vec<&PromptStart>, Vec<&PromptStart>) =
        starts.into_values().partition(|start| leads_on(facts, it, start));
    (!known.is_empty() && !missing.is_empty()).then(|| finding(facts, it, &known, &missing))
}

/// True if one of its commands leads on from the place where an agent is started.
fn leads_on(facts: &Facts<'_>, it: &Prompted<'_>, start: &PromptStart) -> bool {
    let cancel = facts.machine.commands.cancel;
    it.reading.commands.iter().any(|command| match command.target {
        StatusTarget::State(to) => {
            to != start.place.state && Some(to) != cancel && start.place.may_request(facts.machine, to)
        }
        StatusTarget::Open => true,
        StatusTarget::Unknown => false,
    })
}

fn finding(
    facts: &Facts<'_>,
    it: &Prompted<'_>,
    known: &[&PromptStart],
    missing: &[&PromptStart],
) -> Diagnostic {
    let names = |starts: &[&PromptStart]| -> Vec<&str> {
        starts.iter().map(|it| facts.name(it.place.state)).collect()
    };
    let (known, states) = (names(known), names(missing));
    let message = format!(
        "`{}` has commands for agents that are started in {}, and none that leads on from {}",
        it.name,
        list(&known),
        list(&states)
    );
    let mut found = Diagnostic::new(&C86, it.prompt.name.span, message);
    for start in missing {
        let (span, words) = started(facts, it, start);
        found = found.label(span, words);
    }
    found.help(format!("add a part for `{}`, with the command that ends the agent's work there", states[0]))
}
