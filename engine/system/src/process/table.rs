//! The processes of the system at one moment, by `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

use super::Process;
use crate::{Error, ErrorKind, Result, variables};

/// Linux has the table in `/proc`; the other systems have none there.
const IS_EXPECTED: bool = cfg!(target_os = "linux");

/// Every process, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessTable(BTreeMap<i32, Stat>);

/// A process by `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    state: u8,
    parent: i32,
    group: i32,
    pub(super) session: i32,
    threads: u32,
    pub(super) start: u64,
}

/// The environment with which a process was started.
pub(super) struct ProcessEnvironment(Vec<u8>);

impl ProcessTable {
    /// The current table; `None` on a system that has none.
    ///
    /// # Errors
    /// `environment` where it cannot be read, or does not even show this process.
    pub(super) fn read() -> Result<Option<ProcessTable>> {
        if !IS_EXPECTED {
            return Ok(None);
        }
        let mut table = BTreeMap::new();
        for entry in fs::read_dir("/proc").map_err(|cause| unreadable(&cause))? {
            let name = entry.map_err(|cause| unreadable(&cause))?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            table.extend(look(pid)?.map(|stat| (pid, stat)));
        }
        let own = rustix::process::getpid().as_raw_nonzero().get();
        if table.contains_key(&own) { Ok(Some(ProcessTable(table))) } else { Err(without_itself()) }
    }

    /// The processes that have not ended.
    pub(super) fn alive(&self) -> impl Iterator<Item = Process> {
        let alive = self.0.iter().filter(|(_, stat)| !stat.has_ended());
        alive.map(|(pid, stat)| Process { pid: *pid, start: stat.start })
    }

    /// The children of a process that have not ended.
    pub(super) fn children(&self, parent: i32) -> impl Iterator<Item = Process> {
        self.alive().filter(move |child| self.0.get(&child.pid).is_some_and(|stat| stat.parent == parent))
    }

    /// The zombies among the children of a process.
    pub(super) fn ended_children(&self, parent: i32) -> impl Iterator<Item = i32> {
        let ended = self.0.iter().filter(move |(_, stat)| stat.parent == parent && stat.has_ended());
        ended.map(|(pid, _)| *pid)
    }

    /// True if it is in the session or the group of this process. The number of one that has ended stays taken as long as a process
    /// is in either.
    pub(super) fn follows(&self, pid: i32, leader: Process) -> bool {
        let is_replaced = self.0.get(&leader.pid).is_some_and(|stat| stat.start != leader.start);
        !is_replaced && (self.session(pid) == Some(leader.pid) || self.group(pid) == Some(leader.pid))
    }

    /// The leader of its session.
    pub(super) fn session(&self, pid: i32) -> Option<i32> {
        self.0.get(&pid).map(|stat| stat.session)
    }

    /// The leader of its group.
    pub(super) fn group(&self, pid: i32) -> Option<i32> {
        self.0.get(&pid).map(|stat| stat.group)
    }
}

impl Stat {
    /// A process whose first thread has ended looks like a zombie, and keeps its files open as long as another thread lives.
    pub(super) fn has_ended(self) -> bool {
        matches!(self.state, b'Z' | b'X') && self.threads <= 1
    }

    pub(super) fn is_stopped(self) -> bool {
        matches!(self.state, b'T' | b't')
    }
}

impl ProcessEnvironment {
    pub(super) fn has(&self, name: &str, value: &str) -> bool {
        let wanted = |variable: &[u8]| {
            let rest = variable.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            rest == Some(value.as_bytes())
        };
        self.0.split(|byte| *byte == 0).any(wanted)
    }
}

/// One process; `None` if the table shows that there is none, or on a system without a table.
///
/// # Errors
/// `environment` where the table cannot be read: then nothing proves that the process is gone.
pub(super) fn stat(pid: i32) -> Result<Option<Stat>> {
    match look(pid)? {
        Some(stat) => Ok(Some(stat)),
        None => check().map(|()| None),
    }
}

