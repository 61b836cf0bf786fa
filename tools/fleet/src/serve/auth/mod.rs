//! Admission of requests: the right name of this host, the right origin, and a token that is good for the call.

mod hosts;
pub mod private;
pub mod tokens;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub use self::hosts::Hosts;
pub use self::tokens::{Rights, StoredToken, TokenHolder, Tokens};
use super::error::ApiError;
use super::gateway::Gateway;

/// Requirement of a route for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedCallers {
    /// Nothing: everybody is answered.
    Everybody,
    /// A person's, or one that only reads.
    Readers,
    People,
    /// A crab's or a person's.
    Crabs,
    Members,
}

impl AllowedCallers {
    /// True if a token with these rights is good for the route.
    pub fn admits(self, rights: &Rights) -> bool {
        match (self, rights) {
            (_, Rights::Person) | (AllowedCallers::Everybody | AllowedCallers::Members, _) => true,
            (AllowedCallers::Readers, Rights::Reader) | (AllowedCallers::Crabs, Rights::Crab { .. }) => true,
            (AllowedCallers::Readers | AllowedCallers::People, Rights::Crab { .. }) => false,
            (AllowedCallers::People | AllowedCallers::Crabs, Rights::Reader) => false,
        }
    }

    fn needs(self) -> &'static str {
        match self {
            AllowedCallers::Everybody | AllowedCallers::Members => "any token",
            AllowedCallers::Readers => "the token of a person or of a reader",
            AllowedCallers::People => "the token of a person",
            AllowedCallers::Crabs => "the token of a crab or of a person",
        }
    }
}

/// Stands before everything: refuses what comes under another name or from another page, and everything without a token but the pages of
/// the console, which authenticate by themselves.
pub async fn guard(State(gateway): State<Arc<Gateway>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if path == "/healthz" {
        return next.run(request).await;
    }
    let is_page = gateway.has_pages && (path == "/" || path == "/console" || path.starts_with("/console/"));
    if let Err(refused) = gateway.hosts.check(request.method(), request.headers()) {
        gateway.metrics.refused();
        return refused.into_response();
    }
    if is_page {
        return next.run(request).await;
    }
    match holder(&gateway.tokens, request.headers()) {
        Ok(holder) => drop(request.extensions_mut().insert(Arc::new(holder))),
        Err(refused) => {
            gateway.metrics.refused();
            return refused.into_response();
        }
    }
    let mut response = next.run(request).await;
    for (name, value) in [(header::CACHE_CONTROL, "no-store"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")] {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Stands before one route: its token has to be good for it.
pub async fn admit(State(who): State<AllowedCallers>, request: Request, next: Next) -> Response {
    let is_admitted = match request.extensions().get::<Arc<TokenHolder>>() {
        Some(holder) => who.admits(&holder.rights),
        None => who == AllowedCallers::Everybody,
    };
    if is_admitted {
        return next.run(request).await;
    }
    ApiError::forbidden(format!("this call needs {}", who.needs()))
        .help("`orange-fleet token list` says what each token is good for")
        .into_response()
}

/// The refusal of a call without a token that is good for anything.
pub fn unauthorized(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message).help(
        "send `Authorization: Bearer TOKEN`; the gateway has made one in the file tokens/admin of its folder, and `orange-fleet token new` makes others",
    )
}

/// Holder of the token of a request.
fn holder(tokens: &Tokens, headers: &HeaderMap) -> Result<TokenHolder, ApiError> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Err(unauthorized("this call has no token"));
    };
    let presented = value.to_str().ok().and_then(bearer);
    let presented = presented.ok_or_else(|| unauthorized("the header Authorization has no bearer token"))?;
    tokens.holder(presented).ok_or_else(|| unauthorized("nobody has this token"))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// True if a method changes nothing.
fn is_safe(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_good_for_its_own_calls() {
        let crab = Rights::Crab { colony: "c".to_owned() };
        let check = |rights: &Rights| {
            [
                AllowedCallers::Everybody,
                AllowedCallers::Readers,
                AllowedCallers::People,
                AllowedCallers::Crabs,
                AllowedCallers::Members,
            ]
            .map(|who| who.admits(rights))
        };
        assert_eq!(check(&Rights::Person), [true; 5]);
        assert_eq!(check(&Rights::Reader), [true, true, false, false, true]);
        assert_eq!(check(&crab), [true, false, false, true, true]);
    }

    #[test]
    fn a_bearer_token_is_found() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        assert_eq!(bearer("Basic abc"), None);
        assert_eq!(bearer("abc"), None);
    }
}
