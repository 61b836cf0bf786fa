//! The actions of a person: all that the machine knows of now, those that it refuses with the reason.

use alloc::vec::Vec;

use super::{Agent, Doing, MissionFacts, NeedKind, OpenAsk, TaskFacts, asked, idle};
use crate::mission::MissionStatus;
use crate::{Actor, Choice, Commands, Input, LifeFacts, Machine, Rejection, StateId, Transition};

/// Action that a person may take, or that is refused now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer<'f> {
    /// Action of the person.
    pub action: PersonAction<'f>,
    /// Reason why it is refused now; `None` for what can be done.
    pub obstacle: Option<Obstacle<'f>>,
}

/// Reason why an action is refused now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle<'f> {
    /// The workflow rejects the transition.
    Rejected(Rejection),
    /// The hooks of the last transition wait.
    HooksWait,
    /// All worktrees are taken.
    NoWorktree,
    /// The agent asks something, and a text would answer that.
    Asks,
    /// No agent is alive.
    NoAgent,
    /// No agent reads a text now.
    Unheard,
    /// Agents of missions get no texts.
    OfMission,
    /// The reason in words, such as that of git.
    Words(&'f str),
}

impl<'f> Offer<'f> {
    const fn open(action: PersonAction<'f>) -> Offer<'f> {
        Offer { action, obstacle: None }
    }

    const fn refused(action: PersonAction<'f>, obstacle: Obstacle<'f>) -> Offer<'f> {
        Offer { action, obstacle: Some(obstacle) }
    }
}

/// Action of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonAction<'f> {
    /// Allows what an agent asks.
    Allow {
        /// The name of the request.
        request: &'f str,
    },
    /// Denies what an agent asks.
    Deny {
        /// The name of the request.
        request: &'f str,
    },
    /// Sends a message to an agent.
    Send {
        /// Number of the agent; `None` where no agent could get it.
        spawn: Option<u32>,
    },
    /// Shows the session on the terminal.
    Attach,
    /// Shows what the last agent did.
    Logs,
    /// Starts a task that waits for its start.
    Spawn,
    /// Starts the agent of the state again.
    Respawn,
    /// Ends a living agent, and starts the agent of the state again.
    Restart,
    /// Runs the hooks that wait.
    RetryHooks,
    /// Says that what the engine calls a person for is seen.
    Seen,
    /// Merges the work.
    Merge {
        /// True if that takes a merge commit, since both branches have commits of their own.
        with_commit: bool,
        /// True if the workflow has no transition for it from here, and a person overrides that.
        by_force: bool,
    },
    /// Opens a pull request.
    CreatePullRequest,
    /// Shows the pull request.
    Open,
    /// Asks the forge about the pull request now.
    Refresh,
    /// Takes the transition to a state.
    Status {
        /// State to which it leads.
        to: StateId,
        /// Name of that state.
        name: &'f str,
        /// True if it gives judged work back to the worker.
        returns: bool,
    },
    /// Gives a conflict with the base to the worker.
    Resolve,
    /// Gives the task more budget; a text says how much.
    AddBudget,
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
    /// Answers the question of a step.
    AnswerAsk {
        /// Id of the step.
        step: &'f str,
        /// The answer in one word.
        answer: &'f str,
        /// The commit that it is about.
        commit: Option<&'f str>,
    },
    /// Runs what has failed again.
    Retry,
    /// Ends the task or mission.
    Cancel,
    /// Takes back what cancelled it.
    Undo,
    /// Removes what is over.
    Delete,
}

/// A group of actions of one purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ActionGroup {
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
    Resolve,
    Budget,
    Status,
    Pause,
    Ask,
    Retry,
    Cancel,
    Undo,
    Delete,
}

