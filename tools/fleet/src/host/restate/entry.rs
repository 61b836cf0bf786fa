//! The entries of the log: what the rows of one transaction were, as JSON, compressed, in base64.
//!
//! An entry says what a unit of work has written, and not how SQLite stores it: every gateway that takes the entries in their order has the
//! same rows. A form that this program does not know is refused, since rows that were left out would be missing for ever.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use orange_core::plan::StepId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::host::packed::Packed;
use crate::host::unit_of_work::{
    Alarm, AttemptKey, AttemptRow, CallRow, ColonyState, CrabRow, MissionState, NewMissionRow, Newest,
    RecordRow, Waits, Writes,
};
use crate::host::{Colony, Delivery, Millis, TextKind, TextOf};

/// Version of the form of entries.
const VERSION: u64 = 1;

/// The most bytes that an entry or an image may have when it is unpacked.
const LONGEST: u64 = 4 << 30;

/// Writes of one transaction.
pub(super) struct Entry {
    pub(super) by: String,
    /// In its order.
    pub(super) ops: Vec<Op>,
}

/// One thing that a unit of work has written.
pub(super) enum Op {
    Write(Box<Writes>),
    /// Missions were removed: their numbers and ids.
    Remove(Vec<(u64, String)>),
    /// Answers to calls, and records of no mission, from before these times were removed, at most so many.
    RemoveRest {
        calls: Millis,
        records: Millis,
        limit: usize,
    },
    /// An alarm has ended.
    EndAlarm {
        kind: String,
        id: String,
    },
    /// A text of an attempt.
    Text(TextOf, Packed),
}

/// The form of [`Op::Write`].
pub(super) fn write(writes: &Writes) -> Value {
    let colonies =
        writes.colonies.iter().map(|it| json!([it.id, it.name, it.repository, it.base, it.created]));
    json!({"write": {
        "plans": writes.plans,
        "colonies": colonies.collect::<Vec<_>>(),
        "missions": writes.missions,
        "mission_states": writes.mission_states,
        "colony_states": writes.colony_states,
        "records": writes.records,
        "attempts": writes.attempts.iter().collect::<Vec<_>>(),
        "waiting": writes.waiting,
        "crabs": writes.crabs.iter().collect::<Vec<_>>(),
        "tallies": writes.tallies.iter().collect::<Vec<_>>(),
        "calls": writes.calls,
        "alarms": writes.alarms,
        "deliveries": writes.deliveries,
        "now": writes.now,
        "newest": writes.newest,
    }})
}

/// The form of [`Op::Remove`].
pub(super) fn remove<'m>(missions: impl Iterator<Item = (u64, &'m str)>) -> Value {
    json!({"remove": missions.collect::<Vec<_>>()})
}

/// The form of [`Op::RemoveRest`].
pub(super) fn remove_rest(calls: Millis, records: Millis, limit: usize) -> Value {
    json!({"remove_rest": [calls, records, limit]})
}

/// The form of [`Op::EndAlarm`].
pub(super) fn end_alarm(kind: &str, id: &str) -> Value {
    json!({"end_alarm": [kind, id]})
}

/// The form of [`Op::Text`].
pub(super) fn text(of: &TextOf, packed: &Packed) -> Value {
    let TextOf { mission, step, attempt, kind } = of;
    json!({"text": [mission, step.0, attempt, kind.as_str(), packed.length, STANDARD.encode(&packed.body)]})
}

/// The text of an entry with these forms.
///
/// # Errors
/// Memory is short.
pub(super) fn pack(by: &str, ops: &[Value]) -> Result<String, String> {
    pack_bytes(json!({"v": VERSION, "by": by, "ops": ops}).to_string().as_bytes())
}

/// The entry of a text.
///
/// # Errors
/// It is damaged, or of a newer program.
pub(super) fn read(text: &str) -> Result<Entry, String> {
    let whole: Value = serde_json::from_slice(&unpack_bytes(text)?).map_err(|it| it.to_string())?;
    match whole["v"].as_u64() {
        Some(VERSION) => {}
        Some(newer) if newer > VERSION => return Err(format!("its form has version {newer}")),
        Some(_) | None => return Err("it has no version".to_owned()),
    }
    let LoggedEntry { _version, by, ops } = serde_json::from_value(whole).map_err(|it| it.to_string())?;
    Ok(Entry { by, ops: ops.into_iter().map(op).collect::<Result<_, _>>()? })
}

/// Bytes, compressed, in base64.
///
/// # Errors
/// Memory is short.
pub(super) fn pack_bytes(bytes: &[u8]) -> Result<String, String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    Ok(STANDARD.encode(packed.map_err(|it| it.to_string())?))
}

