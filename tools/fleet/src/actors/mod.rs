//! Consequences of one event in a mission and in its scheduler: values in, values out. A host loads, asks, and writes down.
//!
//! A [`Cascade`] is one call. It says which actor comes next, takes the actor as the host has loaded it, changes it, and says what the
//! rows and the records have to say; until nothing follows any more.

mod asks;
mod colony;
mod history;
mod mission;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use orange_core::mission::Mission;
use orange_core::plan::{Plan, StepId};
use orange_core::scheduler::{Ability, Item, Scheduler, Waiting};
use orange_core::{mission as core_mission, scheduler as core_scheduler};
use serde_json::Value;

use crate::host::{ActorCall, ActorReply, CallDetails, Delivery, Event};
use crate::model;

/// A mission, as a host has loaded it.
#[derive(Clone, Debug)]
pub struct MissionActor {
    pub id: String,
    pub colony: String,
    pub plan: &'static Plan<'static>,
    /// State of the mission.
    pub mission: Mission,
    /// Number of events that it has accepted. A host saves it when this has changed.
    pub version: u64,
    /// Its place among the missions: those that were made earlier have smaller ones.
    pub ticket: u64,
    /// The commit of its branch that a crab has pushed last.
    pub tip: Option<String>,
}

/// A scheduler, as a host has loaded it.
#[derive(Clone, Debug, Default)]
pub struct SchedulerActor {
    pub colony: String,
    /// Its crabs and leases.
    pub scheduler: Scheduler,
    /// Number of events that it has accepted. A host saves it when this has changed.
    pub version: u64,
}

/// Next action of a cascade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Todo {
    /// Something concerns a mission: [`Cascade::mission`] or [`Cascade::no_mission`].
    Mission { id: String, what: MissionHappening },
    /// Something happens to a scheduler: [`Cascade::scheduler`] or [`Cascade::no_colony`].
    Scheduler {
        id: String,
        /// The event. For a `Want` the host adds the rows of the mission that wait.
        event: core_scheduler::Event,
    },
}

/// Event that concerns a mission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissionHappening {
    Event(core_mission::Event),
    /// A crab has got a step.
    Offered {
        item: Item,
        crab: String,
        /// It did not have it before.
        is_news: bool,
    },
    /// A crab cannot start a step, which waits again.
    GivenBack {
        item: Item,
        crab: String,
        reason: String,
    },
    /// The crab of a step is silent or has gone away.
    Lost {
        item: Item,
        /// The crab; `None` for an attempt that runs without a lease.
        crab: Option<String>,
    },
}

/// Change that a host writes down, in the given order.
#[derive(Clone, Debug, PartialEq)]
pub enum HostChange {
    /// An entry of the history.
    Record {
        colony: String,
        /// The mission, if it is about one.
        mission: Option<String>,
        kind: &'static str,
        /// Further details.
        data: Value,
    },
    /// New fact about an attempt.
    Attempt {
        mission: String,
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
        what: AttemptChange,
    },
    /// A step waits from now on.
    Push { colony: String, waiting: Waiting },
    /// No step of this mission waits any longer.
    Remove { mission: String },
    /// New fact about a crab.
    Crab { colony: String, crab: String, what: CrabChange },
    /// A crab is to be sent this after the commit.
    Deliver(Delivery),
}

/// New fact about an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptChange {
    Queued,
    /// A crab has got it.
    Offered(String),
    /// This crab has it no longer.
    Returned(String),
    /// Its agent has started.
    Started {
        /// The crab, where it is known.
        crab: Option<String>,
        /// The worktree on the crab's machine.
        worktree: Option<String>,
    },
    /// Its question was put to people.
    Asked {
        /// The seconds after which they are reminded, or the time for an answer is over; `None` of a question that waits for ever.
        due: Option<u32>,
    },
    /// It has ended.
    Ended {
        /// The commit that its crab has pushed.
        commit: Option<String>,
    },
}

/// New fact about a crab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrabChange {
    /// It is known under this name.
    Registered(String),
    /// It was heard of.
    Heard,
    /// It has gone away for good.
    Left,
}

/// One call and everything that follows from it.
#[derive(Debug)]
pub struct Cascade {
    about: CallDetails,
    /// The attempt whose end a crab reports by this call: that crab need not end its agent.
    reported: Option<(String, StepId, u32)>,
    todo: VecDeque<Todo>,
    outcome: Option<ActorReply>,
    offers: Vec<(String, Item)>,
}

