//! Lines of journals become records, and nothing that was written is read as something else.

use super::*;
use crate::event::Cause;
use crate::history::owned;
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
    let mut count = 0;
    let set = Set::new().counter("review_round", u32::MAX).workspace(None);
    let samples = Event::samples(&mut count);
    assert_eq!(samples.len(), Event::TYPES.len());
    for (event, declared) in samples.into_iter().zip(Event::TYPES) {
        let record = Record { seq: 1, timestamp: "t".to_owned(), event, set: set.clone() };
        let line = serde_json::to_vec(&record).unwrap();
        assert_eq!(serde_json::from_slice::<Record>(&line).unwrap(), record);
        let line = record.to_json();
        assert_eq!(line["type"], declared.name);
        let written = line.as_object().unwrap().keys().map(String::as_str);
        let of_all = ["seq", "timestamp", "type", "set"];
        let mut written: Vec<_> = written.filter(|name| !of_all.contains(name)).collect();
        let mut fields = declared.fields.to_vec();
        written.sort_unstable();
        fields.sort_unstable();
        assert_eq!(written, fields, "{}", declared.name);
        assert!(declared.when.concat().ends_with('.'), "{} has no sentence", declared.name);
    }
}

#[test]
fn words_of_a_newer_version_are_kept() {
    let line = r#"{"seq":1,"timestamp":"t","type":"status.changed","from":"a","to":"b","cause":"moon","actor":"cat"}"#;
    let record: Record = serde_json::from_str(line).unwrap();
    let Event::StatusChanged { cause, actor, .. } = &record.event else { panic!("{record:?}") };
    assert_eq!((cause, actor.known()), (&Cause::Other("moon".to_owned()), None));
    assert_eq!(serde_json::to_string(&record).unwrap(), line);
}
