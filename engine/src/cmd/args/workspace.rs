//! The arguments of `orange workspace`.

use clap::Subcommand;

/// `orange workspace …`
#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// Make the worktrees of the project's pool ahead of time
    #[command(after_help = "Example:\n  orange workspace init")]
    Init {
        /// The project [default: the one of the current folder]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// List the worktrees, and the tasks and missions that hold them
    #[command(visible_alias = "ls", after_help = "Example:\n  orange workspace list --all --json")]
    List {
        /// Those of every project
        #[arg(long)]
        all: bool,
    },
    /// Give back and remove worktrees that nobody holds
    #[command(after_help = "\
Examples:
  orange workspace gc --dry-run
  orange workspace gc

Worktrees that a finished task or mission still holds are given back; those of tasks, missions or projects that are gone,
and more than a project may have, are removed. What is in them and on no remote is kept under refs, which are named;
ignored files go with a worktree that is removed. What is not a worktree of ours, and what an agent is at work in, is left alone.")]
    Gc {
        /// Only say what would be done
        #[arg(long)]
        dry_run: bool,
    },
}
