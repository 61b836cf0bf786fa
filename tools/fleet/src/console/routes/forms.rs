//! The forms that people send: each once, from its own session, through the entry point of the gateway.

use axum::Form;
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect};
use orange_api::gateway::{AnswerBody, PauseEffect};
use orange_core::plan::{Execution, Intervene};
use serde::Deserialize;

use super::pages::start_form;
use super::{PageResult, Visit, unanswered};
use crate::console::entry_point::{Ask, Begin, DoneRequest, RefusedRequest};
use crate::console::guard::HandlerFailure;
use crate::console::view::failed::Problem;
use crate::console::view::start::Filled;

/// Fields that every form carries, and fields that each of them may.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SentForm {
    csrf: String,
    key: String,
    pause: String,
    accept: String,
    attempt: String,
    answer: String,
    comment: String,
    commit: String,
    step: String,
    colony: String,
    workflow: String,
    prompt: String,
    branch: String,
    execution: String,
    intervene: String,
}

pub(super) async fn start(visit: Visit, Form(sent): Form<SentForm>) -> PageResult {
    is_of(&visit, &sent.csrf)?;
    let filled = Filled {
        colony: sent.colony.clone(),
        workflow: sent.workflow.clone(),
        prompt: sent.prompt.clone(),
        branch: sent.branch.clone(),
        execution: sent.execution.clone(),
        intervene: sent.intervene.clone(),
    };
    let ask = Ask::Start(Begin {
        colony: sent.colony.clone(),
        workflow: sent.workflow.clone(),
        // A browser writes line ends as two characters.
        prompt: sent.prompt.replace("\r\n", "\n"),
        branch: some(&sent.branch),
        execution: sent.execution()?,
        intervene: sent.intervene()?,
    });
    match visit.console.entry_point.ask(sent.key, ask).await.map_err(unanswered)? {
        Ok(done) => to(&done, "started"),
        Err(refused) => start_form(&visit, &filled, Some((&refused.message, &refused.help))).await,
    }
}

pub(super) async fn answer(visit: Visit, Path(id): Path<String>, Form(sent): Form<SentForm>) -> PageResult {
    is_of(&visit, &sent.csrf)?;
    let accepts = sent.accept == "yes";
    let (execution, intervene) = (sent.execution()?, sent.intervene()?);
    // A form that names no pause answers none.
    let pause = Some(sent.pause.parse().unwrap_or(0));
    let ask = Ask::Continue { mission: id.clone(), pause, accepts, execution, intervene };
    // A page has a form for each open pause, all with one key.
    let key = format!("{}-{}-{}", sent.key, sent.pause, if accepts { "accept" } else { "continue" });
    match visit.console.entry_point.ask(key, ask).await.map_err(unanswered)? {
        Ok(done) => {
            let said = match done.answered {
                Some(PauseEffect::TriedAgain) => "again",
                Some(PauseEffect::Granted) => "granted",
                Some(PauseEffect::Accepted) => "accepted",
                Some(PauseEffect::Extended) => "extended",
                Some(PauseEffect::Capped) => "capped",
                Some(PauseEffect::WentOn) | None => "went-on",
            };
            to(&done, said)
        }
        Err(refused) => Err(refusal(&id, "The answer does not count", refused)),
    }
}

pub(super) async fn retry(visit: Visit, Path(id): Path<String>, Form(sent): Form<SentForm>) -> PageResult {
    is_of(&visit, &sent.csrf)?;
    let ask = Ask::Retry { mission: id.clone(), step: some(&sent.step) };
    match visit.console.entry_point.ask(sent.key, ask).await.map_err(unanswered)? {
        Ok(done) => to(&done, "retried"),
        Err(refused) => Err(refusal(&id, "It does not run again", refused)),
    }
}

pub(super) async fn cancel(visit: Visit, Path(id): Path<String>, Form(sent): Form<SentForm>) -> PageResult {
    is_of(&visit, &sent.csrf)?;
    match visit
        .console
        .entry_point
        .ask(sent.key, Ask::Cancel { mission: id.clone() })
        .await
        .map_err(unanswered)?
    {
        Ok(done) => to(&done, "cancelled"),
        Err(refused) => Err(refusal(&id, "It is not cancelled", refused)),
    }
}

pub(super) async fn answer_question(
    visit: Visit,
    Path(id): Path<String>,
    Form(sent): Form<SentForm>,
) -> PageResult {
    is_of(&visit, &sent.csrf)?;
    let key = format!("{}-{}-{}-{}", sent.key, sent.step, sent.attempt, sent.answer);
    let answer = AnswerBody {
        step: Some(sent.step),
        // A form that names no attempt answers none.
        attempt: Some(sent.attempt.parse().unwrap_or(0)),
        answer: sent.answer,
        // A browser writes line ends as two characters.
        comment: sent.comment.replace("\r\n", "\n"),
        commit: some(&sent.commit),
    };
    let by = visit.person()?;
    let ask = Ask::Answer { mission: id.clone(), by, answer };
    match visit.console.entry_point.ask(key, ask).await.map_err(unanswered)? {
        Ok(done) => to(&done, "answered"),
        Err(refused) => Err(refusal(&id, "The answer does not count", refused)),
    }
}

/// Refuses a form that is not one of this session.
pub(super) fn is_of(visit: &Visit, csrf: &str) -> Result<(), HandlerFailure> {
    match visit.session.has_made(csrf) {
        true => Ok(()),
        false => Err(HandlerFailure::from(Problem {
            status: 403,
            title: "The form is of another session".to_owned(),
            message: "Nothing was done. You have signed in again since this page was loaded, or another site has sent the form."
                .to_owned(),
            help: "Load this page again, and send its form.".to_owned(),
            next: ("/console".to_owned(), "The inbox".to_owned()),
        })),
    }
}

impl SentForm {
    fn execution(&self) -> Result<Option<Execution>, HandlerFailure> {
        word(&self.execution, Execution::from_name, "execution")
    }

    fn intervene(&self) -> Result<Option<Intervene>, HandlerFailure> {
        word(&self.intervene, Intervene::from_name, "intervene")
    }
}

/// One of the words of a menu, or none.
fn word<T>(text: &str, of: fn(&str) -> Option<T>, name: &str) -> Result<Option<T>, HandlerFailure> {
    if text.is_empty() {
        return Ok(None);
    }
    let unknown = || Problem {
        status: 400,
        title: "The form has a word that nobody knows".to_owned(),
        message: format!("`{text}` is not a value of `{name}`."),
        help: "Load this page again, and choose one of its menu.".to_owned(),
        next: ("/console".to_owned(), "The inbox".to_owned()),
    };
    of(text).map(Some).ok_or_else(|| HandlerFailure::from(unknown()))
}

fn some(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|it| !it.is_empty())
}

fn to(done: &DoneRequest, said: &str) -> PageResult {
    Ok(Redirect::to(&format!("/console/missions/{}?said={said}", done.mission)).into_response())
}

fn refusal(id: &str, title: &str, refused: RefusedRequest) -> HandlerFailure {
    let RefusedRequest { status, message, help } = refused;
    let next = (format!("/console/missions/{id}"), "The mission as it is now".to_owned());
    HandlerFailure::from(Problem { status, title: title.to_owned(), message, help, next })
}
