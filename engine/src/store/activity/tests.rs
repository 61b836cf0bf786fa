//! The file under many writers and with hostile contents, and the state that notes fold to.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::store::Home;
use crate::store::tests::{TestProcess, home, task};

const WRITERS: u32 = 20;
const NOTES_OF_EACH: u32 = 100;

fn place() -> (tempfile::TempDir, WorkItemDir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = Home::at(folder.path()).task("toy", "t1");
    fs::create_dir_all(&dir.path).unwrap();
    (folder, dir)
}

fn note(kind: NoteKind, tool: &str, text: &str) -> ActivityNote {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    ActivityNote { tool: some(tool), text: some(text), ..ActivityNote::now(1, kind) }
}

/// Work of each of the writers, in a process of its own.
pub(in crate::store) fn note_many(dir: &WorkItemDir) {
    for number in 0..NOTES_OF_EACH {
        let text = format!("{}-{number} {}", std::process::id(), "x".repeat(60));
        append(dir, &note(NoteKind::Tool, "Bash", &text)).unwrap();
    }
}

#[test]
fn many_processes_append_and_no_line_is_lost() {
    let (_folder, home) = home();
    let dir = task(&home, "fix").dir().clone();
    let writers: Vec<_> = (0..WRITERS).map(|_| TestProcess::start("note", &home)).collect();
    assert!(writers.into_iter().all(TestProcess::succeeded));
    let written = fs::metadata(dir.activity()).unwrap().len();
    let former = fs::metadata(dir.former_activity()).unwrap().len();
    assert!(
        former > LONGEST_FILE && written < LONGEST_FILE,
        "the file was renamed once: {former}, {written}"
    );
    let mut texts: Vec<_> = read(&dir).into_iter().filter_map(|note| note.text).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), (WRITERS * NOTES_OF_EACH) as usize);
}

#[test]
fn an_agent_that_has_asked_and_was_answered_works() {
    let (_folder, dir) = place();
    let asks = ActivityNote { request: Some("r1".to_owned()), ..note(NoteKind::Permission, "Bash", "ls") };
    let answered = ActivityNote { request: Some("r1".to_owned()), ..note(NoteKind::Answered, "", "") };
    for one in [note(NoteKind::Reports, "", ""), asks, answered] {
        append(&dir, &one).unwrap();
    }
    let known = Activity::of(&read(&dir), 1);
    assert_eq!((known.doing, known.asked), (ReportedDoing::Thinking, Vec::new()));
    assert!(!known.since.is_empty());
}

#[test]
fn the_files_are_bounded_and_keep_what_is_newest() {
    let (_folder, dir) = place();
    let long = "y".repeat(1000);
    for number in 0..1000 {
        append(&dir, &note(NoteKind::Tool, "Bash", &format!("{number} {long}"))).unwrap();
    }
    let sizes = [dir.activity(), dir.former_activity()].map(|path| fs::metadata(path).unwrap().len());
    assert!(sizes.iter().all(|size| *size < LONGEST_FILE + 4096), "{sizes:?}");
    let texts: Vec<_> = read(&dir).into_iter().filter_map(|note| note.text).collect();
    assert!(texts.last().unwrap().starts_with("999 ") && texts.len() > 200, "{}", texts.len());
}

#[test]
fn a_line_that_is_not_a_note_is_passed_over() {
    let (_folder, dir) = place();
    append(&dir, &note(NoteKind::Prompt, "", "")).unwrap();
    let mut text = fs::read(dir.activity()).unwrap();
    for odd in [
        &b"\xff\xfe\0binary"[..],
        b"{\"time\":7}",
        b"{\"time\":\"t\",\"spawn\":-1,\"kind\":\"tool\"}",
        b"[1,2",
        &vec![b'{'; 100_000],
        b"{\"time\":\"t\",\"spawn\":1,\"kind\":\"moon\"}",
        b"{\"time\":\"t\",\"spawn\":1,\"kind\":\"to",
    ] {
        text.extend(odd);
        text.push(b'\n');
    }
    text.extend(b"{\"torn\":");
    fs::write(dir.activity(), text).unwrap();
    append(&dir, &note(NoteKind::Idle, "", "")).unwrap();
    let kinds: Vec<_> = read(&dir).into_iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::Prompt, NoteKind::Other, NoteKind::Idle]);
}

#[test]
fn something_else_in_the_place_of_the_file_is_no_notes() {
    let (_folder, dir) = place();
    fs::create_dir(dir.activity()).unwrap();
    assert_eq!(read(&dir), []);
    assert!(append(&dir, &note(NoteKind::Idle, "", "")).is_err());
    fs::remove_dir(dir.activity()).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.activity()).unwrap();
    assert_eq!(read(&dir), []);
}

