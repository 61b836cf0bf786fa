//! Missions: people start them, look at them, and answer what they ask.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use orange_api::gateway::{
    Acted, ContinueBody, MissionAnswer, MissionLine, Missions, NewMissionBody, Nothing, PauseEffect,
    RetryBody, Tasks,
};
use orange_codegen::suggest;
use orange_core::mission::{AnswerEffect, Event as MissionEvent, MissionStatus, Refusal};
use orange_core::plan::{Execution, Intervene, Policy, Step};
use serde::Deserialize;

use super::{PageLimit, done, rights};
use crate::host::{ActorCall, CallDetails, Event, MissionFilter, NewMission, StoredMission};
use crate::serve::answer;
use crate::serve::auth::Rights;
use crate::serve::error::ApiError;
use crate::serve::gateway::{FixedFacts, Gateway};
use crate::serve::input::{AuthorizedCaller, JsonInput, LONGEST_ID, PathIds, StrictQuery, text};
use crate::serve::names;

/// The longest text that missions are searched for.
const LONGEST_SEARCH: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MissionListQuery {
    colony: Option<String>,
    status: Option<String>,
    q: Option<String>,
    #[serde(default)]
    asks: bool,
    after: Option<String>,
    #[serde(default)]
    limit: PageLimit,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfMission {
    mission: String,
}

/// Request of a person to a mission.
#[derive(Clone, Debug)]
pub enum MissionAction {
    /// The answer to a pause.
    Continue {
        pause: Option<u32>,
        /// True if the failure is taken as it is.
        accept_failure: bool,
        /// The policy from now on.
        execution: Option<Execution>,
        /// The policy from now on.
        intervene: Option<Intervene>,
    },
    /// Run it again, from this step.
    Retry(Option<String>),
    Cancel,
}

pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    JsonInput(body): JsonInput<NewMissionBody>,
) -> Result<(StatusCode, Json<MissionAnswer>), ApiError> {
    let id = start(&gateway, caller.key, rights(&caller.holder), body).await?;
    let stored = stored(&gateway, &id).await?;
    Ok((StatusCode::CREATED, Json(stored.into())))
}

/// Starts a mission, and returns its id.
///
/// # Errors
/// The answer to a mission that cannot be started.
pub async fn start(
    gateway: &Gateway,
    key: Option<String>,
    rights: &Rights,
    body: NewMissionBody,
) -> Result<String, ApiError> {
    let NewMissionBody { colony_id, prompt, workflow, branch, execution, intervene, inputs } = body;
    text("prompt", &prompt, gateway.settings.limits.text)?;
    if prompt.trim().is_empty() {
        return Err(ApiError::bad("no_prompt", "`prompt` is empty").help("say what is to be done"));
    }
    let plan = gateway.workflows.named(&workflow)?;
    if plan.is_concurrent() || plan.steps.iter().any(Step::is_fan_out) {
        let message =
            format!("`{workflow}` has steps that work side by side, and a fleet does one after the other");
        return Err(ApiError::new(StatusCode::NOT_IMPLEMENTED, "unsupported", message)
            .help("`orange mission start` runs it on one machine"));
    }
    let branch = branch.as_deref().map(|it| names::branch("branch", it)).transpose()?.map(str::to_owned);
    let policy = Policy {
        execution: self::execution(execution.as_deref())?.unwrap_or(plan.policy.execution),
        intervene: self::intervene(intervene.as_deref())?.unwrap_or(plan.policy.intervene),
    };
    let inputs = plan.start_inputs(plan.read_texts(inputs)).map_err(|fault| {
        ApiError::bad("bad_inputs", fault.words("input"))
            .help("give `inputs` as an object with the values that the workflow declares")
    })?;
    let colony = gateway.colony(&colony_id, rights).await?;
    if let Some(base) = branch.as_ref().filter(|it| colony.base.as_ref() == Some(*it)) {
        return Err(on_base(base));
    }
    let colony = colony.id;
    let outcome =
        gateway.host.create_mission(NewMission { key, colony, plan, prompt, branch, policy, inputs }).await?;
    let made = done(outcome, Some(plan), || {
        ApiError::not_found("unknown_colony", "the colony is not there any more")
    })?;
    made.mission.ok_or_else(|| ApiError::conflict("not_made", "the store has made no mission"))
}

