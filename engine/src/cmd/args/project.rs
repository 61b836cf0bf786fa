//! The arguments of `orange project`.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use orange_core::budget::Budget;
use orange_core::feedback::{Authors, Resolve, flaw_of_login};
use orange_core::forge::ForgeKind;
use orange_core::merge::{MessageForm, Strategy};
use orange_core::wall::{Level, NetworkGrant, flaw_of_host};

use super::merge::{message_form, strategy};

use crate::store::settings::ports::PER_SLOT;
use crate::store::settings::{
    MergeSettings, Ports, Settings, TIMEOUT, WorktreeProgram, flaw_of_grant, flaw_of_path, flaw_of_program,
    flaw_of_variable,
};

/// `orange project …`
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// Add a repository
    #[command(after_help = "\
Examples:
  orange project add
  orange project add ~/code/coffee --name coffee --pool-size 4 --workflow minimal")]
    Add {
        /// The repository [default: the one of the current folder]
        #[arg(value_name = "PATH")]
        path: Option<PathBuf>,
        /// Its name [default: the folder's name]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Its settings.
        #[command(flatten)]
        settings: Box<ProjectSettings>,
    },
    /// List them
    #[command(visible_alias = "ls", after_help = "Example:\n  orange project list --json")]
    List,
    /// Show the settings of one, and where each comes from
    #[command(after_help = "\
Examples:
  orange project show
  orange project show coffee --json

A setting comes from `orange project update`, else from the `orange.toml` of the repository if that is trusted, else it has its
default.")]
    Show {
        /// The project [default: the one of the current folder]
        #[arg(value_name = "PROJECT")]
        name: Option<String>,
    },
    /// Agree to the `orange.toml` of its repository, as it is now
    #[command(after_help = "\
Examples:
  orange project trust
  orange project trust coffee --yes
  orange project trust coffee --yes --hash 2c26b46b

`orange.toml` names programs that Orange runs and files that it copies, so Orange uses nothing of it before a person agrees. It shows
the file, or its changes since the last time, and asks. A file that changes is not used until it is trusted again.")]
    Trust {
        /// The project [default: the one of the current folder]
        #[arg(value_name = "PROJECT")]
        name: Option<String>,
        /// Agree without a question
        #[arg(long)]
        yes: bool,
        /// Agree only if the SHA-256 of the file begins with these digits
        #[arg(long, value_name = "DIGITS")]
        hash: Option<String>,
    },
    /// Change the settings of one
    #[command(after_help = "\
Examples:
  orange project update coffee --pool-size 4
  orange project update coffee --path ~/code/coffee
  orange project update coffee --copy .env --link node_modules --setup '[\"npm\", \"ci\"]'
  orange project update coffee --ports 4000:10 --unset copy --unset link --unset setup")]
    Update {
        /// The project [default: the one of the current folder]
        #[arg(value_name = "PROJECT")]
        name: Option<String>,
        /// The present path of its repository; its worktrees are linked to it again
        #[arg(long, value_name = "PATH")]
        path: Option<PathBuf>,
        /// Its settings.
        #[command(flatten)]
        settings: Box<ProjectSettings>,
    },
    /// Forget one; its repository and its finished tasks stay as they are
    #[command(after_help = "Example:\n  orange project remove coffee")]
    Remove {
        /// The project
        #[arg(value_name = "PROJECT")]
        name: String,
    },
    /// Make a token for a program that asks as an actor of the workflow, and print it
    #[command(after_help = "\
Examples:
  orange project token ci > ~/.ci-token
  orange project token ci --project coffee --json

The workflow declares the actor: `actors: [ci]`. The program then asks for what `by: ci` allows:
  orange task update add-login --status shipped --as ci --token-file ~/.ci-token
