//! The first program inside a wall: a port of its own loopback that leads to the proxy outside, and then the harness.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::proxy::connect;
use super::pump::pump;
use crate::{Error, ErrorKind, Result};
use orange_system::exec::ProgramCall;

/// The port inside that leads to the proxy.
pub const PORT: u16 = 3128;

/// The time without a byte after which a connection ends; the proxy ends it earlier.
const LONGEST_IDLE: Duration = Duration::from_secs(60 * 60);

/// Starts the bridge to the proxy's socket beside this process, and becomes the harness. `bridge` is the call of this program that
/// runs [`bridge`]. Returns only on failure.
pub fn become_harness(bridge: ProgramCall, words: &[OsString]) -> Error {
    let Some((program, arguments)) = words.split_first() else {
        return Error::new(ErrorKind::Usage, "no program is named that runs inside the wall")
            .help("name it after `--`");
    };
    match begin(bridge) {
        Ok(()) => ProgramCall::new(program).args(arguments).become_it(),
        Err(error) => error,
    }
}

fn begin(bridge: ProgramCall) -> Result<()> {
    let mut child = bridge.beside()?;
    // It writes one byte when it listens, and closes the pipe when it fails.
    let said = child.stdout.take().map(|mut pipe| pipe.read(&mut [0]));
    if matches!(said, Some(Ok(1))) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Environment, "the wall has no path to its proxy")
        .help("`orange agent inside --bridge`, run by hand in the wall, says why"))
}

/// Passes connections to a port of the loopback on to this socket, until it is killed. `ready` is called when it listens.
pub fn bridge(socket: &Path, port: u16, ready: impl FnOnce() -> io::Result<()>) -> Result<Infallible> {
    let fail = |cause: io::Error| {
        Error::new(ErrorKind::Environment, format!("cannot listen on port {port} of the wall: {cause}"))
            .help("no other program of the wall may use that port")
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(fail)?;
    ready().map_err(fail)?;
    loop {
        let Ok((mut client, _)) = listener.accept() else {
            // Too many files are open: one will be closed.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let socket = socket.to_owned();
        // Without a proxy, or without a thread, the connection is closed.
        let passing = move || match connect(&socket) {
            Ok(mut upstream) => pump(&mut client, &mut upstream, LONGEST_IDLE).unwrap_or_default(),
            Err(_) => drop(client),
        };
        drop(thread::Builder::new().stack_size(256 * 1024).spawn(passing));
    }
}
