//! `history.jsonl`: one JSON object a line, only ever appended to.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::store::clock;
use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, Visitor};

use crate::store::event::{Event, Record};
use crate::store::fold::{Log, Owned};
use crate::store::set::Set;
use crate::{Error, Kind, Result, fault};

/// A journal as it was read.
#[derive(Debug, Default, PartialEq)]
pub struct Journal {
    /// Its records, in order.
    pub records: Vec<Record>,
    /// What a killed or powered-off writer left behind the last record.
    pub torn: Option<Torn>,
    /// Whether the last record is whole but its line is not ended.
    pub unended: bool,
}

/// A last line that was not written to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Where the line begins, in bytes.
    pub offset: u64,
    /// What there is of it; bytes that are no text are replaced.
    pub text: String,
}

/// Reads the journal and changes nothing.
///
/// # Errors
/// `corrupt` when a line other than a torn last one cannot be understood, or the file is missing; `environment`.
pub fn read(path: &Path) -> Result<Journal> {
    parse(&fs::read(path).map_err(|cause| unreadable(path, &cause))?, path)
}

/// Cuts off a torn last line, or ends one that is whole. Call it under the task's lock only: a line that is being
/// written looks torn.
///
/// # Errors
/// `environment` when the disk refuses.
pub fn mend(path: &Path, journal: &Journal) -> Result<()> {
    fault::step("mend", path.display());
    let mended = match &journal.torn {
        Some(torn) => OpenOptions::new().write(true).open(path).and_then(|file| {
            file.set_len(torn.offset)?;
            file.sync_all()
        }),
        None if journal.unended => {
            OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(b"\n"))
        }
        None => Ok(()),
    };
    mended.map_err(|cause| Error::io("mend the last line of", path, &cause))
}

/// How long the part of the journal is that has whole lines; 0 when it cannot be read.
pub fn length(path: &Path) -> usize {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

/// The events behind the first so many bytes, as far as they can be read: for telling what has just happened.
pub fn since(path: &Path, length: usize) -> Vec<Event> {
    let bytes = fs::read(path).unwrap_or_default();
    let lines = bytes.get(length..).unwrap_or_default().split(|&byte| byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice::<Record>(line).ok()).map(|record| record.event).collect()
}

/// Numbers and dates these events as the next ones after `last_seq`.
pub fn records(last_seq: u64, events: Vec<(Event, Set)>) -> Vec<Record> {
    let timestamp = clock::now();
    let numbered = (last_seq + 1..).zip(events);
    numbered.map(|(seq, (event, set))| Record { seq, timestamp: timestamp.clone(), event, set }).collect()
}

/// Appends these records in one write and waits until they are on the disk.
///
/// # Errors
/// `environment` when the disk refuses; the journal then ends as before, or with a torn line that the next reader
/// passes over.
pub fn append(path: &Path, records: &[Record]) -> Result<()> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)
            .map_err(|cause| Error::new(Kind::Environment, format!("cannot write an event: {cause}")))?;
        lines.push(b'\n');
    }
    fault::step("append to", path.display());
    let open = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
    let mut file = open.map_err(|cause| Error::io("open", path, &cause))?;
    let appended = whole_length(&mut file).and_then(|length| write_whole(&mut file, &lines, length));
    appended.map_err(|cause| {
        Error::io("append to", path, &cause).help("free space or mend the permissions, then try again")
    })
}

/// Understands the bytes of a journal.
///
/// # Errors
/// `corrupt`, naming the line.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Journal> {
    let mut journal = Journal::default();
    let mut offset = 0;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let is_last = offset + line.len() == bytes.len();
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<Record>(line) {
                Ok(record) => journal.push(record).map_err(|what| corrupt(path, index + 1, &what))?,
                Err(cause) if is_last && !cause.is_data() => {
                    let text = String::from_utf8_lossy(line).into_owned();
                    journal.torn = Some(Torn { offset: offset as u64, text });
                }
                Err(cause) => return Err(corrupt(path, index + 1, &cause.to_string())),
            }
        }
        offset += line.len();
    }
    journal.unended = journal.torn.is_none() && !bytes.is_empty() && !bytes.ends_with(b"\n");
    Ok(journal)
}

