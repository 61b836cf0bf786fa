//! Behaviour of a scheduler, written a second time: from the design and not from the reducer. Everything that missions want started
//! or have running is one list, and after every event all of it is matched with all crabs again. Of the jobs of one mission at most
//! one has a crab, and the others stay in the list.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::plan::StepId;
use crate::scheduler::{Ability, Effect, Event, Item, Lease, Refusal, Scheduler, Waiting};

/// A colony as the design describes it.
#[derive(Clone, Debug, Default)]
pub struct ColonyReference {
    /// In the order of their names.
    crabs: Vec<ReferenceWorker>,
    /// In the order of their tickets, those of one mission in the order of the plan.
    jobs: Vec<ReferenceJob>,
    sweeps: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct ReferenceWorker {
    name: String,
    roles: Vec<String>,
    abilities: BTreeSet<Ability>,
    waits: bool,
    fault: Option<String>,
}

/// A step that a mission wants started, or that runs.
#[derive(Clone, Debug)]
struct ReferenceJob {
    item: Item,
    ticket: u64,
    version: u64,
    /// The crab that has it.
    holder: Option<JobHolder>,
}

#[derive(Clone, Debug)]
struct JobHolder {
    crab: String,
    stage: Stage,
    silence: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Offered,
    Accepted,
    Running,
}

impl ColonyReference {
    /// The effects that a crab or a mission hears of, without those on the rows of the backlog.
    pub fn apply(&mut self, event: &Event) -> Result<Vec<Effect>, Refusal> {
        let mut heard = match event {
            Event::Register { crab, roles, abilities } => self.register(crab, roles, abilities)?,
            Event::Leave { crab } => self.leave(crab)?,
            Event::Want { mission, version, ticket, next, running, waiting: _ } => {
                self.want(mission, (*version, *ticket), next, *running)
            }
            Event::Park { crab } => self.park(crab)?,
            Event::Unpark { crab } => {
                self.worker(crab)?.waits = false;
                Vec::new()
            }
            Event::Heartbeat { leases } => leases.iter().filter_map(|it| self.beat(it)).collect(),
            Event::GiveBack { crab, mission, step, attempt, reason } => {
                self.give_back(crab, mission, (*step, *attempt), reason)?
            }
            Event::Sweep { seen: Some(seen) } if *seen != self.sweeps => return Err(Refusal::HasSwept),
            Event::Sweep { .. } => {
                self.sweeps += 1;
                self.sweep()
            }
        };
        heard.extend(self.match_all());
        Ok(heard)
    }

    fn worker(&mut self, crab: &str) -> Result<&mut ReferenceWorker, Refusal> {
        self.crabs.iter_mut().find(|it| it.name == crab).ok_or(Refusal::NoSuchCrab)
    }

    /// At most one crab for each named role; the same crab may change its roles.
    fn register(
        &mut self,
        crab: &str,
        roles: &[String],
        abilities: &BTreeSet<Ability>,
    ) -> Result<Vec<Effect>, Refusal> {
        if roles.is_empty() {
            return Err(Refusal::NoRole);
        }
        for role in roles.iter().filter(|it| *it != "any") {
            if let Some(other) = self.crabs.iter().find(|it| it.name != crab && it.roles.contains(role)) {
                return Err(Refusal::RoleTaken { role: role.clone(), holder: other.name.clone() });
            }
        }
        let mut once: Vec<String> = Vec::new();
        roles.iter().for_each(|it| {
            if !once.contains(it) {
                once.push(it.clone())
            }
        });
        match self.crabs.iter_mut().find(|it| it.name == crab) {
            Some(known) => (known.roles, known.abilities, known.fault) = (once, abilities.clone(), None),
            None => {
                self.crabs.push(ReferenceWorker {
                    name: crab.into(),
                    roles: once,
                    abilities: abilities.clone(),
                    waits: false,
                    fault: None,
                });
                self.crabs.sort_by(|a, b| a.name.cmp(&b.name));
            }
        }
        let any = roles.iter().any(|it| it == "any");
        let fits = |it: &Item| {
            (any || it.role == "any" || roles.contains(&it.role))
                && it.needs.iter().all(|need| abilities.contains(need))
        };
        let mut withdrawn = Vec::new();
        for job in self.jobs.iter_mut().filter(|it| !fits(&it.item)) {
            if job.holder.take_if(|it| it.crab == crab && it.stage == Stage::Offered).is_some() {
                withdrawn.push(end_agent(crab, &job.item));
            }
        }
        Ok(withdrawn)
    }

    fn leave(&mut self, crab: &str) -> Result<Vec<Effect>, Refusal> {
        self.worker(crab)?;
        self.crabs.retain(|it| it.name != crab);
        Ok(self.take_away(|it| it.crab == crab))
    }

