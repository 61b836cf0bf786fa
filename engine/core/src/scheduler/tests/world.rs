//! Missions, their crabs and a host between them, without time and network: messages arrive when an act says so.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::colony::TestColony;
use super::promises;
use super::reference::ColonyReference;
use crate::mission::tests::conditions;
use crate::mission::tests::random::{RESULTS, Random};
use crate::mission::{self, Mission, MissionStatus, Report};
use crate::plan::{Plan, Policy, StepId};
use crate::scheduler::*;

pub const ROLES: [&str; 4] = ["any", "planner", "worker", "reviewer"];

/// Delivery of messages between a mission and the scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delivery {
    /// In one transaction.
    AtOnce,
    /// Later, in order.
    Ordered,
    /// Later, in any order, and perhaps twice.
    AnyOrder,
}

/// Something that happens in the world. One that makes no sense now does nothing.
#[derive(Clone, Debug)]
pub enum WorldAct {
    /// To the scheduler, from any crab or host.
    Scheduler(Event),
    /// A mission says again what it wants.
    Repeats(usize),
    /// To a mission, by a person or by an agent that nobody knows.
    Mission(usize, mission::Event),
    /// The crab reads the next message that it was sent.
    Reads(String),
    /// Its messages are lost with its connection.
    LosesMail(String),
    /// It says which attempts it works on.
    Beats(String),
    /// It asks whether it still has its lease, before it starts an agent.
    Asks(String),
    /// It starts its agent.
    Starts(String),
    /// Its agent completes, with one of the results.
    Completes(String, usize),
    /// Its agent fails.
    Fails(String),
    /// It cannot start its step.
    GivesBack(String),
    /// An agent of a lease that it had before completes, or of the one that it has.
    CompletesLate(String, usize),
    /// Its process dies and forgets everything.
    Dies(String),
    /// A message between a mission and the scheduler arrives, and perhaps again later.
    Arrives { mission: usize, place: usize, again: bool },
}

/// A message between a mission and the scheduler.
#[derive(Clone, Debug)]
enum MissionMessage {
    Want(Event),
    Lose { step: StepId, attempt: u32 },
}

/// A mission, and what its host keeps beside it.
pub struct Running {
    pub mission: Mission,
    pub version: u64,
    messages: VecDeque<MissionMessage>,
    /// The attempts whose end was accepted.
    ended: BTreeSet<(StepId, u32)>,
}

/// A crab's process.
#[derive(Default)]
pub struct CrabProcess {
    mail: VecDeque<Effect>,
    pub work: Option<CrabStep>,
    /// Attempts of leases that it had before, whose agents may still run.
    late: Vec<Item>,
}

/// Step that a crab works on.
#[derive(Clone)]
pub struct CrabStep {
    pub item: Item,
    has_asked: bool,
    pub has_started: bool,
}

/// A colony whose missions run.
pub struct World<'p> {
    pub plan: &'p Plan<'p>,
    pub delivery: Delivery,
    pub colony: TestColony,
    pub reference: ColonyReference,
    pub missions: Vec<Running>,
    pub processes: BTreeMap<String, CrabProcess>,
    /// Names of what has happened, where a test asks for them.
    pub seen: Option<BTreeSet<String>>,
}

pub type WorldCheck = Result<(), String>;

