//! Files of a checkout, by a plain walk through its folder, beside git's view of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::ops::Bound;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::parse::{self, GitObject, IndexEntry};
use super::scratch::ScratchIndex;
use super::{Git, TASK_FILE};
use crate::Result;
use orange_system::files::{entries, if_found, permit};

/// The file with attributes of the files beside and below it.
const ATTRIBUTES: &str = ".gitattributes";

/// The files of a commit, by path.
pub(super) type Tree = BTreeMap<PathBuf, GitObject>;

/// A regular file or a link, by its path in the checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    pub(super) print: Print,
}

/// Metadata that change with every write: two equal ones are of one file with one content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Print {
    pub(super) is_link: bool,
    pub(super) is_executable: bool,
    file: (u64, u64, i64, i64),
    changed: (i64, i64),
}

/// Method by which the files of a checkout are compared with its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exactness {
    /// As git compares them.
    OfGit,
    /// By their bytes, but as git compares them where only a filter of the repository could tell.
    WithoutFilters,
    /// By their bytes, with the filters that the user has set up.
    WithFilters,
}

/// Everything in a folder, without what is skipped.
#[derive(Debug, Default)]
pub(super) struct FolderWalk {
    pub(super) files: Vec<FoundFile>,
    /// Pipes, sockets, devices, and names that git reserves: no commit can have them.
    pub(super) special: Vec<PathBuf>,
    /// Folders with a `.git`, which are not searched.
    pub(super) repositories: Vec<PathBuf>,
}

/// A checkout: its files, and git's view of them.
#[derive(Debug, Default)]
pub(super) struct CheckoutLook {
    pub(super) walk: FolderWalk,
    /// Entries of the index.
    pub(super) entries: Vec<IndexEntry>,
    /// The files of its commit.
    pub(super) committed: Tree,
    /// Files that differ from the index or are missing, and those of which only the worktree has the bytes.
    pub(super) modified: BTreeSet<PathBuf>,
    /// Files of which a checkout of its commit would make other bytes.
    pub(super) unlike: BTreeSet<PathBuf>,
    /// True if the wanted tree has a `TASK.md`, which then is a file of the project, and otherwise the copy of a task's text.
    pub(super) has_task_file: bool,
}

impl Git {
    /// Looks at the checkout of this `Git`. Ignored files are skipped, unless they are in the way of the `wanted` tree.
    pub(super) fn look(&self, wanted: &Tree, exactness: Exactness) -> Result<CheckoutLook> {
        let ignored = self.ignored()?;
        let has_task_file = wanted.contains_key(Path::new(TASK_FILE));
        // The walk comes first: files that are written later look newer than it found them.
        let walk = walk(&self.repo, &|path, is_folder| {
            path == Path::new(TASK_FILE) && !is_folder && !has_task_file
                || ignored.contains(path) && !is_in_the_way(wanted, path, is_folder)
        })?;
        let entries = self.entries(&self.repo)?;
        let mut look = CheckoutLook {
            modified: self.modified(&entries)?,
            walk,
            entries,
            has_task_file,
            ..CheckoutLook::default()
        };
        if exactness == Exactness::OfGit {
            return Ok(look);
        }
        if let Some(commit) = self.head(&self.repo)? {
            look.committed = self.tree(&commit)?;
            let compared = self.compared(&look, &commit, exactness)?;
            look.modified.retain(|path| !compared.like.contains(path));
            look.unlike = compared.unlike;
        }
        look.modified.extend(look.only_here());
        Ok(look)
    }

    /// The files of a commit.
    pub(super) fn tree(&self, commit: &str) -> Result<Tree> {
        let listed = self.call().args(["ls-tree", "-r", "-z", "--full-tree", commit]).run()?.checked()?;
        Ok(parse::parse_tree(&listed.stdout))
    }

