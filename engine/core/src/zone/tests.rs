//! Local times in zones whose clocks change.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::*;

/// A zone by a rule alone.
pub(crate) fn zone(rule: &str) -> Zone {
    Zone { rule: YearRule::parse(rule), ..Zone::UTC }
}

const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

#[track_caller]
fn check(rule: &str, local: &str, expect: Instant) {
    let zone = zone(rule);
    assert!(zone.rule.is_some(), "{rule}");
    assert_eq!(zone.instant(LocalTime::parse(local).unwrap()), expect, "{rule} {local}");
}

fn utc(text: &str) -> i64 {
    LocalTime::parse(text).unwrap().seconds()
}

#[test]
fn dates_are_days_since_1970() {
    for (text, seconds) in [
        ("1970-01-01T00:00", 0),
        ("2000-02-29T23:59", 951_868_740),
        ("2026-11-27T07:00", 1_795_762_800),
        ("1969-12-31T23:59", -60),
    ] {
        let time = LocalTime::parse(text).unwrap();
        assert_eq!((time.seconds(), time.to_string().as_str()), (seconds, text));
        assert_eq!(LocalTime::of_seconds(seconds), time);
    }
    for wrong in ["2026-02-30T00:00", "2026-13-01T00:00", "2026-01-01", "2026-01-01T24:00", ""] {
        assert_eq!(LocalTime::parse(wrong), None, "{wrong}");
    }
    // 1970-01-01 was a Thursday.
    assert_eq!((weekday(0), weekday(-4), weekday(days(2026, 11, 27))), (4, 0, 5));
}

#[test]
fn a_local_time_has_the_offset_of_its_season() {
    check(BERLIN, "2026-11-27T07:00", Instant::At(utc("2026-11-27T06:00")));
    check(BERLIN, "2026-07-01T07:00", Instant::At(utc("2026-07-01T05:00")));
    check("EST5EDT,M3.2.0,M11.1.0", "2026-07-01T07:00", Instant::At(utc("2026-07-01T11:00")));
    check("NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-01-01T07:00", Instant::At(utc("2025-12-31T18:00")));
    check("NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-07-01T07:00", Instant::At(utc("2026-06-30T19:00")));
    check("<+0545>-5:45", "2026-07-01T07:00", Instant::At(utc("2026-07-01T01:15")));
    check("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T07:00", Instant::At(utc("2026-07-01T06:00")));
    check("A0B,J60/0,J300/0", "2028-03-01T12:00", Instant::At(utc("2028-03-01T11:00")));
    check("A0B,59/0,300/0", "2028-02-29T12:00", Instant::At(utc("2028-02-29T11:00")));
}

#[test]
fn clocks_skip_an_hour_in_spring_and_repeat_one_in_autumn() {
    check(BERLIN, "2026-03-29T01:59", Instant::At(utc("2026-03-29T00:59")));
    check(BERLIN, "2026-03-29T02:30", Instant::Skipped(utc("2026-03-29T01:30")));
    check(BERLIN, "2026-03-29T03:00", Instant::At(utc("2026-03-29T01:00")));
    check(BERLIN, "2026-10-25T02:30", Instant::At(utc("2026-10-25T00:30")));
    check(BERLIN, "2026-10-25T03:00", Instant::At(utc("2026-10-25T02:00")));
}

#[test]
fn a_rule_with_a_flaw_is_none() {
    for text in [
        "",
        "CET",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M13.5.0,M10.5.0",
        "1",
        "<CET-1",
        "CET-1CEST,M3.5.0,M10.5.0x",
    ] {
        assert_eq!(YearRule::parse(text), None, "{text}");
    }
}

/// A file with one change and a rule, as the database has it.
fn file(version: u8, footer: &str) -> Vec<u8> {
    let block = |size: usize| {
        let mut bytes = [&b"TZif"[..], &[version], &[0; 15]].concat();
        for count in [0_u32, 0, 0, 1, 2, 8] {
            bytes.extend(count.to_be_bytes());
        }
        bytes.extend(&100_i64.to_be_bytes()[8 - size..]);
        bytes.push(1);
        for offset in [0_i32, 3600] {
            bytes.extend(offset.to_be_bytes());
            bytes.extend([0, 0]);
        }
        bytes.extend(b"UTC\0CET\0");
        bytes
    };
    [block(4), block(8), format!("\n{footer}\n").into_bytes()].concat()
}

#[test]
fn a_file_has_changes_and_then_a_rule() {
    let zone = Zone::parse(&file(b'2', "CET-1")).unwrap();
    assert_eq!((zone.first, &zone.changes), (0, &vec![(100, 3600)]));
    assert_eq!([0, 99, 100, i64::from(u32::MAX)].map(|at| zone.offset(at)), [0, 0, 3600, 3600]);
    assert_eq!(Zone::parse(&file(b'2', "")).unwrap().offset(100), 3600);
    assert_eq!(Zone::parse(&file(b'1', "CET-1")), None);
    assert_eq!(Zone::parse(&file(b'2', "?")), None);
    let whole = file(b'3', "CET-1");
    for length in 0..whole.len() {
        assert_eq!(Zone::parse(&whole[..length]), None, "{length}");
    }
}
