//! C86: a prompt goes by the status, and says nothing for a state in which an agent is started with it.

use std::collections::BTreeMap;

use super::C86;
use super::shared::{Prompted, list, names, prompts, started};
use crate::lint::Facts;
use crate::lint::prompt_facts::Start;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::StateId;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    prompts(facts).filter_map(|it| in_prompt(facts, &it)).collect()
}

fn in_prompt(facts: &Facts<'_>, it: &Prompted<'_>) -> Option<Diagnostic> {
    let reading = it.reading;
    let for_all = reading.told_commands().any(|(it, _)| it.only_in.is_empty());
    if reading.branches.is_empty() || reading.otherwise || for_all {
        return None;
    }
    let starts: BTreeMap<StateId, &Start> = it.starts.iter().rev().map(|it| (it.place.state, it)).collect();
    let missing: Vec<&Start> =
        starts.into_iter().filter(|(state, _)| !reading.branches.contains(state)).map(|(_, it)| it).collect();
    (!missing.is_empty()).then(|| finding(facts, it, &missing))
}

fn finding(facts: &Facts<'_>, it: &Prompted<'_>, missing: &[&Start]) -> Diagnostic {
    let states: Vec<&str> = missing.iter().map(|it| facts.name(it.place.state)).collect();
    let known = names(facts, it.reading.branches.iter().copied());
    let name = it.name;
    let message = format!(
        "`{name}` says what to do in {} and nothing for {}, where agents are started with it, too",
        list(&known),
        list(&states)
    );
    let mut found =
        Diagnostic::new(&C86, it.prompt.name.span, message).label(it.prompt.name.span, "goes by the status");
    for start in missing {
        let (span, words) = started(facts, it, start);
        found = found.label(span, words);
    }
    found.help(format!(
        "add a part that begins with `If status is {}:`, or one for every other status",
        states[0]
    ))
}
