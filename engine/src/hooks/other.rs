//! The hooks that are one call each.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::app::App;
use crate::drive::exec::{Call, GIT_VARIABLES, Output};
use crate::drive::git::{Git, REMOTE};
use crate::drive::process::{self, ProcessRoot};
use crate::files::entries;
use crate::store::home::make_folder;
use crate::store::scalar::Value;
use crate::store::{Event, LockedTask, Set, atomic};
use crate::{Error, Kind, Result};

/// Removes the task's branch from the remote, if it was made for this task. A branch that was there before, or that the agent has
/// switched to, is somebody else's; a missing branch is no error.
pub fn delete_remote_branch(app: &App, locked: &LockedTask) -> Result<()> {
    let branch = &locked.task().branch;
    let Some(from) = locked.history().made.get(branch) else { return Ok(()) };
    let project = app.project_of(locked.task())?;
    Git::at(&project.path).delete_remote_branch(branch, &project.default_branch, from).map(drop)
}

/// Pushes the task's branch.
///
/// # Errors
/// `refused` without a remote; `environment` when git or the remote fails.
pub fn push_branch(app: &App, locked: &LockedTask) -> Result<()> {
    let project = app.project_of(locked.task())?;
    let git = Git::at(&project.path);
    if !git.has_remote()? {
        return Err(Error::new(
            Kind::Refused,
            format!("{} has no remote `{REMOTE}` to push to", project.name),
        ));
    }
    git.push(REMOTE, &locked.task().branch)
}

/// Writes a key of the frontmatter that belongs to people.
///
/// # Errors
/// `refused` for a key that the engine owns.
pub fn set_field(locked: &mut LockedTask, field: &str, value: &str) -> Result<()> {
    locked.edit(&[(field, Value::Text(value))])
}

/// Puts the message into the task's `attention`, where people look.
pub fn notify(locked: &mut LockedTask, message: &str) -> Result<()> {
    locked.call_attention(message.trim())
}

/// The number of bytes of a program's output that are kept in memory, of each end.
const KEPT: usize = 8 * 1024;

/// The longest file with a program's output, and the number of such files that a task keeps.
const LONGEST_FILE: u64 = 8 * 1024 * 1024;
const MOST_FILES: usize = 8;

/// Runs a program in the task's worktree. The journal gets how it ended, and the beginning and the end of its output; a longer
/// output is in a file of the task's folder.
///
/// # Errors
/// `refused` without a worktree; `environment` when the program cannot be started, fails or takes too long: then
/// everything that it has started ends, too.
pub fn run_command(locked: &mut LockedTask, argv: &[&str], timeout: u32) -> Result<()> {
    let Some((program, args)) = argv.split_first() else { return Ok(()) };
    let Some(worktree) = locked.worktree() else {
        return Err(Error::new(Kind::Refused, "the task has no worktree to run a command in"));
    };
    let bound = Duration::from_secs(timeout.into());
    let copy = new_copy(locked)?;
    // The program's git works in the worktree, even if a hook of another repository called orange.
    let call = Call::new(program).args(args).folder(&worktree).bound(bound).without(GIT_VARIABLES);
    process::adopt_orphans()?;
    let others = process::children();
    let outcome = call.copied(KEPT, &copy, LONGEST_FILE).run();
    if !outcome.as_ref().is_ok_and(Output::success) {
        // This includes processes that have left its group, or have lost their parent.
        let left = process::children().into_iter().filter(|child| !others.contains(child));
        process::end(&left.map(ProcessRoot::Process).collect::<Vec<_>>())?;
    }
    let (code, said, is_all) = match &outcome {
        Ok(output) => {
            let (said, is_all) = shortened(&format!("{}\n{}", output.text(), output.complaint()));
            (output.code(), said, is_all)
        }
        Err(error) => (None, error.message.clone(), false),
    };
    let file = keep_copy(locked, &copy, is_all)?;
    let last = last_lines(&said);
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    locked.append(Event::CommandEnded { argv, code, output: said, file }, Set::new())?;
    let output = outcome?;
    if output.success() || last.is_empty() {
        return output.checked().map(drop);
    }
    let how = code.map_or_else(|| "a signal".to_owned(), |code| format!("status {code}"));
    Err(Error::new(Kind::Environment, format!("`{program}` ended with {how}: {last}")))
}

/// The last lines of a program's output, for a person's attention.
fn last_lines(said: &str) -> String {
    const LINES: usize = 5;
    const CHARACTERS: usize = 400;
    let mut lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.split_off(lines.len().saturating_sub(LINES)).join(" | ");
    let first = last.char_indices().rev().nth(CHARACTERS - 1).map_or(0, |(at, _)| at);
    last[first..].to_owned()
}

/// The path of the next file of output. A file that a killed process has left there is removed.
fn new_copy(locked: &LockedTask) -> Result<PathBuf> {
    let folder = locked.dir().commands();
    make_folder(&folder)?;
    let path = folder.join(format!("{:08}.txt", locked.history().last_seq + 1));
    atomic::remove(&path)?;
    Ok(path)
}

/// Keeps the file of output if it has more than the journal, and at most [`MOST_FILES`] such files. Returns its name in the
/// task's folder.
fn keep_copy(locked: &LockedTask, copy: &Path, is_all: bool) -> Result<Option<String>> {
    if is_all || copy.metadata().is_ok_and(|metadata| metadata.len() == 0) || !copy.exists() {
        atomic::remove(copy)?;
        return Ok(None);
    }
    let mut files: Vec<PathBuf> =
        entries(&locked.dir().commands())?.iter().map(|entry| entry.path()).collect();
    files.sort_unstable();
    let old = files.len().saturating_sub(MOST_FILES);
    files[..old].iter().try_for_each(|file| atomic::remove(file))?;
    let name = copy.file_name().unwrap_or_default().to_string_lossy();
    Ok(Some(format!("commands/{name}")))
}

/// The beginning and the end of a program's output, standard error last, and whether that is all of it.
fn shortened(text: &str) -> (String, bool) {
    const FIRST: usize = 500;
    const LAST: usize = 1_500;
    let text = text.trim();
    if text.chars().nth(FIRST + LAST).is_none() {
        return (text.to_owned(), true);
    }
    let first = text.char_indices().nth(FIRST).map_or(text.len(), |(at, _)| at);
    let last = text.char_indices().rev().nth(LAST - 1).map_or(0, |(at, _)| at);
    (format!("{}\n…\n{}", &text[..first], &text[last..]), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_both_ends_are_journaled() {
        assert_eq!(shortened(" all of it\n"), ("all of it".to_owned(), true));
        let text = format!("begin{}end", "ä".repeat(5_000));
        let (said, is_all) = shortened(&text);
        assert!(!is_all && said.starts_with("begin") && said.ends_with("end") && said.contains("\n…\n"));
        assert_eq!(said.chars().count(), 2_003);
    }

    #[test]
    fn the_last_lines_of_an_output_fit_into_one() {
        assert_eq!(last_lines(""), "");
        assert_eq!(last_lines("1\n2\n3\n\n 4\n5\n6\n"), "2 | 3 | 4 | 5 | 6");
        assert_eq!(last_lines(&"ä".repeat(500)).chars().count(), 400);
    }
}
