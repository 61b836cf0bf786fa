//! `orange-fleet complete-run`

use std::io::Read;

use clap::{Args, ValueEnum};
use orange_api::{Error, ErrorKind, Result};
use serde_json::json;

use super::Said;
use super::crab::GatewayArgs;
use crate::client::GatewayFailure;
use crate::crab::api::{Api, Reporter};
use crate::crab::job::AttemptVerdict;

/// `orange-fleet complete-run …`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  orange-fleet complete-run --run-id 0mgd1x0s5000k3v9q2w1z.review.1 --status completed --result PASS --summary \"Good\"
  orange-fleet complete-run --run-id 0mgd1x0s5000k3v9q2w1z.review.1 --status completed --result FAIL --summary - < review.md
  orange-fleet complete-run --run-id 0mgd1x0s5000k3v9q2w1z.plan.2 --status failed --summary \"It does not build\"

The same report again is accepted once, and another one is refused.")]
pub struct CompleteRunArgs {
    /// The gateway.
    #[command(flatten)]
    gateway: GatewayArgs,
    /// The run: MISSION.STEP.ATTEMPT
    #[arg(long, value_name = "RUN")]
    run_id: String,
    /// Status of the run at its end
    #[arg(long, value_name = "STATUS")]
    status: Status,
    /// The work that was done, or the reason for the failure; `-` reads standard input
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
    summary: String,
    /// The result in one word, where the step declares one or a condition reads it
    #[arg(long, value_name = "RESULT")]
    result: Option<String>,
    /// Call for a person's attention
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    warning: Option<String>,
    /// The outputs that the step declares, as a JSON object
    #[arg(long, value_name = "JSON")]
    outputs: Option<String>,
    /// The commit of the mission's branch that was pushed
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
}

/// Status of a run at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Status {
    /// It is complete.
    Completed,
    /// It has failed.
    Failed,
}

impl CompleteRunArgs {
    pub(super) fn run(self) -> Result<Said> {
        let CompleteRunArgs { gateway, run_id, status, summary, result, warning, outputs, commit } = self;
        let outputs = outputs.as_deref().map(serde_json::from_str).transpose().map_err(|cause| {
            Error::new(ErrorKind::Usage, format!("the outputs are not as expected: {cause}"))
                .help("give a JSON object of texts, whole numbers, true or false, and lists of texts")
        })?;
        let outputs = outputs.unwrap_or_default();
        let summary = if summary == "-" { standard_input()? } else { summary };
        let summary = summary.trim_end().to_owned();
        if status == Status::Failed && summary.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "a run that has failed needs a reason")
                .help("say with `--summary TEXT` why it has failed"));
        }
        let verdict = match status {
            Status::Completed => AttemptVerdict::Completed { result, summary, warning, outputs },
            Status::Failed => AttemptVerdict::Failed { summary },
        };
        let of = Reporter { run: &run_id, ..Reporter::default() };
        let reported = Api::new(gateway.gateway()?)?.report(of, &verdict, commit.as_deref());
        reported.map_err(GatewayFailure::into_error)?;
        Ok(Said {
            text: format!("{run_id} is reported"),
            json: json!({ "run_id": run_id, "reported": true }),
        })
    }
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|cause| {
        Error::new(ErrorKind::Usage, format!("standard input cannot be read: {cause}"))
            .help("give the text as UTF-8")
    })?;
    Ok(text)
}