/// The engine-owned values alone, from no more of each line than they take: for lists of thousands of tasks. `None` when
/// only `parse` can tell.
pub fn owned(bytes: &[u8]) -> Option<Owned> {
    // Inside a string these quotes would be escaped.
    const SET: &str = "\"set\"";
    let mut owned = Owned::default();
    let mut last = 0;
    for line in std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split('\n') {
        last = seq_of(line).filter(|seq| *seq > last)?;
        if let Some(at) = line.rfind(SET) {
            let last_member = line[at + SET.len()..].strip_prefix(':')?.strip_suffix('}')?;
            let mut set = serde_json::Deserializer::from_str(last_member);
            SetInto(&mut owned).deserialize(&mut set).and_then(|()| set.end()).ok()?;
        }
    }
    (!owned.status.is_empty()).then_some(owned)
}

/// The number of a line that begins and ends as this program writes one.
fn seq_of(line: &str) -> Option<u64> {
    let (seq, rest) = line.strip_prefix("{\"seq\":")?.split_once(',')?;
    let is_event = rest.starts_with("\"timestamp\":\"") && rest.ends_with('}');
    seq.parse().ok().filter(|_| is_event)
}

/// Takes a set over into the values, without building it first.
struct SetInto<'a>(&'a mut Owned);

impl<'de> DeserializeSeed<'de> for SetInto<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, set: D) -> std::result::Result<(), D::Error> {
        set.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SetInto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the values of a set")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut set: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = set.next_key::<&str>()? {
            self.0.apply_one(key, set.next_value()?);
        }
        Ok(())
    }
}

impl Journal {
    /// What the records add up to.
    pub fn log(&self) -> Log {
        Log::fold(&self.records)
    }

    fn push(&mut self, record: Record) -> std::result::Result<(), String> {
        match self.records.last() {
            Some(last) if last.seq >= record.seq => Err(format!("seq {} after {}", record.seq, last.seq)),
            Some(_) | None => {
                self.records.push(record);
                Ok(())
            }
        }
    }
}

/// The length of a file that ends with a whole line. After a failed write there may be a torn one, which must not
/// come to stand in the middle: the next to lock the task cuts it off.
fn whole_length(file: &mut File) -> std::io::Result<u64> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] { Ok(length) } else { Err(std::io::Error::other("its last line is torn")) }
}

/// Writes all of it; or takes back what was written, as far as the disk lets us.
fn write_whole(file: &mut File, lines: &[u8], before: u64) -> std::io::Result<()> {
    let written = file.write_all(lines).and_then(|()| {
        fault::step("sync", "the journal");
        file.sync_data()
    });
    if written.is_err() {
        // The first failure is the one to tell; a line that stays is torn, and the next to lock the task cuts it off.
        file.set_len(before).unwrap_or_default();
    }
    written
}

fn unreadable(path: &Path, cause: &std::io::Error) -> Error {
    if cause.kind() == ErrorKind::NotFound {
        return Error::new(Kind::Corrupt, format!("{} is missing", path.display()));
    }
    Error::io("read", path, cause)
}

