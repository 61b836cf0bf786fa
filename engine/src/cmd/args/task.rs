//! The arguments of `orange task`.

use clap::{Args, Subcommand, ValueEnum};
use orange_core::budget::Budget;

use super::acts::{CreateArgs, DiffArgs, EditArgs, FeedbackArgs, ReplyArgs, SendArgs, VerdictArgs};
use super::merge::{MergeArgs, strategy};
use super::names::{TaskName, TaskNames};
use super::transcripts::{LogsArgs, PaneArgs};
use crate::flow::merge::Strategy;

/// `orange task …`
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Create a task and start its agent
    #[command(after_help = "\
Examples:
  orange task create \"Implement the login form\"
  orange task create add-login \"Implement the login form\"
  orange task create --project coffee fix-42 -- \"-v is ignored\"
  git log -1 | orange task create explain \"Explain this commit\" --context - --no-spawn
  orange task create docs \"Describe the login\" --blocked-by add-login --priority 5
  orange task create fix-43 --edit
  orange task create tidy-up \"Sort the imports\" --budget cost=5,time=2h,starts=12
  orange task create --issue 42

The summary is one argument, in quotes: further words are refused. Alone, an argument with blanks is the summary, and the branch is
made from it. Without a summary, the agent asks what to do. An existing branch is continued. With `--status agent-review` (in the default workflow) a reviewer examines it first, with `--status reviewing` it
waits for you.")]
    Create(CreateArgs),
    /// List tasks
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  orange task list
  orange task list --needs-me --all-projects
  orange task list --status stuck --all --json

Lists the unfinished tasks of the project in which you stand, and outside of any those of all projects. What needs a person comes
first, and of one kind what has waited longest; tasks that cannot be read come last. docs/needs.md says what each need means."
    )]
    List(ListArgs),
    /// Show a task: its fields, sections, history and what needs attention
    #[command(after_help = "\
Examples:
  orange task show add-login
  orange task show add-login --all

Shows the last 200 events of the history.")]
    Show {
        #[command(flatten)]
        task: TaskName,
        /// The whole history
        #[arg(long)]
        all: bool,
    },
    /// List every status that it can change to, and what is still missing
    #[command(after_help = "Example:\n  orange task next --json")]
    Next(TaskName),
    /// Wait until it has reached a status and the hooks have ended, or until something needs you
    #[command(after_help = "\
Examples:
  orange task wait --needs-me                                (any task of any project)
  orange task wait add-login --needs-me --timeout 3600
  orange task wait add-login --status working --timeout 5
  orange task wait add-login --status reviewing --status stuck --timeout 3600

It ends with status 1 when the time is over, or when the task can no longer reach that status.")]
    Wait(WaitArgs),
    /// Print what happens to it, or to all tasks, as it happens
    #[command(after_help = "\
Examples:
  orange task watch                     (until interrupted)
  orange task watch --verbose           (every event)
  orange task watch add-login --json    (until it is over; an object a line)")]
    Watch {
        /// Its id, the start of its id, or its branch [default: all tasks]
        #[arg(id = "ID", value_name = "ID")]
        name: Option<String>,
        /// Every event, and each change of what agents do
        #[arg(long, short)]
        verbose: bool,
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
    /// Show what a task has changed since it left the default branch, with uncommitted and untracked files
    #[command(after_help = "\
Examples:
  orange task diff add-login
  orange task diff add-login --stat
  orange task diff add-login --json

On a terminal, git shows it in your pager, and --tool in your diff tool (`git difftool`). Without a worktree, it is what the branch
has. The worktree and its index stay as they are. A mission's id works, too.")]
    Diff(DiffArgs),
    /// Show the feedback on a task's pull request: failed checks, comments, conflicts
    #[command(after_help = "\
Examples:
  orange task feedback                       (an agent, in its worktree)
  orange task feedback add-login --round 1
  orange task feedback add-login --json
  orange task feedback add-login --ask       (what an agent would get now)

It is what the section `## Feedback` of TASK.md has, without the limits there. Comments of people who may not push to the repository, and
of bots that the project does not name, are only counted.")]
    Feedback(FeedbackArgs),
    /// Answer a thread of comments on a task's pull request; the next push of its branch posts the answer
    #[command(after_help = "\
Examples:
  orange task reply PRRT_kwDO4x --text \"Renamed it.\"             (an agent, in its worktree)
  orange task reply PRRT_kwDO4x --task add-login --text - < answer.md
  orange task reply PRRT_kwDO4x --text \"Done.\" --resolve

The newest feedback (`orange task feedback`) has the threads. Each gets one answer of at most 2 KiB for each round.")]
    Reply(ReplyArgs),
    /// Write the verdict of a reviewer into its section of TASK.md
    #[command(
        override_usage = "orange task verdict [OPTIONS] <PASS|FAIL> <-|TEXT>",
        after_help = "\
Examples:
  orange task verdict PASS - < review.md                   (a reviewer, in its worktree)
  orange task verdict FAIL \"The migration drops a column\" --task add-login

The engine writes it under the name of the reviewer that asks, so that no reviewer writes the verdict of another one. `Verdict: PASS` or
`Verdict: FAIL` is the first line. Headings in the text are below that of the section. Ask for the status that fits afterwards."
    )]
    Verdict(VerdictArgs),
    /// Show what an agent's terminal shows now
    #[command(after_help = "\
