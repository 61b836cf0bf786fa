//! C8B: a prompt tells its agent to take a transition with one verdict, and the transition's gate asks for the other.

use super::C8B;
use super::shared::{Instructions, all_instructions};
use crate::lint::Facts;
use crate::lint::prompt_facts::Command;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{SectionGate, StateId, Verdict};
use orange_codegen::span::Spanned;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    all_instructions(facts).filter_map(|by| in_instructions(facts, &by)).collect()
}

/// A command, the verdict for which the text gives it, and the one for which the gate asks.
struct Swapped<'f> {
    command: &'f Command,
    said: Verdict<'static>,
    wanted: &'f Spanned<String>,
}

/// Swapped verdicts are one fault, at however many commands it shows.
fn in_instructions(facts: &Facts<'_>, by: &Instructions<'_>) -> Option<Diagnostic> {
    let swapped: Vec<Swapped<'_>> =
        by.reading.targets().filter_map(|(command, to)| swapped(facts, by, command, to)).collect();
    let Swapped { command, said, wanted } = swapped.first()?;
    let (name, reader, said, to) = (by.name(facts), by.reader(facts), said.as_str(), &command.name);
    let wants = wanted.value.as_str();
    let message = format!("{name} sends {reader} to `{to}` with {said}, and the gate there asks for {wants}");
    let found = swapped.iter().fold(Diagnostic::new(&C8B, command.span, message), |found, it| {
        found
            .label(it.command.span, format!("the text gives this command for {}", it.said.as_str()))
            .label(it.wanted.span, format!("its gate asks for {}", it.wanted.value.as_str()))
    });
    Some(found.help("swap the verdicts in the text, or those of the gates and exit rules"))
}

fn swapped<'f>(
    facts: &Facts<'f>,
    by: &Instructions<'f>,
    command: &'f Command,
    to: StateId,
) -> Option<Swapped<'f>> {
    let said = command.verdict?;
    let gates = gates(facts, by, to)?;
    let wanted = gates.first()?.verdict.as_ref()?;
    let agrees = |gate: &&SectionGate| gate.wants(said.as_str());
    (!gates.iter().any(agrees)).then_some(Swapped { command, said, wanted })
}

/// The gates with a verdict of the transitions that the agent takes with this command, if each of these asks for one.
fn gates<'f>(facts: &Facts<'f>, by: &Instructions<'f>, to: StateId) -> Option<Vec<&'f SectionGate>> {
    let here = by.runs?.iter().filter(|it| it.may_request(facts.machine, to));
    let taken = here.flat_map(|it| facts.machine.between(it.state, to));
    let mut gates = Vec::new();
    for id in taken {
        let before = gates.len();
        gates.extend(facts.transition(id).section_gates().filter(|it| it.verdict.is_some()));
        if gates.len() == before {
            return None;
        }
    }
    Some(gates)
}
