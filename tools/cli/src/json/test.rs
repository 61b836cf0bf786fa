//! `orange-workflow test`.

use serde::Serialize;

use super::{SpanLocation, VERSION};

/// Answer of `orange-workflow test`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct TestAnswer {
    /// The version of this form: 1.
    pub version: u32,
    /// The files whose scenarios ran.
    pub files: Vec<ScenarioFile>,
    /// Number of scenarios that passed.
    pub passed: usize,
    /// Number of scenarios that failed.
    pub failed: usize,
}

/// A file of scenarios.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ScenarioFile {
    /// Its path.
    pub file: String,
    /// Its scenarios, in order.
    pub scenarios: Vec<ScenarioAnswer>,
    /// The parts of the workflow that they have seen.
    pub coverage: CoverageAnswer,
}

/// Result of a scenario.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ScenarioAnswer {
    /// The claim that it tests.
    pub name: String,
    /// True if everything was as expected.
    pub passed: bool,
    #[serde(flatten)]
    pub location: SpanLocation,
    /// Failures: everything that was not as expected.
    pub failures: Vec<ScenarioFailure>,
}

/// Something that was not as expected.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ScenarioFailure {
    /// The failure, in a sentence.
    pub message: String,
    #[serde(flatten)]
    pub location: SpanLocation,
}

/// Coverage of a workflow by scenarios.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct CoverageAnswer {
    /// The counted parts: `transitions`, or `parts`, the steps, conditions and loops of a step workflow.
    pub counted: &'static str,
    /// Number of all parts.
    pub all: usize,
    /// Number of parts that a scenario has seen.
    pub seen: usize,
    /// The others.
    pub missed: Vec<String>,
}

impl TestAnswer {
    /// The results of these files.
    pub(crate) fn new(files: Vec<ScenarioFile>) -> Self {
        let scenarios = || files.iter().flat_map(|it| &it.scenarios);
        let (passed, all) = (scenarios().filter(|it| it.passed).count(), scenarios().count());
        Self { version: VERSION, files, passed, failed: all - passed }
    }
}
