//! The private repository of a task's agents: bare, with the project's objects as alternates. Inside the wall it lies over the path of
//! the project's repository, so that the worktree's `.git` file leads to it.

use std::fs;
use std::io::ErrorKind as ErrorOf;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::objects;
use super::profile::{Mount, RUN};
use super::refs::{self, Refs};
use super::settings::{self, SettingsOf};
use crate::drive::git::Git;
use crate::{Error, ErrorKind, Result};
use orange_api::Unfit;
use orange_system::{atomic, fault, nofollow};

/// The longest file of a worktree's own part that is copied, such as its index.
const LONGEST: u64 = 2 * 1024 * 1024 * 1024;

/// The refs with which the agent began, in its repository: they only tell what it has made itself.
const GIVEN: &str = "given-refs";

/// Entries of a worktree's own part that are made, or that stay outside.
const NOT_COPIED: [&str; 8] =
    ["HEAD", "commondir", "config.worktree", "gitdir", "locked", "modules", "refs", "reftable"];

/// Entries of a worktree's own part as long as a sequence of commits is in progress, and its name.
const SEQUENCES: [(&str, &str); 7] = [
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a sequence of commits"),
    ("BISECT_LOG", "a bisection"),
];

/// The private repository of one task.
#[derive(Clone, Copy, Debug)]
pub struct PrivateRepository<'r> {
    /// The project's repository.
    pub git: &'r Git,
    pub worktree: &'r Path,
    pub branch: &'r str,
    /// The folder of the task's walls: `<task>/wall`.
    pub wall: &'r Path,
}

/// Part of the private repository that the next one takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// Commits, branches and stashes. The task's branch and the index are the project's.
    Refs,
    /// The branch and the index, too: the agent is in the middle of something.
    Everything,
}

