//! The first program inside a wall, which leads the agent to its proxy.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use crate::Error;
use crate::drive::wall::inside;
use orange_system::exec::ProgramCall;

/// Starts the bridge to the proxy beside this process, and becomes the harness. Returns only on failure.
pub fn become_harness(proxy: &Path, words: &[OsString]) -> Error {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(cause) => return Error::io("find", Path::new("the program itself"), &cause),
    };
    let bridge = ProgramCall::new(program).args(["agent", "inside", "--bridge", "--proxy"]).arg(proxy);
    inside::become_harness(bridge, words)
}

/// Leads connections to the proxy until it is killed. Returns only on failure.
pub fn bridge(proxy: &Path, ready: impl FnOnce() -> io::Result<()>) -> Error {
    match inside::bridge(proxy, inside::PORT, ready) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}
