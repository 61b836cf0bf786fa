//! The abstract task: as much of a task as a decision or a hook can tell apart, and what hooks do to it.

use std::hash::{Hash, Hasher};

use orange_core::action::{Ends, Remote, WorktreeUse};
use orange_core::{Actor, Hook, OnFailure, Spawn, StateId, TransitionId, Workspace};

use super::times::PassedTimes;

/// More counters than this are not searched.
pub const MAX_COUNTERS: usize = 8;

/// More sections than this are not searched; each has a byte of a word.
pub const MAX_SECTIONS: usize = 16;

/// The number of a content among those of its section; 0 is the section that does not exist.
pub type ContentId = u8;

/// The section does not exist.
pub const ABSENT: ContentId = 0;

/// A task, its agents and its worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    pub status: StateId,
    /// Worktree or folder in which its agents work, if it holds one.
    pub workspace: Option<Workspace>,
    /// The agent whose requests are the worker's.
    pub worker: Agent,
    /// The agent whose requests are the reviewer's.
    pub reviewer: Agent,
    /// Reviewers with names that are alive, or can be: bits of [`super::reviewers::Reviewers`].
    pub reviewers: u8,
    /// True if a session is on record, whatever is still alive in it.
    pub session: bool,
    /// True if the reviewer that is alive was started to run beside a worker.
    pub beside: bool,
    /// True if `review_round` has risen since the reviewer's window was named after it.
    pub renamed: bool,
    /// The agent whose end the exit rules of the new state are still to be asked about: the engine does that at once, or when the hooks
    /// that wait have run.
    pub unhandled_exit: Option<Actor>,
    /// The times that are over.
    pub passed: PassedTimes,
    /// The hooks that wait.
    pub waiting: Option<WaitingHooks>,
    /// The values of the counters that some guard can tell apart, by their slot.
    pub(super) counters: [u32; MAX_COUNTERS],
    /// Contents of the sections: a byte for each, by their number.
    pub(super) sections: u128,
    /// Sections whose verdict a gate has accepted about other work than the present one: a bit for each, by their number.
    pub(super) outdated: u16,
}

/// Hooks that wait, because one of them has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitingHooks {
    /// Their transition.
    pub transition: TransitionId,
    /// Index of the hook that has failed.
    pub hook: u16,
    /// True if the transition itself followed a failed hook.
    pub follows_failure: bool,
    /// True if it has failed just now, and the task goes on to the state that its transition names for this.
    pub goes_on: bool,
}

/// One of a task's two agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    /// None was started, or it was ended by a hook.
    None,
    Live,
    /// It ended by itself; its session is still on record.
    Dead,
}

/// Content of a section, with what makes it stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WrittenSection {
    pub content: ContentId,
    /// True if a gate has let this very content through.
    pub seen: bool,
    /// True if it stood there when the task came to its state, or when the agent that is to judge was started.
    pub stood: bool,
}

impl WrittenSection {
    /// True if a gate that wants something fresh refuses it.
    pub fn is_stale(self) -> bool {
        self.seen || self.stood
    }
}

/// Something that a hook did beside what it is for, or could not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// It starts an agent while this one is alive in the same worktree.
    SpawnWhileAlive(Actor),
    /// It starts an agent without a worktree.
    SpawnWithoutWorkspace,
    /// It starts an agent that works without a worktree, and the task holds one.
    SpawnBesideWorktree,
    /// It takes a worktree while this agent is alive in the folder that the worktree replaces.
    AcquireUnderAgent(Actor),
    /// It gives a worktree or a folder back in which this agent is alive.
    ReleaseUnderAgent(Actor),
    /// It needs the work in a worktree, and the agents of the task work without one.
    NoWorktreeToUse,
    /// It starts a reviewer's window, and no worker is alive beside it.
    SpawnWithoutSession,
    /// It tells a worker something, and none is alive.
    NobodyToNotify,
    /// It ends a reviewer whose window was named after a `review_round` that has risen since.
    KilledUnderOtherName,
    /// There was nothing for it to do.
    Idle,
}

