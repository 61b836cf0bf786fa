//! Moves files out of a worktree into a folder beside it, where no process finds them by name, so that they can be backed up
//! and then removed.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat};
use rustix::io::Errno;

use super::look::{self, FolderWalk};
use super::refused;
use crate::{Error, Result};
use orange_system::fault;
use orange_system::files::{entries, is_empty, remove_folder};
use orange_system::process::{self, FileUser};

/// The folder beside the worktrees.
const FOLDER: &str = ".released";

/// Limit of the wait for a file that is being written.
const PATIENCE: Duration = Duration::from_secs(5);

/// The captured files of one worktree.
///
/// A kill may come at any moment: then the files in `taken` return to the worktree, those in `kept` have a recorded backup, and
/// `gone` is a whole worktree.
pub(super) struct Capture {
    worktree: PathBuf,
    folder: PathBuf,
}

impl Capture {
    pub(super) fn of(worktree: &Path) -> Capture {
        let place = worktree.parent().unwrap_or(worktree).join(FOLDER);
        let name = worktree.file_name().unwrap_or_default();
        Capture { worktree: worktree.to_owned(), folder: place.join(name) }
    }

    /// The folder of captured files, each under its path in the worktree.
    pub(super) fn taken(&self) -> PathBuf {
        self.folder.join("taken")
    }

    fn kept(&self) -> PathBuf {
        self.folder.join("kept")
    }

    fn gone(&self) -> PathBuf {
        self.folder.join("gone")
    }

    /// True if a release was killed after everything captured had a backup.
    pub(super) fn is_kept(&self) -> bool {
        self.kept().is_dir()
    }

    /// Moves files and whole folders out of the worktree. It skips those that are gone, and those below a link, which may lead
    /// anywhere. Neighbours share the look for their folder, since there may be thousands.
    pub(super) fn take<'p>(&self, paths: impl IntoIterator<Item = &'p Path>) -> Result<()> {
        let paths: Vec<&Path> = paths.into_iter().collect();
        for neighbours in paths.chunk_by(|one, other| one.parent() == other.parent()) {
            let Some(first) = neighbours.first() else { continue };
            make_room(&self.taken().join(first))?;
            let open = open_below(&self.worktree, first.parent().unwrap_or(Path::new("")));
            for path in neighbours {
                fault::step("capture", path.display());
                let to = self.taken().join(path);
                let name = path.file_name().unwrap_or_default();
                match open.as_ref().map_err(|cause| *cause).and_then(|open| renameat(open, name, CWD, &to)) {
                    Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                    Err(cause) => return Err(Error::io("move", &self.worktree.join(path), &cause.into())),
                }
            }
            remove_empty_above(&self.worktree.join(first), &self.worktree);
        }
        Ok(())
    }

    /// Everything captured, once no process writes to it; refuses if that takes too long.
    pub(super) fn at_rest(&self) -> Result<FolderWalk> {
        let taken = self.taken();
        if !taken.is_dir() {
            return Ok(FolderWalk::default());
        }
        until_nobody_writes(&taken, &self.worktree)?;
        look::walk(&taken, &|_, _| false)
    }

    /// Refuses if anything was changed or added since the first look.
    pub(super) fn check_unchanged(&self, before: &FolderWalk) -> Result<()> {
        let now = self.at_rest()?;
        match now.files.iter().find(|found| !look::has(&before.files, found)) {
            Some(found) => Err(refused(format!(
                "{} was written while {} was given back",
                found.path.display(),
                self.worktree.display()
            ))
            .help(REMEDY)),
            None => Ok(()),
        }
    }

    /// Records that everything captured has a recorded backup.
    pub(super) fn set_kept(&self) -> Result<()> {
        if !self.taken().exists() {
            return Ok(());
        }
        fault::step("set kept", self.taken().display());
        fs::rename(self.taken(), self.kept()).map_err(|cause| Error::io("rename", &self.taken(), &cause))
    }

    /// Removes what has a backup.
    pub(super) fn remove_kept(&self) -> Result<()> {
        remove(&self.kept())?;
        self.tidy();
        Ok(())
    }

    /// Moves everything captured back, under another name where there is a new file.
    pub(super) fn give_back(&self) -> Result<()> {
        if self.taken().is_dir() {
            fault::step("give back", self.taken().display());
            put_back(&self.taken(), &self.worktree)?;
        }
        self.tidy();
        Ok(())
    }

    /// Moves everything captured back, with what has a backup: the task continues in this worktree.
    pub(super) fn give_all_back(&self) -> Result<()> {
        self.give_back()?;
        if self.is_kept() {
            fault::step("give back", self.kept().display());
            put_back(&self.kept(), &self.worktree)?;
        }
        self.tidy();
        Ok(())
    }

    /// Moves the whole worktree away and returns its new folder.
    pub(super) fn take_whole(&self) -> Result<PathBuf> {
        let gone = self.gone();
        remove(&gone)?;
        make_room(&gone)?;
        fault::step("capture", self.worktree.display());
        fs::rename(&self.worktree, &gone).map_err(|cause| Error::io("move", &self.worktree, &cause))?;
        Ok(gone)
    }

    /// Moves the whole worktree back, if it was moved away and its path is free.
    pub(super) fn give_back_whole(&self) -> Result<()> {
        if self.gone().is_dir() && is_empty(&self.worktree) {
            fs::rename(self.gone(), &self.worktree)
                .map_err(|cause| Error::io("move", &self.gone(), &cause))?;
        }
        Ok(())
    }

    /// Removes the worktree that was moved away.
    pub(super) fn remove_whole(&self) -> Result<()> {
        remove(&self.gone())?;
        self.tidy();
        Ok(())
    }

    /// The folder of everything captured, if there is anything.
    pub(super) fn left(&self) -> Option<&Path> {
        Some(&*self.folder).filter(|folder| !is_empty(folder))
    }

    /// The error about a worktree whose files keep changing.
    pub(super) fn restless(&self, written: Option<&Path>) -> Error {
        let what = written.map(|path| format!(" (the last was {})", path.display())).unwrap_or_default();
        let who = process::users(&self.worktree).map(|users| named(&users)).unwrap_or_default();
        let shown = self.worktree.display();
        refused(format!("{shown} cannot be given back: files are written there all the time{what}{who}"))
            .help(REMEDY)
    }

    /// Removes empty folders of ours.
    fn tidy(&self) {
        for folder in self.folder.ancestors().take(2) {
            // Releases of other worktrees may use it.
            fs::remove_dir(folder).unwrap_or_default();
        }
    }
}

