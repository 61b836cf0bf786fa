//! Making colonies and missions.

use orange_core::mission::Mission;
use orange_core::scheduler::Scheduler;
use serde_json::json;

use super::save::state_of;
use super::{Failed, LoadedColony, LoadedMission, NewMissionRow, Rows, StoredScheduler, UnitOfWork};
use crate::actors::{Cascade, HostChange, MissionActor, SchedulerActor};
use crate::host::{ActorReply, Colony, HostError, NewColony, NewMission};
use crate::model;

/// The longest summary in a list, in characters.
const SUMMARY: usize = 200;

/// Length of the part of a prompt that is searched, in bytes.
const SEARCHED: usize = 8 * 1024;

impl<R: Rows> UnitOfWork<R> {
    /// Makes a colony, or finds the one of this name.
    pub(super) fn create_colony(&mut self, new: NewColony) -> Result<Colony, Failed> {
        let NewColony { name, repository, base } = new;
        if let Some(colony) = self.writes.colonies.iter().find(|it| it.name == name) {
            return Ok(colony.clone());
        }
        if let Some(colony) = self.rows.colony_named(&name)? {
            return Ok(colony);
        }
        let colony = Colony { id: self.new_id()?, name, repository, base, created: self.now };
        let Colony { id, name, repository, base, created: _ } = &colony;
        let state = StoredScheduler { state: model::write(&Scheduler::default()), ..Default::default() };
        self.writes.colony_states.insert(id.clone(), state);
        self.writes.colonies.push(colony.clone());
        let actor = SchedulerActor { colony: id.clone(), ..SchedulerActor::default() };
        self.colonies.insert(id.clone(), LoadedColony::new(actor));
        let data = json!({"name": name, "repository": repository, "base": base});
        self.note(HostChange::Record { colony: id.clone(), mission: None, kind: "colony.created", data })?;
        Ok(colony)
    }

    /// Makes a mission and begins it.
    pub(super) fn create_mission(
        &mut self,
        new: NewMission,
    ) -> Result<Result<ActorReply, HostError>, Failed> {
        let Some(key) = new.key.clone() else { return self.make_mission(new) };
        let NewMission { colony, plan, prompt, branch, policy, inputs, .. } = &new;
        let (execution, intervene) = (policy.execution.as_str(), policy.intervene.as_str());
        let mut asked = json!({"v": 1, "colony": colony, "workflow": plan.name, "prompt": prompt,
            "branch": branch, "execution": execution, "intervene": intervene});
        if !inputs.is_empty() {
            asked["inputs"] = json!(inputs);
        }
        let asked = asked.to_string();
        self.once(&key, &asked, |unit| unit.make_mission(new))
    }

    fn make_mission(&mut self, new: NewMission) -> Result<Result<ActorReply, HostError>, Failed> {
        let NewMission { key: _, colony, plan, prompt, branch, policy, inputs } = new;
        self.load_colony(&colony)?;
        if !self.colonies.contains_key(&colony) {
            return Ok(Ok(ActorReply::NotFound));
        }
        if let Some(branch) = &branch
            && let Some(mission) = self.mission_on(&colony, branch)?
        {
            return Ok(Ok(ActorReply::BranchTaken { mission }));
        }
        let written = match model::plan::write(plan) {
            Ok(written) => written,
            Err(cause) => return Ok(Err(HostError::Corrupt(cause.to_string()))),
        };
        self.writes.plans.entry(written.hash.clone()).or_insert_with(|| written.text.clone());
        let id = self.new_id()?;
        self.newest.mission += 1;
        let seq = self.newest.mission;
        let branch = branch.unwrap_or_else(|| format!("orange/{id}"));
        let mission = Mission::with_inputs(plan, policy, inputs);
        let summary: String = prompt.trim().lines().next().unwrap_or("").chars().take(SUMMARY).collect();
        let searched =
            format!("{branch}\n{}\n{}", plan.name, &prompt[..prompt.floor_char_boundary(SEARCHED)]);
        let status = mission.status.as_str();
        *self.writes.tallies.entry((colony.clone(), "mission", status.to_owned())).or_default() += 1;
        let data = json!({"workflow": plan.name, "branch": branch, "summary": summary});
        let actor = MissionActor {
            id: id.clone(),
            colony: colony.clone(),
            plan,
            mission,
            version: 0,
            ticket: seq,
            tip: None,
        };
        let row = NewMissionRow {
            seq,
            colony: colony.clone(),
            plan: written.hash.clone(),
            workflow: plan.name,
            summary,
            branch,
            prompt,
            searched,
            state: state_of(&actor),
        };
        self.writes.missions.insert(id.clone(), row);
        let (about, kind) = (Some(id.clone()), "mission.created");
        self.note(HostChange::Record { colony: colony.clone(), mission: about, kind, data })?;
        let waits = (colony, Vec::new());
        let loaded = LoadedMission { actor, saved_version: 0, saved_status: status, saved_asking: false };
        self.missions.insert(id.clone(), loaded);
        self.waiting.insert(id.clone(), waits);
        Ok(self.run(Cascade::created(&id))?.map(|outcome| named(outcome, id)))
    }

    fn mission_on(&mut self, colony: &str, branch: &str) -> Result<Option<String>, Failed> {
        let is_on = |row: &NewMissionRow| row.colony == colony && row.branch == branch;
        match self.writes.missions.iter().find(|(_, row)| is_on(row)) {
            Some((id, _)) => Ok(Some(id.clone())),
            None => self.rows.mission_on(colony, branch),
        }
    }

    /// An id that is later than every other of the store.
    fn new_id(&mut self) -> Result<String, Failed> {
        let random = orange_system::random::bytes()
            .map_err(|cause| Failed::Store(HostError::Unavailable(cause.to_string())))?;
        let id = model::ids::next(self.now, self.newest.id.as_deref(), random);
        self.newest.id = Some(id.clone());
        Ok(id)
    }
}

/// The outcome of the call that has made this mission.
fn named(outcome: ActorReply, id: String) -> ActorReply {
    match outcome {
        ActorReply::Done { version, mission: _, is_repeated, answered, offers } => {
            ActorReply::Done { version, mission: Some(id), is_repeated, answered, offers }
        }
        refused @ (ActorReply::MissionRefused(_)
        | ActorReply::SchedulerRefused(_)
        | ActorReply::NotFound
        | ActorReply::Conflict
        | ActorReply::BranchTaken { .. }) => refused,
    }
}
