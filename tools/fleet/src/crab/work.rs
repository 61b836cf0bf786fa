//! Carries out what is decided about one job, until nothing is left of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use orange_api::{AttemptState, ErrorKind, Result, ShownAttempt};

use super::api::Reporter;
use super::decide::{CrabAction, LeaseState, Local, next, unfit};
use super::heartbeat::Heartbeat;
use super::job::{AttemptVerdict, Job, Ready};
use super::push::{self, Pushed};
use super::repository::{RepositorySettings, Unready};
use super::texts::Sources;
use super::{Crab, RETRIES};
use crate::client::GatewayFailure;
use crate::host::TextKind;

/// Between two looks at the journal of the mission.
const GLANCE: Duration = Duration::from_millis(200);

/// Time for which a mission may wait for a worktree that another one is about to give back.
const FOR_WORKTREE: Duration = Duration::from_secs(60);

/// Number of tries of an action that another process may prevent for a moment.
const TRIES: u32 = 3;

/// Number of tries of a push that something in the clone obstructs.
const TRIES_HERE: u32 = 8;

/// Greatest number of sendings of the transcript and the diff of an attempt, and time limit of one sending.
const SENDINGS: (u32, Duration) = (3, Duration::from_secs(10));

/// The longest text of a report, in bytes: a gateway takes a little more.
const LONGEST: usize = 200_000;

/// Role of steps whose agents have a harness of their own.
const REVIEWER: &str = "reviewer";

/// Result of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Ended,
    /// The crab could not start it.
    GivenBack,
}

/// A crab with a job.
pub(super) struct JobWorker<'c> {
    crab: &'c Crab,
    job: Job,
    heartbeat: Heartbeat,
    seen: Option<MissionSnapshot>,
    /// Since when this process has the job.
    since: Instant,
    /// Time of the first try of the push, and wait before the next one.
    pushing: Option<(Instant, Duration)>,
    failures: u32,
    /// Number of tries of the push that something in the clone has obstructed.
    hindered: u32,
    /// Last problem that was reported; each is reported once.
    trouble: String,
}

/// The mission as it was when its journal had this length and time.
struct MissionSnapshot {
    local: Local,
    journal: PathBuf,
    stamp: Option<(u64, SystemTime)>,
    at: Instant,
}