Examples:
  orange task pane add-login
  orange task pane add-login --lines 20 --json
  orange task pane add-login --follow                (until the agent has ended)
  orange task pane add-login --size 120x40 --follow --json

`--json` has the lines with their colours, and where the cursor is. With `--follow` it prints the whole pane again
whenever that changes, with `--json` as an object a line. A window that a terminal shows keeps its size.")]
    Pane {
        #[command(flatten)]
        task: TaskName,
        #[command(flatten)]
        pane: PaneArgs,
    },
    /// Answer what an agent asks: whether it may use a tool
    #[command(after_help = "\
Examples:
  orange task answer add-login allow
  orange task answer add-login.1.9f2c deny --message \"Not the network, please\"
  orange task answer k3v9qa8b2c7d1e6f0g5h4.1.9f2c allow

The branch alone is enough while one request is open. `orange task show` and `orange task list --json` name each. An answer is for
that request only; a second answer, also after one on the agent's screen, is refused. Only a person may answer.")]
    Answer(AnswerArgs),
    /// Send a message to a task's living agent, as if it were typed into its terminal
    #[command(
        override_usage = "orange task send [OPTIONS] <ID>... <-|TEXT>",
        after_help = "\
Examples:
  orange task send add-login \"Use the library that we have\"
  git diff main | orange task send add-login -
  orange task send --where status=working \"Stop at the next commit\"
  orange task send add-login --spawn 2 -- \"- and one more test\"

The text arrives byte for byte, with a final Enter. The worker gets it, unless --reviewer or --spawn selects another agent. While
the agent asks something on its screen, nothing is sent: answer first. Only a person may send."
    )]
    Send(SendArgs),
    /// Show the budget of a task, or give it more: then it goes on in the same conversation
    #[command(after_help = "\
Examples:
  orange task budget add-login
  orange task budget add-login --add cost=5
  orange task budget add-login --set time=4h,starts=20 --dry-run

