//! Static analysis of a workflow, before it runs: lints, proofs, walks, scenarios and comparisons.
//!
//! Everything here looks at what [`orange_codegen`] has compiled. Nothing in the compiler knows of it.

pub mod catalogue;
pub mod evolution;
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

use orange_codegen::diag;
use orange_codegen::source::Source;
use orange_codegen::{Compilation, compile};

/// Compiles one source and, when nothing in it is an error, asks every lint. One fault is one finding.
pub fn lint(source: &Source) -> Compilation {
    let mut compilation = every_finding(source);
    let found = &mut compilation.diagnostics;
    *found = lint::causes::only_causes(compilation.checked.as_ref(), std::mem::take(found));
    diag::sort(found);
    compilation
}

/// Compiles one source, and gives every finding of every check, also those that follow from others.
pub fn every_finding(source: &Source) -> Compilation {
    let mut compilation = compile(source);
    let mut found = compilation.checked.as_ref().map(|it| lint::findings(it, source)).unwrap_or_default();
    compilation.suppressions.apply(&mut found);
    found.extend(compilation.suppressions.faults(catalogue::all(), compilation.checked.is_some()));
    compilation.diagnostics.extend(found);
    diag::sort(&mut compilation.diagnostics);
    compilation
}
