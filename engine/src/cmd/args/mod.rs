//! The command line of `orange`, as clap reads it.

mod acts;
mod agent;
mod filter;
mod group;
mod harness;
mod merge;
mod mission;
mod names;
mod notify;
mod parse;
mod project;
mod task;
mod transcripts;
mod workflow;
mod workspace;

pub use acts::{CreateArgs, DiffArgs, EditArgs, FeedbackArgs, SendArgs};
pub use agent::{AgentCommand, EndedArgs, InsideArgs, SpawnName};
pub use filter::TaskFilter;
pub use group::CommandGroup;
pub use harness::HarnessCommand;
pub use merge::MergeArgs;
pub use mission::{
    AttemptCommand, CompleteArgs, ContinueArgs, MissionCommand, MissionListArgs, MissionName, StartArgs,
    StepCommand,
};
pub use names::{TaskName, TaskNames};
pub use notify::NotifyCommand;
pub use parse::{ParsedCommand, parse};
pub use project::{ProjectCommand, ProjectSettings};
pub use task::{AnswerArgs, ListArgs, RequestDecision, TaskCommand, UpdateArgs, WaitArgs};
pub use transcripts::{LogsArgs, PaneArgs};
pub use workflow::WorkflowCommand;
pub use workspace::WorkspaceCommand;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::flow::garbage::LeftoverKind;
use crate::flow::usage::UsageBy;
use crate::log_file::LEVELS;

/// Drives the tasks of coding agents: agents write artifacts, the engine decides
#[derive(Debug, Parser)]
#[command(
    name = "orange",
    version,
    after_help = "\
Without a command it shows the dashboard on a terminal, and elsewhere lists the tasks, or the first steps. `--help` after a command, or `help` before it, prints its help.

Examples:
  orange project add ~/code/coffee --pool-size 2
  orange task create add-login \"Implement the login form\"
  orange task list
  orange task update --status agent-review      (an agent, in its worktree)
  orange task merge add-login --local

Environment: ORANGE_HOME (default ~/orange), ORANGE_TMUX_SOCKET (default orange), ORANGE_LOG_LEVEL (default info).
Exit status: 0 done, 1 refused, 2 usage, 3 not found, 4 locked, 5 environment, 6 corrupt file."
)]
pub struct Cli {
    /// Answer with one JSON value on standard output and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// The command; without one, the dashboard is shown or the tasks are listed.
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// The definition of all commands, also of those in groups.
    pub fn whole() -> clap::Command {
        let mut whole = Self::command();
        whole.build();
        whole
    }
}

/// The groups of commands, and the commands without a group.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Repositories that tasks belong to
    #[command(subcommand, arg_required_else_help = false)]
    Project(CommandGroup<ProjectCommand>),
    /// Tasks and their agents
    #[command(subcommand, arg_required_else_help = false)]
    Task(CommandGroup<TaskCommand>),
    /// Missions: runs of step workflows
    #[command(subcommand, arg_required_else_help = false)]
    Mission(CommandGroup<MissionCommand>),
    /// Attempts at steps of missions that another program keeps
    #[command(subcommand, arg_required_else_help = false)]
    Attempt(CommandGroup<AttemptCommand>),
    /// Reports of the agent of a mission's step
    #[command(subcommand, arg_required_else_help = false)]
    Step(CommandGroup<StepCommand>),
    /// The worktrees of a project's pool
    #[command(subcommand, arg_required_else_help = false)]
    Workspace(CommandGroup<WorkspaceCommand>),
    /// List tasks, as `orange task list` does
    #[command(
        visible_alias = "list",
        after_help = "\
Examples:
  orange ls
  orange ls --all --json"
    )]
    Ls(ListArgs),
    /// See what needs you, and answer it, on one screen
    #[command(after_help = "\
Examples:
  orange dashboard
  orange dashboard --project coffee
  orange dashboard --exit-on-attach    (for a popup of tmux)

It executes `orange-dashboard`, which is beside `orange` or on PATH; `?` shows its keys. `orange` alone does the same on a
terminal. In a repository it shows that project, elsewhere all of them.")]
    Dashboard(DashboardArgs),
    /// Watch the agents: apply the exit rules to those whose end was not reported
    #[command(after_help = "\
Examples:
  orange monitor                  (until interrupted)
  orange monitor --once --json    (one look, for cron and scripts)

