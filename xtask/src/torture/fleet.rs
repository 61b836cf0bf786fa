//! The torture of a fleet, which is a program of its own: `tools/fleet/examples/torture`.

use std::process::ExitCode;

use crate::Result;
use crate::workspace::{OwnRepository, typed};

/// Builds the programs, and tortures a fleet of them for about this time.
pub(super) fn run(
    workspace: &OwnRepository,
    seed: u64,
    seconds: u64,
    store: Option<&str>,
) -> Result<ExitCode> {
    let fleet = ["--package", "orange-fleet", "--bin", "orange-fleet"];
    workspace.built(&[&["--example", "torture"], &fleet[..]].concat())?;
    let built = workspace.built(&["--package", "orange"])?;
    let mut torture = std::process::Command::new(built.join("examples/torture"));
    torture.args(["--seed", &seed.to_string(), "--seconds", &seconds.to_string(), "--fleet"]);
    torture.arg(built.join("orange-fleet")).arg("--orange").arg(built.join("orange"));
    torture.args(store.iter().flat_map(|it| ["--store", it]));
    println!("seed {seed}");
    let status = torture.status().map_err(|error| format!("`{}` cannot be run: {error}", typed(&torture)))?;
    match status.code() {
        Some(0) => Ok(ExitCode::SUCCESS),
        Some(1) => Ok(ExitCode::FAILURE),
        Some(_) | None => Err(format!("the torture has not come to an end, {status}")),
    }
}