fn on_base(branch: &str) -> ApiError {
    let message =
        format!("the work of this colony starts from `{branch}`, and a mission is on another branch");
    ApiError::bad("bad_branch", message)
        .help("name another branch, or none: the mission makes one of its own")
}

pub(super) async fn list(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    StrictQuery(query): StrictQuery<MissionListQuery>,
) -> Result<Json<Missions>, ApiError> {
    let MissionListQuery { colony, status, q, asks, after, limit } = query;
    let colony = match colony {
        Some(asked) => Some(gateway.colony(&asked, rights(&caller.holder)).await?.id),
        None => None,
    };
    if let Some(q) = &q {
        text("q", q, LONGEST_SEARCH)?;
    }
    let statuses = statuses(status.as_deref())?;
    let filter = MissionFilter {
        colony,
        statuses,
        text: q.filter(|it| !it.is_empty()),
        asks,
        before: after,
        limit: limit.0 + 1,
    };
    let found: Vec<MissionLine> =
        gateway.host.missions(filter).await?.into_iter().map(MissionLine::from).collect();
    let (missions, next) = limit.page(found, |it| it.mission_id.clone());
    Ok(Json(Missions { missions, next }))
}

fn statuses(asked: Option<&str>) -> Result<Vec<String>, ApiError> {
    let known = MissionStatus::ALL.map(MissionStatus::as_str);
    let status = |word: &str| match known.contains(&word) {
        true => Ok(word.to_owned()),
        false => Err(unknown_word("unknown_status", "status", "statuses", word, &known)),
    };
    asked.into_iter().flat_map(|it| it.split(',')).map(|it| status(it.trim())).collect()
}

pub(super) async fn show(
    State(gateway): State<Arc<Gateway>>,
    PathIds(id): PathIds<String>,
) -> Result<Json<MissionAnswer>, ApiError> {
    let stored = stored(&gateway, &id).await?;
    let colony = gateway.host.colony(&stored.row.colony).await?;
    let waits = colony.and_then(|it| it.why_waits(&stored));
    Ok(Json(MissionAnswer { waits, ..stored.into() }))
}

pub(super) async fn tasks(
    State(gateway): State<Arc<Gateway>>,
    StrictQuery(query): StrictQuery<OfMission>,
) -> Result<Json<Tasks>, ApiError> {
    let stored = stored(&gateway, &query.mission).await?;
    Ok(Json(Tasks { tasks: answer::tasks(&stored) }))
}

pub(super) async fn go_on(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(id): PathIds<String>,
    JsonInput(body): JsonInput<ContinueBody>,
) -> Result<Json<Acted>, ApiError> {
    let ContinueBody { pause, accept_failure, execution, intervene } = body;
    let execution = self::execution(execution.as_deref())?;
    let intervene = self::intervene(intervene.as_deref())?;
    let asked = MissionAction::Continue { pause, accept_failure, execution, intervene };
    answer(&gateway, caller.key, &id, asked).await.map(Json)
}

pub(super) async fn retry(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(id): PathIds<String>,
    JsonInput(body): JsonInput<RetryBody>,
) -> Result<Json<Acted>, ApiError> {
    answer(&gateway, caller.key, &id, MissionAction::Retry(body.step)).await.map(Json)
}

pub(super) async fn cancel(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(id): PathIds<String>,
    JsonInput(_): JsonInput<Nothing>,
) -> Result<Json<Acted>, ApiError> {
    answer(&gateway, caller.key, &id, MissionAction::Cancel).await.map(Json)
}

