//! Runs the scenarios of a plan on the changed plan.

use orange_analysis::plan_scenario::{self, Scenario};
use orange_analysis::plan_walk::Coverage;
use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::source::SCENARIOS;
use orange_codegen::{Source, compile};

use crate::Result;
use crate::house::House;

/// The scenarios of a plan, which stand beside it.
pub(super) fn beside(source: &Source, house: &House) -> Result<Vec<Scenario>> {
    let stem = source.path.rsplit_once('.').map_or(source.path.as_str(), |(stem, _)| stem);
    let path = format!("{stem}{SCENARIOS}");
    let (scenarios, found) = plan_scenario::read(&Source::new(&path, house.read(&path)?.text));
    scenarios.ok_or_else(|| {
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        format!("{path}: {}", messages.join("; "))
    })
}

/// The scenarios in which something else happens than is expected, and the parts of the plan that none of them uses.
pub(super) fn failures(scenarios: &[Scenario], source: &Source) -> Vec<String> {
    let arena = PlanArena::default();
    let Some(checked) = compile(source).checked else { return Vec::new() };
    let Some(plan) = lower_plan(&checked, &arena) else { return Vec::new() };
    let mut coverage = Coverage::default();
    let mut failures = Vec::new();
    for scenario in scenarios {
        let outcome = plan_scenario::run(&plan, scenario);
        coverage.add(outcome.coverage);
        if !outcome.failed.is_empty() {
            failures.push(format!("\"{}\"", scenario.name.value));
        }
    }
    let missed = Coverage::parts(&plan).into_iter().filter(|it| !coverage.has(*it));
    failures.extend(missed.map(|it| format!("not seen: {}", it.text(&plan))));
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "workflow: {name: flow}\nsteps:\n  - {id: a, role: any, prompt: A}\n  - {id: b, prompt: '{{context}}', depends_on: [a]}\n";

    #[test]
    fn a_scenario_that_fails_and_a_step_that_none_runs_are_named() {
        let text = "scenarios:\n  - {name: first a, steps: [{complete: a, expect: {steps: {b: running}}}]}\n";
        let (scenarios, _) = plan_scenario::read(&Source::new("flow.test.yml", text));
        let scenarios = scenarios.unwrap();
        let failures = |text: &str| failures(&scenarios, &Source::new("flow.yml", text));
        assert_eq!(failures(PLAN), [""; 0]);
        let longer = format!("{PLAN}  - {{id: c, prompt: '{{{{context}}}}', depends_on: [b]}}\n");
        assert_eq!(failures(&longer), ["not seen: c runs"]);
        assert_eq!(failures(&PLAN.replace("id: b", "id: d")), ["\"first a\""]);
    }
}
