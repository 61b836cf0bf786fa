//! Events of a walk, in lines that read without colour.

use std::io::{self, Write};

use orange_analysis::search::task::Agent;
use orange_analysis::walk::{Happened, HookRun, Walk};
use orange_core::{Actor, Cause, CounterId, Machine, StateId};

/// One thing that happened.
pub(super) fn happened(walk: &Walk<'_>, it: &Happened, out: &mut impl Write) -> io::Result<()> {
    match it {
        Happened::Wrote { heading } => writeln!(out, "{heading} is written"),
        Happened::Refused { code, message, help } => {
            writeln!(out, "refused ({code}): {message}")?;
            writeln!(out, "  help: {help}")
        }
        Happened::Transitioned { from, to, cause, hooks, .. } => {
            let name = |id: StateId| walk.machine().state(id).name;
            writeln!(out, "{} → {} ({})", name(*from), name(*to), why(walk.machine(), *cause))?;
            ran(hooks, out)
        }
        Happened::Started { hooks } => {
            writeln!(out, "started in {}", walk.machine().state(walk.status()).name)?;
            ran(hooks, out)
        }
        Happened::Crashed { count, reason, respawned } => {
            writeln!(out, "crash {count}: {reason}")?;
            ran(respawned.as_slice(), out)
        }
        Happened::Waits { resume_after, reason } => {
            writeln!(out, "is started again after {resume_after} s (`respawn` does it now): {reason}")
        }
        Happened::HooksWait { hooks, reason } => {
            writeln!(out, "hooks wait (`retry-hooks` runs them): {}: {reason}", hooks.join(", "))
        }
        Happened::Answers { asked, answer } => writeln!(out, "{asked}: {answer} from now on"),
        Happened::Committed { is_sync: false } => writeln!(out, "the work has changed"),
        Happened::Committed { is_sync: true } => {
            writeln!(out, "the work has taken in its base, and its own changes are the same")
        }
        Happened::WillFail { hook } => writeln!(out, "the next `{hook}` fails"),
        Happened::Over { reason } => writeln!(out, "nothing follows: {reason}"),
        Happened::Marked { reason } => writeln!(out, "waits for a person: {reason}"),
    }
}

fn why(machine: &Machine<'_>, cause: Cause) -> String {
    match cause {
        Cause::Request(actor) => format!("asked for by {}", who(machine, actor)),
        Cause::Exit => "by an exit rule".to_owned(),
        Cause::Escalation => "escalation: it crashed too often".to_owned(),
        Cause::Watch => "by a watch rule".to_owned(),
        Cause::HookFailed => "a hook has failed".to_owned(),
        Cause::Forced(_, actor) => format!("whatever the workflow declares, by {}", who(machine, actor)),
    }
}

fn who(machine: &Machine<'_>, actor: Actor) -> String {
    match actor {
        Actor::Human => "the person".to_owned(),
        Actor::Worker | Actor::Reviewer | Actor::Engine | Actor::Declared(_) => {
            machine.actor_with("the", actor)
        }
    }
}

fn ran(hooks: &[HookRun], out: &mut impl Write) -> io::Result<()> {
    for hook in hooks {
        match hook.note() {
            Some(note) => writeln!(out, "  {}: {note}", hook.hook)?,
            None => writeln!(out, "  {}", hook.hook)?,
        }
    }
    Ok(())
}

/// Writes the state of the task and everything that it has.
pub(super) fn task(walk: &Walk<'_>, out: &mut impl Write) -> io::Result<()> {
    let machine = walk.machine();
    let state = machine.state(walk.status());
    writeln!(out, "task in {}{}", state.name, kind(walk.status(), machine))?;
    let worktree = if walk.has_workspace() { "bound" } else { "none" };
    writeln!(out, "  worktree: {worktree}; agents: {}", agents(walk))?;
    let counters = (0u16..).map(CounterId).zip(machine.counters);
    let counters: Vec<String> =
        counters.map(|(id, counter)| format!("{} = {}", counter.name, walk.counter(id))).collect();
    writeln!(out, "  {}", counters.join(", "))?;
    for line in walk.body().lines() {
        writeln!(out, "  | {line}")?;
    }
    Ok(())
}

fn kind(status: StateId, machine: &Machine<'_>) -> String {
    match (machine.state(status).terminal, machine.waits_for(status)) {
        (true, _) => ", an end".to_owned(),
        (false, Some(whom)) => format!(", which waits for {whom}"),
        (false, None) => String::new(),
    }
}

fn agents(walk: &Walk<'_>) -> String {
    let agents = [Actor::Worker, Actor::Reviewer].into_iter().filter_map(|actor| match walk.agent(actor) {
        Agent::None => None,
        Agent::Live => Some(format!("{}{} alive", actor.kind(), names(walk, actor))),
        Agent::Dead => Some(format!("{} dead", actor.kind())),
    });
    let agents: Vec<String> = agents.collect();
    if agents.is_empty() { "none".to_owned() } else { agents.join(", ") }
}

/// ` security, style`: the reviewers with names that are alive.
fn names(walk: &Walk<'_>, actor: Actor) -> String {
    let names = if actor == Actor::Reviewer { walk.reviewers() } else { Vec::new() };
    if names.is_empty() { String::new() } else { format!(" {}", names.join(", ")) }
}

/// The transitions, and what closes them.
pub(super) fn options(walk: &Walk<'_>, out: &mut impl Write) -> io::Result<()> {
    let options = walk.options(Actor::Human);
    if options.is_empty() {
        writeln!(out, "no transition leads on")?;
    }
    for (choice, missing) in options {
        let to = walk.machine().state(choice.to).name;
        match missing {
            Some(missing) => writeln!(out, "{to}: closed: {missing}")?,
            None => writeln!(out, "{to}: open")?,
        }
    }
    Ok(())
}
