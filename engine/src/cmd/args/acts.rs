//! The arguments of `orange task create`, `send`, `diff` and `edit`.

use clap::Args;
use orange_core::budget::Budget;

use super::filter::TaskFilter;
use super::names::TaskName;

/// `orange task diff …`
#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub task: TaskName,
    /// Only the files, with the number of their lines
    #[arg(long, conflicts_with = "tool")]
    pub stat: bool,
    /// In your diff tool
    #[arg(long)]
    pub tool: bool,
}

/// `orange task feedback …`
#[derive(Debug, Args)]
pub struct FeedbackArgs {
    #[command(flatten)]
    pub task: TaskName,
    /// That of this round [default: the newest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub round: Option<u32>,
    /// Ask the forge now, and keep nothing; only a person may ask
    #[arg(long, conflicts_with = "round")]
    pub ask: bool,
}

/// `orange task reply …`
#[derive(Debug, Args)]
pub struct ReplyArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub thread: String,
    /// The task's id, the start of its id, or its branch [default: the one of this worktree]
    #[arg(long = "task", value_name = "ID")]
    pub task: Option<String>,
    /// The answer; `-` for standard input
    #[arg(long, value_name = "-|TEXT", allow_hyphen_values = true)]
    pub text: String,
    /// Resolve the thread, too, if the project lets agents do that
    #[arg(long)]
    pub resolve: bool,
}

/// `orange task verdict …`
#[derive(Debug, Args)]
pub struct VerdictArgs {
    /// PASS, FAIL, or another verdict that the workflow names for the section
    #[arg(value_name = "VERDICT")]
    pub verdict: String,
    /// The review; `-` for standard input
    #[arg(value_name = "-|TEXT", allow_hyphen_values = true)]
    pub text: String,
    /// The task's id, the start of its id, or its branch [default: the one of this worktree]
    #[arg(long = "task", value_name = "ID")]
    pub task: Option<String>,
}

/// `orange task edit …`
#[derive(Debug, Args)]
pub struct EditArgs {
    #[command(flatten)]
    pub task: TaskName,
    /// The harness of the worker
    #[arg(long, value_name = "HARNESS")]
    pub harness: Option<String>,
    /// The harness of the reviewer
    #[arg(long, value_name = "HARNESS")]
    pub review_harness: Option<String>,
    /// Say what is to be done
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: Option<String>,
    /// The priority among waiting tasks: the one with the highest number starts first [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-1000..=1000))]
    pub priority: Option<i32>,
    /// It starts once this task is merged; repeat it, or separate ids by commas, for several
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub blocked_by: Vec<String>,
    /// It starts whatever becomes of other tasks
    #[arg(long, conflicts_with = "blocked_by")]
    pub unblock: bool,
    /// You have seen what the task calls you for: it no longer does
    #[arg(long)]
    pub seen: bool,
    /// Only say what would change
    #[arg(long)]
    pub dry_run: bool,
}

/// `orange task send …`
#[derive(Debug, Args)]
pub struct SendArgs {
    /// Its id, the start of its id, or its branch; several with commas between them. With --where, the message
    #[arg(id = "ID", value_name = "ID")]
    pub first: String,
    /// The message; `-` reads standard input
    #[arg(value_name = "-|TEXT", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Every unfinished task with these values of `status`, `project`, `workflow`, `need`; with a status, finished ones too
    #[arg(long = "where", value_name = "KEY=VALUE,…")]
    pub filter: Option<TaskFilter>,
    /// To the reviewer with this name
    #[arg(long, value_name = "NAME", conflicts_with = "spawn")]
    pub reviewer: Option<String>,
    /// To the agent with this number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub spawn: Option<u32>,
    /// Only say who would get it
    #[arg(long)]
    pub dry_run: bool,
}

/// `orange task create …`
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// The branch to work on; an empty one is as none [default: one that is made from the summary]
    #[arg(value_name = "BRANCH")]
    pub branch: Option<String>,
    /// The work to be done; without it, the agent asks
    #[arg(value_name = "SUMMARY")]
    pub summary: Option<String>,
    /// The project [default: the one of the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// The workflow [default: the project's]
    #[arg(long, value_name = "WORKFLOW")]
    pub workflow: Option<String>,
    /// The branch that the work is based on and merged into [default: the project's default branch]
    #[arg(long, value_name = "BRANCH")]
    pub base: Option<String>,
    /// The harness of the worker [default: the project's]
    #[arg(long, value_name = "HARNESS")]
    pub harness: Option<String>,
    /// The harness of the reviewer [default: the project's]
    #[arg(long, value_name = "HARNESS")]
    pub review_harness: Option<String>,
    /// More about the task, for its `## Context`; `-` reads standard input
    #[arg(long, value_name = "-|TEXT", allow_hyphen_values = true)]
    pub context: Option<String>,
    /// Write summary and context in your editor (VISUAL, EDITOR); an empty text creates nothing
    #[arg(long)]
    pub edit: bool,
    /// Take branch, summary and context from this issue of the forge, as far as they are not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub issue: Option<u64>,
    /// The first status of the task [default: the workflow's initial status]
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// The priority among waiting tasks: the one with the highest number starts first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-1000..=1000))]
    pub priority: i32,
    /// It starts once this task is merged; repeat it, or separate ids by commas, for several
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub blocked_by: Vec<String>,
    /// Its limits: cost in dollars, tokens, fresh_tokens, time, starts; once one is reached, its agents end at their turns
    #[arg(long, value_name = "LIMITS", value_parser = Budget::parse)]
    pub budget: Option<Budget>,
    /// Only create it
    #[arg(long)]
    pub no_spawn: bool,
    /// Only say what would happen
    #[arg(long)]
    pub dry_run: bool,
}
