//! The life of a real task: asks the core what follows an input, and records the answer.

use std::path::PathBuf;
use std::time::Duration;

use orange_core::{
    Actor, Cause, Decision, Effect, Forced, Input, LifeEvent, LifeTurn, Machine, Program, SeenSection,
    StateId,
};

use crate::Result;
use crate::app::App;
use crate::drive::git;
use crate::flow::snapshot::Snapshot;
use crate::flow::{judged, refusal};
use crate::hooks::workspace::WorktreeRoom;
use crate::store::event::{self, CounterValue, Pass, PlannedHook, Transition, Waiting};
use crate::store::{Event, LockedWorkItem, OpenTransition, Set, WorkItem, WorkItemHistory};
use orange_system::{clock, fault};

/// The core's answer to an input; its refusal is an error in the words of this task.
pub fn ask(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    input: Input<'_>,
) -> Result<LifeTurn<'static>> {
    Snapshot::of(app, machine, task, history)?.with_facts(|facts| {
        machine.life(facts, input).map_err(|no| refusal::error(app, machine, task, history, facts, no))
    })
}

/// The core's answer to an input where these reviewers with names are alive.
pub fn ask_beside(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    input: Input<'_>,
    alive: Vec<&str>,
) -> Result<LifeTurn<'static>> {
    let mut snapshot = Snapshot::of(app, machine, task, history)?;
    snapshot.see_alive(alive);
    snapshot.with_facts(|facts| {
        machine.life(facts, input).map_err(|no| refusal::error(app, machine, task, history, facts, no))
    })
}

/// The program that has to answer before the core can decide, if it has not answered since this record. Without one, an earlier
/// failure is an answer, too.
pub fn program(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    input: Input<'_>,
    since: Option<u64>,
) -> Result<Option<Program<'static>>> {
    let mut snapshot = Snapshot::of(app, machine, task, history)?;
    since.into_iter().for_each(|since| snapshot.ask_again(since));
    Ok(snapshot.with_facts(|facts| machine.life(facts, input).err()?.program(machine).copied()))
}

/// The core's answer if the programs succeed that have not answered, and these.
pub fn assuming(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    input: Input<'_>,
) -> Result<(LifeTurn<'static>, Vec<Program<'static>>)> {
    let mut snapshot = Snapshot::of(app, machine, task, history)?;
    let mut asked = Vec::new();
    loop {
        let answer = snapshot.with_facts(|facts| {
            machine.life(facts, input).map_err(|no| {
                let error = || refusal::error(app, machine, task, history, facts, no);
                no.program(machine).ok_or_else(error)
            })
        });
        match answer {
            Ok(turn) => return Ok((turn, asked)),
            Err(Ok(program)) => {
                snapshot.assume(program);
                asked.push(*program);
            }
            Err(Err(error)) => return Err(error),
        }
    }
}

/// Data to record beside a turn.
#[derive(Debug, Default)]
pub struct TurnRecord {
    /// The events that led to it, which are journaled in the same write.
    pub led_to_it: Vec<(Event, Set)>,
    /// The worktree of the pool that is reserved for a transition.
    pub room: Option<WorktreeRoom>,
    /// The agent that it concerns, and how that ended.
    pub agent: Option<(u32, String)>,
}

/// Journals a turn, and writes the new status. Once the journal is written a transition has begun, and the next command
/// finishes it even if this fails.
pub fn record(
    app: &App,
    machine: &Machine<'static>,
    locked: &mut LockedWorkItem,
    turn: &LifeTurn<'_>,
    TurnRecord { led_to_it, room, agent }: TurnRecord,
) -> Result<()> {
    let mut writer =
        EventWriter { app, machine, agent, events: led_to_it, is_begun: false, attention: [None, None] };
    for event in &turn.events {
        writer.add(locked, event);
    }
    let EventWriter { mut events, attention: [before, after], .. } = writer;
    // This comes before the end is recorded, which is not reported again after that.
    before.map_or(Ok(()), |story| locked.call_attention(&story))?;
    let is_answered = answer(&mut events, locked.task().attention.as_ref(), after.as_ref());
    if !events.is_empty() {
        locked.append_many(events)?;
    }
    room.map_or(Ok(()), WorktreeRoom::take)?;
    if is_answered {
        locked.clear_attention()?;
    }
    after.map_or(Ok(()), |story| locked.call_attention(&story))
}

