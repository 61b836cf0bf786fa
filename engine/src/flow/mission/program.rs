//! Programs of steps, as the mission sees them: each runs in a process of its own.

use std::path::PathBuf;

use orange_core::plan::{Plan, Step, StepId};
use orange_system::atomic;
use orange_system::process::{self, ProcessRoot};

use super::attempt_end::lost;
use super::{LockedMission, Projection};
use crate::Result;
use crate::app::App;
use crate::store::WorkItemDir;
use crate::store::lock::{self, Lock, LockRank};

/// Programs of an attempt, its own or those of its gates: the mark that their processes have, and the lock of the process that runs
/// them. Where no two steps work at once, the attempts of a mission share both.
pub(super) struct AttemptPrograms {
    pub(super) mark: String,
    lock: PathBuf,
}

impl AttemptPrograms {
    pub(super) fn of(dir: &WorkItemDir, plan: &Plan<'_>, step: StepId, number: u32) -> AttemptPrograms {
        if !plan.is_concurrent() {
            return AttemptPrograms { mark: dir.id.clone(), lock: dir.program_lock() };
        }
        let name = format!("{}-{number}", step.index());
        AttemptPrograms { mark: format!("{}.{name}", dir.id), lock: dir.attempt_lock(&name) }
    }

    /// True if one runs, or its end is being recorded.
    pub(super) fn is_running(&self) -> bool {
        !lock::is_free(&self.lock)
    }

    /// The lock of the process that runs them; `None` while another process has it.
    pub(super) fn lock(&self, app: &App) -> Result<Option<Lock>> {
        lock::acquire_at_once(&app.home, &self.lock, LockRank::Program)
    }

    pub(super) fn unlock(&self, lock: Lock) -> Result<()> {
        atomic::remove(&self.lock)?;
        drop(lock);
        Ok(())
    }

    /// Ends the one that runs, or what is left of one whose process was killed.
    pub(super) fn end(&self) -> Result<()> {
        if !self.lock.exists() {
            return Ok(());
        }
        process::end(&[ProcessRoot::Gate(self.mark.clone())])
    }

    /// Ends what is left of an attempt that is over. Its process removes the lock, unless it was killed.
    fn end_for_good(&self) -> Result<()> {
        self.end()?;
        if self.lock.exists() && !self.is_running() { atomic::remove(&self.lock) } else { Ok(()) }
    }
}

/// Ends the programs, of steps or of their gates, whose attempts are over.
pub(super) fn end_over(mission: &LockedMission) -> Result<()> {
    let (projection, dir) = (&mission.projection, mission.locked.dir());
    if !projection.plan.is_concurrent() {
        let is_due = projection.mission.working().any(|(step, _)| has_programs(projection.plan.step(step)));
        return if is_due { Ok(()) } else { crate::hooks::program::end_asked(dir) };
    }
    for step in projection.plan.step_ids().filter(|it| has_programs(projection.plan.step(*it))) {
        let numbers = (1..).take(projection.mission.step(step).attempts.len());
        for number in numbers.filter(|it| !projection.works_at(step, *it)) {
            AttemptPrograms::of(dir, projection.plan, step, number).end_for_good()?;
        }
    }
    Ok(())
}

fn has_programs(step: &Step<'_>) -> bool {
    step.is_program() || !step.gates.is_empty()
}

/// True if the program of this attempt runs, or its end is being recorded.
pub(super) fn is_running(dir: &WorkItemDir, projection: &Projection, step: StepId, number: u32) -> bool {
    AttemptPrograms::of(dir, projection.plan, step, number).is_running()
}

/// Records the programs whose processes were killed as lost.
pub(super) fn lose_killed(mission: &mut LockedMission) -> Result<()> {
    let (dir, projection) = (mission.locked.dir().clone(), mission.projection.clone());
    let is_killed = |(step, number): &(StepId, u32)| {
        projection.plan.step(*step).is_program() && !is_running(&dir, &projection, *step, *number)
    };
    for (step, number) in projection.mission.working().filter(is_killed) {
        if mission.projection.works_at(step, number) {
            mission.record(lost(projection.plan.step(step).id, number), Vec::new())?;
        }
    }
    Ok(())
}

/// Starts the process that runs the program of a step which may start.
pub(super) fn start(app: &App, dir: &WorkItemDir) -> Result<()> {
    app.start_detached(&["mission", "run-program", &dir.id], dir)
}