fn corrupt(path: &Path, line: usize, what: &str) -> Error {
    Error::new(Kind::Corrupt, format!("{}:{line}: not a history event: {what}", path.display()))
        .help("restore the file from a backup, or mend that line: each line is one JSON object with seq, timestamp, type")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED: &str = r#"{"seq":1,"timestamp":"t","type":"task.created","branch":"fix","actor":"human","set":{"status":"a"}}"#;
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
        append(&path, &super::records(journal.log().last_seq, vec![Event::Unknown.into()])).unwrap();
        let again = read(&path).unwrap();
        assert_eq!((again.records.len(), again.torn), (records + 1, None));
    }

    #[track_caller]
    fn check_corrupt(text: &str, expect: &str) {
        let error = parse(text.as_bytes(), Path::new("h")).unwrap_err();
        assert_eq!(error.kind, Kind::Corrupt);
        assert!(error.message.starts_with(expect), "{}", error.message);
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
        let error = append(Path::new("/dev/full"), &event()).unwrap_err();
        assert_eq!(error.kind, Kind::Environment);
        assert!(error.message.contains("No space left"), "{}", error.message);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        fs::write(&path, "{\"seq\"").unwrap();
        assert_eq!(append(&path, &event()).unwrap_err().kind, Kind::Environment);
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"seq\"");
    }

    #[test]
    fn other_broken_lines_are_corrupt() {
        check_corrupt(&format!("{CREATED}\nnonsense\n{CHANGED}\n"), "h:2: ");
        check_corrupt(&format!("{CREATED}\n{CREATED}\n"), "h:2: not a history event: seq 1 after 1");
        check_corrupt(&format!("{CREATED}\n{{\"seq\":2}}\n"), "h:2: not a history event: missing field");
        check_corrupt(&CHANGED.replace("\"a\"", "1"), "h:1: ");
    }

    #[test]
    fn newer_versions_are_understood() {
        let newer = r#"{"seq":3,"timestamp":"t","type":"moon.landed","crew":["a"],"set":{"status":"c","hue":{"x":1}},"x":2}"#;
        let known = r#"{"seq":4,"timestamp":"t","type":"agent.exited","spawn":1,"code":0,"mood":"fine"}"#;
        let journal =
            parse(format!("{CREATED}\n{CHANGED}\n{newer}\n{known}\n").as_bytes(), Path::new("h")).unwrap();
        assert_eq!(journal.records[2].event, Event::Unknown);
        assert_eq!(journal.log().owned.status, "c");
        assert_eq!(journal.log().last_seq, 4);
    }

    /// The quick reading finds what the whole reading finds, or leaves it to that.
    #[track_caller]
    fn check_owned(lines: &[&str], quick: bool) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let whole = parse(text.as_bytes(), Path::new("h")).map(|journal| journal.log().owned);
        match owned(text.as_bytes()) {
            Some(owned) => assert!(quick && whole == Ok(owned)),
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
        use crate::store::event::*;
        let text = || "x".to_owned();
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
        };
        let spawn = Spawn {
            spawn: 1,
            actor: text(),
            prompt: text(),
            harness: text(),
            session: text(),
            window: text(),
            permissions: text(),
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
            },
            Event::AgentWaiting(Waiting { spawn: 1, until: text(), after: 9, reason: text() }),
            Event::AgentGivenUp { spawn: 1, reason: text() },
            Event::AgentCrashed { spawn: Some(1), status: text(), crash_count: 1, reason: text() },
            Event::TransitionStarted(plan),
            Event::HookEnded { hook: text(), index: 1, error: some() },
            Event::StatusChanged { from: text(), to: text(), cause: text(), actor: text(), gate: pass() },
            Event::AutoAdvanced { from: text(), to: text(), reason: text() },
            Event::TaskRepaired { field: text(), found: some(), kept: some() },
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
            Event::CommandEnded { argv: vec![text()], code: Some(1), output: text() },
            Event::WorkBackedUp { reference: text(), commit: text() },
            Event::WorkSetAside { folder: text() },
            Event::TaskDeleted { actor: text() },
            Event::TaskRestored { actor: text() },
            Event::Unknown,
        ];
        assert_eq!(events.len(), include_str!("event.rs").matches("rename = ").count(), "one of each");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        let set = Set::new().counter("review_round", u32::MAX).workspace(None);
        let written = super::records(0, events.into_iter().map(|event| (event, set.clone())).collect());
        append(&path, &written).unwrap();
        assert_eq!(read(&path).unwrap().records, written);
    }
}
