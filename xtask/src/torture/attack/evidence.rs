//! Records the texts of an attack, and checks that they still exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::world::{World, is_alive};
use crate::Result;
use crate::scratch::PROJECT;

/// Texts that must not be lost.
#[derive(Default)]
pub(super) struct AttackEvidence {
    texts: Vec<AttackText>,
    /// The changes to the worktree, in order.
    states: Vec<&'static str>,
}

struct AttackText {
    /// Its file, and the part of the attack that wrote it.
    file: PathBuf,
    part: u64,
    text: String,
}

impl AttackEvidence {
    /// Records a change to the worktree, for the message about a loss.
    pub(super) fn tell(&mut self, state: &'static str) {
        self.states.push(state);
    }

    /// Adds a text. What its file had before, as another part, no longer counts.
    pub(super) fn note(&mut self, file: PathBuf, part: u64, text: String) {
        self.texts.retain(|one| one.file != file || one.part == part);
        self.texts.push(AttackText { file, part, text });
    }

    /// Keeps only the last text of a file that git has not stored.
    pub(super) fn only_last(&mut self, file: &Path) {
        let last = self.texts.iter().rposition(|one| one.file == file);
        let mut number = 0;
        self.texts.retain(|one| {
            number += 1;
            one.file != file || Some(number - 1) == last
        });
    }

    /// Drops what was only staged, since the index is gone.
    pub(super) fn only_files(&mut self) {
        let files: BTreeSet<PathBuf> = self.texts.iter().map(|one| one.file.clone()).collect();
        files.iter().for_each(|file| self.only_last(file));
    }

    /// The number of texts.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Checks that each text is in a commit under a ref, in a file below `ORANGE_HOME`, or in a repository there.
    pub(super) fn check(&self, world: &World) -> Result<()> {
        let missing = self.missing(world)?;
        if missing.is_empty() {
            return Ok(());
        }
        let lost: String =
            missing.iter().take(5).map(|(id, text)| format!("\n  {id} {}", text.file.display())).collect();
        let (count, of, states) = (missing.len(), self.texts.len(), self.states.join(", "));
        Err(format!("{count} of {of} texts are in no commit and in no file, after {states}:{lost}"))
    }

    /// Drops what git itself loses before any request, such as files outside of a sparse checkout in a stash. An unreachable commit
    /// counts only if git is still to pick it.
    pub(super) fn leave_out_lost(&mut self, world: &World) -> Result<()> {
        let mut gone: BTreeSet<String> = self.missing(world)?.into_keys().collect();
        if gone.is_empty() {
            return Ok(());
        }
        for id in to_be_picked(world)? {
            gone.remove(&id);
        }
        let blobs = self.blobs(world)?;
        let mut blobs = blobs.iter();
        self.texts.retain(|_| blobs.next().is_some_and(|id| !gone.contains(id)));
        Ok(())
    }

    fn missing(&self, world: &World) -> Result<BTreeMap<String, &AttackText>> {
        let mut wanted: BTreeMap<String, &AttackText> =
            self.blobs(world)?.into_iter().zip(&self.texts).collect();
        for id in committed(world, &world.path(PROJECT))? {
            wanted.remove(&id);
        }
        if !wanted.is_empty() {
            let found = elsewhere(world, &wanted)?;
            wanted.retain(|id, _| !found.contains(id));
        }
        Ok(wanted)
    }

    /// The blob names of the texts, without reading any settings of a repository.
    fn blobs(&self, world: &World) -> Result<Vec<String>> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut lines = String::new();
        for (number, one) in self.texts.iter().enumerate() {
            let file = folder.path().join(number.to_string());
            fs::write(&file, &one.text).map_err(|error| error.to_string())?;
            lines += &format!("{}\n", file.display());
        }
        let words = ["hash-object", "--no-filters", "--stdin-paths"];
        Ok(world.git_with(&world.path(""), &words, &lines)?.lines().map(str::to_owned).collect())
    }
}

fn committed(world: &World, repository: &Path) -> Result<BTreeSet<String>> {
    let listed = world.git(repository, &["rev-list", "--objects", "--all", "--ignore-missing"])?;
    Ok(ids(&listed))
}