/// The groups that answer a kind of need, the most likely first.
fn groups(kind: NeedKind) -> &'static [ActionGroup] {
    use ActionGroup::{
        Again, Answer, Ask, Attach, Budget, Cancel, Delete, Logs, Merge, Pause, PullRequest, Resolve, Retry,
        RetryHooks, Seen, Send, Spawn, Status, Undo,
    };
    match kind {
        NeedKind::Permission => &[Answer, Attach, Logs, Cancel],
        NeedKind::Question => &[Ask, Send, Attach, Status, Again, Logs, Cancel],
        NeedKind::IdleWithoutArtifact => &[Send, Attach, Status, Again, Logs, Cancel],
        NeedKind::Crashed => &[Again, Logs, Status, Cancel],
        NeedKind::Stuck => &[Spawn, Send, Status, Again, Retry, Attach, Logs, Cancel],
        NeedKind::ReviewReady => &[Merge, PullRequest, Status, Logs, Cancel],
        NeedKind::Budget => &[Budget, Attach, Logs, Status, Cancel],
        NeedKind::Paused => &[Pause, Again, Logs, Status, Cancel],
        NeedKind::Conflict => &[Resolve, Status, PullRequest, Logs, Cancel],
        NeedKind::ChecksRed => &[Status, PullRequest, Logs, Cancel],
        NeedKind::HookFailed => &[RetryHooks, Seen, Attach, Logs, Cancel],
        NeedKind::Limit | NeedKind::Working => &[Attach, Again, Logs, Cancel],
        NeedKind::Queued => &[Spawn, Status, Cancel],
        NeedKind::Over => &[Undo, PullRequest, Logs, Delete],
    }
}

/// The groups that every need has behind those that answer it.
const ALWAYS: [ActionGroup; 9] = [
    ActionGroup::Attach,
    ActionGroup::Send,
    ActionGroup::PullRequest,
    ActionGroup::Merge,
    ActionGroup::Status,
    ActionGroup::Again,
    ActionGroup::Seen,
    ActionGroup::Logs,
    ActionGroup::Cancel,
];

fn answers<'f>(agents: &[Agent<'f>]) -> Vec<Offer<'f>> {
    let name = asked(agents).and_then(|need| need.request).and_then(|request| request.name);
    let both = |request| [PersonAction::Allow { request }, PersonAction::Deny { request }].map(Offer::open);
    name.map_or_else(Vec::new, |request| Vec::from(both(request)))
}

