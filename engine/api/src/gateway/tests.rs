//! Tests of what is on the wire.

use super::*;

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn messages_are_read_and_unknown_ones_passed_over() {
    let messages = r#"{"messages":[{"type":"TaskAssigned","run_id":"m.plan.1","mission_id":"m","colony_id":"c",
        "step_id":"plan","title":"Plan","attempt":1,"role":"planner","status":"assigned","prompt":"In @W: do",
        "worktree_token":"@W","context":"","branch":"b","repository":"r","base":null,"harness":null,
        "permissions":"full","results":["PASS"],"needs_result":true,"timeout":null,"stuck_after":2,
        "worktree_path":null},
        {"type":"EndAgent","run_id":"m.plan.1","mission_id":"m","attempt":1},
        {"type":"Retry","after_ms":5},{"type":"Dance","how":"well"}]}"#;
    let Messages { messages } = serde_json::from_str(messages).unwrap();
    let [MessageToCrab::TaskAssigned(assigned), end, retry, unknown] = &messages[..] else { panic!() };
    assert_eq!(assigned.prompt_in("/w"), "In /w: do");
    assert_eq!(assigned.results, ["PASS"]);
    let (run_id, mission_id) = ("m.plan.1".to_owned(), "m".to_owned());
    assert_eq!(*end, MessageToCrab::EndAgent { run_id, mission_id, attempt: 1 });
    assert_eq!(*retry, MessageToCrab::Retry { after_ms: 5 });
    assert_eq!(*unknown, MessageToCrab::Unknown);
}

#[test]
fn what_a_report_lacks_is_not_sent() {
    let body = CompleteBody {
        run_id: "m.plan.1".to_owned(),
        crab_id: None,
        status: RunEnd::Completed,
        result: None,
        summary: "s".to_owned(),
        warning: None,
        outputs: std::collections::BTreeMap::new(),
        commit: None,
    };
    assert_eq!(text(&body), r#"{"run_id":"m.plan.1","status":"completed","summary":"s"}"#);
}

#[test]
fn the_line_of_a_crab_has_two_messages() {
    assert_eq!(text(&CrabMessage::Park), r#"{"type":"Park"}"#);
    let heartbeat = CrabMessage::Heartbeat { runs: vec!["m.plan.1".to_owned()] };
    assert_eq!(text(&heartbeat), r#"{"type":"Heartbeat","runs":["m.plan.1"]}"#);
}

#[test]
fn what_a_person_leaves_out_is_not_sent() {
    assert_eq!(text(&RetryBody::default()), "{}");
    assert_eq!(text(&Nothing {}), "{}");
    assert_eq!(text(&ContinueBody::default()), r#"{"accept_failure":false}"#);
    let acted = Acted { mission_id: "m".to_owned(), version: 3, answered: None, step_id: None };
    assert_eq!(text(&acted), r#"{"mission_id":"m","version":3}"#);
    assert!(serde_json::from_str::<RetryBody>(r#"{"stop":"plan"}"#).is_err());
}
