//! The time of processors that the programs of a step use.

use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::process_stat::ProcessStat;

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
    let used = ProcessStat::of(child.id()).map(|stat| stat.used);
    Ok(Some(Ended { status: child.wait()?, used }))
}

fn has_ended(child: &Child) -> std::io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_computes_uses_time() {
        let count = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
        let mut child = std::process::Command::new("sh").args(["-c", count]).spawn().unwrap();
        let ended = wait_until(&mut child, None).unwrap().unwrap();
        assert!(ended.status.success() && ended.used.is_some_and(|used| used > Duration::ZERO));
    }
}