impl PrivateRepository<'_> {
    /// The repository itself.
    pub fn folder(&self) -> PathBuf {
        self.wall.join("git")
    }

    /// Makes it, or makes it again from the project's present state and what the last agent has left in it. Returns its mounts.
    pub(super) fn make(&self, carried: Carried) -> Result<Vec<Mount>> {
        self.finish_swap()?;
        let (new, old) = (self.wall.join("git.new"), self.folder());
        objects::clear(&new)?;
        let before = old.is_dir().then_some((&*old, carried));
        self.build(&new, before)?;
        // The project's objects come last: as long as git could look, it would miss the path that exists only inside.
        let alternates = format!("{RUN}/objects\n");
        write(&new.join("objects/info/alternates"), alternates.as_bytes())?;
        if before.is_none_or(|(_, carried)| carried == Carried::Refs) {
            let tip = self.git.branch_tip(self.branch)?.unwrap_or_default();
            atomic::write(&self.tip_file(), tip.as_bytes())?;
        }
        fault::step("swap", new.display());
        if before.is_some() {
            rename(&old, &self.wall.join("git.old"))?;
        }
        rename(&new, &old)?;
        objects::clear(&self.wall.join("git.old"))?;
        self.mounts()
    }

    /// A kill between two renames leaves the old one under another name.
    fn finish_swap(&self) -> Result<()> {
        let (old, own) = (self.wall.join("git.old"), self.folder());
        if own.is_dir() {
            return objects::clear(&old);
        }
        if old.is_dir() { rename(&old, &own) } else { make_folder(self.wall) }
    }

    /// The mounts of the private repository, in order.
    pub fn mounts(&self) -> Result<Vec<Mount>> {
        let (own, common) = (self.folder(), self.git.common_dir()?);
        let part = self.part()?;
        let mut mounts = vec![Mount::Write { from: own.clone(), at: common.clone() }];
        let fixed = ["config", "hooks", "info", "objects/info"].map(PathBuf::from);
        let links = ["commondir", "gitdir"].map(|name| part.join(name));
        for path in fixed.into_iter().chain(links) {
            mounts.push(Mount::Read { from: own.join(&path), at: common.join(&path) });
        }
        let modules = part.join("modules");
        if common.join(&modules).is_dir() {
            mounts.push(Mount::Read { from: common.join(&modules), at: common.join(&modules) });
        }
        mounts.extend(self.objects()?);
        Ok(mounts)
    }

    /// The mounts of the project's objects: its own, those that it borrows from other repositories, and large files.
    fn objects(&self) -> Result<Vec<Mount>> {
        let common = self.git.common_dir()?;
        let inside = |name: &str| Path::new(RUN).join(name);
        let mut mounts = vec![Mount::Read { from: common.join("objects"), at: inside("objects") }];
        mounts.extend(borrowed(&common.join("objects"))?.iter().map(|folder| Mount::read(folder)));
        // Git LFS looks for its files beside the objects of an alternate.
        if common.join("lfs").is_dir() {
            mounts.push(Mount::Read { from: common.join("lfs"), at: inside("lfs") });
        }
        Ok(mounts)
    }

    /// The mounts of an agent that reads the project's repository and writes nothing there.
    pub fn shared(&self) -> Result<Vec<Mount>> {
        make_folder(self.wall)?;
        let common = self.git.common_dir()?;
        let config = self.wall.join("config");
        atomic::write(&config, settings::text(&self.settings()?, SettingsOf::Shared).as_bytes())?;
        let mut mounts = vec![Mount::read(&common)];
        mounts.push(Mount::Read { from: config, at: common.join("config") });
        mounts.extend(borrowed(&common.join("objects"))?.iter().map(|folder| Mount::read(folder)));
        Ok(mounts)
    }

    /// The file with the tip of the branch that the project and the private repository had in common last.
    pub(super) fn tip_file(&self) -> PathBuf {
        self.wall.join("tip")
    }

    /// The path of the worktree's own part below each repository: `worktrees/<name>`.
    pub(super) fn part(&self) -> Result<PathBuf> {
        let own = self.git.own_part(self.worktree)?;
        Ok(Path::new("worktrees").join(own.file_name().unwrap_or_default()))
    }

    /// Reason for which the branch is not what the agent works on: a sequence in progress, or another branch. `None` if it is.
    pub(super) fn unfinished(&self) -> Result<Option<String>> {
        let own = self.folder().join(self.part()?);
        if nofollow::metadata(&own).is_err() {
            // The task has got another worktree since, and the agent was gone by then.
            return Ok(None);
        }
        let is_there = |name: &str| nofollow::metadata(&own.join(name)).is_ok();
        if let Some((_, what)) = SEQUENCES.iter().find(|(name, _)| is_there(name)) {
            return Ok(Some(format!("{what} is in progress there")));
        }
        match PrivateRepository::head(&own)? {
            Some(name) if name == refs::of_branch(self.branch) => Ok(None),
            Some(name) => {
                let name = name.strip_prefix("refs/heads/").unwrap_or(&name).escape_debug();
                Ok(Some(format!("it is on branch `{name}`, not on `{}`", self.branch)))
            }
            None => Ok(Some(format!("it is on no branch, not on `{}`", self.branch))),
        }
    }

    /// The branch that an agent has checked out, whose name it may have changed; `None` if it has none, or there is no such repository.
    pub fn checked_out(&self) -> Result<Option<String>> {
        let own = self.folder().join(self.part()?);
        if nofollow::metadata(&own).is_err() {
            return Ok(None);
        }
        let name = PrivateRepository::head(&own)?.filter(|name| refs::is_name(name));
        Ok(name.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)))
    }

    /// The ref that HEAD names in the worktree's own part.
    fn head(own: &Path) -> Result<Option<String>> {
        let head = own.join("HEAD");
        let text =
            nofollow::read(&head, 4096).map_err(|cause| refs::unreadable(&head, &cause.to_string()))?;
        let text = String::from_utf8_lossy(&text).trim_end().to_owned();
        Ok(text.strip_prefix("ref: ").map(str::to_owned))
    }

    fn settings(&self) -> Result<Vec<u8>> {
        let listed = self.git.call().args(["config", "--includes", "--list", "--show-scope", "-z"]);
        Ok(listed.run()?.checked()?.stdout)
    }

    fn build(&self, new: &Path, before: Option<(&Path, Carried)>) -> Result<()> {
        let common = self.git.common_dir()?;
        let part = self.part()?;
        for folder in ["refs/heads", "objects/info", "objects/pack", "info", "hooks"] {
            make_folder(&new.join(folder))?;
        }
        let own = new.join(&part);
        make_folder(&own)?;
        if common.join(&part).join("modules").is_dir() {
            make_folder(&own.join("modules"))?;
        }
        write(&new.join("config"), settings::text(&self.settings()?, SettingsOf::Private).as_bytes())?;
        copy_tree(&common.join("info"), &new.join("info"), &["refs"])?;
        copy_tree(&common.join("hooks"), &new.join("hooks"), &[])?;
        copy_file(&common.join("shallow"), &new.join("shallow"))?;
        self.build_refs(new, before)?;
        self.build_part(&common, new, before)
    }

    fn build_refs(&self, new: &Path, before: Option<(&Path, Carried)>) -> Result<()> {
        let call = || self.git.call().args(["for-each-ref", refs::FORMAT]);
        let printed = self.git.patiently(call)?.checked()?.stdout;
        let (now, symbolic) = refs::listed(&printed);
        for (name, target) in symbolic {
            let file = new.join(&name);
            file.parent().map_or(Ok(()), make_folder)?;
            write(&file, format!("ref: {target}\n").as_bytes())?;
        }
        let wanted = refs::of_branch(self.branch);
        let mut all = now.clone();
        if let Some((old, carried)) = before {
            objects::link(&old.join("objects"), &new.join("objects"))?;
            let private = refs::all(old)?;
            let tip = private.get(&wanted).cloned();
            all = refs::carried(&given(old)?, private, now.clone(), &wanted);
            if let (Carried::Everything, Some(tip)) = (carried, tip) {
                all.insert(wanted.clone(), tip);
            }
            copy_tree(&old.join("logs"), &new.join("logs"), &[])?;
            copy_tree(&old.join("lfs"), &new.join("lfs"), &[])?;
        }
        // A stash is known by its log.
        write(&new.join("packed-refs"), refs::packed(&all).as_bytes())?;
        write(&new.join(GIVEN), refs::packed(&now).as_bytes())?;
        let main = self.git.current_branch(self.git.folder())?.filter(|main| main != self.branch);
        let main = main.unwrap_or_else(|| "main".to_owned());
        write(&new.join("HEAD"), format!("ref: {}\n", refs::of_branch(&main)).as_bytes())
    }

    fn build_part(&self, common: &Path, new: &Path, before: Option<(&Path, Carried)>) -> Result<()> {
        let part = self.part()?;
        let own = new.join(&part);
        let carried = before.filter(|(_, carried)| *carried == Carried::Everything);
        let from = carried.map_or(common, |(old, _)| old).join(&part);
        copy_tree(&from, &own, &NOT_COPIED)?;
        // `inside` refuses settings that name a program.
        self.git.inside(self.worktree)?;
        copy_file(&common.join(&part).join("config.worktree"), &own.join("config.worktree"))?;
        write(&own.join("commondir"), b"../..\n")?;
        write(&own.join("gitdir"), &gitdir(&common.join(&part))?)?;
        match carried {
            Some(_) => copy_file(&from.join("HEAD"), &own.join("HEAD")),
            None => {
                let head = match self.git.current_branch(self.worktree)? {
                    Some(branch) => format!("ref: {}\n", refs::of_branch(&branch)),
                    None => format!("{}\n", self.git.head(self.worktree)?.unwrap_or_default()),
                };
                write(&own.join("HEAD"), head.as_bytes())
            }
        }
    }
}

