//! Ending what an agent leaves behind: every process of a terminal session, or of a process group.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::{Error, Kind, Result, fault};

/// How long processes may take to end by themselves once asked to, before they are killed.
const GRACE: Duration = Duration::from_secs(2);

/// A set of processes that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// All processes of the session that this process leads: what was started in one tmux pane and did
    /// not leave it with `setsid`.
    Session(Pid),
    /// All processes of the group that this process leads.
    Group(Pid),
}

/// Ends every process of these families, this process excepted: asks first, kills after two seconds, and
/// returns when none is left. Families without processes are fine.
///
/// Where there is no `/proc`, only the leaders' own process groups are found.
///
/// # Errors
/// `environment` when one does not even end when killed.
pub fn end(families: &[Family]) -> Result<()> {
    for signal in [Signal::TERM, Signal::KILL] {
        let left = members(families);
        if left.is_empty() {
            return Ok(());
        }
        fault::step("end", "processes");
        send(families, &left, signal);
        if gone_within(GRACE, families) {
            return Ok(());
        }
    }
    let left: Vec<String> = members(families).iter().map(|pid| pid.as_raw_nonzero().to_string()).collect();
    Err(Error::new(Kind::Environment, format!("processes that do not end when killed: {}", left.join(", "))))
}

/// Whether this process leads a session. The kernel is not asked with `getsid`: inside a container, it gives 0 for a
/// session that began outside, which is no process id.
pub fn leads_session(pid: Pid) -> bool {
    match stat(pid.as_raw_nonzero().get()) {
        Some(stat) => stat.session == pid.as_raw_nonzero().get(),
        None => cfg!(not(target_os = "linux")) && rustix::process::getsid(Some(pid)) == Ok(pid),
    }
}

/// Whether this process has ended, whoever has still to take notice of that.
#[cfg(test)]
pub(crate) fn has_ended(pid: Pid) -> bool {
    stat(pid.as_raw_nonzero().get()).is_none_or(Stat::has_ended)
}

/// A process as the kernel describes it in `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    state: u8,
    group: i32,
    session: i32,
}

impl Stat {
    fn has_ended(self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

fn members(families: &[Family]) -> Vec<Pid> {
    let own = rustix::process::getpid();
    match fs::read_dir("/proc") {
        Ok(entries) => entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|&pid| families.iter().any(|family| is_member(pid, *family)))
            .filter_map(Pid::from_raw)
            .filter(|&pid| pid != own)
            .collect(),
        Err(_) => families
            .iter()
            .map(|family| family.leader())
            .filter(|&pid| pid != own && rustix::process::test_kill_process_group(pid).is_ok())
            .collect(),
    }
}

impl Family {
    fn leader(self) -> Pid {
        match self {
            Family::Session(leader) | Family::Group(leader) => leader,
        }
    }
}

fn is_member(pid: i32, family: Family) -> bool {
    let Some(stat) = stat(pid) else {
        return false;
    };
    let leader = family.leader().as_raw_nonzero().get();
    !stat.has_ended()
        && match family {
            Family::Session(_) => stat.session == leader,
            Family::Group(_) => stat.group == leader,
        }
}

fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(bytes: &[u8]) -> Option<Stat> {
    // The second field is the program's name in parentheses and may contain anything.
    let end_of_name = bytes.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(bytes.get(end_of_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let mut number = || fields.next()?.parse::<i32>().ok();
    let (_parent, group, session) = (number()?, number()?, number()?);
    Some(Stat { state, group, session })
}

fn send(families: &[Family], members: &[Pid], signal: Signal) {
    // A process that is already gone is what is wanted.
    for &pid in members {
        rustix::process::kill_process(pid, signal).unwrap_or_default();
    }
    for family in families {
        if let Family::Group(leader) = *family {
            rustix::process::kill_process_group(leader, signal).unwrap_or_default();
        }
    }
}

fn gone_within(bound: Duration, families: &[Family]) -> bool {
    let until = Instant::now() + bound;
    let mut pause = Duration::from_millis(1);
    loop {
        if members(families).is_empty() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::drive::testing::eventually;

    #[track_caller]
    fn check(line: &str, expect: Option<(u8, i32, i32)>) {
        let stat = expect.map(|(state, group, session)| Stat { state, group, session });
        assert_eq!(parse_stat(line.as_bytes()), stat);
    }

    #[test]
    fn stat_lines_are_read_whatever_the_program_is_called() {
        check("4242 (sleep) S 1 77 66 0 -1 4194304 90", Some((b'S', 77, 66)));
        check("4242 (a) b (c d) Z 1 77 66 0", Some((b'Z', 77, 66)));
        check("4242 (x) R", None);
        check("", None);
    }

    #[test]
    fn a_session_is_found_and_ended() {
        let mut leader = Command::new("setsid").args(["sleep", "1000"]).spawn().unwrap();
        let pid = Pid::from_child(&leader);
        eventually("it leads its session", || leads_session(pid));
        assert_eq!(members(&[Family::Session(pid)]), [pid]);
        end(&[Family::Session(pid)]).unwrap();
        leader.wait().unwrap();
        assert!(!leads_session(pid));
    }
}
