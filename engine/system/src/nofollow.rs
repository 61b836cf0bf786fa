//! Access to the files of the home that follows no link, never blocks, and reads no more than a limit, whatever a person or an
//! agent puts at a path.

mod reach;

use std::ffi::OsStr;
use std::fmt;
use std::fs::{DirEntry, File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, Stat, linkat, mkdirat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use self::reach::FOLDER;
use crate::files;
use orange_api::Unfit;

/// The longest file that is read, unless another limit is documented.
pub const LONGEST: u64 = 64 * 1024 * 1024;

/// Opens a regular file with these flags; a created file is readable by its owner alone.
pub fn open(path: &Path, how: OFlags) -> io::Result<File> {
    let mode = if how.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
    open_with(path, how, mode)
}

/// Makes a file, which others may read and write as far as the umask lets them.
pub fn create_public(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, Mode::from_raw_mode(0o666))
}

fn open_with(path: &Path, how: OFlags, mode: Mode) -> io::Result<File> {
    const AT_ONCE: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
    let file = File::from(reach(path, how | AT_ONCE, mode)?);
    is_regular(&file.metadata()?).map(|()| file)
}

/// Reads a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_all(&open(path, OFlags::RDONLY)?, limit)
}

/// Reads a person's file of at most `limit` bytes, which may be a link to a regular file.
pub fn read_linked(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read(&files::real(path), limit)
}

/// Reads an open file of at most `limit` bytes.
pub fn read_all(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(length.min(limit).try_into().unwrap_or_default());
    let is_longer = |length: u64| length > limit;
    if !is_longer(length) {
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if is_longer(length) || is_longer(bytes.len() as u64) {
        Err(Unfit::TooLong(limit).into())
    } else {
        Ok(bytes)
    }
}

/// The metadata of a path, or of the link that it is.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    within(path)?;
    path.symlink_metadata()
}

/// The entries of a folder, in no order; none if there is no such folder.
pub fn entries(path: &Path) -> io::Result<Vec<DirEntry>> {
    match folder(path) {
        Ok(_) => files::read_folder(path),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(cause),
    }
}

/// Reason for which a path cannot be opened as a file; `None` for a regular file or a free path.
pub fn unfit_for_file(path: &Path) -> Option<Unfit> {
    match metadata(path) {
        Ok(found) if found.is_symlink() => Some(Unfit::Link),
        Ok(found) => is_regular(&found).err().and_then(|cause| Unfit::of(&cause)),
        Err(cause) => Unfit::of(&cause),
    }
}

/// Everything in this folder and below it that cannot be opened: links, pipes, sockets and devices. The folder `left_out` is not
/// looked into.
pub fn unfit(path: &Path, left_out: &Path) -> io::Result<Vec<(PathBuf, Unfit)>> {
    let mut found = Vec::new();
    for entry in entries(path)? {
        match entry.file_type()? {
            kind if kind.is_symlink() => found.push((entry.path(), Unfit::Link)),
            kind if kind.is_dir() && entry.path() == left_out => {}
            kind if kind.is_dir() => found.extend(unfit(&entry.path(), left_out)?),
            kind if !kind.is_file() => found.push((entry.path(), Unfit::NoFile)),
            _ => {}
        }
    }
    Ok(found)
}

/// Creates a folder and its parents, readable by their owner alone, unless they exist.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match folder(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
        there => return there.map(drop),
    }
    path.parent().map_or(Ok(()), make_folder)?;
    let (parent, name) = within(path)?;
    match mkdirat(parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => folder(path).map(drop),
        Err(cause) => Err(cause.into()),
    }
}

/// Removes a file, or a link.
pub fn remove(path: &Path) -> io::Result<()> {
    let (folder, name) = within(path)?;
    Ok(unlinkat(folder, name, AtFlags::empty())?)
}

/// Renames a file or a folder.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    rename_with(from, to, RenameFlags::empty())
}

/// Renames a file or a folder with flags; `Unsupported` where the file system lacks them.
pub fn rename_with(from: &Path, to: &Path, how: RenameFlags) -> io::Result<()> {
    let ((old_folder, old), (new_folder, new)) = (within(from)?, within(to)?);
    match renameat_with(old_folder, old, new_folder, new, how) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if !how.is_empty() => {
            Err(io::ErrorKind::Unsupported.into())
        }
        renamed => Ok(renamed?),
    }
}

