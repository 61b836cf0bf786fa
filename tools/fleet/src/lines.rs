//! Lines on standard error, which the processes of `orange-fleet up` share.

use std::io::Write;

/// Writes a line, and its end, with one call: another process never writes between its parts.
pub fn to_stderr(line: &str) {
    // Nobody is left to read it when standard error is closed.
    std::io::stderr().lock().write_all(format!("{line}\n").as_bytes()).unwrap_or_default();
}
