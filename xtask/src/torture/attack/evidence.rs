//! What an attack has written and what it has seen, and whether that is still true.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::super::world::{World, is_alive};
use crate::Result;
use crate::scratch::PROJECT;

/// Texts that must not be lost.
#[derive(Default)]
pub(super) struct Evidence {
    texts: Vec<Text>,
    /// What was done to the worktree, in order.
    states: Vec<&'static str>,
}

struct Text {
    /// Where it was written, and as part of what.
    file: PathBuf,
    part: u64,
    text: String,
}

impl Evidence {
    /// Takes note of what was done to the worktree, to be told with a loss.
    pub(super) fn tell(&mut self, state: &'static str) {
        self.states.push(state);
    }

    /// One more of them. What was in its file before, as part of something else, is over.
    pub(super) fn note(&mut self, file: PathBuf, part: u64, text: String) {
        self.texts.retain(|one| one.file != file || one.part == part);
        self.texts.push(Text { file, part, text });
    }

    /// Of what was written into a file, only the last is still anywhere: git has not taken it.
    pub(super) fn only_last(&mut self, file: &Path) {
        let last = self.texts.iter().rposition(|one| one.file == file);
        let mut number = 0;
        self.texts.retain(|one| {
            number += 1;
            one.file != file || Some(number - 1) == last
        });
    }

    /// What was only staged is gone, with the index.
    pub(super) fn only_files(&mut self) {
        let files: BTreeSet<PathBuf> = self.texts.iter().map(|one| one.file.clone()).collect();
        files.iter().for_each(|file| self.only_last(file));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// That each of them is in a commit that a ref leads to, or in a file below `ORANGE_HOME`, or in a repository there.
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

    /// Leaves out what is gone before anything was asked for: git itself loses some files, as a stash does those outside of a
    /// sparse checkout. What no ref leads to counts as there only where git is still to pick it.
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

    fn missing(&self, world: &World) -> Result<BTreeMap<String, &Text>> {
        let mut wanted: BTreeMap<String, &Text> = self.blobs(world)?.into_iter().zip(&self.texts).collect();
        for id in committed(world, &world.path(PROJECT))? {
            wanted.remove(&id);
        }
        if !wanted.is_empty() {
            for id in elsewhere(world)? {
                wanted.remove(&id);
            }
        }
        Ok(wanted)
    }

    /// The names that git has for them, without asking for anything that a repository says of them.
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

/// The objects that a list names.
fn ids(listed: &str) -> BTreeSet<String> {
    listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// What the commits have that a sequence of git in a worktree, such as a rebase, is at or has not come to yet.
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

/// What is in files and repositories below `ORANGE_HOME`.
fn elsewhere(world: &World) -> Result<BTreeSet<String>> {
    let (mut files, mut found) = (Vec::new(), BTreeSet::new());
    // What belongs to a worktree alone is there, with its submodules.
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
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    // A file whose name is no line is no evidence.
    let lines = files.iter().filter_map(|file| file.to_str()).filter(|name| !name.contains('\n'));
    let lines: String = lines.map(|name| format!("{name}\n")).collect();
    let hashes = ["hash-object", "--no-filters", "--stdin-paths"];
    found.extend(world.git_with(&world.path(""), &hashes, &lines)?.lines().map(str::to_owned));
    Ok(found)
}

/// What is staged and stashed in a repository of which this is the folder or the `.git` file, and what its refs lead to; nothing
/// of one that leads nowhere.
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

/// That no task has two agents of one kind at once, by what the agents noted when they began. Those who live, each with its task.
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
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            alive.push((task, format!("{actor}, process {}", stat.get(..60).unwrap_or(pid))));
        }
    }
    Ok(alive)
}

/// What nobody may touch: a person's own checkout, with what they have not committed there, and branches of the remote.
pub(super) fn others(world: &World) -> Result<String> {
    let own = world.path(PROJECT);
    let state = world.git(&own, &["status", "--porcelain", "--branch", "--untracked-files=all"])?;
    let mine = fs::read_to_string(own.join("mine")).unwrap_or_default();
    let remote = ["develop", "production"]
        .map(|name| world.git(&world.path("toy.git"), &["rev-parse", "--verify", name]).unwrap_or_default());
    // How far it is ahead of the remote is what merges are for.
    let state: String = state.lines().filter(|line| !line.starts_with("## main...")).collect();
    Ok(format!("{state} {mine} {remote:?}"))
}