    /// The ignored paths; a folder that is ignored as a whole is one path.
    fn ignored(&self) -> Result<BTreeSet<PathBuf>> {
        let words = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let listed = self.call().args(words).run()?.checked()?;
        Ok(parse::parse_paths(&listed.stdout))
    }

    /// The files that differ from the index, without running filters, which may fail.
    fn modified(&self, entries: &[IndexEntry]) -> Result<BTreeSet<PathBuf>> {
        let index = ScratchIndex::of(&self.git_dir(&self.repo)?.join("index"))?;
        let quiet = self.without_filters()?;
        let at = || {
            self.call().env("GIT_INDEX_FILE", &index.path).preset(&quiet).preset([
                "-c",
                "core.trustctime=true",
                "-c",
                "core.checkStat=default",
            ])
        };
        let hidden: Vec<&IndexEntry> = entries.iter().filter(|entry| entry.is_hidden()).collect();
        self.show_again(&at, &hidden)?;
        // Its exit status only says whether there are any.
        at().args(["update-index", "-q", "--unmerged", "--ignore-submodules", "--refresh"]).run()?;
        let words = ["diff-files", "--name-only", "--ignore-submodules=all", "--no-renames", "-z"];
        Ok(parse::parse_paths(&at().args(words).run()?.checked()?.stdout))
    }

    /// The settings that turn the user's filters off.
    pub(super) fn without_filters(&self) -> Result<Vec<String>> {
        self.turned_off(r"^filter\..*\.(clean|smudge|process|required)$")
    }

    /// The settings with which git goes on where a filter of the user fails.
    pub(super) fn with_lenient_filters(&self) -> Result<Vec<String>> {
        self.turned_off(r"^filter\..*\.required$")
    }

    fn turned_off(&self, settings: &str) -> Result<Vec<String>> {
        let named = self.call().args(["config", "--name-only", "-z", "--get-regexp", settings]).run()?;
        let names = String::from_utf8_lossy(&named.stdout).into_owned();
        let off = |name: &str| {
            let value = if name.ends_with(".required") { "false" } else { "" };
            ["-c".to_owned(), format!("{name}={value}")]
        };
        Ok(names.split('\0').filter(|name| !name.is_empty()).flat_map(off).collect())
    }
}

impl CheckoutLook {
    /// The files that must go for the checkout to become this tree. Under other attributes, a checkout may make other bytes of any.
    pub(super) fn going(&self, base: &Tree) -> Vec<FoundFile> {
        let has_same_attributes = has_same_attributes(base, &self.committed);
        let stays = |entry: &&IndexEntry| {
            has_same_attributes
                && self.is_as_in_index(entry)
                && base.get(&entry.path) == Some(&entry.object())
        };
        let staying: BTreeSet<&Path> = self.entries.iter().filter(stays).map(|entry| &*entry.path).collect();
        self.walk.files.iter().filter(|found| !staying.contains(&*found.path)).cloned().collect()
    }

    /// The files whose bytes are in no commit: a checkout of this one would make others, or they are staged, and what git has
    /// of those may lack some.
    fn only_here(&self) -> Vec<PathBuf> {
        let is_new = |entry: &&IndexEntry| self.committed.get(&entry.path) != Some(&entry.object());
        let staged = self.entries.iter().filter(is_new).map(|entry| &entry.path);
        let is_there = |path: &&PathBuf| by_path(&self.walk.files, path).is_some();
        staged.filter(is_there).chain(&self.unlike).cloned().collect()
    }

    /// The files that differ from the index.
    pub(super) fn uncommitted(&self) -> Vec<FoundFile> {
        let known: BTreeSet<&Path> = self
            .entries
            .iter()
            .filter(|entry| self.is_as_in_index(entry))
            .map(|entry| &*entry.path)
            .collect();
        self.walk.files.iter().filter(|found| !known.contains(&*found.path)).cloned().collect()
    }

    pub(super) fn is_as_in_index(&self, entry: &IndexEntry) -> bool {
        !entry.is_conflict() && !entry.is_repository() && !self.modified.contains(&entry.path)
    }
}