    /// Jobs of which these crabs have heard the last. A step that runs is over with its attempt.
    fn take_away(&mut self, is_over: impl Fn(&JobHolder) -> bool) -> Vec<Effect> {
        let mut lost = Vec::new();
        let mut left = Vec::new();
        for mut job in core::mem::take(&mut self.jobs) {
            let over = job.holder.take_if(|it| is_over(it));
            let runs = over.as_ref().is_some_and(|it| it.stage == Stage::Running);
            lost.extend(over.map(|it| Effect::Lost { crab: Some(it.crab), item: job.item.clone() }));
            if !runs {
                left.push(job);
            }
        }
        self.jobs = left;
        lost
    }

    /// The last word of a mission counts.
    fn want(
        &mut self,
        mission: &str,
        (version, ticket): (u64, u64),
        next: &[Item],
        running: Option<(StepId, u32)>,
    ) -> Vec<Effect> {
        let mut heard = Vec::new();
        let of_mission = |it: &ReferenceJob| it.item.mission == mission;
        if self.jobs.iter().any(|it| of_mission(it) && version < it.version) {
            return heard;
        }
        let mut missing: Vec<&Item> = if running.is_none() { next.iter().collect() } else { Vec::new() };
        let mut kept = Vec::new();
        for mut job in core::mem::take(&mut self.jobs) {
            if !of_mission(&job) {
                kept.push(job);
                continue;
            }
            job.version = version;
            let attempt = (job.item.step, job.item.attempt);
            let is_next = missing.iter().any(|it| (it.step, it.attempt) == attempt);
            missing.retain(|it| (it.step, it.attempt) != attempt);
            match &mut job.holder {
                Some(holder) if Some(attempt) == running => {
                    if holder.stage != Stage::Running {
                        (holder.stage, holder.silence) = (Stage::Running, 0);
                    }
                    kept.push(job);
                }
                _ if is_next => kept.push(job),
                Some(holder) => heard.push(end_agent(&holder.crab, &job.item)),
                None if Some(attempt) == running => heard.push(Effect::Lost { crab: None, item: job.item }),
                None => {}
            }
        }
        let new =
            missing.into_iter().map(|it| ReferenceJob { item: it.clone(), ticket, version, holder: None });
        self.jobs = kept.into_iter().chain(new).collect();
        heard
    }

    /// A crab that asks again hears of the same offer again.
    fn park(&mut self, crab: &str) -> Result<Vec<Effect>, Refusal> {
        self.worker(crab)?;
        for job in &self.jobs {
            if job.holder.as_ref().is_some_and(|it| it.crab == crab && it.stage == Stage::Offered) {
                return Ok(Vec::from([Effect::Offer { crab: crab.into(), item: job.item.clone() }]));
            }
        }
        self.worker(crab)?.waits = true;
        Ok(Vec::new())
    }

    fn held(&mut self, crab: &str, mission: &str, attempt: (StepId, u32)) -> Option<&mut ReferenceJob> {
        let is_it =
            |it: &ReferenceJob| it.item.mission == mission && (it.item.step, it.item.attempt) == attempt;
        let mut jobs = self.jobs.iter_mut().filter(|it| is_it(it));
        jobs.find(|it| it.holder.as_ref().is_some_and(|it| it.crab == crab))
    }

    fn beat(&mut self, (crab, mission, step, attempt): &(String, String, StepId, u32)) -> Option<Effect> {
        match self.held(crab, mission, (*step, *attempt)).and_then(|it| it.holder.as_mut()) {
            None => {
                let (mission, step, attempt) = (mission.clone(), *step, *attempt);
                Some(Effect::EndAgent { crab: crab.clone(), mission, step, attempt })
            }
            Some(holder) => {
                holder.silence = 0;
                if holder.stage == Stage::Offered {
                    holder.stage = Stage::Accepted;
                }
                None
            }
        }
    }

    fn give_back(
        &mut self,
        crab: &str,
        mission: &str,
        attempt: (StepId, u32),
        reason: &str,
    ) -> Result<Vec<Effect>, Refusal> {
        let job = self.held(crab, mission, attempt).ok_or(Refusal::NoSuchLease)?;
        let runs = job.holder.as_ref().is_some_and(|it| it.stage == Stage::Running);
        if !runs {
            job.ticket += 1 << 40;
        }
        let heard = self.take_away(|it| it.crab == crab);
        let worker = self.worker(crab)?;
        (worker.waits, worker.fault) = (false, Some(reason.into()));
        Ok(heard.into_iter().filter(|_| runs).collect())
    }

