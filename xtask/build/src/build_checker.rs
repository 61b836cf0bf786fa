//! `cargo xtask build-checker`: builds the authors' command, `orange-workflow`, so that it starts as fast as `orange`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

use crate::Result;
use crate::build_workflow::{describe, write_manual};
use crate::place::{make_writable, put_program};
use crate::target::{FIXED_ADDRESS, host};
use crate::workspace::{OwnRepository, answer, typed};

/// The C library becomes a part of the program: to find and load it takes longer than the check of a file that is known.
const STATIC_LIBRARY: &str = "-Ctarget-feature=+crt-static";

/// Build `orange-workflow` as one static file.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo xtask build-checker
  cargo xtask build-checker --out ~/.local/bin")]
pub struct BuildChecker {
    /// The folder for the program; `dist/` by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(workspace: &OwnRepository, arguments: &BuildChecker) -> Result<ExitCode> {
    let out = std::path::absolute(arguments.out.clone().unwrap_or_else(|| workspace.root.join("dist")))
        .map_err(|error| format!("--out leads nowhere: {error}"))?;
    make_writable(&out)?;
    let program = put_program(&build(workspace)?, &out, "orange-workflow")?;
    describe(&program)?;
    let manual = write_manual(&program, &out)?;
    println!("{}  `man -M {} orange-workflow` shows them", manual.display(), manual.display());
    Ok(ExitCode::SUCCESS)
}

/// Builds it for this machine, static if the C library can be a part of it, and returns its path.
pub fn build(workspace: &OwnRepository) -> Result<PathBuf> {
    let target = host()?;
    let mut flags = Vec::new();
    if has_static_library() {
        flags.extend([FIXED_ADDRESS, STATIC_LIBRARY]);
    } else {
        println!(
            "the C library is here as `libc.so` alone: what is built starts half a millisecond later; the package with `libc.a` is \
             `libc6-dev` or `glibc-static`"
        );
    }
    let mut build = workspace.cargo(["build", "--package", "orange-workflow", "--profile", "tools"]);
    // Given the target, cargo leaves its flags out of macros and build scripts, which cannot be static.
    build.args(["--target", &target, "--config", &format!("target.{target}.rustflags={flags:?}")]);
    // Its language server survives a panic of a check.
    build.args(["--config", "profile.tools.panic=\"unwind\""]);
    println!("{}", typed(&build));
    let status = build.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("`{}` failed, {status}", typed(&build)));
    }
    Ok(workspace.target_folder()?.join(target).join("tools/orange-workflow"))
}

/// True if the C compiler has the C library as an archive. Of a file that it does not have, it answers with the bare name.
fn has_static_library() -> bool {
    let mut compiler = Command::new("cc");
    compiler.arg("-print-file-name=libc.a");
    answer(compiler).is_ok_and(|path| Path::new(path.trim()).is_absolute())
}
