//! Runs the scenarios of a workflow on the changed workflow.

use orange_analysis::plan_scenario;
use orange_analysis::plan_walk::Coverage;
use orange_analysis::scenario;
use orange_codegen::diag::Diagnostic;
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::recognise;
use orange_codegen::source::SCENARIOS;
use orange_codegen::{Source, compile};
use orange_core::plan::Plan;

use crate::Result;
use crate::workspace::OwnRepository;

/// The scenarios of one workflow.
pub(super) enum WorkflowScenarios {
    /// Of a machine.
    Machine(Vec<scenario::Scenario>),
    Steps(Vec<plan_scenario::PlanScenario>),
}

impl WorkflowScenarios {
    /// The scenarios of a workflow of this kind, which stand beside it.
    pub fn beside(
        source: &Source,
        group: recognise::WorkflowKind,
        workspace: &OwnRepository,
    ) -> Result<Self> {
        let stem = source.path.rsplit_once('.').map_or(source.path.as_str(), |(stem, _)| stem);
        let path = format!("{stem}{SCENARIOS}");
        Self::read(&Source::new(&path, workspace.read(&path)?.text), group)
    }

    fn read(source: &Source, group: recognise::WorkflowKind) -> Result<Self> {
        let refused = |found: Vec<Diagnostic>| {
            let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
            format!("{}: {}", source.path, messages.join("; "))
        };
        match group {
            recognise::WorkflowKind::Machine => {
                let (scenarios, found) = scenario::read(source);
                scenarios.map(|it| Self::Machine(it.all)).ok_or_else(|| refused(found))
            }
            recognise::WorkflowKind::Steps => {
                let (scenarios, found) = plan_scenario::read(source);
                scenarios.map(Self::Steps).ok_or_else(|| refused(found))
            }
        }
    }

    /// The scenarios in which something else happens than is expected, and the parts of a plan that none of them uses.
    pub fn failures(&self, source: &Source) -> Vec<String> {
        let Some(checked) = compile(source).checked else { return Vec::new() };
        match self {
            Self::Machine(scenarios) => {
                let arena = Arena::default();
                let Ok(machine) = lower(&checked, &arena) else { return Vec::new() };
                let failed = scenarios.iter().filter(|it| !scenario::run(&machine, it).failed.is_empty());
                failed.map(|it| quoted(&it.name.value)).collect()
            }
            Self::Steps(scenarios) => {
                let arena = PlanArena::default();
                lower_plan(&checked, &arena).map(|plan| of_plan(&plan, scenarios)).unwrap_or_default()
            }
        }
    }
}

fn of_plan(plan: &Plan<'_>, scenarios: &[plan_scenario::PlanScenario]) -> Vec<String> {
    let mut coverage = Coverage::default();
    let mut failures = Vec::new();
    for scenario in scenarios {
        let outcome = plan_scenario::run(plan, scenario);
        coverage.add(outcome.coverage);
        if !outcome.failed.is_empty() {
            failures.push(quoted(&scenario.name.value));
        }
    }
    let missed = Coverage::parts(plan).into_iter().filter(|it| !coverage.has(*it));
    failures.extend(missed.map(|it| format!("not seen: {}", it.text(plan))));
    failures
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, group: recognise::WorkflowKind) -> WorkflowScenarios {
        WorkflowScenarios::read(&Source::new("flow.test.yml", text), group).unwrap()
    }

    const PLAN: &str = "workflow: {name: flow}\nsteps:\n  - {id: a, role: any, prompt: A}\n  - {id: b, prompt: '{{context}}', depends_on: [a]}\n";

    #[test]
    fn a_scenario_that_fails_and_a_step_that_none_runs_are_named() {
        let text = "scenarios:\n  - {name: first a, steps: [{complete: a, expect: {steps: {b: running}}}]}\n";
        let scenarios = read(text, recognise::WorkflowKind::Steps);
        let failures = |text: &str| scenarios.failures(&Source::new("flow.yml", text));
        assert_eq!(failures(PLAN), [""; 0]);
        let longer = format!("{PLAN}  - {{id: c, prompt: '{{{{context}}}}', depends_on: [b]}}\n");
        assert_eq!(failures(&longer), ["not seen: c runs"]);
        assert_eq!(failures(&PLAN.replace("id: b", "id: d")), ["\"first a\""]);
    }

    #[test]
    fn a_scenario_of_a_machine_that_fails_is_named() {
        const MACHINE: &str = "name: flow\nstates: {a: {}, b: {terminal: true}}\ntransitions: [{from: a, to: b, hooks: [{action: spawn_next}]}]\n";
        let text = "scenarios:\n  - {name: the end, steps: [{request: b, expect: {hooks: [spawn_next]}}]}\n";
        let scenarios = read(text, recognise::WorkflowKind::Machine);
        let failures = |text: &str| scenarios.failures(&Source::new("flow.yml", text));
        assert_eq!(failures(MACHINE), [""; 0]);
        assert_eq!(failures(&MACHINE.replace("spawn_next", "kill_session")), ["\"the end\""]);
    }
}
