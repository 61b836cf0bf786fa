//! Answers of people to the questions of steps.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use orange_api::gateway::{AnswerBody, AskAnswered, ReportOutcome};
use orange_codegen::suggest;
use orange_core::mission::{Answer, Event as MissionEvent, Refusal, StepStatus};
use orange_core::plan::{Plan, StepId};

use super::done;
use super::missions::{stored, unknown_mission};
use crate::host::{ActorCall, CallDetails, Event, StoredMission};
use crate::serve::auth::TokenHolder;
use crate::serve::error::ApiError;
use crate::serve::gateway::Gateway;
use crate::serve::input::{AuthorizedCaller, JsonInput, PathIds, text};

/// The longest word that is looked up among the answers.
const LONGEST_ANSWER: usize = 200;

/// The least digits that name a commit.
const SHORTEST_COMMIT: usize = 7;

pub(super) async fn create(
    State(gateway): State<Arc<Gateway>>,
    caller: AuthorizedCaller,
    PathIds(id): PathIds<String>,
    JsonInput(body): JsonInput<AnswerBody>,
) -> Result<Json<AskAnswered>, ApiError> {
    let by = person(&gateway, &caller.holder)?;
    answer_question(&gateway, caller.key, &id, by, body).await.map(Json)
}

/// Name of the person whose token this is.
fn person(gateway: &Gateway, holder: &TokenHolder) -> Result<String, ApiError> {
    gateway
        .tokens
        .name_of(&holder.id)
        .ok_or_else(|| crate::serve::auth::unauthorized("the token is not known any more"))
}

/// Answers the question of a step in the name of a person.
///
/// # Errors
/// `not_yours` for a person whom the step does not ask; `answered` where another answer counts; `moved` where the question shows another
/// commit than the one that was meant.
pub async fn answer_question(
    gateway: &Gateway,
    key: Option<String>,
    id: &str,
    by: String,
    body: AnswerBody,
) -> Result<AskAnswered, ApiError> {
    text("comment", &body.comment, gateway.settings.limits.text)?;
    text("answer", &body.answer, LONGEST_ANSWER)?;
    let stored = stored(gateway, id).await?;
    let plan = stored.plan;
    let step = asked(&stored, body.step.as_deref())?;
    let state = stored.mission.step(step);
    let attempt = body.attempt.unwrap_or_else(|| state.attempt());
    let AnswerBody { answer, comment, commit, .. } = body;
    let commit = commit.map(|it| whole(it, state.shown()));
    let reply = Answer { word: answer.clone(), comment, by: by.clone(), commit };
    let event = MissionEvent::Answer { step, attempt, answer: reply };
    let event = Event::Mission { id: id.to_owned(), event };
    let call = ActorCall { key, event, about: CallDetails::default() };
    let given = done(gateway.host.apply(call).await?, Some(plan), || unknown_mission(id));
    let given = given.map_err(|refused| with_answers(refused, plan, step))?;
    gateway.trace(id, None);
    let outcome = if given.is_repeated { ReportOutcome::Repeated } else { ReportOutcome::Accepted };
    let (mission_id, step_id) = (id.to_owned(), plan.step(step).id.to_owned());
    Ok(AskAnswered { mission_id, step_id, attempt, answer, by, outcome, version: given.version })
}

/// The step that is meant: the one of this name, or the only one that asks.
fn asked(stored: &StoredMission, name: Option<&str>) -> Result<StepId, ApiError> {
    let plan = stored.plan;
    if let Some(name) = name {
        let refused = || {
            let refused = ApiError::of_mission(&Refusal::NoSuchStep, plan);
            let help = suggest::help(name, "steps", plan.steps.iter().map(|it| it.id));
            let own = refused.help.clone();
            refused.help(help.unwrap_or(own))
        };
        let step = plan.step_named(name).ok_or_else(refused)?;
        return match plan.step(step).is_ask() {
            true => Ok(step),
            false => Err(ApiError::of_mission(&Refusal::NotAsked(StepStatus::Running), plan)),
        };
    }
    let open: Vec<StepId> = stored.questions().iter().map(|it| it.step).collect();
    match &open[..] {
        [step] => Ok(*step),
        [] => Err(ApiError::conflict("not_asked", "no step of the mission asks a person now").help(
            "`orange-fleet mission show` and GET /v1/missions/{mission_id} say where the mission stands",
        )),
        several => {
            let names: Vec<&str> = several.iter().map(|it| plan.step(*it).id).collect();
            Err(ApiError::bad("step_needed", format!("several steps ask: {}", names.join(", ")))
                .help("name the one that is meant in `step`"))
        }
    }
}

/// The commit that is shown, if this is it or its first digits; else what was given.
fn whole(given: String, shown: Option<&String>) -> String {
    let is_meant = |shown: &&String| given.len() >= SHORTEST_COMMIT && shown.starts_with(&given);
    shown.filter(is_meant).cloned().unwrap_or(given)
}

/// Refusal of a word that is not one of the answers, with them.
fn with_answers(refused: ApiError, plan: &Plan<'_>, step: StepId) -> ApiError {
    match refused.code {
        "no_such_answer" => {
            refused.help(format!("give one of these: {}", plan.step(step).answers().join(", ")))
        }
        _ => refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_digits_name_a_commit() {
        let shown = "0123456789abcdef".to_owned();
        let check = |given: &str, expect: &str| assert_eq!(whole(given.to_owned(), Some(&shown)), expect);
        check("0123456", &shown);
        check(&shown, &shown);
        check("012345", "012345");
        check("0123457", "0123457");
        assert_eq!(whole("0123456".to_owned(), None), "0123456");
    }
}
