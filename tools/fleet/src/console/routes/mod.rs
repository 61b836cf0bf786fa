//! The addresses of the console.

mod forms;
mod login;
mod machine;
mod mission;
mod pages;
mod texts;

use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts};
use axum::http::request::Parts;
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, any, get, post};

use super::guard::HandlerFailure;
use super::session::PersonSession;
use super::view::failed::Problem;
use super::view::forms::Seal;
use super::view::{ConsolePage, PageFrame};
use super::{Console, assets, guard, live};
use crate::host::{ColonyState, HostError, Millis, StoredMission, TextOf};

/// The largest form: a prompt in which each byte takes three, and a little more.
const MOST_BYTES: usize = 1_024 * 1_024;

/// The routes of the console, all of them below `/console`; `/` leads there.
pub fn router(console: Console) -> Router {
    let inside = Router::new()
        .route("/console", get(pages::inbox))
        .route("/console/missions", get(pages::missions).post(forms::start))
        .route("/console/missions/{id}", get(mission::page))
        .route("/console/missions/{id}/history", get(mission::history))
        .route("/console/missions/{id}/prompt", get(texts::prompt))
        .route("/console/missions/{id}/reason", get(texts::reason))
        .route("/console/missions/{id}/steps/{step}", get(mission::step))
        .route("/console/missions/{id}/steps/{step}/prompt", get(texts::step_prompt))
        .route("/console/missions/{id}/steps/{step}/context", get(texts::context))
        .route("/console/missions/{id}/steps/{step}/{attempt}", get(mission::attempt))
        .route("/console/missions/{id}/steps/{step}/{attempt}/{part}", get(texts::part))
        .route("/console/missions/{id}/continue", post(forms::answer))
        .route("/console/missions/{id}/answers", post(forms::answer_question))
        .route("/console/missions/{id}/retry", post(forms::retry))
        .route("/console/missions/{id}/cancel", post(forms::cancel))
        .route("/console/start", get(pages::start))
        .route("/console/colonies", get(pages::colonies))
        .route("/console/colonies/{id}", get(pages::colony))
        .route("/console/workflows", get(pages::workflows))
        .route("/console/workflows/{name}", get(pages::workflow))
        .route("/console/machine", get(machine::page).post(machine::act))
        .route("/console/events", get(live::events))
        .route("/console/login", get(login::form).post(login::enter))
        .route("/console/logout", post(login::leave))
        .route("/console/style.css", get(assets::style))
        .route("/console/script.js", get(assets::script))
        .route("/console/news.js", get(assets::news))
        .route("/console/icon.svg", get(assets::icon))
        .route("/console/{*rest}", any(nothing))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(from_fn_with_state(console.clone(), guard::guard))
        .with_state(console);
    inside.route("/", home()).route("/console/", home())
}

fn home() -> MethodRouter {
    get(|| async { Redirect::to("/console") })
}

/// Answer of a handler.
type PageResult = Result<Response, HandlerFailure>;

/// A person who has signed in and asks for something.
struct Visit {
    console: Console,
    session: PersonSession,
}

impl FromRequestParts<Console> for Visit {
    type Rejection = HandlerFailure;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Visit, HandlerFailure> {
        let session = parts.extensions.get::<PersonSession>().cloned();
        session.map(|session| Visit { console: console.clone(), session }).ok_or_else(outside)
    }
}

impl Visit {
    /// Frame of a page. It is asked for before this page's content, so that no news is missed.
    async fn frame(&self) -> Result<PageFrame, HandlerFailure> {
        let seq = *self.console.host.news().borrow();
        let counts = self.console.host.counts().await.map_err(unanswered)?;
        let waiting = count(&counts.missions, "paused") + counts.asking;
        let has_machine = self.console.machine.is_some();
        Ok(PageFrame { waiting, alarms: counts.alarms, seq, csrf: self.session.csrf.clone(), has_machine })
    }

