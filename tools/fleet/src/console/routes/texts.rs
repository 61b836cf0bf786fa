//! Long texts whole, as plain text: a browser shows them, and nothing in them is more than text.

use axum::extract::{Path, Query};
use axum::http::header;
use axum::response::IntoResponse;
use orange_core::mission::AttemptEnd;
use serde::Deserialize;

use super::mission::{prompt_of, step_of};
use super::{PageResult, Visit, missing};
use crate::console::view::words;
use crate::host::{TextKind, TextOf};

pub(super) async fn prompt(visit: Visit, Path(id): Path<String>) -> PageResult {
    plain(visit.mission(&id).await?.prompt)
}

/// The pause whose reason is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReasonQuery {
    /// The number of the pause; the oldest open one by default.
    pause: Option<u32>,
}

pub(super) async fn reason(
    visit: Visit,
    Path(id): Path<String>,
    Query(asked): Query<ReasonQuery>,
) -> PageResult {
    let stored = visit.mission(&id).await?;
    let mut open = stored.mission.questions.iter();
    let pause = open.find(|it| asked.pause.is_none_or(|number| number == it.number));
    plain(pause.map(|it| words::reason(stored.plan, &stored.mission, it)).unwrap_or_default())
}

pub(super) async fn step_prompt(visit: Visit, Path((id, step)): Path<(String, String)>) -> PageResult {
    let stored = visit.mission(&id).await?;
    let step = step_of(&stored, &step)?;
    plain(prompt_of(&visit, &stored, step).await?)
}

pub(super) async fn context(visit: Visit, Path((id, step)): Path<(String, String)>) -> PageResult {
    let stored = visit.mission(&id).await?;
    let step = step_of(&stored, &step)?;
    plain(stored.mission.context(stored.plan, step))
}

/// A part of what an attempt has reported, or what its crab has sent of it.
pub(super) async fn part(
    visit: Visit,
    Path((id, step, attempt, part)): Path<(String, String, u32, String)>,
) -> PageResult {
    let stored = visit.mission(&id).await?;
    let step = step_of(&stored, &step)?;
    let address = format!("/console/missions/{id}");
    let kinds = [TextKind::Transcript, TextKind::Diff];
    if let Some(kind) = kinds.into_iter().find(|it| it.as_str() == part) {
        let found = visit.text(TextOf { mission: id, step, attempt, kind }).await?;
        return plain(found.ok_or_else(|| missing("text", &part, (&address, "The mission")))?);
    }
    let state = stored.mission.step(step);
    let attempt = attempt.checked_sub(1).and_then(|index| state.attempts.get(index as usize));
    let text = attempt.and_then(|it| match (it.end.as_ref()?, part.as_str()) {
        (AttemptEnd::Completed(report), "summary") => Some(report.summary.clone()),
        (AttemptEnd::Completed(report), "warning") => report.warning.clone(),
        (AttemptEnd::Failed { reason } | AttemptEnd::Rejected { reason, .. }, "reason") => {
            Some(reason.clone())
        }
        (
            AttemptEnd::Completed(_)
            | AttemptEnd::Failed { .. }
            | AttemptEnd::Rejected { .. }
            | AttemptEnd::Lost
            | AttemptEnd::Abandoned
            | AttemptEnd::Withdrawn,
            _,
        ) => None,
    });
    plain(text.ok_or_else(|| missing("text", &part, (&address, "The mission")))?)
}

fn plain(text: String) -> PageResult {
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
