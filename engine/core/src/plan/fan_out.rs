//! Use of the worktree, and fan-outs: steps with one item for each element of a list.

use super::{InputId, OutputId, Plan, Step, StepId};

/// Number of agents and programs that work at once, of a plan that names none.
pub const DEFAULT_PARALLEL: u8 = 4;

/// Largest `parallel` of a plan.
pub const MOST_PARALLEL: u8 = 32;

/// Use of the mission's worktree by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorktreeUse {
    /// It writes there, and nothing else works there meanwhile.
    Write,
    /// It only reads, beside other readers.
    Read,
    /// It writes in a worktree and on a branch of its own, whose commits land in the mission's branch afterwards.
    Own,
}

/// List of a fan-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemList<'a> {
    /// A list that a step reports, which is a direct or indirect dependency.
    Output(StepId, OutputId),
    /// A list that the mission was started with.
    Input(InputId),
    /// These texts.
    Fixed(&'a [&'a str]),
}

/// Fan-out of a step: one item for each element of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FanOut<'a> {
    /// The list, which is read when the step is queued.
    pub list: ItemList<'a>,
    /// Number of items that must complete, at least 1; of a shorter list, and without a number, all.
    pub enough: Option<u16>,
}

impl FanOut<'_> {
    /// Number of items that must complete, of this many.
    pub fn needed(&self, items: usize) -> usize {
        self.enough.map_or(items, |it| usize::from(it).min(items))
    }
}

impl ItemList<'_> {
    /// The step whose report has the list.
    pub fn step(&self) -> Option<StepId> {
        match self {
            ItemList::Output(step, _) => Some(*step),
            ItemList::Input(_) | ItemList::Fixed(_) => None,
        }
    }
}

impl Step<'_> {
    /// True if it has one item for each element of a list.
    pub fn is_fan_out(&self) -> bool {
        self.fan_out.is_some()
    }
}

impl Plan<'_> {
    /// True if more than one agent or program of it may work at once.
    pub fn is_concurrent(&self) -> bool {
        self.steps.iter().any(|it| it.worktree != WorktreeUse::Write && !it.is_ask())
    }

    /// Most items that the list of a fan-out may have; 1 of a plain step.
    pub fn most_items(&self, id: StepId) -> usize {
        match self.step(id).fan_out.map(|it| it.list) {
            None => 1,
            Some(ItemList::Fixed(items)) => items.len(),
            Some(ItemList::Output(step, output)) => {
                self.outputs_of(step).get(usize::from(output.0)).map_or(0, |it| it.kind.most_items())
            }
            Some(ItemList::Input(input)) => {
                self.inputs.get(usize::from(input.0)).map_or(0, |it| it.kind.most_items())
            }
        }
    }
}
