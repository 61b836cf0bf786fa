//! Types of the JSON that commands print with `--format json`. `docs/json` has their schemas; a later version may add keys.

mod check;
mod diff;
mod finding;
mod prove;
mod test;

use serde::Serialize;

use crate::answer::Failure;

pub(crate) use check::{CheckAnswer, Counts, Statistic};
pub(crate) use diff::{ChangedStep, DiffAnswer, StrandedTask};
pub(crate) use finding::{Finding, SpanLocation};
pub(crate) use prove::{
    MachineFigures, ProveAnswer, ShownCountedRun, ShownEnd, ShownFigures, ShownProperty, ShownRequirement,
    ShownRounds, ShownSpending, ShownVerdict, StepFigures,
};
pub(crate) use test::{CoverageAnswer, ScenarioAnswer, ScenarioFailure, ScenarioFile, TestAnswer};

/// The `version` of every answer. It rises when a key goes or gets another meaning.
pub(crate) const VERSION: u32 = 1;

/// Anything as JSON and a line end.
///
/// # Errors
///
/// None that an answer of ours can cause; serde has one all the same.
pub(crate) fn written(answer: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(answer).map(|it| it + "\n").map_err(|error| {
        Failure::new(format!("cannot write JSON: {error}"), "please report this as a bug of orange-workflow")
    })
}

/// The schema of each answer, by the words of its command with `-` between them.
#[cfg(feature = "schemas")]
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    use schemars::generate::SchemaSettings;

    fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        generator.into_root_schema_for::<T>().into()
    }

    vec![
        ("orange-workflow-check", schema::<CheckAnswer<'_>>()),
        ("orange-workflow-diff", schema::<DiffAnswer<'_>>()),
        ("orange-workflow-prove", schema::<ProveAnswer<'_>>()),
        ("orange-workflow-test", schema::<TestAnswer>()),
    ]
}
