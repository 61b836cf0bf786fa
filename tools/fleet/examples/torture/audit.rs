//! The audit after everything has ended: the ledger of the clients against the records of the store.

use std::collections::{BTreeMap, BTreeSet};

use orange_core::mission::MOST_ABANDONED;
use serde_json::Value;

use crate::ledger::{Made, MissionScript, Notes};

/// A record of the store.
#[derive(Clone, Debug)]
pub(crate) struct AuditRecord {
    pub(crate) seq: u64,
    pub(crate) mission: Option<String>,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

/// Everything of a store.
#[derive(Debug, Default)]
pub(crate) struct StoreContents {
    /// The oldest first.
    pub(crate) records: Vec<AuditRecord>,
    /// The status of every mission.
    pub(crate) missions: BTreeMap<String, String>,
    /// Answer of `/v1/status`.
    pub(crate) status: Value,
}

/// A broken rule, with the mission if it is about one.
pub(crate) type BrokenRule = (Option<String>, String);

/// Everything that is wrong.
pub(crate) fn audit(notes: &Notes, found: &StoreContents) -> Vec<BrokenRule> {
    let mut wrong: Vec<BrokenRule> = notes.broken.iter().map(|it| (None, it.clone())).collect();
    let mut last = 0;
    let mut by_mission: BTreeMap<&str, Vec<&AuditRecord>> = BTreeMap::new();
    for record in &found.records {
        if record.seq <= last {
            wrong.push((record.mission.clone(), format!("record {} comes after record {last}", record.seq)));
        }
        last = record.seq;
        if let Some(mission) = &record.mission {
            by_mission.entry(mission).or_default().push(record);
        }
    }
    for (mission, made) in &notes.missions {
        let records = by_mission.get(mission.as_str()).map(Vec::as_slice).unwrap_or_default();
        let status = found.missions.get(mission).map(String::as_str);
        let mut say = |what: String| wrong.push((Some(mission.clone()), what));
        ended(made, status, records, &mut say);
        attempts(records, &mut say);
        pauses(notes, mission, records, &mut say);
        answers(notes, mission, records, &mut say);
    }
    let known: BTreeSet<&String> = notes.missions.keys().collect();
    for mission in found.missions.keys().filter(|it| !known.contains(it)) {
        wrong.push((Some(mission.clone()), "a mission is there that nobody was promised".to_owned()));
    }
    if known.len() != notes.creations.len() {
        let (keys, missions) = (notes.creations.len(), known.len());
        wrong.push((None, format!("{keys} creations with keys of their own made {missions} missions")));
    }
    completions(notes, &by_mission, &mut wrong);
    counts(found, &mut wrong);
    wrong
}

/// It ends as its script says.
fn ended(made: &Made, status: Option<&str>, records: &[&AuditRecord], say: &mut impl FnMut(String)) {
    let Some(status) = status else { return say("it was acknowledged, and is not there".to_owned()) };
    let is_given_up = is_given_up(records);
    let wanted: &[&str] = match made.script {
        _ if is_given_up && !made.is_cancelled => &["failed"],
        MissionScript::Plain
        | MissionScript::Fixed
        | MissionScript::Stepped
        | MissionScript::Asked
        | MissionScript::Pair => &["completed"],
        MissionScript::Fails => &["failed"],
        MissionScript::Cancelled if made.is_cancelled => &["cancelled"],
        MissionScript::Cancelled => &["completed"],
    };
    if !wanted.contains(&status) {
        say(format!("it is {status}, and not {}", wanted.join(" or ")));
    }
    let count = |kind: &str| records.iter().filter(|it| it.kind == kind).count();
    if count("mission.created") != 1 {
        say(format!("it was made {} times", count("mission.created")));
    }
    let ends = ["mission.completed", "mission.failed", "mission.cancelled"];
    let ends: Vec<&str> = records.iter().map(|it| it.kind.as_str()).filter(|it| ends.contains(it)).collect();
    if ends != [format!("mission.{status}")] {
        say(format!("it is {status}, and its records end it so: {ends:?}"));
    }
    if is_given_up {
        return;
    }
    let steps: &[(&str, usize)] = match (made.script, status) {
        (MissionScript::Fixed, _) => &[("plan", 1), ("do", 1), ("review", 2), ("fix", 1), ("land", 1)],
        (MissionScript::Fails, _) => &[("plan", 1), ("do", 0), ("review", 0), ("fix", 0), ("land", 0)],
        (MissionScript::Pair, _) => &[("first", 1), ("second", 1)],
        (MissionScript::Asked, _) => &[("do", 1), ("land", 1)],
        (_, "cancelled") => return,
        (MissionScript::Plain | MissionScript::Stepped | MissionScript::Cancelled, _) => {
            &[("plan", 1), ("do", 1), ("review", 1), ("fix", 0), ("land", 1)]
        }
    };
    for (step, times) in steps {
        let done = records.iter().filter(|it| it.kind == "run.completed" && it.data["step"] == *step).count();
        if done != *times {
            say(format!("the step {step} was completed {done} times, and not {times}"));
        }
    }
}

/// True if a step has failed because its crabs were lost, as often as the rule for that says.
fn is_given_up(records: &[&AuditRecord]) -> bool {
    records.iter().filter(|it| it.kind == "step.failed" && !it.data["why"]["abandoned"].is_null()).any(
        |failed| {
            let is_lost =
                |it: &&&AuditRecord| it.kind == "run.abandoned" && it.data["step"] == failed.data["step"];
            records.iter().filter(is_lost).count() >= usize::from(MOST_ABANDONED)
        },
    )
}

/// Attempts follow each other: never two open at a time, each with one crab that starts it, and one end.
fn attempts(records: &[&AuditRecord], say: &mut impl FnMut(String)) {
    let mut open: Option<(String, u64)> = None;
    let mut ended = BTreeSet::new();
    let mut started: BTreeMap<(String, u64), &Value> = BTreeMap::new();
    for record in records {
        let step = record.data["step"].as_str().unwrap_or_default().to_owned();
        let it = (step, record.data["attempt"].as_u64().unwrap_or_default());
        let name = format!("{}.{}", it.0, it.1);
        match record.kind.as_str() {
            "step.queued" => {
                if let Some((step, attempt)) = open.replace(it.clone()) {
                    say(format!("{name} is queued while {step}.{attempt} is open"));
                }
                if ended.contains(&it) {
                    say(format!("{name} is queued after its end"));
                }
            }
            "run.started" => {
                let crab = &record.data["crab"];
                if open.as_ref() != Some(&it) {
                    say(format!("{name} starts, and is not open"));
                }
                if let Some(other) = started.insert(it, crab) {
                    say(format!("{name} starts on crab {crab} after crab {other}"));
                }
            }
            "run.completed" | "run.failed" | "run.lost" | "run.abandoned" | "run.withdrawn"
            | "step.answered" | "step.expired" | "step.withdrawn" => {
                if open.take().as_ref() != Some(&it) {
                    say(format!("{}: {name} is not open", record.kind));
                }
                let crab = &record.data["crab"];
                let has_reported = ["run.completed", "run.failed"].contains(&record.kind.as_str());
                if let Some(other) = started.get(&it).filter(|other| has_reported && **other != crab) {
                    say(format!("{name} was started by crab {other} and ended by crab {crab}"));
                }
                if !ended.insert(it) {
                    say(format!("{name} ends twice"));
                }
            }
            _ => {}
        }
    }
    if let Some((step, attempt)) = open {
        say(format!("{step}.{attempt} has no end"));
    }
}

/// Each answer to a pause has the mission go on once.
fn pauses(notes: &Notes, mission: &str, records: &[&AuditRecord], say: &mut impl FnMut(String)) {
    let answered = notes.pauses.iter().filter(|(it, _)| it == mission).count();
    let count = |kind: &str| records.iter().filter(|it| it.kind == kind).count();
    if count("mission.continued") != answered {
        say(format!("{answered} pauses were answered, and it went on {} times", count("mission.continued")));
    }
}

/// Each answer to the question of a step counts once.
fn answers(notes: &Notes, mission: &str, records: &[&AuditRecord], say: &mut impl FnMut(String)) {
    let count = |kind: &str| records.iter().filter(|it| it.kind == kind).count();
    let (asked, answered) = (count("step.asked"), count("step.answered"));
    let expected = usize::from(notes.answers.contains(mission));
    if answered != expected || asked < answered {
        say(format!("it asked {asked} times, {expected} answers were accepted, and {answered} count"));
    }
}

/// Each acknowledged report is in the records once, as its crab has said it.
fn completions(notes: &Notes, by_mission: &BTreeMap<&str, Vec<&AuditRecord>>, wrong: &mut Vec<BrokenRule>) {
    let mut recorded: BTreeMap<String, Vec<&AuditRecord>> = BTreeMap::new();
    for (mission, records) in by_mission {
        for record in records.iter().filter(|it| ["run.completed", "run.failed"].contains(&it.kind.as_str()))
        {
            let (step, attempt) = (record.data["step"].as_str().unwrap_or_default(), &record.data["attempt"]);
            recorded.entry(format!("{mission}.{step}.{attempt}")).or_default().push(record);
        }
    }
    for (run, reports) in &notes.completions {
        let mission = run.split('.').next().map(str::to_owned);
        let mut say = |what: String| wrong.push((mission.clone(), what));
        let records = recorded.get(run).map(Vec::as_slice).unwrap_or_default();
        if records.len() != 1 {
            say(format!("the report on {run} was acknowledged, and is there {} times", records.len()));
        }
        for report in reports {
            let is_it = |record: &&AuditRecord| {
                let said = if record.kind == "run.failed" {
                    &record.data["reason"]
                } else {
                    &record.data["summary"]
                };
                said == report.summary.as_str() && record.data["crab"] == report.crab.as_str()
            };
            if !records.iter().any(is_it) {
                say(format!(
                    "{run}: crab {} has the acknowledgement of `{}`, which is not there",
                    report.crab, report.summary
                ));
            }
        }
    }
}

/// Nothing waits, nothing is leased, and the counts are those of the lists.
fn counts(found: &StoreContents, wrong: &mut Vec<BrokenRule>) {
    let mut listed: BTreeMap<&str, u64> = BTreeMap::new();
    for status in found.missions.values() {
        *listed.entry(status).or_default() += 1;
    }
    let counted = found.status["missions"].as_object().cloned().unwrap_or_default();
    let counted: BTreeMap<&str, u64> = counted
        .iter()
        .filter_map(|(name, n)| Some((name.as_str(), n.as_u64().filter(|it| *it > 0)?)))
        .collect();
    if listed != counted {
        wrong.push((None, format!("the status counts {counted:?}, and the lists have {listed:?}")));
    }
    for (what, number) in [
        ("waiting", &found.status["waiting"]),
        ("alarms", &found.status["alarms"]),
        ("busy", &found.status["crabs"]["busy"]),
    ] {
        if number.as_u64() != Some(0) {
            wrong.push((None, format!("everything has ended, and the status has {what}: {number}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ledger::AcknowledgedRun;

    /// A pair as it must be, changed, and what the audit says of it.
    #[track_caller]
    fn check(change: impl FnOnce(&mut Notes, &mut StoreContents), expect: &[&str]) {
        assert_eq!(said(change), expect);
    }

    fn numbered(records: Vec<(&str, Value)>) -> Vec<AuditRecord> {
        let record = |(index, (kind, data)): (usize, (&str, Value))| AuditRecord {
            seq: index as u64 + 1,
            mission: Some("m".to_owned()),
            kind: kind.to_owned(),
            data,
        };
        records.into_iter().enumerate().map(record).collect()
    }

    fn said(change: impl FnOnce(&mut Notes, &mut StoreContents)) -> Vec<String> {
        let mut notes = Notes::default();
        notes.creations.insert("k".to_owned(), "m".to_owned());
        notes.missions.insert("m".to_owned(), Made { script: MissionScript::Pair, is_cancelled: false });
        let report =
            |summary: &str| vec![AcknowledgedRun { crab: "c".to_owned(), summary: summary.to_owned() }];
        notes.completions.insert("m.first.1".to_owned(), report("one"));
        notes.completions.insert("m.second.1".to_owned(), report("two"));
        let step = |step: &str| json!({"step": step, "attempt": 1, "crab": "c"});
        let ended =
            |step: &str, said: &str| json!({"step": step, "attempt": 1, "crab": "c", "summary": said});
        let records = vec![
            ("mission.created", json!({})),
            ("step.queued", step("first")),
            ("run.started", step("first")),
            ("run.completed", ended("first", "one")),
            ("step.queued", step("second")),
            ("run.started", step("second")),
            ("run.completed", ended("second", "two")),
            ("mission.completed", json!({})),
        ];
        let mut found = StoreContents {
            records: numbered(records),
            missions: BTreeMap::from([("m".to_owned(), "completed".to_owned())]),
            status: json!({"missions": {"completed": 1}, "waiting": 0, "alarms": 0, "crabs": {"busy": 0}}),
        };
        change(&mut notes, &mut found);
        audit(&notes, &found).into_iter().map(|it| it.1).collect()
    }

    #[test]
    fn a_run_as_it_must_be_is_sound() {
        check(|_, _| {}, &[]);
    }

    #[test]
    fn a_mission_fails_only_after_its_crabs_were_lost_often_enough() {
        let abandoned = |times: u64| {
            move |_: &mut Notes, found: &mut StoreContents| {
                let mut records = vec![("mission.created", json!({}))];
                for attempt in 1..=times {
                    let it = json!({"step": "first", "attempt": attempt, "crab": "c"});
                    records.extend(
                        ["step.queued", "run.started", "run.abandoned"].map(|kind| (kind, it.clone())),
                    );
                }
                records.push(("step.failed", json!({"step": "first", "why": {"abandoned": times}})));
                records.push(("mission.failed", json!({})));
                found.records = numbered(records);
                found.missions = BTreeMap::from([("m".to_owned(), "failed".to_owned())]);
                found.status["missions"] = json!({"failed": 1});
            }
        };
        let lost = ["m.first.1", "m.second.1"]
            .map(|run| format!("the report on {run} was acknowledged, and is there 0 times"));
        let said = |times| said(abandoned(times));
        assert!(!said(5).iter().any(|it| it.contains("it is failed")), "{:?}", said(5));
        assert!(lost.iter().all(|it| said(5).contains(it)), "an acknowledged report is still looked for");
        assert!(said(4).contains(&"it is failed, and not completed".to_owned()), "{:?}", said(4));
    }

    #[test]
    fn a_completion_that_is_lost_shows() {
        let lose = |_: &mut Notes, found: &mut StoreContents| _ = found.records.remove(6);
        check(
            lose,
            &[
                "the step second was completed 0 times, and not 1",
                "second.1 has no end",
                "the report on m.second.1 was acknowledged, and is there 0 times",
                "m.second.1: crab c has the acknowledgement of `two`, which is not there",
            ],
        );
    }

    #[test]
    fn a_completion_that_is_there_twice_shows() {
        let double = |_: &mut Notes, found: &mut StoreContents| {
            let mut again = found.records[6].clone();
            again.seq = 9;
            found.records.push(again);
        };
        check(
            double,
            &[
                "the step second was completed 2 times, and not 1",
                "run.completed: second.1 is not open",
                "second.1 ends twice",
                "the report on m.second.1 was acknowledged, and is there 2 times",
            ],
        );
    }

    #[test]
    fn two_crabs_with_one_attempt_show() {
        let other = |notes: &mut Notes, found: &mut StoreContents| {
            let report = AcknowledgedRun { crab: "d".to_owned(), summary: "mine".to_owned() };
            notes.completions.entry("m.first.1".to_owned()).or_default().push(report);
            found.records[3].data["crab"] = "d".into();
        };
        check(
            other,
            &[
                "first.1 was started by crab \"c\" and ended by crab \"d\"",
                "m.first.1: crab c has the acknowledgement of `one`, which is not there",
                "m.first.1: crab d has the acknowledgement of `mine`, which is not there",
            ],
        );
    }

    #[test]
    fn a_mission_that_is_made_twice_or_lost_shows() {
        let twice = |_: &mut Notes, found: &mut StoreContents| {
            found.missions.insert("n".to_owned(), "completed".to_owned());
            found.status["missions"]["completed"] = 2.into();
        };
        check(twice, &["a mission is there that nobody was promised"]);
        let lost = |_: &mut Notes, found: &mut StoreContents| {
            found.missions.clear();
            found.status["missions"] = json!({});
        };
        check(lost, &["it was acknowledged, and is not there"]);
    }

    #[test]
    fn a_step_that_still_waits_shows() {
        let waits = |_: &mut Notes, found: &mut StoreContents| found.status["waiting"] = 1.into();
        check(waits, &["everything has ended, and the status has waiting: 1"]);
    }
}