impl<'p> World<'p> {
    pub fn new(plan: &'p Plan<'p>, delivery: Delivery, policies: &[Policy]) -> Result<World<'p>, String> {
        let mut world = World {
            plan,
            delivery,
            colony: TestColony::default(),
            reference: ColonyReference::default(),
            missions: Vec::new(),
            processes: BTreeMap::new(),
            seen: None,
        };
        for policy in policies {
            let mission = Mission::new(plan, *policy);
            let (messages, ended) = (VecDeque::new(), BTreeSet::new());
            world.missions.push(Running { mission, version: 0, messages, ended });
            world.mission_gets(world.missions.len() - 1, mission::Event::Begin)?;
        }
        Ok(world)
    }

    pub fn happens(&mut self, act: &WorldAct) -> WorldCheck {
        match act {
            WorldAct::Scheduler(event) => self.scheduler_gets(event.clone()).map(|_| ())?,
            WorldAct::Repeats(mission) => self.scheduler_gets(self.want(*mission)).map(|_| ())?,
            WorldAct::Mission(mission, event) => self.mission_gets(*mission, event.clone()).map(|_| ())?,
            WorldAct::Reads(crab) => self.reads(crab),
            WorldAct::LosesMail(crab) => self.process(crab).mail.clear(),
            WorldAct::Beats(crab) => self.beats(crab)?,
            WorldAct::Asks(crab) => self.asks(crab),
            WorldAct::Starts(crab) => self.starts(crab)?,
            WorldAct::Completes(crab, word) => {
                if let Some(work) = self.process(crab).work.take() {
                    self.completes(&work.item, *word)?;
                }
            }
            WorldAct::Fails(crab) => self.fails(crab)?,
            WorldAct::GivesBack(crab) => self.gives_back(crab)?,
            WorldAct::CompletesLate(crab, word) => self.completes_late(crab, *word)?,
            WorldAct::Dies(crab) => *self.process(crab) = CrabProcess::default(),
            WorldAct::Arrives { mission, place, again } => self.arrives(*mission, *place, *again)?,
        }
        promises::hold(self)
    }

    fn process(&mut self, crab: &str) -> &mut CrabProcess {
        self.processes.entry(crab.to_owned()).or_default()
    }

    /// An event for the reducer and for the reference, and what follows for missions and crabs.
    pub fn scheduler_gets(&mut self, event: Event) -> Result<bool, String> {
        let before = self.colony.clone();
        let expected = self.reference.apply(&event);
        let found = self.colony.happens(event.clone());
        self.notes(&before, &event, &found);
        let effects = match (expected, found) {
            (Err(expected), Err(found)) if expected == found => {
                self.colony.reads = before.reads;
                let is_same = self.colony == before;
                return is_same
                    .then_some(false)
                    .ok_or_else(|| "a refused event changes the colony".to_owned());
            }
            (Ok(expected), Ok(effects)) => {
                promises::same_effects(expected, &effects)?;
                effects
            }
            (expected, found) => return Err(format!("{event:?}: expected {expected:?}, found {found:?}")),
        };
        if let Some(difference) = self.reference.differs_from(&self.colony.scheduler, &self.colony.waiting())
        {
            return Err(difference);
        }
        promises::of_event(&before, &self.colony, &effects)?;
        for effect in effects {
            self.follows(effect)?;
        }
        Ok(true)
    }

    fn follows(&mut self, effect: Effect) -> WorldCheck {
        match &effect {
            Effect::Push(_) | Effect::Remove { .. } => Ok(()),
            Effect::Offer { crab, .. } | Effect::EndAgent { crab, .. } => {
                self.process(&crab.clone()).mail.push_back(effect);
                Ok(())
            }
            Effect::Lost { item, .. } => {
                let message = MissionMessage::Lose { step: item.step, attempt: item.attempt };
                self.send(place(&item.mission), message)
            }
        }
    }

    fn send(&mut self, mission: usize, message: MissionMessage) -> WorldCheck {
        if self.delivery == Delivery::AtOnce {
            return self.receive(mission, message);
        }
        self.missions[mission].messages.push_back(message);
        Ok(())
    }

    fn receive(&mut self, mission: usize, message: MissionMessage) -> WorldCheck {
        match message {
            MissionMessage::Want(event) => self.scheduler_gets(event).map(|_| ()),
            MissionMessage::Lose { step, attempt } => {
                let known = &self.missions[mission].mission;
                if known.busy() == Some(step) && known.step(step).attempt() == attempt {
                    self.mission_gets(mission, mission::Event::Abandon { step, attempt })?;
                }
                Ok(())
            }
        }
    }

    fn arrives(&mut self, mission: usize, place: usize, again: bool) -> WorldCheck {
        let messages = &mut self.missions[mission].messages;
        let is_ordered = self.delivery == Delivery::Ordered;
        let place = if is_ordered { 0 } else { place % messages.len().max(1) };
        let Some(message) = messages.remove(place) else { return Ok(()) };
        if again && !is_ordered {
            messages.push_back(message.clone());
        }
        self.receive(mission, message)
    }

    /// Every message that is under way arrives.
    pub fn all_arrive(&mut self) -> WorldCheck {
        for mission in 0..self.missions.len() {
            while !self.missions[mission].messages.is_empty() {
                self.arrives(mission, 0, false)?;
            }
        }
        Ok(())
    }

    /// An event for a mission. When it is accepted, the mission says what it wants.
    pub fn mission_gets(&mut self, index: usize, event: mission::Event) -> Result<bool, String> {
        let running = &mut self.missions[index];
        let answer = running.mission.apply(self.plan, event.clone());
        let Ok(effects) = answer else { return Ok(false) };
        if effects == [mission::Effect::Repeated] {
            return Ok(true);
        }
        running.version += 1;
        if let Some(end) = end_of(&event).filter(|it| !running.ended.insert(*it)) {
            return Err(format!("an attempt was accepted twice: {end:?} of mission {index}"));
        }
        let want = self.want(index);
        self.send(index, MissionMessage::Want(want))?;
        Ok(true)
    }

    /// Present want of a mission.
    pub fn want(&self, index: usize) -> Event {
        let Running { mission, version, .. } = &self.missions[index];
        let name = format!("m{index}");
        let next = mission.offerable(self.plan).map(|(step, attempt)| {
            let role = ROLES[(index * 5 + step.index() * 3) % ROLES.len()].to_string();
            let needs =
                Ability::ALL.into_iter().filter(|it| (index + step.index() + *it as usize).is_multiple_of(3));
            Item { mission: name.clone(), step, attempt, role, needs: needs.collect() }
        });
        let next = next.collect();
        let running = mission.busy().map(|step| (step, mission.step(step).attempt()));
        let ticket = index as u64;
        Event::Want { mission: name, version: *version, ticket, next, running, waiting: Vec::new() }
    }

    fn reads(&mut self, crab: &str) {
        let process = self.process(crab);
        match process.mail.pop_front() {
            Some(Effect::Offer { item, .. }) => process.takes(item),
            Some(Effect::EndAgent { mission, step, attempt, .. }) => process.drops(&mission, step, attempt),
            Some(Effect::Push(_) | Effect::Remove { .. } | Effect::Lost { .. }) | None => {}
        }
    }

    fn beats(&mut self, crab: &str) -> WorldCheck {
        let process = self.process(crab);
        let items = process.work.iter().map(|it| &it.item).chain(&process.late);
        let leases = items.map(|it| (crab.to_owned(), it.mission.clone(), it.step, it.attempt)).collect();
        self.scheduler_gets(Event::Heartbeat { leases }).map(|_| ())
    }

    fn asks(&mut self, crab: &str) {
        let Some(item) = self.process(crab).work.as_ref().map(|it| it.item.clone()) else { return };
        let has_lease = self.colony.scheduler.lease(crab, &item.mission, item.step, item.attempt).is_some();
        let process = self.process(crab);
        process.work = process.work.take().filter(|_| has_lease);
        process.work.iter_mut().for_each(|it| it.has_asked = true);
    }

    /// In one transaction with the question, or some time after it.
    fn starts(&mut self, crab: &str) -> WorldCheck {
        if self.delivery == Delivery::AtOnce {
            self.asks(crab);
        }
        let work = self.process(crab).work.clone();
        let Some(work) = work.filter(|it| it.has_asked && !it.has_started) else { return Ok(()) };
        let Item { mission, step, attempt, .. } = work.item;
        let mission = place(&mission);
        let is_accepted = self.mission_gets(mission, mission::Event::Start { step, attempt })?;
        if is_accepted {
            self.process(crab).work.iter_mut().for_each(|it| it.has_started = true);
            return Ok(());
        }
        match self.delivery {
            Delivery::AtOnce if self.runs(crab) => return self.gives_back(crab),
            Delivery::AtOnce => return Err(format!("{crab} has a lease for a step that does not start")),
            Delivery::Ordered | Delivery::AnyOrder => self.process(crab).work = None,
        }
        match self.delivery {
            Delivery::AtOnce => Ok(()),
            Delivery::Ordered => Ok(()),
            Delivery::AnyOrder => self.scheduler_gets(self.want(mission)).map(|_| ()),
        }
    }

    /// True if the crab has already started its step, and has ended the agent since, for a message that was late.
    fn runs(&self, crab: &str) -> bool {
        self.colony.scheduler.leases.values().any(|it| it.crab == crab && it.is_running)
    }

    fn completes(&mut self, item: &Item, word: usize) -> WorldCheck {
        let words = match self.plan.results_of(item.step) {
            [] => &RESULTS[..],
            declared => declared,
        };
        let result = Some(words[word % words.len()].to_string());
        let outputs = conditions::reported(&mut Random::new(word as u64), self.plan.outputs_of(item.step), 0);
        let report = Report { result, outputs, ..Report::default() };
        let event = mission::Event::Complete { step: item.step, attempt: item.attempt, report };
        self.mission_gets(place(&item.mission), event).map(|_| ())
    }

    fn completes_late(&mut self, crab: &str, word: usize) -> WorldCheck {
        let process = self.process(crab);
        let late = process.late.pop().or_else(|| Some(process.work.as_ref()?.item.clone()));
        late.map_or(Ok(()), |it| self.completes(&it, word))
    }

    fn fails(&mut self, crab: &str) -> WorldCheck {
        let Some(CrabStep { item, .. }) = self.process(crab).work.take() else { return Ok(()) };
        let event = mission::Event::Fail { step: item.step, attempt: item.attempt, reason: "red".to_owned() };
        self.mission_gets(place(&item.mission), event).map(|_| ())
    }

    fn gives_back(&mut self, crab: &str) -> WorldCheck {
        let Some(CrabStep { item, .. }) = self.process(crab).work.take() else { return Ok(()) };
        let Item { mission, step, attempt, .. } = item;
        let reason = "the disk is full".to_owned();
        self.scheduler_gets(Event::GiveBack { crab: crab.to_owned(), mission, step, attempt, reason })
            .map(|_| ())
    }

    fn notes(&mut self, before: &TestColony, event: &Event, answer: &Result<Vec<Effect>, Refusal>) {
        let Some(seen) = &mut self.seen else { return };
        let names = match answer {
            Err(refusal) => Vec::from([format!("{refusal:?}")]),
            Ok(effects) => effects.iter().map(|it| promises::name_of(before, event, it)).collect(),
        };
        for name in names {
            let first = name.split([' ', '{', '(']).next().unwrap_or_default();
            seen.insert(first.to_owned());
        }
    }
}

