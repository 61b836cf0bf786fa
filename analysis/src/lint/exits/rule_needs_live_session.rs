//! C4B: an exit rule applies because the worker has ended, and the hooks of its transition need the worker alive.

use std::collections::{BTreeMap, BTreeSet};

use orange_core::action::Starts;
use orange_core::{self as core, Actor, StateId, TransitionId};

use super::C4B;
use super::text::condition_of;
use crate::lint::Facts;
use crate::search::task::Event;
use crate::search::{EdgeId, HookIndex, SearchStep};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::Hook;

/// A hook of a transition.
type At = (TransitionId, HookIndex);

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    if !facts.search.happens(is_miss) {
        return Vec::new();
    }
    let mut missed: BTreeMap<At, EdgeId> = BTreeMap::new();
    // If a hook never finds its worker, the exit rule is not at fault: `hook-needs-session` reports the hook.
    let mut works: BTreeSet<At> = BTreeSet::new();
    for (id, edge) in facts.search.edges() {
        let Some(transition) = edge.step.transition() else { continue };
        let worker_ended = matches!(edge.step, SearchStep::Exit { agent: Actor::Worker, .. });
        for index in worker_hooks(facts, transition) {
            let misses =
                facts.search.events(edge).iter().any(|(hook, event)| *hook == index && is_miss(*event));
            if !misses {
                works.insert((transition, index));
            } else if worker_ended {
                missed.entry((transition, index)).or_insert(id);
            }
        }
    }
    missed
        .into_iter()
        .filter(|(at, _)| works.contains(at))
        .filter_map(|(at, id)| finding(facts, at, id))
        .collect()
}

/// The hooks of a transition that need a living worker.
fn worker_hooks<'f>(facts: &Facts<'f>, id: TransitionId) -> impl Iterator<Item = HookIndex> {
    let hooks = facts.transition(id).hooks.iter().zip(0..);
    let to = facts.machine.transition(id).to;
    let wants_worker = move |hook: &Hook| {
        let action = hook.action;
        action.needs_worker() && !(action.starts_beside() && comes_back_with_worker(facts, to))
    };
    hooks.filter(move |(hook, _)| wants_worker(hook)).map(|(_, index)| index)
}

/// True if each transition from a review back to work starts a worker. The reviewer then needs no worker beside it.
fn comes_back_with_worker(facts: &Facts<'_>, review: StateId) -> bool {
    facts.leaving(review).all(|(id, declared)| {
        let to = facts.machine.state(declared.to.value);
        let is_work = !to.terminal && !to.waits_for_human && to.agent == Actor::Worker;
        let mut spawns = facts.machine.transition(id).hooks.iter().filter_map(core::Hook::spawn);
        !is_work || spawns.any(|spawn| spawn.actor() == Actor::Worker)
    })
}

fn is_miss(event: Event) -> bool {
    match event {
        Event::NobodyToNotify | Event::SpawnWithoutSession => true,
        Event::SpawnWhileAlive(_)
        | Event::SpawnWithoutWorkspace
        | Event::SpawnBesideWorktree
        | Event::AcquireUnderAgent(_)
        | Event::ReleaseUnderAgent(_)
        | Event::NoWorktreeToUse
        | Event::KilledUnderOtherName
        | Event::Idle => false,
    }
}

fn finding(facts: &Facts<'_>, (id, index): At, edge: EdgeId) -> Option<Diagnostic> {
    let transition = facts.transition(id);
    let hook = facts.hook(id, index)?;
    let rule = facts.exit_rules[facts.deciding().rule(edge)?];
    let place = facts.first_line(hook.span);
    let message = format!(
        "an exit rule takes {} because the worker has ended, and {}",
        facts.arrow(transition),
        part_of(hook)?
    );
    let run = facts.search.run_through(edge);
    Some(
        Diagnostic::new(&C4B, condition_of(facts, rule), message)
            .label(condition_of(facts, rule), "1. applies to a worker that has ended")
            .label(place, "2. is meant for one that is alive")
            .trace(facts.tell(&run, "the worker is dead".to_owned()))
            .help(
                "let the rule say `action: crash` with `respawn: true`, so that the worker goes on from what it wrote, \
                 or lead to a transition that starts what it needs",
            ),
    )
}

/// Words for the failure of a hook that finds no living worker.
fn part_of(hook: &Hook) -> Option<String> {
    let part = match hook.action.traits().starts? {
        Starts::MissingWorker => "finds no worker",
        Starts::BesideWorker => "starts a reviewer beside a worker that is not alive",
        Starts::New => return None,
    };
    Some(format!("its `{}` {part}", hook.action.name()))
}
