//! Slots of schedules, and the decisions about them, of values.

use alloc::string::{String, ToString};
use alloc::vec;

use super::*;
use crate::zone::tests::zone;

const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

fn cron(text: &str) -> Cron {
    Cron::parse(text).unwrap()
}

fn utc(text: &str) -> i64 {
    LocalTime::parse(text).unwrap().seconds()
}

/// The slots between two times in UTC, as local time and UTC.
#[track_caller]
fn check(text: &str, rule: &str, (after, until): (&str, &str), expect: &[(&str, &str)]) {
    let slots = cron(text).slots(&zone(rule), utc(after), utc(until));
    let found: Vec<(String, String)> = slots
        .iter()
        .map(|slot| (slot.local.to_string(), LocalTime::of_seconds(slot.at).to_string()))
        .collect();
    let expect: Vec<(String, String)> =
        expect.iter().map(|(local, at)| ((*local).into(), (*at).into())).collect();
    assert_eq!(found, expect, "{text}");
}

#[test]
fn a_slot_has_the_local_time_of_the_expression() {
    let days = ("2026-11-26T12:00", "2026-11-30T12:00");
    check(
        "0 7 * * 1-5",
        BERLIN,
        days,
        &[("2026-11-27T07:00", "2026-11-27T06:00"), ("2026-11-30T07:00", "2026-11-30T06:00")],
    );
    let hour = ("2026-11-26T11:29", "2026-11-26T12:00");
    check(
        "*/30 * * * *",
        "UTC0",
        hour,
        &[("2026-11-26T11:30", "2026-11-26T11:30"), ("2026-11-26T12:00", "2026-11-26T12:00")],
    );
    let year = ("2026-01-01T00:00", "2027-01-01T00:00");
    check(
        "0 0 13 * fri,7",
        "UTC0",
        ("2026-02-12T00:00", "2026-02-16T00:00"),
        &[("2026-02-13T00:00", "2026-02-13T00:00"), ("2026-02-15T00:00", "2026-02-15T00:00")],
    );
    check("5 0 31 2,apr,MAY *", "UTC0", year, &[("2026-05-31T00:05", "2026-05-31T00:05")]);
}

#[test]
fn a_slot_that_clocks_skip_is_made_up_for_once() {
    let night = ("2026-03-28T12:00", "2026-03-29T12:00");
    check("30 2 * * *", BERLIN, night, &[("2026-03-29T02:30", "2026-03-29T01:30")]);
    let hours = ("2026-03-29T00:10", "2026-03-29T02:10");
    check(
        "0 * * * *",
        BERLIN,
        hours,
        &[("2026-03-29T03:00", "2026-03-29T01:00"), ("2026-03-29T04:00", "2026-03-29T02:00")],
    );
}

#[test]
fn a_slot_that_comes_twice_counts_the_first_time() {
    let night = ("2026-10-24T12:00", "2026-10-25T12:00");
    check("30 2 * * *", BERLIN, night, &[("2026-10-25T02:30", "2026-10-25T00:30")]);
}

#[test]
fn the_next_slot_may_be_years_away() {
    let next = |text: &str, rule: &str, after: &str| {
        cron(text).next(&zone(rule), utc(after)).map(|slot| slot.local.to_string())
    };
    assert_eq!(next("0 7 * * *", BERLIN, "2026-11-27T06:00").as_deref(), Some("2026-11-28T07:00"));
    assert_eq!(next("0 7 * * *", BERLIN, "2026-11-27T05:59").as_deref(), Some("2026-11-27T07:00"));
    assert_eq!(next("0 0 29 2 *", "UTC0", "2097-01-01T00:00").as_deref(), Some("2104-02-29T00:00"));
}

#[test]
fn a_flaw_of_an_expression_names_its_field() {
    for (text, part) in [
        ("", "five fields"),
        ("0 7 * *", "five fields"),
        ("0 7 * * * *", "five fields"),
        ("@daily", "five fields"),
        ("60 7 * * *", "`60` is not a valid minute"),
        ("0 24 * * *", "`24` is not a valid hour"),
        ("0 7 0 * *", "`0` is not a valid day of the month"),
        ("0 7 * foo *", "`foo` is not a valid month"),
        ("0 7 * * 5-1", "`5-1` is not a valid day of the week"),
        ("*/0 7 * * *", "`*/0` is not a valid minute"),
        ("-1 7 * * *", "`-1` is not a valid minute"),
        ("1,,2 7 * * *", "`` is not a valid minute"),
        ("+1 7 * * *", "`+1` is not a valid minute"),
        ("0 0 30 2 *", "never due"),
    ] {
        let flaw = Cron::parse(text).unwrap_err();
        assert!(flaw.contains(part), "{text}: {flaw}");
    }
}

fn slot(minutes: i64) -> Slot {
    Slot { local: LocalTime::of_seconds(minutes * 60), at: minutes * 60 }
}