fn when(holds: bool, action: PersonAction<'_>) -> Vec<Offer<'_>> {
    if holds { Vec::from([Offer::open(action)]) } else { Vec::new() }
}

impl<'f> TaskFacts<'f> {
    /// All actions of a person for a need of this kind: first those that can be taken, the most likely before all others.
    pub fn actions(&self, kind: NeedKind) -> Vec<Offer<'f>> {
        let waits = idle(self.agents).is_some_and(|agent| agent.doing == Doing::Waits);
        let answers = || groups(kind).iter().filter(|group| waits || **group != ActionGroup::Send);
        let others = ALWAYS.iter().filter(|group| kind != NeedKind::Over && answers().all(|it| it != *group));
        let mut offers: Vec<_> =
            answers().chain(others).flat_map(|group| self.offers(*group, kind)).collect();
        offers.sort_by_key(|offer| (offer.obstacle.is_some(), self.is_detour(offer.action)));
        offers
    }

    fn is_detour(&self, action: PersonAction<'_>) -> bool {
        let PersonAction::Status { to, .. } = action else { return false };
        self.life.is_some_and(|(machine, _)| machine.is_detour(to))
    }

    fn offers(&self, group: ActionGroup, kind: NeedKind) -> Vec<Offer<'f>> {
        match group {
            ActionGroup::Answer => answers(self.agents),
            ActionGroup::Send => Vec::from([self.send()]),
            ActionGroup::Attach => when(!self.agents.is_empty(), PersonAction::Attach),
            ActionGroup::Logs => when(self.has_logs, PersonAction::Logs),
            ActionGroup::Spawn => self.spawn().into_iter().collect(),
            ActionGroup::Again => self.again(),
            ActionGroup::RetryHooks => {
                when(self.hooks.is_some_and(|hooks| hooks.may_retry), PersonAction::RetryHooks)
            }
            ActionGroup::Seen => when(self.hooks.is_none() && self.attention.is_some(), PersonAction::Seen),
            ActionGroup::Merge => self.merge(kind).into_iter().collect(),
            ActionGroup::PullRequest => self.pull_request(kind),
            ActionGroup::Resolve => when(self.can_return(kind), PersonAction::Resolve),
            ActionGroup::Budget => when(self.budget.is_some_and(|it| it.is_own), PersonAction::AddBudget),
            ActionGroup::Status => self.states(kind),
            ActionGroup::Pause | ActionGroup::Ask | ActionGroup::Retry => Vec::new(),
            ActionGroup::Cancel => self.cancel().into_iter().collect(),
            ActionGroup::Undo => when(self.is_cancelled(), PersonAction::Undo),
            ActionGroup::Delete => when(true, PersonAction::Delete),
        }
    }

    /// A text to the agent that waits for one, or else to one at work. What is typed while an agent asks would answer that.
    fn send(&self) -> Offer<'f> {
        let hears = |agent: &&Agent<'f>| match agent.doing {
            Doing::Waits | Doing::Quiet | Doing::Limit { .. } | Doing::Works | Doing::Rests => true,
            Doing::Asks(_) | Doing::Ended => false,
        };
        let waits = idle(self.agents).filter(|agent| agent.doing == Doing::Waits);
        let agent = waits.or_else(|| self.agents.iter().find(hears)).or(self.agents.first());
        let obstacle = match agent {
            None => Some(Obstacle::NoAgent),
            Some(_) if asked(self.agents).is_some() => Some(Obstacle::Asks),
            Some(agent) if hears(&agent) && self.life.is_some() && !self.is_between() => None,
            Some(_) => Some(Obstacle::Unheard),
        };
        Offer { action: PersonAction::Send { spawn: agent.map(|agent| agent.spawn) }, obstacle }
    }

    /// The start of a task that waits for it.
    fn spawn(&self) -> Option<Offer<'f>> {
        if self.queued.is_none() || !self.follows(Input::Spawn { by: Actor::Human }) {
            return None;
        }
        let obstacle = match self.forbidden {
            Some(why) => Some(Obstacle::Words(why)),
            None => (!self.has_room).then_some(Obstacle::NoWorktree),
        };
        Some(Offer { action: PersonAction::Spawn, obstacle })
    }

    /// True if a transition is not finished.
    fn is_between(&self) -> bool {
        self.is_moving || self.unfinished.is_some()
    }

    /// True if the machine accepts this input.
    fn follows(&self, input: Input<'_>) -> bool {
        self.life.is_some_and(|(machine, facts)| machine.life(facts, input).is_ok())
    }

    fn again(&self) -> Vec<Offer<'f>> {
        // The agents of a task that was not started are started otherwise.
        if self.queued.is_some() || self.is_between() {
            return Vec::new();
        }
        let obstacle = self.budget.map(|it| Obstacle::Words(it.why));
        let offer = |action| Vec::from([Offer { action, obstacle }]);
        if self.agents.is_empty() && self.follows(Input::Respawn { is_alive: false }) {
            return offer(PersonAction::Respawn);
        }
        let can_restart = self.follows(Input::Restart { is_alive: false });
        if can_restart { offer(PersonAction::Restart) } else { Vec::new() }
    }

    /// The merge, unless a pull request takes its place.
    fn merge(&self, kind: NeedKind) -> Option<Offer<'f>> {
        if self.pull_request.is_some() || self.is_between() {
            return None;
        }
        let action = PersonAction::Merge { with_commit: self.has_diverged, by_force: false };
        let git = self.unmergeable.map(Obstacle::Words);
        if self.can_merge() {
            // Git is always asked about work that is ready, and about other work only where there is time for it.
            let is_asked = kind == NeedKind::ReviewReady || self.is_merge_known;
            return is_asked.then_some(Offer { action, obstacle: git });
        }
        if self.is_forcible() && self.is_merge_known && git.is_none() {
            return Some(Offer::open(PersonAction::Merge { with_commit: self.has_diverged, by_force: true }));
        }
        let (machine, facts) = self.life?;
        self.rejected(machine.commands.merge?, facts).map(|obstacle| Offer::refused(action, obstacle))
    }

    fn can_merge(&self) -> bool {
        let input = Input::Merge { by: Actor::Human, force: false, is_merged: self.is_merged };
        self.life.is_some_and(|(machine, facts)| match machine.life(facts, input) {
            Ok(turn) => turn.decision().is_some(),
            Err(refusal) => refusal.program(machine).is_some(),
        })
    }

    /// True if a person can merge although the workflow has no merge from here. Git has to be asked if there is something to merge.
    pub fn is_forcible(&self) -> bool {
        let input = Input::Merge { by: Actor::Human, force: true, is_merged: self.is_merged };
        let is_over = self.life.is_none_or(|(machine, facts)| machine.state(facts.view.status).terminal);
        let is_free = self.has_worktree && self.pull_request.is_none() && self.queued.is_none();
        is_free && !is_over && !self.is_between() && !self.can_merge() && self.follows(input)
    }

    /// Reason why the transition to a state is rejected, if there is one from here.
    fn rejected(&self, to: StateId, facts: &LifeFacts<'f>) -> Option<Obstacle<'f>> {
        let (machine, _) = self.life?;
        let choice = machine.options(&facts.view, Actor::Human).into_iter().find(|choice| choice.to == to)?;
        choice.rejection.filter(|_| !choice.can_be_asked()).map(Obstacle::Rejected)
    }

    fn pull_request(&self, kind: NeedKind) -> Vec<Offer<'f>> {
        if self.pull_request.is_some() {
            return [PersonAction::Open, PersonAction::Refresh].map(Offer::open).to_vec();
        }
        let is_over = kind == NeedKind::Over;
        when(self.has_worktree && !is_over && self.lost.is_none(), PersonAction::CreatePullRequest)
    }

    fn cancel(&self) -> Option<Offer<'f>> {
        if let Some(lost) = self.lost {
            return lost.can_cancel.then_some(Offer::open(PersonAction::Cancel));
        }
        if self.follows(Input::Cancel { by: Actor::Human, is_cut_short: false }) {
            return Some(Offer::open(PersonAction::Cancel));
        }
        let (machine, facts) = self.life?;
        let obstacle = self.rejected(machine.commands.cancel?, facts)?;
        Some(Offer::refused(PersonAction::Cancel, obstacle))
    }

    fn is_cancelled(&self) -> bool {
        self.life.is_some_and(|(machine, facts)| machine.commands.cancel == Some(facts.view.status))
    }

    /// The transitions that a person may ask for, without those of other actions.
    fn states(&self, kind: NeedKind) -> Vec<Offer<'f>> {
        let Some((machine, facts)) = self.life else { return Vec::new() };
        if self.is_between() || self.queued.is_some() && kind == NeedKind::Queued {
            return Vec::new();
        }
        let (status, commands) = (facts.view.status, &machine.commands);
        let starts = status == machine.initial;
        let is_own = |choice: &Choice| {
            let is_start = starts && commands.spawn == Some(choice.to);
            let by = machine.transition(choice.transition).by;
            // A merge that is refused is an action of its own.
            let is_refused_merge = commands.merge == Some(choice.to) && !choice.can_be_asked();
            let is_cancel = commands.cancel == Some(choice.to);
            !is_start && !is_cancel && !is_refused_merge && by.allows(Actor::Human)
        };
        let offer = |choice: Choice| {
            let returns = machine.returns_work(status, choice.to);
            let transition = machine.transition(choice.transition);
            let obstacle = match choice.rejection.filter(|_| !choice.can_be_asked()) {
                Some(rejection) => Some(Obstacle::Rejected(rejection)),
                None if self.hooks.is_some() => Some(Obstacle::HooksWait),
                None if self.has_no_room(transition) => Some(Obstacle::NoWorktree),
                None => self.forbidden.filter(|_| starts_agent(transition)).map(Obstacle::Words),
            };
            let name = machine.state(choice.to).name;
            Offer { action: PersonAction::Status { to: choice.to, name, returns }, obstacle }
        };
        let mut choices = machine.options(&facts.view, Actor::Human);
        choices.retain(is_own);
        choices.into_iter().map(offer).collect()
    }

    /// True if a person can give judged work back to the worker.
    fn can_return(&self, kind: NeedKind) -> bool {
        let is_return = |action| matches!(action, PersonAction::Status { returns: true, .. });
        self.states(kind).iter().any(|offer| is_return(offer.action) && offer.obstacle.is_none())
    }

    fn has_no_room(&self, transition: &Transition<'_>) -> bool {
        !self.has_room && transition.hooks.iter().any(|hook| hook.action.acquires())
    }
}

