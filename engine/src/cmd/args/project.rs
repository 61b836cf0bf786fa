//! The arguments of `orange project`.

use std::path::PathBuf;

use crate::cmd::args::Command;
use crate::cmd::line::{Arg, Given, Spec, Takes};

/// `orange project …`
#[derive(Debug)]
pub enum ProjectCommand {
    /// Add a repository.
    Add {
        /// The repository; the one that one stands in without.
        path: Option<PathBuf>,
        /// What to call it; the folder's name without.
        name: Option<String>,
        /// What is set for it.
        settings: ProjectSettings,
    },
    /// List them.
    List,
    /// Change the settings of one.
    Update {
        /// Which one; the one that one stands in without.
        name: Option<String>,
        /// Where its repository is now.
        path: Option<PathBuf>,
        /// What is set for it.
        settings: ProjectSettings,
    },
    /// Forget one.
    Remove {
        /// Which one.
        name: String,
    },
}

/// What can be set for a project.
#[derive(Debug)]
pub struct ProjectSettings {
    /// How many tasks may hold a worktree at once.
    pub pool_size: Option<u32>,
    /// The workflow of its new tasks.
    pub workflow: Option<String>,
    /// The branch that work is based on and merged into.
    pub default_branch: Option<String>,
}

pub(super) const SPEC: Spec =
    Spec::group("project", "Repositories that tasks belong to", &[ADD, LIST, UPDATE, REMOVE]);

const ADD: Spec = Spec::command("add", "Add a repository", |given| {
    Command::Project(ProjectCommand::Add {
        path: given.text("PATH").map(PathBuf::from),
        name: given.text("name"),
        settings: settings(given),
    })
})
.args(&[
    Arg::word("PATH", Takes::Path, "The repository [default: the one you stand in]"),
    Arg::option("name", "NAME", Takes::Name, "What to call it [default: the folder's name]"),
    POOL_SIZE,
    WORKFLOW,
    DEFAULT_BRANCH,
])
.examples(&[
    "orange project add",
    "orange project add ~/code/coffee --name coffee --pool-size 4 --workflow minimal",
]);

const LIST: Spec = Spec::command("list", "List them", |_| Command::Project(ProjectCommand::List))
    .examples(&["orange project list --json"]);

const UPDATE: Spec = Spec::command("update", "Change the settings of one", |given| {
    Command::Project(ProjectCommand::Update {
        name: given.text("NAME"),
        path: given.text("path").map(PathBuf::from),
        settings: settings(given),
    })
})
.args(&[
    Arg::word("NAME", Takes::Project, "Which one [default: the one you stand in]"),
    Arg::option(
        "path",
        "PATH",
        Takes::Path,
        "Where its repository is now; its worktrees are linked to it again",
    ),
    POOL_SIZE,
    WORKFLOW,
    DEFAULT_BRANCH,
])
.examples(&[
    "orange project update coffee --pool-size 4",
    "orange project update coffee --path ~/code/coffee",
]);

const REMOVE: Spec =
    Spec::command("remove", "Forget one; its repository and its finished tasks stay as they are", |given| {
        Command::Project(ProjectCommand::Remove { name: given.needed("NAME") })
    })
    .args(&[Arg::needed("NAME", Takes::Project, "Which one")])
    .examples(&["orange project remove coffee"]);

const POOL_SIZE: Arg = Arg::option(
    "pool-size",
    "N",
    Takes::Number(1, 1000),
    "How many tasks may hold a worktree at once; 2 in a new project",
);

const WORKFLOW: Arg = Arg::option(
    "workflow",
    "W",
    Takes::Workflow,
    "The workflow of its new tasks; `default` in a new project",
);

const DEFAULT_BRANCH: Arg = Arg::option(
    "default-branch",
    "B",
    Takes::Name,
    "The branch that work is based on and merged into; in a new project the default branch of `origin`, else the one that is checked out",
);

fn settings(given: &Given) -> ProjectSettings {
    ProjectSettings {
        pool_size: given.number("pool-size"),
        workflow: given.text("workflow"),
        default_branch: given.text("default-branch"),
    }
}