#[test]
fn a_note_is_one_bounded_line_whatever_it_says() {
    let (_folder, dir) = place();
    let huge = "ä\n\u{1b}[31m\"".repeat(100_000);
    append(&dir, &note(NoteKind::Permission, &huge, &huge)).unwrap();
    let line = fs::read(dir.activity()).unwrap();
    assert!(line.len() < LONGEST_LINE, "{}", line.len());
    let [read] = &read(&dir)[..] else { panic!("one note") };
    let text = read.text.as_ref().unwrap();
    assert!(text.starts_with("ä\n\u{1b}[31m\"ä"), "what an agent may do is decided from it: {text}");
    let kept = text.rfind("\n… and ").unwrap();
    let says = format!("\n… and {} more bytes, which only the agent's screen shows", huge.len() - kept);
    assert_eq!(text[kept..], says);
    assert!(
        !read.line().contains(char::is_control) && !read.tool.as_ref().unwrap().contains(char::is_control)
    );
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20)) {
        let notes = parse(&lines.join(&b'\n'));
        let _ = Activity::of(&notes, 1);
    }
}

#[track_caller]
fn adds_up(notes: &[ActivityNote], doing: ReportedDoing, asked: &[&str]) {
    let activity = Activity::of(notes, 1);
    assert_eq!(activity.doing, doing);
    let texts: Vec<_> = activity.asked.iter().filter_map(|note| note.text.as_deref()).collect();
    assert_eq!(texts, asked);
}

fn tool(text: &str) -> ReportedDoing {
    ReportedDoing::Tool { tool: "Bash".to_owned(), text: text.to_owned() }
}

#[test]
fn a_request_is_open_until_its_tool_has_run_or_the_turn_is_over() {
    let asks = || {
        vec![
            note(NoteKind::Prompt, "", ""),
            note(NoteKind::Tool, "Bash", "ls"),
            note(NoteKind::Permission, "Bash", "ls"),
        ]
    };
    let with = |last: ActivityNote| [asks(), vec![last]].concat();
    adds_up(&asks(), tool("ls"), &["ls"]);
    adds_up(&with(note(NoteKind::ToolEnded, "Bash", "ls")), ReportedDoing::Thinking, &[]);
    adds_up(&with(note(NoteKind::ToolEnded, "Bash", "pwd")), ReportedDoing::Thinking, &["ls"]);
    adds_up(&with(note(NoteKind::Permission, "Bash", "ls")), tool("ls"), &["ls"]);
    adds_up(&with(note(NoteKind::Permission, "Bash", "rm")), tool("ls"), &["ls", "rm"]);
    adds_up(&with(note(NoteKind::Idle, "", "")), ReportedDoing::Idle, &[]);
    adds_up(&with(note(NoteKind::Prompt, "", "")), ReportedDoing::Thinking, &[]);
    adds_up(&with(note(NoteKind::Ended, "", "")), ReportedDoing::Ended, &[]);
}

#[test]
fn an_answer_closes_the_request_that_it_names() {
    let named =
        |kind, name: &str| ActivityNote { request: Some(name.to_owned()), ..note(kind, "Bash", name) };
    let notes =
        [named(NoteKind::Permission, "a"), named(NoteKind::Permission, "b"), named(NoteKind::Answered, "a")];
    // Who asks works, though nothing else was reported.
    adds_up(&notes, ReportedDoing::Thinking, &["b"]);
}

#[test]
fn a_limit_lasts_until_the_next_prompt() {
    let limit = ActivityNote { until: Some("2026".to_owned()), ..note(NoteKind::Limit, "", "429") };
    let expect =
        ReportedDoing::Limit(ReportedLimit { until: Some("2026".to_owned()), text: "429".to_owned() });
    adds_up(&[note(NoteKind::Prompt, "", ""), limit.clone()], expect.clone(), &[]);
    adds_up(&[limit.clone(), note(NoteKind::Started, "", "")], expect, &[]);
    let ended = Activity::of(&[limit.clone(), note(NoteKind::Ended, "", "")], 1);
    assert!(ended.limit.is_some() && ended.doing == ReportedDoing::Ended);
    adds_up(&[limit, note(NoteKind::Prompt, "", "")], ReportedDoing::Thinking, &[]);
}

#[test]
fn what_other_agents_report_is_theirs() {
    let other = ActivityNote { spawn: 2, ..note(NoteKind::Idle, "", "") };
    adds_up(&[note(NoteKind::Prompt, "", ""), other], ReportedDoing::Thinking, &[]);
}
