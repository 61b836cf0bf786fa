//! The step that compiles for macOS what needs no C compiler for it.

use std::path::Path;

use super::step::{CiStep, StepWork};
use crate::Result;
use crate::workspace::{OwnRepository, answer};

const TARGET: &str = "aarch64-apple-darwin";

/// Packages without C code. `orange-fleet` has some, and needs Apple's headers.
const PACKAGES: [&str; 7] = [
    "orange-system",
    "orange-engine",
    "orange",
    "orange-workflow",
    "orange-dashboard",
    "orange-mcp",
    "xtask",
];

/// Clippy for macOS, or the reason why it is skipped.
///
/// # Errors
/// The compiler does not say where its targets are.
pub(super) fn step(workspace: &OwnRepository) -> Result<CiStep> {
    const NAME: &str = "clippy for macOS";
    let folder = answer(workspace.program("rustc", ["--print", "target-libdir", "--target", TARGET]))?;
    if !Path::new(folder.trim()).is_dir() {
        let why = format!("{NAME}: `rustup target add {TARGET}` has not been run");
        return Ok(CiStep::new(NAME, StepWork::Skipped(why)));
    }
    let mut words = vec!["clippy", "--target", TARGET];
    words.extend(PACKAGES.iter().flat_map(|package| ["--package", package]));
    words.extend(["--", "-D", "warnings"]);
    Ok(CiStep::run(NAME, workspace.cargo(words)))
}
