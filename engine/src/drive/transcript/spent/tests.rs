//! Figures of claude and codex. The files in `fixtures` are records of claude 2.1.197 and codex 0.169.0, run against a scripted model,
//! without texts: a session of claude with one subagent, and a thread of codex with two, both forked from it. Copied totals, which
//! codex wrote before, are made from such a rollout and from public reports (ccusage/ccusage#1370, #1460).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::*;

const SESSION: &str = "claude/72e91dff-bdd2-44b8-b1ae-372b73b264a6.jsonl";
const THREADS: &str = "codex/sessions/2026/11/30";
const THREAD: &str = "rollout-2026-11-30T05-43-17-01a22afa-a037-70d3-b682-3d99ddeafccc.jsonl";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/drive/transcript/fixtures").join(name)
}

fn claude(id: &str, minute: u32, input: u32, output: u32) -> String {
    format!(
        r#"{{"type":"assistant","timestamp":"2026-11-22T12:{minute:02}:00.000Z","message":{{"id":"{id}","model":"m","usage":{{"input_tokens":{input},"cache_read_input_tokens":1000,"output_tokens":{output}}}}}}}"#
    )
}

fn codex(minute: u32, total: u32) -> String {
    format!(
        r#"{{"timestamp":"2026-11-22T12:{minute:02}:00.000Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{total}}}}}}}}}"#
    )
}

/// A total of a thread, and the usage of its last answer.
fn answer(total: u32, last: u32) -> String {
    let counts = |all: u32| {
        format!(
            r#"{{"input_tokens":{},"cached_input_tokens":{},"output_tokens":{},"total_tokens":{all}}}"#,
            all - all / 10,
            all / 10,
            all / 10
        )
    };
    format!(
        r#"{{"timestamp":"2026-11-22T13:00:00.000Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{},"last_token_usage":{}}}}}}}"#,
        counts(total),
        counts(last)
    )
}

fn meta(id: &str, more: &str) -> String {
    format!(
        r#"{{"type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-22T13:00:00.000Z"{more}}}}}"#
    )
}

