//! `prove`: the proved and refuted properties of a workflow.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use orange_analysis::{plan_proof, prove};

use crate::answer::{Answer, Exit, Failure};
use crate::cmd::one;
use crate::json::{self, ProveAnswer};
use crate::output;
use crate::screen::Styles;

/// Prove or refute properties of a workflow: its ends, its agents, its worktrees, its gates, its loops.
#[derive(Debug, Args)]
#[command(after_help = "\
Each property is proved, with the argument in a line; refuted, with the shortest run that breaks it; or undecided, \
with the bound that cut the search. A finding that a comment allows refutes all the same.

Examples:
  orange-workflow prove flow.yml
  orange-workflow prove flow.yml --format json

Exit status: 0 all proved, 1 something refuted or undecided, 2 the work could not be done.")]
pub(crate) struct Prove {
    /// The workflow; `-` reads standard input
    pub file: PathBuf,

    /// Format of the proof
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub format: ProofFormat,
}

/// Format of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProofFormat {
    /// For people
    Human,
    /// One JSON object
    Json,
}

pub(super) fn run(args: &Prove, styles: Styles) -> Result<Answer, Answer> {
    let (file, checked) = one::load(&args.file, styles)?;
    let source = &file.source;
    if let Some(proof) = plan_proof::prove(&checked, source) {
        return Ok(answered(&ProveAnswer::new(&proof, plan_proof::RESTS_ON, source), args.format, styles)?);
    }
    match prove::prove(&checked, source) {
        Ok(proof) => Ok(answered(&ProveAnswer::new(&proof, prove::RESTS_ON, source), args.format, styles)?),
        Err(findings) => Err(one::refuse(file, findings, styles)),
    }
}

fn answered(answer: &ProveAnswer<'_>, format: ProofFormat, styles: Styles) -> Result<Answer, Failure> {
    let out = match format {
        ProofFormat::Human => output::proof(answer, styles.out),
        ProofFormat::Json => json::written(answer)?,
    };
    let is_proved = answer.properties.iter().all(|it| it.verdict == json::ShownVerdict::Proved);
    let exit = if is_proved { Exit::Clean } else { Exit::Found };
    Ok(Answer { out, err: String::new(), exit })
}
