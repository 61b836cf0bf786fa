//! `lsp`: a language server for workflows, scenarios and prompts, over standard input and output.
//!
//! `orange-ide` has the answers, as values with byte offsets. Here they become messages. A feature has one file here, a function
//! `answer(&View, params)`, its line in `requests`, and its line in `capabilities`.

mod actions;
mod capabilities;
mod checks;
mod commands;
mod complete;
mod convert;
mod diagnostics;
mod edits;
mod files;
mod hierarchy;
mod hints;
mod hover;
mod later;
mod names;
mod pages;
mod pictures;
mod requests;
mod rules;
mod scenario_runs;
mod schedule;
mod server;
mod structure;
mod sync;
#[cfg(test)]
mod tests;
mod uri;
mod view;
mod wire;
mod worker;

use clap::Args;
use lsp_server::Connection;

use self::server::ServerEnd;
use crate::answer::{Answer, Exit, Failure};

/// Answer an editor about workflows, over standard input and output.
#[derive(Debug, Args)]
#[command(after_help = "\
An editor starts it and speaks the Language Server Protocol 3.18 with it. It runs nothing of a workflow and writes no file.

Examples:
  orange-workflow lsp           for an editor
  orange-workflow lsp --stdio   the same, as some editors call it

Exit status: 0 after `shutdown` and `exit`, 1 if the editor has gone away before, 2 the two did not understand each other.")]
pub(crate) struct Lsp {
    /// Use standard input and output, which is what it does in any case
    #[arg(long)]
    stdio: bool,
}

/// Serves an editor until it goes away.
pub(crate) fn run(args: &Lsp) -> Result<Answer, Failure> {
    let Lsp { stdio: _ } = args;
    let (connection, threads) = Connection::stdio();
    let ended = server::serve(connection).map_err(|error| {
        let help = "an editor starts it, and begins with `initialize`";
        Failure::new(format!("the language server cannot begin: {error}"), help)
    })?;
    if ended != ServerEnd::ParentEnded {
        // The reader has ended, so this waits for the last message to be written, and for nothing else.
        threads.join().map_err(|error| {
            let help = "see which messages the editor sends, and start the server again";
            Failure::new(
                format!("the editor and the language server do not understand each other: {error}"),
                help,
            )
        })?;
    }
    let exit = match ended {
        ServerEnd::Exit { after_shutdown: true } => Exit::Clean,
        ServerEnd::Exit { after_shutdown: false } | ServerEnd::Disconnected | ServerEnd::ParentEnded => {
            Exit::Found
        }
    };
    Ok(Answer { out: String::new(), err: String::new(), exit })
}
