//! Crabs: they register, wait for work, and say that they are alive.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::StatusCode;
use axum::response::Response;
use orange_api::gateway::{
    CrabAnswer, Crabs, HeartbeatAnswer, HeartbeatBody, Messages, PollBody, RegisterBody, Registered,
};
use orange_core::scheduler::{Ability, Event as SchedulerEvent};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{PageLimit, done, rights};
use crate::host::{ActorCall, CallDetails, ColonyState, Event};
use crate::serve::answer;
use crate::serve::connected::Connection;
use crate::serve::error::ApiError;
use crate::serve::gateway::{Gateway, sees};
use crate::serve::input::{AuthorizedCaller, JsonInput, PathIds, StrictQuery, id, line};
use crate::serve::run::RunId;
use crate::serve::{heartbeats, names, work};

/// The longest name of a crab.
const LONGEST_NAME: usize = 100;

/// The most roles that a crab may have.
const MOST_ROLES: usize = 32;

/// The most runs that a heartbeat may name.
const MOST_RUNS: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CrabsQuery {
    colony: Option<String>,
    after: Option<String>,
    #[serde(default)]
    limit: PageLimit,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InColony {
    colony: Option<String>,
}

pub(super) async fn register(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    JsonInput(body): JsonInput<RegisterBody>,
) -> Result<Json<Registered>, ApiError> {
    let name = line("name", &body.name, LONGEST_NAME)?;
    let crab = match &body.crab_id {
        Some(crab) => id("crab_id", crab)?.to_owned(),
        None => new_id(caller.key.as_deref(), &caller.holder.id)?,
    };
    let roles = roles(&body)?;
    let abilities = body.abilities.iter().filter_map(|it| Ability::parse(it)).collect();
    let colony = gateway.colony(&body.colony_id, rights(&caller.holder)).await?.id;
    let event = SchedulerEvent::Register { crab: crab.clone(), roles: roles.clone(), abilities };
    let about =
        CallDetails { crab: Some(crab.clone()), name: Some(name.to_owned()), ..CallDetails::default() };
    let event = Event::Scheduler { id: colony.clone(), event };
    let outcome = gateway.host.apply(ActorCall { key: caller.key, event, about }).await?;
    done(outcome, None, || ApiError::not_found("unknown_colony", "the colony is not there any more"))?;
    gateway.remember_crab(&crab, &colony);
    Ok(Json(Registered {
        crab_id: crab,
        colony_id: colony,
        name: name.to_owned(),
        roles,
        heartbeat_ms: millis(gateway.settings.heartbeat_every()),
        poll_ms: millis(gateway.settings.limits.poll),
    }))
}

/// The roles of a crab, each once: the one in `role`, and those in `roles`.
fn roles(body: &RegisterBody) -> Result<Vec<String>, ApiError> {
    let mut roles: Vec<String> = Vec::new();
    for role in body.role.iter().chain(&body.roles) {
        let role = names::role(role)?;
        if !roles.iter().any(|it| it == role) {
            roles.push(role.to_owned());
        }
    }
    match roles.len() > MOST_ROLES {
        true => Err(ApiError::bad("bad_role", format!("a crab has at most {MOST_ROLES} roles"))
            .help("`any` takes every step")),
        false => Ok(roles),
    }
}

/// An id for a crab that names none. The same key gives the same id, so that a registration that is sent again is the same one.
fn new_id(key: Option<&str>, holder: &str) -> Result<String, ApiError> {
    let seed = match key {
        Some(key) => format!("{holder}/{key}").into_bytes(),
        None => orange_system::random::bytes::<32>()?.to_vec(),
    };
    let digest = Sha256::digest(&seed);
    Ok(digest.iter().take(10).map(|byte| format!("{byte:02x}")).collect())
}

pub(super) async fn list(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    StrictQuery(query): StrictQuery<CrabsQuery>,
) -> Result<Json<Crabs>, ApiError> {
    let colonies = match &query.colony {
        Some(asked) => vec![gateway.colony(asked, rights(&caller.holder)).await?],
        None => gateway.host.colonies().await?,
    };
    let mut ids: Vec<String> = colonies.into_iter().map(|it| it.id).collect();
    ids.sort();
    let mut found = Vec::new();
    let wanted = usize::try_from(query.limit.0).unwrap_or(usize::MAX);
    let after = query.after.as_deref().and_then(|it| it.split_once('/'));
    for colony in ids.into_iter().filter(|it| after.is_none_or(|(colony, _)| it.as_str() >= colony)) {
        if found.len() > wanted {
            break;
        }
        let Some(state) = gateway.host.colony(&colony).await? else { continue };
        let is_later = |crab: &str| after.is_none_or(|it| (colony.as_str(), crab) > it);
        found.extend(crabs(&gateway, &state, is_later).await?);
    }
    let (crabs, next) = query.limit.page(found, |it: &CrabAnswer| format!("{}/{}", it.colony_id, it.crab_id));
    Ok(Json(Crabs { crabs, next }))
}

/// The crabs of one colony.
async fn crabs(
    gateway: &Gateway,
    state: &ColonyState,
    is_asked: impl Fn(&str) -> bool,
) -> Result<Vec<CrabAnswer>, ApiError> {
    let mut found = Vec::new();
    for (id, crab) in state.scheduler.crabs.iter().filter(|(id, _)| is_asked(id)) {
        let about =
            state.crabs.iter().find(|(it, _, _)| it == id).map(|(_, name, heard)| (name.as_str(), *heard));
        let lease = crab.mission.as_ref().and_then(|it| state.scheduler.leases.get(it));
        let mut run = None;
        if let Some(lease) = lease
            && let Some(known) = gateway.known(&lease.item.mission).await?
            && let Some(step) = known.plan.steps.get(lease.item.step.index())
        {
            let id = RunId { mission: &lease.item.mission, step: step.id, attempt: lease.item.attempt };
            run = Some(id.to_string());
        }
        found.push(answer::crab(&state.colony.id, id, crab, about, run));
    }
    Ok(found)
}

pub(super) async fn remove(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(crab): PathIds<String>,
    StrictQuery(query): StrictQuery<InColony>,
) -> Result<StatusCode, ApiError> {
    let colony = gateway.colony_of_crab(&crab, query.colony.as_deref(), rights(&caller.holder)).await?;
    gateway.forget_crab(&crab);
    let event = Event::Scheduler { id: colony, event: SchedulerEvent::Leave { crab: crab.clone() } };
    let about = CallDetails { crab: Some(crab), ..CallDetails::default() };
    let outcome = gateway.host.apply(ActorCall { key: caller.key, event, about }).await?;
    done(outcome, None, || ApiError::of_scheduler(&orange_core::scheduler::Refusal::NoSuchCrab))?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn work(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(crab): PathIds<String>,
    StrictQuery(query): StrictQuery<InColony>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|rejection| {
        let message = format!("the call is not a WebSocket: {}", rejection.body_text());
        ApiError::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", message)
            .help("connect with a WebSocket, or wait with POST /v1/crabs/{crab_id}/poll")
    })?;
    if gateway.is_stopping() {
        return Err(ApiError::stopping());
    }
    let colony = gateway.colony_of_crab(&crab, query.colony.as_deref(), rights(&caller.holder)).await?;
    // A new connection waits for nothing before the crab says so; and only a registered crab has one.
    let event = SchedulerEvent::Unpark { crab: crab.clone() };
    let outcome = gateway.scheduler(&colony, event).await?;
    done(outcome, None, || ApiError::of_scheduler(&orange_core::scheduler::Refusal::NoSuchCrab))?;
    let limits = gateway.settings.limits;
    let upgrade = upgrade
        .read_buffer_size(4 << 10)
        .write_buffer_size(0)
        .max_message_size(limits.message)
        .max_frame_size(limits.message);
    let connection = Connection::new(&gateway, &colony, &crab);
    Ok(upgrade.on_upgrade(move |socket| work::socket(gateway, socket, connection, caller.holder)))
}

pub(super) async fn poll(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(crab): PathIds<String>,
    StrictQuery(query): StrictQuery<InColony>,
    JsonInput(body): JsonInput<PollBody>,
) -> Result<Json<Messages>, ApiError> {
    if gateway.is_stopping() {
        return Err(ApiError::stopping());
    }
    let colony = gateway.colony_of_crab(&crab, query.colony.as_deref(), rights(&caller.holder)).await?;
    let longest = gateway.settings.limits.poll;
    let wait = body.wait_ms.map_or(longest, |it| Duration::from_millis(it).min(longest));
    let connection = Connection::new(&gateway, &colony, &crab);
    let messages = work::poll(&gateway, connection, wait, &caller.holder).await?;
    Ok(Json(Messages { messages }))
}

pub(super) async fn heartbeat(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(crab): PathIds<String>,
    StrictQuery(query): StrictQuery<InColony>,
    JsonInput(body): JsonInput<HeartbeatBody>,
) -> Result<Json<HeartbeatAnswer>, ApiError> {
    if body.runs.len() > MOST_RUNS {
        return Err(ApiError::bad("bad_field", format!("`runs` names more than {MOST_RUNS} runs"))
            .help("a crab has one run at a time"));
    }
    let colony = match gateway.colony_of_crab(&crab, query.colony.as_deref(), rights(&caller.holder)).await {
        Ok(colony) => colony,
        // Nobody knows it any more: its runs have ended.
        Err(error) if error.code == "unknown_crab" => {
            return Ok(Json(HeartbeatAnswer { ended: body.runs, is_registered: false }));
        }
        Err(error) => return Err(error),
    };
    debug_assert!(sees(rights(&caller.holder), &colony));
    heartbeats::heartbeat(&gateway, &colony, &crab, body.runs).await.map(Json)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
