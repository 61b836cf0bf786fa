//! `check --watch`: checks again whenever a file changes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use orange_codegen::Source;
use orange_codegen::syntax::{self, Node, NodeKind};
use orange_system::changes::{FolderChange, FolderId, FolderWatch, ReportedWrites, WaitEnd, WaitStop};

use crate::answer::{Answer, Failure};
use crate::args;
use crate::config;
use crate::input::{self, Input, ReadInput};
use crate::paths;

/// Editors write a file in several steps; a check waits until nothing has happened for so long.
const QUIET: Duration = Duration::from_millis(50);

/// A folder in which something always happens delays a check no longer than this.
const LONGEST: Duration = Duration::from_secs(1);

/// Time between two checks where the system reports no changes.
const WITHOUT_REPORTS: Duration = Duration::from_secs(1);

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

/// The watch on every folder with files that matter.
struct InputWatch {
    watch: FolderWatch,
    folders: BTreeMap<FolderId, Of>,
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
    let mut watch = InputWatch::new();
    let mut shown = None;
    loop {
        // What changes while the files are read wakes the next wait.
        watch.follow(args);
        let answer = once().unwrap_or_else(|refused| refused);
        let texts = (answer.out, answer.err);
        if shown.as_ref() != Some(&texts) && !print(&texts.0, &texts.1, is_terminal)? {
            return Ok(Answer::text(""));
        }
        shown = Some(texts);
        if !watch.wait() {
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

impl InputWatch {
    fn new() -> InputWatch {
        let watch = FolderWatch::new(ReportedWrites::Closed, WITHOUT_REPORTS);
        InputWatch { watch, folders: BTreeMap::new() }
    }

    /// Watches the folders of these paths, of the files that their workflows name, and of the configurations above them.
    fn follow(&mut self, args: &args::CheckArgs) {
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
        above.iter().for_each(|folder| self.add(folder, Of::Config));
        folders.iter().for_each(|folder| self.add(folder, Of::All));
    }

    /// A folder that is not there or closed is left out: `check` reports it.
    fn add(&mut self, folder: &Path, of: Of) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if let Some(id) = self.watch.add(folder) {
            let known = self.folders.entry(id).or_insert(of);
            *known = of.max(*known);
        }
    }

    /// Waits until something has changed and nothing more does. False if nobody reads standard output any longer.
    fn wait(&mut self) -> bool {
        let stdout = io::stdout();
        loop {
            if self.watch.wait(Some(WaitStop::Unread(stdout.as_fd())), None) == WaitEnd::Stopped {
                return false;
            }
            if self.watch.take_until_quiet(QUIET, LONGEST).iter().any(|change| self.matters(change)) {
                return true;
            }
        }
    }

    fn matters(&self, change: &FolderChange) -> bool {
        let FolderChange::Entry { folder, name, .. } = change else { return true };
        match self.folders.get(folder) {
            Some(Of::Config) => name == config::NAME,
            Some(Of::All) => !name.starts_with('.') && !name.ends_with('~'),
            None => false,
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
