//! The one transition that completes the status of a task, and the command that asks for a transition.

use orange_core::{Choice, Machine, StateId};

use crate::app::App;
use crate::flow::{Goal, Snapshot, refusal, request};
use crate::store::{WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};
use orange_api::TransitionResult;

/// Asks for the one transition that completes the status of the task. Where there are several, it names them and asks for
/// none.
pub fn complete(app: &App, dir: &WorkItemDir) -> Result<TransitionResult> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let machine = app.machine_of(&task.owned)?;
    let history = journal.history();
    let snapshot = Snapshot::of(app, machine, &task, &history)?;
    let worktree = task.owned.workspace.as_ref().map(|name| app.home.workspace(name));
    let choices: Vec<(StateId, String)> = snapshot.with_facts(|facts| {
        let line = |choice: &Choice| {
            let message = |no| refusal::message(no, machine, &facts.view, &history, worktree.as_deref());
            let missing = choice.rejection.map(message).map(|missing| format!("    ({missing})"));
            format!("{}{}", command(machine, &task.id, choice.to), missing.unwrap_or_default())
        };
        let choices = machine.forward(&facts.view, app.caller.actor_for(&task.id, &history));
        choices.iter().map(|choice| (choice.to, line(choice))).collect()
    });
    match &choices[..] {
        [(to, _)] => request(app, dir, Goal::Named(machine.state(*to).name)),
        [] => Err(Error::new(
            ErrorKind::Refused,
            format!("nothing that you may ask for completes {}", task.status()),
        )
        .help(format!("`orange task next {}` shows every status it can go to", task.id))),
        [..] => {
            let lines: Vec<_> = choices.iter().map(|(_, line)| line.as_str()).collect();
            let message = format!("{} can be completed in more than one way", task.status());
            Err(Error::new(ErrorKind::Refused, message)
                .help(format!("choose one:\n  {}", lines.join("\n  "))))
        }
    }
}

/// Command with which a person or an agent goes there.
pub fn command(machine: &Machine<'_>, id: &str, to: StateId) -> String {
    let commands = &machine.commands;
    match Some(to) {
        to if to == commands.merge => format!("orange task merge {id}"),
        to if to == commands.cancel => format!("orange task cancel {id}"),
        Some(_) | None => format!("orange task update {id} --status {}", machine.state(to).name),
    }
}
