//! Missions, their steps and their attempts.

use orange_api::gateway::{
    AskAnswer, MissionAnswer, MissionLine, PauseAnswer, PauseCause, PauseOffer, RunAnswer, RunStatus,
    TaskAnswer,
};
use orange_core::mission::{AttemptEnd, Mission, Pause, PauseReason, StepStatus};
use orange_core::plan::{Plan, StepId};

use crate::host::questions::{Question, after_time, persons};
use crate::host::{AttemptRow, MissionListRow, StoredMission};

impl From<MissionListRow> for MissionLine {
    fn from(row: MissionListRow) -> MissionLine {
        let MissionListRow {
            id,
            colony,
            workflow,
            summary,
            branch,
            status,
            step,
            pause,
            asks,
            version,
            created,
            updated,
        } = row;
        MissionLine {
            mission_id: id,
            colony_id: colony,
            workflow,
            summary,
            branch,
            status,
            step_id: step,
            pause,
            asks,
            version,
            created_at_ms: created,
            updated_at_ms: updated,
        }
    }
}

impl From<StoredMission> for MissionAnswer {
    fn from(stored: StoredMission) -> MissionAnswer {
        let (tasks, asks) = (tasks(&stored), asks(&stored));
        let StoredMission { row, plan, mission, prompt, .. } = stored;
        MissionAnswer {
            inputs: mission.inputs.clone(),
            mission_id: row.id,
            colony_id: row.colony,
            workflow: row.workflow,
            workflow_version: plan.version.to_owned(),
            definition: plan.source_hash.to_owned(),
            prompt,
            branch: row.branch,
            status: mission.status,
            execution: mission.policy.execution,
            intervene: mission.policy.intervene,
            pause: mission.pause().map(|it| pause(it, plan, &mission)),
            pauses: mission.questions.iter().map(|it| pause(it, plan, &mission)).collect(),
            asks,
            waits: None,
            tasks,
            version: row.version,
            created_at_ms: row.created,
            updated_at_ms: row.updated,
        }
    }
}

fn pause(pause: &Pause, plan: &Plan<'_>, mission: &Mission) -> PauseAnswer {
    let named = |step: &StepId| Some(plan.step(*step).id.to_owned());
    let (reason, step_id, message) = match &pause.reason {
        PauseReason::Boundary(step) => (PauseCause::Boundary, named(step), String::new()),
        PauseReason::Warning(step) => {
            let warning = mission.step(*step).latest.as_ref().and_then(|it| it.warning.clone());
            (PauseCause::Warning, named(step), warning.unwrap_or_default())
        }
        PauseReason::Error(step) => (PauseCause::Error, named(step), mission.failure(plan, *step)),
        PauseReason::Exhausted(step) => (PauseCause::Exhausted, named(step), mission.failure(plan, *step)),
        PauseReason::Cap(step) => (PauseCause::Cap, named(step), mission.cap_reached(plan, *step)),
        PauseReason::Obstacle(_) | PauseReason::Changed(_) => {
            (PauseCause::Obstacle, None, pause.reason.obstacle().unwrap_or_default())
        }
    };
    let offers = match mission.offers_acceptance(pause) {
        true => vec![PauseOffer::Continue, PauseOffer::AcceptFailure, PauseOffer::Cancel],
        false => vec![PauseOffer::Continue, PauseOffer::Cancel],
    };
    PauseAnswer { number: pause.number, reason, step_id, message, offers }
}

/// The questions of a mission that wait for an answer.
fn asks(stored: &StoredMission) -> Vec<AskAnswer> {
    let texts = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect();
    let ask = |question: Question| {
        let step = stored.plan.step(question.step);
        AskAnswer {
            step_id: step.id.to_owned(),
            attempt: question.attempt,
            question: question.text,
            context: question.context,
            shows_diff: step.ask.is_some_and(|it| it.shows_diff),
            answers: texts(&step.answers()),
            who: texts(persons(step)),
            since_ms: question.since,
            until_ms: question.until,
            on_timeout: after_time(step).map(str::to_owned),
            commit: question.commit,
        }
    };
    stored.questions().into_iter().map(ask).collect()
}

