//! The arguments of `orange mission`, `orange attempt` and `orange step`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use orange_core::plan::{Execution, Intervene};

use super::transcripts::PaneArgs;

/// `orange mission …`
#[derive(Debug, Subcommand)]
pub enum MissionCommand {
    /// Start a mission: one run of a step workflow
    #[command(after_help = "\
Examples:
  orange mission start dev-task \"Add a login form\"
  orange mission start dev-task --project coffee --branch login --execution step \"Add a login form\"
  git log -1 | orange mission start dev-task --intervene never -

The first agent starts at once, or as soon as a worktree of the project is free.")]
    Start(StartArgs),
    /// List missions
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  orange mission list
  orange mission list --all --json"
    )]
    List(MissionListArgs),
    /// Show a mission: its steps, attempts and results, and what it waits for
    #[command(after_help = "\
Examples:
  orange mission show login
  orange mission show --json")]
    Show(MissionName),
    /// Print what happens to it, or to all missions, as it happens
    #[command(after_help = "\
Examples:
  orange mission watch                  (until interrupted)
  orange mission watch login --json     (until it is over; an object a line)")]
    Watch {
        /// Its id, the start of its id, or its branch [default: all missions]
        #[arg(id = "MISSION", value_name = "MISSION")]
        name: Option<String>,
        /// Every event, and each change of what agents do
        #[arg(long, short)]
        verbose: bool,
    },
    /// Show its session on this terminal, from one agent to the next
    #[command(after_help = "Example:\n  orange mission attach login")]
    Attach(MissionName),
    /// Show the transcript of an agent
    #[command(after_help = "\
Examples:
  orange mission logs login
  orange mission logs login plan")]
    Logs {
        #[command(flatten)]
        mission: MissionName,
        /// The last agent of this step, or of this item of a step, such as `panel.2` [default: the last agent]
        #[arg(value_name = "STEP")]
        step: Option<String>,
    },
    /// Show what an agent's terminal shows now
    #[command(after_help = "\
Examples:
  orange mission pane login
  orange mission pane login --follow --json    (until the agent has ended; an object a line)")]
    Pane {
        #[command(flatten)]
        mission: MissionName,
        #[command(flatten)]
        pane: PaneArgs,
    },
    /// Answer the pause of a mission
    #[command(after_help = "\
Examples:
  orange mission continue login
  orange mission continue login --pause 1
  orange mission continue login --accept-failure
  orange mission continue login --execution auto --intervene on-error

After an error it tries the step again, at an exhausted loop it grants one more round, and at the cap as many attempts again; with
--accept-failure the failure counts, and no step starts any more. At any other pause it goes on. With --pause, an answer to an older pause is refused.")]
    Continue(ContinueArgs),
    /// Answer the question of a step that asks a person
    #[command(after_help = "\
Examples:
  orange mission answer login approve
  orange mission answer login release later --comment \"After the fair\"
  orange mission answer login reject --comment \"The plan has no tests\"

One word is the answer, to the mission of the current worktree; of two, the first is the mission; of three, the second is the step, which
only a mission needs that asks several questions. The answer is given in the name that git has for you here (`user.name`), and a step
that names its people takes no other. `reject` fails the step, with the comment as the reason; every other answer completes it, with
the comment as the summary. The first answer counts. No agent may answer.")]
    Answer(AnswerArgs),
    /// Run a failed mission again from its failed steps
    #[command(after_help = "\
Examples:
  orange mission retry login
  orange mission retry login plan")]
    Retry {
        #[command(flatten)]
        mission: MissionName,
        /// From this step [default: every failed one]
        #[arg(value_name = "STEP")]
        step: Option<String>,
    },
    /// End a mission and its agent, and give its worktree back
    #[command(after_help = "\
Example:
  orange mission cancel login --yes

