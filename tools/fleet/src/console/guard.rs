//! The guard in front of every page: the session, and the headers that keep pages to themselves.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use maud::html;

use super::Console;
use super::session::PersonSession;
use super::view::failed::Problem;
use super::view::missions::encoded;
use super::view::{ConsolePage, NavigationTab, PageFrame};

/// Content security policy: the sources that a page may load, and the targets of its forms.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                          form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // With `no-referrer`, browsers send forms without their origin.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// Time limit for a form to come, and to be answered.
const WITHIN: Duration = Duration::from_secs(30);

/// Paths that are open without a session.
const OPEN: [&str; 5] =
    ["/console/login", "/console/style.css", "/console/script.js", "/console/news.js", "/console/icon.svg"];

/// Lets people in who have signed in, shows them problems as pages, and adds headers to every answer.
pub async fn guard(State(console): State<Console>, mut request: Request, next: Next) -> Response {
    let session = cookies(request.headers()).find_map(|it| console.sessions.of(it));
    let session = session.filter(|it| console.entry_point.is_person(&it.holder));
    let mut response = match session {
        Some(session) => {
            request.extensions_mut().insert(session.clone());
            with_page(in_time(request, next).await, &session)
        }
        None if OPEN.contains(&request.uri().path()) => in_time(request, next).await,
        None => outside(&request),
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The answer. A form has to come in time; pages of news come as long as they are open.
async fn in_time(request: Request, next: Next) -> Response {
    if request.method() == Method::GET {
        return next.run(request).await;
    }
    match tokio::time::timeout(WITHIN, next.run(request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
    }
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok())
}

/// Leads to the login. A browser that follows a link of another site leaves the cookie out: it is asked to come again from here.
fn outside(request: &Request) -> Response {
    let comes_from_elsewhere = request.headers().get("sec-fetch-site").is_some_and(|it| it == "cross-site")
        && request.method() == Method::GET;
    if comes_from_elsewhere {
        let page = html! { (maud::DOCTYPE) meta http-equiv="refresh" content="0"; title { "Orange" } };
        return Html(page.into_string()).into_response();
    }
    if request.uri().path() == "/console/events" {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let wanted = match *request.method() == Method::GET {
        true => request.uri().path_and_query().map_or("/console", |it| it.as_str()),
        false => "/console",
    };
    Redirect::to(&format!("/console/login?next={}", encoded(wanted))).into_response()
}

/// Shows a problem as a page.
fn with_page(response: Response, session: &PersonSession) -> Response {
    let Some(problem) = response.extensions().get::<Arc<Problem>>().cloned() else { return response };
    let page = ConsolePage {
        title: &problem.title,
        tab: NavigationTab::Elsewhere,
        live: None,
        says: String::new(),
        content: problem.content(),
    };
    let frame = PageFrame { csrf: session.csrf.clone(), ..PageFrame::default() };
    (response.status(), Html(page.render(&frame).into_string())).into_response()
}

/// A problem as what a handler fails with.
#[derive(Clone, Debug)]
pub struct HandlerFailure(Arc<Problem>);

impl From<Problem> for HandlerFailure {
    fn from(problem: Problem) -> HandlerFailure {
        HandlerFailure(Arc::new(problem))
    }
}

impl IntoResponse for HandlerFailure {
    fn into_response(self) -> Response {
        let mut response =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response();
        response.extensions_mut().insert(self.0);
        response
    }
}
