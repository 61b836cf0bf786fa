//! Reads both pipes of a child while feeding its input, so that no pipe blocks another.

use std::io::{self, Read, Write};
use std::process::Child;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions};

use super::captured::{Bound, CapturedOutput};
use super::{ProgramInput, StopReason};

/// Time for which a program's pipes may stay open after its end: a background process, such as an `ssh` connection master, may hold
/// them for ever.
const LINGER: Duration = Duration::from_millis(500);

/// The time between two looks whether anybody still wants its output.
const LOOK: Duration = Duration::from_millis(100);

/// The output of a running child.
pub(super) struct Gathering {
    events: Receiver<Event>,
    stdout: Gathered,
    stderr: Gathered,
}

type Gathered = Arc<Mutex<CapturedOutput>>;

enum Event {
    Exited,
    Closed,
}

impl Gathering {
    /// Begins to read what the child writes, within these limits, and to write its input. `most` is for its standard output.
    pub(super) fn begin(
        child: &mut Child,
        input: Option<ProgramInput>,
        most: usize,
        bound: Option<Bound>,
    ) -> Gathering {
        let (sender, events) = mpsc::channel();
        feed(child.stdin.take(), input);
        let stdout = drain(child.stdout.take(), CapturedOutput::new(most, bound.clone()), &sender);
        let stderr = drain(child.stderr.take(), CapturedOutput::new(usize::MAX, bound), &sender);
        announce_exit(child, sender);
        Gathering { events, stdout, stderr }
    }

    /// Waits until it has ended and closed its pipes, or [`LINGER`] after its end has passed. The error says why it does not wait
    /// any longer.
    pub(super) fn ends_within(
        &self,
        bound: Duration,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(), StopReason> {
        let mut until = Instant::now() + bound;
        let mut exited = false;
        let mut open_pipes = 2;
        while !exited || open_pipes > 0 {
            let left = until.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left.min(LOOK)) {
                Ok(Event::Closed) => open_pipes -= 1,
                Ok(Event::Exited) => {
                    exited = true;
                    until = until.min(Instant::now() + LINGER);
                }
                Err(_) if !exited && !is_wanted() => return Err(StopReason::Unwanted),
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(_) => return if exited { Ok(()) } else { Err(StopReason::Late) },
            }
        }
        Ok(())
    }

    /// Its standard output and its standard error.
    pub(super) fn taken(self) -> (Vec<u8>, Vec<u8>) {
        (taken(&self.stdout), taken(&self.stderr))
    }
}

fn feed(pipe: Option<impl Write + Send + 'static>, input: Option<ProgramInput>) {
    if let (Some(mut pipe), Some(ProgramInput(write))) = (pipe, input) {
        // A program that stops reading reports the reason itself.
        thread::spawn(move || write(&mut pipe));
    }
}

fn drain(
    pipe: Option<impl Read + Send + 'static>,
    captured: CapturedOutput,
    events: &Sender<Event>,
) -> Gathered {
    let gathered = Arc::new(Mutex::new(captured));
    let (sink, events) = (Arc::clone(&gathered), events.clone());
    thread::spawn(move || {
        let mut chunk = vec![0; 1 << 16];
        let mut pipe = pipe;
        while let Some(length) = pipe.as_mut().and_then(|pipe| read_some(pipe, &mut chunk)) {
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..length]);
        }
        events.send(Event::Closed)
    });
    gathered
}

fn read_some(pipe: &mut impl Read, chunk: &mut [u8]) -> Option<usize> {
    loop {
        match pipe.read(chunk) {
            Ok(length) => return Some(length).filter(|&length| length > 0),
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => (),
            Err(_) => return None,
        }
    }
}

/// Reports the end of the child without reaping it, so that its id stays its own.
fn announce_exit(child: &Child, events: Sender<Event>) {
    let pid = Pid::from_child(child);
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(rustix::process::waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
        events.send(Event::Exited)
    });
}

fn taken(gathered: &Mutex<CapturedOutput>) -> Vec<u8> {
    gathered.lock().unwrap_or_else(PoisonError::into_inner).take()
}
