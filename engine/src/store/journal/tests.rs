//! Journals are read, mended and appended to, and nothing that was written is read as something else.

use std::fs;

use super::*;

const CREATED: &str =
    r#"{"seq":1,"timestamp":"t","type":"task.created","branch":"fix","actor":"human","set":{"status":"a"}}"#;
const CHANGED: &str =
    r#"{"seq":2,"timestamp":"t","type":"status.changed","from":"a","to":"b","set":{"status":"b"}}"#;

#[track_caller]
fn check(text: &str, records: usize, torn: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    fs::write(&path, text).unwrap();
    let journal = read(&path).unwrap();
    assert_eq!(journal.records.len(), records);
    assert_eq!(journal.torn.as_ref().map(|torn| torn.text.as_str()), torn);

    mend(&path, &journal).unwrap();
    append(&path, &super::records(journal.history().last_seq, vec![Event::Unknown.into()])).unwrap();
    let again = read(&path).unwrap();
    assert_eq!((again.records.len(), again.torn), (records + 1, None));
}

#[test]
fn a_torn_last_line_is_cut_off() {
    check(&format!("{CREATED}\n{CHANGED}\n"), 2, None);
    check(&format!("{CREATED}\n{CHANGED}"), 2, None);
    check(&format!("{CREATED}\r\n\r\n{CHANGED}\r\n"), 2, None);
    check(&format!("{CREATED}\n{}", &CHANGED[..40]), 1, Some(&CHANGED[..40]));
    check(&format!("{CREATED}\n\0\0\0\0"), 1, Some("\0\0\0\0"));
    check(&format!("{CREATED}\n{{\"seq\":2,\n"), 1, Some("{\"seq\":2,\n"));
}

#[test]
fn nothing_is_appended_to_a_full_disk_or_a_torn_line() {
    let event = || super::records(0, vec![Event::Unknown.into()]);
    let full = Path::new("/dev/full");
    let file = File::options().read(true).append(true).open(full).unwrap();
    let error = append_to(file, full, b"{}\n").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Environment);
    assert!(error.message.contains("No space left"), "{}", error.message);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    fs::write(&path, "{\"seq\"").unwrap();
    assert_eq!(append(&path, &event()).unwrap_err().kind, ErrorKind::Environment);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"seq\"");
}

#[test]
fn the_last_records_are_kept_and_all_are_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    let events = (0..1000).map(|number| (Event::Unknown, Set::new().counter("review_round", number)));
    let written = super::records(0, events.collect());
    append(&path, &written).unwrap();
    let whole = read(&path).unwrap();
    assert_eq!((whole.records.len(), whole.left_out), (1000, 0));
    for keep in [0, 1, 7, 999] {
        let last = read_last(&path, keep).unwrap();
        assert_eq!((last.records.len(), last.left_out), (keep, 1000 - keep), "{keep}");
        assert_eq!(last.records, written[1000 - keep..], "{keep}");
        assert_eq!(last.history(), whole.history(), "{keep}");
    }
    // What is wrong in front of those that are kept is still wrong.
    let text = fs::read_to_string(&path).unwrap().replacen("\"seq\":500,", "\"seq\":400,", 1);
    fs::write(&path, text).unwrap();
    assert!(read_last(&path, 7).unwrap_err().message.contains(":500: "));
}

#[test]
fn whole_lines_are_measured_and_what_follows_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    assert_eq!((length(&path), since(&path, 0)), (0, vec![]));
    let long = format!("{{\"torn\":\"{}", "x".repeat(200_000));
    for (text, expect) in [("", 0), ("torn", 0), ("a\n", 2), ("a\ntorn", 2), (&format!("a\n{long}"), 2)] {
        fs::write(&path, text).unwrap();
        assert_eq!(length(&path), expect);
    }
    append(&folder.path().join("new"), &super::records(0, vec![Event::Unknown.into()])).unwrap();
    let line = fs::read_to_string(folder.path().join("new")).unwrap();
    fs::write(&path, format!("a\n{line}")).unwrap();
    assert_eq!(since(&path, 2).len(), 1);
    assert_eq!(since(&path, length(&path)), []);
}
