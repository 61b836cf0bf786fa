//! The command line of `orange`: each command as a value, and its line in the table that it is read by.

mod agent;
mod project;
mod task;
mod workflow;
mod workspace;

pub use agent::AgentCommand;
pub use project::{ProjectCommand, ProjectSettings};
pub use task::{CreateArgs, MergeArgs, TaskCommand, TaskName, UpdateArgs, WaitArgs};
pub use workflow::WorkflowCommand;
pub use workspace::WorkspaceCommand;

use crate::cmd::line::{Arg, Spec, Takes};
use crate::log::Level;

/// What a command line asks for.
#[derive(Debug)]
pub struct Cli {
    /// Answer with one JSON value.
    pub json: bool,
    /// What to do.
    pub command: Command,
}

/// The groups of commands, and those that are in none.
#[derive(Debug)]
pub enum Command {
    /// `orange project …`
    Project(ProjectCommand),
    /// `orange task …`
    Task(TaskCommand),
    /// `orange workspace …`
    Workspace(WorkspaceCommand),
    /// `orange monitor …`
    Monitor(MonitorArgs),
    /// `orange workflow …`
    Workflow(WorkflowCommand),
    /// Show what processes without a terminal had to say.
    Log(LogArgs),
    /// Write the skill for agents.
    Install(InstallArgs),
    /// Become the server of the Model Context Protocol.
    Mcp,
    /// `orange doctor`
    Doctor,
    /// Print the completion script of a shell.
    Completions {
        /// Its name.
        shell: String,
    },
    /// What could be typed next, for completion scripts.
    Complete {
        /// The words behind `orange` so far; the last is the one that is being typed, and may be empty.
        words: Vec<String>,
    },
    /// What runs inside tmux.
    Agent(AgentCommand),
}

/// `orange monitor …`
#[derive(Debug)]
pub struct MonitorArgs {
    /// Look once and end.
    pub once: bool,
    /// Seconds between two looks.
    pub interval: Option<u32>,
}

/// `orange log …`
#[derive(Debug)]
pub struct LogArgs {
    /// Only lines of this level and graver ones.
    pub level: Option<String>,
    /// Only lines that this command wrote.
    pub component: Option<String>,
    /// Only lines that say this.
    pub grep: Option<String>,
    /// The last so many.
    pub lines: usize,
}

/// `orange install …`
#[derive(Debug)]
pub struct InstallArgs {
    /// For which harness; for those whose programs are there without.
    pub harness: Option<String>,
    /// Only print it.
    pub print: bool,
}

impl Command {
    /// What the log calls it.
    pub fn component(&self) -> &'static str {
        match self {
            Command::Agent(_) => "agent",
            Command::Task(TaskCommand::Finish { .. }) => "finish",
            Command::Task(TaskCommand::SpawnNext { .. }) => "spawn-next",
            Command::Task(_) => "task",
            Command::Project(_) => "project",
            Command::Workspace(_) => "workspace",
            Command::Monitor(_) => "monitor",
            Command::Workflow(_) => "workflow",
            Command::Log(_) => "log",
            Command::Install(_) => "install",
            Command::Mcp => "mcp",
            Command::Doctor => "doctor",
            Command::Completions { .. } | Command::Complete { .. } => "completions",
        }
    }

    /// Whether `orange` runs this by itself, in a session that no terminal belongs to.
    pub fn is_detached(&self) -> bool {
        matches!(
            self,
            Command::Agent(AgentCommand::Ended { .. } | AgentCommand::Resume { .. })
                | Command::Task(TaskCommand::Finish { .. } | TaskCommand::SpawnNext { .. })
        )
    }
}

/// Everything that can be typed.
pub static ORANGE: Spec = Spec::group(
    "orange",
    "Drives the tasks of coding agents: agents write artifacts, the engine decides",
    &[
        project::SPEC,
        task::SPEC,
        workspace::SPEC,
        MONITOR,
        workflow::SPEC,
        LOG,
        INSTALL,
        MCP,
        DOCTOR,
        COMPLETIONS,
        COMPLETE,
        agent::SPEC,
    ],
)
.args(&[Arg::flag("version", "Print the version")])
.examples(&[
    "orange project add ~/code/coffee --pool-size 2",
    "orange task create add-login \"Implement the login form\"",
    "orange task list",
    "orange task update --status agent-review      (an agent, in its worktree)",
    "orange task merge add-login --local",
])
.notes(
    "\
Environment: ORANGE_HOME (default ~/orange), ORANGE_TMUX_SOCKET (default orange), ORANGE_LOG_LEVEL (default info).
Exit status: 0 done, 1 refused, 2 usage, 3 not found, 4 locked, 5 environment, 6 corrupt file.",
);

