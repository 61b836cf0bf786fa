//! The processes of Linux, by `/proc`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use super::processes::{OpenFile, ProcessFiles, ProcessFolder, ProcessState, Processes, Stat, unknown};
use crate::{Error, Result};

/// The folder `/proc`.
pub(super) struct ProcFolder;

impl Processes for ProcFolder {
    fn all(&self) -> Result<BTreeMap<i32, Stat>> {
        let mut table = BTreeMap::new();
        for entry in fs::read_dir("/proc").map_err(|cause| unreadable(&cause))? {
            let name = entry.map_err(|cause| unreadable(&cause))?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            table.extend(look(pid)?.map(|stat| (pid, stat)));
        }
        let own = rustix::process::getpid().as_raw_nonzero().get();
        if table.contains_key(&own) { Ok(table) } else { Err(without_itself()) }
    }

    fn one(&self, pid: i32) -> Result<Option<Stat>> {
        match look(pid)? {
            Some(stat) => Ok(Some(stat)),
            None => self.check().map(|()| None),
        }
    }

    fn check(&self) -> Result<()> {
        match fs::read("/proc/self/stat") {
            Ok(line) if parse(&line).is_some() => Ok(()),
            Ok(_) => Err(without_itself()),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Err(without_itself()),
            Err(cause) => Err(unreadable(&cause)),
        }
    }

    fn environment(&self, pid: i32) -> Vec<u8> {
        words(pid, "environ")
    }

    fn command(&self, pid: i32) -> Vec<u8> {
        words(pid, "cmdline")
    }

    fn hides_environments(&self) -> bool {
        false
    }

    fn is_own(&self, pid: i32) -> bool {
        const REPLACED: &str = " (deleted)";
        let program = |name: &str| {
            let path =
                fs::read_link(format!("/proc/{name}/exe")).ok()?.into_os_string().into_string().ok()?;
            Some(path.strip_suffix(REPLACED).map_or(path.clone(), str::to_owned))
        };
        program("self").is_some_and(|own| program(&pid.to_string()) == Some(own))
    }

    fn name(&self, pid: i32) -> String {
        let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        String::from_utf8_lossy(&name).trim_end().to_owned()
    }

    /// By a clock that cannot be set.
    fn age(&self, start: u64) -> Option<Duration> {
        let ticks = rustix::param::clock_ticks_per_second();
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let now = Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?);
        let started = Duration::from_millis(start.checked_mul(1000)?.checked_div(ticks)?);
        now.checked_sub(started)
    }

    fn files(&self, at: &Path) -> Result<Vec<ProcessFiles>> {
        self.check()?;
        let entries = fs::read_dir("/proc").map_err(|cause| unreadable(&cause))?;
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        Ok(pids.map(|pid| self.files_of(pid, at)).collect())
    }
}

impl ProcFolder {
    fn files_of(&self, pid: i32, at: &Path) -> ProcessFiles {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let folder = match fs::read_link(process.join("cwd")) {
            Ok(folder) => Some(ProcessFolder::At(folder)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
            Err(_) => Some(ProcessFolder::Unknown),
        };
        let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let open = descriptors.filter_map(|descriptor| {
            let file = fs::read_link(descriptor.path()).ok().filter(|file| file.starts_with(at))?;
            let is_for_writing = is_for_writing(&process, &descriptor.file_name());
            Some(OpenFile { is_itself: file == at, is_for_writing })
        });
        ProcessFiles { pid, name: self.name(pid), folder, open: open.collect() }
    }
}

/// True if the octal flags say that the file is open for writing: the last two bits are 0 for read-only.
fn is_for_writing(process: &Path, descriptor: &OsStr) -> bool {
    let about = fs::read_to_string(process.join("fdinfo").join(descriptor)).unwrap_or_default();
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & 3 != 0)
}

/// A process in the table, if that shows it.
pub(super) fn look(pid: i32) -> Result<Option<Stat>> {
    match fs::read(format!("/proc/{pid}/stat")) {
        Ok(line) => Ok(parse(&line)),
        // Where it may not be read, it is of another user.
        Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            Ok(None)
        }
        Err(cause) if cause.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(None),
        Err(cause) => Err(unreadable(&cause)),
    }
}

fn unreadable(cause: &io::Error) -> Error {
    unknown(&format!("/proc: {cause}"))
}

