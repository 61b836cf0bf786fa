//! Parts of a request: a JSON body, a query, ids in its path, and its key. Each is read once, within limits, or refused with what
//! is wrong.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;

use super::auth::TokenHolder;
use super::error::ApiError;
use super::gateway::Gateway;
use super::settings::Limits;

/// The header with the key of a call.
pub const KEY: &str = "idempotency-key";

/// The longest key.
const LONGEST_KEY: usize = 200;

/// The longest id in a path or a body: of a mission, a crab, a colony, a run.
pub const LONGEST_ID: usize = 200;

/// A body of this many limits is read to its end, so that its sender can read the refusal.
const READ_ANYWAY: usize = 8;

#[derive(Debug)]
pub struct JsonInput<T>(pub T);

/// A body of plain text.
#[derive(Debug)]
pub struct Plain(pub String);

/// A query, all of whose keys are known.
#[derive(Debug)]
pub struct StrictQuery<T>(pub T);

/// Ids in the path.
#[derive(Debug)]
pub struct PathIds<T>(pub T);

/// The caller: whose token it is, and the key of the call.
#[derive(Debug)]
pub struct AuthorizedCaller {
    pub holder: Arc<TokenHolder>,
    /// Idempotency key, among the calls of this holder.
    pub key: Option<String>,
}

impl<T: DeserializeOwned> FromRequest<Arc<Gateway>> for JsonInput<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, gateway: &Arc<Gateway>) -> Result<JsonInput<T>, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = whole(&parts.headers, body, &gateway.settings.limits).await?;
        if bytes.is_empty() {
            return parsed(b"{}").map(JsonInput);
        }
        is_json(&parts.headers)?;
        parsed(&bytes).map(JsonInput)
    }
}

impl FromRequest<Arc<Gateway>> for Plain {
    type Rejection = ApiError;

    async fn from_request(request: Request, gateway: &Arc<Gateway>) -> Result<Plain, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = whole(&parts.headers, body, &gateway.settings.limits).await?;
        is_plain(&parts.headers)?;
        let found = std::str::from_utf8(&bytes).map_err(|cause| {
            ApiError::bad("bad_text", format!("the body is not UTF-8: {cause}")).help("send plain text")
        })?;
        text("the body", found, gateway.settings.limits.text)?;
        Ok(Plain(found.to_owned()))
    }
}

impl<T: DeserializeOwned> FromRequestParts<Arc<Gateway>> for StrictQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        gateway: &Arc<Gateway>,
    ) -> Result<StrictQuery<T>, ApiError> {
        match Query::from_request_parts(parts, gateway).await {
            Ok(Query(asked)) => Ok(StrictQuery(asked)),
            Err(QueryRejection::FailedToDeserializeQueryString(rejection)) => {
                Err(bad_query(&rejection.body_text()))
            }
            Err(other) => Err(bad_query(&other.body_text())),
        }
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Gateway>> for PathIds<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, gateway: &Arc<Gateway>) -> Result<PathIds<T>, ApiError> {
        let found: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, gateway).await;
        let wrong = |rejection: PathRejection| {
            ApiError::bad(
                "bad_path",
                format!("the path of the request cannot be read: {}", rejection.body_text()),
            )
            .help("ids are text; percent-encode what is not a letter or digit")
        };
        found.map(|Path(found)| PathIds(found)).map_err(wrong)
    }
}

impl FromRequestParts<Arc<Gateway>> for AuthorizedCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Gateway>) -> Result<AuthorizedCaller, ApiError> {
        let holder = parts.extensions.get::<Arc<TokenHolder>>().cloned();
        let holder = holder.ok_or_else(|| ApiError::forbidden("this call needs a token"))?;
        let key = key(&parts.headers)?.map(|key| format!("{}/{key}", holder.id));
        Ok(AuthorizedCaller { holder, key })
    }
}

