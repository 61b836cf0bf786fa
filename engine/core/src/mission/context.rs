//! The context of a step: what the steps before it have reported.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{ItemState, ItemView, Mission, Report, StepFailure};
use crate::plan::{Plan, StepId, Value};

impl Mission {
    /// Text that the prompt of a step has under `{{context}}`.
    ///
    /// It has a heading, the latest summary and the outputs for each direct dependency that has reported, then those of the loop step
    /// that sent the step back. A handler gets the reason of the failure.
    pub fn context(&self, plan: &Plan<'_>, id: StepId) -> String {
        if let Some(failed) = plan.step(id).handles {
            return [self.failure(plan, failed), self.items_of(plan, failed, &self.step(failed).items)]
                .concat();
        }
        let sender = self.step(id).sent_back_by;
        let dependencies = plan.step(id).depends_on.iter().copied().filter(|it| Some(*it) != sender);
        let parts = dependencies.chain(sender).filter_map(|it| {
            let items = &self.step(it).latest_items;
            if !items.is_empty() {
                return Some(format!("## {}{}", plan.step(it).id, self.items_of(plan, it, items)));
            }
            let report = self.step(it).latest.as_ref()?;
            Some(format!(
                "## {}\n{}\n{}",
                plan.step(it).id,
                report.summary.trim_end(),
                outputs(plan, it, report)
            ))
        });
        parts.collect::<Vec<_>>().join("\n")
    }

    /// The items of a fan-out, each with its report or the reason of its failure.
    fn items_of(&self, plan: &Plan<'_>, id: StepId, items: &[ItemState]) -> String {
        let items = items.iter().filter(|_| plan.step(id).is_fan_out()).map(|item| {
            let ItemView { text, report, failure, .. } = self.step(id).view(item);
            let end = match (failure, report) {
                (Some(StepFailure::Cap), _) => format!("It did not start again: {}\n", cap(plan)),
                (Some(failure), _) => format!("It failed: {}\n", failure.reason().unwrap_or_default()),
                (None, Some(report)) => {
                    format!("{}\n{}", report.summary.trim_end(), outputs(plan, id, report))
                }
                (None, None) => String::new(),
            };
            format!("\n### {}\n{end}", text.replace('\n', " "))
        });
        items.collect()
    }

    /// Description of the question about a step that waits for an attempt.
    pub fn cap_reached(&self, plan: &Plan<'_>, id: StepId) -> String {
        format!("step {} waits for an attempt: {}", plan.step(id).id, cap(plan))
    }

    /// Reason for the failure of a step, in a sentence; empty if it has not failed.
    pub fn failure(&self, plan: &Plan<'_>, id: StepId) -> String {
        let name = plan.step(id).id;
        match &self.step(id).failure {
            None => String::new(),
            Some(
                own @ (StepFailure::Reported(_)
                | StepFailure::Stuck(_)
                | StepFailure::Abandoned(_)
                | StepFailure::Items { .. }),
            ) => {
                format!("{name} failed: {}", own.reason().unwrap_or_default())
            }
            Some(StepFailure::Exhausted(completions)) => {
                let condition = plan.step(id).condition;
                match condition.map(|it| (it, it.equality())) {
                    Some((_, Some((step, _, value)))) => format!(
                        "the loop of {name} is exhausted: {} still reports '{value}' after {name} has completed {}",
                        plan.step(step).id,
                        often(*completions)
                    ),
                    Some((it, None)) => format!(
                        "the loop of {name} is exhausted: `{}` still holds after {name} has completed {}",
                        plan.condition_text(&it),
                        often(*completions)
                    ),
                    None => {
                        format!("the loop of {name} is exhausted: it has completed {}", often(*completions))
                    }
                }
            }
            Some(StepFailure::Cap) => format!("{name} did not start: {}", cap(plan)),
            Some(StepFailure::Because(step)) => {
                format!("{name} did not run, because {} failed", plan.step(*step).id)
            }
        }
    }
}

impl StepFailure {
    /// True if the step itself has failed, and not another one on which it depends.
    pub fn is_own(&self) -> bool {
        match self {
            StepFailure::Reported(_)
            | StepFailure::Stuck(_)
            | StepFailure::Abandoned(_)
            | StepFailure::Items { .. }
            | StepFailure::Exhausted(_)
            | StepFailure::Cap => true,
            StepFailure::Because(_) => false,
        }
    }

    /// True if the handler of the step takes the failure. At the cap, it would need an attempt, too.
    pub fn takes_handler(&self) -> bool {
        match self {
            StepFailure::Reported(_)
            | StepFailure::Stuck(_)
            | StepFailure::Abandoned(_)
            | StepFailure::Items { .. }
            | StepFailure::Exhausted(_) => true,
            StepFailure::Cap | StepFailure::Because(_) => false,
        }
    }

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
            StepFailure::Items { failed, of } => Some(format!("{failed} of its {of} items failed")),
            StepFailure::Exhausted(_) | StepFailure::Cap | StepFailure::Because(_) => None,
        }
    }
}

/// The outputs of a report, one a line, the items of a list below it.
fn outputs(plan: &Plan<'_>, id: StepId, report: &Report) -> String {
    let mut text = String::new();
    for (name, value) in
        plan.outputs_of(id).iter().filter_map(|it| Some((it.name, report.outputs.get(it.name)?)))
    {
        let begin = if text.is_empty() { "\n" } else { "" };
        let value = match value {
            Value::List(items) if items.is_empty() => " none".to_owned(),
            Value::List(items) => items.iter().map(|it| format!("\n  - {}", indented(it))).collect(),
            Value::Text(_) | Value::Number(_) | Value::Bool(_) => format!(" {}", indented(&value.text())),
        };
        text.push_str(&format!("{begin}- {name}:{value}\n"));
    }
    text
}

/// A text of several lines within a list.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n  ")
}

/// The reason for which no step starts any more.
fn cap(plan: &Plan<'_>) -> String {
    let most = plan.max_attempts.unwrap_or_default();
    format!("the mission has used its {most} attempt{} (`max_attempts`)", if most == 1 { "" } else { "s" })
}

fn often(times: u16) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}
