//! The time of processors that the programs of a step use.

use std::fs;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Time between two looks at a program.
const LOOK: Duration = Duration::from_millis(100);

/// A program that has ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// Its time of processors, with that of the programs for which it has waited, where `/proc` says it.
    pub(super) used: Option<Duration>,
}

/// Waits for the end of a program. `None` if it still runs at the deadline.
pub(super) fn wait_until(child: &mut Child, deadline: Option<Instant>) -> std::io::Result<Option<Ended>> {
    while !has_ended(child)? {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
    // The system forgets it with the wait.
    let used = used_by(child.id());
    Ok(Some(Ended { status: child.wait()?, used }))
}

fn has_ended(child: &Child) -> std::io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

fn used_by(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(Duration::from_millis(ticks(&stat)? * 1000 / rustix::param::clock_ticks_per_second()))
}

/// Its own user and system time, and that of its children: the fields 14 to 17. The name, in parentheses, is the second.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11).map(|field| field.parse::<u64>().ok());
    Some(times.next()?? + times.next()?? + times.next()?? + times.next()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_and_that_of_children_are_added() {
        let line = "42 (a b) c) Z 1 42 42 0 -1 4194304 90 0 0 0 1 20 300 4000 20 0 1 0 5551";
        assert_eq!(ticks(line), Some(4321));
        assert_eq!(ticks("42 (short) Z 1"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_computes_uses_time() {
        let count = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
        let mut child = std::process::Command::new("sh").args(["-c", count]).spawn().unwrap();
        let ended = wait_until(&mut child, None).unwrap().unwrap();
        assert!(ended.status.success() && ended.used.is_some_and(|used| used > Duration::ZERO));
    }
}
