//! The gateway itself: whether it is alive, what it counts, and what it can follow.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use orange_api::gateway::{OfferAnswer, StatusAnswer, TickBody, Ticked, WorkflowList};

use super::{done, rights};
use crate::serve::answer;
use crate::serve::error::ApiError;
use crate::serve::gateway::Gateway;
use crate::serve::input::{AuthorizedCaller, JsonInput};
use crate::serve::timers::sweep_colony;

/// The description of the API, which a test holds against the routes and their answers.
pub const OPENAPI: &str = include_str!("../../../openapi.json");

pub(super) async fn healthz(State(gateway): State<Arc<Gateway>>) -> Result<&'static str, ApiError> {
    if gateway.is_stopping() { Err(ApiError::stopping()) } else { Ok("ok\n") }
}

pub(super) async fn metrics(State(gateway): State<Arc<Gateway>>) -> Result<Response, ApiError> {
    let counts = gateway.host.counts().await?;
    let text = gateway.metrics.text(&counts, *gateway.host.news().borrow());
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

pub(super) async fn status(State(gateway): State<Arc<Gateway>>) -> Result<Json<StatusAnswer>, ApiError> {
    let counts = gateway.host.counts().await?;
    Ok(Json(answer::status(counts, *gateway.host.news().borrow())))
}

pub(super) async fn workflows(State(gateway): State<Arc<Gateway>>) -> Json<WorkflowList> {
    Json(WorkflowList { workflows: gateway.workflows.all().map(answer::workflow).collect() })
}

pub(super) async fn tick(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    JsonInput(body): JsonInput<TickBody>,
) -> Result<Json<Ticked>, ApiError> {
    let colonies = match &body.colony_id {
        Some(asked) => vec![gateway.colony(asked, rights(&caller.holder)).await?],
        None => gateway.host.colonies().await?,
    };
    let mut offers = Vec::new();
    for colony in colonies {
        let outcome = sweep_colony(&gateway, &colony.id, None).await?;
        let done = done(outcome, None, || {
            ApiError::not_found("unknown_colony", "the colony is not there any more")
        })?;
        for (crab_id, item) in done.offers {
            let Some(known) = gateway.known(&item.mission).await? else { continue };
            let run_id = format!("{}.{}.{}", item.mission, known.plan.step(item.step).id, item.attempt);
            offers.push(OfferAnswer { crab_id, run_id, role: item.role });
        }
    }
    Ok(Json(Ticked { offers }))
}
