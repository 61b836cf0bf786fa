//! News for open pages, as server-sent events: which record is the newest. A page that hears of one asks for itself again.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::watch;

use super::Console;
use super::session::Session;

/// How long news are collected before a page hears of them.
const PACE: Duration = Duration::from_millis(250);

/// How often lists look for what no record says.
const LISTS: Duration = Duration::from_secs(5);

/// How often a page without news hears that the gateway is there.
const ALIVE: Duration = Duration::from_secs(15);

/// What a page waits for.
#[derive(Debug, Deserialize)]
pub struct Wanted {
    /// The newest record that it knows.
    after: Option<u64>,
    /// The mission that it shows.
    mission: Option<String>,
}

/// One open page.
struct Follower {
    console: Console,
    /// The id of the token with which its person has signed in.
    holder: String,
    news: watch::Receiver<u64>,
    after: u64,
    mission: Option<String>,
    is_first: bool,
}

/// The events for one page.
pub async fn events(
    State(console): State<Console>,
    Query(wanted): Query<Wanted>,
    Extension(session): Extension<Session>,
    headers: HeaderMap,
) -> Response {
    let last = headers.get("last-event-id").and_then(|it| it.to_str().ok()?.parse().ok());
    let news = console.host.news();
    let after = last.or(wanted.after).unwrap_or_else(|| *news.borrow());
    let (holder, mission) = (session.holder, wanted.mission);
    let follower = Follower { console, holder, news, after, mission, is_first: true };
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        // A token can be revoked while its page is open.
        if !follower.console.door.is_person(&follower.holder) {
            return None;
        }
        Some((Ok::<_, Infallible>(event), follower))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}

impl Follower {
    /// The next event; `None` when the gateway stops.
    async fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_first) {
            return Some(Event::default().retry(Duration::from_secs(1)).comment("connected"));
        }
        loop {
            if *self.news.borrow_and_update() == self.after {
                let is_list = self.mission.is_none();
                tokio::select! {
                    changed = self.news.changed() => changed.ok()?,
                    _ = self.console.stopping.wait_for(|it| *it) => return None,
                    // No record says that a crab waits for work, or that its connection is gone.
                    () = tokio::time::sleep(LISTS), if is_list => return Some(news(self.after)),
                }
            }
            // Much can happen at once: one event, and one question to the store, is for all of it.
            tokio::time::sleep(PACE).await;
            let newest = *self.news.borrow_and_update();
            // After a restore from a backup, the newest record can be older than the one that this page knows.
            let concerns = newest < self.after || (newest > self.after && self.concerns().await);
            self.after = newest;
            if concerns {
                return Some(news(newest));
            }
        }
    }

    /// Whether anything has happened to the mission of this page. Where that is not known, this page looks for itself.
    async fn concerns(&self) -> bool {
        let Some(mission) = &self.mission else { return true };
        match self.console.host.records(self.after, Some(mission.clone()), 1).await {
            Ok(records) => !records.is_empty(),
            Err(_) => true,
        }
    }
}

/// The event after which a page looks for itself.
fn news(newest: u64) -> Event {
    Event::default().event("news").id(newest.to_string()).data("{}")
}
