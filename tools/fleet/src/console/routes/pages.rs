//! The pages that show more than one mission, and the form that starts one.

use axum::extract::{Path, Query, State};
use orange_core::mission::MissionStatus;
use serde::Deserialize;

use super::{Console, PageResult, Visit, count, missing, now, shown, unanswered};
use crate::console::guard::HandlerFailure;
use crate::console::view::colonies::{ColoniesPage, CrabWork};
use crate::console::view::forms::Seal;
use crate::console::view::inbox::{Faulty, Inbox};
use crate::console::view::missions::{MissionsPage, MissionsQuery};
use crate::console::view::start::{Filled, StartPage};
use crate::console::view::workflows;
use crate::host::{ColonyState, MissionFilter, StoredMission};

/// Numbers of missions that the inbox shows: those that wait, and those that have failed.
const WAITING: u32 = 20;
const FAILED: u32 = 10;

/// Number of crabs with a fault that the inbox shows.
const FAULTY: usize = 10;

/// Number of missions that a page of the list shows.
const LISTED: u32 = 50;

/// Number of crabs whose work is looked up.
const LOOKED_UP: usize = 200;

pub(super) async fn inbox(visit: Visit) -> PageResult {
    let frame = visit.frame().await?;
    let counts = visit.console.host.counts().await.map_err(unanswered)?;
    let inbox = Inbox {
        waiting: with_status(&visit, "paused", WAITING).await?,
        asking: asking(&visit, WAITING).await?,
        failed: with_status(&visit, "failed", FAILED).await?,
        counts: (count(&counts.missions, "paused"), counts.asking, count(&counts.missions, "failed")),
        under_way: (count(&counts.missions, "running"), count(&counts.missions, "pending")),
        steps: counts.waiting,
        crabs: counts.crabs,
        faulty: if counts.crabs[3] > 0 { with_fault(&visit).await? } else { Vec::new() },
    };
    shown(&inbox.page(), &frame)
}

