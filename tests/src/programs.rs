//! The programs of this build, which tests run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with which `cargo xtask ci` says that it has built every program: no test builds one again then.
const ARE_BUILT: &str = "ORANGE_PROGRAMS_ARE_BUILT";

/// The folder in which cargo puts the programs of this build. A test's own program lies in its folder `deps`.
pub fn folder() -> PathBuf {
    let own = env::current_exe().unwrap_or_default();
    own.ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default()
}

/// The folder that cargo builds in.
pub fn target_folder() -> PathBuf {
    folder().parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Builds programs, as these arguments of `cargo build` name them, in the profile of this build. Gives their folder.
///
/// # Panics
///
/// If they do not compile.
pub fn built(what: &[&str]) -> PathBuf {
    let folder = folder();
    if env::var_os(ARE_BUILT).is_none() {
        build(what, &folder);
    }
    folder
}

fn build(what: &[&str], folder: &Path) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet"]).args(what).arg("--target-dir").arg(target_folder());
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().is_ok_and(|status| status.success()), "{what:?} cannot be built");
}
