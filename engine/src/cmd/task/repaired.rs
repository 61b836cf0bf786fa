//! What a command has put right on its way: it is told in the answer, be that a yes or a no.

use serde_json::json;

use crate::Result;
use crate::cmd::answer::{Answer, one_line};
use crate::store::{Event, TaskDir, journal};

/// Runs a command on a task, and adds the repairs that were journaled meanwhile to what it answers.
pub fn telling(dir: &TaskDir, run: impl FnOnce() -> Result<Answer>) -> Result<Answer> {
    let before = journal::length(&dir.history());
    let outcome = run();
    let events = journal::since(&dir.history(), before);
    let repairs: Vec<_> = events.into_iter().filter_map(Repair::of).collect();
    if repairs.is_empty() {
        return outcome;
    }
    let lines: Vec<_> = repairs.iter().map(Repair::line).collect();
    match outcome {
        Ok(mut answer) => {
            let repairs =
                repairs.iter().map(|it| json!({ "field": it.field, "found": it.found, "kept": it.kept }));
            if let Some(json) = answer.json.as_object_mut() {
                json.insert("repaired".to_owned(), repairs.collect());
            }
            answer.text += &format!("\n{}", lines.join("\n"));
            Ok(answer)
        }
        Err(mut error) => {
            let gap = if error.help.is_empty() { "" } else { "\n" };
            error.help += &format!("{gap}{}", lines.join("\n"));
            Err(error)
        }
    }
}

struct Repair {
    field: String,
    found: Option<String>,
    kept: Option<String>,
}

impl Repair {
    fn of(event: Event) -> Option<Repair> {
        if let Event::TaskRepaired { field, found, kept } = event {
            Some(Repair { field, found, kept })
        } else {
            None
        }
    }

    fn line(&self) -> String {
        let show = |value: &Option<String>| match value {
            Some(text) => format!("`{}`", one_line(text, 80)),
            None => "nothing".to_owned(),
        };
        format!("put right: {} had {}, and has {}", self.field, show(&self.found), show(&self.kept))
    }
}
