//! The arguments of `orange workflow`.

use crate::cmd::args::Command;
use crate::cmd::line::{Arg, Spec, Takes};

/// `orange workflow …`
#[derive(Debug)]
pub enum WorkflowCommand {
    /// List them with their sizes and hashes.
    List,
    /// Show the states and transitions of one.
    Show {
        /// Its name.
        name: String,
    },
    /// What agents must write and call, status by status.
    Contract {
        /// Its name.
        name: String,
    },
}

pub(super) const SPEC: Spec = Spec::group(
    "workflow",
    "The workflows that tasks can follow: compiled-in ones, and those of ORANGE_HOME/workflows",
    &[LIST, SHOW, CONTRACT],
);

const LIST: Spec = Spec::command("list", "List them with their sizes and hashes", |_| {
    Command::Workflow(WorkflowCommand::List)
})
.examples(&["orange workflow list"]);

const SHOW: Spec = Spec::command("show", "Show the states and transitions of one", |given| {
    Command::Workflow(WorkflowCommand::Show { name: given.needed("NAME") })
})
.args(&[NAME])
.examples(&["orange workflow show default"]);

const CONTRACT: Spec =
    Spec::command("contract", "What agents must write and call, status by status", |given| {
        Command::Workflow(WorkflowCommand::Contract { name: given.needed("NAME") })
    })
    .args(&[NAME])
    .examples(&["orange workflow contract default"]);

const NAME: Arg = Arg::needed("NAME", Takes::Workflow, "Its name");
