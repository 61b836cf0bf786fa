//! C74: a hook, a gate or a state needs a worktree where the agents work without one, or a hook starts such an agent beside a worktree.

use std::collections::BTreeSet;

use orange_core::{Actor, Hook, TransitionId, Workspace};

use super::C74;
use super::hook_order::is_misplaced;
use super::places::{Raised, first_steps, numbered, put_before, raised};
use super::spawn_without_workspace::is_always;
use crate::lint::Facts;
use crate::search::task::Event;
use crate::search::{Edge, EdgeId};
use orange_codegen::diag::{Diagnostic, Level};
use orange_codegen::model::{Gate, State, StateId};
use orange_codegen::span::Span;

/// Texts about one hook.
struct ConflictWords {
    /// Effect of the hook, after the arrow of its transition.
    does: String,
    /// Problem of the hook, in words.
    part: &'static str,
    help: String,
    /// A hook that would have to come before it.
    before: Option<&'static str>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let hooks = raised(facts, |event| words(facts, "", event).is_some(), |_, _, _| true);
    let hooks = hooks.iter().filter(|it| !is_misplaced(facts, it)).filter_map(|it| of_hook(facts, it));
    hooks.chain(of_gates(facts)).chain(of_leftovers(facts)).collect()
}

fn words(facts: &Facts<'_>, hook: &str, event: Event) -> Option<ConflictWords> {
    match event {
        Event::SpawnBesideWorktree => Some(ConflictWords {
            does: "starts an agent that works without a worktree, while the task may hold one".to_owned(),
            part: "starts no agent while the task holds a worktree",
            help: "put `- action: release_workspace` before this hook, or take `workspace: none` away"
                .to_owned(),
            before: Some("release_workspace"),
        }),
        Event::AcquireUnderAgent(alive) => Some(ConflictWords {
            does: format!("takes a worktree while the {alive} may still be alive in the task's folder"),
            part: "takes no worktree while an agent works in the folder",
            help: "put `- action: kill_session` before this hook".to_owned(),
            before: Some("kill_session"),
        }),
        Event::ReleaseUnderAgent(alive) => Some(ConflictWords {
            does: format!("gives back what the {alive} may still be alive in"),
            part: "gives nothing back while an agent works there",
            help: "put `- action: kill_session` before this hook".to_owned(),
            before: Some("kill_session"),
        }),
        Event::NoWorktreeToUse => {
            let states = facts.workflow.states.iter().filter(|state| works_without(state));
            let states: Vec<String> = states.map(|state| format!("`{}`", state.name.value)).collect();
            Some(ConflictWords {
                does: format!("runs `{hook}` where the task has no worktree"),
                part: "has no worktree with work in it, and fails",
                help: format!(
                    "the agents of {} work without a worktree (`workspace: none`): take the hook away, or put `- action: acquire_workspace` before it",
                    states.join(", ")
                ),
                before: None,
            })
        }
        Event::SpawnWhileAlive(_)
        | Event::SpawnWithoutWorkspace
        | Event::SpawnWithoutSession
        | Event::NobodyToNotify
        | Event::KilledUnderOtherName
        | Event::Idle => None,
    }
}

fn of_hook(facts: &Facts<'_>, it: &Raised<'_>) -> Option<Diagnostic> {
    let name = facts.machine.transition(it.id).hooks[usize::from(it.index)].name();
    // An agent that lives on is `session-leak`'s.
    let lives_on = || facts.search.task(facts.search.edge(it.edge).to).alive().is_some();
    if matches!(it.event, Event::ReleaseUnderAgent(_)) && lives_on() {
        return None;
    }
    let words = words(facts, name, it.event)?;
    let place = facts.first_line(it.hook.span);
    let message = format!("{} {}", facts.arrow(facts.transition(it.id)), words.does);
    let is_always = facts.search.cut().is_none() && is_always(facts, it);
    let found = numbered(Diagnostic::new(&C74, place, message), vec![(place, words.part.to_owned())])
        .at_level(if is_always { Level::Deny } else { C74.level })
        .trace(facts.tell(&facts.search.run_through(it.edge), words.part.to_owned()))
        .help(words.help);
    Some(found.fix_if(words.before.and_then(|action| put_before(facts, it.hook, action))))
}