/// Creates a hard link.
pub fn hard_link(from: &Path, to: &Path) -> io::Result<()> {
    let ((old_folder, old), (new_folder, new)) = (within(from)?, within(to)?);
    Ok(linkat(old_folder, old, new_folder, new, AtFlags::empty())?)
}

/// A folder whose files are looked at without opening them.
#[derive(Debug)]
pub struct OpenFolder {
    folder: OwnedFd,
    #[cfg(feature = "count-opens")]
    path: PathBuf,
}

impl OpenFolder {
    /// The folder at this path.
    pub fn open(path: &Path) -> io::Result<OpenFolder> {
        Ok(OpenFolder {
            folder: folder(path)?,
            #[cfg(feature = "count-opens")]
            path: path.to_owned(),
        })
    }

    /// The stamp of the regular file at this path below the folder, if there is one, or of the folder at a path that ends with `/.`.
    pub fn stamp(&self, below: &str) -> Option<Stamp> {
        #[cfg(feature = "count-opens")]
        opened::note_look(&self.path.join(below));
        statat(&self.folder, below, AtFlags::SYMLINK_NOFOLLOW)
            .ok()
            .and_then(|found| Stamp::of(&found, below.ends_with("/.")))
    }
}

/// Metadata that differs between two versions of a file, if the clock of its file system has moved on between them: every write and
/// every rename sets the time of the last change, and no program can set that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    length: i64,
    modified: FileTime,
    changed: FileTime,
}

/// Seconds and nanoseconds.
type FileTime = (i64, i64);

impl Stamp {
    /// The stamp of an open file.
    pub fn of_file(file: &File) -> io::Result<Stamp> {
        let found = file.metadata()?;
        Ok(Stamp {
            device: found.dev(),
            inode: found.ino(),
            length: i64::try_from(found.size()).unwrap_or(i64::MAX),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// The stamp of this text. An index has thousands, so each letter is looked at once.
    pub fn parse(text: &str) -> Option<Stamp> {
        let mut numbers = [0_i64; 7];
        let mut at = 0;
        for letter in text.bytes() {
            match letter {
                b' ' => at += 1,
                b'0'..=b'9' => {
                    let number = numbers.get_mut(at)?;
                    *number = number.checked_mul(10)?.checked_add(i64::from(letter - b'0'))?;
                }
                _ => return None,
            }
        }
        let [device, inode, length, modified, modified_nanos, changed, changed_nanos] = numbers;
        Some(Stamp {
            device: device.cast_unsigned(),
            inode: inode.cast_unsigned(),
            length,
            modified: (modified, modified_nanos),
            changed: (changed, changed_nanos),
        })
    }

    /// Device, inode, length, and the seconds and nanoseconds of the changes of its contents and of the file.
    pub fn numbers(&self) -> [u64; 7] {
        let Stamp { device, inode, length, modified, changed } = *self;
        let [length, seconds, nanos] = [length, modified.0, modified.1].map(i64::cast_unsigned);
        [device, inode, length, seconds, nanos, changed.0.cast_unsigned(), changed.1.cast_unsigned()]
    }

    fn of(found: &Stat, is_folder: bool) -> Option<Stamp> {
        let (device, modified, changed) = varying(found);
        let kind = rustix::fs::FileType::from_raw_mode(found.st_mode);
        let is_it = if is_folder { kind.is_dir() } else { kind.is_file() };
        is_it.then_some(Stamp {
            device,
            inode: found.st_ino,
            length: found.st_size,
            modified: (found.st_mtime, modified),
            changed: (found.st_ctime, changed),
        })
    }

    /// True if the file is older than another one of its file system, which was created just now: every later write into it gives
    /// it another stamp.
    pub fn is_older_than(&self, created: &Stamp) -> bool {
        self.modified < created.changed && self.changed < created.changed
    }
}

/// The numbers whose types differ between systems: the device, and the parts of seconds of both times.
#[cfg(target_os = "linux")]
fn varying(found: &Stat) -> (u64, i64, i64) {
    let part = |nanoseconds: u64| nanoseconds.try_into().unwrap_or_default();
    (found.st_dev, part(found.st_mtime_nsec), part(found.st_ctime_nsec))
}

/// The numbers whose types differ between systems, as the metadata of an open file have them.
#[cfg(not(target_os = "linux"))]
fn varying(found: &Stat) -> (u64, i64, i64) {
    (i64::from(found.st_dev).cast_unsigned(), found.st_mtime_nsec, found.st_ctime_nsec)
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stamp { device, inode, length, modified, changed } = self;
        write!(f, "{device} {inode} {length} {} {} {} {}", modified.0, modified.1, changed.0, changed.1)
    }
}

/// Waits until the names in this folder are on disk.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    File::from(reach(path, how, Mode::empty())?).sync_all()
}

/// Checks that these are of a regular file.
fn is_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(Unfit::NoFile.into()) }
}

