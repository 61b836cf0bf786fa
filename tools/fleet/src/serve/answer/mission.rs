//! Missions, their steps and their attempts.

use orange_core::mission::{AttemptEnd, Mission, Pause, PauseReason, StepStatus};
use orange_core::plan::{Plan, StepId};
use serde::Serialize;

use crate::host::{AttemptRow, Millis, MissionRow, StoredMission};

/// A mission in a list.
#[derive(Debug, Serialize)]
pub struct MissionLine {
    pub mission_id: String,
    pub colony_id: String,
    /// Its workflow.
    pub workflow: String,
    /// The first line of its prompt.
    pub summary: String,
    pub branch: String,
    pub status: String,
    /// The step that runs or comes next, or about which it asks.
    pub step_id: Option<String>,
    /// The number of the pause that waits for an answer.
    pub pause: Option<u32>,
    /// Number of events that it has accepted.
    pub version: u64,
    /// Time of creation.
    pub created_at_ms: Millis,
    /// Time of the last change.
    pub updated_at_ms: Millis,
}

#[derive(Debug, Serialize)]
pub struct MissionAnswer {
    pub mission_id: String,
    pub colony_id: String,
    /// Its workflow.
    pub workflow: String,
    /// The version of the workflow that it follows, as its author writes it.
    pub workflow_version: String,
    /// The hash of the workflow that it follows.
    pub definition: String,
    /// Description of the work to do.
    pub prompt: String,
    pub branch: String,
    pub status: String,
    /// `step`: it pauses after every step; `auto`: it goes on.
    pub execution: &'static str,
    /// At which ends of steps it pauses.
    pub intervene: &'static str,
    /// Its question, if it is paused.
    pub pause: Option<PauseAnswer>,
    /// Reason that no crab has a step of it that may start, if it waits for one; `GET` alone says it.
    pub waits: Option<String>,
    /// Its steps, in the order of the workflow.
    pub tasks: Vec<TaskAnswer>,
    /// Number of events that it has accepted.
    pub version: u64,
    /// Time of creation.
    pub created_at_ms: Millis,
    /// Time of the last change.
    pub updated_at_ms: Millis,
}

/// Question of a paused mission.
#[derive(Debug, Serialize)]
pub struct PauseAnswer {
    /// Its number, which an answer names.
    pub number: u32,
    /// `boundary`, `warning`, `error`, `exhausted` or `obstacle`.
    pub reason: &'static str,
    /// The step that it is about.
    pub step_id: Option<String>,
    /// Description of what has happened, in a sentence; empty where nothing is wrong.
    pub message: String,
    /// The answers that it accepts: `continue`, `accept_failure`, `cancel`.
    pub offers: Vec<&'static str>,
}

/// A step of a mission.
#[derive(Debug, Serialize)]
pub struct TaskAnswer {
    /// `<mission>.<step>`.
    pub task_id: String,
    pub mission_id: String,
    pub step_id: String,
    /// A line about it for people.
    pub title: String,
    /// Role of the crabs that may take it.
    pub role: String,
    pub status: &'static str,
    /// The crab that has its current attempt, which has not ended.
    pub crab_id: Option<String>,
    /// The steps that end before it.
    pub depends_on: Vec<String>,
    /// The condition under which it runs.
    pub condition: Option<String>,
    /// The number of its current attempt; 0 before the first.
    pub attempt: u32,
    /// Number of times that a loop step may complete; 0 for another step.
    pub max_retries: u16,
    /// Number of times that a loop step has completed.
    pub completions: u16,
    /// The result of its latest completion.
    pub result: Option<String>,
    /// The summary of its latest completion.
    pub summary: Option<String>,
    /// The warning of its latest completion.
    pub warning: Option<String>,
    /// Reason for its failure.
    pub failure: Option<String>,
}

/// An attempt at a step.
#[derive(Debug, Serialize)]
pub struct RunAnswer {
    /// `<mission>.<step>.<attempt>`.
    pub run_id: String,
    pub mission_id: String,
    pub step_id: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// `queued`, `assigned`, `running`, `completed`, `failed`, `lost`, `abandoned` or `withdrawn`.
    pub status: &'static str,
    /// The crab that has or had it.
    pub crab_id: Option<String>,
    /// Result that it has reported.
    pub result: Option<String>,
    /// Summary that it has reported.
    pub summary: Option<String>,
    /// Warning that it has reported.
    pub warning: Option<String>,
    /// Reason for its failure.
    pub reason: Option<String>,
    /// The commit that its crab has pushed.
    pub commit: Option<String>,
    /// Path at which its agent works, on the crab's machine.
    pub worktree_path: Option<String>,
    /// Start of its wait for a crab.
    pub queued_at_ms: Millis,
    /// Time at which a crab got it.
    pub offered_at_ms: Option<Millis>,
    /// Time at which its agent started.
    pub started_at_ms: Option<Millis>,
    /// Time of its end.
    pub ended_at_ms: Option<Millis>,
}

