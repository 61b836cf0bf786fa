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
    /// Give back and remove worktrees that nobody holds.
    Gc {
        /// Only say what would be done.
        dry_run: bool,
    },
    /// List the worktrees and the tasks that hold them.
    List {
        /// Those of every project.
        all: bool,
    },
}

pub(super) const SPEC: Spec =
    Spec::group("workspace", "The worktrees of a project's pool", &[INIT, LIST, GC]);

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

const GC: Spec = Spec::command("gc", "Give back and remove worktrees that nobody holds", |given| {
    Command::Workspace(WorkspaceCommand::Gc { dry_run: given.has("dry-run") })
})
.args(&[Arg::flag("dry-run", "Only say what would be done")])
.examples(&["orange workspace gc --dry-run", "orange workspace gc"])
.notes(
    "\
Worktrees that a finished task still holds are given back; those of tasks or projects that are gone, and more than a
project may have, are removed. What is in them and on no remote is kept under refs, which are named; ignored files go
with a worktree that is removed. What is no worktree of ours, and what a task is at work in, is left alone.",
);
