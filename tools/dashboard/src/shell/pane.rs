//! Follows the pane of the selected row, and of no other.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::Sender;
use std::thread;

use super::ShellNote;
use super::orange::OrangeProgram;
use crate::model::effect::{Event, FollowedPane};
use crate::model::row::RowKind;
use orange_api::{Error, ErrorKind, Refusal, ShownPane};

/// The command that follows.
pub(super) struct PaneFollower {
    orange: OrangeProgram,
    sender: Sender<ShellNote>,
    running: Option<(FollowedPane, Child)>,
}

impl PaneFollower {
    /// It follows nothing yet.
    pub(super) fn new(orange: OrangeProgram, sender: Sender<ShellNote>) -> PaneFollower {
        PaneFollower { orange, sender, running: None }
    }

    /// Follows this pane, and no other.
    pub(super) fn follow(&mut self, followed: Option<FollowedPane>) {
        self.stop();
        let Some(followed) = followed else { return };
        let FollowedPane { kind, id, columns, lines, agents: _ } = &followed;
        let group = match kind {
            RowKind::Task => "task",
            RowKind::Mission => "mission",
        };
        let words =
            [group, "pane", id, "--follow", "--size", &format!("{columns}x{lines}")].map(str::to_owned);
        match self.orange.start(&words) {
            Ok(mut child) => {
                if let Some(output) = child.stdout.take() {
                    let (id, sender) = (id.clone(), self.sender.clone());
                    thread::spawn(move || read(BufReader::new(output), &id, &sender));
                }
                self.running = Some((followed, child));
            }
            Err(cause) => {
                let failure = Error::new(ErrorKind::Environment, format!("cannot show the agent: {cause}"));
                self.sender.send(ShellNote::Event(Event::NoPane(id.clone(), failure))).unwrap_or_default();
            }
        }
    }

    /// Follows nothing; returns what it has followed.
    pub(super) fn stop(&mut self) -> Option<FollowedPane> {
        let (followed, mut child) = self.running.take()?;
        // It may have ended by itself.
        child.kill().unwrap_or_default();
        child.wait().map(drop).unwrap_or_default();
        Some(followed)
    }
}

/// Sends what every line says until the command ends.
fn read(output: impl BufRead, id: &str, sender: &Sender<ShellNote>) {
    for line in output.lines() {
        let Ok(line) = line else { return };
        let event = match serde_json::from_str::<ShownPane<'_>>(&line) {
            Ok(pane) if !pane.id.is_empty() => Event::Pane(id.to_owned(), Box::new(pane)),
            _ => match serde_json::from_str::<Refusal>(&line) {
                Ok(Refusal { error }) => Event::NoPane(id.to_owned(), Error::reported(error.into_owned())),
                Err(_) => continue,
            },
        };
        if sender.send(ShellNote::Event(event)).is_err() {
            return;
        }
    }
}