const RULE: ScheduleRule = ScheduleRule { overlap: Overlap::Skip, missed: Missed::Skip, grace: 3600 };

#[track_caller]
fn decide(
    rule: ScheduleRule,
    now: i64,
    (due, owed): (&[i64], Option<i64>),
    (is_running, is_limited): (bool, bool),
    expect: (&[(i64, SkipReason)], Option<SlotDecision>),
) {
    let due: Vec<Slot> = due.iter().map(|minutes| slot(*minutes)).collect();
    let facts = ScheduleFacts { now: now * 60, due: &due, owed: owed.map(slot), is_running, is_limited };
    let skipped = expect.0.iter().map(|(minutes, why)| (slot(*minutes), *why)).collect();
    assert_eq!(rule.turn(&facts), ScheduleTurn { skipped, decision: expect.1 }, "{rule:?} {facts:?}");
}

#[test]
fn a_slot_on_time_starts_one_mission() {
    let start = |minutes| Some(SlotDecision::Start(slot(minutes)));
    decide(RULE, 100, (&[], None), (false, false), (&[], None));
    decide(RULE, 100, (&[100], None), (false, false), (&[], start(100)));
    decide(RULE, 105, (&[100, 105], None), (false, false), (&[(100, SkipReason::Later)], start(105)));
}

#[test]
fn a_missed_slot_is_made_up_for_only_if_asked() {
    let once = ScheduleRule { missed: Missed::Once, ..RULE };
    let missed = [(40, SkipReason::Missed), (60, SkipReason::Missed), (80, SkipReason::Missed)];
    decide(RULE, 120, (&[40, 60, 80], None), (false, false), (&missed, None));
    let later = [(40, SkipReason::Missed), (60, SkipReason::Later)];
    decide(once, 120, (&[40, 60, 80], None), (false, false), (&later, Some(SlotDecision::Start(slot(80)))));
}

#[test]
fn an_overlap_is_left_out_or_waits() {
    let queue = ScheduleRule { overlap: Overlap::Queue, ..RULE };
    let owe = |minutes| Some(SlotDecision::Owe(slot(minutes), OwedReason::Overlap));
    decide(RULE, 100, (&[100], None), (true, false), (&[(100, SkipReason::Overlap)], None));
    decide(queue, 100, (&[100], None), (true, false), (&[], owe(100)));
    decide(queue, 130, (&[], Some(100)), (true, false), (&[], owe(100)));
    decide(queue, 130, (&[130], Some(100)), (true, false), (&[(100, SkipReason::Later)], owe(130)));
    decide(queue, 130, (&[], Some(100)), (false, false), (&[], Some(SlotDecision::Start(slot(100)))));
    decide(queue, 161, (&[], Some(100)), (true, false), (&[(100, SkipReason::Grace)], None));
}

#[test]
fn a_slot_that_a_limit_defers_stays_owed() {
    let owe = Some(SlotDecision::Owe(slot(100), OwedReason::Limit));
    decide(RULE, 100, (&[100], None), (false, true), (&[], owe));
    decide(RULE, 159, (&[], Some(100)), (false, true), (&[], owe));
    decide(RULE, 160, (&[], Some(100)), (false, false), (&[], Some(SlotDecision::Start(slot(100)))));
    decide(RULE, 161, (&[], Some(100)), (false, false), (&[(100, SkipReason::Grace)], None));
}

/// Whatever the order of looks is, a slot is decided once, and no look starts two.
#[test]
fn a_slot_is_decided_once() {
    for pause in [1_i64, 7, 25, 90] {
        for rule in [RULE, ScheduleRule { overlap: Overlap::Queue, missed: Missed::Once, grace: 1800 }] {
            let (mut cursor, mut owed, mut decided) = (0, None, vec![]);
            for look in 1..400_i64 {
                let now = look * pause;
                let due: Vec<Slot> = (cursor + 1..=now).filter(|it| it % 15 == 0).map(slot).collect();
                cursor = now;
                let (is_running, is_limited) = (look % 5 < 2, look % 11 < 3);
                let facts = ScheduleFacts { now: now * 60, due: &due, owed, is_running, is_limited };
                let turn = rule.turn(&facts);
                decided.extend(turn.skipped.into_iter().map(|(slot, _)| slot.at));
                owed = None;
                match turn.decision {
                    Some(SlotDecision::Start(slot)) => decided.push(slot.at),
                    Some(SlotDecision::Owe(slot, _)) => owed = Some(slot),
                    None => {}
                }
            }
            decided.extend(owed.map(|slot| slot.at));
            decided.sort_unstable();
            let all: Vec<i64> = (1..=cursor).filter(|it| it % 15 == 0).map(|it| it * 60).collect();
            assert_eq!(decided, all, "{pause} {rule:?}");
        }
    }
}
