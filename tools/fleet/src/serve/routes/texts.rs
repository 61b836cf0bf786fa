//! The long texts of runs: what an agent has said and done, and what it has changed.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::rights;
use crate::host::{TextKind, TextOf};
use crate::serve::error::ApiError;
use crate::serve::gateway::{Gateway, unknown_run};
use crate::serve::input::{AuthorizedCaller, PathIds, Plain};
use crate::serve::run::RunId;

pub(super) async fn transcript(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(run): PathIds<String>,
) -> Result<Response, ApiError> {
    read(&gateway, &caller, &run, TextKind::Transcript).await
}

pub(super) async fn diff(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(run): PathIds<String>,
) -> Result<Response, ApiError> {
    read(&gateway, &caller, &run, TextKind::Diff).await
}

pub(super) async fn keep_transcript(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(run): PathIds<String>,
    Plain(text): Plain,
) -> Result<StatusCode, ApiError> {
    keep(&gateway, &caller, &run, TextKind::Transcript, text).await
}

pub(super) async fn keep_diff(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(run): PathIds<String>,
    Plain(text): Plain,
) -> Result<StatusCode, ApiError> {
    keep(&gateway, &caller, &run, TextKind::Diff, text).await
}

async fn read(
    gateway: &Gateway,
    caller: &AuthorizedCaller,
    run: &str,
    kind: TextKind,
) -> Result<Response, ApiError> {
    let of = text_of(gateway, caller, run, kind).await?;
    let text = gateway.host.text(of).await?.ok_or_else(|| {
        let shown = RunId::parse(run).map(|it| it.to_string()).unwrap_or_default();
        ApiError::not_found("no_text", format!("the run `{shown}` has no {}", kind.as_str()))
            .help("its crab sends it when its agent has ended, and not if there is nothing to show")
    })?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

async fn keep(
    gateway: &Gateway,
    caller: &AuthorizedCaller,
    run: &str,
    kind: TextKind,
    text: String,
) -> Result<StatusCode, ApiError> {
    let of = text_of(gateway, caller, run, kind).await?;
    match gateway.host.keep_text(of, text).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(unknown_run(run)),
    }
}

async fn text_of(
    gateway: &Gateway,
    caller: &AuthorizedCaller,
    run: &str,
    kind: TextKind,
) -> Result<TextOf, ApiError> {
    let run = RunId::parse(run)?;
    let (_, step) = gateway.run(&run, rights(&caller.holder)).await?;
    Ok(TextOf { mission: run.mission.to_owned(), step, attempt: run.attempt, kind })
}
