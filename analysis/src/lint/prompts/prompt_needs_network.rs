//! C8D: a prompt calls a program that needs the network, and its agents reach the host of their model at most.

use orange_core::wall::{Demand, Level, Network};

use super::C8D;
use super::shared::prompts;
use crate::lint::prompt_facts::network_calls;
use crate::lint::steps::{each, prompt_text};
use crate::lint::{Facts, StepFacts};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let in_prompt = |it: super::shared::Prompted<'_>| {
        let closed = facts.machine.starts_with(it.id).find_map(|spawn| closed(spawn.sandbox))?;
        let call = network_calls(&it.prompt.text.value).next()?;
        let at = it.prompt.text.locate(call.start, call.end);
        let written = &it.prompt.text.value[call];
        let message = format!("`{}` calls `{written}`, and {}", it.name, reach(closed));
        let mut found = Diagnostic::new(&C8D, at, message);
        let demands = facts.workflow.sandboxes();
        if let Some(demand) = demands.into_iter().find(|it| it.demand.network == Some(closed)) {
            found = found.label(at, "called here").label(demand.span, "demanded here");
        }
        Some(found.help(HELP))
    };
    prompts(facts).filter_map(in_prompt).collect()
}

/// The prompts of steps.
pub(super) fn find_in_steps(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(_, step)| {
        let closed = closed(step.demand)?;
        let text = prompt_text(&step.prompt);
        let call = network_calls(&text).next()?;
        let message =
            format!("the prompt of `{}` calls `{}`, and {}", step.id.value, &text[call], reach(closed));
        Some(Diagnostic::new(&C8D, step.prompt.span, message).help(HELP))
    })
}

const HELP: &str =
    "leave it to a hook, to a program outside or to a person; or demand no less than `network: listed`";

/// The network of a walled agent that opens no host but that of its model.
fn closed(demand: Demand) -> Option<Network> {
    let network = demand.network.filter(|_| demand.level == Level::Wall)?;
    match network {
        Network::None | Network::Model => Some(network),
        Network::Listed | Network::Open => None,
    }
}

fn reach(network: Network) -> &'static str {
    match network {
        Network::None => "its agents have no network",
        Network::Model | Network::Listed | Network::Open => "its agents reach the hosts of their model alone",
    }
}
