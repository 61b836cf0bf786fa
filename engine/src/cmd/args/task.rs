//! The arguments of `orange task`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};

use crate::flow::merge::Strategy;
use crate::store::task::DEFAULT_HARNESS;

/// `orange task …`
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Create a task and start its agent
    #[command(after_help = "\
Examples:
  orange task create add-login \"Implement the login form\"
  orange task create --project coffee fix-42 -- \"-v is ignored\"
  git log -1 | orange task create explain \"Explain this commit\" --context - --no-spawn

The summary is one argument, in quotes: further words are refused. Without one, the agent asks what to do. An existing branch
is continued. With `--status agent-review` (in the default workflow) a reviewer examines it first, with `--status reviewing` it
waits for you.")]
    Create(CreateArgs),
    /// List tasks
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  orange task list
  orange task list --status stuck --all --json

Lists the unfinished tasks of all projects, the oldest first; tasks that cannot be read come last."
    )]
    List(ListArgs),
    /// Show a task: its fields, sections, history and what needs attention
    #[command(after_help = "\
Examples:
  orange task show add-login
  orange task show add-login --all

Shows the last 200 events of the history.")]
    Show {
        /// Which task.
        #[command(flatten)]
        task: TaskName,
        /// The whole history
        #[arg(long)]
        all: bool,
    },
    /// List every status that it can change to, and what is still missing
    #[command(after_help = "Example:\n  orange task next --json")]
    Next(TaskName),
    /// Wait until it has reached a status and the hooks have ended
    #[command(after_help = "\
Examples:
  orange task wait add-login --status working --timeout 5
  orange task wait add-login --status reviewing --status stuck --timeout 3600

It ends with status 1 when the time is over, or when the task can no longer reach that status.")]
    Wait(WaitArgs),
    /// Print what happens to it, or to all tasks, as it happens
    #[command(after_help = "\
Examples:
  orange task watch                     (until interrupted)
  orange task watch add-login --json    (until it is over; an object a line)")]
    Watch {
        /// Its id, the start of its id, or its branch [default: all tasks]
        #[arg(id = "ID", value_name = "ID")]
        name: Option<String>,
    },
    /// Show the transcript of an agent: its conversation, or the output of its pane
    #[command(after_help = "\
Examples:
  orange task logs add-login
  orange task logs add-login --spawn 1 --json
  orange task logs add-login --raw
  orange task logs add-login --follow    (until the agent has ended)

For people, arguments and results of tools are shortened. Transcripts stay after the end of an agent and of its task.")]
    Logs(LogsArgs),
    /// Answer what an agent asks: whether it may use a tool
    #[command(after_help = "\
Examples:
  orange task answer k3v9qa8b2c7d1e6f0g5h4.1.9f2c allow
  orange task answer k3v9qa8b2c7d1e6f0g5h4.1.9f2c deny --message \"Not the network, please\"

`orange task list --json` and `orange task show` name the request. An answer is for that request only; a second answer, also after
one on the agent's screen, is refused. Only a person may answer.")]
    Answer(AnswerArgs),
    /// Start the agent of a pending task
    #[command(after_help = "Example:\n  orange task spawn add-login")]
    Spawn(TaskName),
    /// Start the agent of a task again after its session has died
    #[command(after_help = "\
Examples:
  orange task respawn add-login
  orange task respawn add-login --fresh

The agent continues the conversation of the agent before it, if its harness can do that and still has it; the answer says
when it does not.")]
    Respawn {
        /// Which task.
        #[command(flatten)]
        task: TaskName,
        /// Begin a new conversation
        #[arg(long)]
        fresh: bool,
    },
    /// End a task's agent, if it is alive, and start it again
    #[command(after_help = "\
Examples:
  orange task restart add-login
  orange task restart add-login --fresh

For an agent that hangs. Its work stays in the worktree; status and counters stay as they are. The new agent gets
what the `respawn_prompt` of the task's status says; without one, its first prompt again.")]
    Restart {
        /// Which task.
        #[command(flatten)]
        task: TaskName,
        /// Begin a new conversation
        #[arg(long)]
        fresh: bool,
    },
    /// End a task's agents, and keep its status
    #[command(after_help = "\
Example:
  orange task stop add-login

No exit rule applies, and no agent starts until `orange task respawn` or a transition starts one.")]
    Stop(TaskName),
    /// Change a task's status, summary or branch
    #[command(after_help = "\
