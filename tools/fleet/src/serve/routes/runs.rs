//! Runs: crabs and their agents report what has come of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use orange_api::gateway::{
    CompleteBody, GiveBackBody, ReportOutcome, Reported, RunEnd, Runs, StartBody, TaskAssigned,
};
use orange_core::mission::{Event as MissionEvent, Refusal, Report, StepStatus};
use orange_core::plan::StepId;
use orange_core::scheduler::Event as SchedulerEvent;
use serde::Deserialize;

use super::{PageLimit, done, rights};
use crate::host::{ActorCall, ActorReply, CallDetails, Event};
use crate::serve::answer::runs;
use crate::serve::assignment::assignment;
use crate::serve::error::ApiError;
use crate::serve::gateway::{FixedFacts, Gateway, unknown_run};
use crate::serve::input::{AuthorizedCaller, JsonInput, PathIds, StrictQuery, id, text};
use crate::serve::run::RunId;
use crate::serve::traces::TracedEnd;

/// The longest result, which is one word.
const LONGEST_RESULT: usize = 200;

/// The longest path of a worktree.
const LONGEST_PATH: usize = 4096;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunsQuery {
    mission: String,
    after: Option<String>,
    #[serde(default)]
    limit: PageLimit,
}

pub(super) async fn list(
    State(gateway): State<Arc<Gateway>>,
    StrictQuery(query): StrictQuery<RunsQuery>,
) -> Result<Json<Runs>, ApiError> {
    let stored = super::missions::stored(&gateway, &query.mission).await?;
    let found = runs(&stored);
    let found = match &query.after {
        Some(after) => found.skip_while(|it| it.run_id != *after).skip(1).collect(),
        None => found.collect(),
    };
    let (runs, next) = query.limit.page(found, |it| it.run_id.clone());
    Ok(Json(Runs { runs, next }))
}

pub(super) async fn get(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(run): PathIds<String>,
) -> Result<Json<TaskAssigned>, ApiError> {
    let run = RunId::parse(&run)?;
    let (known, step) = gateway.run(&run, rights(&caller.holder)).await?;
    if known.plan.step(step).is_ask() {
        return Err(ApiError::of_mission(&Refusal::NotYours(step), known.plan));
    }
    let unknown =
        |error: ApiError| if error.code == "unknown_run" { unknown_run(&run.to_string()) } else { error };
    assignment(&gateway, run.mission, step, run.attempt).await.map(Json).map_err(unknown)
}

pub(super) async fn start(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    JsonInput(body): JsonInput<StartBody>,
) -> Result<Json<Reported>, ApiError> {
    let crab = id("crab_id", &body.crab_id)?;
    if let Some(path) = &body.worktree_path {
        text("worktree_path", path, LONGEST_PATH)?;
    }
    let run = RunId::parse(&body.run_id)?;
    let (known, step) = gateway.run(&run, rights(&caller.holder)).await?;
    let event = MissionEvent::Start { step, attempt: run.attempt };
    let about =
        CallDetails { crab: Some(crab.to_owned()), worktree: body.worktree_path, ..CallDetails::default() };
    let outcome = mission_event(&gateway, caller.key, &run, event, about).await?;
    // The answer to an earlier call may have been lost.
    if matches!(outcome, ActorReply::MissionRefused(Refusal::NotQueued(StepStatus::Running)))
        && has_started(&gateway, &run, step, crab).await?
    {
        return Ok(Json(Reported { run_id: body.run_id, outcome: ReportOutcome::Repeated }));
    }
    reported(outcome, &known, &run)
}

/// True if this crab has started this run, and its agent runs.
async fn has_started(gateway: &Gateway, run: &RunId<'_>, step: StepId, crab: &str) -> Result<bool, ApiError> {
    let Some(stored) = gateway.host.mission(run.mission).await? else { return Ok(false) };
    let is_current = stored.mission.steps.get(step.index()).is_some_and(|it| it.attempt() == run.attempt);
    let is_theirs = |it: &crate::host::AttemptRow| {
        (it.step.as_str(), it.attempt, it.crab.as_deref()) == (run.step, run.attempt, Some(crab))
    };
    Ok(is_current && stored.runs.iter().any(is_theirs))
}

