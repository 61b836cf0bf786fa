//! `cargo xtask`: runs the commands that build and install programs, and starts `xtask` for all others.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask_build::workspace::{OwnRepository, typed};
use xtask_build::{BuildCommand, ended};

/// Build Orange, and work on it.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    disable_help_subcommand = true,
    after_help = "\
All other commands are for work on Orange itself, in a program that the first of them builds. Its command `help` lists them."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Build(BuildCommand),
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

fn main() -> ExitCode {
    ended(OwnRepository::find().and_then(|workspace| match Arguments::parse().command {
        Command::Build(command) => command.run(&workspace),
        Command::Other(words) => Err(become_xtask(&workspace, &words)),
    }))
}

/// Runs `xtask` in the place of this program, in the current folder. It returns only if that fails.
fn become_xtask(workspace: &OwnRepository, words: &[OsString]) -> String {
    let mut run = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    run.args(["run", "--quiet", "--package", "xtask", "--manifest-path"]);
    run.arg(workspace.root.join("Cargo.toml")).arg("--").args(words);
    let error = run.exec();
    format!("`{}` cannot be run: {error}", typed(&run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_commands_keep_all_their_words() {
        let words = ["xtask", "tidy", "--help", "--", "-x"];
        let Command::Other(passed) = Arguments::parse_from(words).command else { panic!("it is not ours") };
        assert_eq!(passed, words[1..]);
        assert!(matches!(Arguments::parse_from(["xtask", "help"]).command, Command::Other(_)));
        let own = Arguments::parse_from(["xtask", "install"]).command;
        assert!(matches!(own, Command::Build(BuildCommand::Install(_))));
    }
}
