//! The command line of `orange`, as data.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Drives the tasks of coding agents: agents write artifacts, the engine decides.
#[derive(Debug, Parser)]
#[command(
    name = "orange",
    version,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  orange project add ~/code/coffee --pool-size 2
  orange task create add-login \"Implement the login form\"
  orange task list
  orange task update --status agent-review      (an agent, in its worktree)
  orange task merge add-login --local

Environment: ORANGE_HOME (default ~/orange), ORANGE_TMUX_SOCKET (default orange).
Exit status: 0 done, 1 refused, 2 usage, 3 not found, 4 locked, 5 environment, 6 corrupt file."
)]
pub struct Cli {
    /// Answer with one JSON value on standard output and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The groups of commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Repositories that tasks belong to
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Tasks and their agents
    #[command(subcommand)]
    Task(TaskCommand),
    /// The worktrees of a project's pool
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Look after the agents: apply the exit rules to those that died unnoticed
    #[command(after_help = "\
Examples:
  orange monitor                  (until interrupted)
  orange monitor --once --json    (one look, for cron and scripts)")]
    Monitor(MonitorArgs),
    /// The workflows that tasks can follow: compiled-in ones, and those of ORANGE_HOME/workflows
    #[command(subcommand)]
    Workflow(WorkflowCommand),
    /// Print a completion script
    #[command(
        after_help = "Example:\n  orange completions bash > ~/.local/share/bash-completion/completions/orange"
    )]
    Completions {
        /// The shell that it is for
        shell: clap_complete::Shell,
    },
    /// What runs inside tmux
    #[command(subcommand, hide = true)]
    Agent(AgentCommand),
}

impl Command {
    /// Whether `orange` runs this by itself, in a session that no terminal belongs to.
    pub fn is_detached(&self) -> bool {
        matches!(
            self,
            Command::Agent(AgentCommand::Ended { .. })
                | Command::Task(TaskCommand::Finish { .. } | TaskCommand::SpawnNext { .. })
        )
    }
}

/// `orange project …`
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// Add a repository
    #[command(after_help = "\
Examples:
  orange project add
  orange project add ~/code/coffee --name coffee --pool-size 4 --workflow minimal")]
    Add {
        /// The repository [default: the one you stand in]
        path: Option<PathBuf>,
        /// What to call it [default: the folder's name]
        #[arg(long)]
        name: Option<String>,
        /// What is set for it
        #[command(flatten)]
        settings: ProjectSettings,
    },
    /// List them
    #[command(after_help = "Example:\n  orange project list --json")]
    List,
    /// Change the settings of one
    #[command(after_help = "Example:\n  orange project update coffee --pool-size 4")]
    Update {
        /// Which one [default: the one you stand in]
        name: Option<String>,
        /// What is set for it
        #[command(flatten)]
        settings: ProjectSettings,
    },
    /// Forget one; its repository and its finished tasks stay as they are
    #[command(after_help = "Example:\n  orange project remove coffee")]
    Remove {
        /// Which one
        name: String,
    },
}

/// What can be set for a project.
#[derive(Args, Debug)]
pub struct ProjectSettings {
    /// How many tasks may hold a worktree at once; 2 in a new project
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub pool_size: Option<u32>,
    /// The workflow of its new tasks; `default` in a new project
    #[arg(long, value_name = "W")]
    pub workflow: Option<String>,
    /// The branch that work is based on and merged into; in a new project the default branch of `origin`, else
    /// the one that is checked out
    #[arg(long, value_name = "B")]
    pub default_branch: Option<String>,
}

/// `orange task …`
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Create a task and start its agent
    #[command(after_help = "\
Examples:
  orange task create add-login \"Implement the login form\"
  orange task create --project coffee fix-42 -- \"-v is ignored\"
  git log -1 | orange task create explain \"Explain this commit\" --context - --no-spawn")]
    Create(CreateArgs),
    /// List tasks
    #[command(after_help = "Examples:\n  orange task list\n  orange task list --status stuck --all --json")]
    List {
        /// Only those with this status
        #[arg(long)]
        status: Option<String>,
        /// Only those of this project
        #[arg(long)]
        project: Option<String>,
        /// Finished ones too
        #[arg(long)]
        all: bool,
    },
    /// Show a task: its fields, sections, history and what needs attention
    #[command(after_help = "Example:\n  orange task show add-login")]
    Show(TaskName),
    /// Every status it can go to from here, and what is still missing
    #[command(after_help = "Example:\n  orange task next --json")]
    Next(TaskName),
    /// Start the agent of a pending task
    #[command(after_help = "Example:\n  orange task spawn add-login")]
    Spawn(TaskName),
    /// Start the agent of a task again after its session has died
    #[command(after_help = "Example:\n  orange task respawn add-login")]
    Respawn(TaskName),
    /// Change a task's status, summary or branch
    #[command(after_help = "\