/// Notes in the beginning of a transition that it answers the call for attention about the state that it leaves, so that the
/// process that finishes it can clear that after a kill. Returns false if nothing is answered: no transition begins, or the
/// state that it enters calls for the same.
pub fn answer(events: &mut [(Event, Set)], before: Option<&String>, after: Option<&String>) -> bool {
    let plan = events
        .iter_mut()
        .find_map(|(event, _)| if let Event::TransitionStarted(plan) = event { Some(plan) } else { None });
    let (Some(plan), true) = (plan, before != after) else { return false };
    plan.answers = before.cloned();
    plan.answers.is_some()
}

/// Converts events of the core to those of the journal.
struct EventWriter<'w> {
    app: &'w App,
    machine: &'w Machine<'static>,
    agent: Option<(u32, String)>,
    events: Vec<(Event, Set)>,
    is_begun: bool,
    /// The calls for attention in the state before and in the state after the transition.
    attention: [Option<String>; 2],
}

impl EventWriter<'_> {
    fn add(&mut self, locked: &LockedWorkItem, event: &LifeEvent<'_>) {
        let name = |state| self.machine.state(state).name.to_owned();
        let (spawn, how) = self.agent.clone().unwrap_or_default();
        let status = locked.task().status().to_owned();
        let added = match event {
            LifeEvent::Crashed { counter, count, reason } => {
                let (crash_count, reason) = (*count, reason.clone());
                let event = Event::AgentCrashed { spawn: Some(spawn), status, crash_count, reason };
                (event, Set::new().counter(self.machine.counter(*counter).name, *count))
            }
            LifeEvent::NotResumed => {
                let record = locked.history().agents.alive.get(&spawn);
                let conversation = record.and_then(|record| record.conversation.clone()).unwrap_or_default();
                Event::AgentNotResumed { spawn, conversation, reason: how.as_str().into() }.into()
            }
            LifeEvent::Advanced { to, reason } => {
                Event::AutoAdvanced { from: status, to: name(*to), reason: reason.clone() }.into()
            }
            LifeEvent::Began(decision) => {
                self.is_begun = true;
                let plan = plan(self.app, self.machine, locked, decision);
                (Event::TransitionStarted(plan), Set::new().status(&name(decision.to)))
            }
            LifeEvent::Forced { what, by, to } => {
                self.is_begun = true;
                forced(self.machine, &status, *what, *by, *to)
            }
            LifeEvent::Waits { after, reason } => waits(spawn, *after, reason),
            LifeEvent::HooksWait => match hooks_wait(locked) {
                Some(waiting) => waiting,
                None => return,
            },
            LifeEvent::GaveUp { reason } => Event::AgentGivenUp { spawn, reason: reason.clone() }.into(),
            LifeEvent::Attention(story) => {
                self.attention[usize::from(self.is_begun)] = Some(story.clone());
                return;
            }
        };
        self.events.push(added);
    }
}

/// The event of hooks that wait: of the open transition, the last one that has ended and those after it.
fn hooks_wait(locked: &LockedWorkItem) -> Option<(Event, Set)> {
    let OpenTransition { plan, ended, .. } = locked.history().transition.open.as_ref()?;
    let index = *ended.last_key_value()?.0;
    let hook = plan.hooks.iter().find(|hook| hook.index == index)?.name.clone();
    let set = Set::new().hooks_wait(Some(&hook));
    let left = plan.hooks.iter().filter(|hook| hook.index > index).map(|hook| hook.name.clone()).collect();
    Some((Event::HooksWaiting { from: plan.from.clone(), to: plan.to.clone(), hook, index, left }, set))
}

/// The event of a wait for the next start of an agent, or until it goes on.
pub fn waits(spawn: u32, after: u32, reason: &str) -> (Event, Set) {
    let until = clock::rfc3339(fault::now() + Duration::from_secs(after.into()));
    let set = Set::new().waiting_until(Some(&until));
    (Event::AgentWaiting(Waiting { spawn, until, after, reason: reason.to_owned() }), set)
}

