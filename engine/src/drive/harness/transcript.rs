//! Reads the end of a turn from a harness's own record, if no hook reports it.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::OFlags;
use serde_json::Value;

use super::until::until;
use crate::store::activity::{ActivityNote, NoteKind};
use orange_system::clock;

/// The length of the end that is read.
const TAIL: u64 = 256 * 1024;

/// The error that ended the last turn by codex's record, which its hooks do not report.
pub fn failure(path: &Path, spawn: u32) -> Option<ActivityNote> {
    failure_in(&tail(path)?, spawn, SystemTime::now())
}

fn failure_in(record: &str, spawn: u32, now: SystemTime) -> Option<ActivityNote> {
    let lines = record.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_turn = |line: &Value| {
        let kind = line.pointer("/payload/type").and_then(Value::as_str).unwrap_or_default();
        ["task_started", "task_complete", "turn_aborted"].contains(&kind)
    };
    let mut resets = None;
    let mut last = None;
    for line in lines {
        resets = reset(&line).or(resets);
        if of_turn(&line) {
            last = Some(line);
        }
    }
    let last = last?;
    let error = last.pointer("/payload/error").filter(|error| !error.is_null())?;
    let text = error.get("message").and_then(Value::as_str).unwrap_or("an error").to_owned();
    let name = error.get("codex_error_info").map(Value::to_string).unwrap_or_default();
    let is_limit = ["usage_limit", "rate_limit", "overloaded", "429"]
        .iter()
        .any(|sign| name.contains(sign) || text.to_lowercase().contains(sign));
    let time = last.get("timestamp").and_then(Value::as_str).unwrap_or_default().to_owned();
    let over = until(&text, now).or(resets.filter(|resets| *resets > now));
    Some(ActivityNote {
        time,
        text: Some(text),
        until: over.filter(|_| is_limit).map(clock::rfc3339),
        ..ActivityNote::now(spawn, if is_limit { NoteKind::Limit } else { NoteKind::Failed })
    })
}

/// End of the exhausted limit.
fn reset(line: &Value) -> Option<SystemTime> {
    let limits = line.pointer("/payload/rate_limits")?;
    let used_up = |name: &str| {
        let limit = limits.get(name)?;
        let is_used_up = limit.get("used_percent")?.as_f64()? >= 100.0;
        limit.get("resets_at").filter(|_| is_used_up)?.as_u64()
    };
    let second = ["primary", "secondary"].iter().filter_map(|name| used_up(name)).max()?;
    SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(second))
}

fn tail(path: &Path) -> Option<String> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn read(lines: &[&str]) -> Option<(NoteKind, String, Option<String>)> {
        let now = UNIX_EPOCH + Duration::from_secs(1_795_354_943);
        let note = failure_in(&lines.join("\n"), 1, now)?;
        Some((note.kind, note.text.unwrap_or_default(), note.until))
    }

    const STARTED: &str = r#"{"timestamp":"t1","type":"event_msg","payload":{"type":"task_started"}}"#;
    const LIMIT: &str = r#"{"timestamp":"t2","type":"event_msg","payload":{"type":"task_complete","error":{"message":"Hit your usage limit, try again in 2 hours.","codex_error_info":"usage_limit_exceeded"}}}"#;

    #[test]
    fn a_limit_that_ended_a_turn_is_reported_until_the_next_begins() {
        let expect = (
            NoteKind::Limit,
            "Hit your usage limit, try again in 2 hours.".to_owned(),
            Some("2026-11-22T15:42:23.000Z".to_owned()),
        );
        assert_eq!(read(&[STARTED, LIMIT]), Some(expect.clone()));
        assert_eq!(read(&["torn {", LIMIT, "7", "{\"payload\":3}"]), Some(expect));
        assert_eq!(read(&[LIMIT, STARTED]), None);
        assert_eq!(read(&[STARTED]), None);
        let done = r#"{"payload":{"type":"task_complete","error":null}}"#;
        assert_eq!(read(&[LIMIT, STARTED, done]), None);
    }

    #[test]
    fn other_errors_are_no_limits() {
        let failed = r#"{"payload":{"type":"task_complete","error":{"message":"no such model","codex_error_info":"bad_request"}}}"#;
        assert_eq!(read(&[failed]), Some((NoteKind::Failed, "no such model".to_owned(), None)));
        let busy = r#"{"payload":{"type":"task_complete","error":{"message":"Exceeded retry limit, last status: 429 Too Many Requests","codex_error_info":{"response_too_many_failed_attempts":{"http_status_code":429}}}}}"#;
        assert_eq!(read(&[busy]).map(|(kind, _, until)| (kind, until)), Some((NoteKind::Limit, None)));
    }

    #[test]
    fn a_window_that_is_used_up_says_when_it_is_new() {
        let limits = r#"{"payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":100.0,"resets_at":1795360000},"secondary":{"used_percent":10.0,"resets_at":1795900000}}}}"#;
        let limit = r#"{"payload":{"type":"task_complete","error":{"message":"limit","codex_error_info":"usage_limit_exceeded"}}}"#;
        let until = read(&[limits, limit]).and_then(|(_, _, until)| until);
        assert_eq!(until.as_deref(), Some("2026-11-22T15:06:40.000Z"));
    }
}
