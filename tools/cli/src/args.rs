//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::screen::Colour;

/// Check, prove, draw, walk and mend agent workflows.
#[derive(Debug, Parser)]
#[command(
    name = "orange-workflow",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  orange-workflow check workflows/            check every workflow below a folder
  orange-workflow explain A07                 what a finding means and how to mend it
  orange-workflow graph workflows/flow.yml    draw a workflow as Mermaid

Exit status: 0 nothing wrong, 1 something was found, 2 the work could not be done."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// Use of colour in output for people
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: Colour,
}

/// The subcommand to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckArgs),
    Completions(crate::cmd::complete::Completions),
    #[command(hide = true)]
    Complete(crate::cmd::complete::Complete),
    Explain(Explain),
    Diff(crate::cmd::diff::Diff),
    Fmt(crate::cmd::fmt::Fmt),
    Emit(Emit),
    Graph(Graph),
    Init(Init),
    Lsp(crate::lsp::Lsp),
    #[command(hide = true)]
    Manual(crate::cmd::manual::Manual),
    Prove(crate::cmd::prove::Prove),
    Schema(crate::cmd::schema::SchemaArgs),
    Simulate(crate::cmd::simulate::Simulate),
    Test(crate::cmd::test::Test),
}

/// Find errors in workflows, before an agent does.
#[derive(Debug, Args)]
#[command(after_help = "\
A folder is searched for *.yml, *.yaml and *.toml, without its hidden folders; what is not a workflow there is \
named and skipped. Levels come from the nearest orange-workflow.toml upwards from each file, and then from flags.

Examples:
  orange-workflow check workflows/
  orange-workflow check flow.yml --format short
  orange-workflow check workflows/ --deny warnings --allow name-mismatch
  orange-workflow check workflows/ --deny C4,C61 --warn C43
  orange-workflow check workflows/ --statistics
  orange-workflow check workflows/ --watch
  orange-workflow check workflows/ --format sarif > findings.sarif
  orange-workflow check workflows/ --write-baseline known.json
  orange-workflow check workflows/ --baseline known.json
  orange-workflow check flow.yml --fix
  orange-workflow check flow.yml --unsafe-fixes --diff
  git show HEAD:flow.yml | orange-workflow check - --stdin-name flow.yml

Exit status: 0 nothing at `deny` or above, 1 something, 2 the work could not be done.")]
pub(crate) struct CheckArgs {
    /// Files or folders to check; `-` reads standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Format of the findings
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub format: FindingFormat,

    /// Fail on the findings of these checks, or on all `warnings`; `C4` stands for every check whose code begins with it
    #[arg(long, value_delimiter = ',', value_name = "warnings|CHECK")]
    pub deny: Vec<String>,

    /// Only warn of the findings of these checks
    #[arg(long, value_delimiter = ',', value_name = "CHECK")]
    pub warn: Vec<String>,

    /// Leave the findings of these checks out
    #[arg(long, value_delimiter = ',', value_name = "CHECK")]
    pub allow: Vec<String>,

    /// Apply the fixes that have one possible meaning, and report the other findings
    #[arg(long)]
    pub fix: bool,

    /// Also apply the fixes that may not be what the author meant
    #[arg(long)]
    pub unsafe_fixes: bool,

    /// Show the fixes as a diff, and write nothing
    #[arg(long)]
    pub diff: bool,

    /// Leave out the findings in this file
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Write all findings but errors to this file, and leave them out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "diff"])]
    pub write_baseline: Option<PathBuf>,

    /// Count the findings of each check, the most frequent first
    #[arg(long)]
    pub statistics: bool,

    /// Check again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["fix", "unsafe_fixes", "diff", "write_baseline"])]
    pub watch: bool,

    /// Read no `orange-workflow.toml`
    #[arg(long)]
    pub no_config: bool,

    /// Check every file, also those whose text was checked before and had no finding
    #[arg(long)]
    pub no_cache: bool,

    /// Exit 0 with any findings
    #[arg(long)]
    pub exit_zero: bool,

    /// The file name that `-` stands for: names it in findings, and says whether it is YAML or TOML
    #[arg(long, value_name = "FILE")]
    pub stdin_name: Option<String>,
}

