//! `orange task next`

use orange_core::{Choice, Machine};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::flow::{Snapshot, refusal};
use crate::store::{WorkItem, WorkItemDir};
use orange_api::Next;
use orange_api::contract::{askers, gate_words};

/// Every status that the task can change to, and what each still needs.
pub fn run(app: &App, dir: &WorkItemDir) -> Result<CommandAnswer> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let machine = app.machine_of(&task.owned)?;
    let history = journal.history();
    let snapshot = Snapshot::of(app, machine, &task, &history)?;
    let worktree = task.owned.workspace.as_ref().map(|name| app.home.workspace(name));
    let waits =
        history.transition.waiting_hooks.as_ref().map(|_| refusal::hooks_wait(&task, &history).one_line());
    let next: Vec<Next> = snapshot.with_facts(|facts| {
        let message = |no| refusal::message(no, machine, &facts.view, &history, worktree.as_deref());
        let next = |choice: &Choice| {
            let waits = waits.clone().filter(|_| machine.commands.cancel != Some(choice.to));
            let rejection = choice.rejection.filter(|_| !choice.can_be_asked());
            next(machine, choice, waits.or_else(|| rejection.map(message)))
        };
        let actor = app.caller.actor_for(&task.id, &history);
        machine.options(&facts.view, actor).iter().map(next).collect()
    });
    let lines: Vec<_> = next.iter().map(line).collect();
    CommandAnswer::of(
        &next,
        if lines.is_empty() { format!("{} is final", task.status()) } else { lines.join("\n") },
    )
}

fn next(machine: &'static Machine<'static>, choice: &Choice, missing: Option<String>) -> Next {
    let transition = machine.transition(choice.transition);
    Next {
        to: machine.state(choice.to).name.into(),
        by: askers(machine, transition.by),
        allowed: missing.is_none(),
        returns: machine.returns_work(transition.from, choice.to),
        asks: choice.rejection.and_then(|no| no.program(machine)).map(ToString::to_string),
        guard: transition.guard.map(|guard| guard.text).map(Into::into),
        gate: gate_words(transition.gates),
        missing,
        hooks: transition.hooks.iter().map(|hook| hook.name().to_owned()).collect(),
    }
}

fn line(next: &Next) -> String {
    match &next.missing {
        None => match &next.asks {
            Some(program) => format!("✓ {}, if `{program}` succeeds, which is asked then", next.to),
            None => format!("✓ {}", next.to),
        },
        Some(missing) => format!("✗ {}: {missing}", next.to),
    }
}
