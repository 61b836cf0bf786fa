//! Compares the behaviour of two workflows.

use std::fmt::Write;

use orange_analysis::lint::with_facts;
use orange_analysis::search::Search;
use orange_analysis::search::task::Event;
use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::{Source, compile};
use orange_core::action::WorktreeUse;
use orange_core::plan::Plan;
use orange_core::{Action, Hook, Machine};

/// The behaviour of a workflow as text. Of a machine: every run on the abstract task, the other effects of its hooks, and its prompts; of a
/// plan: its tables. `None` if it does not compile.
pub(super) fn behaviour(source: &Source) -> Option<String> {
    let checked = compile(source).checked?;
    let arena = PlanArena::default();
    if let Some(plan) = lower_plan(&checked, &arena) {
        return Some(tables(&plan));
    }
    with_facts(&checked, source, |facts| {
        let mut text = String::new();
        let written = [runs(&mut text, facts.search), outside(&mut text, facts.machine)];
        written.iter().all(|it| it.is_ok()).then_some(text)
    })
    .ok()?
}

/// Everything in the tables of a plan has an effect, except the hash of its text.
fn tables(plan: &Plan<'_>) -> String {
    format!("{:?}", Plan { source_hash: "", ..*plan })
}

/// The configurations and the steps between them. A hook without an effect is not an event.
fn runs(text: &mut String, search: &Search<'_>) -> std::fmt::Result {
    for (_, task) in search.configurations() {
        writeln!(text, "{task:?}")?;
    }
    for (_, edge) in search.edges() {
        let events = search.events(edge).iter().filter(|(_, event)| *event != Event::Idle);
        let events: Vec<_> = events.map(|(_, event)| event).collect();
        writeln!(text, "{} {} {:?} {events:?}", edge.from, edge.to, edge.step)?;
    }
    Ok(())
}

/// Writes the part of a machine that is not in the abstract task: the agents that hooks start, and their other effects, in any
/// order that does not matter.
fn outside(text: &mut String, machine: &Machine<'_>) -> std::fmt::Result {
    for transition in machine.transitions {
        let others = transition.hooks.iter().filter(|hook| !is_inside(hook));
        let mut others: Vec<String> = others.map(|hook| format!("{hook:?}")).collect();
        others.sort();
        let release = transition.hooks.iter().position(|it| it.action == Action::ReleaseWorkspace);
        let next = transition.hooks.iter().position(|it| it.action == Action::SpawnNext);
        // The next task needs the worktree that this one releases.
        writeln!(text, "{:?} {others:?} {}", transition.by, release < next)?;
    }
    for state in machine.states {
        writeln!(text, "{:?} {:?} {}", state.respawn, state.entry, state.waits_for_human)?;
    }
    for prompt in machine.prompts {
        writeln!(text, "{prompt:?}")?;
    }
    writeln!(text, "{:?} {}", machine.commands, machine.poll_interval)
}

/// True if the abstract task shows every effect of a hook.
fn is_inside(hook: &Hook<'_>) -> bool {
    let traits = hook.action.traits();
    let binds = matches!(traits.worktree, Some(WorktreeUse::Acquires | WorktreeUse::Releases));
    traits.starts.is_none() && (traits.ends.is_some() || binds || hook.counter.is_some())
}
