//! The proxy of a wall: the only path from its agent to the network. It listens on a socket file, which is mounted into the wall, and
//! connects to the hosts of a list.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use super::pump::pump;
use super::request::{LONGEST_HEAD, ProxyRequest, answer, head_length, parse};
use crate::{Error, Result};
use orange_core::host::{HostName, HostPattern, allows, allows_address, shown};
use orange_core::wall::Network;

/// The connections at once; further ones wait. Each has two files open, and a process may have 1,024.
const AT_ONCE: usize = 256;

/// The time for a head to arrive.
const TO_ASK: Duration = Duration::from_secs(10);

/// The time to reach a host.
const TO_CONNECT: Duration = Duration::from_secs(20);

/// The time without a byte after which a connection ends.
const LONGEST_IDLE: Duration = Duration::from_secs(30 * 60);

/// The time for a refused client to read its answer.
const TO_LEAVE: Duration = Duration::from_secs(2);

/// The reads of what a refused client still sends.
const MOST_DRAINED: usize = 64;

/// The hosts that are counted one by one.
const MOST_COUNTED: usize = 64;

/// The longest path of a socket that every system takes.
const LONGEST_PATH: usize = 90;

/// The stack of a thread with one connection.
const STACK: usize = 256 * 1024;

/// The hosts that a wall opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyRules {
    pub network: Network,
    /// The list: hosts of the harness, and with [`Network::Listed`] those that a person grants.
    pub hosts: Vec<HostPattern>,
}

/// Receives each refused host, with the number of its refusals.
pub type OnRefused = dyn Fn(&str, u64) + Send + Sync;

/// A running proxy, which stops when it is dropped. Connections end with the process.
#[derive(Debug)]
pub struct Proxy {
    path: PathBuf,
    is_stopped: Arc<AtomicBool>,
}

struct Shared {
    rules: ProxyRules,
    refused: Box<OnRefused>,
    counted: Mutex<BTreeMap<String, u64>>,
    open: Mutex<usize>,
    closed: Condvar,
    longest_wait: Duration,
}

impl Proxy {
    /// Listens at this path.
    pub fn start(
        path: &Path,
        rules: ProxyRules,
        refused: impl Fn(&str, u64) + Send + Sync + 'static,
    ) -> Result<Proxy> {
        Proxy::with_patience(path, rules, Box::new(refused), TO_ASK)
    }

    fn with_patience(
        path: &Path,
        rules: ProxyRules,
        refused: Box<OnRefused>,
        longest_wait: Duration,
    ) -> Result<Proxy> {
        let listener = listen(path).map_err(|cause| Error::io("listen at", path, &cause))?;
        let shared = Arc::new(Shared {
            rules,
            refused,
            counted: Mutex::default(),
            open: Mutex::default(),
            closed: Condvar::new(),
            longest_wait,
        });
        let is_stopped = Arc::new(AtomicBool::new(false));
        let proxy = Proxy { path: path.to_owned(), is_stopped: Arc::clone(&is_stopped) };
        let accepting = move || accept_all(&listener, &shared, &is_stopped);
        thread::Builder::new().spawn(accepting).map_err(|cause| Error::io("listen at", path, &cause))?;
        Ok(proxy)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // The listener looks when a connection comes. A proxy that nothing can connect to has ended.
        drop(connect(&self.path));
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

/// Listens at a path of any length; a socket that a killed process has left there is replaced.
fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        Ok(()) | Err(_) => {}
    }
    by_short_path(path, UnixListener::bind)
}

/// Connects to a socket at a path of any length.
pub(super) fn connect(path: &Path) -> io::Result<UnixStream> {
    by_short_path(path, UnixStream::connect)
}

/// Calls this with a path to the same file that fits into the address of a socket.
fn by_short_path<T>(path: &Path, call: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if path.as_os_str().as_bytes().len() <= LONGEST_PATH {
        return call(path.to_owned());
    }
    let folder =
        rustix::fs::open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    call(Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))
}

