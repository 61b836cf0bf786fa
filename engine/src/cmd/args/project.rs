//! The arguments of `orange project`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `orange project …`
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// Add a repository
    #[command(after_help = "\
Examples:
  orange project add
  orange project add ~/code/coffee --name coffee --pool-size 4 --workflow minimal")]
    Add {
        /// The repository [default: the one of the current folder]
        #[arg(value_name = "PATH")]
        path: Option<PathBuf>,
        /// Its name [default: the folder's name]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Its settings.
        #[command(flatten)]
        settings: ProjectSettings,
    },
    /// List them
    #[command(visible_alias = "ls", after_help = "Example:\n  orange project list --json")]
    List,
    /// Change the settings of one
    #[command(after_help = "\
Examples:
  orange project update coffee --pool-size 4
  orange project update coffee --path ~/code/coffee")]
    Update {
        /// Which one [default: the one of the current folder]
        #[arg(value_name = "PROJECT")]
        name: Option<String>,
        /// Where its repository is now; its worktrees are linked to it again
        #[arg(long, value_name = "PATH")]
        path: Option<PathBuf>,
        /// Its settings.
        #[command(flatten)]
        settings: ProjectSettings,
    },
    /// Forget one; its repository and its finished tasks stay as they are
    #[command(after_help = "Example:\n  orange project remove coffee")]
    Remove {
        /// Which one
        #[arg(value_name = "PROJECT")]
        name: String,
    },
    /// Make a token for a program that asks as an actor of the workflow, and print it
    #[command(after_help = "\
Examples:
  orange project token ci > ~/.ci-token
  orange project token ci --project coffee --json

The workflow declares the actor: `actors: [ci]`. The program then asks for what `by: ci` allows:
  orange task update add-login --status shipped --as ci --token-file ~/.ci-token
Orange keeps a hash only and cannot print the token again. Keep it where agents cannot read it.")]
    Token {
        /// The actor
        #[arg(value_name = "ACTOR")]
        actor: String,
        /// The project whose tasks it is for [default: the one of the current folder]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// List the tokens that are valid
    #[command(after_help = "Example:\n  orange project tokens --project coffee")]
    Tokens {
        /// The project [default: the one of the current folder]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Revoke the tokens of an actor, or one of them
    #[command(after_help = "\
Examples:
  orange project revoke ci
  orange project revoke ci 3f9ac02b --project coffee")]
    Revoke {
        /// The actor
        #[arg(value_name = "ACTOR")]
        actor: String,
        /// Which token, as `orange project tokens` lists it [default: all of the actor]
        #[arg(value_name = "TOKEN")]
        id: Option<String>,
        /// The project [default: the one of the current folder]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
}

/// The settings of a project.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub struct ProjectSettings {
    /// The number of tasks that may hold a worktree at once; 2 in a new project
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub pool_size: Option<u32>,
    /// The workflow of its new tasks; `default` in a new project
    #[arg(long, value_name = "WORKFLOW")]
    pub workflow: Option<String>,
    /// The branch that work is based on and merged into; in a new project the default branch of `origin`, else the one
    /// that is checked out
    #[arg(long, value_name = "BRANCH")]
    pub default_branch: Option<String>,
    /// The size of all transcripts of a task in millions of bytes; 20 in a new project
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub transcripts_mb: Option<u32>,
    /// Whether `orange task answer` may type on the screen of an agent that cannot be answered otherwise; `false` in a new project
    #[arg(long, value_name = "true|false")]
    pub type_answers: Option<bool>,
    /// Who starts tasks that wait: `auto` gives them every worktree that is free, `manual` leaves them to people and to
    /// `spawn_next`; `manual` in a new project
    #[arg(long, value_name = "QUEUE", value_parser = ["auto", "manual"])]
    pub queue: Option<String>,
    /// After how many days the monitor removes merged backups of tasks that are over, or `never`
    #[arg(long, value_name = "DAYS", value_parser = days)]
    pub backup_days: Option<Days>,
    /// The same for merged branches of such tasks
    #[arg(long, value_name = "DAYS", value_parser = days)]
    pub branch_days: Option<Days>,
    /// The same for deleted tasks without a backup
    #[arg(long, value_name = "DAYS", value_parser = days)]
    pub trash_days: Option<Days>,
}

/// An age, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days(pub Option<u32>);

fn days(text: &str) -> Result<Days, String> {
    const LONGEST: u32 = 100_000;
    if text == "never" {
        return Ok(Days(None));
    }
    let number = text.parse().ok().filter(|days| *days <= LONGEST);
    number
        .map(|days| Days(Some(days)))
        .ok_or_else(|| format!("it is a number from 0 to {LONGEST}, or `never`"))
}
