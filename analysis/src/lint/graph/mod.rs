//! The graph of states: what is reachable, what ends, what bounds a loop.

mod actor_unused;
mod closed;
mod dead_end;
mod dead_transition;
mod entry_missing;
mod gate_bypass;
mod near_duplicate_section;
mod near_duplicate_state;
mod no_cancel;
mod no_path_to_terminal;
mod no_terminal;
mod one_way_human_gate;
mod reasons;
mod reviewers_disagree;
#[cfg(test)]
mod tests;
mod unbounded_auto_loop;
mod unreachable_state;
mod unused_gate;
mod well_known_missing;

use crate::lint::Facts;

super::group! {
    C01 "unreachable-state" Warn unreachable_state;
    C02 "dead-end" Deny dead_end;
    C03 "no-path-to-terminal" Deny no_path_to_terminal;
    C04 "no-terminal" Deny no_terminal;
    C05 "unbounded-auto-loop" Warn unbounded_auto_loop;
    C06 "dead-transition" Warn dead_transition;
    C07 "entry-missing" Warn entry_missing;
    C08 "well-known-missing" Warn well_known_missing;
    C09 "no-cancel" Warn no_cancel;
    C10 "one-way-human-gate" Info one_way_human_gate;
    C11 "near-duplicate-state" Warn near_duplicate_state;
    C12 "gate-bypass" Warn gate_bypass;
    C13 "unused-gate" Warn unused_gate;
    C14 "actor-unused" Warn actor_unused;
    C15 "near-duplicate-section" Warn near_duplicate_section;
    C16 "reviewers-disagree" Warn reviewers_disagree;
}

/// The state that a task is most easily ended in; `None` where no state is terminal.
fn an_end<'f>(facts: &Facts<'f>) -> Option<&'f str> {
    let usual = facts.workflow.commands.cancel.map(|id| facts.state(id)).filter(|it| it.terminal);
    let end = usual.or_else(|| facts.workflow.states.iter().find(|it| it.terminal))?;
    Some(&end.name.value)
}