/// The key of a call. Keys of one token say nothing about those of another.
fn key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(value) = headers.get(KEY) else { return Ok(None) };
    let key = value.to_str().ok().filter(|it| (1..=LONGEST_KEY).contains(&it.len()));
    let key = key.filter(|it| it.bytes().all(|byte| byte.is_ascii_graphic()));
    key.map(Some).ok_or_else(|| {
        ApiError::bad(
            "bad_key",
            format!("the Idempotency-Key is not 1 to {LONGEST_KEY} visible ASCII characters"),
        )
        .help("a random UUID is a good key")
    })
}

/// The body of a request. It has to come within its time, and to be no larger than its limit.
async fn whole(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Bytes, ApiError> {
    let until = Instant::now() + limits.body_within;
    let late = || {
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the body of the request has not come in time")
            .help(format!("send it within {} seconds", limits.body_within.as_secs()))
    };
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|it| it > limits.body.saturating_mul(READ_ANYWAY)) {
        return Err(too_large(limits.body));
    }
    let (mut stream, mut bytes, mut length) = (body.into_data_stream(), Vec::new(), 0_usize);
    loop {
        match tokio::time::timeout_at(until.into(), stream.next()).await {
            Err(_) => return Err(late()),
            Ok(None) => break,
            Ok(Some(Err(cause))) => {
                return Err(ApiError::bad(
                    "bad_body",
                    format!("the body of the request cannot be read: {cause}"),
                )
                .help("send the whole body"));
            }
            Ok(Some(Ok(chunk))) => {
                length = length.saturating_add(chunk.len());
                if length <= limits.body {
                    bytes.extend_from_slice(&chunk);
                } else if length > limits.body.saturating_mul(READ_ANYWAY) {
                    break;
                }
            }
        }
    }
    if length > limits.body { Err(too_large(limits.body)) } else { Ok(bytes.into()) }
}

fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "body_too_large",
        format!("the body has more than {limit} bytes"),
    )
    .help("commit long texts to the repository, and say in the prompt where they are")
}

/// True if a body is declared as being of this kind.
fn is_declared(headers: &HeaderMap, kind: &str) -> bool {
    let declared = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    declared.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind)
}

fn is_plain(headers: &HeaderMap) -> Result<(), ApiError> {
    if is_declared(headers, "text/plain") {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_text", "the body is not declared as text")
        .help("send the header `Content-Type: text/plain; charset=utf-8`"))
}

fn is_json(headers: &HeaderMap) -> Result<(), ApiError> {
    if is_declared(headers, "application/json") {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", "the body is not declared as JSON")
        .help("send the header `Content-Type: application/json`"))
}

fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // A list of the right length would count as the fields in their order.
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (path, cause) = (error.path().to_string(), error.inner());
        match (cause.is_data(), is_object) {
            (true, true) => bad_field(&path, cause),
            (true, false) => no_object(),
            (false, _) => bad_json(cause),
        }
    })?;
    reader.end().map_err(|cause| bad_json(&cause))?;
    if is_object { Ok(value) } else { Err(no_object()) }
}

fn no_object() -> ApiError {
    ApiError::bad("bad_field", "the body is not a JSON object").help("send one JSON object")
}

fn bad_json(cause: &serde_json::Error) -> ApiError {
    ApiError::bad("bad_json", format!("the body is not JSON: {cause}")).help("send one JSON object")
}

fn bad_field(path: &str, cause: &serde_json::Error) -> ApiError {
    let message = match path {
        "." => format!("the body is wrong: {cause}"),
        path => format!("the field `{path}` is wrong: {cause}"),
    };
    ApiError::bad("bad_field", message).help("GET /v1/openapi.json has the fields of every call")
}

fn bad_query(cause: &str) -> ApiError {
    let cause = cause.strip_prefix("Failed to deserialize query string: ").unwrap_or(cause);
    ApiError::bad("bad_query", format!("the query is wrong: {cause}"))
        .help("GET /v1/openapi.json has the parameters of every call")
}

/// A text of a caller that is not too long, and that programs in C can read.
///
/// # Errors
/// The answer to a text that is neither.
pub fn text(field: &str, text: &str, limit: usize) -> Result<(), ApiError> {
    if text.len() > limit {
        let message = format!("`{field}` has {} bytes, and at most {limit} are accepted", text.len());
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "text_too_long", message)
            .help("commit long texts to the repository, and say where they are"));
    }
    if text.contains('\0') {
        return Err(
            ApiError::bad("bad_text", format!("`{field}` has a NUL character")).help("send plain text")
        );
    }
    Ok(())
}