One monitor works at a time in an ORANGE_HOME. A second one says which process that is, stands by, and works after its end. `--once`
looks whatever else runs.")]
    Monitor(MonitorArgs),
    /// Show the issues that became tasks by their labels, and what would be done about others
    #[command(after_help = "\
Examples:
  orange intake
  orange intake --dry-run
  orange intake retry 42

`orange monitor` looks for issues with the labels of `[[intake]]` in the repository's orange.toml, once a minute, if a person has
trusted that file. `--dry-run` asks the forge, and shows each issue with its decision and the rule that made it; it changes nothing.
An issue that has failed three times in a row is taken no more until `retry`.")]
    Intake(IntakeArgs),
    /// Show the missions that start at given times, and when each is due
    #[command(after_help = "\
Examples:
  orange schedule
  orange schedule --json

`orange monitor` starts the missions of `[[schedule]]` in the repository's orange.toml, if a person has trusted that file.")]
    Schedule(ScheduleArgs),
    /// Channels for messages about what needs you
    #[command(subcommand, arg_required_else_help = false)]
    Notify(CommandGroup<NotifyCommand>),
    /// The workflows that tasks can follow: compiled-in ones, and those of ORANGE_HOME/workflows
    #[command(subcommand, arg_required_else_help = false)]
    Workflow(CommandGroup<WorkflowCommand>),
    /// The coding agents that tasks can name
    #[command(subcommand, arg_required_else_help = false)]
    Harness(CommandGroup<HarnessCommand>),
    /// Show what processes without a terminal wrote to the log
    #[command(after_help = "\
Examples:
  orange log
  orange log --level error --lines 10
  orange log --component agent --grep crashed --json

ORANGE_LOG_LEVEL sets what is written: error, warn, info (the default) or debug.")]
    Log(LogArgs),
    /// Write the skill for agents, from the workflows as they are
    #[command(after_help = "\
Examples:
  orange install
  orange install --harness codex
  orange install --print

Every install writes the skill again; a file that somebody else wrote is left alone.")]
    Install(InstallArgs),
    /// Show what coding agents would ask before they work, and answer it
    #[command(after_help = "\
Examples:
  orange setup
  orange setup --harness claude --yes
  orange setup --undo

It shows, for each coding agent on PATH and each project, what the agent would ask (a login, trust in the repository,
permissions) and what would answer it. A task does not start with an open question, since its agent runs without a person.
On a terminal it asks for each agent in each project; nothing is changed before the last answer, and --yes agrees to all.
ORANGE_HOME/setup.json records the consent, and each agent gets it as arguments. A file of the agent's own is changed only
if no argument does the same; the output names it, and --undo restores it.")]
    Setup(SetupArgs),
    /// Show what an installation has put on this machine, and remove it with --yes
    #[command(after_help = "\
Examples:
  orange uninstall
  orange uninstall --yes

It names the skill for agents, what `orange setup` has set in their files, completions, manual pages, the programs, and the caches
of ORANGE_HOME. Tasks, missions, worktrees, backups and your settings stay; it says how to remove them by hand.
While agents run, it is refused.")]
    Uninstall(UninstallArgs),
    /// Watch the life of a task, with a script in place of a coding agent
    #[command(after_help = "\
Examples:
  orange demo
  orange demo --keep    (and say where its files are)

In a scratch folder below /tmp, with a tmux server of its own, a task is created, its agent asks a question, a review fails, the
fault is corrected, the review passes, and the branch is merged. It takes less than a minute, needs git, tmux and no account, and
removes what it made, also after an interrupt.")]
    Demo(DemoArgs),
    /// Answer agents over the Model Context Protocol: tools for tasks, steps and missions
    #[command(after_help = "\
Example:
  orange mcp

It executes `orange-mcp`, which is beside `orange` or on PATH. An agent's settings name it as a server:
claude mcp add orange -- orange mcp")]
    Mcp,
    /// Check everything that tasks and missions need, and what they have left; changes nothing
    #[command(after_help = "\
Examples:
  orange doctor
  orange doctor --json
  orange doctor --wall

Every finding has a remedy. Exit status: 0 when nothing is broken, 5 when something is.")]
    Doctor {
        /// Only make a wall like those around agents, in a folder for temporary files, and attack it from inside
        #[arg(long)]
        wall: bool,
    },
    /// Show what finished tasks and missions have left, and remove it with --yes
    #[command(after_help = "\