/// Gates that ask a program about the work of a state whose agents have no worktree: none of them ever holds.
fn of_gates(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let of_rules = facts.exit_rules.iter().map(|rule| (rule.status.value, rule.condition.gates()));
    let of_transitions = facts.transitions.iter().map(|it| (it.from.value, &it.gates[..]));
    let gates =
        of_transitions.chain(of_rules).flat_map(|(state, gates)| gates.iter().map(move |it| (state, it)));
    let asked = gates.filter_map(|(state, gate)| program(gate).map(|place| (state, place)));
    let lost = asked.filter(|(state, _)| works_without(facts.state(*state)));
    lost.filter(|(_, place)| seen.insert((place.start, place.end))).map(|it| of_gate(facts, it)).collect()
}

fn program(gate: &Gate) -> Option<Span> {
    match gate {
        Gate::Command(gate) if !gate.on_merge => Some(gate.place),
        Gate::Command(_) | Gate::Section(_) | Gate::AnySection(_) | Gate::Checks(_) | Gate::Children(_) => {
            None
        }
    }
}

fn of_gate(facts: &Facts<'_>, (state, place): (StateId, Span)) -> Diagnostic {
    let (place, state) = (facts.first_line(place), facts.state(state));
    let name = &state.name.value;
    let without = state.agent.workspace.map_or(state.name.span, |it| it.span);
    let message = format!("a gate asks a program about the work in `{name}`, where the task has no worktree");
    let story = vec![
        (facts.first_line(without), format!("the agents of `{name}` work without a worktree")),
        (place, "never holds".to_owned()),
    ];
    numbered(Diagnostic::new(&C74, place, message), story)
        .at_level(Level::Deny)
        .help("ask about a section of TASK.md, or take `workspace: none` away")
}

/// Transitions that leave an agent in the folder of its task, in a state whose agents work in a worktree.
fn of_leftovers(facts: &Facts<'_>) -> impl Iterator<Item = Diagnostic> {
    first_steps(facts, |edge| leaves(facts, edge).is_some()).into_iter().filter_map(|(id, transition)| {
        let alive = leaves(facts, facts.search.edge(id))?;
        Some(of_leftover(facts, id, transition, alive))
    })
}

/// The agent that a step leaves there.
fn leaves(facts: &Facts<'_>, edge: &Edge) -> Option<Actor> {
    let (before, after) = (facts.search.task(edge.from), facts.search.task(edge.to));
    let respawn = facts.machine.state(after.status).respawn.as_ref().and_then(Hook::spawn);
    let wants_worktree = respawn.is_some_and(|spawn| spawn.workspace == Workspace::Worktree);
    let is_left = wants_worktree && after.workspace == Some(Workspace::Folder) && after.waiting.is_none();
    after.alive().filter(|_| is_left && before.status != after.status && !tries_to_acquire(facts, edge))
}

/// True if it has a hook for a worktree, whose failure is another finding.
fn tries_to_acquire(facts: &Facts<'_>, edge: &Edge) -> bool {
    let hooks = edge.step.transition().map_or(&[][..], |id| facts.machine.transition(id).hooks);
    hooks.iter().any(|hook| hook.action.acquires())
}

fn of_leftover(facts: &Facts<'_>, edge: EdgeId, id: TransitionId, alive: Actor) -> Diagnostic {
    let transition = facts.transition(id);
    let (place, to) = (facts.first_line(transition.span), facts.name(transition.to.value));
    let message = format!(
        "{} leaves the {alive} in the task's folder, and the agents of `{to}` work in a worktree",
        facts.arrow(transition)
    );
    let run = facts.search.run_through(edge);
    let mut story = facts.life(&run[..run.len() - 1], alive);
    story.push((place, "takes no worktree, and the agent works on without one".to_owned()));
    numbered(Diagnostic::new(&C74, place, message), story)
        .trace(facts.tell(&run, format!("the {alive} has no worktree")))
        .help(format!(
            "end it and start another: `kill_session`, `acquire_workspace`, `spawn_agent`; or give `{to}` the key `agent: {{workspace: none}}`, too"
        ))
}

fn works_without(state: &State) -> bool {
    state.agent.workspace.is_some_and(|it| it.value == Workspace::Folder)
}
