//! Collects the processes that the steps leave behind, as an init does.
//!
//! Tests detach thousands of processes. In a container without an init, each would stay in the process table after its end, and
//! every look at the table would take longer.

use std::process::{Command, ExitCode};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, wait};

use crate::Result;

/// Set for the process whose orphans are collected.
const ARE_COLLECTED: &str = "ORANGE_ORPHANS_ARE_COLLECTED";

/// Runs this command in a child, and collects what loses its parent meanwhile. `None` in that child.
pub(super) fn collect() -> Result<Option<ExitCode>> {
    if std::env::var_os(ARE_COLLECTED).is_some() {
        return end_with_parent().map(|()| None);
    }
    adopt()?;
    let own = std::env::current_exe().map_err(|cause| format!("this program cannot be found: {cause}"))?;
    let child = Command::new(own).args(std::env::args_os().skip(1)).env(ARE_COLLECTED, "1").spawn();
    let child = child.map_err(|cause| format!("this program cannot be started again: {cause}"))?;
    end_of(Pid::from_child(&child)).map(Some)
}

fn adopt() -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|cause| format!("orphans cannot be adopted: {cause}"))?;
    Ok(())
}

/// A person who ends the one that collects ends the steps, too.
fn end_with_parent() -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
        .map_err(|cause| format!("the end of the parent cannot be noticed: {cause}"))?;
    Ok(())
}

/// Collects every child that ends, until this one has.
fn end_of(child: Pid) -> Result<ExitCode> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == child => {
                let code = status.exit_status().and_then(|code| u8::try_from(code).ok());
                return Ok(code.map_or(ExitCode::FAILURE, ExitCode::from));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(cause) => return Err(format!("the steps cannot be waited for: {cause}")),
        }
    }
}