impl CrabProcess {
    /// The scheduler gives it one step at a time, so what it had before is over.
    fn takes(&mut self, item: Item) {
        if self.work.as_ref().is_none_or(|it| it.item != item) {
            let before = self.work.replace(CrabStep { item, has_asked: false, has_started: false });
            self.late.extend(before.map(|it| it.item));
        }
    }

    fn drops(&mut self, mission: &str, step: StepId, attempt: u32) {
        let is_it = |it: &Item| it.mission == mission && (it.step, it.attempt) == (step, attempt);
        self.late.retain(|it| !is_it(it));
        if self.work.as_ref().is_some_and(|it| is_it(&it.item)) {
            self.work = None;
        }
    }

    pub fn has_mail(&self) -> bool {
        !self.mail.is_empty()
    }
}

impl Running {
    pub fn has_ended(&self) -> bool {
        self.mission.status.is_terminal()
    }

    pub fn is_paused(&self) -> bool {
        self.mission.status == MissionStatus::Paused
    }
}

fn end_of(event: &mission::Event) -> Option<(StepId, u32)> {
    match event {
        mission::Event::Complete { step, attempt, .. }
        | mission::Event::Fail { step, attempt, .. }
        | mission::Event::Lose { step, attempt }
        | mission::Event::Abandon { step, attempt }
        | mission::Event::Answer { step, attempt, .. }
        | mission::Event::Expire { step, attempt } => Some((*step, *attempt)),
        mission::Event::Begin
        | mission::Event::Assign { .. }
        | mission::Event::Start { .. }
        | mission::Event::Ask { .. }
        | mission::Event::Landed { .. }
        | mission::Event::Conflict { .. }
        | mission::Event::WorktreeChanged { .. }
        | mission::Event::Obstruct { .. }
        | mission::Event::Continue { .. }
        | mission::Event::Retry { .. }
        | mission::Event::Cancel => None,
    }
}

/// The place of a mission by its name.
fn place(mission: &str) -> usize {
    mission[1..].parse().expect("a mission has its number for a name")
}
