//! The actions that answer a need: only those that the machine allows a person now.

use alloc::vec::Vec;

use super::{Agent, Doing, Kind, MissionFacts, TaskFacts, asked, idle};
use crate::mission::MissionStatus;
use crate::{Actor, Choice, Facts, Input, Machine, StateId, Transition};

/// Something that a person can do about a need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'f> {
    /// Allows what an agent asks.
    Allow {
        /// The name of the request.
        request: &'f str,
    },
    /// Denies it.
    Deny {
        /// The name of the request.
        request: &'f str,
    },
    /// Sends a message to an agent.
    Send {
        /// Its number.
        spawn: u32,
    },
    /// Shows the session on the terminal.
    Attach,
    /// Shows what the last agent did.
    Logs,
    /// Starts a task that waits for its start.
    Spawn,
    /// Starts the agent of the state again.
    Respawn,
    /// The same, and ends a living one before.
    Restart,
    /// Runs the hooks that wait.
    RetryHooks,
    /// Says that what the engine calls a person for is seen.
    Seen,
    /// Merges the work.
    Merge {
        /// Whether that takes a merge commit, since both branches have commits of their own.
        with_commit: bool,
    },
    /// Shows the pull request.
    Open,
    /// Asks GitHub about the pull request now.
    Refresh,
    /// Takes the transition to a state.
    Status {
        /// The state.
        to: StateId,
        /// Whether it gives judged work back to the worker.
        returns: bool,
    },
    /// Answers a pause: the mission goes on.
    Continue {
        /// The number of the pause.
        pause: u32,
    },
    /// Answers a pause: the failure is taken as it is.
    Accept {
        /// The number of the pause.
        pause: u32,
    },
    /// Runs what has failed again.
    Retry,
    /// Ends it.
    Cancel,
}

/// A group of actions of one purpose.
#[derive(Clone, Copy)]
enum Group {
    Answer,
    Send,
    Attach,
    Logs,
    Spawn,
    Again,
    RetryHooks,
    Seen,
    Merge,
    PullRequest,
    Status,
    Pause,
    Retry,
    Cancel,
}

/// The groups that answer a kind of need, the most likely first.
fn groups(kind: Kind) -> &'static [Group] {
    use Group::{
        Again, Answer, Attach, Cancel, Logs, Merge, Pause, PullRequest, Retry, RetryHooks, Seen, Send, Spawn,
        Status,
    };
    match kind {
        Kind::Permission => &[Answer, Attach, Logs, Cancel],
        Kind::Question | Kind::IdleWithoutArtifact => &[Send, Attach, Status, Again, Logs, Cancel],
        Kind::Crashed => &[Again, Logs, Status, Cancel],
        Kind::Stuck => &[Spawn, Send, Status, Again, Retry, Attach, Logs, Cancel],
        Kind::ReviewReady => &[Merge, PullRequest, Status, Logs, Cancel],
        Kind::Paused => &[Pause, Again, Logs, Status, Cancel],
        Kind::Conflict | Kind::ChecksRed => &[Status, PullRequest, Logs, Cancel],
        Kind::HookFailed => &[RetryHooks, Seen, Attach, Logs, Cancel],
        Kind::Limit | Kind::Working => &[Attach, Again, Logs, Cancel],
        Kind::Queued => &[Spawn, Status, Cancel],
    }
}

fn answers<'f>(agents: &[Agent<'f>]) -> Vec<Action<'f>> {
    let name = asked(agents).and_then(|need| need.request).and_then(|request| request.name);
    name.map_or_else(Vec::new, |request| Vec::from([Action::Allow { request }, Action::Deny { request }]))
}