impl Event {
    /// True if the hook that has caused this event has failed. An agent that is started beside another actor's, or without the
    /// session that it was meant for, is started all the same.
    pub fn is_failure_of(self, hook: &Hook<'_>) -> bool {
        match self {
            Event::SpawnWhileAlive(alive) => hook.spawn().is_some_and(|spawn| spawn.actor() == alive),
            Event::SpawnWithoutWorkspace
            | Event::SpawnBesideWorktree
            | Event::AcquireUnderAgent(_)
            | Event::ReleaseUnderAgent(_)
            | Event::NoWorktreeToUse
            | Event::NobodyToNotify => true,
            Event::SpawnWithoutSession | Event::KilledUnderOtherName | Event::Idle => false,
        }
    }

    /// Short note on a failure, or on something unexpected.
    pub fn note(self) -> Option<String> {
        Some(match self {
            Event::SpawnWhileAlive(actor) => format!("a {} is still alive in the worktree", actor.kind()),
            Event::SpawnWithoutWorkspace => "there is no worktree: nothing is started".to_owned(),
            Event::SpawnBesideWorktree => "it holds a worktree: nothing is started".to_owned(),
            Event::AcquireUnderAgent(actor) => format!("the {} is still alive in its folder", actor.kind()),
            Event::ReleaseUnderAgent(actor) => format!("the {} is still alive in it: it stays", actor.kind()),
            Event::NoWorktreeToUse => "there is no worktree with work in it".to_owned(),
            Event::SpawnWithoutSession => "no worker is alive beside it".to_owned(),
            Event::NobodyToNotify => "no worker is alive to get the message".to_owned(),
            Event::KilledUnderOtherName => "its window carries an earlier round".to_owned(),
            Event::Idle => return None,
        })
    }
}

impl Hash for Task {
    /// Few words, since this is what the search does most.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let unhandled_exit = match self.unhandled_exit {
            Some(Actor::Worker) => 1,
            Some(_) => 2,
            None => 0,
        };
        let workspace = match self.workspace {
            None => 0,
            Some(Workspace::Worktree) => 1,
            Some(Workspace::Folder) => 2,
        };
        let flags = workspace
            | u64::from(self.session) << 2
            | u64::from(self.renamed) << 3
            | u64::from(self.beside) << 4;
        let agents = self.worker as u64 | (self.reviewer as u64) << 2;
        let waiting =
            self.waiting.map_or(0, |it| u64::from(it.transition.0) << 16 | u64::from(it.hook) << 1 | 1);
        let rest = u64::from(self.passed.0) << 40
            | u64::from(self.reviewers) << 32
            | u64::from(self.status.0) << 16
            | unhandled_exit << 12
            | agents << 8
            | flags;
        state.write_u64(waiting << 32 ^ rest);
        state.write_u64(self.sections as u64);
        state.write_u64((self.sections >> 64) as u64);
        // Apart from each other, so that no product waits for the one before.
        let mixed = (0..).zip(&self.counters).fold(0, |sum: u64, (slot, value)| {
            let odd = (2 * slot + 1_u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sum.wrapping_add(u64::from(*value).wrapping_mul(odd))
        });
        state.write_u64(mixed ^ u64::from(self.outdated) << 48);
    }
}

impl Task {
    /// A task as it is created.
    pub(crate) fn new(status: StateId) -> Self {
        Self {
            status,
            workspace: None,
            worker: Agent::None,
            reviewer: Agent::None,
            reviewers: 0,
            session: false,
            beside: false,
            renamed: false,
            unhandled_exit: None,
            passed: PassedTimes::default(),
            waiting: None,
            counters: [0; MAX_COUNTERS],
            sections: 0,
            outdated: 0,
        }
    }

    /// The agent of this actor; persons and the engine have none.
    pub fn agent(&self, actor: Actor) -> Agent {
        match actor {
            Actor::Worker => self.worker,
            Actor::Reviewer => self.reviewer,
            Actor::Human | Actor::Engine | Actor::Declared(_) => Agent::None,
        }
    }