    /// The seal of a form of this page.
    fn seal(&self) -> Seal<'_> {
        Seal { csrf: &self.session.csrf, key: self.console.sessions.unique() }
    }

    /// Name of the person who has signed in.
    fn person(&self) -> Result<String, HandlerFailure> {
        self.console.entry_point.name_of(&self.session.holder).ok_or_else(outside)
    }

    async fn mission(&self, id: &str) -> Result<StoredMission, HandlerFailure> {
        let found = self.console.host.mission(id).await.map_err(unanswered)?;
        found.ok_or_else(|| missing("mission", id, ("/console/missions", "All missions")))
    }

    /// A text of an attempt, if it has one.
    async fn text(&self, of: TextOf) -> Result<Option<String>, HandlerFailure> {
        self.console.host.text(of).await.map_err(unanswered)
    }

    /// A colony as it stands.
    async fn colony(&self, id: &str) -> Result<Option<ColonyState>, HandlerFailure> {
        self.console.host.colony(id).await.map_err(unanswered)
    }

    /// The crabs of a colony by id, with their names.
    async fn crabs(&self, colony: &str) -> Result<Vec<(String, String)>, HandlerFailure> {
        Ok(names_of_crabs(self.colony(colony).await?.as_ref()))
    }
}

/// The crabs of a colony by id, with their names.
fn names_of_crabs(state: Option<&ColonyState>) -> Vec<(String, String)> {
    state.into_iter().flat_map(|it| &it.crabs).map(|it| (it.0.clone(), it.1.clone())).collect()
}

fn shown(page: &ConsolePage<'_>, frame: &PageFrame) -> PageResult {
    Ok(Html(page.render(frame).into_string()).into_response())
}

fn count(counts: &[(String, u64)], status: &str) -> u64 {
    counts.iter().find(|it| it.0 == status).map_or(0, |it| it.1)
}

/// Now, by the clock of the gateway.
fn now() -> Millis {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |it| Millis::try_from(it.as_millis()).unwrap_or(Millis::MAX))
}

async fn nothing() -> HandlerFailure {
    HandlerFailure::from(Problem {
        status: 404,
        title: "There is no such page".to_owned(),
        message: "The console has no page at this address.".to_owned(),
        help: "The address may not be complete, or may come from an older version.".to_owned(),
        next: ("/console".to_owned(), "The inbox".to_owned()),
    })
}

fn missing(what: &str, name: &str, (address, next): (&str, &str)) -> HandlerFailure {
    HandlerFailure::from(Problem {
        status: 404,
        title: format!("There is no such {what}"),
        message: format!("The fleet has no {what} {name}."),
        help: "It may have been removed after it ended, or the address is not complete.".to_owned(),
        next: (address.to_owned(), next.to_owned()),
    })
}

fn outside() -> HandlerFailure {
    HandlerFailure::from(Problem {
        status: 401,
        title: "You are not signed in".to_owned(),
        message: "The session has ended.".to_owned(),
        help: "Sign in again with the token of a person.".to_owned(),
        next: ("/console/login".to_owned(), "Sign in".to_owned()),
    })
}

/// The store has no answer.
fn unanswered(error: HostError) -> HandlerFailure {
    let (message, help) = match error {
        HostError::Unavailable(why) => (
            format!("The database does not answer: {why}"),
            "Load this page again in a moment. Missions go on when it is back.",
        ),
        HostError::Corrupt(why) => (
            format!("The stored state cannot be understood: {why}"),
            "A newer version of the program may have written it: start that one, or restore a backup.",
        ),
        HostError::Unsupported(why) => (why.to_owned(), "The pages on storage say which store can do it."),
        HostError::Stopping => ("The gateway stops.".to_owned(), "Load this page again when it has started."),
    };
    HandlerFailure::from(Problem {
        status: 503,
        title: "No answer".to_owned(),
        message,
        help: help.to_owned(),
        next: ("/console".to_owned(), "The inbox".to_owned()),
    })
}