Examples:
  orange task update --status agent-review
  orange task update --summary \"Log in with a passkey\" --status working
  orange task update --branch                   (take over the name of the checked-out branch)
  orange task update add-login --status done --dry-run")]
    Update(UpdateArgs),
    /// Attach the terminal to a task's session
    #[command(after_help = "Example:\n  orange task attach add-login")]
    Attach(TaskName),
    /// Cancel a task: its session ends, its worktree is given back, its work is kept
    #[command(after_help = "Example:\n  orange task cancel add-login --yes")]
    Cancel {
        /// Which task
        #[command(flatten)]
        task: TaskName,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Move a task that is over, or was never started, to the trash; its branch and its backups stay
    #[command(after_help = "\
A task that is under way is refused: cancel it first.

Examples:
  orange task delete add-login --yes")]
    Delete {
        /// Which task
        #[command(flatten)]
        task: TaskName,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Bring a deleted task back, or make a branch of work that was backed up
    #[command(after_help = "\
A deleted task comes back as it was. Of any other one, the work that was kept when its worktree was given back
becomes a branch; worktrees and existing branches stay as they are. With several backups, `--backup` says which.

Examples:
  orange task restore add-login
  orange task restore add-login --backup 2")]
    Restore {
        /// Which task
        #[command(flatten)]
        task: TaskName,
        /// Which backup: the last part of its ref
        #[arg(long, value_name = "N")]
        backup: Option<u32>,
    },
    /// Merge a task's branch into the default branch, push it, and finish the task
    #[command(after_help = "\
Examples:
  orange task merge add-login --local
  orange task merge add-login --local --strategy merge")]
    Merge {
        /// Which task
        #[command(flatten)]
        task: TaskName,
        /// How
        #[arg(long, value_enum, default_value_t = Strategy::Ff)]
        strategy: Strategy,
        /// Merge here, whatever a pull request says
        #[arg(long)]
        local: bool,
    },
    /// Finish a transition that was begun; what `orange` starts in a process of its own
    #[command(hide = true)]
    Finish {
        /// The task's id
        id: String,
    },
    /// Start the next task that waits; what `orange` starts in a process of its own when a task is done
    #[command(hide = true)]
    SpawnNext {
        /// The id of the task that is done
        id: String,
    },
}

/// Names a task.
#[derive(Args, Debug)]
pub struct TaskName {
    /// Its id, the start of its id, or its branch [default: the task whose worktree you stand in]
    #[arg(value_name = "ID")]
    pub name: Option<String>,
}

/// `orange task create …`
#[derive(Args, Debug)]
pub struct CreateArgs {
    /// The branch to work on [default: orange-tasks/ID]
    pub branch: Option<String>,
    /// What is to be done; without it, the agent asks
    #[arg(allow_hyphen_values = true)]
    pub summary: Option<String>,
    /// The project [default: the one you stand in]
    #[arg(long, value_name = "P")]
    pub project: Option<String>,
    /// The workflow [default: the project's]
    #[arg(long, value_name = "W")]
    pub workflow: Option<String>,
    /// What runs the worker
    #[arg(long, value_name = "H", default_value = "claude")]
    pub harness: String,
    /// What runs the reviewer
    #[arg(long, value_name = "H", default_value = "claude")]
    pub review_harness: String,
    /// More about the task, for its `## Context`; `-` reads standard input
    #[arg(long, value_name = "-|TEXT", allow_hyphen_values = true)]
    pub context: Option<String>,
    /// Where the task begins [default: the workflow's initial status]
    #[arg(long, value_name = "S")]
    pub status: Option<String>,
    /// Only create it
    #[arg(long)]
    pub no_spawn: bool,
}

/// `orange task update …`
#[derive(Args, Debug)]
pub struct UpdateArgs {
    /// Which task
    #[command(flatten)]
    pub task: TaskName,
    /// Ask for this status
    #[arg(long, value_name = "S")]
    pub status: Option<String>,
    /// Say what is to be done
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub summary: Option<String>,
    /// Say which branch it is on; without a name, the one that is checked out
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub branch: Option<Option<String>>,
    /// Only say what would happen
    #[arg(long)]
    pub dry_run: bool,
}

/// How a branch is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Only fast-forward
    Ff,
    /// With a merge commit
    Merge,
}

/// `orange workspace …`
#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// Make the worktrees of the project's pool ahead of time
    #[command(after_help = "Example:\n  orange workspace init")]
    Init {
        /// The project [default: the one you stand in]
        #[arg(long)]
        project: Option<String>,
    },
    /// List the worktrees and the tasks that hold them
    #[command(after_help = "Example:\n  orange workspace list --all --json")]
    List {
        /// Those of every project
        #[arg(long)]
        all: bool,
    },
}

/// `orange monitor …`
#[derive(Args, Debug)]
pub struct MonitorArgs {
    /// Look once and end
    #[arg(long)]
    pub once: bool,
    /// Seconds between two looks [default: the smallest of the workflows']
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub interval: Option<u32>,
}

/// `orange workflow …`
#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// List them with their sizes and hashes
    #[command(after_help = "Example:\n  orange workflow list")]
    List,
    /// Show the states and transitions of one
    #[command(after_help = "Example:\n  orange workflow show default")]
    Show {
        /// Its name
        name: String,
    },
    /// What agents must write and call, status by status
    #[command(after_help = "Example:\n  orange workflow contract default")]
    Contract {
        /// Its name
        name: String,
    },
}

/// `orange agent …`: the wrapper around a harness.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Run the agent of a spawn and report its end
    Run {
        /// The task's id
        #[arg(long)]
        task: String,
        /// The number of the spawn
        #[arg(long)]
        spawn: u32,
    },
    /// Apply the exit rules after an agent has ended
    Ended {
        /// The task's id
        #[arg(long)]
        task: String,
        /// The number of the spawn
        #[arg(long)]
        spawn: u32,
        /// Its exit status
        #[arg(long, allow_hyphen_values = true)]
        code: Option<i32>,
        /// The signal that ended it
        #[arg(long)]
        signal: Option<i32>,
        /// How it ended, in words
        #[arg(long, allow_hyphen_values = true)]
        reason: String,
    },
}