fn folder(path: &Path) -> io::Result<OwnedFd> {
    reach(path, FOLDER, Mode::empty())
}

/// The folder of a path, and the name in it.
fn within(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::ISDIR.into());
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    Ok((folder(parent)?, name))
}

/// Opens a path that contains no link.
fn reach(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    #[cfg(feature = "count-opens")]
    opened::note(path);
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(Unfit::Link.into());
    }
    reach::open(path, flags, mode).map_err(|cause| match cause {
        Errno::LOOP => Unfit::Link.into(),
        // Of a socket, macOS says that it does not support the operation.
        Errno::NXIO | Errno::OPNOTSUPP | Errno::ISDIR => Unfit::NoFile.into(),
        cause => cause.into(),
    })
}

/// Counts the files that tests open.
#[cfg(feature = "count-opens")]
pub mod opened {
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, PoisonError};

    /// Paths that are opened, while a test counts them.
    static OPENED: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

    /// Paths that are looked at without opening them.
    static LOOKED_AT: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

    type Noted = Mutex<Option<Vec<PathBuf>>>;

    pub(super) fn note(path: &Path) {
        add(&OPENED, path);
    }

    pub(super) fn note_look(path: &Path) {
        add(&LOOKED_AT, path);
    }

    fn add(noted: &Noted, path: &Path) {
        if let Some(noted) = noted.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            noted.push(path.to_owned());
        }
    }

    /// Number of files below this folder whose metadata alone are read meanwhile, by all threads.
    pub fn looks_during(folder: &Path, work: impl FnOnce()) -> usize {
        counted(&LOOKED_AT, folder, work).0
    }

    /// Number of files and folders below this one that are opened meanwhile, by all threads.
    pub fn during<T>(folder: &Path, work: impl FnOnce() -> T) -> (usize, T) {
        counted(&OPENED, folder, work)
    }

    fn counted<T>(noted: &Noted, folder: &Path, work: impl FnOnce() -> T) -> (usize, T) {
        let count = || {
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.get_or_insert_default().iter().filter(|path| path.starts_with(folder)).count()
        };
        let before = count();
        let done = work();
        (count() - before, done)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::reach::walk;
    use super::*;
    use orange_testkit::make_fifo;

    /// A folder with a file, a folder, and everything that must not be followed or read.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let made = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(made.path()).unwrap();
        let at = |name: &str| root.join(name);
        fs::write(at("file"), "text").unwrap();
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("folder/inner"), "inner").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink(at("nothing"), at("dangling")).unwrap();
        symlink(at("folder"), at("linked")).unwrap();
        make_fifo(&at("pipe"));
        drop(UnixListener::bind(at("socket")).unwrap());
        (made, root)
    }

    #[track_caller]
    fn refuses(done: io::Result<impl fmt::Debug>, expect: Unfit) {
        assert_eq!(Unfit::of(&done.unwrap_err()), Some(expect));
    }

    #[test]
    fn a_regular_file_is_read_and_nothing_else() {
        let (_made, root) = folder();
        let read = |name: &str| read(&root.join(name), 4);
        assert_eq!(read("file").unwrap(), b"text");
        assert_eq!(read_linked(&root.join("link"), 4).unwrap(), b"text");
        refuses(read_linked(&root.join("pipe"), 4), Unfit::NoFile);
        assert_eq!(read("nothing").unwrap_err().kind(), io::ErrorKind::NotFound);
        refuses(read("folder/inner"), Unfit::TooLong(4));
        for link in ["link", "dangling", "linked/inner", "linked/nothing", "folder/../file"] {
            refuses(read(link), Unfit::Link);
        }
        for other in ["pipe", "socket", "folder"] {
            refuses(read(other), Unfit::NoFile);
        }
        refuses(super::read(Path::new("/dev/zero"), 4), Unfit::NoFile);
    }

    #[test]
    fn what_is_larger_than_memory_is_not_read() {
        let (_made, root) = folder();
        fs::OpenOptions::new().write(true).open(root.join("file")).unwrap().set_len(1 << 40).unwrap();
        refuses(read(&root.join("file"), LONGEST), Unfit::TooLong(LONGEST));
    }

    #[test]
    fn nothing_is_written_or_removed_behind_a_link() {
        let (_made, root) = folder();
        let at = |name: &str| root.join(name);
        let create = OFlags::RDWR | OFlags::CREATE;
        for link in ["link", "dangling", "linked/inner", "linked/new"] {
            refuses(open(&at(link), create), Unfit::Link);
        }
        refuses(open(&at("pipe"), OFlags::WRONLY | OFlags::APPEND), Unfit::NoFile);
        refuses(remove(&at("linked/inner")), Unfit::Link);
        refuses(rename(&at("file"), &at("linked/file")), Unfit::Link);
        refuses(rename(&at("linked/inner"), &at("inner")), Unfit::Link);
        refuses(hard_link(&at("file"), &at("linked/file")), Unfit::Link);
        refuses(make_folder(&at("linked/new")), Unfit::Link);
        refuses(make_folder(&at("linked")), Unfit::Link);
        refuses(entries(&at("linked")), Unfit::Link);
        refuses(sync_folder(&at("linked")), Unfit::Link);
        refuses(metadata(&at("linked/inner")), Unfit::Link);
        assert_eq!(fs::read_dir(at("folder")).unwrap().count(), 1);
        assert!(!at("nothing").exists());

        remove(&at("link")).unwrap();
        make_folder(&at("a/b")).unwrap();
        rename(&at("file"), &at("a/b/file")).unwrap();
        assert_eq!(entries(&at("a/b")).unwrap().len(), 1);
        assert_eq!(entries(&at("gone")).unwrap().len(), 0);
    }

    #[test]
    fn an_old_kernel_makes_no_difference() {
        let (_made, root) = folder();
        let names = ["file", "nothing", "folder/inner", "link", "dangling", "linked/inner", "pipe", "file/x"];
        let how = OFlags::RDONLY | OFlags::NONBLOCK;
        for name in names {
            let path = root.join(name);
            let known = reach(&path, how, Mode::empty()).map_err(|cause| cause.kind());
            let walked = walk(&path, how, Mode::empty()).map_err(|cause| match cause {
                Errno::LOOP => io::ErrorKind::InvalidInput,
                cause => io::Error::from(cause).kind(),
            });
            assert_eq!(walked.err(), known.err(), "{name}");
        }
        let step = |name: &str| walk(&root.join(name), FOLDER, Mode::empty());
        assert!(step("folder").is_ok() && step("").is_ok());
        assert_eq!(step("linked").unwrap_err(), Errno::LOOP);
        assert_eq!(folder_error(&root.join("linked")), Some(Unfit::Link));
    }

    #[test]
    fn what_is_never_opened_is_found_wherever_it_is() {
        let (_made, root) = folder();
        symlink("/etc", root.join("folder/deep")).unwrap();
        let why = |name: &str| unfit_for_file(&root.join(name));
        assert_eq!(["file", "nothing", "folder/inner"].map(why), [None; 3]);
        assert_eq!(["link", "dangling", "linked/inner"].map(why), [Some(Unfit::Link); 3]);
        assert_eq!(["folder", "pipe", "socket"].map(why), [Some(Unfit::NoFile); 3]);
        let mut found = unfit(&root, &root.join("nothing")).unwrap();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let names: Vec<_> =
            found.iter().map(|(path, _)| path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["dangling", "folder/deep", "link", "linked", "pipe", "socket"]);
        let links = found.iter().filter(|(_, why)| *why == Unfit::Link).count();
        assert_eq!(links, 4);
        let others = unfit(&root, &root.join("folder")).unwrap();
        assert!(others.len() == 5 && others.iter().all(|(path, _)| !path.starts_with(root.join("folder"))));
    }

    fn folder_error(path: &Path) -> Option<Unfit> {
        Unfit::of(&super::folder(path).unwrap_err())
    }
}
