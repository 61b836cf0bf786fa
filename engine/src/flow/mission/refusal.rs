//! What the core's refusals say to agents and people.

use orange_core::mission::{MissionStatus, Refusal};

use super::Course;
use crate::{Error, Kind};

/// The error of a refused event.
pub(super) fn error(course: &Course, id: &str, refusal: Refusal) -> Error {
    let plan = course.plan;
    let name = |step: orange_core::plan::StepId| plan.step(step).id;
    let refused = |message: String, help: String| Error::new(Kind::Refused, message).help(help);
    match refusal {
        Refusal::Closed(MissionStatus::Failed) => refused(
            format!("closed: mission {id} has failed"),
            format!(
                "`orange mission retry {id}` runs it again, `orange mission cancel {id}` ends it; an agent stops here"
            ),
        ),
        Refusal::Closed(status) => refused(
            format!("closed: mission {id} is {}", status.as_str()),
            "nothing is accepted after its end; an agent stops here".to_owned(),
        ),
        Refusal::HasBegun => refused(format!("mission {id} has begun"), String::new()),
        Refusal::Pending => refused(
            format!("mission {id} has not begun: it waits for a worktree"),
            "`orange workspace list` shows who has them".to_owned(),
        ),
        Refusal::Paused => refused(
            format!("mission {id} is paused, and nothing starts"),
            format!("`orange mission continue {id}` answers it"),
        ),
        Refusal::NoSuchStep => Error::new(Kind::NotFound, format!("{} has no such step", plan.name))
            .help(format!("`orange mission show {id}` shows its steps")),
        Refusal::Stale { current } => refused(
            format!("stale: this is an older attempt, and the current one is {current}"),
            "stop here: another agent works at the step".to_owned(),
        ),
        Refusal::NoSuchAttempt { current } => {
            let message = match current {
                0 => "the step has no attempt yet".to_owned(),
                current => format!("the step has no such attempt: the current one is {current}"),
            };
            Error::new(Kind::NotFound, message).help(format!("`orange mission show {id}` shows its attempts"))
        }
        Refusal::HasEnded => refused(
            "this attempt has ended, with another report".to_owned(),
            "the first report counts: stop here".to_owned(),
        ),
        Refusal::NotQueued(status) => refused(
            format!("the step is {}", status.as_str()),
            format!("`orange mission show {id}` shows what runs"),
        ),
        Refusal::Busy(step) => refused(
            format!("step {} is running, and the steps of a mission share a worktree", name(step)),
            "it starts when that one has ended".to_owned(),
        ),
        Refusal::ResultNeeded => Error::new(Kind::Usage, "a result is missing")
            .help(format!("say it with `--result`: {}", results(course))),
        Refusal::ResultUndeclared => Error::new(Kind::Usage, "the step declares no such result")
            .help(format!("`--result` takes: {}", results(course))),
        Refusal::NotPaused => refused(
            format!("mission {id} is not paused"),
            format!("`orange mission show {id}` shows what it does"),
        ),
        Refusal::OtherPause { current } => refused(
            format!("this answers another pause: mission {id} is at pause {current}"),
            format!(
                "look at it first: `orange mission show {id}`, then `orange mission continue {id} --pause {current}`"
            ),
        ),
        Refusal::NothingToAccept => refused(
            "this pause is not about a failure".to_owned(),
            format!("`orange mission continue {id}` goes on"),
        ),
        Refusal::NotFailed(status) => refused(
            format!("mission {id} is {}, and only a failed one is tried again", status.as_str()),
            format!("`orange mission show {id}` shows what can be done"),
        ),
        Refusal::NothingToRetry => refused(
            "the step has not failed, or only because another one has".to_owned(),
            format!("`orange mission retry {id}` tries every failed step"),
        ),
    }
}

/// The results that the running step may report.
fn results(course: &Course) -> String {
    let running = course.mission.busy();
    let declared = running.map(|step| course.plan.results_of(step)).unwrap_or_default();
    match declared {
        [] => "a word, such as PASS or FAIL".to_owned(),
        [..] => declared.join(", "),
    }
}
