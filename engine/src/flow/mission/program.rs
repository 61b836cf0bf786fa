//! Programs of steps, as the mission sees them: each runs in a process of its own.

use orange_core::plan::StepId;

use super::LockedMission;
use super::attempt::lost;
use crate::Result;
use crate::app::App;
use crate::hooks::program;
use crate::store::WorkItemDir;
use crate::store::lock;

/// True if the program of a step runs, or its end is being recorded.
pub(super) fn is_running(dir: &WorkItemDir) -> bool {
    !lock::is_free(&dir.program_lock())
}

/// Ends a program, of a step or of its gates, whose attempt is over.
pub(super) fn end_over(mission: &LockedMission) -> Result<()> {
    let projection = &mission.projection;
    let runs_programs = |step| {
        let step = projection.plan.step(step);
        step.is_program() || !step.gates.is_empty()
    };
    let is_due = projection.mission.busy().is_some_and(runs_programs);
    if is_due { Ok(()) } else { program::end_asked(mission.locked.dir()) }
}

/// Starts the process that runs the program of the next step. One that runs already goes on; one whose process was killed is lost, and
/// the mission goes on from there. `true` if the mission has to be looked at again.
pub(super) fn start(app: &App, mission: &mut LockedMission, step: StepId, is_current: bool) -> Result<bool> {
    let dir = mission.locked.dir().clone();
    if is_running(&dir) {
        return Ok(false);
    }
    if is_current {
        let number = mission.projection.mission.step(step).attempt();
        let lost = lost(mission.projection.plan.step(step).id, number);
        return mission.record(lost, Vec::new()).map(|_| true);
    }
    app.start_detached(&["mission", "run-program", &dir.id], &dir).map(|()| false)
}