const REMEDY: &str = "end what writes there, then `orange workspace gc` gives it back; nothing was lost";

/// Waits until no process has a file below this folder open for writing; refuses, with these processes, if that takes too long.
pub(super) fn until_nobody_writes(folder: &Path, worktree: &Path) -> Result<()> {
    let start = Instant::now();
    loop {
        let writers = process::writers(folder)?;
        if writers.is_empty() {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            let shown = worktree.display();
            return Err(refused(format!(
                "{shown} cannot be given back: files in it are written{}",
                named(&writers)
            ))
            .help(REMEDY));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn named(users: &[FileUser]) -> String {
    let names: Vec<String> = users.iter().map(ToString::to_string).collect();
    if names.is_empty() { String::new() } else { format!(", by {}", names.join(", ")) }
}

fn make_room(for_it: &Path) -> Result<()> {
    let folder = for_it.parent().unwrap_or(for_it);
    fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, &cause))
}

fn remove(folder: &Path) -> Result<()> {
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    fault::step("remove", folder.display());
    remove_folder(folder).map_err(|cause| Error::io("remove", folder, &cause))
}

/// Opens a folder below another one, without following links between them.
fn open_below(top: &Path, folder: &Path) -> std::result::Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = openat(CWD, top, flags, Mode::empty())?;
    folder.components().try_fold(top, |open, part| openat(&open, part.as_os_str(), flags, Mode::empty()))
}

/// Removes the parent folders of a path that are empty.
fn remove_empty_above(path: &Path, top: &Path) {
    for folder in path.ancestors().skip(1).take_while(|folder| *folder != top) {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

fn put_back(from: &Path, to: &Path) -> Result<()> {
    for entry in entries(from)? {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_repository = is_folder && from.join(".git").symlink_metadata().is_ok();
        let has_folder = || to.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_folder && !is_repository && (fs::create_dir(&to).is_ok() || has_folder()) {
            put_back(&from, &to)?;
        } else {
            move_beside(&from, &to)?;
        }
    }
    fs::remove_dir(from).map_err(|cause| Error::io("remove", from, &cause))
}

/// Moves an entry to its path, or beside it if the path is taken.
fn move_beside(from: &Path, wanted: &Path) -> Result<()> {
    for number in 0_u32.. {
        let to = match (number, wanted.file_name()) {
            (1.., Some(name)) => wanted.with_file_name(format!("{}~{number}", name.to_string_lossy())),
            (0, _) | (_, None) => wanted.to_owned(),
        };
        if is_empty(&to) {
            // An empty folder may be the rest of a repository.
            fs::remove_dir(&to).unwrap_or_default();
        }
        match rustix::fs::renameat_with(CWD, from, CWD, &to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            Err(Errno::EXIST | Errno::NOTEMPTY) => {}
            Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_err() => {
                return fs::rename(from, &to).map_err(|cause| Error::io("move", from, &cause));
            }
            Err(Errno::INVAL | Errno::NOSYS) => {}
            Err(cause) => return Err(Error::io("move", from, &cause.into())),
        }
    }
    Ok(())
}
