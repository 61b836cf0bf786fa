//! The checks: one small file per family, each pushing what it finds.

use crate::model::{Definition, Steps, Workflow};

/// A workflow without a finding at level `error`. Only the checks make one, so that what is unchecked cannot be
/// lowered or emitted.
#[derive(Clone, Debug)]
pub struct Checked {
    definition: Definition,
    hash: String,
}

impl Checked {
    /// What the file defines.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The state machine workflow, when it is one.
    pub fn workflow(&self) -> Option<&Workflow> {
        match &self.definition {
            Definition::Machine(workflow) => Some(workflow),
            Definition::Steps(_) => None,
        }
    }

    /// The step workflow, when it is one.
    pub fn steps(&self) -> Option<&Steps> {
        match &self.definition {
            Definition::Steps(steps) => Some(steps),
            Definition::Machine(_) => None,
        }
    }

    /// The workflow's name.
    pub fn name(&self) -> &str {
        match &self.definition {
            Definition::Machine(workflow) => &workflow.name.value,
            Definition::Steps(steps) => &steps.name.value,
        }
    }

    /// The hash of the source, see [`crate::hash::source`].
    pub fn hash(&self) -> &str {
        &self.hash
    }
}
