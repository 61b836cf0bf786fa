//! Bytes between two sockets, in both directions at once, by one thread.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The bytes that wait for a slow reader.
const ROOM: usize = 32 * 1024;

/// A socket whose directions end one by one.
pub(super) trait Socket: Read + Write + AsFd {
    fn end_writing(&self) -> io::Result<()>;
    fn never_wait(&self) -> io::Result<()>;
}

impl Socket for TcpStream {
    fn end_writing(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }

    fn never_wait(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }
}

impl Socket for UnixStream {
    fn end_writing(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }

    fn never_wait(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }
}

/// One direction.
#[derive(Default)]
struct Direction {
    waiting: Vec<u8>,
    has_ended: bool,
    is_shut: bool,
}

/// Copies in both directions until both have ended, one socket fails, or nothing has moved for so long. The end of one direction is
/// passed on, and the other one goes on.
pub(super) fn pump(one: &mut impl Socket, other: &mut impl Socket, longest_idle: Duration) -> io::Result<()> {
    one.never_wait()?;
    other.never_wait()?;
    let (mut there, mut back) = (Direction::default(), Direction::default());
    // A socket without any event reports only that its other end is gone, and that again and again.
    let mut gone = [false; 2];
    let idle = Timespec::try_from(longest_idle).map_err(|_| io::ErrorKind::InvalidInput)?;
    while !(there.is_shut && back.is_shut) {
        let wanted = [wanted(&there, &back), wanted(&back, &there)];
        let is_watched = |at: usize| !wanted[at].is_empty() || !gone[at];
        let mut watched = Vec::with_capacity(2);
        if is_watched(0) {
            watched.push(PollFd::new(&*one, wanted[0]));
        }
        if is_watched(1) {
            watched.push(PollFd::new(&*other, wanted[1]));
        }
        match poll(&mut watched, Some(&idle)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
        let mut found = watched.iter().map(PollFd::revents);
        let found = [0, 1].map(|at| match is_watched(at) {
            true => found.next().unwrap_or(PollFlags::empty()),
            false => PollFlags::empty(),
        });
        drop(watched);
        gone = [0, 1].map(|at| gone[at] || found[at].intersects(PollFlags::HUP | PollFlags::ERR));
        there.step(one, other)?;
        back.step(other, one)?;
        // One that is gone takes nothing any more; what it has sent still arrives.
        if gone[0] && there.has_ended && there.waiting.is_empty()
            || gone[1] && back.has_ended && back.waiting.is_empty()
        {
            return Ok(());
        }
    }
    Ok(())
}

/// The events that a socket waits for which begins one direction and ends the other.
fn wanted(from_it: &Direction, to_it: &Direction) -> PollFlags {
    let mut wanted = PollFlags::empty();
    if !from_it.has_ended && from_it.waiting.is_empty() {
        wanted |= PollFlags::IN;
    }
    if !to_it.waiting.is_empty() {
        wanted |= PollFlags::OUT;
    }
    wanted
}

impl Direction {
    /// Moves what can be moved without waiting.
    fn step(&mut self, from: &mut impl Socket, to: &mut impl Socket) -> io::Result<()> {
        if self.waiting.is_empty() && !self.has_ended {
            let mut bytes = vec![0; ROOM];
            match from.read(&mut bytes) {
                Ok(0) => self.has_ended = true,
                Ok(length) => {
                    bytes.truncate(length);
                    self.waiting = bytes;
                }
                Err(cause) if is_later(&cause) => {}
                Err(cause) => return Err(cause),
            }
        }
        if !self.waiting.is_empty() {
            match to.write(&self.waiting) {
                Ok(length) => drop(self.waiting.drain(..length)),
                Err(cause) if is_later(&cause) => {}
                Err(cause) => return Err(cause),
            }
        }
        if self.has_ended && self.waiting.is_empty() && !self.is_shut {
            self.is_shut = true;
            // It fails where the other end is gone, which ends this direction, too.
            to.end_writing().unwrap_or_default();
        }
        Ok(())
    }
}

fn is_later(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
