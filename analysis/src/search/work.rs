//! Changes of the work, after which a verdict that counts for one work is of an earlier one.

use orange_core::{Actor, Transition};

use super::SearchStep;
use super::explore::Explorer;
use super::steps::Origin;
use super::task::Task;

impl Explorer<'_, '_> {
    /// An agent that is alive changes the work: that matters if a verdict counts for the present work alone.
    pub(super) fn commits(&mut self, from: Origin, task: &Task) {
        let accepted = self.search.sections.of_present_work(task);
        if let Some(agent) = task.alive().filter(|_| task.has_worktree() && accepted != 0) {
            let next = Task { outdated: task.outdated | accepted, ..*task };
            self.add(from, SearchStep::Commit(agent), next, Vec::new());
        }
    }

    /// A hook has brought the branch up to its base: the work may be another one since, as after a commit of an agent.
    pub(super) fn synced(&mut self, from: Origin, task: &Task) {
        let accepted = self.search.sections.of_present_work(task);
        let machine = self.search.machine;
        let leads_here =
            |it: &&Transition<'_>| it.to == task.status || it.on_hook_failure == Some(task.status);
        let mut into = machine.transitions.iter().filter(leads_here);
        if accepted != 0 && into.any(Transition::remakes) {
            let next = Task { outdated: task.outdated | accepted, ..*task };
            self.add(from, SearchStep::Commit(Actor::Engine), next, Vec::new());
        }
    }
}
