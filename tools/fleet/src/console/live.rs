//! News for open pages, as server-sent events: which record is the newest, and which missions have changed. All pages of a browser share one
//! stream; a page that the news concern asks for itself again.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::Console;
use super::session::PersonSession;

/// Time for which news are collected before pages hear of them.
const PACE: Duration = Duration::from_millis(250);

/// Time after which pages without news hear that the gateway is there, and lists look for what no record says.
const LISTS: Duration = Duration::from_secs(5);

/// Greatest number of records that are read to find the missions that have changed. Where there are more, every page looks for
/// itself.
const MOST: u32 = 200;

/// Query of a page that waits for news.
#[derive(Debug, Deserialize)]
pub struct NewsQuery {
    /// The newest record that they know.
    after: Option<u64>,
}

/// News for pages.
#[derive(Debug, Serialize)]
struct News {
    /// The missions that have changed; `None` if it may be any.
    missions: Option<BTreeSet<String>>,
}

/// A browser with open pages.
struct PageFollower {
    console: Console,
    /// Session of its person.
    session: PersonSession,
    news: watch::Receiver<u64>,
    after: u64,
    is_first: bool,
}

/// The events for the pages of a browser.
pub async fn events(
    State(console): State<Console>,
    Query(wanted): Query<NewsQuery>,
    Extension(session): Extension<PersonSession>,
    headers: HeaderMap,
) -> Response {
    let last = headers.get("last-event-id").and_then(|it| it.to_str().ok()?.parse().ok());
    let news = console.host.news();
    let after = last.or(wanted.after).unwrap_or_else(|| *news.borrow());
    let follower = PageFollower { console, session, news, after, is_first: true };
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        // A token can be revoked, and a session ended, while their pages are open.
        let PageFollower { console, session, .. } = &follower;
        if !console.entry_point.is_person(&session.holder) || !console.sessions.stands(session) {
            return None;
        }
        Some((Ok::<_, Infallible>(event), follower))
    });
    Sse::new(events).into_response()
}

impl PageFollower {
    /// The next event; `None` when the gateway stops.
    async fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_first) {
            return Some(Event::default().retry(Duration::from_secs(1)).comment("connected"));
        }
        if *self.news.borrow_and_update() == self.after {
            let is_quiet = tokio::select! {
                changed = self.news.changed() => {
                    changed.ok()?;
                    false
                }
                _ = self.console.stopping.wait_for(|it| *it) => return None,
                // No record says that a crab waits for work, or that its connection is gone.
                () = tokio::time::sleep(LISTS) => true,
            };
            if is_quiet {
                return Some(self.tell(Some(BTreeSet::new())));
            }
        }
        // Much can happen at once: one event, and one question to the store, is for all of it.
        tokio::time::sleep(PACE).await;
        let newest = *self.news.borrow_and_update();
        let missions = self.changed(newest).await;
        self.after = newest;
        Some(self.tell(missions))
    }

    /// The missions with records up to the newest one; `None` where that is not known. After a restore from a backup, the newest record can
    /// be older than the one that the pages know.
    async fn changed(&self, newest: u64) -> Option<BTreeSet<String>> {
        if newest < self.after {
            return None;
        }
        let records = self.console.host.records(self.after, None, MOST).await.ok()?;
        let are_all = records.len() < MOST as usize;
        are_all.then(|| records.into_iter().filter_map(|it| it.mission).collect())
    }

    fn tell(&self, missions: Option<BTreeSet<String>>) -> Event {
        // A set of names is always JSON.
        let data = serde_json::to_string(&News { missions }).unwrap_or_default();
        Event::default().event("news").id(self.after.to_string()).data(data)
    }
}
