//! Repairs of `TASK.md` by a command: its answer reports them, also when the command is refused.

use serde::Serialize;

use crate::Result;
use crate::cmd::answer::{CommandAnswer, one_line};
use crate::store::{Event, WorkItemDir, journal};
use orange_api::{Changing, Repair};

/// Runs a command on a task, and adds the repairs that were journaled meanwhile to its answer.
pub fn telling<T: Serialize>(
    dir: &WorkItemDir,
    run: impl FnOnce() -> Result<(T, String)>,
) -> Result<CommandAnswer> {
    let before = journal::length(&dir.history());
    let outcome = run();
    let events = journal::since(&dir.history(), before);
    let repaired: Vec<_> = events.into_iter().filter_map(repair).collect();
    let lines: Vec<_> = repaired.iter().map(line).collect();
    match outcome {
        Ok((answer, text)) => {
            let text = [vec![text], lines].concat().join("\n");
            CommandAnswer::of(&Changing { answer, repaired }, text)
        }
        Err(mut error) => {
            let gap = if error.help.is_empty() || lines.is_empty() { "" } else { "\n" };
            error.help += &format!("{gap}{}", lines.join("\n"));
            Err(error)
        }
    }
}

fn repair(event: Event) -> Option<Repair> {
    let Event::TaskRepaired { field, found, kept } = event else { return None };
    Some(Repair { field, found, kept })
}

fn line(Repair { field, found, kept }: &Repair) -> String {
    let show = |value: &Option<String>| match value {
        Some(text) => format!("`{}`", one_line(text, 80)),
        None => "nothing".to_owned(),
    };
    format!("repaired: {field} had {}, and has {}", show(found), show(kept))
}