Examples:
  orange task update --status agent-review
  orange task update --summary \"Log in with a passkey\" --status working
  orange task update --branch                   (take over the name of the checked-out branch)
  orange task update add-login --status done --dry-run
  orange task update --retry-hooks              (after a hook has failed, and others wait)
  orange task update add-login --status shipped --as ci --token-file ~/.ci-token

`--branch NAME` renames the task's branch, in its worktree, too, as long as no remote and no pull request has it. An existing
branch becomes the task's if its worktree is on it, or if the task has no worktree. `--as` is for programs: the workflow declares
the actor, and `orange project token` makes the token.")]
    Update(UpdateArgs),
    /// Ask for the one transition that completes the task's status
    #[command(after_help = "\
Example:
  orange task complete                          (an agent, in its worktree)

That is the transition whose gate reads what the status asks for: from `working` of the default workflow to `agent-review`, and from
there to the status for the verdict in `## Review`. If there are several, it lists them and asks for none.")]
    Complete(TaskName),
    /// Attach the terminal to a task's session
    #[command(after_help = "Example:\n  orange task attach add-login")]
    Attach {
        /// Which task.
        #[command(flatten)]
        task: TaskName,
        /// Show the window of the reviewer with this name; by default that of the newest agent
        #[arg(long, value_name = "NAME")]
        reviewer: Option<String>,
    },
    /// Cancel a task: end its session, free its worktree, keep its work
    #[command(after_help = "Example:\n  orange task cancel add-login --yes")]
    Cancel {
        /// Which task.
        #[command(flatten)]
        task: TaskName,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Move a task that is over, or was never started, to the trash; its branch and its backups stay
    #[command(after_help = "\
Example:
  orange task delete add-login --yes

A task that is not over is refused: cancel it first.")]
    Delete {
        /// Which task.
        #[command(flatten)]
        task: TaskName,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Bring a deleted task back, or make a branch of work that was backed up
    #[command(after_help = "\
Examples:
  orange task restore add-login
  orange task restore add-login --backup 2

A deleted task comes back as it was. For any other task, the backup of its worktree becomes a branch; worktrees and
existing branches stay as they are. With several backups, `--backup` selects one.")]
    Restore {
        /// Which task.
        #[command(flatten)]
        task: TaskName,
        /// Which backup: the last part of its ref
        #[arg(long, value_name = "N")]
        backup: Option<u32>,
    },
    /// Move a task to a status of its workflow after a change of the workflow
    #[command(after_help = "\
Examples:
  orange task migrate add-login --to working
  orange task migrate add-login --to reviewing --workflow minimal

It checks no gate and runs no hook: worktree, session and agents stay as they are.")]
    Migrate {
        /// Which task.
        #[command(flatten)]
        task: TaskName,
        /// The status that it gets
        #[arg(long, value_name = "STATUS")]
        to: String,
        /// The workflow that it follows from now on [default: the one that it follows]
        #[arg(long, value_name = "WORKFLOW")]
        workflow: Option<String>,
    },
    /// Merge a task's branch into the default branch, push it, and finish the task
    #[command(after_help = "\
Examples:
  orange task merge add-login --local
  orange task merge add-login --local --strategy merge

A task with a pull request is merged on GitHub: this command asks GitHub for its state, and then only cleans up. With `gh`,
it also finds a pull request that somebody has opened by hand for the branch.
`--force` lets a person merge work that is not reviewed; the task's history says so. It ends living agents, after a
question that `--yes` answers. A finished task without a merge is merged, too, and keeps its status.")]
    Merge(MergeArgs),
    /// Push a task's branch and open a pull request for it
    #[command(after_help = "\
Example:
  orange task create-pr add-login

Its title is the task's summary; its text has the summary, the section `## Context` and the repository's template. A branch
that has an open pull request keeps it. This needs `gh`, the GitHub command line.")]
    CreatePr(TaskName),
    /// Finish an open transition; `orange` starts this in a process of its own
    #[command(hide = true)]
    Finish {
        /// The task's id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Run the program that a gate asks; `orange` starts this in a process of its own
    #[command(hide = true)]
    Ask {
        /// The task's id
        #[arg(value_name = "ID")]
        id: String,
        /// The number of the event that asks
        #[arg(value_name = "SEQ")]
        seq: u64,
    },
    /// Start the next waiting task; `orange` starts this in a process of its own when a task is done
    #[command(hide = true)]
    SpawnNext {
        /// The id of the task that is done
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// `orange task list …`
#[derive(Debug, Default, Args)]
pub struct ListArgs {
    /// Only those with this status
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// Only those of this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Finished ones too
    #[arg(long)]
    pub all: bool,
}

/// `orange task answer …`
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The request
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// Whether the agent may
    #[arg(value_name = "ANSWER")]
    pub decision: Decision,
    /// The message to the agent when it may not
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub message: Option<String>,
}

/// The answer of a person to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "their docs would be help texts, and the names say it all")]
pub enum Decision {
    Allow,
    Deny,
}

/// Names a task.
#[derive(Debug, Args)]
pub struct TaskName {
    /// Its id, the start of its id, or its branch [default: the task of the current worktree]
    #[arg(id = "ID", value_name = "ID")]
    pub name: Option<String>,
}

/// `orange task create …`
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// The branch to work on [default: orange-tasks/ID]
    #[arg(value_name = "BRANCH")]
    pub branch: Option<String>,
    /// What is to be done; without it, the agent asks
    #[arg(value_name = "SUMMARY")]
    pub summary: Option<String>,
    /// The project [default: the one of the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// The workflow [default: the project's]
    #[arg(long, value_name = "WORKFLOW")]
    pub workflow: Option<String>,
    /// The harness of the worker
    #[arg(long, value_name = "HARNESS", default_value = DEFAULT_HARNESS)]
    pub harness: String,
    /// The harness of the reviewer
    #[arg(long, value_name = "HARNESS", default_value = DEFAULT_HARNESS)]
    pub review_harness: String,
    /// More about the task, for its `## Context`; `-` reads standard input
    #[arg(long, value_name = "-|TEXT", allow_hyphen_values = true)]
    pub context: Option<String>,
    /// The first status of the task [default: the workflow's initial status]
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// Only create it
    #[arg(long)]
    pub no_spawn: bool,
}

/// `orange task update …`
#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// Which task.
    #[command(flatten)]
    pub task: TaskName,
    /// Ask for this status
    #[arg(long, value_name = "STATUS", conflicts_with = "retry_hooks")]
    pub status: Option<String>,
    /// Run the hook that has failed again, and then those that wait for it
    #[arg(long)]
    pub retry_hooks: bool,
    /// Say what is to be done
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: Option<String>,
    /// Rename the task's branch; without a name, take over the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<Option<String>>,
    /// Ask as this actor of the workflow, which is a program
    #[arg(long = "as", value_name = "ACTOR", conflicts_with_all = ["summary", "branch"])]
    pub as_actor: Option<String>,
    /// The file with its token; `-` for standard input
    #[arg(long, value_name = "PATH", requires = "as_actor")]
    pub token_file: Option<String>,
    /// Only say what would happen
    #[arg(long)]
    pub dry_run: bool,
}

/// `orange task logs …`
#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Which task.
    #[command(flatten)]
    pub task: TaskName,
    /// The number of the agent [default: the last one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub spawn: Option<u32>,
    /// Go on until the agent has ended
    #[arg(long)]
    pub follow: bool,
    /// Print the stored file: the harness's own, or the output of the terminal
    #[arg(long)]
    pub raw: bool,
}

/// `orange task merge …`
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Which task.
    #[command(flatten)]
    pub task: TaskName,
    /// ff: only fast-forward; merge: with a merge commit
    #[arg(
        long,
        value_name = "HOW",
        default_value = "ff",
        value_parser = PossibleValuesParser::new(["ff", "merge"]).map(|how| strategy(&how))
    )]
    pub strategy: Strategy,
    /// Merge here, also with an open pull request
    #[arg(long)]
    pub local: bool,
    /// Merge from a status that does not lead there, or a branch without commits
    #[arg(long)]
    pub force: bool,
    /// With --force: end living agents without a question
    #[arg(long)]
    pub yes: bool,
}

/// `orange task wait …`
#[derive(Debug, Args)]
pub struct WaitArgs {
    /// Which task.
    #[command(flatten)]
    pub task: TaskName,
    /// This status; given more than once, any of them
    #[arg(long, value_name = "STATUS", required = true)]
    pub status: Vec<String>,
    /// Give up after so many seconds [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=31_536_000))]
    pub timeout: Option<u32>,
}

fn strategy(how: &str) -> Strategy {
    if how == "merge" { Strategy::Merge } else { Strategy::FastForward }
}
