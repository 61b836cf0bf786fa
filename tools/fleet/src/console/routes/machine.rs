//! The work of the gateway's own machine.

use std::sync::Arc;

use axum::Form;
use axum::extract::Query;
use axum::response::{IntoResponse, Redirect};
use orange_api::{Error, ErrorKind};
use serde::Deserialize;

use super::forms::is_of;
use super::{PageResult, Visit, missing, shown};
use crate::console::guard::HandlerFailure;
use crate::console::machine::{Chosen, LocalMachine};
use crate::console::view::failed::Problem;
use crate::console::view::machine::MachinePage;

/// Query of this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MachineQuery {
    said: String,
}

/// A form of this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MachineForm {
    csrf: String,
    key: String,
    id: String,
    command: String,
    text: String,
}

pub(super) async fn page(visit: Visit, Query(asked): Query<MachineQuery>) -> PageResult {
    let frame = visit.frame().await?;
    let machine = machine(&visit)?;
    let work = asked_of(machine, LocalMachine::work).await?;
    let said = (asked.said == "done").then_some("It is done.");
    let work = work.into_iter().map(|it| (it, visit.seal())).collect();
    shown(&MachinePage { work, said }.page(), &frame)
}

pub(super) async fn act(visit: Visit, Form(sent): Form<MachineForm>) -> PageResult {
    is_of(&visit, &sent.csrf)?;
    let machine = machine(&visit)?;
    let chosen = Chosen {
        // The forms of one card have one seal.
        key: format!("{} {}", sent.key, sent.command),
        id: sent.id,
        // A browser writes line ends as two characters.
        command: sent.command.lines().map(str::to_owned).collect(),
        text: sent.text.replace("\r\n", "\n"),
    };
    asked_of(machine, move |it| it.act(&chosen)).await?;
    Ok(Redirect::to("/console/machine?said=done").into_response())
}

fn machine(visit: &Visit) -> Result<Arc<LocalMachine>, HandlerFailure> {
    let machine = visit.console.machine.clone();
    machine.ok_or_else(|| {
        missing(
            "page",
            "of this machine: `orange-fleet serve --home DIR` shows one",
            ("/console", "The inbox"),
        )
    })
}

/// Asks on a thread that may wait for the program.
async fn asked_of<T: Send + 'static>(
    machine: Arc<LocalMachine>,
    ask: impl FnOnce(&LocalMachine) -> orange_api::Result<T> + Send + 'static,
) -> Result<T, HandlerFailure> {
    let asked = tokio::task::spawn_blocking(move || ask(&machine)).await;
    let stopped = |_| Error::new(ErrorKind::Environment, "the gateway stops");
    asked.map_err(stopped).and_then(|it| it).map_err(refused)
}

fn refused(error: Error) -> HandlerFailure {
    let status = match error.kind {
        ErrorKind::Environment | ErrorKind::TimedOut | ErrorKind::Corrupt => 503,
        ErrorKind::NotFound => 404,
        ErrorKind::Usage => 400,
        ErrorKind::NoTransition
        | ErrorKind::GuardFailed
        | ErrorKind::GateFailed
        | ErrorKind::NotAllowed
        | ErrorKind::NotRespawnable
        | ErrorKind::HooksWait
        | ErrorKind::Refused
        | ErrorKind::Locked => 409,
    };
    HandlerFailure::from(Problem {
        status,
        title: if status == 503 { "No answer" } else { "It is not done" }.to_owned(),
        message: error.message.clone(),
        help: error.help.clone(),
        next: ("/console/machine".to_owned(), "This machine".to_owned()),
    })
}