Examples:
  orange gc
  orange gc --kind backup --older-than 7
  orange gc --project coffee --yes

Kinds, each with the age after which it is removed by default:
  backup      30 days   a backup of a finished task or mission, all of which is merged
  branch      30 days   a branch that was made for a task or mission, and is merged
  trash       90 days   a deleted task or mission that has no backup
  definition  30 days   a former definition of a custom workflow that no task follows
  temporary             a file of a process that has died
`orange project update` sets the ages of a project, and `orange monitor` applies them. Orange never
removes work that is not merged, whatever its age.")]
    Gc(GcArgs),
    /// Show the tokens, cost, time and starts of agents
    #[command(after_help = "\
Examples:
  orange usage
  orange usage --by task --project coffee
  orange usage --by day --since 2026-11-01 --json

Groups:
  project   the default
  task      a task or a mission
  day       the day in UTC on which an agent has ended; today, if it is alive
  state     a state of tasks, or a step of missions
  harness   the coding agent
Deleted tasks and missions do not count. A cost is that of the harness; if it reports tokens
only, the cost is computed at list price.")]
    Usage(UsageArgs),
    /// Print the completion script of a shell
    #[command(after_help = "\
Examples:
  source <(orange completions bash)    (in ~/.bashrc; with zsh for bash, in ~/.zshrc below compinit)
  orange completions fish > ~/.config/fish/completions/orange.fish")]
    Completions {
        /// The shell that runs the script
        #[arg(value_name = "SHELL")]
        shell: CompletionShell,
    },
    /// Print the candidates for the next word
    #[command(hide = true)]
    Complete {
        /// The words behind `orange` so far, behind `--`; the last is being typed, and may be empty
        #[arg(value_name = "WORDS")]
        words: Vec<String>,
    },
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Manual {
        /// The folder, which is made if need be
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Open a file in your editor, as the dashboard does
    #[command(hide = true)]
    Editor {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Commands that orange itself starts inside tmux
    #[command(subcommand, hide = true, arg_required_else_help = false)]
    Agent(CommandGroup<AgentCommand>),
}

/// `orange dashboard …`
#[derive(Debug, Default, Args)]
pub struct DashboardArgs {
    /// Only this project
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<String>,
    /// The tasks of every project, wherever it is started
    #[arg(long)]
    pub all_projects: bool,
    /// End when a session is attached
    #[arg(long)]
    pub exit_on_attach: bool,
}

/// `orange monitor …`
#[derive(Debug, Args)]
pub struct MonitorArgs {
    /// Look once and end
    #[arg(long)]
    pub once: bool,
    /// Seconds between two looks [default: the smallest of the workflows']
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub interval: Option<u32>,
}

/// `orange intake …`
#[derive(Debug, Args)]
pub struct IntakeArgs {
    /// Take an issue again that has failed three times
    #[arg(value_name = "ACTION", requires = "number")]
    pub action: Option<IntakeAction>,
    /// Its number
    #[arg(value_name = "NUMBER")]
    pub number: Option<u64>,
    /// Ask the forge, and show the decision about each issue without acting on it
    #[arg(long, conflicts_with = "action")]
    pub dry_run: bool,
    /// The project [default: that of the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}

/// Action of `orange intake`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "their docs would be help texts, and the names say it all")]
pub enum IntakeAction {
    Retry,
}

/// `orange schedule …`
#[derive(Debug, Args)]
pub struct ScheduleArgs {
    /// The project [default: that of the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}

/// `orange log …`
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Only lines of this level and worse ones
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(LEVELS))]
    pub level: Option<String>,
    /// Only lines that this command wrote
    #[arg(long, value_name = "COMMAND", value_parser = ["advance", "agent", "complete", "event", "finish", "merge-into-parent", "notify", "run-program", "spawn-next"])]
    pub component: Option<String>,
    /// Only lines that contain this
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub grep: Option<String>,
    /// The number of lines, counted from the end
    #[arg(
        long,
        value_name = "N",
        default_value = "100",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000)
    )]
    pub lines: usize,
}

/// `orange install …`
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// For which coding agent [default: every one whose program is on PATH]
    #[arg(long, value_name = "HARNESS")]
    pub harness: Option<String>,
    /// Only print it
    #[arg(long)]
    pub print: bool,
}