    /// True if it holds a worktree.
    pub fn has_worktree(&self) -> bool {
        self.workspace == Some(Workspace::Worktree)
    }

    /// The agent that is alive, the worker before the reviewer.
    pub fn alive(&self) -> Option<Actor> {
        [Actor::Worker, Actor::Reviewer].into_iter().find(|it| self.agent(*it) == Agent::Live)
    }

    /// True if no agent of it is alive, and no end of one is still to be judged.
    pub(crate) fn is_deserted(&self) -> bool {
        self.alive().is_none() && self.unhandled_exit.is_none()
    }

    /// Number of its agents that are alive, at most.
    pub fn live_agents(&self) -> usize {
        let reviewers = if self.reviewer == Agent::Live { self.reviewers.count_ones().max(1) } else { 0 };
        usize::from(self.worker == Agent::Live) + reviewers as usize
    }

    /// Content of the section with this number.
    pub fn section(&self, section: usize) -> WrittenSection {
        let byte = (self.sections >> (8 * section)) as u8;
        WrittenSection { content: byte >> 2, seen: byte & 1 == 1, stood: byte & 2 == 2 }
    }

    pub(super) fn write(&mut self, section: usize, written: WrittenSection) {
        let byte = written.content << 2 | u8::from(written.stood) << 1 | u8::from(written.seen);
        self.sections &= !(0xff << (8 * section));
        self.sections |= u128::from(byte) << (8 * section);
        if !written.seen {
            self.outdated &= !(1 << section);
        }
    }

    /// True if the verdict in a section was accepted about other work than the present one.
    pub fn is_outdated(&self, section: usize) -> bool {
        self.outdated >> section & 1 == 1
    }

    /// The value of the counter in this slot.
    pub fn counter(&self, slot: usize) -> u32 {
        self.counters[slot]
    }

    pub(crate) fn set_agent(&mut self, actor: Actor, agent: Agent) {
        match actor {
            Actor::Worker => self.worker = agent,
            Actor::Reviewer => {
                self.reviewer = agent;
                self.beside &= agent == Agent::Live;
                if agent != Agent::Live {
                    self.reviewers = 0;
                }
            }
            Actor::Human | Actor::Engine | Actor::Declared(_) => {}
        }
    }

    /// Does what a hook does, and tells what it did beside. It is not noted which reviewer it starts.
    pub fn apply(&mut self, hook: &Hook<'_>) -> Option<Event> {
        self.apply_with(hook, 0)
    }

    /// Does what a hook does, and tells what it did beside. A reviewer that the hook starts is the one with this bit.
    pub(crate) fn apply_with(&mut self, hook: &Hook<'_>, reviewer: u8) -> Option<Event> {
        let traits = hook.action.traits();
        if traits.tells == Some(Actor::Worker) && self.worker == Agent::Live {
            return None;
        }
        if let Some(spawn) = hook.spawn() {
            return self.spawn(spawn, reviewer, hook.action.starts_beside());
        }
        match (traits.tells, traits.ends, traits.worktree) {
            (Some(Actor::Worker), _, _) => Some(Event::NobodyToNotify),
            (_, Some(Ends::Session), _) => self.kill_session(),
            (_, Some(Ends::Reviewer), _) => self.kill_reviewer(),
            (_, None, Some(WorktreeUse::Acquires)) => self.acquire(),
            (_, None, Some(WorktreeUse::Releases)) => self.release(),
            (_, None, Some(WorktreeUse::Uses)) => self.use_worktree(),
            (_, None, None) if traits.remote == Some(Remote::Adds) || traits.remakes => self.use_worktree(),
            (_, None, None) => None,
        }
    }

