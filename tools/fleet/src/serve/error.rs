//! Refusals of calls, as callers are sent them: a code for programs, a reason for people, and what to do next.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use orange_api::gateway::{Complaint, RefusedCall};
use orange_core::mission::{self, MissionStatus};
use orange_core::plan::Plan;
use orange_core::scheduler;

use crate::host::HostError;

/// After how long a call that the store did not answer is worth another try.
const AGAIN: Duration = Duration::from_secs(1);

/// A refused call. As JSON it is `{"error": {"code": …, "message": …, "help": …}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The status of the answer.
    pub status: StatusCode,
    /// A word for programs, which stays the same.
    pub code: &'static str,
    /// Reason for the refusal, for people.
    pub message: String,
    /// Advice on what to do next.
    pub help: String,
}

impl ApiError {
    /// An error of this status and code.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, code, message: message.into(), help: String::new() }
    }

    /// A call that is wrong in itself.
    pub fn bad(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// A call about something that is not there.
    pub fn not_found(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, code, message)
    }

    /// A call that comes too late, too early or twice.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, code, message)
    }

    /// A call that this token is not good for.
    pub fn forbidden(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// The gateway stops, and another one or the next one answers.
    pub fn stopping() -> ApiError {
        let message = "the gateway is stopping";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", message)
            .help("send the same call again in a moment, with the same Idempotency-Key")
    }

    /// A key that belongs to another call.
    pub fn other_content() -> ApiError {
        ApiError::conflict("idempotency_conflict", "this Idempotency-Key was used for another call")
            .help("a new call needs a new key; the same call has the same body as the first time")
    }

    /// A branch that another mission of the colony has.
    pub fn branch_taken(mission: &str) -> ApiError {
        ApiError::conflict("branch_taken", format!("mission {mission} has this branch"))
            .help("name another branch, or none; a mission that has failed runs again with `retry`")
    }

    /// Sets the advice on what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> ApiError {
        self.help = help.into();
        self
    }

    /// Error for an event that a mission refuses.
    pub fn of_mission(refusal: &mission::Refusal, plan: &Plan<'_>) -> ApiError {
        let (status, code, help) = about_mission(refusal);
        ApiError::new(status, code, refusal.words(plan, "the mission")).help(help)
    }

    /// Error for an event that a scheduler refuses.
    pub fn of_scheduler(refusal: &scheduler::Refusal) -> ApiError {
        let (status, code, help) = about_scheduler(refusal);
        ApiError::new(status, code, refusal.words()).help(help)
    }
}

