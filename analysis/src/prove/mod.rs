//! Proofs about a workflow: each property with its argument, or with a run that breaks it, and the figures.
//!
//! A property is decided on the same search as the lints, by the same predicates; the findings of the lints that watch
//! over it say what to do where it is refuted.

mod bounds;
mod figures;
mod properties;
mod spending;
#[cfg(test)]
mod tests;

pub use bounds::LoopBound;
pub use figures::{CountedRun, Figures, WatchRounds};
pub use properties::PROPERTIES;
pub use spending::WorstCase;

use std::cell::OnceCell;

use crate::lint::authority::demands_wall;
use crate::lint::unattended::Unattended;
use crate::lint::{self, Facts};
use crate::search::SearchLimits;
use orange_codegen::diag::{Diagnostic, Trace};
use orange_codegen::{Checked, Source, compile};

/// Everything that is known of one workflow, with the figures of its kind.
#[derive(Clone, Debug)]
pub struct Proof<F = Figures> {
    /// The workflow's name.
    pub workflow: String,
    /// Every property of its kind, in the order of the table.
    pub properties: Vec<Judged>,
    /// Size of the workflow, and how far it goes by itself.
    pub figures: F,
}

/// One property of workflows.
#[derive(Debug)]
pub struct Property {
    /// As programs name it: `ends-reachable`.
    pub name: &'static str,
    /// Claim in words: "an end can be reached from everywhere".
    pub claim: &'static str,
    /// The codes of the lints that watch over it.
    watched_by: &'static [&'static str],
    /// A run that breaks it; absent where there is none.
    broken: fn(&ProofFacts<'_, '_>) -> Option<Trace>,
    /// Fact on which it depends and that the workflow does not state, if there is one.
    unknown: fn(&ProofFacts<'_, '_>) -> Option<String>,
    /// Argument for the claim, in one line.
    argument: fn(&ProofFacts<'_, '_>) -> String,
}

/// A property and what was found of it.
#[derive(Clone, Debug)]
pub struct Judged {
    pub name: &'static str,
    /// Claim in words.
    pub claim: &'static str,
    pub verdict: ProofVerdict,
}

/// Result of the proof of a property.
#[derive(Clone, Debug)]
pub enum ProofVerdict {
    /// It holds, whatever happens.
    Proved {
        /// Argument for the claim, in one line.
        argument: String,
    },
    /// It does not hold.
    Refuted {
        /// Findings of the lints about it.
        findings: Vec<Diagnostic>,
        /// The shortest run that breaks it, where no finding has one.
        trace: Option<Trace>,
    },
    /// Nothing that breaks it was found, and it is not proved either.
    Undecided {
        /// The bound that cut the search, or what the workflow does not say.
        cut: String,
    },
}

/// Assumptions of a proof: what the search takes to be so, and what it leaves out.
pub const RESTS_ON: &[&str] = &[
    "Decisions are those of the engine's own core. They are asked of an abstract task: its state, the counters that \
     guards compare, the sections that gates read, its agents, its worktree.",
    "An agent may end at any moment, and may have written anything before, or nothing. As long as it is alive it may \
     ask for whatever `by:` allows it, without a person and whatever the exit rules of its state are, and so may a person.",
    "A fact that the workflow watches may hold at any moment, whatever agents do.",
    "A counter is followed up to one above the largest number that a guard compares it with: no guard can tell larger \
     values apart.",
    "What stands in a section and lets no gate open any more is as good as nothing. Reviewers of which the workflow tells only names and \
     prompts apart are exchanged: a configuration stands for all that differ in which of them is which.",
    "Hooks do what they are for. What becomes of a task when tmux, git or a disk fails is the engine's matter, and so \
     is a pool without a free worktree.",
    "A verdict is read alike by strict gates and by others, where it stands in a line `Verdict: …`: nobody writes one for the ones and \
     another for the others.",
    "Prompts are not read. The checks of prompts are heuristics, and no proof rests on them.",
    "What a wall keeps from an agent is kept from it: where the workflow demands walls of all agents, `by:`, gates and counters hold for \
     agents that cheat, too, and elsewhere for agents that are honest. Agents of other tasks without a wall are not looked at.",
    "Not looked at: how long things take, limits of an agent's provider, `orange task restart` in a state without a `respawn_prompt`, and \
     people who change the frontmatter, a session or a worktree by hand, or merge by force.",
];

