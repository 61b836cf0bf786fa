//! Writes the verdict of a reviewer into its section of TASK.md.

use orange_core::verdict::NoVerdict;

use crate::app::App;
use crate::caller::Caller;
use crate::flow::lock_recovered;
use crate::flow::snapshot::status_of;
use crate::store::event::{Actor, Spawn};
use crate::store::{LockedWorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};

/// Writes a verdict, for the living reviewer that asks, into the section that its gates read. Returns the heading of the section, and the
/// verdict as the workflow spells it.
///
/// # Errors
/// `not_allowed` for anybody but a reviewer of the task; `refused` in a state that asks for no verdict of it, and for a text that would
/// reach another section or lacks what the gate asks for. Nothing is written then.
pub fn verdict(app: &App, dir: &WorkItemDir, verdict: &str, text: &str) -> Result<(String, String)> {
    let mut locked = lock_recovered(app, dir)?;
    app.check_caller(locked.task(), locked.history())?;
    let machine = app.machine_of(&locked.task().owned)?;
    let state = status_of(machine, locked.task())?;
    let name = reviewer(app, &locked)?.name.clone();
    let found = machine.verdict(state, name.as_deref(), verdict, text);
    let placed =
        found.map_err(|flaw| refusal(flaw, locked.task().status(), name.as_deref(), &dir.command("next")))?;
    locked.append_section(placed.section, &placed.content)?;
    Ok((placed.section.to_owned(), placed.verdict.as_str().to_owned()))
}

/// The record of the reviewer that asks.
fn reviewer<'l>(app: &App, locked: &'l LockedWorkItem) -> Result<&'l Spawn> {
    let not_allowed = |what: &str| {
        Err(Error::new(ErrorKind::NotAllowed, what).help(
            "a worker writes its own section into TASK.md; a person writes there, too, or asks for a status with `orange task update`",
        ))
    };
    let Caller::Agent { task, spawn: Some(spawn), .. } = &app.caller else {
        return not_allowed("only a reviewer of the task writes its verdict");
    };
    if *task != locked.task().id {
        return not_allowed("a reviewer writes the verdict about its own task only");
    }
    match locked.history().agents.alive.get(spawn) {
        Some(record) if record.actor == Actor::Reviewer => Ok(record),
        Some(_) | None => not_allowed("only a reviewer of the task writes its verdict"),
    }
}

/// `next` is the command that shows the gates of the state.
fn refusal(flaw: NoVerdict, status: &str, name: Option<&str>, next: &str) -> Error {
    let refused = |message: String, help: String| Error::new(ErrorKind::Refused, message).help(help);
    let reviewer = name.map_or_else(|| "a reviewer".to_owned(), |name| format!("the reviewer `{name}`"));
    match flaw {
        NoVerdict::NotAsked => refused(
            format!("no gate of {status} reads a verdict of {reviewer}"),
            format!("wait until the task is in a status that asks for it; {next} shows the gates"),
        ),
        NoVerdict::Unknown(known) => {
            Error::new(ErrorKind::Usage, format!("a verdict of {reviewer} is {}", known.join(" or ")))
                .help("write one of these words")
        }
        NoVerdict::Several(sections) => refused(
            format!("the gates of {status} read a verdict of {reviewer} in several sections"),
            format!("write them into TASK.md: {}", sections.join(", ")),
        ),
        NoVerdict::Heading(line) => refused(
            format!("the heading `{}` in the text would begin another section", line.escape_debug()),
            "write headings with more `#`, or in a code block, and run it again".to_owned(),
        ),
        NoVerdict::Lacks { what, remedy } => refused(what, format!("{remedy}, and run it again")),
    }
}
