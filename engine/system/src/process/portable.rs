//! The processes of a system without `/proc`, by the crate `sysinfo` and by `lsof`. The tests run it on Linux, too.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::lsof;
use super::processes::{ProcessFiles, ProcessState, Processes, Stat, unknown};
use crate::{Error, Result, fault, files};

/// Looks at a process that changes meanwhile, and the time between two of them.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(2);

/// Programs of the system, whose environments macOS shows nobody. Only the tests on Linux need their names.
const APPLE_S: [&str; 16] = [
    "awk", "bash", "cat", "cp", "dash", "env", "nohup", "perl", "rm", "sed", "setsid", "sh", "sleep", "tail",
    "tee", "zsh",
];

/// The processes by `sysinfo`, the system calls about one process, and `lsof`.
pub(super) struct Portable;

impl Processes for Portable {
    fn all(&self) -> Result<BTreeMap<i32, Stat>> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        // A list of processes that grows while it is read can be empty.
        for _ in 0..LOOKS {
            let Ok(mut system) = System::new() else { break };
            system.refresh_processes_specifics(ProcessesToUpdate::All, true, facts());
            let found = system.processes().values();
            let table: BTreeMap<i32, Stat> = found.filter_map(|process| stat(process).ok()).collect();
            if table.contains_key(&own) {
                return Ok(table);
            }
            thread::sleep(PAUSE);
        }
        Err(without_itself())
    }

    fn one(&self, pid: i32) -> Result<Option<Stat>> {
        let number = Some(pid).filter(|pid| *pid > 0).and_then(rustix::process::Pid::from_raw);
        let Some(number) = number else { return Ok(None) };
        for _ in 0..LOOKS {
            if let Some(found) = look(pid, facts(), stat) {
                return found.map(|(_, stat)| Some(stat));
            }
            // Only this proves that there is no such process: what is not shown may be hidden.
            if rustix::process::test_kill_process(number) == Err(Errno::SRCH) {
                return self.check().map(|()| None);
            }
            // A zombie can still be sent a signal, and has no session any more.
            if cfg!(target_os = "macos") && rustix::process::getsid(Some(number)) == Err(Errno::SRCH) {
                return self.check().map(|()| None);
            }
            thread::sleep(PAUSE);
        }
        Err(hidden(pid))
    }

    fn check(&self) -> Result<()> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        match look(own, facts(), stat) {
            Some(Ok(_)) => Ok(()),
            Some(Err(_)) | None => Err(without_itself()),
        }
    }

    fn environment(&self, pid: i32) -> Vec<u8> {
        let is_hidden = |process: &sysinfo::Process| {
            fault::lacks("environments") && APPLE_S.iter().any(|name| process.name() == *name)
        };
        let shown = |process: &sysinfo::Process| match is_hidden(process) {
            true => Vec::new(),
            false => bytes(process.environ()),
        };
        unchanging(pid, facts().with_environ(UpdateKind::Always), shown)
    }

    fn command(&self, pid: i32) -> Vec<u8> {
        unchanging(pid, facts(), |process| bytes(process.cmd()))
    }

    fn hides_environments(&self) -> bool {
        cfg!(target_os = "macos") || fault::lacks("environments")
    }

    fn is_own(&self, pid: i32) -> bool {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let path = |process: &sysinfo::Process| process.exe().map(Path::to_owned);
        let program = |pid| look(pid, facts().with_exe(UpdateKind::Always), path).flatten();
        match (program(own), program(pid)) {
            (Some(own), Some(other)) => is_same_program(&own, &other),
            (None, _) | (_, None) => false,
        }
    }

    fn name(&self, pid: i32) -> String {
        look(pid, facts(), |process| process.name().to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// By the clock, which can be set: nothing else shows the start.
    fn age(&self, start: u64) -> Option<Duration> {
        SystemTime::now().duration_since(UNIX_EPOCH.checked_add(Duration::from_secs(start))?).ok()
    }

    fn files(&self, at: &Path) -> Result<Vec<ProcessFiles>> {
        lsof::files(at)
    }
}

/// The least that is asked for. The arguments are among it: a process without any is changing its program.
fn facts() -> ProcessRefreshKind {
    ProcessRefreshKind::nothing().without_tasks().with_cmd(UpdateKind::Always)
}

/// The value that `read` finds in a process, if that is shown.
fn look<T>(pid: i32, what: ProcessRefreshKind, read: impl FnOnce(&sysinfo::Process) -> T) -> Option<T> {
    let pid = sysinfo::Pid::from_u32(u32::try_from(pid).ok()?);
    let mut system = System::new().ok()?;
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, what);
    system.process(pid).map(read)
}

