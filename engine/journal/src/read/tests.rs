//! Lines of journals become records, and nothing that was written is read as something else.

use std::cell::Cell;

use super::*;
use crate::{Event, Set};

const CREATED: &str =
    r#"{"seq":1,"timestamp":"t","type":"task.created","branch":"fix","actor":"human","set":{"status":"a"}}"#;
const CHANGED: &str =
    r#"{"seq":2,"timestamp":"t","type":"status.changed","from":"a","to":"b","set":{"status":"b"}}"#;

#[track_caller]
fn check_corrupt(text: &str, expect: &str) {
    match parse(text.as_bytes()).unwrap_err() {
        Unreadable::Line { number, what } => {
            let said = format!("{number}: {what}");
            assert!(said.starts_with(expect), "{said}");
        }
        Unreadable::Io(cause) => panic!("{cause}"),
    }
}

#[test]
fn other_broken_lines_are_corrupt() {
    check_corrupt(&format!("{CREATED}\nnonsense\n{CHANGED}\n"), "2: ");
    check_corrupt(&format!("{CREATED}\n{CREATED}\n"), "2: seq 1 after 1");
    check_corrupt(&format!("{CREATED}\n{{\"seq\":2}}\n"), "2: missing field");
    check_corrupt(&CHANGED.replace("\"a\"", "1"), "1: ");
}

#[test]
fn newer_versions_are_understood() {
    let newer = r#"{"seq":3,"timestamp":"t","type":"moon.landed","crew":["a"],"set":{"status":"c","hue":{"x":1}},"x":2}"#;
    let known = r#"{"seq":4,"timestamp":"t","type":"agent.exited","spawn":1,"code":0,"mood":"fine"}"#;
    let journal = parse(format!("{CREATED}\n{CHANGED}\n{newer}\n{known}\n").as_bytes()).unwrap();
    assert_eq!(journal.records[2].event, Event::Unknown);
    assert_eq!(journal.history().owned.status, "c");
    assert_eq!(journal.history().last_seq, 4);
}

/// The quick reading finds what the whole reading finds, or leaves it to that.
#[track_caller]
fn check_owned(lines: &[&str], quick: bool) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let whole = parse(text.as_bytes()).map(|journal| journal.history().owned);
    match owned(text.as_bytes()) {
        Some(owned) => assert!(quick && whole.is_ok_and(|whole| whole == owned)),
        None => assert!(!quick),
    }
}

#[test]
fn owned_values_are_read_quickly() {
    let nested = r#"{"seq":3,"timestamp":"t","type":"x","y":{"z":1,"set":{"status":"no"}}}"#;
    let quoted = r#"{"seq":3,"timestamp":"t","type":"x","y":",\"set\":{\"status\":\"no\"}}"}"#;
    let values = r#"{"seq":3,"timestamp":"t","type":"x","set":{"status":"é\n","n":4294967295,"m":-1,"workspace":null}}"#;
    let inside = r#"{"seq":3,"timestamp":"t","set":{"status":"no"},"type":"x"}"#;
    let word = r#"{"seq":3,"timestamp":"t","type":"task.repaired","field":"set"}"#;
    check_owned(&[CREATED, CHANGED], true);
    check_owned(&[CREATED, quoted], true);
    check_owned(&[CREATED, values], true);
    check_owned(&[CREATED, nested], false);
    check_owned(&[quoted], false);
    check_owned(&[CREATED, "", "{\"seq\":2,\"set\":{\"a"], false);
    check_owned(&[CREATED, inside], false);
    check_owned(&[CREATED, word], false);
    check_owned(&[CREATED, "nonsense"], false);
    check_owned(&[CREATED, "nonsense", CHANGED], false);
    check_owned(&[CREATED, &CHANGED[..40], CHANGED], false);
    check_owned(&[CREATED, CHANGED, CHANGED], false);
}

