//! Relation of an event to those before it: which of them it ends, and which it follows.

use super::Event;

impl Event {
    /// True if it decides the state of a mission: that state is what these events fold to, in order.
    pub fn is_of_mission(&self) -> bool {
        matches!(
            self,
            Event::MissionCreated { .. }
                | Event::MissionStarted { .. }
                | Event::StepStarted { .. }
                | Event::WorktreeChanged { .. }
                | Event::StepAsked { .. }
                | Event::StepEnded(_)
                | Event::MissionPaused { .. }
                | Event::MissionContinued { .. }
                | Event::MissionRetried { .. }
                | Event::MissionCancelled { .. }
                | Event::MissionEnded { .. }
        )
    }

    /// True if the task no longer waits for an agent: it was started, the task has moved on, or the engine has given up. A mission
    /// also waits no longer once the attempt has ended, or a person is asked.
    pub fn ends_waiting(&self) -> bool {
        matches!(
            self,
            Event::AgentSpawned(_)
                | Event::AgentRespawned(_)
                | Event::AgentGivenUp { .. }
                | Event::AgentStopped { .. }
                | Event::AgentContinued { .. }
                | Event::TransitionStarted(_)
                | Event::TaskMigrated { .. }
                | Event::TaskReopened { .. }
                | Event::StepEnded(_)
                | Event::MissionPaused { .. }
                | Event::MissionCancelled { .. }
        )
    }

    /// True if the answer of a program that a gate has asked is not wanted any more.
    pub fn ends_asking(&self) -> bool {
        matches!(
            self,
            Event::TransitionStarted(_)
                | Event::TaskMigrated { .. }
                | Event::TaskReopened { .. }
                | Event::TaskDeleted { .. }
        )
    }

    /// True if the hooks that waited run, or never will.
    pub fn ends_hooks_wait(&self) -> bool {
        matches!(
            self,
            Event::HooksRetried { .. }
                | Event::TransitionStarted(_)
                | Event::TaskMigrated { .. }
                | Event::TaskReopened { .. }
        )
    }

    /// True if it can be in one write with the end of an agent, and after it.
    pub fn follows_an_end(&self) -> bool {
        matches!(
            self,
            Event::AgentActivity(_)
                | Event::AgentCrashed { .. }
                | Event::AutoAdvanced { .. }
                | Event::TransitionStarted(_)
        )
    }

    /// True if the work of a task or mission comes to a halt with it, at least until what follows.
    pub fn is_halt(&self) -> bool {
        matches!(
            self,
            Event::AgentExited(_)
                | Event::AgentCrashed { .. }
                | Event::AgentGivenUp { .. }
                | Event::AgentStopped { .. }
                | Event::AgentWaiting(_)
                | Event::HooksWaiting { .. }
                | Event::StepEnded(_)
                | Event::MissionPaused { .. }
                | Event::MissionEnded { .. }
        )
    }

    /// True if this ends a stop by a person.
    pub fn ends_stop(&self) -> bool {
        matches!(
            self,
            Event::AgentSpawned(_)
                | Event::AgentRespawned(_)
                | Event::TransitionStarted(_)
                | Event::TaskMigrated { .. }
        )
    }
}