/// A name that people read in lists: one short line.
///
/// # Errors
/// The answer to another one.
pub fn line<'n>(field: &str, name: &'n str, longest: usize) -> Result<&'n str, ApiError> {
    let name = name.trim();
    if !name.is_empty() && name.len() <= longest && !name.contains(char::is_control) {
        return Ok(name);
    }
    Err(ApiError::bad("bad_name", format!("`{field}` is not one line of 1 to {longest} bytes"))
        .help(format!("give `{field}` a short name")))
}

/// An id that a caller chooses: it stands in paths and in ids of runs.
///
/// # Errors
/// The answer to another one.
pub fn id<'n>(field: &str, id: &'n str) -> Result<&'n str, ApiError> {
    let is_id = (1..=LONGEST_ID).contains(&id.len())
        && id.starts_with(|it: char| it.is_ascii_alphanumeric())
        && id.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'));
    match is_id {
        true => Ok(id),
        false => Err(ApiError::bad(
            "bad_id",
            format!(
                "`{field}` is not an id: `{}`",
                id.chars().take(LONGEST_ID).collect::<String>().escape_debug()
            ),
        )
        .help("an id begins with a letter or a digit, and has letters, digits, `-`, `_` and `.`")),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct CupOrder {
        #[serde(default)]
        _cups: u32,
        #[serde(default)]
        _kind: Vec<OrderKind>,
    }

    #[derive(Debug, Deserialize)]
    struct OrderKind {
        #[serde(rename = "name")]
        _name: String,
    }

    #[track_caller]
    fn check(body: &str, expect: (&str, &str)) {
        let error = parsed::<CupOrder>(body.as_bytes()).unwrap_err();
        assert_eq!(error.code, expect.0, "{body}");
        assert!(error.message.contains(expect.1), "{}", error.message);
    }

    #[test]
    fn a_wrong_body_is_refused_with_its_field() {
        assert!(parsed::<CupOrder>(b"{}").is_ok());
        check("{\"_cups\": \"three\"}", ("bad_field", "the field `_cups` is wrong: invalid type: string"));
        check(
            "{\"_kind\": [{\"name\": \"tea\"}, {\"name\": 3}]}",
            ("bad_field", "the field `_kind[1].name` is wrong"),
        );
        check("{\"_kind\": [{}]}", ("bad_field", "missing field `name`"));
        check("{\"sugar\": 1}", ("bad_field", "unknown field `sugar`, expected `_cups` or `_kind`"));
        check("{\"_cups\": 1,}", ("bad_json", "trailing comma at line 1"));
        check("{} {}", ("bad_json", "trailing characters"));
        check("[", ("bad_json", "EOF"));
        for other in ["[]", "[3]", "[3, []]", "\"tea\"", "7", " null"] {
            check(other, ("bad_field", "the body is not a JSON object"));
        }
        check("\u{feff}{}", ("bad_json", "line 1 column 1"));
    }

    #[test]
    fn keys_are_short_and_visible() {
        let with = |value: &str| HeaderMap::from_iter([(KEY.parse().unwrap(), value.parse().unwrap())]);
        assert_eq!(key(&HeaderMap::new()).unwrap(), None);
        assert_eq!(key(&with("a-1")).unwrap(), Some("a-1"));
        for wrong in ["", "a b", &"x".repeat(201)] {
            assert_eq!(key(&with(wrong)).unwrap_err().code, "bad_key");
        }
    }

    #[test]
    fn ids_are_safe_in_paths() {
        for good in ["atlas-id", "a.b_c", "7"] {
            assert_eq!(id("crab_id", good).unwrap(), good);
        }
        for wrong in ["", "-a", ".", "../x", "a/b", "a b", "ä", "a\n", &"x".repeat(201)] {
            assert_eq!(id("crab_id", wrong).unwrap_err().code, "bad_id", "{wrong}");
        }
    }
}
