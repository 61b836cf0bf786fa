//! The commits of a private repository come into the project's, before anything outside looks at the branch.
//!
//! No git outside ever opens the private repository: its refs are read as data, and its objects are linked into a folder that holds
//! nothing else. No setting, hook, filter or alternate of it has an effect.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::objects;
use super::profile::Mount;
use super::refs;
use super::repository::{Carried, PrivateRepository};
use crate::drive::git::{Git, quoted};
use crate::{Error, ErrorKind, Result};
use orange_system::exec::StopReason;
use orange_system::{atomic, fault, nofollow};

/// The time limit for copying objects.
const LONG: Duration = Duration::from_secs(3600);

/// The most bytes of a pack that a project takes over at once.
pub const MOST_PACKED: u64 = 4 << 30;

/// The name that Git LFS gives a file without bytes.
const NO_BYTES: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The rules of a project for commits that come out of a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportRules<'r> {
    /// The branch into which work is merged.
    pub default_branch: &'r str,
    /// The commit from which the branch has to descend, where the project forbids to rewrite it.
    pub descends_from: Option<&'r str>,
    /// The most bytes that the objects of an import may have, packed.
    pub most_packed: u64,
    /// True if no agent goes on there: the branch is taken over as it is, whatever is in progress.
    pub at_end: bool,
}

/// Result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Import {
    /// There was nothing new.
    Nothing,
    /// The branch has this commit.
    Imported(String),
    /// The agent is in the middle of something; nothing was done.
    Unfinished(String),
}

/// Course of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// The project has everything.
    Nothing,
    /// The branch moves to the private tip.
    Take,
    /// Both have moved, and neither contains the other.
    Diverged,
}

/// Part of an import, before which it can be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::drive) enum Part {
    Note,
    Link,
    Pack,
    Store,
    Move,
    Reset,
    Remember,
    Clear,
}

impl Import {
    /// Refuses a branch on which an agent is in the middle of something.
    pub fn finished(self) -> Result<Import> {
        match self {
            Import::Unfinished(why) => {
                Err(refused(format!("the agent's repository is not ready to be taken over: {why}"))
                    .help("finish it in the agent's worktree, or abort it, then try again"))
            }
            Import::Nothing | Import::Imported(_) => Ok(self),
        }
    }
}

