//! What the core decides about a task, asked once for everything that decisions depend on.

use std::collections::HashMap;
use std::rc::Rc;

use orange_core::{
    Actor, CRASH_COUNT, Cause, CounterId, Decision, ExitDecision, Rejection, TransitionId, View,
};

use super::Search;
use super::task::{Task, Written};

/// The core's answers so far.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    known: HashMap<Task, Rc<Answers>>,
}

/// What the core answers to everything that can be asked of one task.
#[derive(Debug)]
pub(super) struct Answers {
    /// The transitions that can fire on request.
    pub requests: Vec<Request>,
    /// What becomes of it when its agent has ended.
    pub exit: Exit,
}

/// A transition that fires, and who may ask for it.
#[derive(Debug)]
pub(super) struct Request {
    pub fire: Fire,
    pub by: Vec<Actor>,
}

/// A decision, without what it borrows.
#[derive(Clone, Debug)]
pub(super) struct Fire {
    pub transition: TransitionId,
    /// By hook: the counter that it raises, and the new value.
    pub counters: Vec<Option<(CounterId, u32)>>,
    pub seen: Option<usize>,
    pub resets_crashes: bool,
}

/// What becomes of a task whose agent has ended.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    Advance(Fire),
    Escalate { count: u32, fire: Fire },
    Crash { count: u32, respawn: bool },
    Marked,
}

const ASKING: [Actor; 3] = [Actor::Worker, Actor::Reviewer, Actor::Human];

impl Decisions {
    /// The answers for this task.
    pub(super) fn of(&mut self, search: &Search<'_>, task: &Task) -> Rc<Answers> {
        let key = task.decisive();
        Rc::clone(self.known.entry(key).or_insert_with(|| Rc::new(ask(search, &key))))
    }
}

fn ask(search: &Search<'_>, task: &Task) -> Answers {
    let counters = search.counters.values(task);
    let written = |at: usize| {
        let Written { content, seen } = task.sections[at];
        (content, seen)
    };
    let (body, seen) = search.sections.body(written);
    let view = View { status: task.status, counters: &counters, body: &body, seen: &seen };
    let machine = search.machine;
    let requests = machine.targets(task.status).filter_map(|to| {
        let mut by = Vec::new();
        let mut fire = None;
        for actor in ASKING {
            match machine.decide(&view, to, actor) {
                Ok(decision) => {
                    by.push(actor);
                    fire.get_or_insert_with(|| Fire::of(search, &decision));
                }
                Err(Rejection::NotAllowed { .. }) => {}
                Err(
                    Rejection::NoTransition { .. }
                    | Rejection::GuardFailed { .. }
                    | Rejection::GateFailed { .. },
                ) => return None,
            }
        }
        fire.map(|fire| Request { fire, by })
    });
    let exit = match machine.decide_exit(&view) {
        ExitDecision::Advance(decision) => Exit::Advance(Fire::of(search, &decision)),
        ExitDecision::Escalate { count, decision, .. } => {
            Exit::Escalate { count, fire: Fire::of(search, &decision) }
        }
        ExitDecision::Crash { count, respawn, .. } => Exit::Crash { count, respawn },
        ExitDecision::MarkDead { .. } => Exit::Marked,
    };
    Answers { requests: requests.collect(), exit }
}

impl Fire {
    fn of(search: &Search<'_>, decision: &Decision<'_>) -> Self {
        debug_assert!(decision.resets_crashes || decision.cause == Cause::Escalation);
        Self {
            transition: decision.transition,
            counters: decision.effects.iter().map(|it| it.counter).collect(),
            seen: decision.seen.and_then(|it| search.sections.find(it.section)),
            resets_crashes: decision.resets_crashes,
        }
    }

    /// Whether it counts crashes or something else up.
    pub(super) fn raises(&self, hook: usize) -> Option<(CounterId, u32)> {
        self.counters.get(hook).copied().flatten().filter(|(id, _)| *id != CRASH_COUNT)
    }
}
