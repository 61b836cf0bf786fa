//! Exit rules: what becomes of a task whose agent has died.

mod advance;
mod agent_in_wait;
mod auto_state_unmonitored;
mod cases;
mod coming_back;
mod dead_rule;
mod deciding;
mod exit_disagrees;
mod exit_gate_contradiction;
mod exit_gate_stronger;
mod exit_guard_mismatch;
mod exit_overlap;
mod exit_uncovered;
mod lives;
mod not_respawnable;
mod probe_gap;
mod rule_needs_live_session;
mod stale_artifact;
#[cfg(test)]
mod tests;
pub(super) mod text;
mod timeout_after_deadline;

use std::cell::OnceCell;

use self::cases::Cases;
use self::deciding::Deciding;
use self::lives::Lives;
use super::Facts;

super::group! {
    C41 "exit-gate-contradiction" Deny exit_gate_contradiction;
    C42 "exit-gate-stronger" Warn exit_gate_stronger;
    C43 "exit-guard-mismatch" Deny exit_guard_mismatch;
    C44 "exit-uncovered" Warn exit_uncovered;
    C45 "exit-overlap" Warn exit_overlap;
    C47 "auto-state-unmonitored" Warn auto_state_unmonitored;
    C48 "dead-rule" Info dead_rule;
    C49 "stale-artifact" Warn stale_artifact;
    C4A "not-respawnable" Warn not_respawnable;
    C4B "rule-needs-live-session" Warn rule_needs_live_session;
    C4C "probe-gap" Warn probe_gap;
    C4E "exit-disagrees" Warn exit_disagrees;
    C4F "agent-in-wait" Error agent_in_wait;
    C50 "timeout-after-deadline" Warn timeout_after_deadline;
}

/// Facts that several of these lints ask for, computed when the first one does.
#[derive(Debug, Default)]
pub struct ExitLintFacts {
    cases: OnceCell<Vec<Cases>>,
    deciding: OnceCell<Deciding>,
    lives: OnceCell<Lives>,
}

impl Facts<'_> {
    /// By state that has exit rules: what can stand in its artifacts, and what the rules then say.
    fn exit_cases(&self) -> &[Cases] {
        self.exits.cases.get_or_init(|| cases::of(self))
    }

    /// Lookup of the exit rule that decided in a step.
    fn deciding(&self) -> &Deciding {
        self.exits.deciding.get_or_init(|| Deciding::of(self))
    }

    /// Places where agents are alive, and where they end.
    fn lives(&self) -> &Lives {
        self.exits.lives.get_or_init(|| Lives::of(self))
    }

    /// Cases of the states in which some agent can end; rules of others are never asked.
    pub(crate) fn asked_cases(&self) -> impl Iterator<Item = &Cases> {
        let is_known = self.search.cut().is_none();
        self.exit_cases().iter().filter(move |it| !is_known || self.lives().ends(it.state).is_some())
    }
}
