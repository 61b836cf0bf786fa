//! Runs a program in a task's worktree, for a hook or a gate.

use orange_system::variables;
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::hooks::wall::ProgramPlace;
use crate::store::WorkItemDir;
use crate::store::home::make_folder;
use crate::{Error, ErrorKind, Result};
use orange_system::atomic;
use orange_system::exec::{CallEnd, ProgramCall, StopReason};
use orange_system::files::entries;
use orange_system::process::{self, Ledger, ProcessRoot};

/// The number of bytes of a program's output that are kept in memory, of each end.
const KEPT: usize = 8 * 1024;

/// The longest file with a program's output, and the number of such files that a task keeps.
const LONGEST_FILE: u64 = 8 * 1024 * 1024;
const MOST_FILES: usize = 8;

/// A program that is to run.
#[derive(Debug)]
pub struct ProgramRun<'p> {
    call: ProgramCall,
    name: &'p str,
    place: ProgramPlace<'p>,
    number: u64,
}

/// End of a program.
#[derive(Debug)]
pub struct ProgramEnd {
    /// Its exit status, when it ended by itself.
    pub code: Option<i32>,
    /// The beginning and the end of its output, standard error last.
    pub output: String,
    /// The file in the task's folder with more of the output, if there is more.
    pub file: Option<String>,
    /// Reason for its failure, with the last lines of its output.
    pub failure: Option<Error>,
}

impl<'p> ProgramRun<'p> {
    /// A program with these arguments, and at most so many seconds; `None` without a program. A long output goes to the file of
    /// this number in the task's folder.
    pub fn of(
        argv: &'p [impl AsRef<str>],
        timeout: u32,
        place: ProgramPlace<'p>,
        number: u64,
    ) -> Option<ProgramRun<'p>> {
        let (name, args) = argv.split_first()?;
        let bound = Duration::from_secs(timeout.into());
        let args = args.iter().map(AsRef::as_ref);
        let call = ProgramCall::new(name.as_ref()).args(args).folder(place.folder).bound(bound);
        // The program's git works in the worktree, even if a hook of another repository called orange.
        Some(ProgramRun { call: call.without(variables::GIT), name: name.as_ref(), place, number })
    }

    /// Adds a variable to its environment.
    pub fn env(self, name: &str, value: &str) -> ProgramRun<'p> {
        ProgramRun { call: self.call.env(name, value), ..self }
    }

    /// Adds several variables to its environment.
    pub fn envs(self, variables: &[(&str, OsString)]) -> ProgramRun<'p> {
        let call = variables.iter().fold(self.call, |call, (name, value)| call.env(name, value));
        ProgramRun { call, ..self }
    }

    /// Takes variables out of its environment.
    pub fn without(self, names: &[String]) -> ProgramRun<'p> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        ProgramRun { call: self.call.without(&names), ..self }
    }

    /// Runs it until it ends, its time is over, or it is no longer wanted. If it has not succeeded, everything that it has started
    /// ends, too. It runs in a wall where the project wants one; if that cannot be made, it has failed.
    pub fn run(self, is_wanted: &dyn Fn() -> bool) -> Result<ProgramEnd> {
        let ProgramRun { call, name, place, number } = self;
        let (call, _proxy) = match place.around(call, name, number) {
            Ok(call) => call,
            Err(error) => {
                let output = error.one_line();
                return Ok(ProgramEnd { code: None, output, file: None, failure: Some(error) });
            }
        };
        let dir = place.dir;
        let copy = new_copy(dir, number)?;
        let ledger = RefCell::new(Ledger::begin()?);
        let others = process::children()?;
        let late = call.late();
        let is_wanted = || {
            // Without a process table, nothing new is remembered.
            ledger.borrow_mut().as_mut().map(Ledger::look).transpose().map(drop).unwrap_or_default();
            is_wanted()
        };
        let outcome = call.copied(KEPT, &copy, LONGEST_FILE).run_while(&is_wanted);
        let has_succeeded = |run: &CallEnd| run.stopped.is_none() && run.output.success();
        if !outcome.as_ref().is_ok_and(has_succeeded) {
            // This includes processes that have left its group, or have lost their parent.
            let left = process::children()?.into_iter().filter(|child| !others.contains(child));
            let remembered = ledger.into_inner().map(|ledger| ledger.roots()).unwrap_or_default();
            process::end(&left.map(ProcessRoot::Process).chain(remembered).collect::<Vec<_>>())?;
        }
        let CallEnd { output, stopped } = match outcome {
            Ok(run) => run,
            Err(error) => {
                let output = error.message.clone();
                let file = keep_copy(dir, &copy, false)?;
                return Ok(ProgramEnd { code: None, output, file, failure: Some(error) });
            }
        };
        let (said, is_all) = shortened(&format!("{}\n{}", output.text(), output.complaint()));
        let file = keep_copy(dir, &copy, is_all)?;
        let last = last_lines(&said);
        let code = output.code();
        let failure = match stopped {
            Some(StopReason::Late) => Some(with_output(late, &last)),
            Some(StopReason::Unwanted) => Some(Error::new(
                ErrorKind::Refused,
                format!("`{name}` was ended: its answer is not wanted any more"),
            )),
            None if output.success() => None,
            None if last.is_empty() => Some(output.failure()),
            None => {
                let how = code.map_or_else(|| "a signal".to_owned(), |code| format!("status {code}"));
                Some(Error::new(ErrorKind::Environment, format!("`{name}` ended with {how}: {last}")))
            }
        };
        Ok(ProgramEnd { code, output: said, file, failure })
    }
}

/// Ends the program that a gate of this task has asked, if one runs or is left of a process that was killed.
pub fn end_asked(dir: &WorkItemDir) -> Result<()> {
    if !dir.program_lock().exists() {
        return Ok(());
    }
    process::end(&[ProcessRoot::Gate(dir.id.clone())])
}

fn with_output(mut error: Error, last: &str) -> Error {
    if !last.is_empty() {
        error.message = format!("{}: {last}", error.message);
    }
    error
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

/// The path of a new file of output. A file that a killed process has left there is removed.
fn new_copy(dir: &WorkItemDir, number: u64) -> Result<PathBuf> {
    let folder = dir.commands();
    make_folder(&folder)?;
    let path = folder.join(format!("{number:08}.txt"));
    atomic::remove(&path)?;
    Ok(path)
}

/// Keeps the file of output if it has more than the journal, and at most [`MOST_FILES`] such files. Returns its name in the
/// task's folder.
fn keep_copy(dir: &WorkItemDir, copy: &Path, is_all: bool) -> Result<Option<String>> {
    if is_all || copy.metadata().is_ok_and(|metadata| metadata.len() == 0) || !copy.exists() {
        atomic::remove(copy)?;
        return Ok(None);
    }
    let mut files: Vec<PathBuf> = entries(&dir.commands())?.iter().map(|entry| entry.path()).collect();
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