/// Refuses where the table cannot be read, or does not even show this process.
///
/// # Errors
/// `environment`.
pub(super) fn check() -> Result<()> {
    if !IS_EXPECTED {
        return Ok(());
    }
    match fs::read("/proc/self/stat") {
        Ok(line) if parse(&line).is_some() => Ok(()),
        Ok(_) => Err(without_itself()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Err(without_itself()),
        Err(cause) => Err(unreadable(&cause)),
    }
}

/// A process in the table, if that shows it.
fn look(pid: i32) -> Result<Option<Stat>> {
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

fn unknown(why: &str) -> Error {
    Error::new(ErrorKind::Environment, format!("the process table cannot be read: {why}")).help(
        "mount it (`mount -t proc proc /proc`) and try again: until then nothing shows which agents are alive, and none is started or ended",
    )
}

/// The environment of a process; empty for another user's, or one that is gone.
pub(super) fn environment(pid: i32) -> ProcessEnvironment {
    ProcessEnvironment(words(pid, "environ"))
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
    let mut bytes = vec![0; LONGEST];
    let length = fs::File::open(path)?.read(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// True if a process has this agent's variables.
pub(super) fn is_agent(pid: i32, task: &str, spawn: u32) -> bool {
    let environment = environment(pid);
    environment.has(variables::TASK, task) && environment.has(variables::SPAWN, &spawn.to_string())
}

/// True if a process has this agent's variables, or is the agent's wrapper.
pub(super) fn is_marked(pid: i32, task: &str, spawn: u32) -> bool {
    let words = words(pid, "cmdline");
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    let spawn_word = spawn.to_string();
    let wrapper = ["agent", "run", "--task", task, "--spawn", &spawn_word].map(str::as_bytes);
    words.windows(wrapper.len()).any(|some| some == wrapper) || is_agent(pid, task, spawn)
}

/// True if it is the wrapper of some agent.
pub(super) fn is_wrapper(pid: i32) -> bool {
    let words = words(pid, "cmdline");
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    words.windows(3).any(|some| some == ["agent", "run", "--task"].map(str::as_bytes))
}

/// True if it is the process that records the end of this agent.
pub(super) fn reports_end(pid: i32, task: &str, spawn: u32) -> bool {
    let words = words(pid, "cmdline");
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    let spawn_word = format!("--spawn={spawn}");
    let report = ["agent", "ended", "--task", task, &spawn_word].map(str::as_bytes);
    words.windows(report.len()).any(|some| some == report)
}

/// True if it runs the program of this process, even if the file has been replaced.
pub(super) fn is_own(pid: i32) -> bool {
    const REPLACED: &str = " (deleted)";
    let program = |name: &str| {
        let path = fs::read_link(format!("/proc/{name}/exe")).ok()?.into_os_string().into_string().ok()?;
        Some(path.strip_suffix(REPLACED).map_or(path.clone(), str::to_owned))
    };
    program("self").is_some_and(|own| program(&pid.to_string()) == Some(own))
}

/// True if it is a tmux client or server.
pub(super) fn is_tmux(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("tmux"))
}

fn parse(bytes: &[u8]) -> Option<Stat> {
    const STARTTIME: usize = 22;
    const THREADS: usize = 20;
    const SESSION: usize = 6;
    // The second field is the program's name in parentheses and may contain anything.
    let end_of_name = bytes.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(bytes.get(end_of_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let mut number = || fields.next()?.parse::<i32>().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let threads = fields.nth(THREADS - SESSION - 1)?.parse().ok()?;
    let start = fields.nth(STARTTIME - THREADS - 1)?.parse().ok()?;
    Some(Stat { state, parent, group, session, threads, start })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Option<(u8, i32, i32, i32, u64)>) {
        let stat = expect.map(|(state, parent, group, session, start)| Stat {
            state,
            parent,
            group,
            session,
            threads: 1,
            start,
        });
        assert_eq!(parse(line.as_bytes()), stat);
    }

    #[test]
    fn stat_lines_are_read_whatever_the_program_is_called() {
        let rest = "0 -1 4194304 90 0 0 0 1 2 3 4 20 0 1 0 5551 8 9";
        check(&format!("4242 (sleep) S 1 77 66 {rest}"), Some((b'S', 1, 77, 66, 5551)));
        check(&format!("4242 (a) b (c d) Z 1 77 66 {rest}"), Some((b'Z', 1, 77, 66, 5551)));
        check("4242 (sleep) S 1 77 66 0 -1", None);
        check("4242 (x) R", None);
        check("", None);
    }

    #[test]
    fn a_process_that_changes_its_program_keeps_its_variables() {
        const RUNS_ITSELF_AGAIN: &str =
            r#"test "$1" -gt 0 && exec env sh -c "$0" "$0" $(($1 - 1)); exec sleep 600"#;
        let mut command = std::process::Command::new("sh");
        command.args(["-c", RUNS_ITSELF_AGAIN, RUNS_ITSELF_AGAIN, "300"]);
        let mut child = command.env(variables::TASK, "t1").env(variables::SPAWN, "1").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let name = || fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
        let (mut looks, mut strange) = (0, 0);
        while name() != "sleep\n" {
            looks += 1;
            strange += usize::from(!is_agent(pid, "t1", 1));
        }
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(strange, 0, "of {looks} looks");
    }

    #[test]
    fn a_process_ends_with_its_last_thread() {
        let with = |state, threads| {
            let line =
                format!("4242 (node) {state} 1 77 66 0 -1 4194304 90 0 0 0 1 2 3 4 20 0 {threads} 0 5551 8");
            parse(line.as_bytes()).unwrap().has_ended()
        };
        let found =
            [("S", 1), ("Z", 3), ("Z", 1), ("Z", 0), ("X", 0)].map(|(state, threads)| with(state, threads));
        assert_eq!(found, [false, false, true, true, true]);
    }

    #[test]
    fn a_variable_is_found_whole() {
        let environment = ProcessEnvironment(b"A=1\0ORANGE_TASK=t12\0B=ORANGE_TASK=t1\0".to_vec());
        assert!(environment.has("ORANGE_TASK", "t12"));
        assert!(!environment.has("ORANGE_TASK", "t1"));
        assert!(!environment.has("ORANGE", "TASK=t12"));
    }
}