/// The bytes again.
///
/// # Errors
/// They are damaged.
pub(super) fn unpack_bytes(text: &str) -> Result<Vec<u8>, String> {
    let packed = STANDARD.decode(text).map_err(|it| it.to_string())?;
    let mut bytes = Vec::new();
    let mut decoder = ZlibDecoder::new(&packed[..]).take(LONGEST);
    decoder.read_to_end(&mut bytes).map_err(|it| it.to_string())?;
    Ok(bytes)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoggedEntry {
    #[serde(rename = "v")]
    _version: u64,
    by: String,
    ops: Vec<LoggedOp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum LoggedOp {
    Write(Box<LoggedWrites>),
    Remove(Vec<(u64, String)>),
    RemoveRest(Millis, Millis, usize),
    EndAlarm(String, String),
    Text(String, u16, u32, String, u32, String),
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LoggedWrites {
    plans: BTreeMap<String, String>,
    colonies: Vec<(String, String, String, Option<String>, Millis)>,
    missions: BTreeMap<String, NewMissionRow>,
    mission_states: BTreeMap<u64, MissionState>,
    colony_states: BTreeMap<String, ColonyState>,
    records: Vec<RecordRow>,
    attempts: Vec<(AttemptKey, AttemptRow)>,
    waiting: BTreeMap<String, Waits>,
    crabs: Vec<((String, String), CrabRow)>,
    tallies: Vec<((String, String, String), i64)>,
    calls: Vec<CallRow>,
    alarms: Vec<Alarm>,
    deliveries: Vec<Delivery>,
    now: Millis,
    newest: Newest,
}

fn op(form: LoggedOp) -> Result<Op, String> {
    Ok(match form {
        LoggedOp::Write(form) => Op::Write(Box::new(writes(*form)?)),
        LoggedOp::Remove(missions) => Op::Remove(missions),
        LoggedOp::RemoveRest(calls, records, limit) => Op::RemoveRest { calls, records, limit },
        LoggedOp::EndAlarm(kind, id) => Op::EndAlarm { kind, id },
        LoggedOp::Text(mission, step, attempt, kind, length, body) => {
            let kind = match kind.as_str() {
                "transcript" => TextKind::Transcript,
                "diff" => TextKind::Diff,
                _ => return Err(format!("it has a text of the kind `{}`", kind.escape_debug())),
            };
            let body = STANDARD.decode(body).map_err(|it| it.to_string())?;
            Op::Text(TextOf { mission, step: StepId(step), attempt, kind }, Packed { length, body })
        }
    })
}

fn writes(form: LoggedWrites) -> Result<Writes, String> {
    let colonies = form.colonies.into_iter().map(|(id, name, repository, base, created)| Colony {
        id,
        name,
        repository,
        base,
        created,
    });
    let tallies = form.tallies.into_iter().map(|((colony, kind, name), change)| {
        let kind = ["mission", "waiting"].into_iter().find(|it| *it == kind);
        kind.map(|kind| ((colony, kind, name), change)).ok_or("it counts what this program does not know")
    });
    Ok(Writes {
        plans: form.plans,
        colonies: colonies.collect(),
        missions: form.missions,
        mission_states: form.mission_states,
        colony_states: form.colony_states,
        records: form.records,
        attempts: form.attempts.into_iter().collect(),
        waiting: form.waiting,
        crabs: form.crabs.into_iter().collect(),
        tallies: tallies.collect::<Result<_, _>>()?,
        calls: form.calls,
        alarms: form.alarms,
        deliveries: form.deliveries,
        now: form.now,
        newest: form.newest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::scheduler::{Item, Waiting};

    use crate::host::Instruction;

    fn everything() -> Writes {
        let key = || ("m".to_owned(), 3, 2);
        let state = || MissionState {
            status: "running".into(),
            step: Some("plan".into()),
            pause: Some(4),
            version: 5,
            state: "{}".to_owned(),
        };
        let item = || Item { mission: "m".to_owned(), step: StepId(1), attempt: 2, role: "any".to_owned() };
        let waiting =
            |step, ticket| Waiting { item: Item { step: StepId(step), ..item() }, ticket, version: 9 };
        let new = NewMissionRow {
            seq: 7,
            colony: "c".to_owned(),
            plan: "p".to_owned(),
            workflow: "w".into(),
            summary: "a\0ñ".to_owned(),
            branch: "b".to_owned(),
            prompt: "p".to_owned(),
            searched: "s".to_owned(),
            state: state(),
        };
        let colony = Colony {
            id: "c".to_owned(),
            name: "home".to_owned(),
            repository: "r".to_owned(),
            base: None,
            created: 1,
        };
        let returned = AttemptRow {
            returned: Some("crab".to_owned()),
            crab: Some(None),
            offered: Some(None),
            ended: Some((3, None)),
            ..AttemptRow::default()
        };
        let offered = AttemptRow {
            queued: Some(1),
            crab: Some(Some("crab".to_owned())),
            offered: Some(Some(2)),
            started: Some((3, Some("w".to_owned()))),
            ..AttemptRow::default()
        };
        let crab = |name: &str| ("c".to_owned(), name.to_owned());
        let call = CallRow { key: "k".to_owned(), hash: vec![0, 255], outcome: "o".to_owned() };
        let record = RecordRow {
            seq: 1,
            colony: "c".to_owned(),
            mission: None,
            kind: "k".into(),
            data: "{}".to_owned(),
        };
        let offer =
            Delivery { colony: "c".to_owned(), crab: "x".to_owned(), what: Instruction::Offer(item()) };
        let alarm = Alarm { kind: "mission".into(), id: "m".to_owned(), why: "w".to_owned() };
        Writes {
            plans: [("p".to_owned(), "body".to_owned())].into(),
            colonies: vec![colony],
            missions: [("m".to_owned(), new)].into(),
            mission_states: [(9, state())].into(),
            colony_states: [("c".to_owned(), ColonyState::default())].into(),
            records: vec![record],
            attempts: [(key(), returned), (("n".to_owned(), 0, 1), offered)].into(),
            waiting: [
                ("n".to_owned(), ("c".to_owned(), Vec::new())),
                ("m".to_owned(), ("c".to_owned(), vec![waiting(1, 8), waiting(3, 1 << 40)])),
            ]
            .into(),
            crabs: [
                (crab("a"), CrabRow::Registered("A".to_owned())),
                (crab("b"), CrabRow::Heard),
                (crab("c"), CrabRow::Left),
            ]
            .into(),
            tallies: [(("c".to_owned(), "waiting", "any".to_owned()), -1)].into(),
            calls: vec![call],
            alarms: vec![alarm],
            deliveries: vec![offer],
            now: 10,
            newest: Newest { id: Some("m".to_owned()), mission: 7, record: 1 },
        }
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let written = everything();
        let entry = read(&pack("me", &[write(&written)]).unwrap()).unwrap();
        let [Op::Write(again)] = &entry.ops[..] else { panic!("another form") };
        assert_eq!((format!("{again:?}"), entry.by.as_str()), (format!("{written:?}"), "me"));
    }

    #[test]
    fn other_forms_are_read_as_they_were_written() {
        let of = TextOf { mission: "m".to_owned(), step: StepId(1), attempt: 2, kind: TextKind::Diff };
        let packed = Packed { length: 3, body: vec![1, 2, 255] };
        let ops = [
            remove([(1, "a"), (2, "b")].into_iter()),
            remove_rest(1, -2, 3),
            end_alarm("mission", "m"),
            text(&of, &packed),
        ];
        let read = read(&pack("me", &ops).unwrap()).unwrap().ops;
        assert!(matches!(&read[0], Op::Remove(it) if *it == [(1, "a".to_owned()), (2, "b".to_owned())]));
        assert!(matches!(read[1], Op::RemoveRest { calls: 1, records: -2, limit: 3 }));
        assert!(matches!(&read[2], Op::EndAlarm { kind, id } if kind == "mission" && id == "m"));
        assert!(matches!(&read[3], Op::Text(it, body) if *it == of && *body == packed));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for wrong in [
            json!({"v": 2, "by": "x", "ops": []}),
            json!({"v": 1, "by": "x", "ops": [{"write": {"waiting": {"m": ["c", ["m", 1]]}}}]}),
            json!({"v": 1, "by": "x", "ops": [], "more": 1}),
            json!({"v": 1, "by": "x", "ops": [{"more": 1}]}),
            json!({"v": 1, "by": "x", "ops": [{"write": {"more": 1}}]}),
            json!({"v": 1, "by": "x", "ops": [{"write": {"tallies": [[["c", "more", "x"], 1]]}}]}),
            json!({"v": 1, "by": "x", "ops": [{"text": ["m", 1, 1, "more", 0, ""]}]}),
            json!({"by": "x"}),
            json!([]),
        ] {
            assert!(read(&pack_bytes(wrong.to_string().as_bytes()).unwrap()).is_err(), "{wrong}");
        }
        assert!(read("*").is_err() && read("").is_err() && read("AAAA").is_err());
    }
}