/// Format of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingFormat {
    /// For people: drawn on a terminal, in sentences elsewhere
    Human,
    /// Drawn, with the lines of the file they are about
    Graphical,
    /// In plain sentences, for screen readers
    Narrated,
    /// One line each
    Short,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning and editors
    Sarif,
    /// Annotations of GitHub Actions, the worst first
    Github,
    /// Code Quality of GitLab
    Gitlab,
    /// The Diagnostic Format of reviewdog
    Rdjson,
    /// JUnit's XML, for continuous integration
    Junit,
}

/// Print the page of a check: what it finds, why, and how to mend it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange-workflow explain A07
  orange-workflow explain ambiguous-transitions
  orange-workflow explain --list
  orange-workflow explain --site pages")]
pub(crate) struct Explain {
    /// The code or the name of a check
    #[arg(value_name = "CODE|NAME", required_unless_present_any = ["list", "site"])]
    pub check: Option<String>,

    /// List every check with its level and a short description
    #[arg(long, conflicts_with = "check")]
    pub list: bool,

    /// Write all pages into DIR as a small site of Markdown, with an index and links between them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["check", "list"])]
    pub site: Option<PathBuf>,
}

/// Print the Rust that the macro and the build script generate.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange-workflow emit flow.yml
  orange-workflow emit flow.yml -o src/flow.rs --core orange_engine::core")]
pub(crate) struct Emit {
    /// The workflow; `-` reads standard input
    pub file: PathBuf,

    /// Write there instead of to standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// The path of the core in the generated code
    #[arg(long, value_enum, value_name = "PATH", default_value = "orange_core")]
    pub core: Core,
}

/// The path of the core in generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Core {
    /// The crate itself, as the macro names it
    #[value(name = "orange_core")]
    Core,
    /// The engine's own copy, for a binary that links the engine
    #[value(name = "orange_engine::core")]
    Engine,
}

/// Write a small sound workflow to start from: states for tasks, or steps for missions.
#[derive(Debug, Args)]
#[command(after_help = "\
Its scenarios are written beside it.

Examples:
  orange-workflow init
  orange-workflow init workflows/bug-fix
  orange-workflow init --template steps workflows/review
  orange-workflow init --steps workflows/release.yml
  orange-workflow init --stdout

A file that is there already is left alone.")]
pub(crate) struct Init {
    /// Its name, or the path of its file: `bug-fix` is written to bug-fix.yml, or with --steps to bug-fix.toml unless it ends in .yml; `-` prints it
    #[arg(value_name = "NAME")]
    pub name: Option<PathBuf>,

    /// Template to begin with
    #[arg(long, value_enum, value_name = "TEMPLATE", default_value = "states")]
    pub template: Template,

    /// Write a step workflow, with its prompts: the same as `--template steps`
    #[arg(long, conflicts_with = "template")]
    pub steps: bool,

    /// Print it and write nothing
    #[arg(long)]
    pub stdout: bool,
}

/// Template of a new workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// States and transitions of a task: a worker, and a person who accepts the work
    States,
    /// Steps of a mission: a change, its review, and its fix
    Steps,
}

/// Draw a workflow, and highlight a run or a finding.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange-workflow graph flow.yml
  orange-workflow graph flow.yml --format svg -o flow.svg
  orange-workflow graph flow.yml --format dot | dot -Tsvg > flow.svg
  orange-workflow graph flow.yml --trace pending,working,reviewing
  orange-workflow graph draft.yml --format svg --highlight C62
  orange-workflow check draft.yml --format json | orange-workflow graph draft.yml --trace -

Exit status: 0 drawn, 1 the workflow has errors, 2 the work could not be done.")]
pub(crate) struct Graph {
    /// The workflow; `-` reads standard input
    pub file: PathBuf,

    /// The language to draw in
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "mermaid")]
    pub format: Drawing,

    /// Highlight a run: its states with commas between them, or the first trace in FILE, which `check --format json`
    /// wrote; `-` reads standard input
    #[arg(long, value_name = "STATES|FILE")]
    pub trace: Option<String>,

    /// Highlight what this check finds: the places, and the first trace; with `--trace FILE`, whose trace it is
    #[arg(long, value_name = "CODE|NAME")]
    pub highlight: Option<String>,

    /// Write there instead of to standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// A language for graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drawing {
    /// A Mermaid flowchart
    Mermaid,
    /// A Graphviz digraph
    Dot,
    /// A picture
    Svg,
}
