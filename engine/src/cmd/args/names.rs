//! Names of tasks on a command line.

use clap::Args;

use super::filter::TaskFilter;

/// Names a task.
#[derive(Debug, Args)]
pub struct TaskName {
    /// Its id, the start of its id, or its branch [default: the task of the current worktree]
    #[arg(id = "ID", value_name = "ID")]
    pub name: Option<String>,
}

/// Names one task, or several.
#[derive(Debug, Default, Args)]
pub struct TaskNames {
    /// Ids, the starts of ids, or branches [default: the task of the current worktree]
    #[arg(id = "ID", value_name = "ID")]
    pub names: Vec<String>,
    /// Every unfinished task with these values of `status`, `project`, `workflow`, `need`; with a status, finished ones too
    #[arg(long = "where", value_name = "KEY=VALUE,…", conflicts_with = "ID")]
    pub filter: Option<TaskFilter>,
}
