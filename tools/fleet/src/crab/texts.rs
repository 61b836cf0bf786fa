//! The texts of an attempt that people can read: the transcript of its agent and its diff, each bounded.

use std::path::{Path, PathBuf};
use std::time::Duration;

use orange_api::Result;

use super::git::{GitFolder, branch_ref};
use super::job::{Job, Ready};
use super::orange::Engine;
use super::program::StillWanted;
use crate::host::TextKind;

/// The longest text, in bytes, without the line that says what was cut.
pub const LONGEST: usize = 128 << 10;

/// Time limit of one program that makes a text.
const PATIENCE: Duration = Duration::from_secs(10);

/// Arguments of git for a diff, whatever the settings of the machine say: it names binary files and has nothing else of them.
const DIFF: &[&str] = &[
    "-c",
    "core.quotePath=false",
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--find-renames",
    "--stat=100,70,200",
    "--patch",
];

/// Sources of the texts of a job.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'s> {
    pub job: &'s Job,
    /// The program that has its agent.
    pub orange: &'s Engine,
    /// A folder for a file that is there for a moment.
    pub folder: &'s Path,
}

impl Sources<'_> {
    /// The texts that there are: none of a job that has not begun.
    pub fn texts(self, wanted: &dyn StillWanted) -> Vec<(TextKind, String)> {
        let (Some(ready), Some(mission)) = (&self.job.ready, &self.job.mission) else { return Vec::new() };
        let transcript = self.orange.transcript(mission, &self.job.assigned.step_id, PATIENCE);
        // A text that cannot be made is not shown; the attempt does not depend on it.
        let transcript = transcript.ok().flatten().map(|it| end_of(&plain(it)));
        let diff = self.diff(ready, wanted).ok().flatten().map(|it| beginning_of(&plain(it)));
        let found = [(TextKind::Transcript, transcript), (TextKind::Diff, diff)];
        let found = found.into_iter().filter_map(|(kind, text)| Some((kind, text?)));
        found.filter(|(_, text)| self.job.is_started || !text.is_empty()).collect()
    }

    /// Diff of the attempt since it began: up to the commit that was pushed, or as the worktree is now.
    fn diff(self, ready: &Ready, wanted: &dyn StillWanted) -> Result<Option<String>> {
        if let Some(pushed) = &self.job.pushed {
            return diff(GitFolder::new(Path::new(&ready.clone), wanted), &[&ready.start, pushed], None)
                .map(Some);
        }
        let worktree = Path::new(&ready.worktree);
        let git = GitFolder::new(worktree, wanted);
        // A worktree that was given back has the branch of another mission, or none.
        let branch = branch_ref(&self.job.assigned.branch);
        if !worktree.is_dir() || git.text(&["symbolic-ref", "--quiet", "HEAD"])? != branch {
            return Ok(None);
        }
        let index = self.folder.join("diff.index");
        let made = with_all(git, &index)
            .and_then(|()| diff(git, &["--cached", &ready.start], Some(&index)).map(Some));
        std::fs::remove_file(&index).unwrap_or_default();
        made
    }
}

/// Makes an index of its own with everything that git does not ignore: the agent may be using the other one.
fn with_all(git: GitFolder<'_>, index: &PathBuf) -> Result<()> {
    let own = git.text(&["rev-parse", "--path-format=absolute", "--git-path", "index"])?;
    std::fs::copy(own, index).map_err(|cause| orange_api::Error::io("write", index, &cause))?;
    let add = git.call(&["-c", "advice.addEmbeddedRepo=false", "add", "--all"]);
    add.env("GIT_INDEX_FILE", index).limit(PATIENCE).text().map(drop)
}

fn diff(git: GitFolder<'_>, between: &[&str], index: Option<&Path>) -> Result<String> {
    let call = git.call(&[DIFF, between, &["--"]].concat()).limit(PATIENCE).most(LONGEST + 1);
    let call = index.into_iter().fold(call, |call, index| call.env("GIT_INDEX_FILE", index));
    let said = call.run()?;
    match said.success() {
        true => Ok(said.text_as_it_is()),
        false => Err(said.failure()),
    }
}

/// A text in which another character stands for the one that a gateway does not take.
fn plain(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text }
}

/// A text that is not too long, or its end below a line that says what was cut.
fn end_of(text: &str) -> String {
    let Some(over) = text.len().checked_sub(LONGEST).filter(|it| *it > 0) else { return text.to_owned() };
    let from = text.ceil_char_boundary(over);
    let from = text[from..].find('\n').map_or(from, |line| from + line + 1);
    format!("(cut: {from} of {} bytes before this are left out)\n{}", text.len(), &text[from..])
}

/// A text that is not too long, or its beginning below a line that says what was cut.
fn beginning_of(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let to = text.floor_char_boundary(LONGEST);
    let to = text[..to].rfind('\n').map_or(to, |line| line + 1);
    format!("(cut: what comes after the first {to} bytes is left out)\n{}", &text[..to])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_whole() {
        for text in ["", "one\ntwo", &"x".repeat(LONGEST)] {
            assert_eq!((end_of(text).as_str(), beginning_of(text).as_str()), (text, text));
        }
        assert_eq!(plain("a\0b".to_owned()), "a\u{2400}b");
    }

    #[test]
    fn a_long_text_is_cut_between_lines_and_says_so() {
        let text = "añb\n".repeat(LONGEST / 4);
        let end = end_of(&text);
        let (first, rest) = end.split_once('\n').unwrap();
        assert_eq!(
            first,
            format!("(cut: {} of {} bytes before this are left out)", text.len() - rest.len(), text.len())
        );
        assert!(rest.len() <= LONGEST && rest.len() > LONGEST - 10 && rest.starts_with("añb\n"));
        let beginning = beginning_of(&text);
        let (first, rest) = beginning.split_once('\n').unwrap();
        assert_eq!(first, format!("(cut: what comes after the first {} bytes is left out)", rest.len()));
        assert!(rest.len() <= LONGEST && rest.len() > LONGEST - 10 && rest.ends_with("añb\n"));
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let text = "ñ".repeat(LONGEST);
        for cut in [end_of(&text), beginning_of(&text)] {
            assert!(cut.len() <= LONGEST + 100 && cut.ends_with('ñ'));
        }
    }
}
