//! The whole check of a document, which may take a while: the lints with their search, or the scenarios as they run.

use std::sync::atomic::AtomicBool;

use orange_analysis::insight::{self, Insight};
use orange_analysis::plan_scenario;
use orange_analysis::scenario::{self, FailedExpectation};
use orange_analysis::search::SearchLimits;
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::{Diagnostic, Level, Source, compile};

/// Findings in a workflow, and facts about its parts; none if the flag was raised, which stops the search.
pub fn workflow(source: &Source, stop: &AtomicBool) -> Option<Insight> {
    workflow_within(source, &SearchLimits { stop: Some(stop), ..SearchLimits::default() })
}

/// Findings and facts from a search within these limits; none if its flag was raised.
pub fn workflow_within(source: &Source, limits: &SearchLimits<'_>) -> Option<Insight> {
    insight::of(source, &compile(source), limits)
}

/// Findings in a file of scenarios.
#[derive(Clone, Debug, Default)]
pub struct ScenarioFindings {
    /// Findings about parts that cannot be read.
    pub diagnostics: Vec<Diagnostic>,
    /// Expectations that are not met.
    pub failed: Vec<FailedExpectation>,
    /// Reason for which no scenario ran.
    pub refused: Option<String>,
}

/// Reads scenarios and runs them on their workflow.
pub fn scenarios(source: &Source, workflow: Option<&Source>) -> ScenarioFindings {
    let Some(workflow) = workflow else {
        let (_, diagnostics) = scenario::read(source);
        let refused = "there is no workflow for these scenarios: name it with `workflow: FILE` at the top";
        return ScenarioFindings { diagnostics, refused: Some(refused.to_owned()), ..Default::default() };
    };
    let compilation = compile(workflow);
    let Some(checked) = &compilation.checked else {
        let error = compilation.diagnostics.iter().find(|it| it.level == Level::Error);
        let why = error.map(|it| format!(": {}", it.message)).unwrap_or_default();
        let refused = format!("the workflow {} has an error{why}", workflow.path);
        return ScenarioFindings { refused: Some(refused), ..Default::default() };
    };
    let plans = PlanArena::default();
    if let Some(plan) = lower_plan(checked, &plans) {
        let (scenarios, diagnostics) = plan_scenario::read(source);
        let scenarios = scenarios.iter().flatten();
        let failed = scenarios.flat_map(|it| plan_scenario::run(&plan, it).failed).collect();
        return ScenarioFindings { diagnostics, failed, refused: None };
    }
    let arena = Arena::default();
    let (scenarios, diagnostics) = scenario::read(source);
    match lower(checked, &arena) {
        Ok(machine) => {
            let scenarios = scenarios.iter().flat_map(|it| &it.all);
            let failed = scenarios.flat_map(|it| scenario::run(&machine, it).failed).collect();
            ScenarioFindings { diagnostics, failed, refused: None }
        }
        Err(found) => {
            let why = found.first().map(|it| it.message.clone()).unwrap_or_default();
            let refused = format!("the workflow {} cannot run: {why}", workflow.path);
            ScenarioFindings { diagnostics, failed: Vec::new(), refused: Some(refused) }
        }
    }
}