pub(super) async fn complete(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    JsonInput(body): JsonInput<CompleteBody>,
) -> Result<Json<Reported>, ApiError> {
    let limit = gateway.settings.limits.text;
    text("summary", &body.summary, limit)?;
    text("warning", body.warning.as_deref().unwrap_or_default(), limit)?;
    text("result", body.result.as_deref().unwrap_or_default(), LONGEST_RESULT)?;
    let crab = body.crab_id.as_deref().map(|it| id("crab_id", it)).transpose()?;
    let commit = body.commit.as_deref().map(commit).transpose()?;
    let run = RunId::parse(&body.run_id)?;
    let (known, step) = gateway.run(&run, rights(&caller.holder)).await?;
    let attempt = run.attempt;
    let end = TracedEnd {
        result: body.result.clone().unwrap_or_default(),
        has_failed: matches!(body.status, RunEnd::Failed),
    };
    let event = match body.status {
        RunEnd::Completed => {
            let report = Report {
                result: body.result,
                summary: body.summary,
                warning: body.warning,
                outputs: body.outputs,
                answer: None,
            };
            MissionEvent::Complete { step, attempt, report }
        }
        RunEnd::Failed => MissionEvent::Fail { step, attempt, reason: body.summary },
    };
    let about = CallDetails {
        crab: crab.map(str::to_owned),
        commit: commit.map(str::to_owned),
        ..CallDetails::default()
    };
    let outcome = mission_event(&gateway, caller.key, &run, event, about).await?;
    if matches!(outcome, ActorReply::Done { is_repeated: false, .. }) {
        gateway.trace(run.mission, Some((&run, end)));
    }
    let is_about_result =
        matches!(outcome, ActorReply::MissionRefused(Refusal::ResultNeeded | Refusal::ResultUndeclared));
    let allowed = known.plan.results_of(step);
    reported(outcome, &known, &run).map_err(|refused| match is_about_result && !allowed.is_empty() {
        true => refused.help(format!("report one of these in `result`: {}", allowed.join(", "))),
        false => refused,
    })
}

fn commit(commit: &str) -> Result<&str, ApiError> {
    let is_commit = (7..=64).contains(&commit.len()) && commit.bytes().all(|it| it.is_ascii_hexdigit());
    match is_commit {
        true => Ok(commit),
        false => Err(ApiError::bad("bad_field", "the field `commit` is not a commit")
            .help("give its hash, as `git rev-parse` prints it")),
    }
}

pub(super) async fn give_back(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    JsonInput(body): JsonInput<GiveBackBody>,
) -> Result<Json<Reported>, ApiError> {
    text("reason", &body.reason, gateway.settings.limits.text)?;
    let crab = id("crab_id", &body.crab_id)?.to_owned();
    let run = RunId::parse(&body.run_id)?;
    let (known, step) = gateway.run(&run, rights(&caller.holder)).await?;
    let event = SchedulerEvent::GiveBack {
        crab: crab.clone(),
        mission: run.mission.to_owned(),
        step,
        attempt: run.attempt,
        reason: body.reason,
    };
    let event = Event::Scheduler { id: known.colony.clone(), event };
    let about = CallDetails { crab: Some(crab), ..CallDetails::default() };
    let outcome = gateway.host.apply(ActorCall { key: caller.key, event, about }).await?;
    reported(outcome, &known, &run)
}

async fn mission_event(
    gateway: &Gateway,
    key: Option<String>,
    run: &RunId<'_>,
    event: MissionEvent,
    about: CallDetails,
) -> Result<ActorReply, ApiError> {
    let event = Event::Mission { id: run.mission.to_owned(), event };
    Ok(gateway.host.apply(ActorCall { key, event, about }).await?)
}

fn reported(outcome: ActorReply, known: &FixedFacts, run: &RunId<'_>) -> Result<Json<Reported>, ApiError> {
    let done = done(outcome, Some(known.plan), || unknown_run(&run.to_string()))?;
    let outcome = if done.is_repeated { ReportOutcome::Repeated } else { ReportOutcome::Accepted };
    Ok(Json(Reported { run_id: run.to_string(), outcome }))
}
