//! Signals: the size of the terminal, the end, a stop.

use std::io;
use std::sync::mpsc::Sender;
use std::thread;

use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;

use super::ShellNote;
use crate::model::effect::Event;

/// Passes signals on from now on.
pub(super) fn watch(sender: Sender<ShellNote>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGCONT, SIGTSTP])?;
    let pass_on = move || {
        for signal in signals.forever() {
            let note = match signal {
                SIGTERM | SIGHUP | SIGINT => ShellNote::Event(Event::End),
                SIGTSTP => ShellNote::Suspend,
                SIGCONT => ShellNote::Redraw,
                _ => match crossterm::terminal::size() {
                    Ok((columns, lines)) => ShellNote::Event(Event::Resize(columns, lines)),
                    Err(_) => continue,
                },
            };
            if sender.send(note).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(pass_on).map(drop)
}

/// Stops this process until it is continued.
pub(super) fn stop_this() {
    // A stop that is not possible is none.
    kill_process(getpid(), Signal::STOP).unwrap_or_default();
}