    /// Three silent sweeps end a lease, two an offer.
    fn sweep(&mut self) -> Vec<Effect> {
        let mut silent: Vec<(String, Stage)> = Vec::new();
        for holder in self.jobs.iter_mut().filter_map(|it| it.holder.as_mut()) {
            holder.silence += 1;
            if holder.silence >= if holder.stage == Stage::Offered { 2 } else { 3 } {
                silent.push((holder.crab.clone(), holder.stage));
            }
        }
        for (crab, stage) in &silent {
            match stage {
                Stage::Offered => {
                    self.crabs.iter_mut().filter(|it| it.name == *crab).for_each(|it| it.waits = false)
                }
                Stage::Accepted | Stage::Running => self.crabs.retain(|it| it.name != *crab),
            }
        }
        self.take_away(|it| silent.iter().any(|(crab, _)| *crab == it.crab))
    }

    /// Every job that nobody has, in order: the exact role first, then any.
    fn match_all(&mut self) -> Vec<Effect> {
        self.jobs.sort_by_key(|it| (it.ticket, it.item.step));
        let held = self.jobs.iter().filter_map(|it| Some((it.holder.as_ref()?, &it.item.mission)));
        let (mut busy, mut begun): (Vec<String>, Vec<String>) =
            held.map(|(holder, mission)| (holder.crab.clone(), mission.clone())).unzip();
        let mut offers = Vec::new();
        for job in self.jobs.iter_mut() {
            if begun.contains(&job.item.mission) {
                continue;
            }
            let role = &job.item.role;
            let is_idle = |it: &&ReferenceWorker| {
                let is_able = job.item.needs.iter().all(|need| it.abilities.contains(need));
                is_able && it.waits && it.fault.is_none() && !busy.contains(&it.name)
            };
            let idle: Vec<&ReferenceWorker> = self.crabs.iter().filter(is_idle).collect();
            let exact = idle.iter().find(|it| it.roles.contains(role));
            let any = idle.iter().find(|it| role == "any" || it.roles.iter().any(|it| it == "any"));
            let Some(crab) = exact.or(any).map(|it| it.name.clone()) else { continue };
            self.crabs.iter_mut().filter(|it| it.name == crab).for_each(|it| it.waits = false);
            busy.push(crab.clone());
            begun.push(job.item.mission.clone());
            offers.push(Effect::Offer { crab: crab.clone(), item: job.item.clone() });
            job.holder = Some(JobHolder { crab, stage: Stage::Offered, silence: 0 });
        }
        offers
    }

    /// Difference between this and the reducer with its backlog, if there is one.
    pub fn differs_from(&self, scheduler: &Scheduler, rows: &[&Waiting]) -> Option<String> {
        let leases: Vec<Lease> = self.jobs.iter().filter_map(|it| self.lease(it)).collect();
        let mut found: Vec<&Lease> = scheduler.leases.values().collect();
        found.sort_by_key(|it| (it.ticket, it.item.step));
        if !leases.iter().eq(found.iter().copied()) {
            return Some(alloc::format!("leases: expected {leases:#?}, found {found:#?}"));
        }
        let free =
            self.jobs.iter().filter(|it| leases.iter().all(|other| other.item.mission != it.item.mission));
        let waiting: Vec<Waiting> = free.map(waits).collect();
        if !waiting.iter().eq(rows.iter().copied()) {
            return Some(alloc::format!("what waits: expected {waiting:#?}, found {rows:#?}"));
        }
        let crabs = scheduler.crabs.iter();
        let crabs: Vec<ReferenceWorker> = crabs
            .map(|(name, it)| ReferenceWorker {
                name: name.clone(),
                roles: it.roles.clone(),
                abilities: it.abilities.clone(),
                waits: it.is_parked,
                fault: it.fault.clone(),
            })
            .collect();
        (self.crabs != crabs).then(|| alloc::format!("crabs: expected {:?}, found {crabs:?}", self.crabs))
    }

    fn lease(&self, job: &ReferenceJob) -> Option<Lease> {
        let holder = job.holder.as_ref()?;
        let others = self.jobs.iter().filter(|it| it.item.mission == job.item.mission && it.holder.is_none());
        Some(Lease {
            crab: holder.crab.clone(),
            item: job.item.clone(),
            ticket: job.ticket,
            is_accepted: holder.stage != Stage::Offered,
            is_running: holder.stage == Stage::Running,
            silent: holder.silence,
            version: job.version,
            others: others.map(waits).collect(),
        })
    }
}

fn end_agent(crab: &str, item: &Item) -> Effect {
    let Item { mission, step, attempt, .. } = item.clone();
    Effect::EndAgent { crab: crab.into(), mission, step, attempt }
}

fn waits(job: &ReferenceJob) -> Waiting {
    Waiting { item: job.item.clone(), ticket: job.ticket, version: job.version }
}
