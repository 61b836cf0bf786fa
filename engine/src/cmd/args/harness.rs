//! The arguments of `orange harness`.

use clap::Subcommand;

/// `orange harness …`
#[derive(Debug, Subcommand)]
pub enum HarnessCommand {
    /// List them: whether each is installed, and which one a new task gets
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  orange harness list
  orange harness list --json

The default is that of the project of the current folder: `orange project update --harness NAME` sets it."
    )]
    List,
}
