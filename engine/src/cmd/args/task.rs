//! The commands of `orange task`, as values.

mod table;

pub(super) use table::SPEC;

use crate::drive::git::Strategy;

/// `orange task …`
#[derive(Debug)]
pub enum TaskCommand {
    /// Create a task and start its agent.
    Create(CreateArgs),
    /// List tasks.
    List {
        /// Only those with this status.
        status: Option<String>,
        /// Only those of this project.
        project: Option<String>,
        /// Finished ones too.
        all: bool,
    },
    /// Show a task: its fields, sections, history and what needs attention.
    Show(TaskName),
    /// Every status it can go to from here, and what is still missing.
    Next(TaskName),
    /// Wait until it has come to a status.
    Wait(WaitArgs),
    /// Tell what happens to it, or to all tasks, as it happens.
    Watch(TaskName),
    /// Start the agent of a pending task.
    Spawn(TaskName),
    /// Start the agent of a task again after its session has died.
    Respawn(TaskName),
    /// Change a task's status, summary or branch.
    Update(UpdateArgs),
    /// Attach the terminal to a task's session.
    Attach(TaskName),
    /// Cancel a task.
    Cancel {
        /// Which task.
        task: TaskName,
        /// Do not ask.
        yes: bool,
    },
    /// Move a task that is over, or was never started, to the trash.
    Delete {
        /// Which task.
        task: TaskName,
        /// Do not ask.
        yes: bool,
    },
    /// Bring a deleted task back, or make a branch of work that was backed up.
    Restore {
        /// Which task.
        task: TaskName,
        /// Which backup: the last part of its ref.
        backup: Option<u32>,
    },
    /// Move a task to a status of its workflow as it is now.
    Migrate {
        /// Which task.
        task: TaskName,
        /// The status that it gets.
        to: String,
        /// The workflow that it follows from now on; the one that it follows without.
        workflow: Option<String>,
    },
    /// Merge a task's branch and finish the task.
    Merge(MergeArgs),
    /// Push a task's branch and open a pull request for it.
    CreatePr(TaskName),
    /// Finish a transition that was begun; what `orange` starts in a process of its own.
    Finish {
        /// The task's id.
        id: String,
    },
    /// Start the next task that waits; what `orange` starts in a process of its own when a task is done.
    SpawnNext {
        /// The id of the task that is done.
        id: String,
    },
}

/// Names a task.
#[derive(Debug)]
pub struct TaskName {
    /// Its id, the start of its id, or its branch; without, the task whose worktree one stands in.
    pub name: Option<String>,
}

/// `orange task create …`
#[derive(Debug)]
pub struct CreateArgs {
    /// The branch to work on.
    pub branch: Option<String>,
    /// What is to be done; without it, the agent asks.
    pub summary: Option<String>,
    /// The project; the one that one stands in without.
    pub project: Option<String>,
    /// The workflow; the project's without.
    pub workflow: Option<String>,
    /// What runs the worker.
    pub harness: String,
    /// What runs the reviewer.
    pub review_harness: String,
    /// More about the task, for its `## Context`; `-` reads standard input.
    pub context: Option<String>,
    /// Where the task begins.
    pub status: Option<String>,
    /// Only create it.
    pub no_spawn: bool,
}

/// `orange task update …`
#[derive(Debug)]
pub struct UpdateArgs {
    /// Which task.
    pub task: TaskName,
    /// Ask for this status.
    pub status: Option<String>,
    /// Say what is to be done.
    pub summary: Option<String>,
    /// Say which branch it is on; without a name, the one that is checked out.
    pub branch: Option<Option<String>>,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// `orange task merge …`
#[derive(Debug)]
pub struct MergeArgs {
    /// Which task.
    pub task: TaskName,
    /// How.
    pub strategy: Strategy,
    /// Merge here, whatever a pull request says.
    pub local: bool,
    /// Merge although the workflow, or a branch without commits, says no.
    pub force: bool,
}

/// `orange task wait …`
#[derive(Debug)]
pub struct WaitArgs {
    /// Which task.
    pub task: TaskName,
    /// The statuses, one of which it has to come to; not empty.
    pub status: Vec<String>,
    /// For how many seconds at most.
    pub timeout: Option<u32>,
}
