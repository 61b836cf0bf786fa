//! Copying the store while it is in use.

use std::fs::File;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{broken, create_private, read};
use crate::host::HostError;

/// Copies what is committed now into a new file. Other calls go on meanwhile, and are not part of it.
pub(super) fn backup(from: &Path, to: &Path) -> Result<(), HostError> {
    if to.exists() {
        let message = format!("{} exists: name a file that does not, or move it away", to.display());
        return Err(HostError::Unavailable(message));
    }
    let mut name = to.as_os_str().to_owned();
    name.push(".partial");
    let partial = Path::new(&name);
    let copied =
        read::connect(from).and_then(|from| copy(&from, partial)).and_then(|()| publish(partial, to));
    if copied.is_err() {
        // The cause is what the caller has to hear.
        std::fs::remove_file(partial).unwrap_or_default();
    }
    copied
}

fn copy(from: &Connection, partial: &Path) -> Result<(), HostError> {
    if partial.exists() {
        std::fs::remove_file(partial).map_err(|cause| failed(partial, &cause))?;
    }
    create_private(partial)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut to = Connection::open_with_flags(partial, flags).map_err(broken)?;
    // One transaction that reads: it sees one state of the store, however much is written meanwhile.
    let backup = Backup::new(from, &mut to).map_err(broken)?;
    match backup.step(-1).map_err(broken)? {
        StepResult::Done => {}
        StepResult::More | StepResult::Busy | StepResult::Locked => {
            return Err(HostError::Unavailable(
                "the store is locked by another program: try again".to_owned(),
            ));
        }
        other => return Err(HostError::Unavailable(format!("the copy ended with {other:?}: try again"))),
    }
    drop(backup);
    let check: String = to.query_row("pragma quick_check(1)", [], |row| row.get(0)).map_err(broken)?;
    if check != "ok" {
        return Err(HostError::Corrupt(format!("the copy is damaged: {check}")));
    }
    // A copy is one file, also after somebody has looked into it.
    to.pragma_update(None, "journal_mode", "delete").map_err(broken)
}

fn publish(partial: &Path, to: &Path) -> Result<(), HostError> {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    sync(partial).and_then(|()| std::fs::rename(partial, to)).map_err(|cause| failed(to, &cause))?;
    match to.parent().filter(|it| !it.as_os_str().is_empty()) {
        Some(folder) => sync(folder).map_err(|cause| failed(to, &cause)),
        None => Ok(()),
    }
}

fn failed(path: &Path, cause: &std::io::Error) -> HostError {
    HostError::Unavailable(format!("cannot write {}: {cause}", path.display()))
}
