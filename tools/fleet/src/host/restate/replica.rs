//! A copy of the store in memory, which is what the entries of the log make of an empty one.

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, MAIN_DB};

use super::entry::{self, Entry, Op};
use super::log::{Page, RemoteLog};
use crate::host::sqlite::rows::SqliteRows;
use crate::host::sqlite::{broken, schema};
use crate::host::unit_of_work::{Ended, Failed, Rows};
use crate::host::{HostError, Millis};

/// The most times that it asks again when the log is shortened while it reads.
const TURNS: u32 = 100;

/// The most bytes of a chunk of an image, before they are compressed.
const CHUNK: usize = 1 << 20;

/// A copy of the store.
pub(super) struct Replica {
    pub(super) rows: SqliteRows,
    /// Number of entries that it has taken.
    position: u64,
    /// Identity of the log; absent before its first entry.
    born: Option<String>,
}

/// Result of reading the log.
pub(super) struct Caught {
    /// The time by the clock of the log.
    pub(super) now: Millis,
    /// True if there was anything to take.
    pub(super) is_changed: bool,
}

impl Replica {
    /// A copy of an empty store.
    ///
    /// # Errors
    /// Memory is short.
    pub(super) fn new() -> Result<Replica, HostError> {
        let mut connection = Connection::open_in_memory().map_err(broken)?;
        schema::migrate(&mut connection)?;
        Ok(Replica { rows: rows(connection), position: 0, born: None })
    }

    /// Another one that has taken the same entries.
    ///
    /// # Errors
    /// Memory is short.
    pub(super) fn fork(&self) -> Result<Replica, HostError> {
        let rows = rows(copied(&self.rows.connection)?);
        Ok(Replica { rows, position: self.position, born: self.born.clone() })
    }

    /// Number of entries that it has taken.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Its rows have one more entry, which is the next one of the log.
    pub(super) fn has_appended(&mut self) {
        self.position += 1;
    }

    /// Takes every entry of the log that it does not have yet, beginning with a part of the log that was read before.
    ///
    /// # Errors
    /// The log does not answer, or has an entry that this program cannot take.
    pub(super) fn catch_up(
        &mut self,
        log: &RemoteLog,
        mut first: Option<Page>,
        mut hear: impl FnMut(&Entry),
    ) -> Result<Caught, HostError> {
        let mut is_changed = false;
        for _ in 0..TURNS {
            let page = first.take().map_or_else(|| log.read(self.position), Ok)?;
            let is_other = self.born.is_some() && self.born != page.born;
            if is_other || page.length < self.position {
                ::log::warn!("the log is another one than before: the copy of the store begins again");
                *self = Replica::new()?;
                is_changed = true;
                continue;
            }
            let Page { length, now, born, image, entries } = page;
            self.born = born;
            is_changed |= !entries.is_empty() || image.is_some();
            if let Some((at, chunks)) = image {
                self.take_image(log, at, chunks)?;
                continue;
            }
            self.take(&entries, &mut hear)?;
            if self.position == length {
                return Ok(Caught { now, is_changed });
            }
        }
        Err(HostError::Unavailable("the log changes faster than it is read".to_owned()))
    }

    /// Takes entries, all of them or none.
    fn take(&mut self, entries: &[String], hear: &mut impl FnMut(&Entry)) -> Result<(), HostError> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut read = Vec::with_capacity(entries.len());
        for (number, text) in (self.position + 1..).zip(entries) {
            read.push(entry::read(text).map_err(|cause| unreadable(number, &cause))?);
        }
        self.rows.connection.execute_batch("begin immediate").map_err(broken)?;
        for (number, entry) in (self.position + 1..).zip(&read) {
            if let Err(failed) = entry.ops.iter().try_for_each(|op| apply(&mut self.rows, op)) {
                self.rows.rollback();
                return Err(match failed.into_error() {
                    HostError::Corrupt(cause) => unreadable(number, &cause),
                    error @ (HostError::Unavailable(_) | HostError::Unsupported(_) | HostError::Stopping) => {
                        error
                    }
                });
            }
        }
        if let Err(cause) = self.rows.connection.execute_batch("commit") {
            self.rows.rollback();
            return Err(broken(cause));
        }
        self.position += entries.len() as u64;
        read.iter().for_each(hear);
        Ok(())
    }

    /// Begins again with an image, unless that was replaced by a newer one meanwhile.
    fn take_image(&mut self, log: &RemoteLog, at: u64, chunks: u64) -> Result<(), HostError> {
        let damaged = |cause: &str| {
            HostError::Corrupt(format!("the image at entry {at} of the log is damaged: {cause}"))
        };
        let mut bytes = Vec::new();
        for number in 0..chunks {
            let Some(chunk) = log.chunk(at, number)? else { return Ok(()) };
            bytes.extend(entry::unpack_bytes(&chunk).map_err(|cause| damaged(&cause))?);
        }
        let mut image = Connection::open_in_memory().map_err(broken)?;
        let length = bytes.len();
        image
            .deserialize_read_exact(MAIN_DB, &bytes[..], length, false)
            .map_err(|cause| damaged(&cause.to_string()))?;
        drop(bytes);
        // A database that was made of bytes cannot grow beyond 1 GiB.
        let mut connection = copied(&image)?;
        drop(image);
        // One of an older program gets the tables of this one, and one of a newer program is refused.
        schema::migrate(&mut connection)?;
        self.rows = rows(connection);
        self.position = at;
        Ok(())
    }

    /// An image of the store.
    ///
    /// # Errors
    /// Memory is short.
    pub(super) fn image(&mut self) -> Result<Vec<u8>, HostError> {
        Ok(self.rows.connection.serialize(MAIN_DB).map_err(broken)?.to_vec())
    }
}

/// Statements are prepared once.
fn rows(connection: Connection) -> SqliteRows {
    connection.set_prepared_statement_cache_capacity(96);
    SqliteRows::new(connection)
}

/// A copy of a database.
fn copied(from: &Connection) -> Result<Connection, HostError> {
    let mut to = Connection::open_in_memory().map_err(broken)?;
    let ended = Backup::new(from, &mut to).and_then(|it| it.step(-1)).map_err(broken)?;
    match ended == StepResult::Done {
        true => Ok(to),
        false => Err(HostError::Unavailable(format!("the copy in memory ended with {ended:?}"))),
    }
}

/// The chunks of an image, packed for the log.
pub(super) fn chunks(image: &[u8]) -> impl ExactSizeIterator<Item = Result<String, String>> {
    image.chunks(CHUNK).map(entry::pack_bytes)
}

fn apply(rows: &mut SqliteRows, op: &Op) -> Result<(), Failed> {
    match op {
        Op::Write(writes) => rows.write(writes),
        Op::Remove(missions) => {
            let ended = |(seq, id): &(u64, String)| {
                let (seq, id) = (*seq, id.clone());
                Ended { seq, id, colony: String::new(), status: String::new(), waiting: Vec::new() }
            };
            rows.remove(&missions.iter().map(ended).collect::<Vec<_>>())
        }
        Op::RemoveRest { calls, records, limit } => rows.remove_rest(*calls, *records, *limit).map(drop),
        Op::EndAlarm { kind, id } => rows.end_alarm(kind, id),
        Op::Text(of, packed) => rows.keep_text(of, packed).map(drop),
    }
}

fn unreadable(number: u64, cause: &str) -> HostError {
    HostError::Corrupt(format!(
        "entry {number} of the log is damaged, or a newer orange-fleet has written it ({cause}): upgrade orange-fleet"
    ))
}
