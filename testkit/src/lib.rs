//! Helpers of tests, for every package: waiting for a condition, programs that a test writes, packages of npm, random numbers, and a plan.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

pub mod npm;
pub mod plan;
mod random;

pub use random::Random;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Limit for a condition: far longer than anything takes, on a busy machine too.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Time between two looks at a condition.
const LOOK: Duration = Duration::from_millis(10);

/// Waits until a condition holds.
///
/// # Panics
/// It does not hold within [`PATIENCE`].
#[track_caller]
pub fn until(what: &str, holds: impl FnMut() -> bool) {
    until_within(PATIENCE, what, holds);
}

/// Waits until a condition holds, with another limit.
///
/// # Panics
/// It does not hold within the limit.
#[track_caller]
pub fn until_within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "waited {limit:?} in vain until {what}");
        thread::sleep(LOOK);
    }
}

/// Writes a program, at once: a process that runs it at that moment runs the old one or the new one, whole. Only a process of its own
/// has the file open meanwhile: a program that another test starts at that moment would inherit it from this one, and the program could
/// not be run until then.
///
/// # Panics
/// The program cannot be written.
#[track_caller]
pub fn write_program(file: &Path, script: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", "cat >\"$0.new\" && chmod 755 \"$0.new\" && mv -f \"$0.new\" \"$0\""])
        .arg(file)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success(), "{}", file.display());
}

/// Makes a named pipe. The system call for it is not the same everywhere, and the program is.
///
/// # Panics
/// It cannot be made.
#[track_caller]
pub fn make_fifo(path: &Path) {
    let made = Command::new("mkfifo").args(["-m", "600"]).arg(path).status().unwrap();
    assert!(made.success(), "mkfifo {}: {made}", path.display());
}
