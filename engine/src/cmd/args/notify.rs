//! The arguments of `orange notify`.

use clap::Subcommand;

/// `orange notify …`
#[derive(Debug, Subcommand)]
pub enum NotifyCommand {
    /// List the channels of notify.toml, and what came of their last messages
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  orange notify list
  orange notify list --json"
    )]
    List,
    /// End the buttons of a channel: no code that it was sent has an effect any more
    #[command(after_help = "\
Examples:
  orange notify revoke phone

Use it when a phone is lost, or its topic is known to others. A message that comes later has new buttons; without `answers` in
notify.toml, it has none.")]
    Revoke {
        /// Channel whose buttons end
        #[arg(value_name = "CHANNEL")]
        channel: String,
    },
    /// Send a test message, and say what came of it
    #[command(after_help = "\
Examples:
  orange notify test
  orange notify test phone

It ends with status 5 when a channel does not take the message, or the replies to its buttons cannot be read.")]
    Test {
        /// Only to this channel [default: every one]
        #[arg(value_name = "CHANNEL")]
        channel: Option<String>,
    },
}
