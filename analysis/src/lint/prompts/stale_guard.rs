//! C85: a prompt has its agent compare a counter, and shows the value that it had before it was counted up.

use orange_core::{CounterId, TransitionId};

use super::C85;
use crate::lint::Facts;
use crate::lint::counters::literal_equals_bound::{Literal, literals};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Hook, Prompt, PromptPiece, Value};
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let transitions = (0u32..).map(TransitionId).zip(facts.machine.transitions);
    transitions
        .flat_map(|(id, it)| (0..it.hooks.len()).filter_map(move |at| in_hook(facts, id, at)))
        .collect()
}

/// A hook that starts an agent with a prompt that compares a counter, before a later one counts it up.
fn in_hook(facts: &Facts<'_>, id: TransitionId, at: usize) -> Option<Diagnostic> {
    let hooks = facts.machine.transition(id).hooks;
    let prompt = &facts.workflow.prompts[usize::from(hooks[at].spawn()?.prompt.0)];
    let later = (at + 1..hooks.len()).filter_map(|at| Some((at, hooks[at].counter?)));
    let shown = |counter: &CounterId| prompt.pieces.contains(&PromptPiece::Value(Value::Counter(*counter)));
    later.filter(|(_, counter)| shown(counter)).find_map(|(count, counter)| {
        let compared = compared(facts, prompt, counter)?;
        let declared = &facts.transition(id).hooks;
        Some(finding(facts, (prompt, counter, compared), (declared.get(at)?, declared.get(count)?)))
    })
}

/// Place where the text compares the counter with a number: `round < 2`.
fn compared(facts: &Facts<'_>, prompt: &Prompt, counter: CounterId) -> Option<Span> {
    let compares = |it: &Literal<'_>| it.counter == counter && it.text.contains(['<', '>', '=', '≤', '≥']);
    literals(facts, prompt).into_iter().find(compares).map(|it| it.span)
}

fn finding(
    facts: &Facts<'_>,
    (prompt, counter, compared): (&Prompt, CounterId, Span),
    (spawn, count): (&Hook, &Hook),
) -> Diagnostic {
    let name = &facts.workflow.counters[usize::from(counter.0)].name;
    let message = format!(
        "`{}` has its agent compare `{name}`, and shows a value that is one too small: the engine refuses what the agent \
         then chooses",
        prompt.name.value
    );
    Diagnostic::new(&C85, compared, message)
        .label(facts.first_line(spawn.span), "1. the prompt gets the value of now")
        .label(facts.first_line(count.span), "2. counted up only afterwards")
        .label(compared, "3. compared with the old value; guards compare the new one")
        .help(format!("write `increment: {name}` on the hook that starts the agent, which counts before that, and delete the later one"))
}