impl PrivateRepository<'_> {
    /// Takes the commits of the last agent over, and makes the repository for the next one. The rest stays in the repository, where
    /// the next agent goes on.
    pub fn begin(&self, rules: ImportRules<'_>) -> Result<Vec<Mount>> {
        let carried = match self.import(rules) {
            Ok(Import::Nothing | Import::Imported(_)) => Carried::Refs,
            Ok(Import::Unfinished(_)) => Carried::Everything,
            Err(error) if error.kind == ErrorKind::Refused => Carried::Everything,
            Err(error) => return Err(error),
        };
        self.make(carried)
    }

    /// Takes over what agents have committed. It reads a few files if there is nothing new; a repeated import finishes one that was
    /// interrupted.
    ///
    /// # Errors
    /// `refused` for a tip that the rules exclude, `corrupt` for a repository that is none: nothing is lost, since it stays as it is.
    pub fn import(&self, rules: ImportRules<'_>) -> Result<Import> {
        self.import_in_parts(rules, &|part| {
            fault::step("import", format!("{part:?}"));
            Ok(())
        })
    }

    pub(in crate::drive) fn import_in_parts(
        &self,
        rules: ImportRules<'_>,
        before: &dyn Fn(Part) -> Result<()>,
    ) -> Result<Import> {
        if !self.folder().is_dir() {
            return Ok(Import::Nothing);
        }
        let unfinished = self.unfinished()?.filter(|_| !rules.at_end);
        let begun = read_name(&self.mark())?;
        if let Some(why) = unfinished {
            return Ok(Import::Unfinished(why));
        }
        let Some(tip) = refs::one(&self.folder(), &refs::of_branch(self.branch))? else {
            return Ok(Import::Unfinished(format!("it has no branch `{}`", self.branch)));
        };
        let known = read_name(&self.tip_file())?;
        if begun.is_none() && known.as_ref() == Some(&tip) {
            return Ok(Import::Nothing);
        }
        before(Part::Note)?;
        atomic::write(&self.mark(), tip.as_bytes())?;
        let outside = self.git.branch_tip(self.branch)?.unwrap_or_default();
        let mut result = Import::Nothing;
        if tip != outside {
            match self.take(&tip, &outside, known.as_deref(), rules, before) {
                Ok(taken) => result = taken,
                Err(error) => {
                    // An earlier one may have moved the branch, and have left the index to this one.
                    if begun.is_none() {
                        atomic::remove(&self.mark())?;
                    }
                    objects::clear(&self.quarantine())?;
                    return Err(error);
                }
            }
        }
        if result != Import::Nothing || begun.is_some() {
            before(Part::Reset)?;
            self.reset()?;
        }
        before(Part::Remember)?;
        atomic::write(&self.tip_file(), tip.as_bytes())?;
        before(Part::Clear)?;
        objects::clear(&self.quarantine())?;
        atomic::remove(&self.mark())?;
        Ok(result)
    }

    /// Copies the objects, and moves the branch.
    fn take(
        &self,
        tip: &str,
        outside: &str,
        known: Option<&str>,
        rules: ImportRules<'_>,
        before: &dyn Fn(Part) -> Result<()>,
    ) -> Result<Import> {
        before(Part::Link)?;
        let place = self.quarantine();
        objects::clear(&place)?;
        objects::link(&self.folder().join("objects"), &place.join("objects"))?;
        let theirs = quoted(&place.join("objects"));
        let both = self
            .git
            .clone()
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsStr::from_bytes(theirs.trim_ascii_end()));
        // A part that git cannot read is not a fault of this machine.
        check_tip(&both, tip, self.branch, rules).map_err(|error| {
            let is_unread = error.kind == ErrorKind::Environment;
            if is_unread { refs::unreadable(&self.folder(), &error.one_line()) } else { error }
        })?;
        let contains = |one: &str, other: &str| -> Result<bool> {
            Ok(!one.is_empty() && !other.is_empty() && both.is_ancestor(other, one)?)
        };
        let course = course(tip, outside, known, &contains)?;
        if course == Course::Nothing {
            return Ok(Import::Nothing);
        }
        before(Part::Pack)?;
        let pack = self.pack(&both, tip, &place, rules.most_packed)?;
        before(Part::Store)?;
        if let Some(pack) = pack {
            self.store(&pack)?;
        }
        self.take_large_files()?;
        if course == Course::Diverged {
            return Err(self.diverged(tip));
        }
        before(Part::Move)?;
        let name = refs::of_branch(self.branch);
        let moved = ["update-ref", "-m", "orange: commits of an agent", &name, tip, outside];
        self.git.patiently(|| self.git.call().args(moved))?.checked()?;
        Ok(Import::Imported(tip.to_owned()))
    }

    /// Packs what the tip has and the project lacks. Every object is read and linked to the others here.
    ///
    /// # Errors
    /// `refused` for a pack that is too large. The disk never has much more of it than that.
    fn pack(&self, both: &Git, tip: &str, place: &Path, most: u64) -> Result<Option<PathBuf>> {
        let known = self.git.commits_of(&["refs/heads", "refs/remotes"])?;
        let wanted = known.into_iter().fold(format!("{tip}\n"), |text, commit| format!("{text}^{commit}\n"));
        // Git begins a pack beside the objects of the repository, and renames it: the project may be on another file system.
        let own = quoted(&self.git.common_dir()?.join("objects"));
        let call = both
            .call()
            .env("GIT_OBJECT_DIRECTORY", place.join("objects"))
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsStr::from_bytes(own.trim_ascii_end()));
        let call = call.bound(LONG).args(["pack-objects", "--quiet", "--revs", "--non-empty"]);
        let call = call.arg(place.join("incoming")).input(wanted.as_bytes());
        let late = call.late();
        // Git writes the pack among the objects, and names it when it is whole.
        let end = call.run_while(&|| objects::unfinished_packs(&place.join("objects")) <= most)?;
        match end.stopped {
            None => {}
            Some(StopReason::Unwanted) => return Err(self.too_large(most)),
            Some(StopReason::Late) => return Err(late),
        }
        let broken = |error: Error| refs::unreadable(&self.folder(), &error.one_line());
        let hash = end.output.checked().map_err(broken)?.text();
        if hash.is_empty() {
            return Ok(None);
        }
        let pack = place.join(format!("incoming-{hash}.pack"));
        let size = fs::metadata(&pack).map_err(|cause| Error::io("look at", &pack, &cause))?.len();
        if size > most { Err(self.too_large(most)) } else { Ok(Some(pack)) }
    }

    fn too_large(&self, most: u64) -> Error {
        let branch = self.branch;
        refused(format!(
            "the commits on `{branch}` of the agent have more than {} MB that the project lacks",
            most.div_ceil(1 << 20)
        ))
        .help(
            "in the agent's worktree, take large files out of the new commits (`git rebase --interactive`, or `git reset --soft` and a commit \
             without them), or keep them in Git LFS; then try again",
        )
    }

    /// Checks each object of a pack, and adds it to the project.
    fn store(&self, pack: &Path) -> Result<()> {
        let mut file = File::open(pack).map_err(|cause| Error::io("open", pack, &cause))?;
        let call = self.git.call().bound(LONG).args(["index-pack", "--strict", "--stdin"]);
        let stored = call.input_by(move |pipe| io::copy(&mut file, pipe).map(drop)).run()?;
        let broken = |error: Error| refs::unreadable(&self.folder(), &error.one_line());
        stored.checked().map(drop).map_err(broken)
    }

    /// Takes over the files of Git LFS, which computes each one's name from its bytes.
    ///
    /// # Errors
    /// `refused` for one that cannot be opened, or whose bytes have another name: the commits that name it would lack it.
    fn take_large_files(&self) -> Result<()> {
        let own = self.git.common_dir()?.join("lfs/objects");
        let theirs = self.folder().join("lfs/objects");
        for file in large_files(&theirs)? {
            let is_known = file.strip_prefix(&theirs).is_ok_and(|path| own.join(path).is_file());
            let name = file.file_name().and_then(OsStr::to_str).filter(|name| refs::is_object(name));
            let (false, Some(name)) = (is_known, name) else { continue };
            let mut bytes = match nofollow::open(&file, rustix::fs::OFlags::RDONLY) {
                Ok(bytes) => bytes,
                // The agent has removed it meanwhile.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                Err(cause) => return Err(no_large_file(&file, &format!("cannot be opened: {cause}"))),
            };
            let call = self.git.call().bound(LONG).args(["lfs", "clean"]);
            let pointer =
                call.input_by(move |pipe| io::copy(&mut bytes, pipe).map(drop)).run()?.checked()?.text();
            // Git LFS has no pointer to a file without bytes.
            let stored =
                pointer.lines().find_map(|line| line.strip_prefix("oid sha256:")).unwrap_or(NO_BYTES);
            if stored != name {
                return Err(no_large_file(&file, &format!("has the bytes of {stored}")));
            }
        }
        Ok(())
    }

    /// Gives the worktree's index the commit; no file changes.
    fn reset(&self) -> Result<()> {
        if !self.worktree.is_dir() {
            return Ok(());
        }
        let there = self.git.inside(self.worktree)?;
        there.patiently(|| there.call().args(["reset", "--mixed", "--quiet"]))?.checked().map(drop)
    }

    fn diverged(&self, tip: &str) -> Error {
        let branch = self.branch;
        refused(format!(
            "`{branch}` was moved while an agent in a wall has committed on it: neither has the other's commits"
        ))
        .help(format!("`git -C '{}' merge {tip}` brings both together", self.worktree.display()))
    }

    /// The file that says that an import has begun.
    fn mark(&self) -> PathBuf {
        self.wall.join("importing")
    }

    /// The folder with what is being taken over.
    fn quarantine(&self) -> PathBuf {
        self.wall.join("incoming")
    }
}

