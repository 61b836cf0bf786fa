//! The arguments of `orange workspace`.

use crate::cmd::args::Command;
use crate::cmd::line::{Arg, Spec, Takes};

/// `orange workspace …`
#[derive(Debug)]
pub enum WorkspaceCommand {
    /// Make the worktrees of the project's pool ahead of time.
    Init {
        /// The project; the one that one stands in without.
        project: Option<String>,
    },
    /// List the worktrees and the tasks that hold them.
    List {
        /// Those of every project.
        all: bool,
    },
}

pub(super) const SPEC: Spec = Spec::group("workspace", "The worktrees of a project's pool", &[INIT, LIST]);

const INIT: Spec = Spec::command("init", "Make the worktrees of the project's pool ahead of time", |given| {
    Command::Workspace(WorkspaceCommand::Init { project: given.text("project") })
})
.args(&[Arg::option("project", "P", Takes::Project, "The project [default: the one you stand in]")])
.examples(&["orange workspace init"]);

const LIST: Spec = Spec::command("list", "List the worktrees and the tasks that hold them", |given| {
    Command::Workspace(WorkspaceCommand::List { all: given.has("all") })
})
.args(&[Arg::flag("all", "Those of every project")])
.examples(&["orange workspace list --all --json"]);
