//! The arguments of `orange agent`, which `orange` calls itself.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `orange agent …`: the wrapper around a harness.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Run the agent of a spawn and report its end
    Run(SpawnName),
    /// Carry out what the agent of a spawn asks for from inside its sandbox
    Serve(SpawnName),
    /// Hold the terminal until the agent starts
    Hold,
    /// Lead a port inside a wall to the proxy outside, and become the program
    Inside(InsideArgs),
    /// Run `orange` with these words in a session of its own, detached from its caller
    Detach {
        /// The words
        #[arg(value_name = "WORD", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Record what a pane shows, from standard input
    Record {
        /// The file that it goes into
        #[arg(value_name = "PATH")]
        file: PathBuf,
    },
    /// Apply the exit rules after an agent has ended
    Ended(EndedArgs),
    /// Start the agent that replaces one, when it is due
    Resume(SpawnName),
    /// Let an agent wait that has met a limit
    Limited(SpawnName),
    /// Attack the wall around this process, for `orange doctor --wall`
    Attack {
        /// The targets, as JSON
        #[arg(value_name = "TARGETS")]
        targets: String,
    },
    /// Note what a harness reports of its agent; what it calls itself
    Event {
        /// Wait for a person's answer to a request for a permission
        #[arg(long)]
        hold: bool,
    },
}

/// `orange agent inside …`
#[derive(Debug, Args)]
pub struct InsideArgs {
    /// The socket of the proxy
    #[arg(long, value_name = "PATH")]
    pub proxy: PathBuf,
    /// Lead the port to the proxy, and become no program
    #[arg(long, conflicts_with = "words")]
    pub bridge: bool,
    /// The program and its arguments
    #[arg(value_name = "WORD", required_unless_present = "bridge", last = true)]
    pub words: Vec<OsString>,
}

/// Names a spawn of a task.
#[derive(Debug, Args)]
pub struct SpawnName {
    /// The task's id
    #[arg(long, value_name = "ID")]
    pub task: String,
    /// The number of the spawn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub spawn: u32,
}

/// `orange agent ended …`
#[derive(Debug, Args)]
pub struct EndedArgs {
    #[command(flatten)]
    pub of: SpawnName,
    /// Its exit status
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub code: Option<i32>,
    /// The signal that ended it
    #[arg(long, value_name = "N")]
    pub signal: Option<i32>,
    /// Its end, in words
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: String,
    /// The length of its life in seconds
    #[arg(long, value_name = "N")]
    pub duration: Option<u64>,
    /// The last lines of its pane
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    pub last_lines: String,
}
