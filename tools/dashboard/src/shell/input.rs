//! A thread that reads keys and the mouse. It can be paused, so that another program may have the terminal.
//!
//! `crossterm` reads with `use-dev-tty`, by `poll`: its other source waits for edges, and loses keys that come with a new size.

use std::io::{self, PipeReader, PipeWriter, Read, Write, stdin};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event as Typed};
use rustix::event::{PollFd, PollFlags, poll};

use super::Note;
use crate::model::effect::Event;

/// Without any time, `crossterm` looks at nothing.
const SOON: Duration = Duration::from_millis(1);

const PAUSE: u8 = b'p';
const RESUME: u8 = b'r';
const END: u8 = b'e';

/// The thread.
pub(super) struct Input {
    control: PipeWriter,
    paused: Receiver<()>,
}

impl Input {
    /// Starts it.
    pub(super) fn start(sender: Sender<Note>) -> io::Result<Input> {
        let (reader, control) = io::pipe()?;
        let (pauses, paused) = channel();
        thread::Builder::new().name("input".to_owned()).spawn(move || read(&sender, reader, &pauses))?;
        Ok(Input { control, paused })
    }

    /// Returns when nothing is read any more.
    pub(super) fn pause(&mut self) {
        self.command(PAUSE);
        // Without the thread, nothing is read either.
        self.paused.recv().unwrap_or_default();
    }

    /// Reads again.
    pub(super) fn resume(&mut self) {
        self.command(RESUME);
    }

    /// Ends it.
    pub(super) fn end(&mut self) {
        self.command(END);
    }

    fn command(&mut self, command: u8) {
        // The thread ends only with the terminal.
        self.control.write_all(&[command]).unwrap_or_default();
    }
}

fn read(sender: &Sender<Note>, mut control: PipeReader, pauses: &Sender<()>) {
    loop {
        let keys = stdin();
        let mut ready = [PollFd::new(&keys, PollFlags::IN), PollFd::new(&control, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
        }
        let [typed, asked] = [!ready[0].revents().is_empty(), !ready[1].revents().is_empty()];
        if asked && !obey(&mut control, pauses) {
            return;
        }
        if typed && !asked && !pass_on(sender) {
            break;
        }
    }
    // The terminal is gone.
    sender.send(Note::Event(Event::End)).unwrap_or_default();
}

/// Whether to go on after a command.
fn obey(control: &mut PipeReader, pauses: &Sender<()>) -> bool {
    let mut command = [0];
    let mut next = || control.read_exact(&mut command).map(|()| command[0]);
    match next() {
        Ok(PAUSE) => pauses.send(()).is_ok() && matches!(next(), Ok(RESUME)),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Whether the terminal is still there.
fn pass_on(sender: &Sender<Note>) -> bool {
    loop {
        match event::poll(SOON) {
            Ok(true) => {}
            Ok(false) => return true,
            Err(_) => return false,
        }
        let event = match event::read() {
            Ok(Typed::Key(key)) => Event::Key(key),
            Ok(Typed::Mouse(mouse)) => Event::Mouse(mouse),
            Ok(Typed::Paste(text)) => Event::Paste(text),
            Ok(Typed::Resize(columns, lines)) => Event::Resize(columns, lines),
            Ok(Typed::FocusGained | Typed::FocusLost) => continue,
            Err(_) => return false,
        };
        if sender.send(Note::Event(event)).is_err() {
            return false;
        }
    }
}