/// The bytes that `read` finds in a process that is not just changing its program: then it has no arguments for a moment.
fn unchanging(pid: i32, what: ProcessRefreshKind, read: impl Fn(&sysinfo::Process) -> Vec<u8>) -> Vec<u8> {
    for _ in 0..LOOKS {
        let is_changing = |process: &sysinfo::Process| {
            process.cmd().is_empty() && stat(process).is_ok_and(|(_, stat)| stat.state != ProcessState::Ended)
        };
        let found = look(pid, what, |process| (!is_changing(process)).then(|| read(process)));
        match found {
            Some(Some(bytes)) => return bytes,
            Some(None) => thread::sleep(PAUSE),
            None => return Vec::new(),
        }
    }
    Vec::new()
}

/// The facts of a process, after its number.
///
/// # Errors
/// It is another user's, of whose processes macOS shows only names.
fn stat(process: &sysinfo::Process) -> Result<(i32, Stat)> {
    let pid = process.pid().as_u32().cast_signed();
    let start = process.start_time();
    if start == 0 {
        return Err(hidden(pid));
    }
    let status = process.status();
    let state = if matches!(status, ProcessStatus::Zombie | ProcessStatus::Dead) && is_whole(pid) {
        ProcessState::Ended
    } else if matches!(status, ProcessStatus::Stop | ProcessStatus::Tracing) {
        ProcessState::Stopped
    } else {
        ProcessState::Alive
    };
    let number = |pid: Option<sysinfo::Pid>| pid.map_or(0, |pid| pid.as_u32().cast_signed());
    let (parent, session) = (number(process.parent()), number(process.session_id()));
    Ok((pid, Stat { state, parent, group: group(pid), session, start }))
}

/// The group of a process. In a container, the system call has no number for a group from outside.
#[cfg(target_os = "linux")]
fn group(pid: i32) -> i32 {
    super::proc_folder::look(pid).ok().flatten().map_or(0, |stat| stat.group)
}

/// The group of a process.
#[cfg(not(target_os = "linux"))]
fn group(pid: i32) -> i32 {
    let group = rustix::process::Pid::from_raw(pid).map(|pid| rustix::process::getpgid(Some(pid)));
    group.and_then(std::result::Result::ok).map_or(0, |group| group.as_raw_nonzero().get())
}

/// True if no thread of what looks like a zombie lives: on Linux the first thread of a process can end before the others.
#[cfg(target_os = "linux")]
fn is_whole(pid: i32) -> bool {
    let found = super::proc_folder::look(pid);
    found.is_ok_and(|stat| stat.is_none_or(|stat| stat.state == ProcessState::Ended))
}

#[cfg(not(target_os = "linux"))]
fn is_whole(_: i32) -> bool {
    true
}

/// Words with a zero byte after each.
fn bytes(words: &[OsString]) -> Vec<u8> {
    words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect()
}

/// True if these paths, as they were given at the starts of two processes, are of one program.
fn is_same_program(one: &Path, other: &Path) -> bool {
    if one.is_absolute() && other.is_absolute() {
        return one == other || files::real(one) == files::real(other);
    }
    one.file_name() == other.file_name()
}

fn without_itself() -> Error {
    unknown("the system does not even show this process")
}

fn hidden(pid: i32) -> Error {
    unknown(&format!("process {pid} exists, and the system does not show what it is"))
}
