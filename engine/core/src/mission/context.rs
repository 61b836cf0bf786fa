//! The context of a step: what the steps before it have reported.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Mission, StepFailure};
use crate::plan::{Plan, StepId};

impl Mission {
    /// Text that the prompt of a step has under `{{context}}`.
    ///
    /// It has a heading and the latest summary for each direct dependency that has reported one, then the summary of the loop step
    /// that sent the step back. A handler gets the reason of the failure.
    pub fn context(&self, plan: &Plan<'_>, id: StepId) -> String {
        if let Some(failed) = plan.step(id).handles {
            return self.failure(plan, failed);
        }
        let sender = self.step(id).sent_back_by;
        let dependencies = plan.step(id).depends_on.iter().copied().filter(|it| Some(*it) != sender);
        let parts = dependencies.chain(sender).filter_map(|it| {
            let report = self.step(it).latest.as_ref()?;
            Some(format!("## {}\n{}\n", plan.step(it).id, report.summary.trim_end()))
        });
        parts.collect::<Vec<_>>().join("\n")
    }

    /// Reason for the failure of a step, in a sentence; empty if it has not failed.
    pub fn failure(&self, plan: &Plan<'_>, id: StepId) -> String {
        let name = plan.step(id).id;
        match &self.step(id).failure {
            None => String::new(),
            Some(own @ (StepFailure::Reported(_) | StepFailure::Stuck(_) | StepFailure::Abandoned(_))) => {
                format!("{name} failed: {}", own.reason().unwrap_or_default())
            }
            Some(StepFailure::Exhausted(completions)) => match plan.step(id).condition {
                Some(it) => format!(
                    "the loop of {name} is exhausted: {} still reports '{}' after {name} has completed {}",
                    plan.step(it.step).id,
                    it.value,
                    often(*completions)
                ),
                None => format!("the loop of {name} is exhausted: it has completed {}", often(*completions)),
            },
            Some(StepFailure::Because(step)) => {
                format!("{name} did not run, because {} failed", plan.step(*step).id)
            }
        }
    }
}

impl StepFailure {
    /// The reason of a step's own failure, without its name; `None` of one that its loop or another step caused.
    pub fn reason(&self) -> Option<String> {
        match self {
            StepFailure::Reported(reason) => Some(reason.clone()),
            StepFailure::Stuck(1) => Some("its agent ended without a word".to_owned()),
            StepFailure::Stuck(times) => {
                Some(format!("its agent ended without a word {times} times in a row"))
            }
            StepFailure::Abandoned(times) => {
                Some(format!("the crab at work on it was lost {times} times in a row"))
            }
            StepFailure::Exhausted(_) | StepFailure::Because(_) => None,
        }
    }
}

fn often(times: u16) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}
