//! The dependencies of steps, in both directions.

use std::collections::VecDeque;

use crate::model::{StepId, Steps};

/// The steps for which each step waits, and those that wait for it.
pub(super) struct StepGraph {
    /// For each step, those for which it waits.
    before: Vec<Vec<StepId>>,
    /// For each step, those that wait for it.
    after: Vec<Vec<StepId>>,
}

impl StepGraph {
    pub(super) fn of(steps: &Steps) -> StepGraph {
        let before: Vec<Vec<StepId>> =
            steps.steps.iter().map(|it| it.depends_on.iter().map(|step| step.value).collect()).collect();
        let mut after = vec![Vec::new(); before.len()];
        for (id, step) in (0..).zip(&before) {
            step.iter().for_each(|it| after[it.index()].push(StepId(id)));
        }
        StepGraph { before, after }
    }

    pub(super) fn dependents(&self, id: StepId) -> &[StepId] {
        &self.after[id.index()]
    }

    /// By step: true if it is upstream of this one.
    pub(super) fn upstream(&self, of: StepId) -> Vec<bool> {
        reach(&self.before, of)
    }

    /// By step: true if it is downstream of this one.
    pub(super) fn downstream(&self, of: StepId) -> Vec<bool> {
        reach(&self.after, of)
    }

    /// A shortest run of steps from this one to itself, each waiting for the one before, if there is one.
    pub(super) fn cycle(&self, through: StepId) -> Option<Vec<StepId>> {
        let mut from = vec![None; self.after.len()];
        let mut queue = VecDeque::from([through]);
        while let Some(id) = queue.pop_front() {
            for next in &self.after[id.index()] {
                if *next == through {
                    let mut path = vec![through, id];
                    while let Some(Some(step)) = path.last().map(|it| from[it.index()]) {
                        path.push(step);
                    }
                    path.reverse();
                    return Some(path);
                }
                if from[next.index()].is_none() {
                    from[next.index()] = Some(id);
                    queue.push_back(*next);
                }
            }
        }
        None
    }
}

/// By step: true if it can be reached by at least one edge.
fn reach(edges: &[Vec<StepId>], from: StepId) -> Vec<bool> {
    let mut found = vec![false; edges.len()];
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        for next in &edges[id.index()] {
            if !found[next.index()] {
                found[next.index()] = true;
                open.push(*next);
            }
        }
    }
    found
}
