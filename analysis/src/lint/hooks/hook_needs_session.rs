//! C64: a hook sends a worker a message, or starts a reviewer beside it, and no worker is alive.

use std::collections::BTreeMap;

use orange_core::{Actor, Hook};

use super::C64;
use super::places::numbered;
use crate::lint::Facts;
use crate::lint::agents::StoryLabel;
use crate::search::task::{Agent, Event, Task};
use crate::search::{Edge, EdgeId, HookIndex, SearchStep};
use orange_codegen::diag::Diagnostic;

/// Facts of the search about one hook.
#[derive(Default)]
struct HookFacts {
    /// True if a worker is alive in some step.
    worked: bool,
    /// The first step without a living worker after which `is_mended` does not hold.
    lost: Option<EdgeId>,
    /// The first step without a living worker.
    missed: Option<EdgeId>,
    /// True if an exit rule took such a step because the worker had ended: `rule-needs-live-session` reports that.
    by_rule: bool,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let is_missing = |event| matches!(event, Event::SpawnWithoutSession | Event::NobodyToNotify);
    if !facts.search.happens(is_missing) {
        return Vec::new();
    }
    let mut hooks: BTreeMap<(u32, HookIndex), HookFacts> = BTreeMap::new();
    for (id, edge) in facts.search.edges() {
        let Some(transition) = edge.step.transition() else { continue };
        let declaration = facts.transition(transition).declaration;
        for (index, hook) in (0..).zip(facts.machine.transition(transition).hooks) {
            if hook.action.needs_worker() && !facts.was_never_started(edge) {
                let seen = hooks.entry((declaration, index)).or_default();
                match facts.search.events(edge).iter().any(|(at, event)| *at == index && is_missing(*event)) {
                    false => seen.worked = true,
                    true => seen.miss(facts, id, edge),
                }
            }
        }
    }
    hooks.into_iter().filter_map(|((_, index), seen)| finding(facts, index, &seen)).collect()
}

impl HookFacts {
    fn miss(&mut self, facts: &Facts<'_>, id: EdgeId, edge: &Edge) {
        self.missed.get_or_insert(id);
        self.by_rule |= matches!(edge.step, SearchStep::Exit { agent: Actor::Worker, .. });
        if !is_mended(facts, facts.search.task(edge.to)) {
            self.lost.get_or_insert(id);
        }
    }
}

/// True if the task is over, waits for a person, or is in a state whose respawn starts a worker. A person sees the failed hook.
fn is_mended(facts: &Facts<'_>, task: &Task) -> bool {
    let state = facts.machine.state(task.status);
    let starts_worker = state.respawn.and_then(|it| it.spawn().map(|it| it.actor() == Actor::Worker));
    state.waits_for_human || state.terminal || starts_worker == Some(true)
}

fn finding(facts: &Facts<'_>, index: HookIndex, seen: &HookFacts) -> Option<Diagnostic> {
    let is_never = !seen.worked && facts.search.cut().is_none();
    let edge = facts.search.edge(seen.missed?);
    let is_message = |edge: &Edge| -> Option<bool> {
        let hook = &facts.machine.transition(edge.step.transition()?).hooks[usize::from(index)];
        Some(hook.action.traits().tells == Some(Actor::Worker))
    };
    match (is_message(edge)?, is_never) {
        (true, true) => {
            let found = start(
                facts,
                index,
                seen.missed?,
                "sends a message to a worker, and none is ever alive there",
                LOST,
            )?;
            Some(found.help("start an agent in its place: `- {action: spawn_agent, prompt: …}`"))
        }
        (true, false) if !seen.by_rule => {
            let found = start(
                facts,
                index,
                seen.lost?,
                "sends a message to a worker, and none may be alive there",
                LOST,
            )?;
            let to = facts.search.task(facts.search.edge(seen.lost?).to).status;
            let prompt = started_with(facts, seen.lost?).unwrap_or("…");
            Some(found.help(format!(
                "write `respawn_prompt: {prompt}` in `{}`, so that the worker can be started again there",
                facts.name(to)
            )))
        }
        (false, true) => {
            let what = "starts a reviewer beside a worker, and none is ever alive there";
            let found = start(facts, index, seen.missed?, what, "gets a session of its own")?;
            Some(found.help(
                "leave the worker alive until here, or write `action: spawn_agent` and `harness: review`",
            ))
        }
        // Without a worker, a reviewer gets a session of its own, and nothing is lost. `rule-needs-live-session` reports the
        // message that an exit rule sends.
        (_, false) => None,
    }
}

const LOST: &str = "the message goes nowhere";

fn start(facts: &Facts<'_>, index: HookIndex, id: EdgeId, what: &str, part: &str) -> Option<Diagnostic> {
    let transition = facts.search.edge(id).step.transition()?;
    let place = facts.first_line(facts.hook(transition, index)?.span);
    let run = facts.search.run_through(id);
    let mut story: Vec<StoryLabel> = ended(facts, &run, index).into_iter().collect();
    story.push((place, part.to_owned()));
    let message = format!("{} {what}", facts.arrow(facts.transition(transition)));
    let trace = facts.tell(&run, "no worker is alive".to_owned());
    Some(numbered(Diagnostic::new(&C64, place, message), story).trace(trace))
}

/// The label of the hook that ended the worker; `None` if no hook did.
fn ended(facts: &Facts<'_>, run: &[EdgeId], index: HookIndex) -> Option<StoryLabel> {
    let last = *run.last()?;
    let has_died = facts.search.task(facts.search.edge(last).from).worker == Agent::Dead;
    let considered = if has_died { &run[run.len() - 1..] } else { run };
    considered.iter().rev().find_map(|it| {
        let id = facts.search.edge(*it).step.transition()?;
        let hooks = facts.machine.transition(id).hooks;
        let until = if *it == last { usize::from(index) } else { hooks.len() };
        let at = hooks[..until].iter().rposition(|it| it.action.ends_session())?;
        Some((facts.first_line(facts.transition(id).hooks[at].span), "ends the worker".to_owned()))
    })
}

/// The name of the prompt with which the worker was last started.
fn started_with<'f>(facts: &Facts<'f>, id: EdgeId) -> Option<&'f str> {
    facts.search.run_through(id).iter().rev().find_map(|it| {
        let id = facts.search.edge(*it).step.transition()?;
        let mut spawns = facts.machine.transition(id).hooks.iter().rev().filter_map(Hook::spawn);
        let spawn = spawns.find(|it| it.actor() == Actor::Worker)?;
        Some(facts.machine.prompt(spawn.prompt).name)
    })
}