impl FolderWalk {
    /// True if there are only files.
    pub(super) fn is_plain(&self) -> bool {
        self.special.is_empty() && self.repositories.is_empty()
    }
}

impl FoundFile {
    /// Its length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.print.file.1
    }

    /// Its mode in git.
    pub(super) fn mode(&self) -> &'static str {
        match (self.print.is_link, self.print.is_executable) {
            (true, _) => "120000",
            (false, true) => "100755",
            (false, false) => "100644",
        }
    }
}

impl Print {
    pub(super) fn of(found: &Metadata) -> Print {
        Print {
            is_link: found.is_symlink(),
            is_executable: found.permissions().mode() & 0o100 != 0,
            file: (found.ino(), found.size(), found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// True if this is the same file with the same content, perhaps renamed.
    fn is_renamed(&self, from: &Print) -> bool {
        self.file == from.file && self.is_link == from.is_link
    }
}

/// Everything in a folder, without what is skipped. It gives the user permission to read their own files.
pub(super) fn walk(top: &Path, passes_over: &dyn Fn(&Path, bool) -> bool) -> Result<FolderWalk> {
    let mut walk = FolderWalk::default();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let is_top = folder.as_os_str().is_empty();
        if is_top {
            readable(top)?;
        }
        let inside = entries(&top.join(&folder))?;
        if !is_top && inside.iter().any(|entry| is_git(&entry.file_name())) {
            walk.repositories.push(folder);
            continue;
        }
        for entry in inside {
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            if is_top && name == ".git" {
                continue;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if passes_over(&path, is_folder) {
                continue;
            }
            // Another process has removed it.
            let Some(found) = readable(&entry.path())? else { continue };
            if is_git(&name) {
                walk.special.push(path);
            } else if found.is_dir() {
                folders.push(path);
            } else if found.is_file() || found.is_symlink() {
                walk.files.push(FoundFile { path, print: Print::of(&found) });
            } else {
                walk.special.push(path);
            }
        }
    }
    walk.files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(walk)
}

/// The metadata of a path that this user can now read; `None` if it is gone.
fn readable(path: &Path) -> Result<Option<Metadata>> {
    if_found(path, path.symlink_metadata().and_then(|found| permit(path, found)))
}

/// True if these files, sorted by path, contain this one.
pub(super) fn has(files: &[FoundFile], wanted: &FoundFile) -> bool {
    by_path(files, &wanted.path) == Some(wanted)
}

fn by_path<'f>(files: &'f [FoundFile], path: &Path) -> Option<&'f FoundFile> {
    files.binary_search_by(|one| (*one.path).cmp(path)).ok().map(|at| &files[at])
}

/// True if the attributes of files are equal in two trees.
pub(super) fn has_same_attributes(one: &Tree, other: &Tree) -> bool {
    let is_of_attributes =
        |(path, _): &(&PathBuf, &GitObject)| path.file_name() == Some(OsStr::new(ATTRIBUTES));
    one.iter().filter(is_of_attributes).eq(other.iter().filter(is_of_attributes))
}

/// True if a captured file is the one that was found before, unchanged.
pub(super) fn is_as_found(captured: &FoundFile, found: &[FoundFile]) -> bool {
    by_path(found, &captured.path).is_some_and(|before| captured.print.is_renamed(&before.print))
}

/// True if no commit can have this name.
fn is_git(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

/// True if a tree has this path, or has a file where this is a folder, or the reverse.
fn is_in_the_way(wanted: &Tree, path: &Path, is_folder: bool) -> bool {
    let next = || wanted.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded)).next();
    let has_below = || next().is_some_and(|(below, _)| below.starts_with(path));
    let is_below_file = || path.ancestors().skip(1).any(|above| wanted.contains_key(above));
    wanted.contains_key(path) || is_below_file() || !is_folder && has_below()
}
