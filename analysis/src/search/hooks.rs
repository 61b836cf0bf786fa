//! Hooks of a step: they run, fail and count.

use orange_core::{Actor, Effect};

use super::HookIndex;
use super::explore::Explorer;
use super::reviewers::ReviewerIndex;
use super::task::{Agent, Event, Task};

impl<'m> Explorer<'_, 'm> {
    /// Runs hooks, of which the first has this index, up to one that fails by itself and stops the others.
    pub(super) fn run_hooks(
        &mut self,
        task: &mut Task,
        effects: &[Effect<'m>],
        first: HookIndex,
        events: &mut Vec<(HookIndex, Event)>,
    ) -> Option<HookIndex> {
        self.hooks += effects.len();
        for (index, effect) in (first..).zip(effects) {
            let before = *task;
            let event = self.take(task, effect);
            events.extend(event.map(|event| (index, event)));
            self.is_wrong |= self.starts_a_living_one(effect, event);
            if task.has_started(&before) {
                task.unhandled_exit = None;
                self.note_verdicts(task, effect.hook.reviewer());
            }
            if task.is_stopped_by(&effect.hook, event) {
                return Some(index);
            }
        }
        None
    }

    /// True if a hook starts a reviewer that can be exchanged and is alive.
    pub(super) fn starts_a_living_one(&self, effect: &Effect<'m>, event: Option<Event>) -> bool {
        let bit = self.search.reviewers.bit(&effect.hook);
        event == Some(Event::SpawnWhileAlive(Actor::Reviewer))
            && bit != 0
            && self.search.symmetry.has(bit.trailing_zeros() as ReviewerIndex)
    }

    pub(super) fn take(&self, task: &mut Task, effect: &Effect<'m>) -> Option<Event> {
        self.count(task, effect);
        task.apply_with(&effect.hook, self.search.reviewers.bit(&effect.hook))
    }

    /// Sets the counter of a hook, which happens even if the hook fails.
    pub(super) fn count(&self, task: &mut Task, effect: &Effect<'m>) {
        task.renamed |= self.search.renames(task, effect) && task.reviewer == Agent::Live;
        if let Some((counter, value)) = effect.counter {
            self.search.counters.set(task, counter, value);
        }
    }

    /// A verdict that an agent finds at its start is not its own; another reviewer's section is none of its business.
    pub(super) fn note_verdicts(&mut self, task: &mut Task, reviewer: Option<&str>) {
        let is_own = |it: Option<&str>| it.is_none() || it == reviewer;
        for section in self.decisions.reads(task).judged.iter() {
            if is_own(self.search.sections.get(section).reviewer) {
                self.stood(task, section, true);
            }
        }
    }
}