/// Facts from which the properties are decided.
struct ProofFacts<'k, 'f> {
    facts: &'k Facts<'f>,
    unattended: &'k Unattended<'k>,
    bounds: OnceCell<Vec<LoopBound>>,
}

impl<'k, 'f> ProofFacts<'k, 'f> {
    fn new(facts: &'k Facts<'f>, unattended: &'k Unattended<'k>) -> Self {
        Self { facts, unattended, bounds: OnceCell::new() }
    }

    /// True if a property means something here: what walls prevent is claimed of workflows that demand them.
    fn is_claimed(&self, property: &Property) -> bool {
        property.name != properties::NO_FORGED_END || demands_wall(self.facts)
    }

    /// The bounds of the transitions in loops, computed when the first one asks.
    fn bounds(&self) -> &[LoopBound] {
        self.bounds.get_or_init(|| bounds::of(self))
    }
}

/// Proves what can be proved of a checked workflow. A finding that a comment allows counts all the same.
///
/// # Errors
/// What is sound and still has no tables: a step workflow, and guards beyond a limit.
pub fn prove(checked: &Checked, source: &Source) -> Result<Proof, Vec<Diagnostic>> {
    let of_checks = compile(source).diagnostics;
    lint::with_facts(checked, source, |facts| {
        let found: Vec<Diagnostic> = of_checks.into_iter().chain(lint::all(facts)).collect();
        of(facts, &found, &SearchLimits::default())
    })
}

/// Proves what can be proved from facts that are known, and from all findings about them. After somebody stops it, properties are
/// missing.
pub fn of(facts: &Facts<'_>, found: &[Diagnostic], limits: &SearchLimits<'_>) -> Proof {
    let unattended = Unattended::of(facts);
    let known = ProofFacts::new(facts, &unattended);
    let properties = PROPERTIES.iter().filter(|it| known.is_claimed(it)).take_while(|_| !limits.is_stopped());
    Proof {
        workflow: facts.workflow.name.value.clone(),
        properties: properties.map(|property| judged(property, &known, found)).collect(),
        figures: Figures::of(&known),
    }
}

/// Proves one property of a checked workflow, or refutes it, after a search within these limits. No lint runs but those that watch
/// over it.
///
/// # Errors
/// As those of [`prove`].
pub fn prove_one(
    property: &Property,
    checked: &Checked,
    source: &Source,
    limits: &SearchLimits<'_>,
) -> Result<Judged, Vec<Diagnostic>> {
    let of_checks = compile(source).diagnostics;
    lint::with_facts_within(checked, source, limits, |facts| {
        let watching = lint::of_codes(facts, property.watched_by);
        let found: Vec<Diagnostic> = of_checks.into_iter().chain(watching).collect();
        let unattended = Unattended::of(facts);
        judged(property, &ProofFacts::new(facts, &unattended), &found)
    })
}

fn judged(property: &Property, known: &ProofFacts<'_, '_>, found: &[Diagnostic]) -> Judged {
    Judged { name: property.name, claim: property.claim, verdict: judge(property, known, found) }
}

fn judge(property: &Property, known: &ProofFacts<'_, '_>, found: &[Diagnostic]) -> ProofVerdict {
    let watching = found.iter().filter(|it| property.watched_by.contains(&it.code()));
    let findings: Vec<Diagnostic> = watching.cloned().collect();
    let trace = if findings.is_empty() { (property.broken)(known) } else { None };
    let cut = known.facts.search.cut().map(|cut| format!("the search was cut, {cut}"));
    match cut.or_else(|| (property.unknown)(known)) {
        _ if !findings.is_empty() || trace.is_some() => ProofVerdict::Refuted { findings, trace },
        Some(cut) => ProofVerdict::Undecided { cut },
        None => ProofVerdict::Proved { argument: (property.argument)(known) },
    }
}