/// `orange setup …`
#[derive(Debug, Args)]
pub struct SetupArgs {
    /// For which coding agent [default: every one whose program is on PATH]
    #[arg(long, value_name = "HARNESS")]
    pub harness: Option<String>,
    /// Agree without a question
    #[arg(long, conflicts_with = "undo")]
    pub yes: bool,
    /// Take back the answers, and the changes that they made
    #[arg(long)]
    pub undo: bool,
}

/// `orange uninstall …`
#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// Remove it
    #[arg(long)]
    pub yes: bool,
}

/// `orange demo …`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep its files
    #[arg(long)]
    pub keep: bool,
    /// Make a scratch folder, and remove it at the end of standard input
    #[arg(long, hide = true, conflicts_with = "keep")]
    pub sweep: bool,
}

/// `orange gc …`
#[derive(Debug, Args)]
pub struct GcArgs {
    /// Only leftovers of this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Only this kind
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(LeftoverKind::NAMES))]
    pub kind: Option<String>,
    /// Only leftovers of this age in days or more; this replaces the settings
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub older_than: Option<u32>,
    /// Remove it
    #[arg(long)]
    pub yes: bool,
}

/// `orange usage …`
#[derive(Debug, Args)]
pub struct UsageArgs {
    /// The groups of agents
    #[arg(long, value_name = "GROUP", default_value = "project", value_parser = PossibleValuesParser::new(UsageBy::NAMES))]
    pub by: String,
    /// Only agents of this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Only agents that have ended on this day or later
    #[arg(long, value_name = "DATE", value_parser = parse::day)]
    pub since: Option<String>,
}

/// A shell that can complete our commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "their docs would be help texts, and the names say it all")]
pub enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}

impl Command {
    /// Its name in the log.
    pub fn component(&self) -> &'static str {
        match self {
            Command::Agent(_) => "agent",
            Command::Task(CommandGroup(TaskCommand::Finish { .. })) => "finish",
            Command::Task(CommandGroup(TaskCommand::Ask { .. })) => "ask",
            Command::Task(CommandGroup(TaskCommand::SpawnNext { .. })) => "spawn-next",
            Command::Task(CommandGroup(TaskCommand::MergeIntoParent { .. })) => "merge-into-parent",
            Command::Task(_) | Command::Ls(_) => "task",
            Command::Mission(CommandGroup(MissionCommand::Advance { .. })) => "advance",
            Command::Mission(CommandGroup(MissionCommand::RunProgram { .. })) => "run-program",
            Command::Mission(_) => "mission",
            Command::Attempt(_) => "attempt",
            Command::Step(_) => "step",
            Command::Project(_) => "project",
            Command::Workspace(_) => "workspace",
            Command::Dashboard(_) | Command::Editor { .. } => "dashboard",
            Command::Monitor(_) => "monitor",
            Command::Intake(_) => "intake",
            Command::Schedule(_) => "schedule",
            Command::Notify(_) => "notify",
            Command::Workflow(_) => "workflow",
            Command::Harness(_) => "harness",
            Command::Log(_) => "log",
            Command::Install(_) => "install",
            Command::Setup(_) => "setup",
            Command::Demo(_) => "demo",
            Command::Uninstall(_) => "uninstall",
            Command::Mcp => "mcp",
            Command::Doctor { .. } => "doctor",
            Command::Gc(_) => "gc",
            Command::Usage(_) => "usage",
            Command::Completions { .. } | Command::Complete { .. } => "completions",
            Command::Manual { .. } => "manual",
        }
    }

    /// True if `orange` starts this itself, in a session without a terminal.
    pub fn is_detached(&self) -> bool {
        matches!(
            self,
            Command::Agent(CommandGroup(
                AgentCommand::Serve(_)
                    | AgentCommand::Detach { .. }
                    | AgentCommand::Ended(_)
                    | AgentCommand::Resume(_)
                    | AgentCommand::Limited(_)
            )) | Command::Task(CommandGroup(
                TaskCommand::Finish { .. }
                    | TaskCommand::Ask { .. }
                    | TaskCommand::MergeIntoParent { .. }
                    | TaskCommand::SpawnNext { .. }
            )) | Command::Mission(CommandGroup(
                MissionCommand::Advance { .. } | MissionCommand::RunProgram { .. }
            ))
        )
    }
}

#[cfg(test)]
mod tests;