/// The objects in a list.
fn ids(listed: &str) -> BTreeSet<String> {
    listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// The contents of the commits that an unfinished rebase or the like in a worktree has applied or will apply.
fn to_be_picked(world: &World) -> Result<BTreeSet<String>> {
    let repository = world.path(PROJECT);
    let files =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut names = BTreeSet::new();
    for own in files(&repository.join(".git/worktrees")) {
        let heads = files(&own).filter(|file| file.to_string_lossy().ends_with("_HEAD"));
        let sequences = ["sequencer", "rebase-merge", "rebase-apply"].map(|name| own.join(name));
        let files = heads.chain(sequences.iter().flat_map(|folder| files(folder)));
        let texts: Vec<String> = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
        let words = texts.iter().flat_map(|text| text.split_whitespace());
        let is_id = |word: &&str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        names.extend(words.filter(is_id).map(|word| format!("{word}^{{commit}}")));
    }
    let commit = |name: &String| world.git(&repository, &["rev-parse", "--verify", "--quiet", name]).ok();
    let commits: Vec<String> = names.iter().filter_map(commit).collect();
    if commits.is_empty() {
        return Ok(BTreeSet::new());
    }
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    let words = [&["rev-list", "--objects", "--ignore-missing"], &commits[..]].concat();
    Ok(ids(&world.git(&repository, &words)?))
}

/// Those of these texts that are the content of a file below `ORANGE_HOME`, with everything else that repositories there have.
fn elsewhere(world: &World, wanted: &BTreeMap<String, &AttackText>) -> Result<BTreeSet<String>> {
    let ids: BTreeMap<&[u8], &String> = wanted.iter().map(|(id, one)| (one.text.as_bytes(), id)).collect();
    let lengths: BTreeSet<u64> = ids.keys().map(|text| text.len() as u64).collect();
    let mut found = BTreeSet::new();
    // The parts of worktrees, with their submodules, are in `.git/worktrees`.
    let mut folders = vec![world.path("orange"), world.path(PROJECT).join(".git/worktrees")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type().map_err(|error| error.to_string())?;
            let is_repository = entry.file_name() == ".git" || path.join("HEAD").is_file();
            if is_repository && (kind.is_dir() || kind.is_file()) {
                found.extend(inside(world, &path));
            }
            if kind.is_dir() && entry.file_name() != "objects" {
                folders.push(path);
            } else if kind.is_file() && entry.metadata().is_ok_and(|of| lengths.contains(&of.len())) {
                // An agent that is about to end, or its program, may have removed a file since the folder was listed.
                let content = fs::read(path).unwrap_or_default();
                found.extend(ids.get(&content[..]).map(|id| (*id).clone()));
            }
        }
    }
    Ok(found)
}

/// Objects that are staged, stashed and reachable in the repository of this folder or `.git` file; nothing without a repository.
fn inside(world: &World, repository: &Path) -> BTreeSet<String> {
    let folder = if repository.is_file() { repository.with_file_name("") } else { repository.to_owned() };
    let git = |words: &[&str]| world.git(&folder, words).unwrap_or_default();
    let place = repository.to_string_lossy();
    let of = ["--git-dir", &place];
    let of = if repository.is_file() { &[][..] } else { &of[..] };
    let staged = git(&[of, &["ls-files", "--stage"]].concat());
    let stashes = git(&[of, &["log", "--walk-reflogs", "--format=%H", "refs/stash", "--"]].concat());
    let stashes: Vec<&str> = stashes.lines().collect();
    let listed = git(&[of, &["rev-list", "--objects", "--all"], &stashes[..]].concat());
    let staged = staged.lines().filter_map(|line| line.split(' ').nth(1));
    let listed = listed.lines().filter_map(|line| line.split(' ').next());
    staged.chain(listed).map(str::to_owned).collect()
}

/// Checks that no task has two agents of one kind at once, by the agents' own notes, and returns the living ones with their tasks.
pub(super) fn census(world: &World) -> Result<Vec<(String, String)>> {
    let mut alive = Vec::new();
    for entry in fs::read_dir(world.path("home/agents")).into_iter().flatten().flatten() {
        let notes = fs::read_to_string(entry.path()).unwrap_or_default();
        let lines = notes.lines().filter_map(|line| line.split_once(' '));
        let living = lines.filter(|(_, pid)| pid.parse().is_ok_and(is_alive));
        let mut actors = BTreeSet::new();
        for (actor, pid) in living {
            let task = entry.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if !actors.insert(actor.to_owned()) {
                return Err(format!("task {task} has a second living {actor}, process {pid}"));
            }
            alive.push((task, format!("{actor}, process {pid}")));
        }
    }
    Ok(alive)
}

/// Makes a pipe or a device by a program, since the system call is not the same everywhere.
pub(super) fn make_special(program: &str, path: &Path, kind: &[&str]) -> io::Result<()> {
    let made = Command::new(program).arg(path).args(kind).output()?;
    if made.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&made.stderr).into_owned()))
}

/// State that must not change: a person's own checkout with its uncommitted changes, and branches of the remote.
pub(super) fn others(world: &World) -> Result<String> {
    let own = world.path(PROJECT);
    let state = world.git(&own, &["status", "--porcelain", "--branch", "--untracked-files=all"])?;
    let mine = fs::read_to_string(own.join("mine")).unwrap_or_default();
    let remote = ["develop", "production"]
        .map(|name| world.git(&world.path("toy.git"), &["rev-parse", "--verify", name]).unwrap_or_default());
    // The distance from the remote changes with merges.
    let state: String = state.lines().filter(|line| !line.starts_with("## main...")).collect();
    Ok(format!("{state} {mine} {remote:?}"))
}
