//! The texts in which `check` has found nothing but what is off by default, so that it does not check them again.
//!
//! Each is a line `KEY KIND START END CHECKS NAME`, with the codes of these checks, or `-`. The key is a hash of this program, of the file's name and of its whole text, so that no
//! line ever becomes wrong. The file may be deleted at any time, and a run that cannot read or write it checks everything.

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use orange_analysis::catalogue::{self, Check};
use orange_codegen::recognise::Kind;
use orange_codegen::{Compilation, Diagnostic, Level, Likeness, Source, Span, Spanned};
use sha2::{Digest, Sha256};

/// Stands for no check.
const NONE: &str = "-";

/// The length at which a run empties the file.
const LONGEST: u64 = 512 * 1024;

/// What is known of texts, and what becomes known in this run.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    file: Option<CacheFile>,
    /// The rest of each line by its key: a run looks at few of them.
    known: HashMap<Key, String>,
    new: Mutex<BTreeMap<Key, Clean>>,
}

/// Where the cache is, and which program it is for.
#[derive(Debug)]
struct CacheFile {
    path: PathBuf,
    program: Sha256,
}

/// The hash of a program, the name of a file and its text, in hexadecimal.
pub(crate) type Key = String;

/// Whether findings of a check are shown in the file of this path.
pub(crate) type IsShown<'s> = &'s (dyn Fn(&str, &'static Check) -> bool + Sync);

/// A workflow without a finding, unless a check is on that is off by default.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clean {
    kind: Kind,
    name: Spanned<String>,
    /// The checks that are off and have findings.
    off: Vec<&'static Check>,
}

impl Cache {
    /// The cache of this user; an empty one that is never written where there is no place for it.
    pub(crate) fn of_user() -> Self {
        let Some(file) = path().and_then(|path| Some(CacheFile { path, program: program().ok()? })) else {
            return Self::default();
        };
        // A cache that cannot be read is as good as none.
        let text = read(&file.path).unwrap_or_default();
        let known = text.lines().filter_map(|line| line.split_once(' '));
        let known = known.map(|(key, rest)| (key.to_owned(), rest.to_owned())).collect();
        Self { file: Some(file), known, new: Mutex::default() }
    }

    /// The key of a text; `None` without a cache.
    pub(crate) fn key(&self, source: &Source) -> Option<Key> {
        let name = Path::new(&source.path).file_name().unwrap_or(OsStr::new(&source.path));
        let mut hash = self.file.as_ref()?.program.clone();
        hash.update(name.len().to_le_bytes());
        hash.update(name.as_encoded_bytes());
        hash.update(&source.text);
        Some(hex(hash))
    }

    /// The result of checking a text, if nothing was found in it before that is shown.
    pub(crate) fn get(&self, key: Option<&Key>, path: &str, is_shown: IsShown<'_>) -> Option<Compilation> {
        let Clean { kind, name, off } = Clean::parse(self.known.get(key?)?)?;
        let (name, likeness) = (Some(name), Likeness::Workflow(kind));
        let is_known = !off.iter().any(|check| is_shown(path, check));
        is_known.then(|| Compilation { name, likeness, ..Compilation::default() })
    }

    /// Remembers a text in which nothing was found that is on by default. The findings of one that names other files depend on these, too.
    pub(crate) fn put(&self, key: Option<&Key>, compilation: &Compilation) {
        let names_no_file = compilation.checked.as_ref().is_some_and(|it| it.prompt_files().is_empty());
        let (Some(key), Some(name), Likeness::Workflow(kind)) =
            (key, &compilation.name, compilation.likeness)
        else {
            return;
        };
        let found = &compilation.diagnostics;
        let is_new = !self.known.contains_key(key);
        if is_new && names_no_file && found.iter().all(|it| it.level == Level::Allow) {
            let clean = Clean { kind, name: name.clone(), off: checks(found) };
            self.new.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), clean);
        }
    }

    /// Adds what has become known to the file. Nothing depends on it, so what goes wrong is no error of the run.
    pub(crate) fn save(self) {
        let new = self.new.into_inner().unwrap_or_else(PoisonError::into_inner);
        let lines: String = new.iter().map(|(key, clean)| clean.line(key)).collect();
        if let Some(file) = self.file.filter(|_| !lines.is_empty()) {
            drop(append(&file.path, &lines));
        }
    }
}

impl Clean {
    /// The line, which begins with a line break, so that one that was cut off spoils only itself.
    fn line(&self, key: &Key) -> String {
        let Spanned { value, span } = &self.name;
        let codes: Vec<&str> = self.off.iter().map(|check| check.code).collect();
        let codes = if codes.is_empty() { NONE.to_owned() } else { codes.join(",") };
        let kind = match self.kind {
            Kind::Machine => "machine",
            Kind::Steps => "steps",
        };
        format!("\n{key} {kind} {} {} {codes} {value}\n", span.start, span.end)
    }

    /// Reads what stands behind the key.
    fn parse(rest: &str) -> Option<Self> {
        let mut words = rest.splitn(5, ' ');
        let kind = match words.next()? {
            "machine" => Kind::Machine,
            "steps" => Kind::Steps,
            _ => return None,
        };
        let span = Span::new(words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let codes = words.next()?.split(',').filter(|code| *code != NONE);
        let off = codes.map(catalogue::find).collect::<Option<_>>()?;
        let value = words.next()?.to_owned();
        Some(Self { kind, name: Spanned { value, span }, off })
    }
}

/// The checks of these findings, and of those that they stand for.
fn checks(findings: &[Diagnostic]) -> Vec<&'static Check> {
    let mut checks: Vec<_> =
        findings.iter().flat_map(|it| it.fault.iter().chain([it])).map(|it| it.check).collect();
    checks.sort_by_key(|check| check.code);
    checks.dedup();
    checks
}

/// The path of this user's file, as <https://specifications.freedesktop.org/basedir-spec/latest/> has it.
fn path() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let caches = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("orange-workflow/clean"))
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
