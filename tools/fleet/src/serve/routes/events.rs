//! Records of what has happened: as pages, or as a stream that goes on (server-sent events).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use orange_api::gateway::{RecordAnswer, Records};
use serde::Deserialize;
use tokio::sync::watch;

use super::PageLimit;
use crate::host::HistoryRecord;
use crate::serve::auth::TokenHolder;
use crate::serve::error::ApiError;
use crate::serve::gateway::Gateway;
use crate::serve::input::{AuthorizedCaller, PathIds, StrictQuery};

/// Number of records that are read at a time for a stream.
const CHUNK: u32 = 200;

/// Interval at which a stream on which nothing happens says that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// After how long a reader connects again.
const AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordsQuery {
    after: Option<u64>,
    #[serde(default)]
    limit: PageLimit,
}

pub(super) async fn all(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    headers: HeaderMap,
    StrictQuery(query): StrictQuery<RecordsQuery>,
) -> Result<Response, ApiError> {
    answer(gateway, caller, &headers, query, None).await
}

pub(super) async fn of_mission(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(mission): PathIds<String>,
    headers: HeaderMap,
    StrictQuery(query): StrictQuery<RecordsQuery>,
) -> Result<Response, ApiError> {
    if gateway.known(&mission).await?.is_none() {
        return Err(super::missions::unknown_mission(&mission));
    }
    answer(gateway, caller, &headers, query, Some(mission)).await
}

/// A stream for who asks for one, which begins after the last record that the reader has; else a page.
async fn answer(
    gateway: Arc<Gateway>,
    caller: AuthorizedCaller,
    headers: &HeaderMap,
    query: RecordsQuery,
    mission: Option<String>,
) -> Result<Response, ApiError> {
    if !accepts_stream(headers) {
        return page(&gateway, query, mission).await.map(IntoResponse::into_response);
    }
    let news = gateway.host.news();
    let newest = *news.borrow();
    let after = last_read(headers)?.or(query.after).unwrap_or(newest);
    let reader = RecordReader {
        stopping: gateway.stopping.subscribe(),
        gateway,
        holder: caller.holder,
        news,
        mission,
        after,
        ready: Vec::new().into_iter(),
    };
    let keep = KeepAlive::new().interval(ALIVE);
    Ok(Sse::new(follow(reader)).keep_alive(keep).into_response())
}

async fn page(
    gateway: &Gateway,
    query: RecordsQuery,
    mission: Option<String>,
) -> Result<Json<Records>, ApiError> {
    let after = query.after.unwrap_or(0);
    let found = gateway.host.records(after, mission, query.limit.0).await?;
    let next = found.last().map_or(after, |it| it.seq);
    Ok(Json(Records { events: found.into_iter().map(RecordAnswer::from).collect(), next }))
}

fn accepts_stream(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|it| it.trim().starts_with("text/event-stream"))
}

fn last_read(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|it| it.trim().parse().ok());
    number.map(Some).ok_or_else(|| {
        ApiError::bad("bad_last_event_id", "Last-Event-ID is not a number")
            .help("it is the `id` of the last event that was read")
    })
}

/// Somebody who follows the records.
struct RecordReader {
    gateway: Arc<Gateway>,
    holder: Arc<TokenHolder>,
    news: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    mission: Option<String>,
    after: u64,
    ready: std::vec::IntoIter<HistoryRecord>,
}

/// Records as they happen. Nothing is read before the reader has taken what was there, so that a slow one takes no memory.
fn follow(reader: RecordReader) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((reader, true), |(mut reader, is_first)| async move {
        if is_first {
            // A reader that connects again does so soon, and sees at once that this works.
            return Some((Ok(Event::default().retry(AGAIN).comment("records follow")), (reader, false)));
        }
        let record = reader.next().await?;
        Some((Ok(event(record)), (reader, false)))
    })
}

impl RecordReader {
    async fn next(&mut self) -> Option<HistoryRecord> {
        let counted = Arc::clone(&self.gateway);
        let _counted = counted.metrics.follower();
        loop {
            // A token can be revoked while its stream is open.
            if !self.gateway.tokens.stands(&self.holder) {
                return None;
            }
            if let Some(record) = self.ready.next() {
                self.after = record.seq;
                return Some(record);
            }
            if *self.stopping.borrow() {
                return None;
            }
            self.news.mark_unchanged();
            match self.gateway.host.records(self.after, self.mission.clone(), CHUNK).await {
                Ok(found) if !found.is_empty() => self.ready = found.into_iter(),
                Ok(_) => self.wait().await?,
                Err(error) => {
                    log::warn!(cause = error.to_string().as_str(); "the records cannot be read");
                    return None;
                }
            }
        }
    }

    /// Waits until there may be more; `None` when there will not be.
    async fn wait(&mut self) -> Option<()> {
        tokio::select! {
            changed = self.news.changed() => changed.ok(),
            _ = self.stopping.wait_for(|it| *it) => None,
        }
    }
}

fn event(record: HistoryRecord) -> Event {
    let (seq, kind) = (record.seq.to_string(), record.kind.clone());
    let data = serde_json::to_string(&RecordAnswer::from(record)).unwrap_or_default();
    Event::default().id(seq).event(kind).data(data)
}
