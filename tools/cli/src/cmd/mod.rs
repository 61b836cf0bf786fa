//! The commands: each takes its arguments and gives an answer; none of them prints.

mod check;
pub(crate) mod complete;
pub(crate) mod diff;
mod emit;
mod explain;
pub(crate) mod fmt;
mod graph;
mod init;
pub(crate) mod manual;
mod mend;
mod one;
pub(crate) mod prove;
pub(crate) mod schema;
pub(crate) mod simulate;
pub(crate) mod test;
mod watch;

use crate::answer::Answer;
use crate::args::Command;
use crate::lsp;
use crate::screen::Styles;

/// Runs the command of the command line.
pub(crate) fn run(command: &Command, styles: Styles) -> Answer {
    let answer = match command {
        Command::Check(args) => check::run(args, styles),
        Command::Completions(args) => Ok(complete::script(args)),
        Command::Complete(args) => Ok(complete::run(args)),
        Command::Explain(args) => explain::run(args),
        Command::Diff(args) => diff::run(args, styles),
        Command::Fmt(args) => fmt::run(args),
        Command::Emit(args) => emit::run(args, styles),
        Command::Graph(args) => graph::run(args, styles),
        Command::Init(args) => init::run(args),
        Command::Lsp(args) => lsp::run(args).map_err(Answer::from),
        Command::Manual(args) => manual::run(args),
        Command::Prove(args) => prove::run(args, styles),
        Command::Schema(args) => schema::run(args),
        Command::Simulate(args) => simulate::run(args, styles),
        Command::Test(args) => test::run(args, styles),
    };
    answer.unwrap_or_else(|refusal| refusal)
}
