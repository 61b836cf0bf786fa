//! `schema`: the workflow language, or that of scenarios, as a JSON Schema.

use std::path::PathBuf;

use clap::Args;

use crate::answer::Answer;
use crate::cmd::one;
use crate::json;
use crate::schema::{scenarios, schema};

/// Print the JSON Schema of the workflow language or of scenarios, for editors.
#[derive(Debug, Args)]
#[command(after_help = "\
An editor with a language server for YAML then completes keys and says what they mean, in files that begin with \
`# yaml-language-server: $schema=workflow.schema.json`.

Examples:
  orange-workflow schema
  orange-workflow schema -o workflow.schema.json
  orange-workflow schema --scenarios -o scenarios.schema.json")]
pub(crate) struct SchemaArgs {
    /// The schema of files of scenarios (`*.test.yml`)
    #[arg(long)]
    pub scenarios: bool,

    /// Write there instead of to standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

pub(super) fn run(args: &SchemaArgs) -> Result<Answer, Answer> {
    let text = json::written(&if args.scenarios { scenarios() } else { schema() })?;
    Ok(one::deliver(text, args.output.as_deref())?)
}
