//! Static analysis of a workflow, before it runs: lints, proofs, walks, scenarios and comparisons.
//!
//! Everything here looks at what [`orange_codegen`] has compiled. Nothing in the compiler knows of it.

pub mod catalogue;
pub mod evolution;
pub mod insight;
pub mod lint;
pub mod missions;
pub mod place;
pub mod plan_proof;
pub mod plan_scenario;
pub mod plan_walk;
pub mod prove;
pub mod scenario;
mod scenario_file;
pub mod search;
pub mod step_changes;
pub mod walk;

use crate::search::SearchLimits;
use orange_codegen::diag;
use orange_codegen::source::Source;
use orange_codegen::{Checked, Compilation, Diagnostic, Suppressions, compile};

/// Compiles one source and, when nothing in it is an error, asks every lint. One fault is one finding.
pub fn lint(source: &Source) -> Compilation {
    lint_within(source, &SearchLimits::default())
}

/// The findings of the compiler as those of [`lint()`] are: one for each fault. Where the source has an error, they are all that it finds.
pub fn compiled(mut compilation: Compilation) -> Compilation {
    let mut found = std::mem::take(&mut compilation.diagnostics);
    if compilation.checked.is_none() {
        found.extend(compilation.suppressions.faults(catalogue::all(), false));
    }
    compilation.diagnostics = one_for_each_fault(compilation.checked.as_ref(), found);
    compilation
}

/// Compiles one source and asks every lint after a search within these limits.
pub fn lint_within(source: &Source, limits: &SearchLimits<'_>) -> Compilation {
    let mut compilation = every_finding_within(source, limits);
    let found = std::mem::take(&mut compilation.diagnostics);
    compilation.diagnostics = one_for_each_fault(compilation.checked.as_ref(), found);
    compilation
}

/// Compiles one source, and gives every finding of every check, also those that follow from others.
pub fn every_finding(source: &Source) -> Compilation {
    every_finding_within(source, &SearchLimits::default())
}

fn every_finding_within(source: &Source, limits: &SearchLimits<'_>) -> Compilation {
    let mut compilation = compile(source);
    let of_lints = |it| lint::findings_within(it, source, limits);
    let found = compilation.checked.as_ref().map(of_lints).unwrap_or_default();
    let Compilation { diagnostics, suppressions, checked, .. } = &mut compilation;
    add(diagnostics, found, suppressions, checked.is_some());
    compilation
}

/// Adds what the lints have found to what the compiler has found, except for what a comment allows.
fn add(to: &mut Vec<Diagnostic>, mut found: Vec<Diagnostic>, allowed: &mut Suppressions, is_checked: bool) {
    allowed.apply(&mut found);
    found.extend(allowed.faults(catalogue::all(), is_checked));
    to.extend(found);
    diag::sort(to);
}

fn one_for_each_fault(checked: Option<&Checked>, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut causes = lint::causes::only_causes(checked, found);
    diag::sort(&mut causes);
    causes
}
