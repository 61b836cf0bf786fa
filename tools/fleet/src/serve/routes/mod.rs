//! The calls of the API. The table is all of them: the router, the rights that each route needs and the test of `openapi.json` read it.

mod answers;
mod colonies;
mod crabs;
mod events;
mod general;
mod missions;
mod runs;
mod texts;

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodRouter, delete, get, post, put};
use orange_core::mission;
use serde::Deserialize;

pub use self::answers::answer_question;
pub use self::missions::{MissionAction, answer, start};
use super::auth::{self, AllowedCallers, TokenHolder};
use super::error::ApiError;
use super::gateway::Gateway;
use super::listen::Peer;
use super::traces::{self, AnsweredRequest};
use crate::host::ActorReply;

pub struct ApiRoute {
    pub method: &'static str,
    /// Its path, with the names of its ids.
    pub path: &'static str,
    /// Callers that may make it.
    pub who: AllowedCallers,
    handler: fn() -> MethodRouter<Arc<Gateway>>,
}

const fn route(
    method: &'static str,
    path: &'static str,
    who: AllowedCallers,
    handler: fn() -> MethodRouter<Arc<Gateway>>,
) -> ApiRoute {
    ApiRoute { method, path, who, handler }
}

/// Every call of the API.
pub const ROUTES: &[ApiRoute] = &[
    route("GET", "/healthz", AllowedCallers::Everybody, || get(general::healthz)),
    route("GET", "/metrics", AllowedCallers::Readers, || get(general::metrics)),
    route("GET", "/v1/openapi.json", AllowedCallers::Members, || get(general::openapi)),
    route("GET", "/v1/status", AllowedCallers::Readers, || get(general::status)),
    route("GET", "/v1/workflows", AllowedCallers::Readers, || get(general::workflows)),
    route("POST", "/v1/scheduler/tick", AllowedCallers::People, || post(general::tick)),
    route("GET", "/v1/colonies", AllowedCallers::Readers, || get(colonies::list)),
    route("POST", "/v1/colonies", AllowedCallers::People, || post(colonies::create)),
    route("GET", "/v1/crabs", AllowedCallers::Readers, || get(crabs::list)),
    route("POST", "/v1/crabs/register", AllowedCallers::Crabs, || post(crabs::register)),
    route("DELETE", "/v1/crabs/{crab_id}", AllowedCallers::Crabs, || delete(crabs::remove)),
    route("GET", "/v1/crabs/{crab_id}/work", AllowedCallers::Crabs, || get(crabs::work)),
    route("POST", "/v1/crabs/{crab_id}/poll", AllowedCallers::Crabs, || post(crabs::poll)),
    route("POST", "/v1/crabs/{crab_id}/heartbeat", AllowedCallers::Crabs, || post(crabs::heartbeat)),
    route("GET", "/v1/runs", AllowedCallers::Readers, || get(runs::list)),
    route("GET", "/v1/runs/{run_id}", AllowedCallers::Members, || get(runs::get)),
    route("POST", "/v1/runs/start", AllowedCallers::Crabs, || post(runs::start)),
    route("POST", "/v1/runs/complete", AllowedCallers::Crabs, || post(runs::complete)),
    route("POST", "/v1/runs/give-back", AllowedCallers::Crabs, || post(runs::give_back)),
    route("GET", "/v1/runs/{run_id}/transcript", AllowedCallers::Readers, || get(texts::transcript)),
    route("PUT", "/v1/runs/{run_id}/transcript", AllowedCallers::Crabs, || put(texts::keep_transcript)),
    route("GET", "/v1/runs/{run_id}/diff", AllowedCallers::Readers, || get(texts::diff)),
    route("PUT", "/v1/runs/{run_id}/diff", AllowedCallers::Crabs, || put(texts::keep_diff)),
    route("GET", "/v1/missions", AllowedCallers::Readers, || get(missions::list)),
    route("POST", "/v1/missions", AllowedCallers::People, || post(missions::create)),
    route("GET", "/v1/missions/{mission_id}", AllowedCallers::Readers, || get(missions::show)),
    route("GET", "/v1/missions/{mission_id}/events", AllowedCallers::Readers, || get(events::of_mission)),
    route("POST", "/v1/missions/{mission_id}/continue", AllowedCallers::People, || post(missions::go_on)),
    route("POST", "/v1/missions/{mission_id}/answers", AllowedCallers::People, || post(answers::create)),
    route("POST", "/v1/missions/{mission_id}/retry", AllowedCallers::People, || post(missions::retry)),
    route("POST", "/v1/missions/{mission_id}/cancel", AllowedCallers::People, || post(missions::cancel)),
    route("GET", "/v1/tasks", AllowedCallers::Readers, || get(missions::tasks)),
    route("GET", "/v1/events", AllowedCallers::Readers, || get(events::all)),
];