/// The refs with which the last agent began.
fn given(old: &Path) -> Result<Refs> {
    let file = old.join(GIVEN);
    match nofollow::read(&file, refs::LONGEST_PACKED) {
        Ok(text) => Ok(refs::unpacked(&String::from_utf8_lossy(&text))),
        Err(cause) if cause.kind() == ErrorOf::NotFound => Ok(Refs::new()),
        Err(cause) => Err(refs::unreadable(&file, &cause.to_string())),
    }
}

fn gitdir(part: &Path) -> Result<Vec<u8>> {
    let file = part.join("gitdir");
    fs::read(&file).map_err(|cause| Error::io("read", &file, &cause))
}

/// The folders of objects that this one borrows from, and those that they borrow from.
fn borrowed(objects: &Path) -> Result<Vec<PathBuf>> {
    const MOST: usize = 64;
    let (mut found, mut open) = (Vec::new(), vec![objects.to_owned()]);
    while let Some(folder) = open.pop() {
        let file = folder.join("info/alternates");
        let text = match fs::read_to_string(&file) {
            Err(cause) if cause.kind() != ErrorOf::NotFound => return Err(Error::io("read", &file, &cause)),
            text => text.unwrap_or_default(),
        };
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let path = folder.join(line);
            let path = fs::canonicalize(&path).unwrap_or(path);
            if path.is_dir() && !found.contains(&path) && found.len() < MOST {
                found.push(path.clone());
                open.push(path);
            }
        }
    }
    Ok(found)
}