fn without_itself() -> Error {
    unknown("/proc does not even show this process")
}

/// The contents of this file of a process in `/proc`; empty for another user's, or one that is gone.
///
/// A process that changes its program has neither an environment nor a command line for a moment, in which it must not look like a
/// stranger: it is looked at again.
fn words(pid: i32, name: &str) -> Vec<u8> {
    const LOOKS: u32 = 100;
    const SURE: u32 = 5;
    const PAUSE: Duration = Duration::from_millis(1);
    let read = |name: &str| at_once(&format!("/proc/{pid}/{name}")).unwrap_or_default();
    let has_any = || ["environ", "cmdline"].iter().any(|name| !read(name).is_empty());
    // One of the system itself has none, and neither has one that has ended.
    let has_program = || fs::read_link(format!("/proc/{pid}/exe")).is_ok();
    let found = read(name);
    if !found.is_empty() {
        return found;
    }
    let mut looks_without = 0;
    for _ in 0..LOOKS {
        // Before the other: afterwards its next program may have begun.
        let has_any = has_any();
        let found = read(name);
        if !found.is_empty() || !has_program() {
            return found;
        }
        looks_without += u32::from(has_any);
        if looks_without == SURE {
            return found;
        }
        thread::sleep(PAUSE);
    }
    Vec::new()
}

/// The contents of a file of `/proc`, by one call: what is read in parts ends early if the process changes its program between them.
fn at_once(path: &str) -> io::Result<Vec<u8>> {
    // The most that the system gives a program as its arguments and environment.
    const LONGEST: usize = 6 << 20;
    let file = fs::File::open(path)?;
    // To write zeros first would cost more than everything else here.
    let mut bytes = Vec::with_capacity(LONGEST);
    rustix::io::read(&file, spare_capacity(&mut bytes))?;
    bytes.shrink_to_fit();
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Option<Stat> {
    const STARTTIME: usize = 22;
    const THREADS: usize = 20;
    const SESSION: usize = 6;
    // The second field is the program's name in parentheses and may contain anything.
    let end_of_name = bytes.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(bytes.get(end_of_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let letter = *fields.next()?.as_bytes().first()?;
    let mut number = || fields.next()?.parse::<i32>().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let threads: u32 = fields.nth(THREADS - SESSION - 1)?.parse().ok()?;
    let start = fields.nth(STARTTIME - THREADS - 1)?.parse().ok()?;
    let state = match letter {
        // A process whose first thread has ended looks like a zombie, and keeps its files open as long as another thread lives.
        b'Z' | b'X' if threads <= 1 => ProcessState::Ended,
        b'T' | b't' => ProcessState::Stopped,
        _ => ProcessState::Alive,
    };
    Some(Stat { state, parent, group, session, start })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Option<(ProcessState, i32, i32, i32, u64)>) {
        let stat = expect.map(|(state, parent, group, session, start)| Stat {
            state,
            parent,
            group,
            session,
            start,
        });
        assert_eq!(parse(line.as_bytes()), stat);
    }

    #[test]
    fn stat_lines_are_read_whatever_the_program_is_called() {
        let rest = "0 -1 4194304 90 0 0 0 1 2 3 4 20 0 1 0 5551 8 9";
        check(&format!("4242 (sleep) S 1 77 66 {rest}"), Some((ProcessState::Alive, 1, 77, 66, 5551)));
        check(&format!("4242 (a) b (c d) Z 1 77 66 {rest}"), Some((ProcessState::Ended, 1, 77, 66, 5551)));
        check("4242 (sleep) S 1 77 66 0 -1", None);
        check("4242 (x) R", None);
        check("", None);
    }

    #[test]
    fn a_process_ends_with_its_last_thread() {
        let with = |state, threads| {
            let line =
                format!("4242 (node) {state} 1 77 66 0 -1 4194304 90 0 0 0 1 2 3 4 20 0 {threads} 0 5551 8");
            parse(line.as_bytes()).unwrap().state == ProcessState::Ended
        };
        let found =
            [("S", 1), ("Z", 3), ("Z", 1), ("Z", 0), ("X", 0)].map(|(state, threads)| with(state, threads));
        assert_eq!(found, [false, false, true, true, true]);
    }
}
