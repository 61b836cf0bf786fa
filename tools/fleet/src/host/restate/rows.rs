//! The rows of a unit of work: those of a copy in memory, whose transactions are entries of the log.
//!
//! A transaction takes effect in the copy after the log has its entry. Two gateways may begin at the same position; the log takes the
//! entry of one of them, and the other one begins again with what the first has written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use orange_core::scheduler::Waiting;
use serde_json::Value;

use super::entry::{self, Entry, Op};
use super::log::{Appended, Page, RemoteLog};
use super::replica::{Replica, chunks};
use crate::host::packed::Packed;
use crate::host::unit_of_work::{Begun, ColonyFound, Ended, Failed, MissionFound, Newest, Rows, Writes};
use crate::host::{Colony, Delivery, HostError, Millis, TextOf};

/// The longest entry, in bytes: Restate takes 32 MiB.
const LONGEST: usize = 24 << 20;

/// Pause of an entry that came before its turn.
const EARLY: Duration = Duration::from_millis(5);

/// Greatest age of the log's answer to a late entry with which the next transaction may begin.
const FRESH: Duration = Duration::from_secs(1);

/// Facts about the writing side for the side that listens.
#[derive(Debug)]
pub(super) struct Me {
    /// Unique name of this gateway.
    pub(super) name: String,
    /// Instructions to crabs from transactions whose callers have heard that the log did not answer, although it has them.
    pub(super) unsaid: Mutex<Vec<Delivery>>,
}

impl Me {
    /// An entry that this copy has not written: one of another gateway, or one whose answer was lost.
    fn find(&self, entry: &Entry) {
        if entry.by != self.name {
            return;
        }
        let mut unsaid = self.unsaid.lock().unwrap_or_else(PoisonError::into_inner);
        for op in &entry.ops {
            if let Op::Write(writes) = op {
                unsaid.extend(writes.deliveries.iter().cloned());
            }
        }
    }
}

/// The copy that writes.
pub(super) struct RestateRows {
    log: Arc<RemoteLog>,
    me: Arc<Me>,
    replica: Replica,
    /// Writes of others, from the log's answer to an entry that came late, and the time of that answer.
    late: Option<(Instant, Page)>,
    /// The transaction has begun with that, and not with a look at the log.
    is_after_late: bool,
    /// The log waits for an entry of this gateway, which came late.
    is_in_line: bool,
    /// Writes of the transaction.
    ops: Vec<Value>,
    /// Number of entries that this gateway has tried to append.
    tries: u64,
    /// A transaction was undone: nothing that is loaded counts.
    is_undone: bool,
    /// After how many entries the log is shortened.
    every: u64,
    /// An image is being sent.
    is_uploading: Arc<AtomicBool>,
}

impl RestateRows {
    /// Opens the log, and reads it whole.
    ///
    /// # Errors
    /// The log does not answer, or has what this program cannot take.
    pub(super) fn open(log: Arc<RemoteLog>, me: Arc<Me>, every: u64) -> Result<RestateRows, HostError> {
        let mut replica = Replica::new()?;
        replica.catch_up(&log, None, |_| {})?;
        let is_uploading = Arc::default();
        Ok(RestateRows {
            log,
            me,
            replica,
            late: None,
            is_after_late: false,
            is_in_line: false,
            ops: Vec::new(),
            tries: 0,
            is_undone: true,
            every,
            is_uploading,
        })
    }

    /// Another copy of what this one has read.
    ///
    /// # Errors
    /// Memory is short.
    pub(super) fn fork(&self) -> Result<Replica, HostError> {
        self.replica.fork()
    }

    /// Sends an image of the store in place of the log's entries until now, on a thread of its own: other calls need not wait for it.
    fn shorten(&mut self) {
        if self.is_uploading.swap(true, Ordering::AcqRel) {
            return;
        }
        let (log, me, at) = (Arc::clone(&self.log), Arc::clone(&self.me), self.replica.position());
        let is_uploading = Arc::clone(&self.is_uploading);
        let image = self.replica.image();
        let upload = move || {
            let uploaded =
                image.map_err(|it| it.to_string()).and_then(|image| upload(&log, &me.name, at, &image));
            if let Err(cause) = uploaded {
                ::log::warn!(cause = cause.as_str(); "the log is not shortened now");
            }
            is_uploading.store(false, Ordering::Release);
        };
        let started = std::thread::Builder::new().name("fleet-image".to_owned()).spawn(upload);
        if let Err(cause) = started {
            ::log::warn!(cause = cause.to_string().as_str(); "the log is not shortened now");
            self.is_uploading.store(false, Ordering::Release);
        }
    }
}

fn upload(log: &RemoteLog, by: &str, at: u64, image: &[u8]) -> Result<(), String> {
    let all = chunks(image);
    let of = all.len() as u64;
    for (number, chunk) in (0..).zip(all) {
        let is_wanted = log.snapshot(by, (at, number, of), &chunk?).map_err(|it| it.to_string())?;
        if !is_wanted {
            break;
        }
    }
    Ok(())
}

