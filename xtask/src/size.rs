//! `cargo xtask size`: prints the sizes of the binary with and without custom workflows beside their budgets.

use std::path::Path;
use std::process::ExitCode;

use crate::binary::kibibytes;
use crate::workspace::OwnRepository;
use crate::{Result, build_workflow};

/// A released binary, and its budget.
pub(crate) struct Variant {
    /// Its name in tables.
    pub(crate) what: &'static str,
    /// True if it has the compiler of custom workflows.
    pub(crate) custom: bool,
    /// Limit in bytes.
    pub(crate) budget: u64,
}

/// The size that no binary may exceed.
const BUDGET: u64 = 5 * 1024 * 1024;

/// Both of them.
pub(crate) const VARIANTS: [Variant; 2] = [
    Variant { what: "orange, without custom workflows", custom: false, budget: BUDGET },
    Variant { what: "orange", custom: true, budget: BUDGET },
];

/// Builds both and compares; fails if one exceeds its budget. It also prints the size of a minimal program.
pub(crate) fn run(workspace: &OwnRepository) -> Result<ExitCode> {
    let scratch =
        tempfile::tempdir().map_err(|error| format!("there is no room for scratch files: {error}"))?;
    let bare = size_of(&build_workflow::build_bare(workspace, scratch.path())?)?;
    let mut sizes = Vec::new();
    for variant in &VARIANTS {
        let built = build_workflow::build(workspace, &workspace.root.join("workflows"), variant.custom)?;
        sizes.push((variant, size_of(&built)?));
    }
    let (lines, is_over) = compared(bare, &sizes);
    print!("\n{lines}");
    Ok(if is_over { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The sizes beside their budgets, and whether one exceeds its budget.
fn compared(bare: u64, sizes: &[(&Variant, u64)]) -> (String, bool) {
    let mut lines = format!("{:32}  {:>9}\n", "a program that prints one line", kibibytes(bare));
    lines.extend(sizes.iter().map(|(variant, size)| line(variant, *size)));
    (lines, sizes.iter().any(|(variant, size)| *size > variant.budget))
}

/// The size of a file.
pub(crate) fn size_of(binary: &Path) -> Result<u64> {
    let metadata = std::fs::metadata(binary);
    metadata.map(|file| file.len()).map_err(|error| format!("{} is not there: {error}", binary.display()))
}

fn line(variant: &Variant, size: u64) -> String {
    let word = if size > variant.budget { "OVER" } else { "within" };
    format!("{:32}  {:>9}  {word} {}\n", variant.what, kibibytes(size), kibibytes(variant.budget))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_is_not_kept_shows() {
        let variant = Variant { what: "orange", custom: true, budget: 2048 };
        assert_eq!(line(&variant, 2048), "orange                                2 KiB  within 2 KiB\n");
        assert_eq!(line(&variant, 2049), "orange                                3 KiB  OVER 2 KiB\n");
    }

    #[test]
    fn one_size_above_its_budget_fails() {
        let [small, whole] = &VARIANTS;
        let most = 5 * 1024 * 1024;
        let is_over = |of_small, of_whole| compared(300_000, &[(small, of_small), (whole, of_whole)]).1;
        assert!(!is_over(most, most));
        assert!(is_over(most, most + 1) && is_over(most + 1, most));
    }
}
