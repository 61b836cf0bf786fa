//! Answers, held against `openapi.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use orange_api::gateway::{
    Acted, AskAnswered, Colonies, ColonyAnswer, Crabs, HeartbeatAnswer, MessageToCrab, Messages,
    MissionAnswer, Missions, Records, RefusedCall, Registered, Reported, Runs, StatusAnswer, TaskAssigned,
    Tasks, Ticked, WorkflowList,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::world::HttpAnswer;

pub static API: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../openapi.json")).unwrap());

/// The validators of answers, by method, path and status.
static VALIDATORS: LazyLock<BTreeMap<(String, String, String), Validator>> = LazyLock::new(validators);

static MESSAGE: LazyLock<Validator> =
    LazyLock::new(|| validator(&json!({"$ref": "#/components/schemas/Message"})));

/// The answers that tests of this process have seen.
static SEEN: Mutex<BTreeSet<(String, String, u16)>> = Mutex::new(BTreeSet::new());

fn validators() -> BTreeMap<(String, String, String), Validator> {
    let mut found = BTreeMap::new();
    for (path, methods) in API["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                if let Some(schema) = response["content"]["application/json"].get("schema") {
                    found.insert((method.to_uppercase(), path.clone(), status.clone()), validator(schema));
                }
            }
        }
    }
    found
}

/// A validator of a part of the description, whose references are into the whole of it.
pub fn validator(schema: &Value) -> Validator {
    let mut whole = schema.clone();
    whole["components"] = API["components"].clone();
    whole["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    jsonschema::validator_for(&whole).unwrap()
}

/// The path of the description that a request has.
pub fn template(path: &str) -> Option<String> {
    let asked: Vec<&str> = path.split('?').next().unwrap().split('/').collect();
    let fits = |known: &str| {
        let known: Vec<&str> = known.split('/').collect();
        known.len() == asked.len()
            && known.iter().zip(&asked).all(|(known, asked)| known.starts_with('{') || known == asked)
    };
    let paths = API["paths"].as_object().unwrap();
    // A path without ids is meant before one with ids.
    let exact = paths.keys().find(|it| it.split('/').eq(asked.iter().copied()));
    exact.or_else(|| paths.keys().find(|it| fits(it))).cloned()
}

/// Notes an answer.
pub fn seen(method: &str, path: &str, status: u16) {
    SEEN.lock().unwrap().insert((method.to_owned(), path.to_owned(), status));
}

/// True if an answer of this status was seen.
pub fn was_seen(method: &str, path: &str, status: u16) -> bool {
    SEEN.lock().unwrap().contains(&(method.to_owned(), path.to_owned(), status))
}

/// Holds an answer against the description.
#[track_caller]
pub fn check(method: &str, path: &str, answer: &HttpAnswer) {
    let template = template(path).unwrap_or_else(|| panic!("{path} is not described"));
    seen(method, &template, answer.status);
    let by = |status: &str| VALIDATORS.get(&(method.to_owned(), template.clone(), status.to_owned()));
    let described = &API["paths"][&template][method.to_lowercase()];
    // A method that is not described is refused as all refusals are.
    let schema = match described["responses"].get(answer.status.to_string()) {
        Some(response) if response.get("content").is_none() => {
            return assert_eq!(answer.text, "", "{method} {path}");
        }
        Some(_) => by(&answer.status.to_string()),
        None if described.is_null() => {
            VALIDATORS.get(&("GET".to_owned(), "/v1/status".to_owned(), "default".to_owned()))
        }
        None => by("default"),
    };
    assert!(
        described["responses"].get(answer.status.to_string()).is_some() || answer.status >= 400,
        "{method} {path}: {}",
        answer.status
    );
    let Some(schema) = schema else { return };
    let errors: Vec<String> =
        schema.iter_errors(&answer.json).map(|it| format!("{it} at {}", it.instance_path())).collect();
    assert!(errors.is_empty(), "{method} {path} {}: {errors:?}\n{}", answer.status, answer.text);
    if answer.status >= 400 {
        reads_back::<RefusedCall>(&answer.text)
    } else {
        typed(method, &template, &answer.text)
    }
}

/// Reads an answer as its type, which writes every byte of it again.
#[track_caller]
fn typed(method: &str, template: &str, text: &str) {
    match (method, template) {
        ("POST", "/v1/colonies") => reads_back::<ColonyAnswer>(text),
        ("GET", "/v1/colonies") => reads_back::<Colonies>(text),
        ("POST", "/v1/crabs/register") => reads_back::<Registered>(text),
        ("GET", "/v1/crabs") => reads_back::<Crabs>(text),
        ("POST", "/v1/crabs/{crab_id}/poll") => reads_back::<Messages>(text),
        ("POST", "/v1/crabs/{crab_id}/heartbeat") => reads_back::<HeartbeatAnswer>(text),
        ("POST", "/v1/runs/start" | "/v1/runs/complete" | "/v1/runs/give-back") => {
            reads_back::<Reported>(text)
        }
        ("GET", "/v1/runs") => reads_back::<Runs>(text),
        ("GET", "/v1/runs/{run_id}") => reads_back::<TaskAssigned>(text),
        ("GET", "/v1/tasks") => reads_back::<Tasks>(text),
        ("GET", "/v1/missions") => reads_back::<Missions>(text),
        ("POST", "/v1/missions") | ("GET", "/v1/missions/{mission_id}") => reads_back::<MissionAnswer>(text),
        ("POST", "/v1/missions/{mission_id}/answers") => reads_back::<AskAnswered>(text),
        ("POST", path) if path.starts_with("/v1/missions/{mission_id}/") => reads_back::<Acted>(text),
        ("GET", "/v1/events" | "/v1/missions/{mission_id}/events") => reads_back::<Records>(text),
        ("GET", "/v1/status") => reads_back::<StatusAnswer>(text),
        ("GET", "/v1/workflows") => reads_back::<WorkflowList>(text),
        ("POST", "/v1/scheduler/tick") => reads_back::<Ticked>(text),
        ("GET", "/v1/openapi.json") => {}
        _ => panic!("{method} {template} answers with no type"),
    }
}

#[track_caller]
fn reads_back<T: Serialize + DeserializeOwned>(text: &str) {
    let answer: T = serde_json::from_str(text).unwrap_or_else(|cause| panic!("{cause}\n{text}"));
    assert_eq!(serde_json::to_string(&answer).unwrap(), text);
}

/// Holds a message to a crab against the description.
#[track_caller]
pub fn message(message: &Value) {
    let errors: Vec<String> = MESSAGE.iter_errors(message).map(|it| it.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{message}");
    let typed: MessageToCrab = serde_json::from_value(message.clone()).unwrap();
    assert_eq!(serde_json::to_value(typed).unwrap(), *message);
}