    /// True if a hook that has caused this event fails by itself, and stops the others.
    pub(crate) fn is_stopped_by(&self, hook: &Hook<'_>, event: Option<Event>) -> bool {
        let works = hook.action.traits().worktree == Some(WorktreeUse::Uses);
        // The branch does not move under an agent.
        let is_busy = hook.action.traits().remakes && self.alive().is_some();
        let fails =
            works && !self.has_worktree() || is_busy || event.is_some_and(|it| it.is_failure_of(hook));
        fails && hook.on_failure == OnFailure::Stop
    }

    /// True if an agent is alive that was not alive before.
    pub(crate) fn has_started(&self, before: &Task) -> bool {
        let is_new = |actor| self.agent(actor) == Agent::Live && before.agent(actor) != Agent::Live;
        is_new(Actor::Worker) || is_new(Actor::Reviewer) || self.reviewers & !before.reviewers != 0
    }

    /// A worktree takes the place of a folder, unless somebody works there.
    fn acquire(&mut self) -> Option<Event> {
        let alive = self.alive().filter(|_| self.workspace == Some(Workspace::Folder));
        if let Some(alive) = alive {
            return Some(Event::AcquireUnderAgent(alive));
        }
        idle_if(self.workspace.replace(Workspace::Worktree) == Some(Workspace::Worktree))
    }

    /// Nothing is given back in which somebody works.
    fn release(&mut self) -> Option<Event> {
        match self.alive().filter(|_| self.workspace.is_some()) {
            Some(alive) => Some(Event::ReleaseUnderAgent(alive)),
            None => idle_if(self.workspace.take().is_none()),
        }
    }

    fn use_worktree(&self) -> Option<Event> {
        (self.workspace == Some(Workspace::Folder)).then_some(Event::NoWorktreeToUse)
    }

    fn kill_session(&mut self) -> Option<Event> {
        (self.worker, self.reviewer, self.renamed, self.beside) = (Agent::None, Agent::None, false, false);
        self.reviewers = 0;
        idle_if(!std::mem::replace(&mut self.session, false))
    }

    fn kill_reviewer(&mut self) -> Option<Event> {
        let before = std::mem::replace(&mut self.reviewer, Agent::None);
        let renamed = std::mem::replace(&mut self.renamed, false);
        (self.beside, self.reviewers) = (false, 0);
        // Where nobody else lives in it, the session is over with the reviewer.
        self.session &= before != Agent::Live || self.worker == Agent::Live;
        match before {
            Agent::Live if renamed => Some(Event::KilledUnderOtherName),
            Agent::Live | Agent::Dead => None,
            Agent::None => Some(Event::Idle),
        }
    }

    /// The engine never starts a second agent of one actor, unless it is a reviewer with another name; that hook fails then.
    fn spawn(&mut self, spawn: &Spawn<'_>, reviewer: u8, beside_a_worker: bool) -> Option<Event> {
        if !spawn.workspace.is_ready(self.workspace) {
            return Some(match spawn.workspace {
                Workspace::Worktree => Event::SpawnWithoutWorkspace,
                Workspace::Folder => Event::SpawnBesideWorktree,
            });
        }
        self.workspace = Some(spawn.workspace);
        let actor = spawn.actor();
        let other = if actor == Actor::Reviewer { Actor::Worker } else { Actor::Reviewer };
        let is_other = reviewer != 0 && self.reviewers != 0 && self.reviewers & reviewer == 0;
        let same_lives = self.agent(actor) == Agent::Live && !is_other;
        let other_lives = self.agent(other) == Agent::Live;
        if !same_lives {
            self.set_agent(actor, Agent::Live);
            self.session = true;
            if actor == Actor::Reviewer {
                (self.renamed, self.beside) = (false, beside_a_worker);
                self.reviewers |= reviewer;
            }
        }
        match (same_lives, other_lives) {
            (true, _) => Some(Event::SpawnWhileAlive(actor)),
            (false, true) if !beside_a_worker => Some(Event::SpawnWhileAlive(other)),
            (false, false) if beside_a_worker => Some(Event::SpawnWithoutSession),
            (false, _) => None,
        }
    }
}

fn idle_if(idle: bool) -> Option<Event> {
    idle.then_some(Event::Idle)
}
