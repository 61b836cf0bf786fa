//! The arguments of `orange workflow`.

use clap::Subcommand;

/// `orange workflow …`
#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// List them with their sizes and hashes
    #[command(visible_alias = "ls", after_help = "Example:\n  orange workflow list")]
    List,
    /// Show the states and transitions of one
    #[command(after_help = "Example:\n  orange workflow show default")]
    Show {
        /// Its name
        #[arg(value_name = "WORKFLOW")]
        name: String,
    },
    /// Print what agents must write and call, status by status
    #[command(after_help = "Example:\n  orange workflow contract default")]
    Contract {
        /// Its name
        #[arg(value_name = "WORKFLOW")]
        name: String,
    },
}
