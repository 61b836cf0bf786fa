//! `orange-workflow test`.

use serde::Serialize;

use super::{SpanLocation, VERSION};

/// What `orange-workflow test` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct TestAnswer {
    /// The version of this form: 1.
    pub version: u32,
    /// The files whose scenarios ran.
    pub files: Vec<ScenarioFile>,
    /// How many scenarios passed.
    pub passed: usize,
    /// How many scenarios failed.
    pub failed: usize,
}

/// A file of scenarios.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ScenarioFile {
    /// Its path.
    pub file: String,
    /// Its scenarios, in order.
    pub scenarios: Vec<ScenarioAnswer>,
    /// The parts of the workflow that they have seen.
    pub coverage: CoverageAnswer,
}

/// How a scenario ended.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ScenarioAnswer {
    /// The claim that it tests.
    pub name: String,
    /// Whether everything was as expected.
    pub passed: bool,
    #[serde(flatten)]
    pub location: SpanLocation,
    /// What was not as expected.
    pub failures: Vec<ScenarioFailure>,
}

/// Something that was not as expected.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ScenarioFailure {
    /// What it is.
    pub message: String,
    #[serde(flatten)]
    pub location: SpanLocation,
}

/// How much of a workflow scenarios have seen.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct CoverageAnswer {
    /// What is counted: `transitions`, or `parts`, the steps, conditions and loops of a step workflow.
    pub counted: &'static str,
    /// How many there are.
    pub all: usize,
    /// How many a scenario has seen.
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