/// Does what a person asks of a mission.
///
/// # Errors
/// The answer to what the mission refuses.
pub async fn answer(
    gateway: &Gateway,
    key: Option<String>,
    id: &str,
    asked: MissionAction,
) -> Result<Acted, ApiError> {
    let FixedFacts { plan, .. } = gateway.known(id).await?.ok_or_else(|| unknown_mission(id))?;
    let event = match asked {
        MissionAction::Continue { pause, accept_failure, execution, intervene } => {
            MissionEvent::Continue { pause, accept_failure, execution, intervene }
        }
        MissionAction::Retry(None) => MissionEvent::Retry { step: None },
        MissionAction::Retry(Some(name)) => {
            let ids = plan.steps.iter().map(|it| it.id);
            let step = plan.step_named(&name).ok_or_else(|| {
                let refused = ApiError::of_mission(&Refusal::NoSuchStep, plan);
                let help = suggest::help(&name, "steps", ids.clone());
                let own = refused.help.clone();
                refused.help(help.unwrap_or(own))
            })?;
            MissionEvent::Retry { step: Some(step) }
        }
        MissionAction::Cancel => MissionEvent::Cancel,
    };
    let call =
        ActorCall { key, event: Event::Mission { id: id.to_owned(), event }, about: CallDetails::default() };
    let done = done(gateway.host.apply(call).await?, Some(plan), || unknown_mission(id))?;
    gateway.trace(id, None);
    let step = |it| Some(plan.step(it).id.to_owned());
    let (answered, step_id) = match done.answered {
        None => (None, None),
        Some(AnswerEffect::WentOn) => (Some(PauseEffect::WentOn), None),
        Some(AnswerEffect::TriedAgain(it)) => (Some(PauseEffect::TriedAgain), step(it)),
        Some(AnswerEffect::Granted(it)) => (Some(PauseEffect::Granted), step(it)),
        Some(AnswerEffect::Accepted(it)) => (Some(PauseEffect::Accepted), step(it)),
        Some(AnswerEffect::Extended) => (Some(PauseEffect::Extended), None),
        Some(AnswerEffect::Capped) => (Some(PauseEffect::Capped), None),
    };
    Ok(Acted { mission_id: id.to_owned(), version: done.version, answered, step_id })
}

/// A mission, whole.
pub(super) async fn stored(gateway: &Gateway, id: &str) -> Result<StoredMission, ApiError> {
    gateway.host.mission(id).await?.ok_or_else(|| unknown_mission(id))
}

/// The answer about a mission that is not there.
pub(super) fn unknown_mission(id: &str) -> ApiError {
    let shown: String = id.chars().take(LONGEST_ID).collect();
    ApiError::not_found("unknown_mission", format!("there is no mission `{}`", shown.escape_debug())).help(
        "`orange-fleet mission list` and GET /v1/missions list them; those that ended long ago are removed",
    )
}

fn execution(word: Option<&str>) -> Result<Option<Execution>, ApiError> {
    let Some(word) = word else { return Ok(None) };
    let known = Execution::ALL.map(Execution::as_str);
    let unknown = || unknown_word("unknown_execution", "execution", "values of `execution`", word, &known);
    Execution::from_name(word).map(Some).ok_or_else(unknown)
}

fn intervene(word: Option<&str>) -> Result<Option<Intervene>, ApiError> {
    let Some(word) = word else { return Ok(None) };
    let known = Intervene::ALL.map(Intervene::as_str);
    let unknown = || unknown_word("unknown_intervene", "intervene", "values of `intervene`", word, &known);
    Intervene::from_name(word).map(Some).ok_or_else(unknown)
}

fn unknown_word(code: &'static str, field: &str, kind: &str, word: &str, known: &[&'static str]) -> ApiError {
    let shown: String = word.chars().take(100).collect();
    let error = ApiError::bad(code, format!("`{field}` cannot be `{}`", shown.escape_debug()));
    error.help(suggest::help(word, kind, known.iter().copied()).unwrap_or_default())
}
