//! Changes of a branch or a worktree against the commit at which it left the default branch. The comparison writes nothing there:
//! git gets a copy of the worktree's index, in which new files are noted.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::scratch::ScratchIndex;
use super::{Git, NOT_INSIDE, ProgramCall, parse, without_task_file};
use crate::{Error, ErrorKind, Result};
use orange_core::fnv1a;
use orange_system::exec::ProcessGroup;

/// Difference of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The file, from the top of the repository.
    pub path: PathBuf,
    /// Its path before, if it was renamed or copied.
    pub was: Option<PathBuf>,
    /// Git's letter: `A`, `C`, `D`, `M`, `R`, `T` or `U`.
    pub letter: u8,
    /// The lines that it has more, and those that it has no more; `None` for a binary file.
    pub lines: Option<(u64, u64)>,
}

/// Form in which a difference is shown to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffForm {
    Patch,
    /// As a table with the lines of each file.
    Stat,
    /// In the user's diff tool.
    Tool,
}

/// Two sides that are compared: a commit, and a commit or a worktree.
pub struct CommitComparison {
    /// The commit at which the work left the default branch.
    pub base: String,
    /// The last commit of the work.
    pub commit: String,
    there: Git,
    /// The copy of the worktree's index, if the worktree is compared.
    index: Option<ScratchIndex>,
}

impl Git {
    /// Compares a worktree, with what is not committed and not ignored.
    pub fn compare_worktree(&self, worktree: &Path, default_branch: &str) -> Result<CommitComparison> {
        const ATTEMPTS: usize = 3;
        let there = self.inside(worktree)?;
        let tip = self.base(default_branch)?;
        let commit = there.head(&there.repo)?.unwrap_or_else(|| tip.clone());
        let base = there.leaves(&commit, &tip)?.unwrap_or(tip);
        let index = ScratchIndex::of(&there.git_dir(&there.repo)?.join("index"))?;
        let mut noted = there.note_new(&index);
        // A file may vanish after it was listed.
        for _ in 1..ATTEMPTS {
            noted = noted.or_else(|_| there.note_new(&index));
        }
        noted.map(|()| CommitComparison { base, commit, there, index: Some(index) })
    }

    /// Compares a commit of the work. One that is part of the default branch is compared with `began`, where the work began.
    pub fn compare_commit(
        &self,
        commit: &str,
        default_branch: &str,
        began: Option<&str>,
    ) -> Result<CommitComparison> {
        let tip = self.base(default_branch)?;
        let left = self.leaves(commit, &tip)?.unwrap_or(tip);
        let is_merged = left == commit;
        let since = match began.filter(|_| is_merged) {
            Some(began) if self.has_commit(began)? => self.leaves(commit, began)?,
            Some(_) | None => None,
        };
        let base = since.unwrap_or(left);
        Ok(CommitComparison { base, commit: commit.to_owned(), there: self.clone(), index: None })
    }

    /// The commit at which these two part; `None` if they have nothing in common.
    fn leaves(&self, commit: &str, other: &str) -> Result<Option<String>> {
        let output = self.call().args(["merge-base", commit, other]).run()?;
        if output.code() == Some(1) { Ok(None) } else { Ok(Some(output.checked()?.text())) }
    }

    /// Number of commits since an earlier one; `None` if that is not part of this one.
    pub fn commits_since(&self, earlier: &str, commit: &str) -> Result<Option<u32>> {
        if !self.has_commit(earlier)? || !self.is_ancestor(earlier, commit)? {
            return Ok(None);
        }
        let (base, commit, there) = (earlier.to_owned(), commit.to_owned(), self.clone());
        CommitComparison { base, commit, there, index: None }.commits().map(Some)
    }

    /// Notes the files in a copy of the index that git does not know yet.
    fn note_new(&self, index: &ScratchIndex) -> Result<()> {
        let words = ["ls-files", "--others", "--exclude-standard", "-z", "--", ":/", without_task_file()];
        let at = || self.call().env("GIT_INDEX_FILE", &index.path);
        let listed = at().args(words).run()?.checked()?;
        // A repository inside is not a file, and its path ends with a slash.
        let files = listed.stdout.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        let files: Vec<u8> =
            files.filter(|path| !path.ends_with(b"/")).flat_map(|path| [path, &[0]].concat()).collect();
        if files.is_empty() {
            return Ok(());
        }
        let note = ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
        at().env("GIT_LITERAL_PATHSPECS", "1").args(note).input(&files).run()?.checked().map(drop)
    }
}

impl CommitComparison {
    /// Number of commits of the work.
    pub fn commits(&self) -> Result<u32> {
        let range = format!("{}..{}", self.base, self.commit);
        let counted = self.there.call().args(["rev-list", "--count", &range]).text()?;
        counted.parse().map_err(|_| {
            Error::new(ErrorKind::Environment, format!("git counts commits in an unknown form: {counted}"))
        })
    }

    /// The files that differ.
    pub fn files(&self) -> Result<Vec<FileDiff>> {
        let output = self.plainly(&["--raw", "--numstat", "-z", "--no-abbrev"]).run()?.checked()?;
        Ok(parse_diff(&output.stdout))
    }

    /// The patch, in git's own format, whatever the user has set.
    pub fn patch(&self) -> Result<Vec<u8>> {
        Ok(self.plainly(&["--patch"]).run()?.checked()?.stdout)
    }

