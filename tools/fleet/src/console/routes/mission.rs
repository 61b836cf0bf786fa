//! The pages of one mission.

use axum::extract::{Path, Query};
use orange_core::plan::{StepId, StepValues};
use serde::Deserialize;

use super::{PageResult, Visit, missing, names_of_crabs, now, shown, unanswered};
use crate::console::guard::HandlerFailure;
use crate::console::view::attempt::AttemptPage;
use crate::console::view::attempts;
use crate::console::view::history::{History, RECORDS};
use crate::console::view::mission::MissionPage;
use crate::console::view::step::StepPage;
use crate::host::{StoredMission, TextKind, TextOf};

/// Placeholder that stays in a prompt, since only the crab can fill it in.
const WORKTREE: &str = "{{worktree_path}}";

/// Query of a page, beside the mission.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MissionQuery {
    /// Action that was just taken: a word that [`said`] knows.
    said: String,
    /// Number of the record after which the history begins.
    after: u64,
    /// Number of attempts that are left out.
    skip: usize,
}

pub(super) async fn page(
    visit: Visit,
    Path(id): Path<String>,
    Query(asked): Query<MissionQuery>,
) -> PageResult {
    let frame = visit.frame().await?;
    let stored = visit.mission(&id).await?;
    let state = visit.colony(&stored.row.colony).await?;
    let page = MissionPage {
        stored: &stored,
        colony: state.as_ref().map(|it| &it.colony),
        crabs: &names_of_crabs(state.as_ref()),
        waits: state.as_ref().and_then(|it| it.why_waits(&stored)),
        said: said(&asked.said),
        person: &visit.person()?,
        seal: visit.seal(),
        now: now(),
    };
    shown(&page.page(), &frame)
}

/// Sentence about the action that a person has just taken. Only these sentences can come from an address.
fn said(word: &str) -> Option<&'static str> {
    Some(match word {
        "started" => "The mission is started.",
        "went-on" => "The mission goes on.",
        "again" => "The step is tried again.",
        "granted" => "The loop has one more round.",
        "accepted" => "The failure counts.",
        "extended" => "The mission has as many attempts again.",
        "capped" => "No step starts any more.",
        "answered" => "The question is answered.",
        "retried" => "The mission runs again.",
        "cancelled" => "The mission is cancelled.",
        _ => return None,
    })
}

pub(super) async fn step(
    visit: Visit,
    Path((id, step)): Path<(String, String)>,
    Query(asked): Query<MissionQuery>,
) -> PageResult {
    let frame = visit.frame().await?;
    let stored = visit.mission(&id).await?;
    let step = step_of(&stored, &step)?;
    let crabs = visit.crabs(&stored.row.colony).await?;
    let page = StepPage {
        prompt: prompt_of(&visit, &stored, step).await?,
        context: stored.mission.context(stored.plan, step),
        stored: &stored,
        step,
        crabs: &crabs,
        now: now(),
        skip: asked.skip,
    };
    shown(&page.page(), &frame)
}

pub(super) async fn attempt(
    visit: Visit,
    Path((id, name, number)): Path<(String, String, u32)>,
) -> PageResult {
    let frame = visit.frame().await?;
    let stored = visit.mission(&id).await?;
    let step = step_of(&stored, &name)?;
    let crabs = visit.crabs(&stored.row.colony).await?;
    let tried = attempts::of_step(&stored, step, &crabs, now()).into_iter().find(|it| it.number() == number);
    let address = format!("/console/missions/{id}/steps/{name}");
    let tried = tried.ok_or_else(|| missing("attempt", &number.to_string(), (&address, "The step")))?;
    let of = |kind| TextOf { mission: id.clone(), step, attempt: number, kind };
    let page = AttemptPage {
        stored: &stored,
        step: stored.plan.step(step).id,
        title: format!("{name} #{number}"),
        tried,
        diff: visit.text(of(TextKind::Diff)).await?,
        transcript: visit.text(of(TextKind::Transcript)).await?,
    };
    shown(&page.page(), &frame)
}

/// The step of this name.
pub(super) fn step_of(stored: &StoredMission, name: &str) -> Result<StepId, HandlerFailure> {
    let address = format!("/console/missions/{}", stored.row.id);
    stored.plan.step_named(name).ok_or_else(|| missing("step", name, (&address, "The mission")))
}

/// The prompt of the current attempt of a step, as far as the gateway knows it.
pub(super) async fn prompt_of(
    visit: &Visit,
    stored: &StoredMission,
    id: StepId,
) -> Result<String, HandlerFailure> {
    let colonies = visit.console.host.colonies().await.map_err(unanswered)?;
    let colony = colonies.iter().find(|it| it.id == stored.row.colony);
    let step = stored.plan.step(id);
    Ok(step.prompt.render(&StepValues {
        mission_prompt: &stored.prompt,
        worktree_path: WORKTREE,
        context: &stored.mission.context(stored.plan, id),
        step: step.id,
        attempt: stored.mission.step(id).attempt().max(1),
        branch: &stored.row.branch,
        base: &format!("origin/{}", colony.and_then(|it| it.base.as_deref()).unwrap_or("HEAD")),
        item: "",
        reads: &stored.mission.reads(stored.plan, &step.prompt),
    }))
}

pub(super) async fn history(
    visit: Visit,
    Path(id): Path<String>,
    Query(asked): Query<MissionQuery>,
) -> PageResult {
    let frame = visit.frame().await?;
    let stored = visit.mission(&id).await?;
    let crabs = visit.crabs(&stored.row.colony).await?;
    let asked_for = u32::try_from(RECORDS + 1).unwrap_or(u32::MAX);
    let found = visit.console.host.records(asked.after, Some(id), asked_for).await;
    let mut records = found.map_err(unanswered)?;
    let has_more = records.len() > RECORDS;
    records.truncate(RECORDS);
    let page = History { row: &stored.row, records: &records, has_more, crabs: &crabs, now: now() };
    shown(&page.page(), &frame)
}