#[test]
fn every_event_reads_back() {
    use crate::event::*;
    // No two are the same, so that none can be taken for another.
    let count = Cell::new(0);
    let text = || {
        count.set(count.get() + 1);
        count.get().to_string()
    };
    let some = || Some(text());
    let pass = || Some(Pass { section: text(), hash: text(), commit: some() });
    let counter = Some(CounterValue { name: text(), value: 3 });
    let plan = Transition {
        from: text(),
        to: text(),
        transition: Some(4),
        cause: text(),
        actor: text(),
        hooks: vec![PlannedHook { name: text(), index: 1, counter }],
        gate: pass(),
        stood: pass().into_iter().collect(),
    };
    let spawn = Spawn {
        spawn: 1,
        actor: text(),
        prompt: text(),
        harness: text(),
        session: text(),
        window: text(),
        permissions: text(),
        conversation: some(),
        resumed: true,
        not_resumed: some(),
        stood: pass().into_iter().collect(),
        answers: some(),
    };
    let events = vec![
        Event::TaskCreated { branch: text(), actor: text(), creator: some() },
        Event::AgentSpawned(spawn.clone()),
        Event::AgentRespawned(spawn),
        Event::AgentExited {
            spawn: 1,
            code: Some(-1),
            signal: Some(9),
            reason: text(),
            duration: Some(9),
            last_lines: vec![text(), "\"set\":{}".to_owned()],
            trace: Trace {
                conversation: some(),
                transcript: some(),
                not_kept: some(),
                spent: Spent { tokens: Some(7), cost: Some(9) },
            },
        },
        Event::AgentNotResumed { spawn: 1, conversation: text(), reason: text() },
        Event::AgentWaiting(Waiting { spawn: 1, until: text(), after: 9, reason: text() }),
        Event::AgentGivenUp { spawn: 1, reason: text() },
        Event::AgentStopped { spawns: vec![1], actor: text() },
        Event::AgentActivity(Report {
            spawn: 1,
            state: text(),
            reason: text(),
            until: some(),
            request: some(),
            conversation: some(),
            transcript: some(),
            tokens: Some(7),
            cost: Some(8),
        }),
        Event::AgentContinued { spawn: 1, reason: text() },
        Event::AgentCrashed { spawn: Some(1), status: text(), crash_count: 1, reason: text() },
        Event::TransitionStarted(plan),
        Event::HookEnded { hook: text(), index: 1, error: some() },
        Event::StatusChanged { from: text(), to: text(), cause: text(), actor: text(), gate: pass() },
        Event::AutoAdvanced { from: text(), to: text(), reason: text() },
        Event::TaskRepaired { field: text(), found: some(), kept: some() },
        Event::BranchMade { branch: text(), commit: text() },
        Event::MergeStarted { into: text(), commit: text() },
        Event::TaskMerged { strategy: text(), into: text(), commit: some() },
        Event::TaskForceMerged { from: text(), strategy: text(), into: text(), commit: some() },
        Event::PrCreated { url: text() },
        Event::PrMerged { url: text() },
        Event::PrClosed { url: text() },
        Event::WorkflowChanged { workflow: text(), from: text(), to: text(), compare: text() },
        Event::TaskMigrated {
            from: text(),
            to: text(),
            workflow: text(),
            actor: text(),
            dropped_hooks: vec![text()],
        },
        Event::CommandEnded { argv: vec![text()], code: Some(1), output: text(), file: Some(text()) },
        Event::WorkBackedUp { reference: text(), commit: text() },
        Event::WorkSetAside { folder: text() },
        Event::TaskDeleted { actor: text() },
        Event::TaskRestored { actor: text() },
        Event::Unknown,
    ];
    assert_eq!(events.len(), include_str!("../event.rs").matches("rename = ").count(), "one of each");
    let set = Set::new().counter("review_round", u32::MAX).workspace(None);
    for event in events {
        let record = Record { seq: 1, timestamp: text(), event, set: set.clone() };
        let line = serde_json::to_vec(&record).unwrap();
        assert_eq!(serde_json::from_slice::<Record>(&line).unwrap(), record);
    }
}
