//! Texts of the core's refusals, for agents and people.

use orange_core::mission::{MissionStatus, Refusal};
use orange_core::plan::StepId;

use super::Projection;
use crate::{Error, ErrorKind};

/// The error of a refused event, which is about this step if it is about one.
pub(super) fn error(projection: &Projection, id: &str, step: Option<StepId>, refusal: &Refusal) -> Error {
    let (kind, help) = match refusal {
        Refusal::Closed(MissionStatus::Failed) => (
            ErrorKind::Refused,
            format!(
                "`orange mission retry {id}` runs it again, `orange mission cancel {id}` ends it; an agent stops here"
            ),
        ),
        Refusal::Closed(_) => {
            (ErrorKind::Refused, "nothing is accepted after its end; an agent stops here".to_owned())
        }
        Refusal::HasBegun => (ErrorKind::Refused, String::new()),
        Refusal::Pending => (ErrorKind::Refused, "`orange workspace list` shows who has them".to_owned()),
        Refusal::Paused => (ErrorKind::Refused, format!("`orange mission continue {id}` answers it")),
        Refusal::NoSuchStep => (ErrorKind::NotFound, format!("`orange mission show {id}` shows its steps")),
        Refusal::Stale { .. } => {
            (ErrorKind::Refused, "stop here: another agent works at the step".to_owned())
        }
        Refusal::NoSuchAttempt { .. } => {
            (ErrorKind::NotFound, format!("`orange mission show {id}` shows its attempts"))
        }
        Refusal::HasEnded => (ErrorKind::Refused, "the first report counts: stop here".to_owned()),
        Refusal::NotQueued(_) => (ErrorKind::Refused, format!("`orange mission show {id}` shows what runs")),
        Refusal::Busy(_) => (ErrorKind::Refused, "it starts when that one has ended".to_owned()),
        Refusal::NotLanding => (ErrorKind::Refused, format!("`orange mission show {id}` shows what lands")),
        Refusal::NotYours(_) => {
            (ErrorKind::NotAllowed, format!("`orange mission show {id}` shows whom it asks"))
        }
        Refusal::NotAsked(_) => {
            (ErrorKind::Refused, format!("`orange mission show {id}` shows what it asks"))
        }
        Refusal::Answered { .. } => (ErrorKind::Refused, "the first answer counts".to_owned()),
        Refusal::NoSuchAnswer(_) => (ErrorKind::Usage, "give one of these".to_owned()),
        Refusal::OtherCommit { .. } => (
            ErrorKind::Refused,
            format!(
                "look again: `orange mission show {id}` shows the question, and the commit that an answer is about"
            ),
        ),
        Refusal::ResultNeeded => {
            (ErrorKind::Usage, format!("say it with `--result`: {}", results(projection, step)))
        }
        Refusal::ResultUndeclared => {
            (ErrorKind::Usage, format!("`--result` takes: {}", results(projection, step)))
        }
        Refusal::Output(_) => (
            ErrorKind::Usage,
            "say it with `--output NAME=VALUE` and report again: nothing was recorded".to_owned(),
        ),
        Refusal::NotPaused => (ErrorKind::Refused, format!("`orange mission show {id}` shows what it does")),
        Refusal::OtherPause { current } => (
            ErrorKind::Refused,
            format!(
                "look at it first: `orange mission show {id}`, then `orange mission continue {id} --pause {current}`"
            ),
        ),
        Refusal::NothingToAccept => (ErrorKind::Refused, format!("`orange mission continue {id}` goes on")),
        Refusal::NotFailed(_) => {
            (ErrorKind::Refused, format!("`orange mission show {id}` shows what can be done"))
        }
        Refusal::NothingToRetry => {
            (ErrorKind::Refused, format!("`orange mission retry {id}` tries every failed step"))
        }
    };
    Error::new(kind, refusal.words(projection.plan, &format!("mission {id}"))).help(help)
}

/// The results that a step may report.
fn results(projection: &Projection, step: Option<StepId>) -> String {
    let declared = step.map(|step| projection.plan.results_of(step)).unwrap_or_default();
    match declared {
        [] => "a word, such as PASS or FAIL".to_owned(),
        [..] => declared.join(", "),
    }
}
