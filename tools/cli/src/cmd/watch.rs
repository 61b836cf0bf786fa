//! `check --watch`: checks again whenever a file changes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use orange_codegen::Source;
use orange_codegen::syntax::{self, Node, NodeKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::answer::{Answer, Failure};
use crate::args;
use crate::config;
use crate::input::{self, Input, ReadInput};
use crate::paths;

/// Editors write a file in several steps; a check waits until nothing has happened for so long.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A folder in which something always happens delays a check no longer than this many times.
const MOST_WAITS: usize = 20;

/// Moves the cursor to the top, and empties the screen and what was scrolled away.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

/// The files of a folder that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    /// The configuration.
    Config,
    /// All but hidden ones and backups of editors.
    All,
}

/// The folders that are watched.
struct FolderWatch {
    inotify: OwnedFd,
    folders: BTreeMap<i32, Of>,
}

/// Reason for the end of a wait.
#[derive(Debug, PartialEq, Eq)]
enum Woken {
    Changed,
    /// Nobody reads standard output any longer.
    Closed,
}

/// Prints an answer of `once`, and again each one that differs from the last, until Ctrl-C ends the process or the reader
/// of standard output goes away.
pub(super) fn run(
    args: &args::CheckArgs,
    is_terminal: bool,
    once: impl Fn() -> Result<Answer, Answer>,
) -> Result<Answer, Failure> {
    if args.paths.iter().any(|it| it.as_os_str() == "-") {
        return Err(Failure::new("standard input cannot be watched", "name files or folders"));
    }
    let mut watch = FolderWatch::new().map_err(cannot_watch)?;
    let mut shown = None;
    loop {
        // What changes while the files are read wakes the next wait.
        watch.follow(args).map_err(cannot_watch)?;
        let answer = once().unwrap_or_else(|refused| refused);
        let texts = (answer.out, answer.err);
        if shown.as_ref() != Some(&texts) && !print(&texts.0, &texts.1, is_terminal)? {
            return Ok(Answer::text(""));
        }
        shown = Some(texts);
        if watch.wait().map_err(cannot_watch)? == Woken::Closed {
            return Ok(Answer::text(""));
        }
    }
}

/// Prints both texts; false if standard output has no reader any longer.
fn print(out: &str, err: &str, is_terminal: bool) -> Result<bool, Failure> {
    let clear = if is_terminal { CLEAR } else { "" };
    let mut stdout = io::stdout().lock();
    let written = write!(stdout, "{clear}{out}").and_then(|()| stdout.flush());
    let written = written.and_then(|()| io::stderr().lock().write_all(err.as_bytes()));
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(
            format!("cannot write the answer: {error}"),
            "see whether the disk is full or the output was closed",
        )),
    }
}

fn cannot_watch(error: Errno) -> Failure {
    let help = match error {
        Errno::NOSPC => "raise `fs.inotify.max_user_watches`, or name fewer folders",
        Errno::MFILE => "raise `fs.inotify.max_user_instances`, or end other programs that watch files",
        _ => "run `check` without --watch",
    };
    Failure::new(format!("cannot watch the files: {error}"), help)
}

impl FolderWatch {
    fn new() -> rustix::io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Self { inotify, folders: BTreeMap::new() })
    }

    /// Watches the folders of these paths, of the files that their workflows name, and of the configurations above them.
    fn follow(&mut self, args: &args::CheckArgs) -> rustix::io::Result<()> {
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for path in &args.paths {
            match path.is_dir() {
                true => folders.extend(input::folders_below(path)),
                false => folders.extend(path.parent().map(Path::to_owned)),
            }
        }
        for input in input::collect(&args.paths, None).inputs {
            folders.extend(named_by(&input).iter().filter_map(|it| it.parent()).map(Path::to_owned));
        }
        folders.extend(args.baseline.iter().filter_map(|it| it.parent()).map(Path::to_owned));
        let above: BTreeSet<PathBuf> = folders
            .iter()
            .flat_map(|it| paths::absolute(it).ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>())
            .collect();
        for folder in above {
            self.add(&folder, Of::Config)?;
        }
        for folder in folders {
            self.add(&folder, Of::All)?;
        }
        Ok(())
    }

    /// A folder that is not there or closed is left out: `check` reports it.
    fn add(&mut self, folder: &Path, of: Of) -> rustix::io::Result<()> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let what = WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR;
        match inotify::add_watch(&self.inotify, folder, what) {
            Ok(id) => {
                let known = self.folders.entry(id).or_insert(of);
                *known = of.max(*known);
                Ok(())
            }
            Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits until something has changed and nothing more does.
    fn wait(&self) -> rustix::io::Result<Woken> {
        loop {
            if self.sleep(None)? == Some(Woken::Closed) {
                return Ok(Woken::Closed);
            }
            if self.take()? {
                break;
            }
        }
        for _ in 0..MOST_WAITS {
            match self.sleep(Some(&QUIET))? {
                Some(Woken::Closed) => return Ok(Woken::Closed),
                Some(Woken::Changed) => _ = self.take()?,
                None => break,
            }
        }
        Ok(Woken::Changed)
    }

    /// Waits for an event; none where the time is over.
    fn sleep(&self, longest: Option<&Timespec>) -> rustix::io::Result<Option<Woken>> {
        let stdout = io::stdout();
        let mut waited =
            [PollFd::new(&self.inotify, PollFlags::IN), PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut waited, longest) {
            Ok(0) => Ok(None),
            Ok(_) if waited[1].revents().intersects(PollFlags::ERR | PollFlags::HUP) => {
                Ok(Some(Woken::Closed))
            }
            Ok(_) | Err(Errno::INTR) => Ok(Some(Woken::Changed)),
            Err(error) => Err(error),
        }
    }

    /// Takes all events that have happened; whether one of them matters.
    fn take(&self) -> rustix::io::Result<bool> {
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut events = Reader::new(&self.inotify, &mut buffer);
        let mut matters = false;
        loop {
            match events.next() {
                Ok(event) => {
                    let name = event.file_name().map(|it| it.to_string_lossy().into_owned());
                    matters |= self.matters(event.wd(), name.as_deref());
                }
                Err(Errno::WOULDBLOCK) => return Ok(matters),
                Err(error) => return Err(error),
            }
        }
    }

    fn matters(&self, folder: i32, name: Option<&str>) -> bool {
        match (self.folders.get(&folder), name) {
            (Some(Of::Config), name) => name == Some(config::NAME),
            (Some(Of::All), Some(name)) => !name.starts_with('.') && !name.ends_with('~'),
            // Events were lost, or a folder is gone.
            (Some(Of::All), None) | (None, _) => true,
        }
    }
}

/// The files that a workflow has the names of, such as those of prompts.
fn named_by(input: &Input) -> Vec<PathBuf> {
    let ReadInput::Text(source) = input.read() else { return Vec::new() };
    let mut named = Vec::new();
    if let (Some(tree), _) = syntax::parse(&source) {
        gather(&tree, &source, &mut named);
    }
    named
}

fn gather(node: &Node, source: &Source, named: &mut Vec<PathBuf>) {
    match &node.kind {
        NodeKind::Scalar(scalar) if scalar.text.value.contains('/') && !scalar.text.value.contains('\n') => {
            named.extend(source.prompt_files.path(&scalar.text.value));
        }
        NodeKind::Scalar(_) => {}
        NodeKind::Sequence(items) => items.iter().for_each(|it| gather(it, source, named)),
        NodeKind::Mapping(entries) => entries.iter().for_each(|(_, value)| gather(value, source, named)),
    }
}
