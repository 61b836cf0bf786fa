//! The transitions that complete a state.

use alloc::vec::Vec;

use crate::{Actor, Choice, Machine, Rejection, View};

impl Machine<'_> {
    /// The choices that complete the state for the actor: those with a gate, which reads what the state's agent writes. In a
    /// state without gates, they are all choices except those to the states of questions, crashes and cancelled tasks. If
    /// any of them would be accepted now, only those are returned.
    pub fn forward(&self, view: &View<'_>, actor: Actor) -> Vec<Choice> {
        let mut choices = self.options(view, actor);
        choices.retain(|choice| match choice.rejection {
            None | Some(Rejection::GateFailed { .. } | Rejection::NotAsked { .. }) => true,
            Some(
                Rejection::NoTransition { .. } | Rejection::NotAllowed { .. } | Rejection::GuardFailed { .. },
            ) => false,
        });
        let has_gate = |choice: &Choice| !self.transition(choice.transition).gates.is_empty();
        if choices.iter().any(has_gate) {
            choices.retain(has_gate);
        } else {
            let commands = &self.commands;
            let questions = commands.clarify.filter(|state| Some(*state) != commands.spawn);
            let aside = [questions, commands.crash, commands.cancel];
            choices.retain(|choice| !aside.contains(&Some(choice.to)));
        }
        if choices.iter().any(Choice::can_be_asked) {
            choices.retain(Choice::can_be_asked);
        }
        choices
    }
}