Its branch stays, and work that is not committed is backed up, as with a task.")]
    Cancel {
        #[command(flatten)]
        mission: MissionName,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Move a mission that is over to the trash; its branch and its backups stay
    #[command(after_help = "\
Example:
  orange mission delete login --yes

A mission that is not over, or has a worktree or a session, is refused: cancel it first.")]
    Delete {
        #[command(flatten)]
        mission: MissionName,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Bring a deleted mission back, or make a branch of work that was backed up
    #[command(after_help = "\
Examples:
  orange mission restore login
  orange mission restore login --backup 1

A deleted mission comes back as it was. For any other mission, the backup of its worktree becomes a branch; worktrees and
existing branches stay as they are. With several backups, `--backup` selects one.")]
    Restore {
        #[command(flatten)]
        mission: MissionName,
        /// The backup, by the last part of its ref
        #[arg(long, value_name = "N")]
        backup: Option<u32>,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
    },
    /// Run the program of the next step; what orange calls itself
    #[command(hide = true)]
    RunProgram {
        /// The mission's id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Bring a mission forward; what orange calls itself
    #[command(hide = true)]
    Advance {
        /// The mission's id
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// `orange attempt …`
#[derive(Debug, Subcommand)]
pub enum AttemptCommand {
    /// Start an attempt, once for each of its keys
    #[command(after_help = "\
Example:
  orange attempt run - < attempt.json

docs/missions.md has an example of the JSON. An attempt that was started with this key before is shown as it stands.
The worktree of an attempt that has ended stays until `orange mission cancel`.")]
    Run {
        /// The attempt, as JSON; `-` reads standard input
        #[arg(value_name = "JSON|-")]
        attempt: String,
    },
    /// Show an attempt
    #[command(after_help = "Example:\n  orange attempt show login --json")]
    Show {
        /// Its mission: the id, the start of the id, or the branch
        #[arg(value_name = "MISSION")]
        mission: String,
    },
}

/// `orange step …`
#[derive(Debug, Subcommand)]
pub enum StepCommand {
    /// Show the step at which this agent works: what it is asked, and what it may report
    #[command(after_help = "Example:\n  orange step show --json")]
    Show,
    /// Report that the step is complete
    #[command(after_help = "\
Examples:
  orange step complete --summary \"The form is there, with tests\"
  orange step complete --result FAIL --summary - < review.md
  orange step complete --result PASS --summary \"Good\" --warning \"The tests are slow\"

The summary is what later steps and people read. The mission goes on at once, and ends this agent.")]
    Complete(CompleteArgs),
    /// Report that the step cannot be done
    #[command(after_help = "Example:\n  orange step fail --reason \"The repository does not build\"")]
    Fail {
        /// The reason; `-` reads standard input
        #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
        reason: String,
    },
}

/// Names a mission.
#[derive(Debug, Args)]
pub struct MissionName {
    /// Its id, the start of its id, or its branch [default: the mission of the current worktree]
    #[arg(id = "MISSION", value_name = "MISSION")]
    pub name: Option<String>,
}

/// `orange mission start …`
#[derive(Debug, Args)]
pub struct StartArgs {
    /// The step workflow
    #[arg(value_name = "WORKFLOW")]
    pub workflow: String,
    /// The work to be done; `-` reads standard input
    #[arg(value_name = "PROMPT", allow_hyphen_values = true)]
    pub prompt: Option<String>,
    /// The project [default: the one of the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// The value of an input that the workflow declares; of a list, one item each time
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = named_value)]
    pub inputs: Vec<(String, String)>,
    /// The branch to work on [default: orange/PROMPT-ID, with the first words of the prompt]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Policy of its pauses, in place of the workflow's.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Send no messages at the boundaries of steps to the agent that starts it
    #[arg(long)]
    pub no_notices: bool,
    /// The harness of steps that name none [default: the project's]
    #[arg(long, value_name = "HARNESS")]
    pub harness: Option<String>,
    /// The harness of steps of the role `reviewer` that name no harness [default: the project's]
    #[arg(long, value_name = "HARNESS")]
    pub review_harness: Option<String>,
}

/// Policy of a mission's pauses.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// step: pause after every step; auto: go on
    #[arg(
        long,
        value_name = "HOW",
        value_parser = PossibleValuesParser::new(Execution::ALL.map(Execution::as_str))
            .try_map(|word| Execution::from_name(&word).ok_or("it is not a way to go on"))
    )]
    pub execution: Option<Execution>,
    /// At which ends of steps it pauses
    #[arg(
        long,
        value_name = "WHEN",
        value_parser = PossibleValuesParser::new(Intervene::ALL.map(Intervene::as_str))
            .try_map(|word| Intervene::from_name(&word).ok_or("it is not a time to pause"))
    )]
    pub intervene: Option<Intervene>,
}

/// `orange mission list …`
#[derive(Debug, Default, Args)]
pub struct MissionListArgs {
    /// Only missions of this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Also those that are over
    #[arg(long)]
    pub all: bool,
    /// Missions of every project, not only of the one in which you stand
    #[arg(long, conflicts_with = "project")]
    pub all_projects: bool,
    /// Only missions that need a person
    #[arg(long)]
    pub needs_me: bool,
}

/// `orange mission continue …`
#[derive(Debug, Args)]
pub struct ContinueArgs {
    #[command(flatten)]
    pub mission: MissionName,
    /// The number of the pause that this answers [default: the oldest open one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub pause: Option<u32>,
    /// Take the failure as it is
    #[arg(long)]
    pub accept_failure: bool,
    /// Policy of its pauses from now on.
    #[command(flatten)]
    pub policy: PolicyArgs,
}

/// `orange mission answer …`
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The mission, the step that asks, and the answer
    #[arg(value_name = "[MISSION [STEP]] ANSWER", required = true, num_args = 1..=3)]
    pub words: Vec<String>,
    /// Comment for the steps after it, or the reason of a rejection; `-` reads standard input
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
    pub comment: Option<String>,
    /// The commit that you have seen: an answer about another one is refused
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
}

impl AnswerArgs {
    /// The mission, the step and the answer.
    pub fn parts(&self) -> (Option<&str>, Option<&str>, &str) {
        match &self.words[..] {
            [mission, step, answer, ..] => (Some(mission), Some(step), answer),
            [mission, answer] => (Some(mission), None, answer),
            [answer] => (None, None, answer),
            [] => (None, None, ""),
        }
    }
}

/// `orange step complete …`
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The result in one word, where the step declares one or a condition reads it
    #[arg(long, value_name = "RESULT")]
    pub result: Option<String>,
    /// The work that was done; `-` reads standard input
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
    pub summary: String,
    /// A call for a person's attention
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub warning: Option<String>,
    /// The value of an output that the step declares; of a list, one item each time
    #[arg(long = "output", value_name = "NAME=VALUE", value_parser = named_value)]
    pub outputs: Vec<(String, String)>,
    /// Outputs as a JSON object; `-` reads standard input
    #[arg(long = "outputs", value_name = "JSON|-", conflicts_with = "outputs")]
    pub outputs_json: Option<String>,
}

/// `NAME=VALUE`
fn named_value(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        Some(_) | None => Err("write NAME=VALUE".to_owned()),
    }
}
