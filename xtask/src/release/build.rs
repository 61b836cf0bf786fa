//! The build of a program of a release: the same sources give the same bytes in any folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::target::{BuildTools, ReleaseTarget};
use xtask_build::binary::is_static;
use xtask_build::target::{AtPanic, has_folding_linker, is_installed, static_flags};

use crate::Result;
use crate::workspace::{OwnRepository, answer, typed};

/// The oldest macOS on which the programs run.
const OLDEST_MAC: &str = "11.0";

/// Programs that are built for speed; all others are built to be small.
const FAST: [&str; 2] = ["orange-fleet", "orange-workflow"];

/// Programs with code in C, which zig links.
const WITH_C: [&str; 1] = ["orange-fleet"];

/// The tools of this machine for a target.
pub(super) fn tools(target: ReleaseTarget) -> BuildTools {
    BuildTools {
        is_mac: cfg!(target_os = "macos"),
        has_zigbuild: is_there("cargo-zigbuild"),
        has_library: is_installed(target.triple()),
    }
}

/// The time of the last commit, in seconds since 1970; `SOURCE_DATE_EPOCH` has precedence.
pub(super) fn time(workspace: &OwnRepository) -> Result<u64> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(set) => set,
        Err(_) => answer(workspace.program("git", ["log", "-1", "--format=%ct"]))?,
    };
    text.trim()
        .parse()
        .map_err(|_| format!("`{}` is not a number of seconds: set SOURCE_DATE_EPOCH to one", text.trim()))
}

/// Builds a program for a target, and gives its path. With `cargo-auditable`, the program has the list of its dependencies in it.
pub(super) fn program(
    workspace: &OwnRepository,
    target: ReleaseTarget,
    name: &str,
    time: u64,
) -> Result<PathBuf> {
    let profile = if FAST.contains(&name) { "tools" } else { "dist" };
    let triple = target.triple();
    let mut words = vec![if target.is_static() { "zigbuild" } else { "build" }];
    if is_there("cargo-auditable") {
        words.insert(0, "auditable");
    } else {
        println!("cargo-auditable is not installed: {name} has no list of its dependencies in it");
    }
    words.extend(["--locked", "--package", name, "--profile", profile, "--target", triple]);
    let mut build = workspace.cargo(words);
    let is_folded = !WITH_C.contains(&name) && has_folding_linker()?;
    // The language server survives a panic of a check.
    let at_panic = if name == "orange-workflow" { AtPanic::Unwind } else { AtPanic::Abort };
    let flags = flags(target, &Folders::of(workspace)?, is_folded, at_panic);
    build.args(["--config", &format!("target.{triple}.rustflags={flags:?}")]);
    if at_panic == AtPanic::Unwind {
        build.args(["--config", "profile.tools.panic=\"unwind\""]);
    }
    build.env("ORANGE_WORKFLOWS", workspace.root.join("workflows"));
    build.env("SOURCE_DATE_EPOCH", time.to_string()).env("CARGO_INCREMENTAL", "0");
    if !target.is_static() {
        build.env("MACOSX_DEPLOYMENT_TARGET", OLDEST_MAC);
    }
    println!("{}", typed(&build));
    let status = build.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("`{}` failed, {status}", typed(&build)));
    }
    let built = workspace.target_folder()?.join(triple).join(profile).join(name);
    if target.is_static() && is_static(&super::read(&built)?) != Some(true) {
        return Err(format!("{} is not static, and runs on few systems", built.display()));
    }
    Ok(built)
}

/// Folders of this machine that must not show in a program.
struct Folders {
    sources: PathBuf,
    registry: PathBuf,
    builds: PathBuf,
    /// The sources of the standard library, if they are installed, and their name where they are not.
    library: (PathBuf, String),
}

impl Folders {
    fn of(workspace: &OwnRepository) -> Result<Folders> {
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = || std::env::home_dir().map(|home| home.join(".cargo"));
        let registry =
            cargo_home.or_else(home).ok_or("there is no CARGO_HOME and no HOME: set one of them")?;
        let root = answer(workspace.program("rustc", ["--print", "sysroot"]))?;
        let version = answer(workspace.program("rustc", ["-vV"]))?;
        let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or_default();
        let library = (Path::new(root.trim()).join("lib/rustlib/src/rust"), format!("/rustc/{commit}"));
        let builds = workspace.target_folder()?;
        Ok(Folders { sources: workspace.root.clone(), registry, builds, library })
    }
}

/// The compiler's flags.
fn flags(target: ReleaseTarget, folders: &Folders, is_folded: bool, at_panic: AtPanic) -> Vec<String> {
    let mut flags = vec![
        // Of several folders that hold a file, the last one counts.
        renamed(&folders.sources, "/orange"),
        renamed(&folders.builds, "/target"),
        renamed(&folders.registry, "/cargo"),
        renamed(&folders.library.0, &folders.library.1),
    ];
    if target.is_static() {
        flags.extend(static_flags(is_folded, at_panic).into_iter().map(str::to_owned));
    }
    flags
}

fn renamed(folder: &Path, name: &str) -> String {
    format!("--remap-path-prefix={}={name}", folder.display())
}

/// True if a program of this name can be run.
fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version");
    answer(command).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_of_this_machine_shows_in_a_program() {
        let folders = Folders {
            sources: "/home/me/orange".into(),
            registry: "/home/me/.cargo".into(),
            builds: "/home/me/orange/target".into(),
            library: ("/sys/lib/rustlib/src/rust".into(), "/rustc/abc".to_owned()),
        };
        let renames = [
            "--remap-path-prefix=/home/me/orange=/orange",
            "--remap-path-prefix=/home/me/orange/target=/target",
            "--remap-path-prefix=/home/me/.cargo=/cargo",
            "--remap-path-prefix=/sys/lib/rustlib/src/rust=/rustc/abc",
        ];
        let flags = |target| flags(target, &folders, true, AtPanic::Abort);
        assert_eq!(flags(ReleaseTarget::MacArm), renames);
        assert_eq!(flags(ReleaseTarget::LinuxArm)[..4], renames);
        assert_eq!(flags(ReleaseTarget::LinuxArm)[4..], static_flags(true, AtPanic::Abort));
    }
}
