//! Loading actors.

use orange_core::scheduler::{Event as SchedulerEvent, Head, Heads, Waiting};

use super::save::is_asking;
use super::{ColonyFound, Failed, LoadedColony, LoadedMission, MissionFound, Rows, UnitOfWork, WaitingQueue};
use crate::actors::{MissionActor, SchedulerActor};
use crate::host::HostError;
use crate::model;

/// Result of loading a mission.
pub(super) enum Loaded {
    /// It is in `missions`.
    Found,
    /// There is none.
    Missing,
    /// Nobody can read it.
    Unreadable { colony: String, version: u64, why: String },
}

impl<R: Rows> UnitOfWork<R> {
    /// Loads missions, unless they are loaded. An unreadable one is met again when it is asked for.
    pub(super) fn load_missions<'m>(&mut self, ids: impl Iterator<Item = &'m str>) -> Result<(), Failed> {
        let unknown: Vec<String> =
            ids.filter(|id| !self.missions.contains_key(*id)).map(str::to_owned).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        for found in self.rows.missions(&unknown)? {
            self.load(found)?;
        }
        Ok(())
    }

    /// Loads a mission, unless it is loaded.
    pub(super) fn load_mission(&mut self, id: &str) -> Result<Loaded, Failed> {
        if self.missions.contains_key(id) {
            return Ok(Loaded::Found);
        }
        match self.rows.missions(&[id.to_owned()])?.pop() {
            Some(found) => self.load(found),
            None => Ok(Loaded::Missing),
        }
    }

    fn load(&mut self, found: MissionFound) -> Result<Loaded, Failed> {
        let MissionFound { id, seq, colony, plan, version, state, tip, waiting } = found;
        // What this transaction knows of it is newer.
        self.waiting.entry(id.clone()).or_insert_with(|| (colony.clone(), waiting));
        let read = self.plan_of(&plan)?.and_then(|plan| {
            let text = std::str::from_utf8(&state).map_err(|cause| cause.to_string())?;
            let mission = model::mission::read(text, plan).map_err(|cause| cause.to_string())?;
            Ok((plan, mission))
        });
        match read {
            Ok((plan, mission)) => {
                let (saved_status, saved_asking) = (mission.status.as_str(), is_asking(&mission));
                let actor = MissionActor { id: id.clone(), colony, plan, mission, version, ticket: seq, tip };
                let loaded = LoadedMission { actor, saved_version: version, saved_status, saved_asking };
                self.missions.insert(id, loaded);
                Ok(Loaded::Found)
            }
            Err(why) => Ok(Loaded::Unreadable { colony, version, why }),
        }
    }

    /// Loads the scheduler of a colony, unless it is loaded or there is none.
    pub(super) fn load_colony(&mut self, id: &str) -> Result<(), Failed> {
        if self.colonies.contains_key(id) {
            return Ok(());
        }
        let Some(ColonyFound { version, state, waiting }) = self.rows.colony(id)? else { return Ok(()) };
        let text = std::str::from_utf8(&state).map_err(|cause| cause.to_string());
        let read = text.and_then(|it| model::read(it).map_err(|cause| cause.to_string()));
        let scheduler = match read {
            Ok(scheduler) => scheduler,
            Err(why) => {
                self.set_aside("scheduler", id, &why);
                return Err(Failed::Call(HostError::Corrupt(format!("the scheduler of colony {id}: {why}"))));
            }
        };
        let actor = SchedulerActor { colony: id.to_owned(), scheduler, version };
        let mut loaded = LoadedColony::new(actor);
        loaded.queues = waiting.into_iter().map(|(lane, first)| (lane, WaitingQueue::new(first))).collect();
        self.colonies.insert(id.to_owned(), loaded);
        Ok(())
    }

    /// The first waiting steps of a colony that is loaded, by lane, if its scheduler looks at them for this event.
    pub(super) fn heads(&mut self, id: &str, event: &SchedulerEvent) -> Result<Heads, Failed> {
        let Some(loaded) = self.colonies.get(id) else { return Ok(Heads::new()) };
        if !loaded.actor.scheduler.reads_heads(event) {
            return Ok(Heads::new());
        }
        let firsts: Vec<Waiting> = loaded.queues.values().filter_map(WaitingQueue::head).cloned().collect();
        self.load_missions(firsts.iter().map(|it| it.item.mission.as_str()))?;
        let head = |step: Waiting| {
            let waits = self.waiting.get(&step.item.mission);
            let others = waits.iter().flat_map(|it| &it.1).filter(|it| **it != step).cloned().collect();
            (step.item.lane(), Head { step, others })
        };
        Ok(firsts.into_iter().map(head).collect())
    }
}

impl LoadedColony {
    /// A scheduler as it is stored, for which nothing waits.
    pub(super) fn new(actor: SchedulerActor) -> LoadedColony {
        let saved_version = actor.version;
        LoadedColony { actor, saved_version, queues: Default::default() }
    }
}
