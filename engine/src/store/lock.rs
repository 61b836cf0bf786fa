//! Advisory locks: one holder at a time, released by the kernel when the holder dies, and who it is on request.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::store::{Home, clock};
use crate::{Error, Kind, Result, fault};

/// A lock that is held; dropping it releases it.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Takes the lock of this file, waiting as long as the home's patience. `what` it protects is for the message.
///
/// A lock is never taken from a living holder, however old it is.
///
/// # Errors
/// `locked` when the wait is over, saying who holds it and since when; `environment` when the file cannot be made;
/// `not_found` when the folder of the lock is gone.
pub fn acquire(home: &Home, path: &Path, what: &str) -> Result<Lock> {
    const LONGEST_NAP: Duration = Duration::from_millis(20);
    let deadline = Instant::now() + home.patience();
    let mut nap = Duration::from_millis(1);
    loop {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) if is_still_there(&file, path) => return Lock { file }.sign(path, home.command()),
            // The folder was moved or made anew while we waited: what we hold is nobody's lock.
            Ok(()) => continue,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(cause)) => return Err(Error::io("lock", path, &cause)),
        }
        if Instant::now() >= deadline {
            return Err(held(file, what, home.patience()));
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(LONGEST_NAP);
    }
}

impl Lock {
    /// Writes down who holds it, for those who wait.
    fn sign(mut self, path: &Path, command: &str) -> Result<Lock> {
        fault::step("hold", path.display());
        let signature = format!("{}\n{}\n{command}\n", std::process::id(), clock::now());
        let signed = self.file.set_len(0).and_then(|()| self.file.write_all(signature.as_bytes()));
        signed.map_err(|cause| Error::io("write", path, &cause))?;
        Ok(self)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        fault::step("release", "a lock");
        // Closing the file releases the lock; the signature is wiped so that nobody is shown a former holder.
        self.file.set_len(0).unwrap_or_default();
    }
}

fn open(path: &Path) -> Result<File> {
    let opened =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    opened.map_err(|cause| {
        if cause.kind() == ErrorKind::NotFound {
            return Error::new(
                Kind::NotFound,
                format!("{} is gone", path.parent().unwrap_or(path).display()),
            );
        }
        Error::io("open", path, &cause).help("make it writable for you")
    })
}

fn is_still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

fn held(mut file: File, what: &str, patience: Duration) -> Error {
    let mut signature = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut signature));
    let mut lines = signature.lines();
    let holder = match (read, lines.next(), lines.next(), lines.next()) {
        (Ok(_), Some(pid), Some(since), Some(command)) => {
            format!("process {pid} (`{command}`) since {since}")
        }
        _ => "another process".to_owned(),
    };
    let waited = patience.as_secs_f32();
    Error::new(Kind::Locked, format!("{what} is locked by {holder}; waited {waited} s"))
        .help("wait until it is done and try again; if it hangs, end that process: its lock goes with it")
}
