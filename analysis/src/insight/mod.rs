//! Findings, proof, and facts about each state, transition, rule and step of one workflow, all from one search.
//!
//! It owns what it says, so that an editor keeps it for as long as the text stays.

mod machine;
mod steps;
#[cfg(test)]
mod tests;

pub use machine::{AgentPresence, CounterRange, RuleInsight, StateInsight, TransitionInsight};
pub use steps::{StepInsight, StepReader};

use orange_codegen::{Compilation, Diagnostic, Source};

use crate::plan_proof::PlanProof;
use crate::prove::Proof;
use crate::search::SearchLimits;
use crate::{add, lint, one_for_each_fault, plan_proof, prove};

/// Findings and proof of one workflow, and facts about its parts.
#[derive(Clone, Debug)]
pub struct Insight {
    /// Every finding of every check, one for each fault, as `check` has them.
    pub findings: Vec<Diagnostic>,
    /// Proof of the workflow, and facts about its parts; or the reasons why it has no tables. They are empty where findings of the
    /// compiler are the reasons.
    pub known: Result<WorkflowInsight, Vec<Diagnostic>>,
}

/// Proof of a workflow, and facts about its parts.
#[derive(Clone, Debug)]
pub enum WorkflowInsight {
    /// Those of a state machine workflow.
    Machine(MachineInsight),
    /// Those of a step workflow.
    Steps(PlanInsight),
}

/// Proof of a state machine workflow, and facts about its parts.
#[derive(Clone, Debug)]
pub struct MachineInsight {
    pub proof: Proof,
    /// In source order, as `Workflow::states`.
    pub states: Vec<StateInsight>,
    /// In source order, as `Workflow::transitions`.
    pub transitions: Vec<TransitionInsight>,
    /// In source order of the states, and then of the rules.
    pub rules: Vec<RuleInsight>,
}

/// Proof of a step workflow, and facts about its steps.
#[derive(Clone, Debug)]
pub struct PlanInsight {
    pub proof: PlanProof,
    /// In source order, as `Steps::steps`.
    pub steps: Vec<StepInsight>,
}

/// Insight into a compiled workflow; `None` if somebody has stopped the search, since a part of the runs says nothing about the
/// others.
pub fn of(source: &Source, compilation: &Compilation, limits: &SearchLimits<'_>) -> Option<Insight> {
    let mut lints = Vec::new();
    let of_checks = &compilation.diagnostics;
    let known = compilation.checked.as_ref().map(|checked| {
        let steps = lint::with_step_facts_within(checked, limits, |facts| {
            lints = lint::steps::all_within(facts, limits);
            let all = [of_checks.as_slice(), &lints].concat();
            let proof = plan_proof::of(facts.plan, &all, limits);
            WorkflowInsight::Steps(PlanInsight { steps: steps::all(facts, &proof), proof })
        });
        match steps {
            Some(steps) => Ok(steps),
            None => lint::with_facts_within(checked, source, limits, |facts| {
                lints = lint::all_within(facts, limits);
                let all = [of_checks.as_slice(), &lints].concat();
                let proof = prove::of(facts, &all, limits);
                WorkflowInsight::Machine(machine::of(facts, proof, limits))
            }),
        }
    });
    if limits.is_stopped() {
        return None;
    }
    let known = known.unwrap_or_else(|| Err(Vec::new()));
    lints.extend(known.as_ref().err().into_iter().flatten().cloned());
    let mut findings = of_checks.clone();
    let checked = compilation.checked.as_ref();
    add(&mut findings, lints, &mut compilation.suppressions.clone(), checked.is_some());
    Some(Insight { findings: one_for_each_fault(checked, findings), known })
}

impl Insight {
    /// Facts about a state machine workflow.
    pub fn machine(&self) -> Option<&MachineInsight> {
        match &self.known {
            Ok(WorkflowInsight::Machine(machine)) => Some(machine),
            Ok(WorkflowInsight::Steps(_)) | Err(_) => None,
        }
    }

    /// True if the search was cut, so that there are runs of which nothing is known.
    pub fn is_cut(&self) -> bool {
        match &self.known {
            Ok(WorkflowInsight::Machine(it)) => it.proof.figures.is_cut,
            Ok(WorkflowInsight::Steps(it)) => it.proof.figures.is_cut,
            Err(_) => false,
        }
    }

    /// Facts about a step workflow.
    pub fn steps(&self) -> Option<&PlanInsight> {
        match &self.known {
            Ok(WorkflowInsight::Steps(steps)) => Some(steps),
            Ok(WorkflowInsight::Machine(_)) | Err(_) => None,
        }
    }
}

impl MachineInsight {
    /// Facts about the state with this name.
    pub fn state(&self, name: &str) -> Option<&StateInsight> {
        self.states.iter().find(|it| it.name == name)
    }
}
