//! Colonies: people make and list them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use orange_api::gateway::{Colonies, ColonyAnswer, NewColonyBody};
use serde::Deserialize;

use super::PageLimit;
use crate::host::NewColony;
use crate::serve::error::ApiError;
use crate::serve::gateway::Gateway;
use crate::serve::input::{JsonInput, StrictQuery, line};
use crate::serve::names;

/// The longest name of a colony.
const LONGEST_NAME: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColoniesQuery {
    after: Option<String>,
    #[serde(default)]
    limit: PageLimit,
}

pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    JsonInput(body): JsonInput<NewColonyBody>,
) -> Result<(StatusCode, Json<ColonyAnswer>), ApiError> {
    let name = line("name", &body.name, LONGEST_NAME)?.to_owned();
    let repository = names::repository(&body.repository)?.to_owned();
    let base = body.base.as_deref().map(|it| names::branch("base", it)).transpose()?.map(str::to_owned);
    let new = NewColony { name, repository, base };
    let colony = gateway.host.create_colony(new.clone()).await?;
    if (&colony.repository, &colony.base) != (&new.repository, &new.base) {
        let message = format!("there is a colony `{}` with another repository or base", colony.name);
        return Err(ApiError::conflict("colony_exists", message).help("give the new one another name"));
    }
    Ok((StatusCode::CREATED, Json(colony.into())))
}

pub(super) async fn list(
    State(gateway): State<Arc<Gateway>>,
    StrictQuery(query): StrictQuery<ColoniesQuery>,
) -> Result<Json<Colonies>, ApiError> {
    let colonies = gateway.host.colonies().await?;
    let is_later = |name: &str| query.after.as_deref().is_none_or(|after| name > after);
    let found = colonies.into_iter().filter(|it| is_later(&it.name)).map(ColonyAnswer::from).collect();
    let (colonies, next) = query.limit.page(found, |it: &ColonyAnswer| it.name.clone());
    Ok(Json(Colonies { colonies, next }))
}
