//! A compiled workflow of either kind.

use crate::Machine;
use crate::plan::Plan;

/// Compiled form of a workflow file.
#[derive(Clone, Copy, Debug)]
pub enum Workflow<'a> {
    /// States and transitions, which tasks follow.
    Machine(&'a Machine<'a>),
    /// Steps, which missions follow.
    Plan(&'a Plan<'a>),
}

/// A workflow that was compiled in memory, and the files that it includes.
#[derive(Clone, Copy, Debug)]
pub struct Compiled<'a> {
    /// The workflow.
    pub workflow: Workflow<'a>,
    /// The name of each file, which leads from the folder of the workflow to it, and its text.
    pub files: &'a [(&'a str, &'a str)],
}

impl<'a> Workflow<'a> {
    /// Name, as its author writes it.
    pub fn name(&self) -> &'a str {
        match self {
            Workflow::Machine(machine) => machine.name,
            Workflow::Plan(plan) => plan.name,
        }
    }

    /// Purpose of the workflow, in its author's words; may be empty.
    pub fn description(&self) -> &'a str {
        match self {
            Workflow::Machine(machine) => machine.description,
            Workflow::Plan(plan) => plan.description,
        }
    }
}
