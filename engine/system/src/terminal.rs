//! The state of a pane's terminal.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::termios::LocalModes;

use crate::Result;

/// Waits while a program does not read single keys and `may_wait` holds.
pub fn until_raw(terminal: &Path, mut may_wait: impl FnMut() -> Result<bool>) -> Result<()> {
    const PAUSE: Duration = Duration::from_millis(50);
    while is_raw(terminal) == Some(false) && may_wait()? {
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// True if the program on this terminal reads single keys, as coding agents do once they listen, instead of lines. `None` if that
/// is unknown.
pub fn is_raw(terminal: &Path) -> Option<bool> {
    let modes = rustix::termios::tcgetattr(open(terminal)?).ok()?;
    Some(!modes.local_modes.contains(LocalModes::ICANON))
}

/// The number of bytes in this terminal that its program has not read. `None` if that is unknown.
pub fn unread(terminal: &Path) -> Option<u64> {
    rustix::io::ioctl_fionread(open(terminal)?).ok()
}

/// Writes to a terminal without waiting for it. Returns whether it has taken everything.
pub fn write(terminal: &Path, bytes: &[u8]) -> bool {
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(terminal) = rustix::fs::open(terminal, flags, Mode::empty()) else { return false };
    let is_terminal = rustix::termios::isatty(&terminal);
    is_terminal && rustix::io::write(&terminal, bytes).is_ok_and(|written| written == bytes.len())
}

fn open(terminal: &Path) -> Option<OwnedFd> {
    // This process may lead a session without a terminal, and must not acquire this one.
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(terminal, flags, Mode::empty()).ok()
}