    /// A hash of the patch: other commits with the same changes have the same one, wherever the lines stand. Unlike `git patch-id`, it
    /// covers white space and binary files.
    pub fn patch_hash(&self) -> Result<String> {
        let patch = self.plainly(&["--patch", "--full-index"]).run()?.checked()?.stdout;
        Ok(format!("{:016x}", fnv1a(without_places(&patch))))
    }

    /// Text for a person without a terminal.
    pub fn printed(&self, shape: DiffForm) -> Result<Vec<u8>> {
        let words: &[&str] = if shape == DiffForm::Stat { &["--stat"] } else { &["--patch"] };
        let call = self.aimed(self.there.call(), "diff", words);
        Ok(call.run()?.checked()?.stdout)
    }

    /// Shows it on this terminal, in the user's pager or diff tool, until that ends.
    pub fn show(&self, shape: DiffForm) -> Result<ExitStatus> {
        let (command, words): (&str, &[&str]) = match shape {
            DiffForm::Patch => ("diff", &["--patch"]),
            DiffForm::Stat => ("diff", &["--stat"]),
            DiffForm::Tool => ("difftool", &[]),
        };
        let mut child =
            self.aimed(self.there.on_terminal(), command, words).attended(ProcessGroup::Inherited)?;
        child
            .wait()
            .map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot wait for git: {cause}")))
    }

    fn plainly(&self, words: &[&str]) -> ProgramCall {
        let plain = [
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--find-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
        ];
        self.aimed(self.there.call(), "diff", &[&plain, words].concat())
    }

    fn aimed(&self, call: ProgramCall, command: &str, words: &[&str]) -> ProgramCall {
        let call = call.arg(command).args(words).arg(NOT_INSIDE).arg(&self.base);
        let call = match &self.index {
            Some(index) => call.env("GIT_INDEX_FILE", &index.path),
            None => call.arg(&self.commit),
        };
        call.args(["--", ":/", without_task_file()])
    }
}

/// The bytes of a patch without what depends on the commits that it leads from and to: line numbers, and the blobs of text files.
fn without_places(patch: &[u8]) -> impl Iterator<Item = u8> {
    let mut lines = patch.split_inclusive(|byte| *byte == b'\n').peekable();
    std::iter::from_fn(move || {
        let line = lines.next()?;
        let is_binary = lines.peek().is_some_and(|next| next.starts_with(b"Binary files "));
        let is_place = line.starts_with(b"@@") || line.starts_with(b"index ") && !is_binary;
        Some(if is_place { &b"@@\n"[..] } else { line })
    })
    .flatten()
    .copied()
}

/// The output of `git diff --raw --numstat -z`: `:<mode> <mode> <object> <object> <letter>`, then one path or two; and
/// `<added>\t<removed>\t<path>`, or without a path, which then is two fields.
fn parse_diff(printed: &[u8]) -> Vec<FileDiff> {
    let mut fields = printed.split(|&byte| byte == 0);
    let mut files: Vec<FileDiff> = Vec::new();
    while let Some(field) = fields.next() {
        if let Some(raw) = field.strip_prefix(b":") {
            let letter = raw.rsplit(|&byte| byte == b' ').next().and_then(|last| last.first());
            let (Some(&letter), Some(first)) = (letter, fields.next()) else { break };
            let second = if matches!(letter, b'R' | b'C') { fields.next() } else { None };
            let (was, path) = second.map_or((None, first), |second| (Some(parse::path(first)), second));
            files.push(FileDiff { path: parse::path(path), was, letter, lines: None });
        } else {
            let mut parts = field.splitn(3, |&byte| byte == b'\t');
            let (Some(added), Some(removed), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            let name = if name.is_empty() { fields.nth(1) } else { Some(name) };
            let lines = number(added).zip(number(removed));
            let file = files.iter_mut().find(|file| Some(file.path.as_os_str().as_bytes()) == name);
            file.into_iter().for_each(|file| file.lines = lines);
        }
    }
    // A file with a conflict is listed twice, first with its conflict.
    files.dedup_by(|second, first| {
        let is_same = first.path == second.path && first.letter == b'U';
        first.lines = first.lines.or(second.lines.filter(|_| is_same));
        is_same
    });
    files
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_every_kind_of_difference_are_read() {
        let zero = "0".repeat(40);
        let raw = |letter: &str, paths: &str| format!(":100644 100644 {zero} {zero} {letter}\0{paths}\0");
        let printed = [
            raw("M", "a b"),
            raw("R091", "old\0new"),
            raw("A", "pic\tture.png"),
            raw("U", "both"),
            raw("M", "both"),
            "3\t1\ta b\0".to_owned(),
            "0\t2\t\0old\0new\0".to_owned(),
            "-\t-\tpic\tture.png\0".to_owned(),
            "4\t0\tboth\0".to_owned(),
        ];
        let files = parse_diff(printed.concat().as_bytes());
        let seen: Vec<_> = files
            .iter()
            .map(|file| {
                let was = file.was.as_ref().map(|was| was.display().to_string());
                (file.path.display().to_string(), was, char::from(file.letter), file.lines)
            })
            .collect();
        let expect = [
            ("a b".to_owned(), None, 'M', Some((3, 1))),
            ("new".to_owned(), Some("old".to_owned()), 'R', Some((0, 2))),
            ("pic\tture.png".to_owned(), None, 'A', None),
            ("both".to_owned(), None, 'U', Some((4, 0))),
        ];
        assert_eq!(seen, expect);
        assert_eq!(parse_diff(b""), []);
    }
}
