//! People: they start missions, have paused ones go on, and cancel some.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::client::TortureClient;
use crate::crab::Fortune;
use crate::dice::Dice;
use crate::ledger::MissionScript;

/// So many missions that have not ended are enough.
const OPEN: u64 = 40;

/// Time for which a person waits before the next look.
const LOOK: Duration = Duration::from_millis(60);

/// Starts missions until it is calm.
pub(crate) fn start_missions(
    name: &str,
    client: &TortureClient,
    colony: &str,
    dice: &mut Dice,
    fortune: &Fortune,
) {
    let mut number = 0;
    while !client.is_over() && !fortune.is_calm.load(Ordering::Relaxed) {
        let Some(status) = client.ask("GET", "/v1/status", None, None) else { return };
        let count = |word: &str| status.body["missions"][word].as_u64().unwrap_or(0);
        if count("running") + count("pending") + count("paused") > OPEN {
            thread::sleep(LOOK);
            continue;
        }
        number += 1;
        let (script, word) = match dice.below(11) {
            0..=4 => (MissionScript::Plain, "plain"),
            5 | 6 => (MissionScript::Fixed, "fixed"),
            7 => (MissionScript::Fails, "fails"),
            8 => (MissionScript::Stepped, "stepped"),
            9 => (MissionScript::Asked, "asked"),
            _ => (MissionScript::Cancelled, "cancelled"),
        };
        let key = format!("{name}-{number}");
        let execution = if script == MissionScript::Stepped { "step" } else { "auto" };
        let workflow = if script == MissionScript::Asked { "asked" } else { "torture" };
        let body = json!({"colony_id": colony, "workflow": workflow, "prompt": format!("{word} {key}"),
            "execution": execution, "intervene": "never"});
        // Some do not trust an answer, and ask a second time.
        for _ in 0..=u8::from(dice.once_in(5)) {
            let Some(answer) = client.ask("POST", "/v1/missions", Some(&key), Some(&body)) else { return };
            match answer.is_success() {
                true => client.ledger().made(&key, answer.word("mission_id"), script),
                false => {
                    client.ledger().notes().broken.push(format!("a mission is refused: {}", answer.body));
                    return;
                }
            }
        }
        thread::sleep(dice.time(LOOK));
    }
}

/// Approves what steps ask. Some do not trust an answer, and give it a second time.
fn answer_questions(client: &TortureClient, dice: &mut Dice) {
    let Some(asking) = client.ask("GET", "/v1/missions?asks=true&limit=100", None, None) else { return };
    for mission in asking.body["missions"].as_array().into_iter().flatten() {
        let Some(id) = mission["mission_id"].as_str() else { continue };
        let path = format!("/v1/missions/{id}/answers");
        let body = json!({"step": "ok", "attempt": 1, "answer": "approve"});
        for _ in 0..=u8::from(dice.once_in(3)) {
            match client.ask("POST", &path, None, Some(&body)) {
                Some(answer) if answer.is_success() => {
                    _ = client.ledger().notes().answers.insert(id.to_owned())
                }
                Some(answer) => {
                    client
                        .ledger()
                        .notes()
                        .broken
                        .push(format!("an answer to {id} is refused: {}", answer.body));
                }
                None => return,
            }
        }
    }
}

/// Answers pauses and questions, and cancels missions until the run is over.
pub(crate) fn answer_missions(client: &TortureClient, dice: &mut Dice) {
    let mut asked = std::collections::BTreeSet::new();
    while !client.is_over() {
        let Some(paused) = client.ask("GET", "/v1/missions?status=paused&limit=100", None, None) else {
            return;
        };
        for mission in paused.body["missions"].as_array().into_iter().flatten() {
            let (Some(id), Some(pause)) = (mission["mission_id"].as_str(), mission["pause"].as_u64()) else {
                continue;
            };
            let key = format!("continue-{id}-{pause}");
            let path = format!("/v1/missions/{id}/continue");
            let answer = client.ask("POST", &path, Some(&key), Some(&json!({"pause": pause})));
            if answer.is_some_and(|it| it.is_success()) {
                client.ledger().notes().pauses.insert((id.to_owned(), pause));
            }
        }
        answer_questions(client, dice);
        let waiting: Vec<String> = {
            let notes = client.ledger().notes();
            let those = notes
                .missions
                .iter()
                .filter(|(_, it)| it.script == MissionScript::Cancelled && !it.is_cancelled);
            those.map(|(id, _)| id.clone()).filter(|id| !asked.contains(id)).collect()
        };
        for id in waiting {
            if dice.once_in(2) {
                continue;
            }
            let (path, key) = (format!("/v1/missions/{id}/cancel"), format!("cancel-{id}"));
            let answer = client.ask("POST", &path, Some(&key), Some(&json!({})));
            asked.insert(id.clone());
            if answer.is_some_and(|it| it.is_success())
                && let Some(made) = client.ledger().notes().missions.get_mut(&id)
            {
                made.is_cancelled = true;
            }
        }
        thread::sleep(LOOK);
    }
}
