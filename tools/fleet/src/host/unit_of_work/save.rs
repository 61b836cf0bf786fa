//! Writes of a transaction: actors once, at its end, and the steps that wait.

use orange_core::mission::{Mission, MissionStatus};
use orange_core::plan::Plan;
use orange_core::scheduler::Waiting;

use super::{Failed, MissionState, Rows, StoredScheduler, UnitOfWork, WaitingQueue, Waits};
use crate::actors::MissionActor;
use crate::model;

impl<R: Rows> UnitOfWork<R> {
    /// Writes everything that the calls of a transaction have changed, so far.
    pub(super) fn save(&mut self) -> Result<(), Failed> {
        self.save_missions();
        self.save_colonies();
        self.writes.alarms.extend(self.alarms.iter().cloned());
        self.writes.now = self.now;
        self.writes.newest = self.newest.clone();
        self.rows.write(&std::mem::take(&mut self.writes))
    }

    fn save_missions(&mut self) {
        for id in std::mem::take(&mut self.touched) {
            let Some(loaded) = self.missions.get_mut(&id) else { continue };
            let actor = &loaded.actor;
            if loaded.saved_version == actor.version {
                continue;
            }
            let status = actor.mission.status.as_str();
            for (name, change) in [(loaded.saved_status, -1), (status, 1)] {
                let key = (actor.colony.clone(), "mission", name.to_owned());
                *self.writes.tallies.entry(key).or_default() += change;
            }
            let is_asking = is_asking(&actor.mission);
            if is_asking != loaded.saved_asking {
                let key = (actor.colony.clone(), "asking", String::new());
                *self.writes.tallies.entry(key).or_default() += if is_asking { 1 } else { -1 };
            }
            let state = state_of(actor);
            match self.writes.missions.get_mut(&id) {
                Some(new) => new.state = state,
                None => _ = self.writes.mission_states.insert(actor.ticket, state),
            }
            loaded.saved_version = actor.version;
            loaded.saved_status = status;
            loaded.saved_asking = is_asking;
        }
    }

    fn save_colonies(&mut self) {
        for (id, loaded) in &mut self.colonies {
            let actor = &loaded.actor;
            if loaded.saved_version == actor.version {
                continue;
            }
            let crabs = &actor.scheduler.crabs;
            let count = |is: fn(&orange_core::scheduler::Crab) -> bool| {
                crabs.values().filter(|it| is(it)).count() as u64
            };
            let crabs = [
                crabs.len() as u64,
                count(|it| it.is_parked),
                count(|it| it.mission.is_some()),
                count(|it| it.fault.is_some()),
            ];
            let state = model::write(&actor.scheduler);
            let state = StoredScheduler { version: actor.version, state, crabs };
            self.writes.colony_states.insert(id.clone(), state);
            loaded.saved_version = actor.version;
        }
    }

    /// A step waits from now on.
    pub(super) fn push(&mut self, colony: &str, waiting: Waiting) {
        let (mission, lane) = (waiting.item.mission.clone(), waiting.item.lane());
        self.count_waiting(colony, &waiting.item.role, 1);
        let waits = self.waiting.entry(mission.clone()).or_insert_with(|| (colony.to_owned(), Vec::new()));
        waits.1.push(waiting.clone());
        self.writes.waiting.insert(mission, waits.clone());
        if let Some(loaded) = self.colonies.get_mut(colony) {
            loaded.queues.entry(lane).or_insert_with(|| WaitingQueue::new(Vec::new())).push(waiting);
        }
    }

    /// No step of this mission waits any longer.
    pub(super) fn remove(&mut self, mission: &str) -> Result<(), Failed> {
        let Some((colony, steps)) = self.waiting_of(mission)? else { return Ok(()) };
        let none = (colony.clone(), Vec::new());
        self.waiting.insert(mission.to_owned(), none.clone());
        self.writes.waiting.insert(mission.to_owned(), none);
        for item in steps.into_iter().map(|it| it.item) {
            self.count_waiting(&colony, &item.role, -1);
            self.shorten(&colony, item.lane(), mission)?;
        }
        Ok(())
    }

    /// The queue of a lane without the steps of this mission.
    fn shorten(&mut self, colony: &str, lane: String, mission: &str) -> Result<(), Failed> {
        let Some(loaded) = self.colonies.get_mut(colony) else { return Ok(()) };
        let Some(queue) = loaded.queues.get_mut(&lane) else { return Ok(()) };
        queue.remove(mission);
        if !queue.is_used_up() {
            return Ok(());
        }
        // The store has to know what waits now.
        self.save()?;
        let first = WaitingQueue::new(self.rows.waiting(colony, &lane)?);
        if let Some(loaded) = self.colonies.get_mut(colony) {
            loaded.queues.insert(lane, first);
        }
        Ok(())
    }

    /// The steps of a mission that wait, with its colony.
    pub(super) fn waiting_of(&mut self, mission: &str) -> Result<Option<Waits>, Failed> {
        if !self.waiting.contains_key(mission) {
            // It comes with the mission, which need not be one that can be read.
            self.load_mission(mission)?;
        }
        Ok(self.waiting.get(mission).cloned())
    }

    fn count_waiting(&mut self, colony: &str, role: &str, change: i64) {
        let key = (colony.to_owned(), "waiting", role.to_owned());
        *self.writes.tallies.entry(key).or_default() += change;
    }
}

/// State of a mission for its row.
pub(super) fn state_of(actor: &MissionActor) -> MissionState {
    let MissionActor { plan, mission, version, tip, .. } = actor;
    let asks: Vec<&str> = mission.open_asks().map(|(step, _)| plan.step(step).id).collect();
    MissionState {
        status: mission.status.as_str(),
        step: current_step(plan, mission),
        pause: mission.pause().map(|it| it.number),
        asks: Some(asks.join(",")).filter(|it| !it.is_empty()),
        tip: tip.clone(),
        version: *version,
        state: model::write(mission),
    }
}

/// True if it runs, and a question of a step waits for an answer.
pub(super) fn is_asking(mission: &Mission) -> bool {
    mission.status == MissionStatus::Running && mission.open_asks().next().is_some()
}

/// The step that runs or comes next, or about which the mission asks.
fn current_step(plan: &Plan<'static>, mission: &Mission) -> Option<&'static str> {
    let asked = mission.pause().and_then(|pause| pause.reason.step());
    let open = || mission.open_asks().next();
    let next = || mission.next(plan).or_else(open).map(|(step, _)| step);
    let step = mission.busy().or(asked).or_else(next)?;
    plan.steps.get(step.index()).map(|it| it.id)
}