impl JobWorker<'_> {
    pub(super) fn new<'c>(crab: &'c Crab, job: Job) -> JobWorker<'c> {
        let heartbeat = Heartbeat::start(Arc::clone(&crab.api), &crab.id, job.run(), crab.heartbeat);
        JobWorker {
            crab,
            job,
            heartbeat,
            seen: None,
            since: Instant::now(),
            pushing: None,
            failures: 0,
            hindered: 0,
            trouble: String::new(),
        }
    }

    pub(super) fn work(mut self) -> Result<After> {
        loop {
            let local = match self.local() {
                Ok(local) => local,
                Err(error) => {
                    self.hold(&error.one_line());
                    continue;
                }
            };
            if let Some(why) = self.heartbeat.refusal() {
                self.tell_trouble(&format!("the gateway refuses its heartbeats: {why}"));
            }
            let action = next(&self.job, &local, self.heartbeat.lease());
            if action == CrabAction::Forget {
                return self.forget();
            }
            if let Err(error) = self.carry_out(action, &local) {
                self.hold(&error.one_line());
            }
        }
    }

    fn tell(&self, text: &str) {
        self.crab.tell(&format!("{}: {text}", self.job.run()));
    }

    /// Says what is in the way, once.
    fn tell_trouble(&mut self, what: &str) {
        if self.trouble != what {
            self.tell(what);
            what.clone_into(&mut self.trouble);
        }
    }

    /// Says that something is in the way, and waits for a moment before it is tried again.
    fn hold(&mut self, why: &str) {
        self.tell_trouble(&format!("tries again: {why}"));
        self.seen = None;
        self.heartbeat.wait(RETRIES.0 * 2u32.saturating_pow(self.failures.min(4)));
        self.failures = self.failures.saturating_add(1);
    }

    fn carry_out(&mut self, action: CrabAction, local: &Local) -> Result<()> {
        match action {
            CrabAction::Prepare => self.prepare()?,
            CrabAction::Start => self.start()?,
            CrabAction::ReportStart => self.report_start()?,
            CrabAction::Wait => {
                self.wait();
                return Ok(());
            }
            CrabAction::Push => self.push(local)?,
            CrabAction::Decide(verdict) => self.decide(verdict)?,
            CrabAction::Report => self.report()?,
            CrabAction::Cancel => self.cancel()?,
            CrabAction::Forget => {}
        }
        self.failures = 0;
        Ok(())
    }

    fn save(&self) -> Result<()> {
        self.crab.home.save(&self.job)
    }

    fn decide(&mut self, verdict: AttemptVerdict) -> Result<()> {
        let verdict = verdict.within(LONGEST);
        let what = match &verdict {
            AttemptVerdict::Completed { result, .. } => {
                format!("complete {}", result.as_deref().unwrap_or_default())
            }
            AttemptVerdict::Failed { summary } => format!("failed: {summary}"),
            AttemptVerdict::GivenBack { reason } => format!("given back: {reason}"),
        };
        self.tell(what.trim_end());
        self.job.verdict = Some(verdict);
        self.save()
    }

    /// State of the mission. It is looked at when its journal has changed, and now and then.
    fn local(&mut self) -> Result<Local> {
        let Some(id) = self.job.mission.clone() else { return Ok(Local::Absent) };
        let is_due = |seen: &MissionSnapshot| seen.at.elapsed() >= self.crab.settings.times.look;
        if let Some(seen) = &self.seen {
            if !is_due(seen) && stamp(&seen.journal) == seen.stamp {
                return Ok(seen.local.clone());
            }
            if is_due(seen) {
                self.crab.orange.look()?;
            }
        }
        // What is written after this look at the file is seen with the next one.
        let before = self.seen.as_ref().and_then(|it| stamp(&it.journal));
        let Some(shown) = self.crab.orange.attempt(&id)? else { return Ok(Local::Absent) };
        Ok(self.see(shown, before))
    }

    fn see(&mut self, shown: ShownAttempt, stamp: Option<(u64, SystemTime)>) -> Local {
        let local = self.local_of(shown.state);
        let journal = PathBuf::from(shown.journal);
        self.seen = Some(MissionSnapshot { local: local.clone(), journal, stamp, at: Instant::now() });
        local
    }

    fn local_of(&self, state: AttemptState) -> Local {
        match state {
            AttemptState::Pending => Local::Pending { is_late: self.since.elapsed() > FOR_WORKTREE },
            AttemptState::Running { has_agent } => Local::Running { has_agent },
            AttemptState::Ending => Local::Ending,
            AttemptState::Completed { result, summary, warning, outputs } => {
                Local::Ended(AttemptVerdict::Completed { result, summary, warning, outputs })
            }
            AttemptState::Failed { reason } => Local::Ended(AttemptVerdict::failed(reason)),
            AttemptState::Obstructed { what, has_worked } => Local::Obstructed { what, has_worked },
            AttemptState::Over => Local::Over,
        }
    }

    /// Waits until the journal of the mission changes, or a look is due.
    fn wait(&self) {
        let Some(seen) = &self.seen else { return self.heartbeat.wait(GLANCE) };
        let look = self.crab.settings.times.look;
        while self.heartbeat.lease() != LeaseState::Lost
            && seen.at.elapsed() < look
            && stamp(&seen.journal) == seen.stamp
        {
            self.heartbeat.wait(GLANCE);
        }
    }

    fn prepare(&mut self) -> Result<()> {
        let free = self.crab.home.free_mb()?;
        let least = self.crab.settings.least_free_mb;
        if free < least {
            let reason = format!("the disk of the crab has {free} MB left, less than {least}");
            return self.decide(AttemptVerdict::given_back(reason));
        }
        let repositories = RepositorySettings {
            home: self.crab.home.folder(),
            crab: &self.crab.id,
            orange: &self.crab.orange,
            agrees: self.crab.settings.agrees,
        };
        match repositories.prepare(&self.job.assigned, &self.heartbeat) {
            Ok(ready) => {
                self.job.ready = Some(ready);
                self.save()
            }
            Err(_) if self.heartbeat.lease() == LeaseState::Lost => Ok(()),
            Err(Unready::Mission(error)) => self.decide(AttemptVerdict::failed(error.one_line())),
            Err(Unready::Machine(error)) => self.give_back_after_tries(&error),
        }
    }

    /// Something may be in the way for a moment only.
    fn give_back_after_tries(&mut self, error: &orange_api::Error) -> Result<()> {
        if self.failures + 1 >= TRIES {
            return self.decide(AttemptVerdict::given_back(error.one_line()));
        }
        Err(error.clone())
    }

    fn start(&mut self) -> Result<()> {
        let Some(ready) = self.job.ready.clone() else { return Ok(()) };
        let (worker, reviewer) = &self.crab.settings.harness;
        let harness = if self.job.assigned.role == REVIEWER { reviewer } else { worker };
        match self.crab.orange.run(&self.job.attempt(&ready, harness.as_deref())) {
            Ok(ShownAttempt { mission, .. }) => {
                self.tell(&format!("runs as the mission {mission} on this machine"));
                self.job.mission = Some(mission);
                self.save()
            }
            Err(error) if error.kind == ErrorKind::Locked => Err(error),
            Err(error) => self.give_back_after_tries(&error),
        }
    }

    fn report_start(&mut self) -> Result<()> {
        let worktree = self.job.ready.as_ref().map(|it| it.worktree.clone()).unwrap_or_default();
        match self.crab.api.start(&self.crab.id, self.job.run(), &worktree) {
            Ok(()) => {
                self.tell("has started");
                self.job.is_started = true;
                self.save()
            }
            Err(failed) => self.refused(failed),
        }
    }

    /// An attempt that the gateway does not know any more is lost.
    fn refused(&mut self, failed: GatewayFailure) -> Result<()> {
        match failed {
            GatewayFailure::Refused { status: 404 | 409 | 410, message, .. } => {
                self.tell(&format!("is lost: {message}"));
                self.heartbeat.lose();
                Ok(())
            }
            failed @ (GatewayFailure::Refused { .. } | GatewayFailure::Unheard(_)) => {
                Err(failed.into_error())
            }
        }
    }

    fn push(&mut self, local: &Local) -> Result<()> {
        let Some(ready) = self.job.ready.clone() else { return Ok(()) };
        // Only the current attempt may push, and only the gateway knows which one that is.
        if self.heartbeat.ask() != LeaseState::Held {
            self.heartbeat.wait(if self.heartbeat.refusal().is_some() { RETRIES.1 } else { RETRIES.0 });
            return Ok(());
        }
        let pushed = push::push(&self.job, &ready, &self.heartbeat);
        match pushed.unwrap_or_else(|error| Pushed::failed(error.one_line())) {
            Pushed::Done { commit, notes } => {
                self.tell(&format!("has pushed {commit} to {}", self.job.assigned.branch));
                (self.job.pushed, self.job.notes) = (Some(commit), notes);
                self.save()
            }
            Pushed::Unfit(why) => self.decide(unfit(local, &why)),
            Pushed::Claimed(other) => self.reclaim(&ready, other.as_deref()),
            Pushed::NotHere(why) => self.push_here(local, &why),
            Pushed::NotNow(why) => self.push_later(local, &why),
        }
    }

    fn reclaim(&mut self, ready: &Ready, other: Option<&str>) -> Result<()> {
        if self.heartbeat.ask() != LeaseState::Held {
            return Ok(());
        }
        self.tell("takes the branch back from an attempt that is not current");
        push::reclaim(&self.job, ready, other, &self.heartbeat).map(drop)
    }

    /// A lock may be held for a moment, and a hook may need what is away for a moment.
    fn push_here(&mut self, local: &Local, why: &str) -> Result<()> {
        self.hindered += 1;
        if self.hindered < TRIES_HERE {
            return self.push_later(local, why);
        }
        let reason =
            format!("the crab {} cannot push {}: {why}", self.crab.settings.name, self.job.assigned.branch);
        self.decide(unfit(local, &reason))
    }

    fn push_later(&mut self, local: &Local, why: &str) -> Result<()> {
        let (begun, pause) = self.pushing.unwrap_or((Instant::now(), RETRIES.0));
        if begun.elapsed() > self.crab.settings.times.push {
            let reason = format!("the crab cannot push {}: {why}", self.job.assigned.branch);
            return self.decide(unfit(local, &reason));
        }
        self.tell_trouble(&format!("pushes again: {why}"));
        self.heartbeat.wait(pause);
        self.pushing = Some((begun, (pause * 2).min(RETRIES.1)));
        Ok(())
    }

    /// Sends the transcript and the diff, as far as that works now. The attempt does not depend on them.
    fn send_texts(&mut self) {
        let (most, patience) = SENDINGS;
        if self.job.is_sent || self.job.sendings >= most {
            return;
        }
        self.job.sendings += 1;
        // Without this note, a crab that is killed now sends them once more.
        self.save().unwrap_or_default();
        let (job, folder) = (&self.job, self.crab.home.folder());
        let texts = Sources { job, orange: &self.crab.orange, folder }.texts(&AlwaysWanted);
        let send = |(kind, text): &(TextKind, String)| {
            match self.crab.api.put_text(self.job.run(), *kind, text, patience) {
                // A refusal stays one.
                Ok(()) | Err(GatewayFailure::Refused { .. }) => true,
                Err(GatewayFailure::Unheard(_)) => false,
            }
        };
        self.job.is_sent = texts.iter().all(send);
        self.save().unwrap_or_default();
    }

    fn report(&mut self) -> Result<()> {
        self.send_texts();
        let Some(verdict) = &self.job.verdict else { return Ok(()) };
        let of = Reporter { crab: Some(&self.crab.id), run: self.job.run(), job: &self.job.id };
        let reported = self.crab.api.report(of, verdict, self.job.pushed.as_deref());
        match reported {
            Ok(()) => {
                self.tell("is reported");
                self.job.is_reported = true;
                self.save()
            }
            // The plan does not take this report, and would not take it another time.
            Err(GatewayFailure::Refused { status: 400 | 422, message, .. })
                if matches!(verdict, AttemptVerdict::Completed { .. }) =>
            {
                self.decide(AttemptVerdict::failed(format!(
                    "the gateway does not take its report: {message}"
                )))
            }
            Err(failed) => self.refused(failed),
        }
    }

    fn cancel(&mut self) -> Result<()> {
        let Some(mission) = self.job.mission.clone() else { return Ok(()) };
        if self.heartbeat.lease() == LeaseState::Lost && !self.job.is_reported {
            self.tell("has lost its lease: its agent is ended, and its work is backed up here");
        }
        self.send_texts();
        let cancelled = self.crab.orange.cancel(&mission);
        self.seen = None;
        match cancelled {
            // It is over already, and gives its worktree back.
            Err(error) if error.kind == ErrorKind::Refused => {
                self.crab.orange.look()?;
                self.heart_rest();
                Ok(())
            }
            other => other,
        }
    }

    /// A moment for another process, also after a lost lease.
    fn heart_rest(&self) {
        std::thread::sleep(GLANCE);
    }

    fn forget(self) -> Result<After> {
        if let Some(ready) = &self.job.ready {
            // The next attempt replaces what stays.
            push::leave(&self.job, ready, &AlwaysWanted).unwrap_or_default();
        }
        self.crab.home.forget()?;
        let is_given_back =
            matches!(self.job.verdict, Some(AttemptVerdict::GivenBack { .. })) && self.job.is_reported;
        Ok(if is_given_back { After::GivenBack } else { After::Ended })
    }
}

/// The condition of programs that clean up: they are wanted, whatever has become of the lease.
#[derive(Debug)]
struct AlwaysWanted;

impl super::program::StillWanted for AlwaysWanted {
    fn is_wanted(&self) -> bool {
        true
    }
}

/// The length and the time of a file.
fn stamp(file: &std::path::Path) -> Option<(u64, SystemTime)> {
    let found = file.metadata().ok()?;
    Some((found.len(), found.modified().ok()?))
}
