//! Transitions that no workflow declares: a task ends all the same, and leaves no agent and no worktree behind.

use orange_core::{Actor, Hook, Machine};

use crate::Result;
use crate::store::event::{PlannedHook, Transition};
use crate::store::{Event, LockedTask, Set};

/// What such a transition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forced {
    /// The task is given up.
    Cancel,
    /// Its work is part of the default branch.
    Merge,
}

impl Forced {
    /// The cause in the journal.
    pub const fn cause(self) -> &'static str {
        match self {
            Forced::Cancel => "forced",
            Forced::Merge => "forced_merge",
        }
    }

    /// What a cause in the journal stands for, if it is one of these.
    pub fn of_cause(cause: &str) -> Option<Forced> {
        [Forced::Cancel, Forced::Merge].into_iter().find(|forced| forced.cause() == cause)
    }

    /// Its hooks. A merge has those of the transitions that are declared to its state (design §9), each once, between the end
    /// of the agents and that of the worktree.
    pub fn hooks(self, machine: &Machine<'static>, to: &str) -> Vec<&'static Hook<'static>> {
        let declared = machine.transitions.iter().filter(|way| machine.state(way.to).name == to);
        let declared =
            declared.flat_map(|way| way.hooks).filter(|hook| self == Forced::Merge && is_cleanup(hook));
        let mut hooks = vec![&Hook::KillSession];
        for hook in declared.chain([&Hook::ReleaseWorkspace]) {
            if !hooks.contains(&hook) {
                hooks.push(hook);
            }
        }
        hooks
    }

    /// Journals what led to it and the transition with its new status; whoever comes next finishes it.
    ///
    /// # Errors
    /// Those of writing.
    pub fn begin(
        self,
        machine: &Machine<'static>,
        locked: &mut LockedTask,
        to: &str,
        actor: Actor,
        mut led_to_it: Vec<(Event, Set)>,
    ) -> Result<()> {
        let started = Event::TransitionStarted(self.plan(machine, locked.task().status(), to, actor));
        led_to_it.push((started, Set::new().status(to)));
        locked.append_many(led_to_it)?;
        locked.clear_attention()
    }

    fn plan(self, machine: &Machine<'static>, from: &str, to: &str, actor: Actor) -> Transition {
        let hooks = self.hooks(machine, to);
        let hook = |(index, hook): (usize, &&Hook<'_>)| PlannedHook {
            name: hook.name().to_owned(),
            index,
            counter: None,
        };
        Transition {
            from: from.to_owned(),
            to: to.to_owned(),
            cause: self.cause().to_owned(),
            actor: actor.as_str().to_owned(),
            hooks: hooks.iter().enumerate().map(hook).collect(),
            ..Transition::default()
        }
    }
}

/// A task that is over starts no agent and counts nothing.
fn is_cleanup(hook: &Hook<'_>) -> bool {
    hook.spawn().is_none() && hook.increments().is_none() && !matches!(hook, Hook::AcquireWorkspace)
}