/// The first crabs that cannot start steps.
async fn with_fault(visit: &Visit) -> Result<Vec<Faulty>, HandlerFailure> {
    let mut found = Vec::new();
    for colony in visit.console.host.colonies().await.map_err(unanswered)? {
        let Some(state) = visit.console.host.colony(&colony.id).await.map_err(unanswered)? else { continue };
        for (id, crab) in &state.scheduler.crabs {
            let Some(fault) = crab.fault.clone() else { continue };
            let name = state.name_of(id).to_owned();
            found.push(Faulty { name, colony: colony.id.clone(), fault });
            if found.len() == FAULTY {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// The newest missions with a status, whole, each with the seal of its form.
async fn with_status<'v>(
    visit: &'v Visit,
    status: &str,
    limit: u32,
) -> Result<Vec<(StoredMission, Seal<'v>)>, HandlerFailure> {
    let filter = MissionFilter { statuses: vec![status.to_owned()], limit, ..MissionFilter::default() };
    let mut found = Vec::new();
    for row in visit.console.host.missions(filter).await.map_err(unanswered)? {
        let stored = visit.console.host.mission(&row.id).await.map_err(unanswered)?;
        // It may have gone on between the two questions.
        found.extend(stored.filter(|it| it.mission.status.as_str() == status).map(|it| (it, visit.seal())));
    }
    Ok(found)
}

/// The newest missions that run and have a question of a step that waits for an answer.
async fn asking(visit: &Visit, limit: u32) -> Result<Vec<StoredMission>, HandlerFailure> {
    let statuses = vec![MissionStatus::Running.as_str().to_owned()];
    let filter = MissionFilter { statuses, asks: true, limit, ..MissionFilter::default() };
    let mut found = Vec::new();
    for row in visit.console.host.missions(filter).await.map_err(unanswered)? {
        let stored = visit.console.host.mission(&row.id).await.map_err(unanswered)?;
        // It may have been answered between the two questions.
        found.extend(stored.filter(|it| !it.questions().is_empty()));
    }
    Ok(found)
}

/// Query of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListQuery {
    status: String,
    colony: String,
    q: String,
    asks: bool,
    before: String,
}

pub(super) async fn missions(visit: Visit, Query(listed): Query<ListQuery>) -> PageResult {
    let frame = visit.frame().await?;
    let some = |it: String| Some(it.trim().to_owned()).filter(|it| !it.is_empty());
    let asked = MissionsQuery {
        status: some(listed.status),
        colony: some(listed.colony),
        text: some(listed.q),
        asks: listed.asks,
        before: some(listed.before),
    };
    let filter = MissionFilter {
        colony: asked.colony.clone(),
        statuses: asked.status.clone().into_iter().collect(),
        text: asked.text.clone(),
        asks: asked.asks,
        before: asked.before.clone(),
        limit: LISTED + 1,
    };
    let host = &visit.console.host;
    let mut rows = host.missions(filter).await.map_err(unanswered)?;
    let has_more = rows.len() > LISTED as usize;
    rows.truncate(LISTED as usize);
    let colonies = host.colonies().await.map_err(unanswered)?;
    let counts = host.counts().await.map_err(unanswered)?.missions;
    shown(&MissionsPage { asked, rows, has_more, colonies, counts }.page(), &frame)
}

/// Values that the form may be filled with beforehand.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Beforehand {
    colony: String,
    workflow: String,
}

pub(super) async fn start(visit: Visit, Query(before): Query<Beforehand>) -> PageResult {
    let filled = Filled { colony: before.colony, workflow: before.workflow, ..Filled::default() };
    start_form(&visit, &filled, None).await
}

/// The form, with what was in it when it was refused.
pub(super) async fn start_form(visit: &Visit, filled: &Filled, refused: Option<(&str, &str)>) -> PageResult {
    let frame = visit.frame().await?;
    let colonies = visit.console.host.colonies().await.map_err(unanswered)?;
    let start =
        StartPage { colonies: &colonies, plans: &visit.console.plans, filled, refused, seal: visit.seal() };
    shown(&start.page(), &frame)
}

pub(super) async fn colonies(visit: Visit) -> PageResult {
    let frame = visit.frame().await?;
    let mut found = Vec::new();
    for colony in visit.console.host.colonies().await.map_err(unanswered)? {
        found.extend(with_work(&visit, &colony.id).await?);
    }
    shown(&ColoniesPage { colonies: &found, is_one: false, now: now() }.page(), &frame)
}

pub(super) async fn colony(visit: Visit, Path(id): Path<String>) -> PageResult {
    let frame = visit.frame().await?;
    let found = with_work(&visit, &id).await?;
    let found = found.ok_or_else(|| missing("colony", &id, ("/console/colonies", "All colonies")))?;
    shown(&ColoniesPage { colonies: &[found], is_one: true, now: now() }.page(), &frame)
}

/// A colony, with what its crabs do.
async fn with_work(visit: &Visit, id: &str) -> Result<Option<(ColonyState, Vec<CrabWork>)>, HandlerFailure> {
    let Some(state) = visit.console.host.colony(id).await.map_err(unanswered)? else { return Ok(None) };
    let mut all = Vec::new();
    for (mission, lease) in state.scheduler.leases.iter().take(LOOKED_UP) {
        let Some(stored) = visit.console.host.mission(mission).await.map_err(unanswered)? else { continue };
        let Some(step) = stored.plan.steps.get(lease.item.step.index()) else { continue };
        let run = stored.runs.iter().find(|it| it.step == step.id && it.attempt == lease.item.attempt);
        all.push(CrabWork {
            crab: lease.crab.clone(),
            mission: mission.clone(),
            summary: stored.row.summary.clone(),
            step: step.id.to_owned(),
            attempt: lease.item.attempt,
            is_accepted: lease.is_accepted,
            since: run.and_then(|it| it.started.or(it.offered)),
        });
    }
    Ok(Some((state, all)))
}

pub(super) async fn workflows(visit: Visit) -> PageResult {
    let frame = visit.frame().await?;
    shown(&workflows::list(&visit.console.plans), &frame)
}

pub(super) async fn workflow(
    visit: Visit,
    State(console): State<Console>,
    Path(name): Path<String>,
) -> PageResult {
    let frame = visit.frame().await?;
    let plan = console
        .plan(&name)
        .ok_or_else(|| missing("workflow", &name, ("/console/workflows", "All workflows")))?;
    let proved = tokio::task::spawn_blocking(move || console.proof(plan)).await;
    let proof = proved.map_err(|_| missing("proof", &name, ("/console/workflows", "All workflows")))?;
    shown(&workflows::page(plan, &proof), &frame)
}
