//! Signing in and out.

use axum::Form;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::{PageResult, Visit, forms, unanswered};
use crate::console::Console;
use crate::console::view::{login, outside};
use crate::host::HostError;

/// Query of the login: the address to go to after it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LoginQuery {
    next: String,
}

/// Fields of the form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Login {
    token: String,
    next: String,
}

/// Field of the button.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Logout {
    csrf: String,
}

pub(super) async fn form(Query(wanted): Query<LoginQuery>) -> Response {
    Html(outside("Sign in", login::content(inside(&wanted.next), false)).into_string()).into_response()
}

pub(super) async fn enter(State(console): State<Console>, Form(login): Form<Login>) -> Response {
    let next = inside(&login.next);
    let Some(holder) = console.entry_point.person(login.token.trim()) else {
        let page = outside("Sign in", login::content(next, true));
        return (StatusCode::FORBIDDEN, Html(page.into_string())).into_response();
    };
    ([(header::SET_COOKIE, console.sessions.begin(&holder))], Redirect::to(next)).into_response()
}

pub(super) async fn leave(visit: Visit, Form(logout): Form<Logout>) -> PageResult {
    forms::is_of(&visit, &logout.csrf)?;
    let cookie = visit.console.sessions.end(&visit.session).map_err(|cause| {
        unanswered(HostError::Unavailable(format!("the session cannot be ended: {cause}")))
    })?;
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/console/login")).into_response())
}

/// An address of the console, whatever was asked for.
fn inside(next: &str) -> &str {
    let is_plain = next.bytes().all(|it| it.is_ascii_graphic() && it != b'\\');
    let is_inside = next == "/console" || next.starts_with("/console/") || next.starts_with("/console?");
    if is_plain && is_inside && !next.contains("//") { next } else { "/console" }
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn a_login_leads_nowhere_else() {
        for kept in ["/console", "/console/missions?q=a%20b", "/console?x"] {
            assert_eq!(inside(kept), kept);
        }
        for refused in [
            "",
            "//evil.example",
            "/console//evil",
            "https://evil",
            "/consolex",
            "/console/\\e",
            "/console/\r\nA: b",
        ] {
            assert_eq!(inside(refused), "/console");
        }
    }
}
