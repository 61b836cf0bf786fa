//! Answers that are typed into an agent's terminal, for harnesses that ask only there.

use crate::app::App;
use crate::drive::harness::Harness;
use crate::flow::asked::{RequestAnswer, name};
use crate::store::activity::{Activity, ActivityNote, NoteKind as Happened};
use crate::store::event::Spawn;
use crate::store::{LockedWorkItem, WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};

/// Number of lines of a screen that are read.
const LINES: usize = 100;

/// Names the requests that are only on the screen and can be answered: the project allows it, and the harness's dialog is
/// known. A name contains the time of its request.
pub fn name_requests(app: &App, dir: &WorkItemDir, task: &WorkItem, record: &Spawn, activity: &mut Activity) {
    let is_on_screen = |note: &&mut ActivityNote| note.kind == Happened::Permission && note.pid.is_none();
    let mut requests = activity.asked.iter_mut().filter(is_on_screen).peekable();
    if requests.peek().is_none() || !may_type(app, task) || Dialog::of(app, record).is_none() {
        return;
    }
    for note in requests {
        let time: String = note.time.chars().filter(char::is_ascii_digit).collect();
        note.request = Some(name(dir, record.spawn, &time));
    }
}

fn may_type(app: &App, task: &WorkItem) -> bool {
    app.project_of(task).is_ok_and(|project| project.type_answers)
}

/// The dialog with which a harness asks, and the keys that answer it.
struct Dialog {
    screen: String,
    yes: String,
    no: String,
}

impl Dialog {
    /// The dialog of an agent's harness, if it is known.
    fn of(app: &App, record: &Spawn) -> Option<Dialog> {
        let Harness { answer_screen, answer_keys, .. } = app.harness(&record.harness).ok()?;
        let [yes, no] = <[String; 2]>::try_from(answer_keys).ok()?;
        (!answer_screen.is_empty()).then_some(Dialog { screen: answer_screen, yes, no })
    }
}

/// Presses the key for this answer, and types its message after a no, if the dialog of this very request is on the agent's
/// screen; refuses otherwise.
pub fn answer(app: &App, locked: &LockedWorkItem, note: &ActivityNote, answer: &RequestAnswer) -> Result<()> {
    let record = locked.history().agents.alive.get(&note.spawn);
    let panes = app.tmux.panes_of(&locked.dir().id)?;
    let of_agent = record.and_then(|record| {
        let pane = panes.iter().find(|pane| pane.hosts(&record.window) && !pane.dead)?;
        Some((Dialog::of(app, record)?, pane))
    });
    let text = &note.line();
    let gone = || {
        let message = format!("the dialog for `{text}` is not on the screen of agent {}", note.spawn);
        Error::new(ErrorKind::Refused, message)
            .help(format!("{} shows what is there", locked.dir().command("attach")))
    };
    let (dialog, pane) = of_agent.ok_or_else(gone)?;
    if !shows(&app.tmux.capture(&pane.pane_id, LINES)?, &dialog.screen, text) {
        return Err(gone());
    }
    app.tmux.press(&pane.pane_id, if answer.allow { &dialog.yes } else { &dialog.no })?;
    match answer.message.as_ref().filter(|_| !answer.allow) {
        Some(message) => app.tmux.send_text(&pane.pane_id, &mark(note), message.as_bytes()),
        None => Ok(()),
    }
}

/// The mark of a message to this pane: digits and dots.
fn mark(note: &ActivityNote) -> String {
    let digits = |letter: &char| letter.is_ascii_digit();
    format!("{}.{}", note.spawn, note.time.chars().filter(digits).collect::<String>())
}

/// True if a screen shows the dialog about this text, with any line breaks.
fn shows(screen: &str, dialog: &str, text: &str) -> bool {
    let words = |text: &str| {
        let words = text.split_whitespace().filter(|word| !["›", "❯", ">"].contains(word));
        words.map(|word| format!("{word} ")).collect::<String>()
    };
    let wanted = words(&dialog.replace("{text}", text));
    !text.trim().is_empty()
        && screen.lines().enumerate().any(|(at, _)| {
            let from_here: Vec<&str> = screen.lines().skip(at).collect();
            words(&from_here.join("\n")).starts_with(&wanted)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIALOG: &str = "$ {text} 1. Yes, proceed (y)";

    #[track_caller]
    fn check(shown: &str, text: &str, expect: bool) {
        let screen = format!("• I do it.\n\n  Would you like to run the following command?\n\n  {shown}\n");
        assert_eq!(shows(&screen, DIALOG, text), expect, "{screen}");
    }

    #[test]
    fn a_dialog_is_that_of_its_own_request_alone() {
        const MENU: &str = "› 1. Yes, proceed (y)\n  2. No (esc)";
        check(&format!("$ rm -r a\n\n{MENU}"), "rm -r a", true);
        check(&format!("$ rm -r\n    a\n\n{MENU}"), "rm -r a", true);
        check("$ rm -r a\n\n  1. Yes, proceed (y)\n› 2. No (esc)", "rm -r a", true);
        check(&format!("$ rm -r ab\n\n{MENU}"), "rm -r a", false);
        check(&format!("$ sudo rm -r a\n\n{MENU}"), "rm -r a", false);
        check(&format!("$ rm -r a; rm -r b\n\n{MENU}"), "rm -r a", false);
        check(&format!("$ echo $ rm -r a\n\n{MENU}"), "rm -r a", false);
        check("$ rm -r a", "rm -r a", false);
        check(MENU, "", false);
    }
}
