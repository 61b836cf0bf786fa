//! Findings of `check` by text, so that it does not check a text again.
//!
//! Each text is a line `KEY JSON` in the file that is named like the first digit of its key. The key is a hash of this program, of the file's name and of its whole text, so that no
//! line ever becomes wrong. The files may be deleted at any time, and a run that cannot read or write them checks everything.

mod entry;

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use orange_codegen::{Compilation, Source};
use sha2::{Digest, Sha256};

use self::entry::CachedWorkflow;

/// Number of files: a run that checks a few texts reads a few of them.
const FILES: usize = 16;

/// The length at which a run empties a file.
const LONGEST: u64 = 512 * 1024;

/// Known findings of texts, and those that become known in this run.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    place: Option<CachePlace>,
    /// Content of each file, by the first digit of its keys, once it is asked for.
    known: [OnceLock<HashMap<CacheKey, String>>; FILES],
    new: Mutex<BTreeMap<CacheKey, String>>,
}

/// Folder of the cache, and the program that it is for.
#[derive(Debug)]
struct CachePlace {
    folder: PathBuf,
    program: Sha256,
}

/// The hash of a program, the name of a file and its text, in hexadecimal.
pub(crate) type CacheKey = String;

impl Cache {
    /// The cache of this user; an empty one that is never written where there is no place for it.
    pub(crate) fn of_user() -> Self {
        let place = folder().and_then(|folder| Some(CachePlace { folder, program: program().ok()? }));
        Self { place, ..Self::default() }
    }

    /// The key of a text; `None` without a cache.
    pub(crate) fn key(&self, source: &Source) -> Option<CacheKey> {
        let name = Path::new(&source.path).file_name().unwrap_or(OsStr::new(&source.path));
        let mut hash = self.place.as_ref()?.program.clone();
        hash.update(name.len().to_le_bytes());
        hash.update(name.as_encoded_bytes());
        hash.update(&source.text);
        Some(hex(hash))
    }

    /// The result of checking a text, if it was checked before.
    pub(crate) fn get(&self, key: Option<&CacheKey>, text: &str) -> Option<Compilation> {
        let key = key?;
        let entry: CachedWorkflow = serde_json::from_str(self.known(digit(key)?)?.get(key)?).ok()?;
        entry.compilation(text)
    }

    /// Remembers what was found in a text.
    pub(crate) fn put(&self, key: Option<&CacheKey>, compilation: &Compilation) {
        let (Some(key), Some(entry)) = (key, CachedWorkflow::of(compilation)) else { return };
        if let Ok(written) = serde_json::to_string(&entry) {
            self.new.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), written);
        }
    }

    /// Adds what has become known to the files. Nothing depends on them, so what goes wrong is not an error of the run.
    pub(crate) fn save(self) {
        let Some(place) = self.place else { return };
        let new = self.new.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut lines: [String; FILES] = Default::default();
        for (key, entry) in &new {
            // Each line begins with a line break, so that one that was cut off spoils only itself.
            if let Some(lines) = digit(key).and_then(|it| lines.get_mut(it)) {
                lines.push_str(&format!("\n{key} {entry}\n"));
            }
        }
        for (digit, lines) in lines.iter().enumerate().filter(|it| !it.1.is_empty()) {
            drop(append(&place.file(digit), lines));
        }
    }

    fn known(&self, digit: usize) -> Option<&HashMap<CacheKey, String>> {
        let place = self.place.as_ref()?;
        let read = || {
            // A file that cannot be read is as good as none.
            let text = read(&place.file(digit)).unwrap_or_default();
            let lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.map(|(key, rest)| (key.to_owned(), rest.to_owned())).collect()
        };
        self.known.get(digit).map(|it| it.get_or_init(read))
    }
}

impl CachePlace {
    fn file(&self, digit: usize) -> PathBuf {
        self.folder.join(format!("{digit:x}"))
    }
}

/// The first digit of a key.
fn digit(key: &CacheKey) -> Option<usize> {
    usize::try_from(key.chars().next()?.to_digit(16)?).ok()
}

/// The folder of this user's cache, as <https://specifications.freedesktop.org/basedir-spec/latest/> has it.
fn folder() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let caches = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("orange-workflow/found"))
}

/// The beginning of every key: another build of this program may find something else.
fn program() -> io::Result<Sha256> {
    let found = fs::metadata(env::current_exe()?)?;
    let mut hash = Sha256::new();
    for number in [found.dev(), found.ino(), found.len()] {
        hash.update(number.to_le_bytes());
    }
    for number in [found.mtime(), found.mtime_nsec()] {
        hash.update(number.to_le_bytes());
    }
    Ok(hash)
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn read(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    // Reading anything else could wait for ever.
    if !found.is_file() || found.len() > LONGEST {
        return Ok(String::new());
    }
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn append(path: &Path, new: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Ok(()),
        Ok(found) if found.len() > LONGEST => fs::remove_file(path)?,
        Ok(_) | Err(_) => {}
    }
    // One write, so that the lines of several runs do not mix.
    File::options().append(true).create(true).open(path)?.write_all(new.as_bytes())
}