fn turn(id: &str) -> String {
    format!(r#"{{"type":"turn_context","payload":{{"turn_id":"{id}","model":"m"}}}}"#)
}

/// An id of a thread or turn that began at this second.
fn id(second: u32) -> String {
    format!("01a22afa-{second:04}-7000-8000-000000000000")
}

struct Records(tempfile::TempDir);

impl Records {
    fn new() -> Records {
        Records(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, lines: &[String]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, lines.join("\n")).unwrap();
        path
    }

    fn thread(&self, day: &str, id: &str, lines: &[String]) -> PathBuf {
        self.write(&format!("sessions/2026/11/{day}/rollout-2026-11-{day}T13-00-00-{id}.jsonl"), lines)
    }
}

#[track_caller]
fn check(lines: &[String], since: Option<&str>, expect: Option<u64>) {
    let since = since.map(|time| clock::parse(time).unwrap());
    let records = Records::new();
    let own = records.write("s1.jsonl", lines);
    let usage = usage(&own, since).unwrap();
    assert_eq!((usage.tokens(), usage.is_partial), (expect, false));
}

fn of(path: &Path) -> (Option<u64>, bool) {
    let usage = usage(path, None).unwrap();
    (usage.tokens(), usage.is_partial)
}

#[test]
fn a_session_of_claude_and_its_subagent_are_counted() {
    let usage = usage(&fixture(SESSION), None).unwrap();
    // Each of the four messages stands in one line or two.
    let expect = TokenCounts {
        input: 103 + 104 + 105 + 106,
        output: 53 + 54 + 55 + 56,
        cache_read: 4000,
        cache_write_5m: 4 * 5,
        cache_write_1h: 4 * 15,
        other: 0,
    };
    assert_eq!(usage.models, BTreeMap::from([("claude-opus-4-8".to_owned(), expect)]));
}

#[test]
fn a_thread_of_codex_and_its_subagents_are_counted() {
    let usage = usage(&fixture(THREADS).join(THREAD), None).unwrap();
    let answers = [18, 19, 20, 23, 24, 25, 27, 21, 22, 26];
    let input: u64 = answers.iter().map(|number| 1000 * number).sum();
    let output = answers.iter().map(|number| 10 + number).sum();
    let expect = TokenCounts { input: input / 2, cache_read: input / 2, output, ..TokenCounts::default() };
    assert_eq!(usage.models, BTreeMap::from([("gpt-5-codex".to_owned(), expect)]));
    assert!(!usage.is_partial);
}

#[test]
fn a_subagent_of_codex_counts_for_itself_alone() {
    let child = "rollout-2026-11-30T05-43-18-01a22afa-a124-72f1-b21e-6f5ed41a315d.jsonl";
    assert_eq!(of(&fixture(THREADS).join(child)), (Some(21_031 + 22_032), false));
}

#[test]
fn copied_totals_of_a_fork_do_not_count() {
    let records = Records::new();
    let parent = vec![meta(&id(1), ""), turn(&id(2)), answer(100, 100), answer(250, 150)];
    let own = records.thread("22", &id(1), &parent);
    // All ninety forks copy the totals of their parent with new times.
    for number in 0..90 {
        let mut lines = vec![meta(&id(10 + number), &format!(r#","parent_thread_id":"{}""#, id(1)))];
        lines.extend(parent.clone());
        // Some versions continue the total of the parent, others begin at 0.
        let last = if number % 2 == 0 { answer(260, 10) } else { answer(10, 10) };
        lines.extend([turn(&id(200 + number)), last]);
        records.thread("23", &id(10 + number), &lines);
    }
    assert_eq!(of(&own), (Some(250 + 90 * 10), false));
}

#[test]
fn a_fork_that_starts_low_counts_from_0_again() {
    let records = Records::new();
    let lines = [
        meta(&id(10), &format!(r#","forked_from_id":"{}""#, id(1))),
        meta(&id(1), ""),
        turn(&id(2)),
        answer(100, 100),
        turn(&id(11)),
        answer(150, 150),
        answer(150, 150),
        answer(170, 20),
    ];
    assert_eq!(of(&records.thread("22", &id(10), &lines)), (Some(170), false));
}

#[test]
fn the_number_of_the_first_own_line_ends_a_copy() {
    let records = Records::new();
    let numbered = |number: u32, line: String| line.replacen('{', &format!(r#"{{"ordinal":{number},"#), 1);
    let start = format!(r#","forked_from_id":"{}","subagent_history_start_ordinal":3"#, id(1));
    let lines = [
        numbered(0, meta(&id(10), &start)),
        numbered(1, turn(&id(11))),
        numbered(2, answer(100, 100)),
        numbered(3, answer(130, 30)),
    ];
    assert_eq!(of(&records.thread("22", &id(10), &lines)), (Some(30), false));
}

#[test]
fn a_copy_without_an_end_makes_a_lower_bound() {
    let records = Records::new();
    let own = records.thread("22", &id(1), &[meta(&id(1), ""), turn(&id(2)), answer(100, 100)]);
    let fork = format!(r#","parent_thread_id":"{}""#, id(1));
    records.thread("22", &id(10), &[meta(&id(10), &fork), turn("1"), answer(100, 100), answer(140, 40)]);
    assert_eq!(of(&own), (Some(100), true));
    let started = r#"{"payload":{"type":"task_started","turn_id":"2","started_at":1795352400}}"#.to_owned();
    let lines = [meta(&id(10), &fork), turn("1"), answer(100, 100), started, answer(140, 40)];
    records.thread("22", &id(10), &lines);
    assert_eq!(of(&own), (Some(140), false));
}

#[test]
fn forks_by_people_and_other_threads_are_not_subagents() {
    let records = Records::new();
    let own = records.thread("22", &id(1), &[meta(&id(1), ""), turn(&id(2)), answer(100, 100)]);
    let by_person = format!(r#","forked_from_id":"{}""#, id(1));
    records.thread("22", &id(10), &[meta(&id(10), &by_person), turn(&id(11)), answer(5, 5)]);
    records.thread("22", &id(20), &[meta(&id(20), ""), turn(&id(21)), answer(5, 5)]);
    let of = |parent: u32| {
        format!(r#","source":{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{}"}}}}}}"#, id(parent))
    };
    records.thread("22", &id(30), &[meta(&id(30), &of(1)), turn(&id(31)), answer(7, 7)]);
    records.thread("23", &id(40), &[meta(&id(40), &of(30)), turn(&id(41)), answer(8, 8)]);
    records.thread("23", &id(50), &[meta(&id(50), &of(20)), turn(&id(51)), answer(9, 9)]);
    assert_eq!(super::usage(&own, None).unwrap().tokens(), Some(115));
    // A rollout that is not in the folder of a day has none.
    let elsewhere = records.write("sessions/2026/moved/22/rollout.jsonl", &[meta(&id(1), ""), answer(3, 3)]);
    assert_eq!(super::usage(&elsewhere, None).unwrap().tokens(), Some(3));
    let written = File::options().append(true).open(&own).unwrap();
    written.set_modified(SystemTime::now()).unwrap();
    let later = SystemTime::now() + Duration::from_secs(60);
    assert_eq!(super::usage(&own, Some(later)).unwrap().tokens(), None);
}

#[test]
fn subagents_of_claude_count_and_each_message_once() {
    let records = Records::new();
    let side_chain = claude("side", 2, 7, 3).replacen('{', r#"{"isSidechain":true,"#, 1);
    let own = records.write("s1.jsonl", &[claude("a", 1, 5, 1), side_chain.clone()]);
    assert_eq!(of(&own), (Some(1006 + 1010), false));

    records.write("s1/subagents/agent-1.jsonl", &[claude("b", 2, 20, 4)]);
    records.write("s1/subagents/agent-2.jsonl", &[claude("c", 3, 1, 1), side_chain, claude("a", 4, 5, 1)]);
    records.write("s1/subagents/agent-2.meta.json", &[claude("d", 3, 1, 1)]);
    records.write("s1/subagents/workflows/w1/agent-4.jsonl", &[claude("f", 3, 2, 2)]);
    records.write("s2/subagents/agent-1.jsonl", &[claude("e", 3, 1, 1)]);
    std::os::unix::fs::symlink(&own, records.0.path().join("s1/subagents/agent-3.jsonl")).unwrap();
    assert_eq!(of(&own), (Some(1006 + 1010 + 1024 + 1002 + 1004), false));
}

#[test]
fn a_message_of_claude_counts_once_with_its_largest_figures() {
    let lines = [claude("a", 1, 5, 1), claude("a", 1, 5, 20), claude("a", 1, 5, 3), claude("b", 3, 7, 2)];
    check(&lines, None, Some(1025 + 1009));
    check(&lines, Some("2026-11-22T12:02:00Z"), Some(1009));
    check(&lines, Some("2026-11-22T13:00:00Z"), None);
    // A copy of an earlier message has a new time.
    let copied = [lines.as_slice(), &[claude("a", 4, 5, 20)]].concat();
    check(&copied, Some("2026-11-22T12:02:00Z"), Some(1009));
    let without_id = [1, 2].map(|minute| claude("", minute, 5, 1).replace(r#""id":"","#, ""));
    check(&without_id, None, Some(2 * 1006));
}

#[test]
fn a_total_counts_without_what_was_before_and_repeats() {
    let lines = [codex(1, 100), codex(1, 100), codex(3, 250), codex(4, 400), codex(5, 400)];
    check(&lines, None, Some(400));
    check(&lines, Some("2026-11-22T12:02:00Z"), Some(300));
    check(&lines, Some("2026-11-22T13:00:00Z"), None);
}

#[test]
fn a_long_record_is_read_from_its_beginning() {
    let records = Records::new();
    let lines = [claude("a", 1, 5, 1), " ".repeat(17 << 20), claude("b", 2, 7, 1), String::new()];
    let own = records.write("s1.jsonl", &lines);
    assert_eq!(of(&own), (Some(1006 + 1008), false));
    let subagent = records.write("s1/subagents/agent-1.jsonl", &[claude("c", 3, 9, 1)]);
    let length = |path: &Path| fs::metadata(path).unwrap().len();
    for (missing, expect) in [(0, 1006 + 1008 + 1010), (1, 1006 + 1008), (300, 1006)] {
        let budget = ReadBudget::of(length(&own) + length(&subagent) - missing);
        let usage = usage_within(budget, &own, None).unwrap();
        assert_eq!((usage.tokens(), usage.is_partial), (Some(expect), missing > 0), "{missing}");
    }
}

#[test]
fn nothing_is_invented() {
    let odd = [
        "",
        "{",
        r#"{"usage":7}"#,
        r#"{"type":"assistant","message":{"id":"a","usage":{}}}"#,
        r#"{"type":"user","message":{"usage":{"input_tokens":5}}}"#,
        r#"{"payload":{"type":"token_count","info":null}}"#,
        r#"{"type":"session_meta","payload":7}"#,
        r#"{"type":"turn_context","payload":[{"model":"task_started"}]}"#,
    ];
    check(&odd.map(str::to_owned), Some("2026-11-22T12:00:00Z"), None);
    let records = Records::new();
    let path = records.write("s1.jsonl", &[]);
    fs::write(&path, b"\xff\xfe \"usage\"").unwrap();
    assert_eq!(of(&path), (None, false));
}