const MONITOR: Spec = Spec::command(
    "monitor",
    "Look after the agents: apply the exit rules to those that died unnoticed",
    |given| Command::Monitor(MonitorArgs { once: given.has("once"), interval: given.number("interval") }),
)
.args(&[
    Arg::flag("once", "Look once and end"),
    Arg::option(
        "interval",
        "SECONDS",
        Takes::Number(1, 86_400),
        "Seconds between two looks [default: the smallest of the workflows']",
    ),
])
.examples(&[
    "orange monitor                  (until interrupted)",
    "orange monitor --once --json    (one look, for cron and scripts)",
]);

const LOG: Spec = Spec::command("log", "Show what processes without a terminal had to say", |given| {
    Command::Log(LogArgs {
        level: given.text("level"),
        component: given.text("component"),
        grep: given.text("grep"),
        lines: given.number("lines").unwrap_or_default(),
    })
})
.args(&[
    Arg::option("level", "L", Takes::OneOf(Level::NAMES), "Only lines of this level and graver ones"),
    Arg::option(
        "component",
        "C",
        Takes::OneOf(&["agent", "finish", "spawn-next"]),
        "Only lines that it wrote",
    ),
    Arg::option("grep", "TEXT", Takes::Text, "Only lines that say this"),
    Arg::option("lines", "N", Takes::Number(1, 1_000_000), "The last so many").or("100"),
])
.examples(&[
    "orange log",
    "orange log --level error --lines 10",
    "orange log --component agent --grep crashed --json",
])
.notes("ORANGE_LOG_LEVEL says what is written: error, warn, info (which it is without) or debug.");

const INSTALL: Spec =
    Spec::command("install", "Write the skill for agents, from the workflows as they are", |given| {
        Command::Install(InstallArgs { harness: given.text("harness"), print: given.has("print") })
    })
    .args(&[
        Arg::option(
            "harness",
            "H",
            Takes::Harness,
            "For which coding agent [default: every one whose program is on PATH]",
        ),
        Arg::flag("print", "Only print it"),
    ])
    .examples(&["orange install", "orange install --harness codex", "orange install --print"])
    .notes("It is written anew with every install; a file that somebody else wrote is left alone.");

const MCP: Spec = Spec::command(
    "mcp",
    "Answer agents over the Model Context Protocol: task_list, task_show, task_next, task_update",
    |_| Command::Mcp,
)
.examples(&["orange mcp"])
.notes(
    "\
It becomes `orange-mcp`, which lies beside `orange` or on PATH. An agent's settings name it as a server:
claude mcp add orange -- orange mcp",
);

const DOCTOR: Spec = Spec::command(
    "doctor",
    "Look at everything that tasks need, and at what was left behind; changes nothing",
    |_| Command::Doctor,
)
.examples(&["orange doctor", "orange doctor --json"])
.notes("Every finding comes with what to do about it. Exit status: 0 when nothing is broken, 5 when something is.");

const COMPLETIONS: Spec = Spec::command("completions", "Print a completion script", |given| {
    Command::Completions { shell: given.needed("SHELL") }
})
.args(&[Arg::needed("SHELL", Takes::OneOf(&["bash", "zsh", "fish"]), "The shell that it is for")])
.examples(&[
    "source <(orange completions bash)    (in ~/.bashrc; with zsh for bash, in ~/.zshrc below compinit)",
    "orange completions fish > ~/.config/fish/completions/orange.fish",
]);

const COMPLETE: Spec = Spec::command("complete", "Print what could be typed next", |given| {
    Command::Complete { words: given.all("WORDS") }
})
.args(&[Arg::word("WORDS", Takes::Text, "The words so far, behind `--`").many()])
.hidden();
