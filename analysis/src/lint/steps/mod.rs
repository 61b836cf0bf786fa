//! Step workflows: what a mission can do, and what its agents read.

mod absent_value;
mod ask_holds;
mod ask_waits;
mod branch_not_exhaustive;
mod branch_overlap;
mod cap_cuts;
mod cap_too_low;
mod condition_constant;
mod condition_value_unknown;
mod context_misuse;
mod dead_step;
mod disconnected;
mod duplicate_role_parallel;
mod exhaustion_silent;
mod facts;
mod fail_unread;
mod gate_without_timeout;
mod input_unused;
mod item_unused;
mod items_in_line;
mod lost_branch;
mod orders;
mod reader_writes;
mod redundant_dep;
mod runs_after_skip;
mod same_prompt_two_jobs;
mod silence_approves;
#[cfg(test)]
mod tests;
mod unknown_command;
mod unordered_writers;
mod unreviewed_fix;

pub use facts::StepFacts;
pub(super) use facts::{each, prompt_text};

use crate::search::SearchLimits;
use orange_codegen::catalogue::A10;
use orange_codegen::diag::Diagnostic;

super::group! {
    Steps:
    B08 "condition-value-unknown" Warn condition_value_unknown;
    B09 "branch-not-exhaustive" Deny branch_not_exhaustive;
    B10 "branch-overlap" Warn branch_overlap;
    B11 "dead-step" Deny dead_step;
    B12 "runs-after-skip" Warn runs_after_skip;
    B14 "lost-branch" Warn lost_branch;
    B15 "exhaustion-silent" Warn exhaustion_silent;
    B17 "duplicate-role-parallel" Warn duplicate_role_parallel;
    B20 "context-misuse" Warn context_misuse;
    B21 "unordered-writers" Warn unordered_writers;
    B22 "redundant-dep" Info redundant_dep;
    B24 "same-prompt-two-jobs" Info same_prompt_two_jobs;
    B25 "disconnected" Warn disconnected;
    B28 "unknown-command-of-step" Warn unknown_command;
    B29 "unreviewed-fix" Warn unreviewed_fix;
    B30 "absent-value" Warn absent_value;
    B31 "fail-unread" Warn fail_unread;
    B34 "items-in-line" Warn items_in_line;
    B35 "reader-writes" Warn reader_writes;
    B36 "ask-waits" Allow ask_waits;
    B37 "ask-holds" Info ask_holds;
    B38 "silence-approves" Warn silence_approves;
    B39 "cap-too-low" Deny cap_too_low;
    B3A "cap-cuts" Info cap_cuts;
    B42 "input-unused" Warn input_unused;
    B43 "item-unused" Warn item_unused;
    B45 "gate-without-timeout" Warn gate_without_timeout;
    B48 "condition-constant" Warn condition_constant;
}

/// Findings of every lint of step workflows, and one more if the search was cut.
pub fn all(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    all_within(facts, &SearchLimits::default())
}

/// Findings of the lints of step workflows that run before somebody stops them.
pub(crate) fn all_within(facts: &StepFacts<'_>, limits: &SearchLimits<'_>) -> Vec<Diagnostic> {
    let finds = super::lints().filter_map(|lint| lint.find.in_steps()).take_while(|_| !limits.is_stopped());
    let cut = facts.search.is_cut().then(|| {
        let message = "some runs of these steps were not looked at: there are too many";
        let help =
            "what is found holds; give steps fewer results that conditions read, or split the workflow";
        Diagnostic::new(&A10, facts.steps.name.span, message).help(help)
    });
    finds.flat_map(|find| find(facts)).chain(cut).collect()
}
