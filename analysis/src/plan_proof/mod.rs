//! Proofs about a step workflow: each property with its argument, or with a run that breaks it, and the figures.

mod asks;
mod bound;
mod figures;
mod properties;
#[cfg(test)]
mod tests;

pub use asks::Requirement;
pub use bound::PlanBound;
pub use figures::{Attempts, MissionEnd, PlanFigures};
pub use properties::{PROPERTIES, PROPERTIES_OF_ASKS};

use orange_codegen::diag::{Diagnostic, Trace};
use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::{Checked, Source, compile};
use orange_core::plan::{Execution, Intervene, Plan, Policy};

use crate::lint;
use crate::missions::{Failures, MissionConfigurationId, MissionSearch, SearchScope, has_longer_lists};
use crate::prove::{Judged, Proof, ProofVerdict};
use crate::search::SearchLimits;

/// Everything that is known of one step workflow.
pub type PlanProof = Proof<PlanFigures>;

/// One property of step workflows.
#[derive(Debug)]
pub struct PlanProperty {
    /// As programs name it: `ends-or-pauses`.
    pub name: &'static str,
    /// Claim in words.
    pub claim: &'static str,
    /// The codes of the lints that watch over it.
    watched_by: &'static [&'static str],
    /// A run that breaks it; absent where there is none.
    broken: fn(&PlanProofFacts<'_>) -> Option<Trace>,
    /// Argument for the claim, in one line.
    argument: fn(&PlanProofFacts<'_>) -> String,
    /// Part of the claim that holds although a search was cut.
    without_search: fn(&PlanProofFacts<'_>) -> Option<String>,
}

/// Assumptions of a proof of a plan.
pub const RESTS_ON: &[&str] = &[
    "Decisions are those of the engine's own core. Each step reports every result that a condition reads or that the step declares, \
     or fails; an agent that ends without a word is started again, and fails its step after `stuck_after` of these ends in a row.",
    "Each agent ends: by its report, by its death, or by the `timeout` of its step.",
    "A mission is retried, and a failed step is tried again, as often as a person wants. Attempts that follow from that are not counted.",
    "Steps that only read leave the worktree as it is; a mission whose reader has changed it pauses. Agents start, and branches land, at once.",
    "Prompts are not read. Not looked at: how long things take, and people who change the worktree.",
];

/// Facts from which the properties are decided.
struct PlanProofFacts<'k> {
    plan: &'k Plan<'k>,
    /// Every run without pauses.
    search: MissionSearch<'k>,
    /// Every run with a pause after each step.
    stepwise: MissionSearch<'k>,
    /// Every run without pauses and without persons, with agents that end without a word; absent of a plan without a cap.
    capped: Option<MissionSearch<'k>>,
    bound: PlanBound,
    figures: PlanFigures,
}

/// Proves what can be proved of a step workflow; `None` of a state machine workflow.
pub fn prove(checked: &Checked, source: &Source) -> Option<PlanProof> {
    let arena = PlanArena::default();
    let plan = lower_plan(checked, &arena)?;
    let found: Vec<Diagnostic> =
        compile(source).diagnostics.into_iter().chain(lint::findings(checked, source)).collect();
    Some(of(&plan, &found, &SearchLimits::default()))
}

/// For each requirement the answers after which its step starts, in words, or the reason for which it is not proved; `None` of a state
/// machine workflow.
pub fn required(checked: &Checked, requirements: &[Requirement]) -> Option<Vec<Result<String, String>>> {
    let arena = PlanArena::default();
    let plan = lower_plan(checked, &arena)?;
    let searches = searches(&plan, &SearchLimits::default());
    Some(requirements.iter().map(|it| asks::required(&plan, &searches, it)).collect())
}

/// Proves the same of a plan without its source. No finding of a lint says more about what is refuted.
pub fn of_plan(plan: &Plan<'_>) -> PlanProof {
    of(plan, &[], &SearchLimits::default())
}

/// Proves what can be proved of a plan, of which these findings are known, until somebody stops the searches.
pub(crate) fn of(plan: &Plan<'_>, found: &[Diagnostic], limits: &SearchLimits<'_>) -> PlanProof {
    let [search_all, stepwise] = searches(plan, limits);
    let capped = plan.max_attempts.map(|_| {
        let policy = Policy { execution: Execution::Auto, intervene: Intervene::Never };
        let scope = SearchScope { policy, failures: Failures::All, by_hand: false, losses: true };
        MissionSearch::within(plan, scope, limits)
    });
    let bound = PlanBound::of(plan);
    let figures = PlanFigures::of(plan, &search_all, &bound);
    let known = PlanProofFacts { plan, search: search_all, stepwise, capped, bound, figures };
    let judge = |property: &PlanProperty| Judged {
        name: property.name,
        claim: property.claim,
        verdict: judge(property, &known, found),
    };
    PlanProof {
        workflow: plan.name.to_owned(),
        properties: properties(plan).map(judge).collect(),
        figures: known.figures,
    }
}

/// Every run without pauses, and every run with a pause after each step.
fn searches<'k>(plan: &'k Plan<'k>, limits: &SearchLimits<'_>) -> [MissionSearch<'k>; 2] {
    let search = |execution, intervene| {
        let policy = Policy { execution, intervene };
        let scope = SearchScope { policy, failures: Failures::All, by_hand: true, losses: false };
        MissionSearch::within(plan, scope, limits)
    };
    [search(Execution::Auto, Intervene::Never), search(Execution::Step, Intervene::Always)]
}

/// The properties that a plan can have.
fn properties(plan: &Plan<'_>) -> impl Iterator<Item = &'static PlanProperty> {
    let of_asks = if plan.has_asks() { PROPERTIES_OF_ASKS } else { &[] };
    PROPERTIES.iter().chain(of_asks)
}

fn judge(property: &PlanProperty, known: &PlanProofFacts<'_>, found: &[Diagnostic]) -> ProofVerdict {
    let watching = found.iter().filter(|it| property.watched_by.contains(&it.code()));
    let findings: Vec<Diagnostic> = watching.cloned().collect();
    let trace = if findings.is_empty() { (property.broken)(known) } else { None };
    let cut = [&known.search, &known.stepwise].into_iter().find(|it| it.is_cut());
    match cut {
        _ if !findings.is_empty() || trace.is_some() => ProofVerdict::Refuted { findings, trace },
        Some(search) => {
            let count = search.configurations().count();
            let cut = match has_longer_lists(known.plan) {
                true => "it tries fewer items than the lists of this plan may have".to_owned(),
                false => format!("it found more than {count} configurations"),
            };
            let known = (property.without_search)(known).map_or(String::new(), |it| format!("; {it}"));
            ProofVerdict::Undecided { cut: cut + &known }
        }
        None => ProofVerdict::Proved { argument: (property.argument)(known) },
    }
}

/// For each configuration, whether runs come there in which no person runs a step once more.
fn unaided(search: &MissionSearch<'_>) -> Vec<bool> {
    let mut reached = vec![false; search.configurations().count()];
    let mut next = vec![Vec::new(); reached.len()];
    for edge in search.unaided_edges() {
        next[edge.from.index()].push(edge.to);
    }
    let mut open: Vec<MissionConfigurationId> = search.starts().collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut reached[id.index()], true) {
            open.extend(&next[id.index()]);
        }
    }
    reached
}
