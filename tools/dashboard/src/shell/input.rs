//! A thread that reads keys and the mouse. It can be paused, so that another program may have the terminal.
//!
//! `crossterm` reads with `use-dev-tty`, by `poll`: its other source waits for edges, and loses keys that come with a new size.

use std::io::{self, PipeReader, PipeWriter, Read, Write, stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event as Happened, KeyCode};
use rustix::event::{PollFd, PollFlags, poll};

use super::ShellNote;
use crate::model::effect::{Event, TypedKey};

/// Without any time, `crossterm` looks at nothing.
const SOON: Duration = Duration::from_millis(1);

/// A key that comes again within this time is held down: keyboards repeat it faster, and nobody has read anything in
/// between.
const REPEAT: Duration = Duration::from_millis(60);

const PAUSE: u8 = b'p';
const RESUME: u8 = b'r';
const END: u8 = b'e';

pub(super) struct TerminalInput {
    control: PipeWriter,
    paused: Receiver<()>,
    frames: Arc<AtomicU64>,
}

impl TerminalInput {
    pub(super) fn start(sender: Sender<ShellNote>) -> io::Result<TerminalInput> {
        let (reader, control) = io::pipe()?;
        let (pauses, paused) = channel();
        let frames = Arc::new(AtomicU64::new(0));
        let mut keys = KeySender { sender, frames: frames.clone(), last: None };
        thread::Builder::new().name("input".to_owned()).spawn(move || read(&mut keys, reader, &pauses))?;
        Ok(TerminalInput { control, paused, frames })
    }

    /// A key that is read from now on was pressed when so many frames were drawn.
    pub(super) fn has_drawn(&self, frames: u64) {
        self.frames.store(frames, Ordering::SeqCst);
    }

    /// Returns when nothing is read any more.
    pub(super) fn pause(&mut self) {
        self.command(PAUSE);
        // Without the thread, nothing is read either.
        self.paused.recv().unwrap_or_default();
    }

    pub(super) fn resume(&mut self) {
        self.command(RESUME);
    }

    pub(super) fn end(&mut self) {
        self.command(END);
    }

    fn command(&mut self, command: u8) {
        // The thread ends only with the terminal.
        self.control.write_all(&[command]).unwrap_or_default();
    }
}

/// Passes on what is read, each key with what was on the screen.
struct KeySender {
    sender: Sender<ShellNote>,
    frames: Arc<AtomicU64>,
    last: Option<(KeyCode, Instant)>,
}

fn read(keys: &mut KeySender, mut control: PipeReader, pauses: &Sender<()>) {
    loop {
        let terminal = stdin();
        let mut ready = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(&control, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
        }
        let [typed, asked] = [!ready[0].revents().is_empty(), !ready[1].revents().is_empty()];
        if asked && !obey(&mut control, pauses) {
            return;
        }
        if typed && !asked && !keys.pass_on() {
            break;
        }
    }
    // The terminal is gone.
    keys.sender.send(ShellNote::Event(Event::End)).unwrap_or_default();
}

/// Obeys a command; true if the thread goes on after it.
fn obey(control: &mut PipeReader, pauses: &Sender<()>) -> bool {
    let mut command = [0];
    let mut next = || control.read_exact(&mut command).map(|()| command[0]);
    match next() {
        Ok(PAUSE) => pauses.send(()).is_ok() && matches!(next(), Ok(RESUME)),
        Ok(_) => true,
        Err(_) => false,
    }
}

impl KeySender {
    /// Passes on what was typed; true if the terminal is still there.
    fn pass_on(&mut self) -> bool {
        // Of keys that come together, none was pressed after a frame that the first of them brings about.
        let frames = self.frames.load(Ordering::SeqCst);
        loop {
            match event::poll(SOON) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(_) => return false,
            }
            let event = match event::read() {
                Ok(Happened::Key(key)) => {
                    let is_held = self.is_held(key.code);
                    Event::Key(TypedKey { key, frames, is_held })
                }
                Ok(Happened::Mouse(mouse)) => Event::Mouse(mouse),
                Ok(Happened::Paste(text)) => Event::Paste(text),
                Ok(Happened::Resize(columns, lines)) => Event::Resize(columns, lines),
                Ok(Happened::FocusGained | Happened::FocusLost) => continue,
                Err(_) => return false,
            };
            if self.sender.send(ShellNote::Event(event)).is_err() {
                return false;
            }
        }
    }

    fn is_held(&mut self, code: KeyCode) -> bool {
        let now = Instant::now();
        let last = self.last.replace((code, now));
        last.is_some_and(|(before, at)| before == code && now.duration_since(at) < REPEAT)
    }
}
