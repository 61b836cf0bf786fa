//! The files that a crab keeps in its home: its id, and its job.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use orange_api::{Error, ErrorKind, Result};
use orange_system::atomic;
use orange_system::files::{disk_space, real};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::job::{Job, VERSION};

/// The home of a crab. One process at a time has it.
#[derive(Debug)]
pub struct CrabHome {
    folder: PathBuf,
    /// Held as long as this process lives.
    _lock: File,
}

/// The version of the file of a job, whatever else is in it.
#[derive(Deserialize)]
struct JobVersion {
    v: u64,
}

#[derive(Deserialize, Serialize)]
struct CrabIdentity {
    crab_id: String,
}

impl CrabHome {
    /// Makes the folder if it is not there, and takes it.
    ///
    /// # Errors
    /// `locked` when another crab has it.
    pub fn take(folder: &Path) -> Result<CrabHome> {
        let folder = std::path::absolute(folder).map_err(|cause| Error::io("find", folder, &cause))?;
        fs::create_dir_all(&folder).map_err(|cause| Error::io("make", &folder, &cause))?;
        let path = folder.join("crab.lock");
        let lock = OpenOptions::new().create(true).append(true).open(&path);
        let lock = lock.map_err(|cause| Error::io("open", &path, &cause))?;
        lock.try_lock().map_err(|_| {
            Error::new(ErrorKind::Locked, format!("another crab works in {}", folder.display()))
                .help("each crab has a home of its own: name another one with `--dir`, or end that crab")
        })?;
        let folder = real(&folder);
        atomic::sweep(&folder);
        Ok(CrabHome { folder, _lock: lock })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The id of the crab: the same one as long as the home lives.
    pub fn crab_id(&self, new: impl FnOnce() -> Result<String>) -> Result<String> {
        if let Some(CrabIdentity { crab_id }) = self.read("crab.json")? {
            return Ok(crab_id);
        }
        let who = CrabIdentity { crab_id: new()? };
        self.write("crab.json", &who)?;
        Ok(who.crab_id)
    }

    /// The job that is written down.
    ///
    /// # Errors
    /// `corrupt` for one of a newer version.
    pub fn job(&self) -> Result<Option<Job>> {
        let Some(value) = self.read::<Value>("job.json")? else { return Ok(None) };
        let path = self.folder.join("job.json");
        if JobVersion::deserialize(&value).is_ok_and(|it| it.v > VERSION.into()) {
            return Err(Error::new(ErrorKind::Corrupt, format!("{} is of a newer version", path.display()))
                .help("start the crab with the version of `orange-fleet` that wrote it"));
        }
        serde_json::from_value(value).map(Some).map_err(|cause| corrupt(&path, &cause))
    }

    /// Writes the job down.
    pub fn save(&self, job: &Job) -> Result<()> {
        self.write("job.json", job)
    }

    /// Forgets the job.
    pub fn forget(&self) -> Result<()> {
        let path = self.folder.join("job.json");
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path, &cause)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The millions of bytes that its disk has for it.
    pub fn free_mb(&self) -> Result<u64> {
        Ok(disk_space(&self.folder)?.free / 1_000_000)
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<Option<T>> {
        let path = self.folder.join(name);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|cause| corrupt(&path, &cause)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(Error::io("read", &path, &cause)),
        }
    }

    /// Writes a file whole or not at all.
    fn write(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let path = self.folder.join(name);
        let bytes =
            serde_json::to_vec_pretty(value).map_err(|cause| Error::io("write", &path, &cause.into()))?;
        atomic::write(&path, &bytes)
    }
}

fn corrupt(path: &Path, cause: &serde_json::Error) -> Error {
    Error::new(ErrorKind::Corrupt, format!("{}: {cause}", path.display()))
        .help("move the file away: the crab forgets what it says, and agents that it has started go on by themselves")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crab::job::tests::assigned;

    #[test]
    fn a_home_has_one_crab_and_its_id_stays() {
        let folder = tempfile::tempdir().unwrap();
        let home = CrabHome::take(folder.path()).unwrap();
        assert_eq!(CrabHome::take(folder.path()).unwrap_err().kind, ErrorKind::Locked);
        assert_eq!(home.crab_id(|| Ok("a".to_owned())).unwrap(), "a");
        drop(home);
        let home = CrabHome::take(folder.path()).unwrap();
        assert_eq!(home.crab_id(|| Ok("b".to_owned())).unwrap(), "a");
    }

    #[test]
    fn a_job_is_written_down_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let home = CrabHome::take(folder.path()).unwrap();
        assert_eq!(home.job().unwrap(), None);
        let job = Job { mission: Some("m".to_owned()), ..Job::new(assigned("plan"), "j".to_owned()) };
        home.save(&job).unwrap();
        assert_eq!(home.job().unwrap(), Some(job));
        home.forget().unwrap();
        home.forget().unwrap();
        assert_eq!(home.job().unwrap(), None);
        fs::write(folder.path().join("job.json"), "{\"v\": 2}").unwrap();
        assert!(home.job().unwrap_err().message.ends_with("is of a newer version"));
    }
}
