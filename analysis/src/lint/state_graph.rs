//! The plain graph of states: what transitions connect, whatever their guards and gates say.

use orange_core::{Machine, StateId};

use crate::search::components::Components;

/// Facts about every state that the plain graph alone gives.
#[derive(Clone, Debug)]
pub struct StateGraph {
    /// By state: whether a task can be created there, or transitions lead there from where one can.
    pub entered: Vec<bool>,
    /// By state: whether transitions lead from there to a terminal state; true of a terminal state itself.
    pub ends: Vec<bool>,
    /// States that lead to each other.
    pub circles: Components,
}

impl StateGraph {
    /// Reads a machine once.
    pub(super) fn of(machine: &Machine<'_>) -> Self {
        let arrows = machine.transitions.iter().map(|it| (u32::from(it.from.0), u32::from(it.to.0)));
        let circles = Components::of(machine.states.len(), arrows);
        let ends = circles.reaching(|at| machine.states[at as usize].terminal);
        Self { entered: entered(machine), ends, circles }
    }
}

fn entered(machine: &Machine<'_>) -> Vec<bool> {
    let mut entered: Vec<bool> = machine.states.iter().map(|it| it.entry).collect();
    entered[usize::from(machine.initial.0)] = true;
    let mut open: Vec<StateId> = ids(machine).filter(|it| entered[usize::from(it.0)]).collect();
    while let Some(from) = open.pop() {
        for to in machine.targets(from) {
            if !std::mem::replace(&mut entered[usize::from(to.0)], true) {
                open.push(to);
            }
        }
    }
    entered
}

fn ids(machine: &Machine<'_>) -> impl Iterator<Item = StateId> + use<> {
    (0..machine.states.len() as u16).map(StateId)
}