Once a limit is reached, no agent of the task starts, and one that is alive is ended at the end of its turn. `--add` raises a limit by an
amount, `--set` gives a limit. Only a person may change a budget. docs/usage.md says what counts.")]
    Budget {
        #[command(flatten)]
        task: TaskName,
        /// Amounts by which its limits rise: cost in dollars, tokens, fresh_tokens, time, starts
        #[arg(long, value_name = "LIMITS", value_parser = Budget::parse, conflicts_with = "set")]
        add: Option<Budget>,
        /// Limits that it has from now on
        #[arg(long, value_name = "LIMITS", value_parser = Budget::parse)]
        set: Option<Budget>,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Start the agent of a pending task
    #[command(after_help = "\
Example:
  orange task spawn add-login

A task that waits for other tasks (`--blocked-by`) is refused until these are merged; a person starts it with --force.")]
    Spawn {
        #[command(flatten)]
        task: TaskNames,
        /// Start it although other tasks block it
        #[arg(long)]
        force: bool,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Start the agent of a task again after its session has died
    #[command(after_help = "\
Examples:
  orange task respawn add-login
  orange task respawn add-login --fresh

The agent continues the conversation of the agent before it, if its harness can do that and still has it; the answer says
when it does not.")]
    Respawn {
        #[command(flatten)]
        task: TaskNames,
        /// Begin a new conversation
        #[arg(long)]
        fresh: bool,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// End a task's agent, if it is alive, and start it again
    #[command(after_help = "\
Examples:
  orange task restart add-login
  orange task restart add-login --fresh

For an agent that hangs. Its work stays in the worktree; status and counters stay as they are. The new agent gets
what the `respawn_prompt` of the task's status says; without one, its first prompt again.")]
    Restart {
        #[command(flatten)]
        task: TaskNames,
        /// Begin a new conversation
        #[arg(long)]
        fresh: bool,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// End a task's agents, and keep its status
    #[command(after_help = "\
Example:
  orange task stop add-login

No exit rule applies, and no agent starts until `orange task respawn` or a transition starts one.")]
    Stop {
        #[command(flatten)]
        task: TaskNames,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Change a task's status, summary or branch
    #[command(after_help = "\
Examples:
  orange task update --status agent-review
  orange task update --summary \"Log in with a passkey\" --status working
  orange task update --branch                   (take over the name of the checked-out branch)
  orange task update add-login --status done --dry-run
  orange task update --retry-hooks              (after a hook has failed, and others wait)
  orange task update add-login --status working --feedback \"Use the library that we have\"
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
        #[command(flatten)]
        task: TaskName,
        /// Show the window of the reviewer with this name; by default that of the newest agent
        #[arg(long, value_name = "NAME")]
        reviewer: Option<String>,
    },
    /// Cancel a task: end its session, free its worktree, keep its work
    #[command(after_help = "Example:\n  orange task cancel add-login --yes")]
    Cancel {
        #[command(flatten)]
        task: TaskNames,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// The unfinished tasks that its agents have created: cancel them, too, or keep them
        #[arg(long, value_name = "WHICH", value_parser = ["cancel", "keep"], default_value = "cancel")]
        children: String,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Move a task that is over, or was never started, to the trash; its branch and its backups stay
    #[command(after_help = "\
Example:
  orange task delete add-login --yes

A task that is not over is refused: cancel it first.")]
    Delete {
        #[command(flatten)]
        task: TaskNames,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Bring a deleted task back, or make a branch of work that was backed up
    #[command(after_help = "\
Examples:
  orange task restore add-login
  orange task restore add-login --backup 2

A deleted task comes back as it was. For any other task, the backup of its worktree becomes a branch; worktrees and
existing branches stay as they are. With several backups, `--backup` selects one.")]
    Restore {
        #[command(flatten)]
        task: TaskName,
        /// The backup, by the last part of its ref
        #[arg(long, value_name = "N")]
        backup: Option<u32>,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Take a cancellation or a merge back: the task gets its status, its worktree and its uncommitted work again
    #[command(after_help = "\
Example:
  orange task undo add-login

No agent starts: `orange task respawn` does that. Without a free worktree, the task gets one, with its work, once there is one and
`orange monitor` looks, or by the same command. A branch that somebody has moved is left alone, and the command refused. Only a
person may ask.

A merge that is not pushed goes back: its target gets the commit that it had. One that others may have is taken back by a commit, which
is pushed, or becomes a pull request where the branch is protected; later commits stay. The next merge of that branch needs
`--strategy squash` or `rebase` where git takes its commits for merged.")]
    Undo {
        #[command(flatten)]
        task: TaskName,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Move a task to a status of its workflow after a change of the workflow
    #[command(after_help = "\
Examples:
  orange task migrate add-login --to working
  orange task migrate add-login --to reviewing --workflow minimal

It checks no gate and runs no hook: worktree, session and agents stay as they are.")]
    Migrate {
        #[command(flatten)]
        task: TaskName,
        /// The status that it gets
        #[arg(long, value_name = "STATUS")]
        to: String,
        /// The workflow that it follows from now on [default: the one that it follows]
        #[arg(long, value_name = "WORKFLOW")]
        workflow: Option<String>,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Merge a task's branch into the branch that it is based on, push that, and finish the task
    #[command(after_help = "\
Examples:
  orange task merge add-login --local
  orange task merge add-login --local --strategy merge
  orange task merge add-login --local --strategy squash --message 'Add the login form'
  orange task merge add-login --local --into release --keep
  orange task merge add-login --local --remote-only

A task with a pull request is merged on GitHub or GitLab: this command asks there for its state, and then only cleans up. `--by-forge` has
an open one merged there, by the rules of the repository. With `gh` or `glab`, a pull request that was opened by hand for the branch
is found, too.
`--force` lets a person merge work that is not reviewed; the task's history says so. It ends living agents, after a
question that `--yes` answers. A finished task without a merge is merged, too, and keeps its status.")]
    Merge(MergeArgs),
    /// Bring a task's branch up to the branch that it is based on
    #[command(after_help = "\
Examples:
  orange task sync add-login
  orange task sync add-login --with rebase

The new commit is planned without a checkout. A conflict changes nothing: the error names the files. A worktree of the task follows; it
has to be committed, and no agent may be at work. A branch that the remote has is pushed; after a rebase in the place of the commit
that it had, which a backup keeps. Only a person may ask.")]
    Sync {
        #[command(flatten)]
        task: TaskName,
        /// merge: a merge commit on the branch; rebase: each commit again, on top of the base [default: the project's]
        #[arg(long, value_name = "HOW", value_parser = strategy(&Strategy::OF_SYNC))]
        with: Option<Strategy>,
        /// Give a conflict to the task's worker, by the transition that returns its work
        #[arg(long)]
        by_agent: bool,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Push a task's branch and open a pull request for it
    #[command(after_help = "\
Example:
  orange task create-pr add-login

Its title is the task's summary; its text has the summary, the section `## Context` and the repository's template. A branch
that has an open pull request keeps it. This needs `gh`, the GitHub command line; a project on GitLab needs `glab`.")]
    CreatePr {
        #[command(flatten)]
        task: TaskName,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Open a task's pull request in the browser
    #[command(after_help = "\
Example:
  orange task open add-login

It uses the programs that BROWSER names, or `xdg-open`, or `open`, and prints the address in any case.")]
    Open(TaskName),
    /// Ask GitHub or GitLab about a task's pull request now
    #[command(after_help = "\
Example:
  orange task refresh add-login

It also finds a pull request that somebody has opened for the branch. What follows is what `orange monitor` does from time to
time: a task whose pull request was merged or closed ends. This needs `gh`, the GitHub command line; a project on GitLab needs `glab`.")]
    Refresh(TaskName),
    /// Change a task's harnesses, summary, priority, or what it waits for
    #[command(after_help = "\
Examples:
  orange task edit add-login --harness codex
  orange task edit add-login --summary \"Log in with a passkey\" --dry-run
  orange task edit add-login --priority 10 --unblock
  orange task edit add-login --seen

The next agent gets the new values. A harness cannot change while its agent is alive: stop that first. Only a person may edit.")]
    Edit(EditArgs),
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
    /// Merge the work of a task into the branch of the one that has created it; `orange monitor` starts this
    #[command(hide = true)]
    MergeIntoParent {
        /// The id of the task
        #[arg(value_name = "ID")]
        id: String,
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
    /// Those of every project, not only of the one in which you stand
    #[arg(long, conflicts_with = "project")]
    pub all_projects: bool,
    /// Only those that need a person
    #[arg(long)]
    pub needs_me: bool,
    /// Ask git what each has changed, too (for --json)
    #[arg(long)]
    pub changes: bool,
    /// Do not ask git whether work can be merged: faster, and a merge is offered even where git refuses it
    #[arg(long, conflicts_with = "changes")]
    pub without_git: bool,
}

/// `orange task answer …`
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The request, or the task or mission whose agents have one open request: its id, or its branch
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// The answer to the request
    #[arg(value_name = "ANSWER")]
    pub decision: RequestDecision,
    /// The message to the agent when it may not
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub message: Option<String>,
}

/// The answer of a person to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "their docs would be help texts, and the names say it all")]
pub enum RequestDecision {
    Allow,
    Deny,
}

/// `orange task update …`
#[derive(Debug, Args)]
pub struct UpdateArgs {
    #[command(flatten)]
    pub task: TaskNames,
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
    /// Add what is to change to its `TASK.md`, in a section `## Feedback` at the end; `-` reads standard input
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true, conflicts_with = "retry_hooks")]
    pub feedback: Option<String>,
    /// Ask as this actor of the workflow, which is a program
    #[arg(long = "as", value_name = "ACTOR", conflicts_with_all = ["summary", "branch", "feedback"])]
    pub as_actor: Option<String>,
    /// The file with its token; `-` for standard input
    #[arg(long, value_name = "PATH", requires = "as_actor")]
    pub token_file: Option<String>,
    /// Only say what would happen
    #[arg(long)]
    pub dry_run: bool,
}

/// `orange task wait …`
#[derive(Debug, Args)]
pub struct WaitArgs {
    #[command(flatten)]
    pub task: TaskName,
    /// This status; given more than once, any of them
    #[arg(long, value_name = "STATUS", required_unless_present = "needs_me")]
    pub status: Vec<String>,
    /// Until it needs a person; without a task, until any task does
    #[arg(long, conflicts_with = "status")]
    pub needs_me: bool,
    /// Give up after so many seconds [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=31_536_000))]
    pub timeout: Option<u32>,
}