impl Cascade {
    /// The cascade of a call.
    pub fn new(call: ActorCall) -> Cascade {
        let ActorCall { event, about, .. } = call;
        let (first, reported) = match event {
            Event::Mission { id, event } => {
                let reported = ended_by(&event).map(|(step, attempt)| (id.clone(), step, attempt));
                (Todo::Mission { id, what: MissionHappening::Event(event) }, reported)
            }
            Event::Scheduler { id, event } => (Todo::Scheduler { id, event }, None),
        };
        Cascade { about, reported, todo: VecDeque::from([first]), outcome: None, offers: Vec::new() }
    }

    /// The cascade that follows the making of a mission, which begins at once.
    pub fn created(mission: &str) -> Cascade {
        let id = mission.to_owned();
        let first = Todo::Mission { id, what: MissionHappening::Event(core_mission::Event::Begin) };
        let todo = VecDeque::from([first]);
        Cascade { about: CallDetails::default(), reported: None, todo, outcome: None, offers: Vec::new() }
    }

    /// The cascade in which a scheduler hears again what a mission wants, as after an outage. Nothing follows if it knows.
    pub fn reminded(actor: &MissionActor) -> Cascade {
        let todo = VecDeque::from([want(actor)]);
        Cascade { about: CallDetails::default(), reported: None, todo, outcome: None, offers: Vec::new() }
    }

    /// Takes the next action; none when all is done.
    pub fn todo(&mut self) -> Option<Todo> {
        self.todo.pop_front()
    }

    /// There is no such mission.
    pub fn no_mission(&mut self) {
        self.answer(ActorReply::NotFound);
    }

    /// There is no such colony.
    pub fn no_colony(&mut self) {
        self.answer(ActorReply::NotFound);
    }

    /// Nobody can read the mission: its steps wait no longer, and a crab that has it ends its agent.
    pub fn unreadable(&mut self, mission: &str, colony: &str, version: u64) {
        let (id, mission) = (colony.to_owned(), mission.to_owned());
        let event = core_scheduler::Event::Want {
            mission,
            version,
            ticket: 0,
            next: Vec::new(),
            running: None,
            waiting: Vec::new(),
        };
        self.todo.push_back(Todo::Scheduler { id, event });
    }

    /// Result of the call, once nothing comes next.
    pub fn outcome(self) -> ActorReply {
        match self.outcome {
            Some(ActorReply::Done { version, mission, is_repeated, answered, .. }) => {
                ActorReply::Done { version, mission, is_repeated, answered, offers: self.offers }
            }
            Some(other) => other,
            None => ActorReply::NotFound,
        }
    }

    /// The first answer counts: what follows from an accepted event may be refused, and that changes nothing.
    fn answer(&mut self, outcome: ActorReply) {
        self.outcome.get_or_insert(outcome);
    }
}

/// Event that says what a mission wants of its scheduler.
fn want(actor: &MissionActor) -> Todo {
    let MissionActor { id, colony, plan, mission, version, ticket, tip: _ } = actor;
    let item = |(step, attempt)| Item {
        mission: id.clone(),
        step,
        attempt,
        role: plan.role(plan.step(step).role).to_owned(),
        needs: Ability::needed_by(plan, step),
    };
    let is_running = |step: &StepId| mission.step(*step).status == core_mission::StepStatus::Running;
    let running = mission.busy().filter(is_running).map(|step| (step, mission.step(step).attempt()));
    let event = core_scheduler::Event::Want {
        mission: id.clone(),
        version: *version,
        ticket: *ticket,
        next: model::mission::work(plan, mission).map(item).collect(),
        running,
        waiting: Vec::new(),
    };
    Todo::Scheduler { id: colony.clone(), event }
}

/// The attempt that an event of its agent ends.
fn ended_by(event: &core_mission::Event) -> Option<(StepId, u32)> {
    match event {
        core_mission::Event::Complete { step, attempt, .. }
        | core_mission::Event::Fail { step, attempt, .. } => Some((*step, *attempt)),
        core_mission::Event::Begin
        | core_mission::Event::Assign { .. }
        | core_mission::Event::Start { .. }
        | core_mission::Event::Lose { .. }
        | core_mission::Event::Abandon { .. }
        | core_mission::Event::Ask { .. }
        | core_mission::Event::Answer { .. }
        | core_mission::Event::Expire { .. }
        | core_mission::Event::Landed { .. }
        | core_mission::Event::Conflict { .. }
        | core_mission::Event::WorktreeChanged { .. }
        | core_mission::Event::Obstruct { .. }
        | core_mission::Event::Continue { .. }
        | core_mission::Event::Retry { .. }
        | core_mission::Event::Cancel => None,
    }
}

/// A done call, before anything follows.
fn done(version: u64, is_repeated: bool, answered: Option<core_mission::AnswerEffect>) -> ActorReply {
    ActorReply::Done { version, mission: None, is_repeated, answered, offers: Vec::new() }
}