/// The steps of a mission.
pub fn tasks(stored: &StoredMission) -> Vec<TaskAnswer> {
    let StoredMission { row, plan, mission, .. } = stored;
    let seen = stored.seen();
    let task = |id: StepId| {
        let (step, state) = (plan.step(id), mission.step(id));
        let latest = state.latest.clone().unwrap_or_default();
        let has_reported = state.latest.is_some();
        TaskAnswer {
            task_id: format!("{}.{}", row.id, step.id),
            mission_id: row.id.clone(),
            step_id: step.id.to_owned(),
            title: step.title.to_owned(),
            role: plan.role(step.role).to_owned(),
            status: seen.step(id).standing(),
            crab_id: stored.crab_of(id).map(str::to_owned),
            depends_on: step.depends_on.iter().map(|it| plan.step(*it).id.to_owned()).collect(),
            condition: step.condition.as_ref().map(|it| plan.condition_text(it)),
            attempt: state.attempt(),
            max_retries: step.max_retries,
            completions: state.completions,
            result: latest.result,
            summary: Some(latest.summary).filter(|_| has_reported),
            warning: latest.warning,
            failure: Some(mission.failure(plan, id)).filter(|it| !it.is_empty()),
        }
    };
    plan.step_ids().map(task).collect()
}

/// The attempts of a mission, the oldest first.
pub fn runs(stored: &StoredMission) -> impl Iterator<Item = RunAnswer> + '_ {
    stored.runs.iter().filter_map(|run| answer(stored, run))
}

fn answer(stored: &StoredMission, run: &AttemptRow) -> Option<RunAnswer> {
    let StoredMission { row, plan, mission, .. } = stored;
    let id = plan.step_named(&run.step)?;
    let mut answer = RunAnswer {
        run_id: format!("{}.{}.{}", row.id, run.step, run.attempt),
        mission_id: row.id.clone(),
        step_id: run.step.clone(),
        attempt: run.attempt,
        status: attempt_status(mission, id, run.attempt, run.offered.is_some()),
        crab_id: run.crab.clone(),
        by: None,
        result: None,
        summary: None,
        warning: None,
        outputs: orange_core::plan::Inputs::new(),
        reason: None,
        commit: run.commit.clone(),
        worktree_path: run.worktree.clone(),
        queued_at_ms: run.queued,
        offered_at_ms: run.offered,
        started_at_ms: run.started,
        ended_at_ms: run.ended,
    };
    let end = end(mission, id, run.attempt);
    answer.by = end.and_then(AttemptEnd::answered).map(|(_, origin)| origin.by.as_str().to_owned());
    match end {
        Some(AttemptEnd::Completed(report)) => {
            answer.result.clone_from(&report.result);
            answer.summary = Some(report.summary.clone());
            answer.warning.clone_from(&report.warning);
            answer.outputs.clone_from(&report.outputs);
        }
        Some(AttemptEnd::Failed { reason } | AttemptEnd::Rejected { reason, .. }) => {
            answer.reason = Some(reason.clone())
        }
        Some(AttemptEnd::Lost | AttemptEnd::Abandoned | AttemptEnd::Withdrawn) | None => {}
    }
    Some(answer)
}

fn end(mission: &Mission, step: StepId, attempt: u32) -> Option<&AttemptEnd> {
    let index = usize::try_from(attempt.checked_sub(1)?).ok()?;
    mission.step(step).attempts.get(index)?.end.as_ref()
}

/// Status of an attempt. `is_offered`: a crab has it.
pub fn attempt_status(mission: &Mission, step: StepId, attempt: u32, is_offered: bool) -> RunStatus {
    match end(mission, step, attempt) {
        Some(AttemptEnd::Completed(_)) => RunStatus::Completed,
        Some(AttemptEnd::Failed { .. } | AttemptEnd::Rejected { .. }) => RunStatus::Failed,
        Some(AttemptEnd::Lost) => RunStatus::Lost,
        Some(AttemptEnd::Abandoned) => RunStatus::Abandoned,
        Some(AttemptEnd::Withdrawn) => RunStatus::Withdrawn,
        None => match mission.step(step).status {
            StepStatus::Running => RunStatus::Running,
            StepStatus::Assigned => RunStatus::Assigned,
            StepStatus::Asked => RunStatus::Asked,
            StepStatus::Queued if is_offered => RunStatus::Assigned,
            StepStatus::Queued
            | StepStatus::Blocked
            | StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Skipped
            | StepStatus::Cancelled => RunStatus::Queued,
        },
    }
}