/// Copies a folder of regular files, if it is there. Links and everything else stay behind, as do lock files.
fn copy_tree(from: &Path, to: &Path, but: &[&str]) -> Result<()> {
    let found = match nofollow::entries(from) {
        Err(cause) if Unfit::of(&cause).is_none() => return Err(Error::io("read", from, &cause)),
        found => found.unwrap_or_default(),
    };
    for entry in found {
        let name = entry.file_name();
        let is_lock = Path::new(&name).extension().is_some_and(|end| end == "lock");
        if is_lock || but.iter().any(|but| name == *but) {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => copy_tree(&entry.path(), &to.join(&name), &[])?,
            Ok(kind) if kind.is_file() => {
                make_folder(to)?;
                copy_file(&entry.path(), &to.join(&name))?;
            }
            Ok(_) => {}
            Err(cause) => return Err(Error::io("look at", &entry.path(), &cause)),
        }
    }
    Ok(())
}

/// Copies a regular file with its time and whether it is a program, if it is there: a file that changed in the instant in which its
/// index was written looks unchanged to git otherwise.
fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let fail = |cause: std::io::Error| Error::io("copy", from, &cause);
    let mut source = match nofollow::open(from, OFlags::RDONLY) {
        Ok(source) => source,
        Err(cause) if cause.kind() == ErrorOf::NotFound || Unfit::of(&cause).is_some() => return Ok(()),
        Err(cause) => return Err(fail(cause)),
    };
    let found = source.metadata().map_err(fail)?;
    if found.len() > LONGEST {
        let message = format!("{} has {} bytes", from.display(), found.len());
        return Err(Error::new(ErrorKind::Refused, message).help("nothing of git's is that long: remove it"));
    }
    let mut target = fs::File::create(to).map_err(fail)?;
    std::io::copy(&mut source, &mut target).map_err(fail)?;
    let mode = 0o644 | (found.permissions().mode() & 0o111);
    target.set_permissions(fs::Permissions::from_mode(mode)).map_err(fail)?;
    let written = found.modified().map_err(fail)?;
    target.set_modified(written).map_err(fail)
}

fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|cause| Error::io("create", path, &cause))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    nofollow::rename(from, to).map_err(|cause| Error::io("rename", from, &cause))
}

fn write(path: &Path, contents: &[u8]) -> Result<()> {
    fs::write(path, contents).map_err(|cause| Error::io("write", path, &cause))
}
