//! `prove`: the proved and refuted properties of a workflow.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use orange_analysis::insight::{self, WorkflowInsight};
use orange_analysis::plan_proof::Requirement;
use orange_analysis::search::SearchLimits;
use orange_analysis::{plan_proof, prove};
use orange_codegen::{Checked, Source};

use crate::answer::{Answer, Exit, Failure};
use crate::cmd::one;
use crate::json::{self, ProveAnswer, ShownRequirement};
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
  orange-workflow prove flow.yml --require \"deploy after approve\"

Exit status: 0 all proved and every requirement holds, 1 something refuted or undecided, 2 the work could not be done.")]
pub(crate) struct Prove {
    /// The workflow; `-` reads standard input
    pub file: PathBuf,

    /// Claim that a step of a step workflow starts only after the answer of a person: `deploy after approve`; may be given again
    #[arg(long = "require", value_name = "STEP after ASK", value_parser = requirement)]
    pub requirements: Vec<Requirement>,

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
    let (mut file, checked) = one::compiled(&args.file, styles)?;
    let required = required(&args.requirements, &checked)?;
    file.compilation.checked = Some(checked);
    let source = &file.source;
    let known = insight::of(source, &file.compilation, &SearchLimits::default());
    let known = known.map_or_else(|| Err(Vec::new()), |it| it.known);
    let answer = match &known {
        Ok(known) => ProveAnswer { requirements: required, ..proof_of(known, source) },
        Err(findings) => {
            let findings = findings.clone();
            return Err(one::refuse(file, findings, styles));
        }
    };
    Ok(answered(&answer, args.format, styles)?)
}

/// Reads a requirement.
fn requirement(text: &str) -> Result<Requirement, String> {
    Requirement::parse(text).ok_or_else(|| "write STEP after ASK, such as `deploy after approve`".to_owned())
}

/// The verdict on each requirement.
fn required(requirements: &[Requirement], checked: &Checked) -> Result<Vec<ShownRequirement>, Failure> {
    if requirements.is_empty() {
        return Ok(Vec::new());
    }
    let found = plan_proof::required(checked, requirements).ok_or_else(|| {
        let message = "--require: a state machine workflow has no steps that ask".to_owned();
        Failure::new(message, "leave `--require` out")
    })?;
    let shown = requirements.iter().zip(found).map(|(it, found)| ShownRequirement {
        step: it.step.clone(),
        after: it.after.clone(),
        holds: found.is_ok(),
        why: found.unwrap_or_else(|why| why),
    });
    Ok(shown.collect())
}

/// The proof in what is known of a workflow.
pub(crate) fn proof_of<'k>(known: &'k WorkflowInsight, source: &'k Source) -> ProveAnswer<'k> {
    match known {
        WorkflowInsight::Machine(it) => ProveAnswer::new(&it.proof, prove::RESTS_ON, source),
        WorkflowInsight::Steps(it) => ProveAnswer::new(&it.proof, plan_proof::RESTS_ON, source),
    }
}

fn answered(answer: &ProveAnswer<'_>, format: ProofFormat, styles: Styles) -> Result<Answer, Failure> {
    let out = match format {
        ProofFormat::Human => output::proof(answer, styles.out),
        ProofFormat::Json => json::written(answer)?,
    };
    let is_proved = answer.properties.iter().all(|it| it.verdict == json::ShownVerdict::Proved)
        && answer.requirements.iter().all(|it| it.holds);
    let exit = if is_proved { Exit::Clean } else { Exit::Found };
    Ok(Answer { out, err: String::new(), exit })
}