/// The path of the call, for what counts requests.
#[derive(Clone, Copy)]
struct PathTemplate(&'static str);

/// The routes, behind their authentication. `pages` are served beside them and authenticate by themselves.
pub fn router(gateway: &Arc<Gateway>, pages: Option<Router>) -> Router {
    let mut router = Router::new();
    for it in ROUTES {
        let handler = (it.handler)()
            .route_layer(middleware::from_fn_with_state(it.who, auth::admit))
            .route_layer(middleware::from_fn_with_state(PathTemplate(it.path), named));
        router = router.route(it.path, handler);
    }
    let router = router.method_not_allowed_fallback(other_method).with_state(Arc::clone(gateway));
    let router = match pages {
        Some(pages) => router.merge(pages),
        None => router,
    };
    router
        .fallback(nothing_here)
        .layer(middleware::from_fn_with_state(Arc::clone(gateway), auth::guard))
        .layer(middleware::from_fn_with_state(Arc::clone(gateway), watched))
}

/// For paths that nobody serves.
async fn nothing_here(request: Request) -> ApiError {
    let path: String = request.uri().path().chars().take(100).collect();
    ApiError::not_found("no_such_path", format!("there is nothing at {}", path.escape_debug()))
        .help("GET /v1/openapi.json lists every path")
}

async fn other_method(request: Request) -> ApiError {
    let path = request.uri().path();
    let message = format!(
        "{} is not a method of {}",
        request.method(),
        path.chars().take(100).collect::<String>().escape_debug()
    );
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
        .help("the header Allow has the methods of this path")
}

async fn named(State(template): State<PathTemplate>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.extensions_mut().insert(template);
    response
}

/// Counts and logs every request.
async fn watched(State(gateway): State<Arc<Gateway>>, request: Request, next: Next) -> Response {
    let (began, time) = (Instant::now(), SystemTime::now());
    let parent = traces::parent(request.headers());
    let _open = gateway.metrics.request();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let peer = request.extensions().get::<Peer>().map(|it| it.0.to_string()).unwrap_or_default();
    let response = next.run(request).await;
    let (status, took) = (response.status(), began.elapsed());
    let known = response.extensions().get::<PathTemplate>().map(|it| it.0);
    match known {
        Some(template) => gateway.metrics.answered(template, method.as_str(), status.as_u16(), took),
        None => gateway.metrics.answered("other", "other", status.as_u16(), took),
    }
    gateway.traces.request(&AnsweredRequest { method: &method, route: known, parent, status, began: time });
    let level = match status.as_u16() {
        500.. => log::Level::Error,
        400.. => log::Level::Info,
        _ => log::Level::Debug,
    };
    log::log!(level,
        method = method.as_str(), path = path.as_str(), status = status.as_u16(), ms = took.as_millis() as u64, peer = peer.as_str();
        "request");
    response
}

/// Result of an event that happened.
#[derive(Debug)]
struct DoneEvent {
    version: u64,
    mission: Option<String>,
    is_repeated: bool,
    answered: Option<mission::AnswerEffect>,
    offers: Vec<(String, orange_core::scheduler::Item)>,
}

/// Result of a call, or the answer to one that was refused. `plan` is that of the mission.
fn done(
    outcome: ActorReply,
    plan: Option<&orange_core::plan::Plan<'_>>,
    not_found: impl FnOnce() -> ApiError,
) -> Result<DoneEvent, ApiError> {
    match outcome {
        ActorReply::Done { version, mission, is_repeated, answered, offers } => {
            Ok(DoneEvent { version, mission, is_repeated, answered, offers })
        }
        ActorReply::MissionRefused(refusal) => Err(match plan {
            Some(plan) => ApiError::of_mission(&refusal, plan),
            None => ApiError::conflict("refused", "the mission refuses it"),
        }),
        ActorReply::SchedulerRefused(refusal) => Err(ApiError::of_scheduler(&refusal)),
        ActorReply::NotFound => Err(not_found()),
        ActorReply::Conflict => Err(ApiError::other_content()),
        ActorReply::BranchTaken { mission } => Err(ApiError::branch_taken(&mission)),
    }
}

/// The longest page.
const LONGEST_PAGE: u32 = 500;

/// The entries of a page where the caller names no number.
const PAGE: u32 = 50;

/// Number of entries of a page.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u32")]
struct PageLimit(u32);

impl Default for PageLimit {
    fn default() -> PageLimit {
        PageLimit(PAGE)
    }
}

impl TryFrom<u32> for PageLimit {
    type Error = String;

    fn try_from(limit: u32) -> Result<PageLimit, String> {
        match (1..=LONGEST_PAGE).contains(&limit) {
            true => Ok(PageLimit(limit)),
            false => Err(format!("a page has 1 to {LONGEST_PAGE} entries")),
        }
    }
}

impl PageLimit {
    /// The entries of a page, and what comes after it, if one more was found than it takes.
    fn page<T>(self, mut found: Vec<T>, key: impl Fn(&T) -> String) -> (Vec<T>, Option<String>) {
        let length = usize::try_from(self.0).unwrap_or(usize::MAX);
        let has_more = found.len() > length;
        found.truncate(length);
        let next = found.last().filter(|_| has_more).map(key);
        (found, next)
    }
}

/// Rights that say what a token's holder may see.
fn rights(holder: &Arc<TokenHolder>) -> &super::auth::Rights {
    &holder.rights
}