impl Rows for RestateRows {
    fn begin(&mut self, keys: &[String]) -> Result<Begun, Failed> {
        self.ops.clear();
        let late = self.late.take().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, page)| page);
        self.is_after_late = late.is_some();
        let me = &self.me;
        let caught = self.replica.catch_up(&self.log, late, |entry| me.find(entry)).map_err(Failed::Store)?;
        let begun = self.replica.rows.begin(keys)?;
        let is_changed = std::mem::take(&mut self.is_undone) || caught.is_changed;
        Ok(Begun { now: caught.now, is_changed, calls: begun.calls })
    }

    fn newest(&mut self) -> Result<Newest, Failed> {
        self.replica.rows.newest()
    }

    fn missions(&mut self, ids: &[String]) -> Result<Vec<MissionFound>, Failed> {
        self.replica.rows.missions(ids)
    }

    fn colony(&mut self, id: &str) -> Result<Option<ColonyFound>, Failed> {
        self.replica.rows.colony(id)
    }

    fn colony_named(&mut self, name: &str) -> Result<Option<Colony>, Failed> {
        self.replica.rows.colony_named(name)
    }

    fn mission_on(&mut self, colony: &str, branch: &str) -> Result<Option<String>, Failed> {
        self.replica.rows.mission_on(colony, branch)
    }

    fn waiting(&mut self, colony: &str, role: &str) -> Result<Vec<Waiting>, Failed> {
        self.replica.rows.waiting(colony, role)
    }

    fn plan(&mut self, hash: &str) -> Result<Option<String>, Failed> {
        self.replica.rows.plan(hash)
    }

    fn alarms(&mut self) -> Result<Vec<(String, String)>, Failed> {
        self.replica.rows.alarms()
    }

    fn end_alarm(&mut self, kind: &str, id: &str) -> Result<(), Failed> {
        self.ops.push(entry::end_alarm(kind, id));
        self.replica.rows.end_alarm(kind, id)
    }

    fn ended(&mut self, before: Millis, limit: usize) -> Result<Vec<Ended>, Failed> {
        self.replica.rows.ended(before, limit)
    }

    fn remove(&mut self, missions: &[Ended]) -> Result<(), Failed> {
        if !missions.is_empty() {
            self.ops.push(entry::remove(missions.iter().map(|it| (it.seq, it.id.as_str()))));
        }
        self.replica.rows.remove(missions)
    }

    fn remove_rest(&mut self, calls: Millis, records: Millis, limit: usize) -> Result<usize, Failed> {
        self.ops.push(entry::remove_rest(calls, records, limit));
        self.replica.rows.remove_rest(calls, records, limit)
    }

    fn write(&mut self, writes: &Writes) -> Result<(), Failed> {
        if !writes.is_empty() {
            self.ops.push(entry::write(writes));
        }
        self.replica.rows.write(writes)
    }

    fn keep_text(&mut self, of: &TextOf, packed: &Packed) -> Result<bool, Failed> {
        let is_there = self.replica.rows.keep_text(of, packed)?;
        if is_there {
            self.ops.push(entry::text(of, packed));
        }
        Ok(is_there)
    }

    fn commit(&mut self) -> Result<(), Failed> {
        let ops = std::mem::take(&mut self.ops);
        if ops.is_empty() {
            // Its answers are from the store, which others may have changed since then.
            if self.is_after_late && self.log.length().map_err(Failed::Store)? != self.replica.position() {
                return Err(Failed::WriteConflict);
            }
            if std::mem::take(&mut self.is_in_line) {
                // Those who wait for this gateway come to their turn a little later if this is not heard.
                self.log.leave(&self.me.name).unwrap_or_default();
            }
            return self.replica.rows.commit();
        }
        let failed = |cause| Failed::Call(HostError::Unavailable(format!("an entry of the log: {cause}")));
        let entry = entry::pack(&self.me.name, &ops).map_err(failed)?;
        if entry.len() > LONGEST {
            return Err(failed("it is longer than the Restate server takes: send shorter texts".to_owned()));
        }
        self.tries += 1;
        let (after, id) = (self.replica.position(), format!("{}-{}", self.me.name, self.tries));
        match self.log.append(after, &self.me.name, &id, &entry) {
            Ok(Appended::Yes) => self.is_in_line = false,
            Ok(Appended::Late(page)) => {
                if page.length == after {
                    std::thread::sleep(EARLY);
                }
                self.late = Some((Instant::now(), page));
                self.is_in_line = true;
                return Err(Failed::WriteConflict);
            }
            // If the log has it, it comes with the next entries.
            Err(error) => return Err(Failed::Store(error)),
        }
        self.replica.rows.commit()?;
        self.replica.has_appended();
        if self.replica.position().is_multiple_of(self.every) {
            self.shorten();
        }
        Ok(())
    }

    fn rollback(&mut self) {
        self.ops.clear();
        self.is_undone = true;
        self.replica.rows.rollback();
    }
}
