//! A compiled workflow of either kind.

use crate::Machine;
use crate::plan::Plan;

/// What a workflow file compiles to.
#[derive(Clone, Copy, Debug)]
pub enum Workflow<'a> {
    /// States and transitions, which tasks follow.
    Machine(&'a Machine<'a>),
    /// Steps, which missions follow.
    Plan(&'a Plan<'a>),
}

impl<'a> Workflow<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        match self {
            Workflow::Machine(machine) => machine.name,
            Workflow::Plan(plan) => plan.name,
        }
    }

    /// What the author says it is for; may be empty.
    pub fn description(&self) -> &'a str {
        match self {
            Workflow::Machine(machine) => machine.description,
            Workflow::Plan(plan) => plan.description,
        }
    }
}