fn when(holds: bool, action: Action<'_>) -> Vec<Action<'_>> {
    if holds { Vec::from([action]) } else { Vec::new() }
}

impl<'f> TaskFacts<'f> {
    /// What a person can do about a need of this kind, the most likely first.
    pub fn actions(&self, kind: Kind) -> Vec<Action<'f>> {
        let mut actions: Vec<_> = groups(kind).iter().flat_map(|group| self.allowed(*group, kind)).collect();
        if !actions.iter().any(|action| matches!(action, Action::Send { .. })) {
            actions.extend(self.interrupt());
        }
        actions
    }

    /// A message to an agent that does not wait for one. What is typed while an agent asks would answer that.
    fn interrupt(&self) -> Option<Action<'f>> {
        if self.life.is_none() || self.is_between() || asked(self.agents).is_some() {
            return None;
        }
        let hears = self.agents.iter().find(|agent| match agent.doing {
            Doing::Waits | Doing::Quiet | Doing::Limit { .. } | Doing::Works | Doing::Rests => true,
            Doing::Asks(_) | Doing::Ended => false,
        });
        hears.map(|agent| Action::Send { spawn: agent.spawn })
    }

    fn allowed(&self, group: Group, kind: Kind) -> Vec<Action<'f>> {
        match group {
            Group::Answer => answers(self.agents),
            Group::Send => {
                let hears = idle(self.agents).filter(|agent| agent.doing == Doing::Waits);
                hears.map_or_else(Vec::new, |agent| Vec::from([Action::Send { spawn: agent.spawn }]))
            }
            Group::Attach => when(!self.agents.is_empty(), Action::Attach),
            Group::Logs => when(self.has_logs, Action::Logs),
            Group::Spawn => when(
                self.queued.is_some()
                    && self.forbidden.is_none()
                    && self.has_room
                    && self.follows(Input::Spawn { by: Actor::Human }),
                Action::Spawn,
            ),
            Group::Again => self.again(),
            Group::RetryHooks => when(self.hooks.is_some_and(|hooks| hooks.may_retry), Action::RetryHooks),
            Group::Seen => when(self.hooks.is_none() && self.attention.is_some(), Action::Seen),
            Group::Merge => when(self.can_merge(), Action::Merge { with_commit: self.has_diverged }),
            Group::PullRequest => match self.pull_request {
                Some(_) => Vec::from([Action::Open, Action::Refresh]),
                None => Vec::new(),
            },
            Group::Status => self.states(kind),
            Group::Pause | Group::Retry => Vec::new(),
            Group::Cancel => when(self.can_cancel(), Action::Cancel),
        }
    }

    /// Whether a transition is not finished.
    fn is_between(&self) -> bool {
        self.is_moving || self.unfinished.is_some()
    }

    /// Whether the machine accepts this input.
    fn follows(&self, input: Input<'_>) -> bool {
        self.life.is_some_and(|(machine, facts)| machine.life(facts, input).is_ok())
    }

    fn again(&self) -> Vec<Action<'f>> {
        // The agents of a task that was not started are started otherwise.
        if self.queued.is_some() || self.is_between() {
            return Vec::new();
        }
        if self.agents.is_empty() && self.follows(Input::Respawn { is_alive: false }) {
            return Vec::from([Action::Respawn]);
        }
        when(self.follows(Input::Restart { is_alive: false }), Action::Restart)
    }

    fn can_merge(&self) -> bool {
        let input = Input::Merge { by: Actor::Human, force: false, is_merged: self.is_merged };
        let is_free = self.pull_request.is_none() && self.unmergeable.is_none();
        is_free
            && self.accepts(|machine, facts| match machine.life(facts, input) {
                Ok(turn) => turn.decision().is_some(),
                Err(refusal) => refusal.program(machine).is_some(),
            })
    }

    fn can_cancel(&self) -> bool {
        match self.lost {
            Some(lost) => lost.can_cancel,
            None => self.follows(Input::Cancel { by: Actor::Human, is_cut_short: false }),
        }
    }

    fn accepts(&self, holds: impl FnOnce(&Machine<'f>, &Facts<'f>) -> bool) -> bool {
        self.life.is_some_and(|(machine, facts)| holds(machine, facts))
    }

    /// The transitions that a person can take, without those of other actions. Nobody answers a need with a step back to the
    /// states of crashes and questions.
    fn states(&self, kind: Kind) -> Vec<Action<'f>> {
        let Some((machine, facts)) = self.life else { return Vec::new() };
        if self.hooks.is_some() || self.is_between() || self.queued.is_some() && kind == Kind::Queued {
            return Vec::new();
        }
        let commands = &machine.commands;
        let others = [commands.cancel, commands.merge, commands.crash, commands.clarify];
        let starts = facts.view.status == machine.initial;
        let is_own = |to: StateId| {
            let is_other = others.contains(&Some(to)) && commands.spawn != Some(to);
            !(is_other || starts && commands.spawn == Some(to))
        };
        let has_room = |transition: &Transition<'_>| {
            self.has_room || !transition.hooks.iter().any(|hook| hook.action.acquires())
        };
        let can_be_taken = |choice: &Choice| {
            choice.can_be_asked() && is_own(choice.to) && has_room(machine.transition(choice.transition))
        };
        let choices = machine.options(&facts.view, Actor::Human).into_iter().filter(can_be_taken);
        let status = facts.view.status;
        let action = |choice: Choice| Action::Status {
            to: choice.to,
            returns: machine.returns_work(status, choice.to),
        };
        choices.map(action).collect()
    }
}

impl Machine<'_> {
    /// Whether a transition gives judged work back: it leads from where no worker works to where one does, and what is made there
    /// comes to this state again. Detours by the beginning, a crash or a question do not count, since they lead everywhere.
    pub fn returns_work(&self, from: StateId, to: StateId) -> bool {
        let commands = &self.commands;
        let works = |id: StateId| self.has_agent(id) && self.state(id).agent == Actor::Worker;
        let is_judged = commands.crash == Some(from) || !works(from);
        let clarify = commands.clarify.filter(|_| commands.clarify != commands.spawn);
        let detours = [Some(self.initial), commands.crash, clarify];
        if !is_judged || !works(to) || detours.contains(&Some(to)) {
            return false;
        }
        let mut seen = alloc::vec![to];
        let mut at = 0;
        while let Some(state) = seen.get(at).copied() {
            for next in self.targets(state) {
                if next == from {
                    return true;
                }
                if !seen.contains(&next) && !detours.contains(&Some(next)) {
                    seen.push(next);
                }
            }
            at += 1;
        }
        false
    }
}

impl<'f> MissionFacts<'f> {
    /// What a person can do about a need of this kind, the most likely first.
    pub fn actions(&self, kind: Kind) -> Vec<Action<'f>> {
        groups(kind).iter().flat_map(|group| self.allowed(*group)).collect()
    }

    fn allowed(&self, group: Group) -> Vec<Action<'f>> {
        match group {
            Group::Answer => answers(self.agents),
            Group::Attach => when(!self.agents.is_empty(), Action::Attach),
            Group::Logs => when(self.has_logs, Action::Logs),
            Group::Pause => match self.pause {
                Some(pause) => {
                    let accept = when(pause.can_accept, Action::Accept { pause: pause.number });
                    [Vec::from([Action::Continue { pause: pause.number }]), accept].concat()
                }
                None => Vec::new(),
            },
            Group::Retry => when(self.status == MissionStatus::Failed, Action::Retry),
            Group::Cancel => {
                let is_over = matches!(self.status, MissionStatus::Completed | MissionStatus::Cancelled);
                when(!is_over, Action::Cancel)
            }
            Group::Send
            | Group::Spawn
            | Group::Again
            | Group::RetryHooks
            | Group::Seen
            | Group::Merge
            | Group::PullRequest
            | Group::Status => Vec::new(),
        }
    }
}