Orange keeps a hash only and cannot print the token again. Keep it where agents cannot read it.")]
    Token {
        /// The actor
        #[arg(value_name = "ACTOR")]
        actor: String,
        /// The project whose tasks it is for [default: the one of the current folder]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// List the tokens that are valid
    #[command(after_help = "Example:\n  orange project tokens --project coffee")]
    Tokens {
        /// The project [default: the one of the current folder]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Revoke the tokens of an actor, or one of them
    #[command(after_help = "\
Examples:
  orange project revoke ci
  orange project revoke ci 3f9ac02b --project coffee")]
    Revoke {
        /// The actor
        #[arg(value_name = "ACTOR")]
        actor: String,
        /// The token, as `orange project tokens` lists it [default: all of the actor]
        #[arg(value_name = "TOKEN")]
        id: Option<String>,
        /// The project [default: the one of the current folder]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
}

/// The settings of a project.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub struct ProjectSettings {
    /// The number of tasks that may hold a worktree at once; 2 in a new project
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub pool_size: Option<u32>,
    /// The workflow of its new tasks; `default` in a new project
    #[arg(long, value_name = "WORKFLOW")]
    pub workflow: Option<String>,
    /// The branch that work is based on and merged into; in a new project the default branch of `origin`, else the one
    /// that is checked out
    #[arg(long, value_name = "BRANCH")]
    pub default_branch: Option<String>,
    /// The size of all transcripts of a task in millions of bytes; 20 in a new project
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub transcripts_mb: Option<u32>,
    /// True if `orange task answer` may type on the screen of an agent that cannot be answered otherwise; `false` in a new project
    #[arg(long, value_name = "true|false")]
    pub type_answers: Option<bool>,
    /// The starter of waiting tasks: `auto` gives them every worktree that is free, `manual` leaves them to people and to
    /// `spawn_next`; `manual` in a new project
    #[arg(long, value_name = "QUEUE", value_parser = ["auto", "manual"])]
    pub queue: Option<String>,
    /// After how many days the monitor removes merged backups of tasks that are over, or `never`
    #[arg(long, value_name = "DAYS", value_parser = days)]
    pub backup_days: Option<Days>,
    /// After how many days the monitor removes merged branches of tasks that are over, or `never`
    #[arg(long, value_name = "DAYS", value_parser = days)]
    pub branch_days: Option<Days>,
    /// After how many days the monitor removes deleted tasks and missions without a backup, or `never`
    #[arg(long, value_name = "DAYS", value_parser = days)]
    pub trash_days: Option<Days>,
    /// A file or folder of the repository that each new worktree gets a copy of; once for each, or once as '' for none
    #[arg(long, value_name = "PLACE", value_parser = place)]
    pub copy: Option<Vec<String>>,
    /// A file or folder of the repository that each new worktree gets a link to; once for each, or once as '' for none
    #[arg(long, value_name = "PLACE", value_parser = place)]
    pub link: Option<Vec<String>>,
    /// A program that prepares each new worktree, as JSON: '["npm", "ci"]', or '{"argv": ["npm", "ci"], "timeout": 600}'; once for each,
    /// or once as '' for none
    #[arg(long, value_name = "JSON", value_parser = program)]
    pub setup: Option<Vec<NewProgram>>,
    /// The first port of the first worktree, and how many each has; 10 without a number
    #[arg(long, value_name = "BASE[:NUMBER]", value_parser = ports)]
    pub ports: Option<Ports>,
    /// The harness of the workers of its new tasks; `claude` in a new project
    #[arg(long, value_name = "HARNESS")]
    pub harness: Option<String>,
    /// The harness of the reviewers of its new tasks; `claude` in a new project
    #[arg(long, value_name = "HARNESS")]
    pub review_harness: Option<String>,
    /// True if the worktree of a task that waits for a person, and whose agents have ended, may be reclaimed for another task;
    /// `false` in a new project
    #[arg(long, value_name = "true|false")]
    pub reclaim_when_waiting: Option<bool>,
    /// A variable that agents get of the environment in which they are started, instead of all of them; once for each, or once as '' for
    /// none but those that every program needs
    #[arg(long, value_name = "NAME", value_parser = variable)]
    pub environment: Option<Vec<String>>,
    /// The strategy of merges: ff, merge, squash, rebase, or auto for the first of ff, rebase and merge that is possible; `ff` in a new
    /// project
    #[arg(long, value_name = "HOW", value_parser = strategy(&Strategy::ALL))]
    pub merge_strategy: Option<Strategy>,
    /// The strategy of `orange task sync`: merge or rebase; `merge` in a new project
    #[arg(long, value_name = "HOW", value_parser = strategy(&Strategy::OF_SYNC))]
    pub merge_sync: Option<Strategy>,
    /// The branch into which tasks without a base of their own are merged; the default branch in a new project
    #[arg(long, value_name = "BRANCH", value_parser = NonEmptyStringValueParser::new())]
    pub merge_into: Option<String>,
    /// The text of squashed commits: the summary with the subjects of the commits, the messages of the commits, or title and text of
    /// the pull request; `summary` in a new project
    #[arg(long, value_name = "TEXT", value_parser = message_form())]
    pub merge_message: Option<MessageForm>,
    /// True if squashed commits name the other authors; `true` in a new project
    #[arg(long, value_name = "true|false")]
    pub merge_coauthors: Option<bool>,
    /// True if a merge pushes its target; `true` in a new project
    #[arg(long, value_name = "true|false")]
    pub merge_push: Option<bool>,
    /// True if a task goes on after a merge that a person makes; `false` in a new project
    #[arg(long, value_name = "true|false")]
    pub merge_keep: Option<bool>,
    /// The forge that has its pull requests: github or gitlab; without a word, that of the address of its remote
    #[arg(long, value_name = "FORGE", value_parser = forge())]
    pub forge: Option<ForgeKind>,
    /// An account whose comments on pull requests agents get; once for each, or once as `write` for all who may push, or as '' for none;
    /// `write` in a new project
    #[arg(long, value_name = "NAME", value_parser = author)]
    pub feedback_authors: Option<Vec<String>>,
    /// A bot whose comments on pull requests agents get; once for each, or once as '' for none
    #[arg(long, value_name = "NAME", value_parser = login)]
    pub feedback_bots: Option<Vec<String>>,
    /// The threads that answers of agents may resolve: never, those of bots, or all; `never` in a new project
    #[arg(long, value_name = "WHICH", value_parser = resolve())]
    pub feedback_resolve: Option<Resolve>,
    /// The limits of each task that has none of its own: cost in dollars, tokens, fresh_tokens, time, starts
    #[arg(long, value_name = "LIMITS", value_parser = limits)]
    pub budget_task: Option<Box<Budget>>,
    /// The limits of all agents of a day in UTC; once they are reached, no agent starts until the next day
    #[arg(long, value_name = "LIMITS", value_parser = limits)]
    pub budget_day: Option<Box<Budget>>,
    /// The limits of all agents of a month in UTC; once they are reached, no agent starts until the next month
    #[arg(long, value_name = "LIMITS", value_parser = limits)]
    pub budget_month: Option<Box<Budget>>,
    /// The least confinement of its agents: `off`, or `wall` for namespaces in which everything is invisible that is not granted; `off`
    /// in a new project
    #[arg(long, value_name = "LEVEL", value_parser = level())]
    pub sandbox_level: Option<Level>,
    /// The most network of walled agents and programs: `listed` for the hosts of `--sandbox-hosts`, or `open` for every host of the
    /// internet; `listed` in a new project
    #[arg(long, value_name = "NETWORK", value_parser = network())]
    pub sandbox_network: Option<NetworkGrant>,
    /// A path that walled agents can read; once for each, or once as '' for none
    #[arg(long, value_name = "PATH", value_parser = grant)]
    pub sandbox_read: Option<Vec<String>>,
    /// A path that walled agents can write to; once for each, or once as '' for none
    #[arg(long, value_name = "PATH", value_parser = grant)]
    pub sandbox_write: Option<Vec<String>>,
    /// A variable that walled agents get; once for each, or once as '' for none
    #[arg(long, value_name = "NAME", value_parser = variable)]
    pub sandbox_env: Option<Vec<String>>,
    /// A host that walled agents reach, such as `registry.npmjs.org:443` or `*.example.org:443`; once for each, or once as '' for none
    #[arg(long, value_name = "HOST:PORT", value_parser = host)]
    pub sandbox_hosts: Option<Vec<String>>,
    /// Take back what was set here, so that `orange.toml` or the default counts; once for each
    #[arg(long, value_name = "SETTING", value_parser = SHARED)]
    pub unset: Vec<String>,
}

/// The settings that `orange.toml` can have, too.
const SHARED: [&str; 28] = [
    "copy",
    "link",
    "setup",
    "ports",
    "harness",
    "review-harness",
    "reclaim-when-waiting",
    "environment",
    "merge-strategy",
    "merge-sync",
    "merge-into",
    "merge-message",
    "merge-coauthors",
    "merge-push",
    "merge-keep",
    "forge",
    "feedback-authors",
    "feedback-bots",
    "feedback-resolve",
    "budget-task",
    "budget-day",
    "budget-month",
    "sandbox-level",
    "sandbox-network",
    "sandbox-read",
    "sandbox-write",
    "sandbox-env",
    "sandbox-hosts",
];

impl ProjectSettings {
    /// Changes what these set, and takes back what they unset.
    pub fn change(&self, settings: &mut Settings) {
        for name in &self.unset {
            match name.as_str() {
                "copy" => settings.copy = None,
                "link" => settings.link = None,
                "setup" => settings.setup = None,
                "ports" => settings.ports = None,
                "harness" => settings.harness = None,
                "review-harness" => settings.review_harness = None,
                "environment" => settings.environment = None,
                "merge-strategy" => settings.merge.strategy = None,
                "merge-sync" => settings.merge.sync = None,
                "merge-into" => settings.merge.into = None,
                "merge-message" => settings.merge.message = None,
                "merge-coauthors" => settings.merge.coauthors = None,
                "merge-push" => settings.merge.push = None,
                "merge-keep" => settings.merge.keep = None,
                "forge" => settings.forge = None,
                "feedback-authors" => settings.feedback.authors = None,
                "feedback-bots" => settings.feedback.bots = None,
                "feedback-resolve" => settings.feedback.resolve = None,
                "budget-task" => settings.budget.task = None,
                "budget-day" => settings.budget.day = None,
                "budget-month" => settings.budget.month = None,
                "sandbox-level" => settings.sandbox.level = None,
                "sandbox-network" => settings.sandbox.network = None,
                "sandbox-read" => settings.sandbox.read = None,
                "sandbox-write" => settings.sandbox.write = None,
                "sandbox-env" => settings.sandbox.env = None,
                "sandbox-hosts" => settings.sandbox.hosts = None,
                _ => settings.reclaim_when_waiting = None,
            }
        }
        let listed = |given: &Option<Vec<String>>| {
            let given = given.as_ref()?;
            Some(given.iter().filter(|text| !text.is_empty()).cloned().collect())
        };
        settings.copy = listed(&self.copy).or(settings.copy.take());
        settings.link = listed(&self.link).or(settings.link.take());
        settings.environment = listed(&self.environment).or(settings.environment.take());
        let programs = self.setup.as_ref().map(|given| given.iter().filter_map(|it| it.0.clone()).collect());
        settings.setup = programs.or(settings.setup.take());
        settings.ports = self.ports.or(settings.ports);
        settings.harness = self.harness.clone().or(settings.harness.take());
        settings.review_harness = self.review_harness.clone().or(settings.review_harness.take());
        self.change_merge(&mut settings.merge);
        settings.forge = self.forge.or(settings.forge);
        let authors = listed(&self.feedback_authors).map(|names: Vec<String>| {
            if names.iter().any(|name| name == Authors::WRITE) {
                Authors::Write
            } else {
                Authors::Logins(names)
            }
        });
        settings.feedback.authors = authors.or(settings.feedback.authors.take());
        settings.feedback.resolve = self.feedback_resolve.or(settings.feedback.resolve);
        settings.feedback.bots = listed(&self.feedback_bots).or(settings.feedback.bots.take());
        settings.budget.task = self.budget_task.as_deref().copied().or(settings.budget.task);
        settings.budget.day = self.budget_day.as_deref().copied().or(settings.budget.day);
        settings.budget.month = self.budget_month.as_deref().copied().or(settings.budget.month);
        settings.reclaim_when_waiting = self.reclaim_when_waiting.or(settings.reclaim_when_waiting);
        let sandbox = &mut settings.sandbox;
        sandbox.level = self.sandbox_level.or(sandbox.level);
        sandbox.network = self.sandbox_network.or(sandbox.network);
        sandbox.read = listed(&self.sandbox_read).or(sandbox.read.take());
        sandbox.write = listed(&self.sandbox_write).or(sandbox.write.take());
        sandbox.env = listed(&self.sandbox_env).or(sandbox.env.take());
        sandbox.hosts = listed(&self.sandbox_hosts).or(sandbox.hosts.take());
    }

    fn change_merge(&self, merge: &mut MergeSettings) {
        merge.strategy = self.merge_strategy.or(merge.strategy);
        merge.sync = self.merge_sync.or(merge.sync);
        merge.into = self.merge_into.clone().or(merge.into.take());
        merge.message = self.merge_message.or(merge.message);
        merge.coauthors = self.merge_coauthors.or(merge.coauthors);
        merge.push = self.merge_push.or(merge.push);
        merge.keep = self.merge_keep.or(merge.keep);
    }
}

/// A program, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProgram(pub Option<WorktreeProgram>);

/// Boxed, since commands lie side by side in memory.
fn limits(text: &str) -> Result<Box<Budget>, String> {
    Budget::parse(text).map(Box::new)
}

fn forge() -> impl TypedValueParser<Value = ForgeKind> {
    let read = |word: String| ForgeKind::parse(&word).ok_or("a forge without a name");
    PossibleValuesParser::new(ForgeKind::ALL.map(ForgeKind::as_str)).try_map(read)
}

fn resolve() -> impl TypedValueParser<Value = Resolve> {
    let read = |word: String| Resolve::parse(&word).ok_or("a value without a word");
    PossibleValuesParser::new(Resolve::ALL.map(Resolve::as_str)).try_map(read)
}

fn level() -> impl TypedValueParser<Value = Level> {
    let read = |word: String| Level::parse(&word).ok_or("a level without a word");
    PossibleValuesParser::new(Level::ALL.map(Level::as_str)).try_map(read)
}

fn network() -> impl TypedValueParser<Value = NetworkGrant> {
    let read = |word: String| NetworkGrant::parse(&word).ok_or("a network without a word");
    PossibleValuesParser::new(NetworkGrant::ALL.map(NetworkGrant::as_str)).try_map(read)
}

fn grant(text: &str) -> Result<String, String> {
    none_or(text, flaw_of_grant)
}

fn host(text: &str) -> Result<String, String> {
    none_or(text, flaw_of_host)
}

fn place(text: &str) -> Result<String, String> {
    none_or(text, flaw_of_path)
}

fn variable(text: &str) -> Result<String, String> {
    none_or(text, flaw_of_variable)
}

fn author(text: &str) -> Result<String, String> {
    if text == Authors::WRITE { Ok(text.to_owned()) } else { login(text) }
}

fn login(text: &str) -> Result<String, String> {
    none_or(text, flaw_of_login)
}

fn none_or(text: &str, flaw: fn(&str) -> Option<String>) -> Result<String, String> {
    if text.is_empty() { Ok(String::new()) } else { flaw(text).map_or(Ok(text.to_owned()), Err) }
}

fn program(text: &str) -> Result<NewProgram, String> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum GivenProgram {
        Argv(Vec<String>),
        Program(WorktreeProgram),
    }
    if text.is_empty() {
        return Ok(NewProgram(None));
    }
    let given = serde_json::from_str(text).map_err(|_| {
        "it is a list of strings in JSON, '[\"npm\", \"ci\"]', or '{\"argv\": [\"npm\", \"ci\"], \"timeout\": 600}'".to_owned()
    })?;
    let program = match given {
        GivenProgram::Argv(argv) => WorktreeProgram { argv, timeout: TIMEOUT },
        GivenProgram::Program(program) => program,
    };
    flaw_of_program(&program).map_or(Ok(NewProgram(Some(program))), Err)
}

fn ports(text: &str) -> Result<Ports, String> {
    let (base, number) = text.split_once(':').map_or((text, None), |(base, number)| (base, Some(number)));
    let read =
        |text: &str| text.parse().map_err(|_| "it is a port, or a port and a number: 4000:10".to_owned());
    Ports::new(read(base)?, number.map_or(Ok(PER_SLOT), read)?)
}

/// An age, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days(pub Option<u32>);

fn days(text: &str) -> Result<Days, String> {
    const LONGEST: u32 = 100_000;
    if text == "never" {
        return Ok(Days(None));
    }
    let number = text.parse().ok().filter(|days| *days <= LONGEST);
    number
        .map(|days| Days(Some(days)))
        .ok_or_else(|| format!("it is a number from 0 to {LONGEST}, or `never`"))
}