/// Effect of a person's call on a mission.
#[derive(Debug, Serialize)]
pub struct Acted {
    pub mission_id: String,
    /// Number of events that it has accepted.
    pub version: u64,
    /// Effect of the answer to a pause: `went_on`, `tried_again`, `granted` or `accepted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<&'static str>,
    /// The step that this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
}

impl From<MissionRow> for MissionLine {
    fn from(row: MissionRow) -> MissionLine {
        let MissionRow {
            id,
            colony,
            workflow,
            summary,
            branch,
            status,
            step,
            pause,
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
            version,
            created_at_ms: created,
            updated_at_ms: updated,
        }
    }
}

impl From<StoredMission> for MissionAnswer {
    fn from(stored: StoredMission) -> MissionAnswer {
        let tasks = tasks(&stored);
        let StoredMission { row, plan, mission, prompt, .. } = stored;
        MissionAnswer {
            mission_id: row.id,
            colony_id: row.colony,
            workflow: row.workflow,
            workflow_version: plan.version.to_owned(),
            definition: plan.source_hash.to_owned(),
            prompt,
            branch: row.branch,
            status: mission.status.as_str().to_owned(),
            execution: mission.policy.execution.as_str(),
            intervene: mission.policy.intervene.as_str(),
            pause: mission.pause.as_ref().map(|it| pause(it, plan, &mission)),
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
        PauseReason::Boundary(step) => ("boundary", named(step), String::new()),
        PauseReason::Warning(step) => {
            let warning = mission.step(*step).latest.as_ref().and_then(|it| it.warning.clone());
            ("warning", named(step), warning.unwrap_or_default())
        }
        PauseReason::Error(step) => ("error", named(step), mission.failure(plan, *step)),
        PauseReason::Exhausted(step) => ("exhausted", named(step), mission.failure(plan, *step)),
        PauseReason::Obstacle(what) => ("obstacle", None, what.clone()),
    };
    let offers = match mission.asked() {
        Some(_) => vec!["continue", "accept_failure", "cancel"],
        None => vec!["continue", "cancel"],
    };
    PauseAnswer { number: pause.number, reason, step_id, message, offers }
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
            status: seen.step(id).standing().as_str(),
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
        result: None,
        summary: None,
        warning: None,
        reason: None,
        commit: run.commit.clone(),
        worktree_path: run.worktree.clone(),
        queued_at_ms: run.queued,
        offered_at_ms: run.offered,
        started_at_ms: run.started,
        ended_at_ms: run.ended,
    };
    match end(mission, id, run.attempt) {
        Some(AttemptEnd::Completed(report)) => {
            answer.result.clone_from(&report.result);
            answer.summary = Some(report.summary.clone());
            answer.warning.clone_from(&report.warning);
        }
        Some(AttemptEnd::Failed { reason }) => answer.reason = Some(reason.clone()),
        Some(AttemptEnd::Lost | AttemptEnd::Abandoned | AttemptEnd::Withdrawn) | None => {}
    }
    Some(answer)
}

fn end(mission: &Mission, step: StepId, attempt: u32) -> Option<&AttemptEnd> {
    let index = usize::try_from(attempt.checked_sub(1)?).ok()?;
    mission.step(step).attempts.get(index)?.end.as_ref()
}

/// Status of an attempt. `is_offered`: a crab has it.
pub fn attempt_status(mission: &Mission, step: StepId, attempt: u32, is_offered: bool) -> &'static str {
    match end(mission, step, attempt) {
        Some(AttemptEnd::Completed(_)) => "completed",
        Some(AttemptEnd::Failed { .. }) => "failed",
        Some(AttemptEnd::Lost) => "lost",
        Some(AttemptEnd::Abandoned) => "abandoned",
        Some(AttemptEnd::Withdrawn) => "withdrawn",
        None => match mission.step(step).status {
            StepStatus::Running => "running",
            StepStatus::Assigned => "assigned",
            StepStatus::Queued if is_offered => "assigned",
            StepStatus::Queued
            | StepStatus::Blocked
            | StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Skipped
            | StepStatus::Cancelled => "queued",
        },
    }
}