fn accept_all(listener: &UnixListener, shared: &Arc<Shared>, is_stopped: &AtomicBool) {
    loop {
        shared.wait_for_room();
        let accepted = listener.accept();
        if is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok((client, _)) = accepted else {
            // Too many files are open: one will be closed.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        *shared.open.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let own = Arc::clone(shared);
        let serving = move || {
            // A connection that fails is closed, and the agent's program reports it.
            own.serve(client).unwrap_or_default();
            own.leave();
        };
        if thread::Builder::new().stack_size(STACK).spawn(serving).is_err() {
            shared.leave();
        }
    }
}

impl Shared {
    fn wait_for_room(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.closed.wait_while(open, |open| *open >= AT_ONCE).unwrap_or_else(PoisonError::into_inner));
    }

    fn leave(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.closed.notify_one();
    }

    fn serve(&self, mut client: UnixStream) -> io::Result<()> {
        client.set_write_timeout(Some(self.longest_wait))?;
        let Some((head, rest)) = self.read_head(&mut client)? else {
            let too_long = answer(431, "Request Header Fields Too Large", "the request is too long");
            return refuse(&mut client, &too_long);
        };
        let request = match parse(&head) {
            Ok(request) => request,
            Err(flaw) => return refuse(&mut client, &answer(400, "Bad Request", &flaw.text())),
        };
        let (host, port) = request.target();
        let mut upstream = match self.reach(host, port) {
            Ok(upstream) => upstream,
            Err(refusal) => return refuse(&mut client, &refusal),
        };
        match &request {
            ProxyRequest::Tunnel { .. } => {
                client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?
            }
            ProxyRequest::Plain { head, .. } => upstream.write_all(head)?,
        }
        upstream.write_all(&rest)?;
        pump(&mut client, &mut upstream, LONGEST_IDLE)
    }

    /// The head of a request, and what came after it; `None` if it is too long.
    fn read_head(&self, client: &mut UnixStream) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        let deadline = Instant::now() + self.longest_wait;
        let mut bytes = Vec::new();
        let mut part = vec![0; 4096];
        loop {
            if let Some(length) = head_length(&bytes) {
                let rest = bytes.split_off(length);
                return Ok(Some((bytes, rest)));
            }
            if bytes.len() > LONGEST_HEAD {
                return Ok(None);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            client.set_read_timeout(Some(left))?;
            match client.read(&mut part)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => bytes.extend_from_slice(&part[..length]),
            }
        }
    }

    /// A connection to a host, or the answer that refuses it.
    fn reach(&self, host: &HostName, port: u16) -> std::result::Result<TcpStream, Vec<u8>> {
        let target = shown(host, port);
        if !allows(self.rules.network, &self.rules.hosts, host, port) {
            self.count(&target);
            return Err(not_listed(&target));
        }
        let found = addresses(host, port).map_err(|cause| not_found(&target, &cause.to_string()))?;
        let (open, closed): (Vec<SocketAddr>, Vec<SocketAddr>) =
            found.into_iter().partition(|found| allows_address(&self.rules.hosts, found.ip(), port));
        if let (true, Some(closed)) = (open.is_empty(), closed.first()) {
            self.count(&target);
            return Err(at_home(&target, &shown(&HostName::Address(closed.ip()), port)));
        }
        let mut why = "it has no address".to_owned();
        for address in open {
            match TcpStream::connect_timeout(&address, TO_CONNECT) {
                Ok(upstream) => return Ok(upstream),
                Err(cause) => why = cause.to_string(),
            }
        }
        Err(not_found(&target, &why))
    }

    /// Counts a refusal.
    fn count(&self, target: &str) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let name =
            if counted.len() < MOST_COUNTED || counted.contains_key(target) { target } else { "other hosts" };
        let count = counted.entry(name.to_owned()).or_default();
        *count += 1;
        let count = *count;
        drop(counted);
        (self.refused)(name, count);
    }
}

/// Answers, and reads what is still under way: a connection that is closed before that loses its answer.
fn refuse(client: &mut UnixStream, answer: &[u8]) -> io::Result<()> {
    client.write_all(answer)?;
    client.shutdown(Shutdown::Write)?;
    client.set_read_timeout(Some(TO_LEAVE))?;
    let mut part = vec![0; 4096];
    for _ in 0..MOST_DRAINED {
        if client.read(&mut part)? == 0 {
            break;
        }
    }
    Ok(())
}

fn addresses(host: &HostName, port: u16) -> io::Result<Vec<SocketAddr>> {
    match host {
        HostName::Address(address) => Ok(vec![SocketAddr::new(*address, port)]),
        HostName::Name(name) => (name.as_str(), port).to_socket_addrs().map(Iterator::collect),
    }
}

fn not_listed(target: &str) -> Vec<u8> {
    let text = format!(
        "{target} is not open in the wall of this agent. A person opens it in `orange.toml` of the project: \
         `[sandbox]` with `hosts = [\"{target}\"]`"
    );
    answer(403, &format!("{target} is not open in this wall"), &text)
}

fn at_home(target: &str, address: &str) -> Vec<u8> {
    let text = format!(
        "{target} leads to {address}, which is this machine or a network of it. A person opens it by its address in \
         `orange.toml` of the project: `[sandbox]` with `hosts = [\"{address}\"]`"
    );
    answer(403, &format!("{target} is not open in this wall"), &text)
}

fn not_found(target: &str, why: &str) -> Vec<u8> {
    answer(502, "Bad Gateway", &format!("{target} cannot be reached: {why}"))
}

#[cfg(test)]
mod tests;