/// The files of Git LFS below this folder, which are two folders deep.
fn large_files(objects: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![objects.to_owned()];
    for depth in 0..3 {
        let mut below = Vec::new();
        for folder in &found {
            let entries = nofollow::entries(folder)
                .map_err(|cause| no_large_file(folder, &format!("cannot be opened: {cause}")))?;
            // Other files between the folders are not of Git LFS.
            let is_wanted =
                |entry: &fs::DirEntry| depth == 2 || entry.file_type().is_ok_and(|it| !it.is_file());
            below.extend(entries.into_iter().filter(is_wanted).map(|entry| entry.path()));
        }
        found = below;
    }
    Ok(found)
}

fn no_large_file(file: &Path, why: &str) -> Error {
    refused(format!("a large file of the agent's cannot be taken over: {} {why}", file.display())).help(
        "remove it there; if a commit of the agent needs it, add the file again in the agent's worktree: `git lfs` stores it once more",
    )
}

/// The course for a private tip that is not the one of the project. `known` is the last one that both had.
fn course(
    tip: &str,
    outside: &str,
    known: Option<&str>,
    contains: &dyn Fn(&str, &str) -> Result<bool>,
) -> Result<Course> {
    Ok(if known == Some(tip) || contains(outside, tip)? && known != Some(outside) {
        Course::Nothing
    } else if known == Some(outside) || contains(tip, outside)? {
        Course::Take
    } else {
        Course::Diverged
    })
}

/// Refuses a tip that is not a commit, that rewrites what it must not, or that names a repository inside.
fn check_tip(both: &Git, tip: &str, branch: &str, rules: ImportRules<'_>) -> Result<()> {
    let kind = both.call().args(["cat-file", "-t", tip]).run()?;
    if !kind.success() {
        return Err(Error::new(ErrorKind::Corrupt, format!("`{branch}` of the agent has no object {tip}"))
            .help("its repository stays as it is; the branch outside is unchanged"));
    }
    if kind.text() != "commit" {
        return Err(refused(format!("`{branch}` of the agent is a {}, not a commit", kind.text()))
            .help(format!("in the agent's worktree, put `{branch}` on a commit")));
    }
    if let Some(start) = rules.descends_from
        && !both.is_ancestor(start, tip)?
    {
        return Err(refused(format!(
            "`{branch}` of the agent does not have {start}, and its project forbids to rewrite it"
        ))
        .help("in the agent's worktree, rebase the new commits onto that one"));
    }
    both.check_no_gitlink(tip, branch, rules.default_branch)
}

/// The name of an object in a file of the engine's; `None` without that file.
fn read_name(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim_end().to_owned())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::io("read", path, &cause)),
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::Refused, message)
}