fn starts_agent(transition: &Transition<'_>) -> bool {
    transition.hooks.iter().any(|hook| hook.spawn.is_some())
}

impl Machine<'_> {
    /// True if a state is that of the merge, of crashes or of questions: no step there answers a need.
    pub fn is_detour(&self, to: StateId) -> bool {
        let Commands { merge, crash, clarify, spawn, .. } = self.commands;
        [merge, crash, clarify].contains(&Some(to)) && spawn != Some(to)
    }

    /// True if a transition gives judged work back: it leads from a state where no worker works to one where a worker works, and
    /// the work made there comes to this state again. Detours by the beginning, a crash or a question do not count, since they lead
    /// everywhere.
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
    /// All actions of a person for a need of this kind, the most likely first.
    pub fn actions(&self, kind: NeedKind) -> Vec<Offer<'f>> {
        let answers = groups(kind).iter().flat_map(|group| self.offers(*group));
        let unheard = (kind != NeedKind::Over)
            .then_some(Offer::refused(PersonAction::Send { spawn: None }, Obstacle::OfMission));
        answers.chain(unheard).collect()
    }

    fn offers(&self, group: ActionGroup) -> Vec<Offer<'f>> {
        match group {
            ActionGroup::Answer => answers(self.agents),
            ActionGroup::Attach => when(!self.agents.is_empty(), PersonAction::Attach),
            ActionGroup::Logs => when(self.has_logs, PersonAction::Logs),
            ActionGroup::Pause => match self.pause {
                Some(pause) => {
                    let accept = when(pause.can_accept, PersonAction::Accept { pause: pause.number });
                    [when(true, PersonAction::Continue { pause: pause.number }), accept].concat()
                }
                None => Vec::new(),
            },
            ActionGroup::Ask => self.answers_of_ask(),
            ActionGroup::Retry => when(self.status == MissionStatus::Failed, PersonAction::Retry),
            ActionGroup::Cancel => when(!self.is_over(), PersonAction::Cancel),
            ActionGroup::Delete => when(self.is_over(), PersonAction::Delete),
            ActionGroup::Send
            | ActionGroup::Spawn
            | ActionGroup::Again
            | ActionGroup::RetryHooks
            | ActionGroup::Seen
            | ActionGroup::Merge
            | ActionGroup::PullRequest
            | ActionGroup::Status
            | ActionGroup::Resolve
            | ActionGroup::Budget
            | ActionGroup::Undo => Vec::new(),
        }
    }

    fn answers_of_ask(&self) -> Vec<Offer<'f>> {
        let Some(OpenAsk { step, answers, commit, .. }) = self.ask else { return Vec::new() };
        answers.iter().map(|answer| Offer::open(PersonAction::AnswerAsk { step, answer, commit })).collect()
    }

    fn is_over(&self) -> bool {
        matches!(self.status, MissionStatus::Completed | MissionStatus::Cancelled)
    }
}
