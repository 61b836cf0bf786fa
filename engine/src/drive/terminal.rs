//! What the terminal of a pane tells about the program that reads it.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::termios::LocalModes;

use crate::Result;

/// Waits while a program leaves its keys to its terminal and one may still wait for it.
pub fn until_raw(terminal: &Path, mut may_wait: impl FnMut() -> Result<bool>) -> Result<()> {
    const PAUSE: Duration = Duration::from_millis(50);
    while is_raw(terminal) == Some(false) && may_wait()? {
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// Whether the program on this terminal reads every key as it comes, as coding agents do as soon as they listen, and does
/// not leave it to the terminal to gather lines. None where that cannot be told.
pub fn is_raw(terminal: &Path) -> Option<bool> {
    let modes = rustix::termios::tcgetattr(open(terminal)?).ok()?;
    Some(!modes.local_modes.contains(LocalModes::ICANON))
}

/// How many bytes lie in this terminal that its program has not read yet. None where that cannot be told.
pub fn unread(terminal: &Path) -> Option<u64> {
    rustix::io::ioctl_fionread(open(terminal)?).ok()
}

fn open(terminal: &Path) -> Option<OwnedFd> {
    // This process may lead a session without a terminal: it must not get this one for its own.
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(terminal, flags, Mode::empty()).ok()
}
