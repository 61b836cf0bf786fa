//! C28: a counter that no guard, no prompt and no window reads.

use std::collections::BTreeSet;

use super::C28;
use super::shared::{counts, guards, is_reviewer};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{CRASH_COUNT, Counter, CounterId, PromptPiece, REVIEW_ROUND, Value};
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let read = read(facts);
    let counters = (0u16..).map(CounterId).zip(&facts.workflow.counters);
    counters
        .filter(|(id, _)| *id != CRASH_COUNT && !read.contains(id))
        .filter_map(|(id, counter)| finding(counter, first_count(facts, id)))
        .collect()
}

fn read(facts: &Facts<'_>) -> BTreeSet<CounterId> {
    let guards = guards(facts);
    let compared = guards.iter().flat_map(|it| it.guard.expr.comparisons()).map(|it| it.counter);
    let prompts = facts.workflow.prompts.iter().flat_map(|it| &it.pieces);
    let shown = prompts.filter_map(|piece| match piece {
        PromptPiece::Value(Value::Counter(counter)) => Some(*counter),
        PromptPiece::Value(
            Value::Summary
            | Value::Project
            | Value::Branch
            | Value::Status
            | Value::Id
            | Value::Workflow
            | Value::Base
            | Value::Orange
            | Value::Reviewer
            | Value::Port,
        )
        | PromptPiece::Text(_) => None,
    });
    let hooks = || facts.workflow.transitions.iter().flat_map(|it| &it.hooks);
    let named = hooks().filter_map(|hook| hook.spawn.as_ref()).any(is_reviewer).then_some(REVIEW_ROUND);
    compared.chain(shown).chain(named).collect()
}

fn first_count(facts: &Facts<'_>, counter: CounterId) -> Option<Span> {
    let hooks = facts.workflow.transitions.iter().flat_map(|it| &it.hooks);
    hooks.filter_map(counts).find(|it| it.value == counter).map(|it| it.span)
}

fn finding(counter: &Counter, counted: Option<Span>) -> Option<Diagnostic> {
    let name = &counter.name;
    Some(match (counter.declared, counted) {
        (declared, Some(counted)) => {
            let found = Diagnostic::new(&C28, counted, format!("`{name}` is changed, but nothing reads it"));
            let found = match declared {
                Some(declared) => found.label(declared, "declared"),
                None => found,
            };
            found
                .label(counted, "counted, and no guard, prompt or window reads it")
                .help(format!("delete it, or compare it: `when: \"{name} < 3\"`"))
        }
        (Some(declared), None) => {
            Diagnostic::new(&C28, declared, format!("`{name}` is declared and used nowhere"))
                .label(declared, "no hook counts it, and no guard or prompt reads it")
                .help("delete it")
        }
        (None, None) => return None,
    })
}