/// Every refusal of a mission: the status, the code, and what to do next.
fn about_mission(refusal: &mission::Refusal) -> (StatusCode, &'static str, &'static str) {
    use mission::Refusal as Of;
    const FETCH: &str =
        "`orange-fleet mission show` and GET /v1/missions/{mission_id} say where the mission stands";
    const LET_GO: &str = "end the agent of this run, and keep its work: the run belongs to nobody any more";
    match refusal {
        Of::Closed(MissionStatus::Failed) => (
            StatusCode::CONFLICT,
            "closed",
            "`orange-fleet mission retry` and POST /v1/missions/{mission_id}/retry run it again",
        ),
        Of::Closed(_) => (StatusCode::CONFLICT, "closed", "start another mission"),
        Of::HasBegun => (StatusCode::CONFLICT, "has_begun", FETCH),
        Of::Pending => (StatusCode::CONFLICT, "pending", FETCH),
        Of::Paused => (
            StatusCode::CONFLICT,
            "paused",
            "a person answers it with `orange-fleet mission continue` or POST /v1/missions/{mission_id}/continue",
        ),
        Of::NoSuchStep => {
            (StatusCode::NOT_FOUND, "no_such_step", "GET /v1/tasks?mission= lists the steps of a mission")
        }
        Of::Stale { .. } => (StatusCode::CONFLICT, "stale", LET_GO),
        Of::NoSuchAttempt { .. } => (
            StatusCode::NOT_FOUND,
            "no_such_attempt",
            "GET /v1/runs?mission= lists the attempts of a mission",
        ),
        Of::HasEnded => (StatusCode::CONFLICT, "has_ended", LET_GO),
        Of::NotQueued(_) => {
            (StatusCode::CONFLICT, "not_queued", "GET /v1/tasks?mission= says where each step stands")
        }
        Of::Busy(_) => (StatusCode::CONFLICT, "busy", "wait until that step has ended"),
        Of::NotLanding => (StatusCode::CONFLICT, "not_queued", FETCH),
        Of::NotYours(_) => (
            StatusCode::FORBIDDEN,
            "not_yours",
            "one of those persons answers it, in the console, with `orange-fleet mission answer` or with POST /v1/missions/{mission_id}/answers",
        ),
        Of::NotAsked(_) => (StatusCode::CONFLICT, "not_asked", FETCH),
        Of::Answered { .. } => (StatusCode::CONFLICT, "answered", FETCH),
        Of::NoSuchAnswer(_) => {
            (StatusCode::BAD_REQUEST, "no_such_answer", "give one of the answers that the question has")
        }
        Of::OtherCommit { .. } => (
            StatusCode::CONFLICT,
            "moved",
            "look at the commit that the question shows, and name that one in `commit`",
        ),
        Of::ResultNeeded => (
            StatusCode::BAD_REQUEST,
            "result_needed",
            "add `result`: the run says which words are accepted, in `results`",
        ),
        Of::Output(_) => (
            StatusCode::BAD_REQUEST,
            "output",
            "correct `outputs` and report again: the run says what is declared, in `outputs`",
        ),
        Of::ResultUndeclared => (
            StatusCode::BAD_REQUEST,
            "result_undeclared",
            "report one of the words that the run lists in `results`",
        ),
        Of::NotPaused => (
            StatusCode::CONFLICT,
            "not_paused",
            "it may have been answered meanwhile; `orange-fleet mission show` and GET /v1/missions/{mission_id} say where it stands",
        ),
        Of::OtherPause { .. } => {
            (StatusCode::CONFLICT, "other_pause", "look at what the mission asks now, and answer that pause")
        }
        Of::NothingToAccept => {
            (StatusCode::CONFLICT, "nothing_to_accept", "continue without accepting a failure")
        }
        Of::NotFailed(_) => (StatusCode::CONFLICT, "not_failed", FETCH),
        Of::NothingToRetry => (
            StatusCode::CONFLICT,
            "nothing_to_retry",
            "retry the step that has failed itself, or the mission without naming one",
        ),
    }
}

/// Every refusal of a scheduler.
fn about_scheduler(refusal: &scheduler::Refusal) -> (StatusCode, &'static str, &'static str) {
    use scheduler::Refusal as Of;
    match refusal {
        Of::RoleTaken { .. } => (
            StatusCode::BAD_REQUEST,
            "role_taken",
            "register with another role, or with `any`, of which a colony may have many; DELETE /v1/crabs/{crab_id} frees the roles of a crab that is gone",
        ),
        Of::NoRole => (StatusCode::BAD_REQUEST, "no_role", "name a `role`, or several in `roles`"),
        Of::NoSuchCrab => (StatusCode::NOT_FOUND, "unknown_crab", "register with POST /v1/crabs/register"),
        Of::HasSwept => (StatusCode::CONFLICT, "refused", "POST /v1/scheduler/tick sweeps in any case"),
        Of::NoSuchLease => (
            StatusCode::CONFLICT,
            "no_lease",
            "end the agent of this run, and keep its work: the run belongs to another crab, or to none",
        ),
    }
}

impl From<HostError> for ApiError {
    fn from(error: HostError) -> ApiError {
        match error {
            HostError::Unavailable(cause) => {
                log::error!(cause = cause.as_str(); "the store does not answer");
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the store does not answer")
                    .help("nothing may have changed: send the same call again, with the same Idempotency-Key")
            }
            HostError::Corrupt(cause) => {
                log::error!(cause = cause.as_str(); "the store has something that cannot be read");
                let message = "something in the store cannot be read";
                ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "corrupt", message)
                    .help("the log of the gateway says what; a newer version of orange-fleet may be needed")
            }
            HostError::Unsupported(what) => ApiError::new(StatusCode::NOT_IMPLEMENTED, "unsupported", what)
                .help("docs/fleet.md says which store can do it"),
            HostError::Stopping => ApiError::stopping(),
        }
    }
}

impl From<orange_api::Error> for ApiError {
    fn from(error: orange_api::Error) -> ApiError {
        log::error!(cause = error.one_line().as_str(); "the gateway cannot do its work");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the gateway cannot do its work")
            .help("the log of the gateway says why")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let ApiError { status, code, message, help } = self;
        let body = Json(RefusedCall { error: Complaint { code: code.to_owned(), message, help } });
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(AGAIN.as_secs()));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"orange-fleet\""));
        }
        response
    }
}