fn plan(app: &App, machine: &Machine<'_>, locked: &LockedWorkItem, decision: &Decision<'_>) -> Transition {
    let hook = |(index, effect): (usize, &Effect<'_>)| PlannedHook {
        name: effect.hook.name().to_owned(),
        index,
        counter: effect
            .counter
            .map(|(id, value)| CounterValue { name: machine.counter(id).name.to_owned(), value }),
    };
    Transition {
        from: machine.state(decision.from).name.to_owned(),
        to: machine.state(decision.to).name.to_owned(),
        transition: Some(decision.transition.0 as usize),
        cause: recorded(decision.cause),
        actor: machine.actor_name(decision.cause.actor()).into(),
        hooks: decision.effects.iter().enumerate().map(hook).collect(),
        passed: passed(app, machine, locked, &decision.seen),
        stood: decision.entered.iter().copied().map(Pass::of).collect(),
        answers: None,
    }
}

/// A transition that no workflow declares, with the status to which it leads.
pub fn forced(machine: &Machine<'static>, from: &str, what: Forced, by: Actor, to: StateId) -> (Event, Set) {
    let hooks = machine.forced_hooks(what, to).into_iter().enumerate();
    let hooks = hooks.map(|(index, hook)| PlannedHook { name: hook.name().to_owned(), index, counter: None });
    let to = machine.state(to).name;
    let plan = Transition {
        from: from.to_owned(),
        to: to.to_owned(),
        cause: recorded(Cause::Forced(what, by)),
        actor: machine.actor_name(by).into(),
        hooks: hooks.collect(),
        ..Transition::default()
    };
    (Event::TransitionStarted(plan), Set::new().status(to))
}

fn passed(app: &App, machine: &Machine<'_>, locked: &LockedWorkItem, seen: &[SeenSection<'_>]) -> Vec<Pass> {
    if seen.is_empty() {
        return Vec::new();
    }
    // Work that is unknown is not a reason to refuse here.
    let (commit, patch) = match machine.asks_of_work() {
        true => judged::work(app, locked.task()).unwrap_or_default(),
        false => {
            let commit = |worktree: PathBuf| git::stands_on(&worktree).unwrap_or_default();
            (locked.worktree().and_then(commit), None)
        }
    };
    let pass = |seen: &SeenSection<'_>| {
        let (commit, patch) = (commit.clone(), patch.clone());
        Pass { commit, patch, ..Pass::of(*seen) }
    };
    seen.iter().map(pass).collect()
}

/// The journal's word for the cause of a transition.
fn recorded(cause: Cause) -> event::Cause {
    match cause {
        Cause::Request(_) => event::Cause::Request,
        Cause::Exit => event::Cause::Auto,
        Cause::Escalation => event::Cause::Escalation,
        Cause::Watch => event::Cause::Watch,
        Cause::HookFailed => event::Cause::HookFailed,
        Cause::Forced(Forced::Cancel, _) => event::Cause::Forced,
        Cause::Forced(Forced::Merge, _) => event::Cause::ForcedMerge,
    }
}

/// The cause of a transition in the journal.
pub fn cause_of(machine: &Machine<'_>, plan: &Transition) -> Cause {
    let actor = machine.actor_named(plan.actor.as_str()).unwrap_or(Actor::Engine);
    match plan.cause {
        event::Cause::Request | event::Cause::Other(_) => Cause::Request(actor),
        event::Cause::Auto => Cause::Exit,
        event::Cause::Escalation => Cause::Escalation,
        event::Cause::Watch => Cause::Watch,
        event::Cause::HookFailed => Cause::HookFailed,
        event::Cause::Forced => Cause::Forced(Forced::Cancel, actor),
        event::Cause::ForcedMerge => Cause::Forced(Forced::Merge, actor),
    }
}

/// The event that closes a transition in the journal.
pub fn closing(machine: &Machine<'_>, task: &WorkItem, plan: &Transition) -> (Event, Set) {
    let changed = Event::StatusChanged {
        from: plan.from.clone(),
        to: plan.to.clone(),
        cause: plan.cause.clone(),
        actor: plan.actor.clone(),
    };
    let counted =
        machine.closing(cause_of(machine, plan)).map(|(id, value)| (machine.counter(id).name, value));
    let new = counted.filter(|(name, value)| task.counter(name) != *value);
    (changed, new.map_or_else(Set::new, |(name, value)| Set::new().counter(name, value)))
}
