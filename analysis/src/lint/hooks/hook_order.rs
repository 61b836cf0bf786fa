//! C67: a hook comes before one that it needs done, or that undoes what it did.

use std::collections::{BTreeMap, BTreeSet};

use orange_core::action::{Ends, Remote, WorktreeUse};
use orange_core::{Actor, Hook, Workspace};

use super::C67;
use super::places::{Raised, move_before, numbered};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::Transition;

/// A later hook that should have come before an earlier one.
struct HookOrder {
    later: usize,
    /// Effect of the earlier hook, in words.
    earlier_part: &'static str,
    /// Effect of the later one, in words.
    later_part: &'static str,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (transition, machine) in facts.transitions.iter().zip(facts.machine.transitions) {
        let last = last_of_each(machine.hooks);
        // One of each list is enough, and the transitions of one `from: [a, b]` share theirs.
        let broken = (0..machine.hooks.len()).find_map(|at| Some((at, broken(machine.hooks, at, &last)?)));
        if let Some((at, order)) = broken.filter(|_| seen.insert(transition.declaration)) {
            found.push(finding(facts, transition, machine.hooks, at, &order));
        }
    }
    found
}

/// True if the event at this hook is reported as the order that it breaks.
pub(super) fn is_misplaced(facts: &Facts<'_>, it: &Raised<'_>) -> bool {
    let hooks = facts.machine.transition(it.id).hooks;
    broken(hooks, usize::from(it.index), &last_of_each(hooks)).is_some()
}

/// Index of the last hook of each action.
fn last_of_each(hooks: &[Hook<'_>]) -> BTreeMap<&'static str, usize> {
    hooks.iter().enumerate().map(|(at, hook)| (hook.name(), at)).collect()
}

/// The order that a hook breaks with a later one.
fn broken(hooks: &[Hook<'_>], at: usize, last: &BTreeMap<&'static str, usize>) -> Option<HookOrder> {
    let later = last.values().copied().filter(|later| *later > at);
    let broken = later.filter_map(|later| {
        let (earlier_part, later_part) = clash(&hooks[at], &hooks[later])?;
        Some(HookOrder { later, earlier_part, later_part })
    });
    broken.min_by_key(|it| it.later)
}

fn clash(earlier: &Hook<'_>, later: &Hook<'_>) -> Option<(&'static str, &'static str)> {
    let (before, after) = (earlier.action.traits(), later.action.traits());
    let parts = match (before.worktree, earlier.spawn(), after.worktree, after.ends) {
        (Some(WorktreeUse::Releases), _, _, Some(_)) => {
            ("gives the worktree back while an agent may work in it", "ends the agent only now")
        }
        (Some(WorktreeUse::Releases), _, Some(WorktreeUse::Uses), _) => {
            ("gives the worktree back", "has no worktree to run in any more")
        }
        (Some(WorktreeUse::Releases), ..) if after.remote == Some(Remote::Adds) => {
            ("gives the worktree back and clears it", "publishes the work only now")
        }
        (Some(WorktreeUse::Uses), _, Some(WorktreeUse::Acquires), _) => {
            ("has no worktree to run in yet", "binds the worktree only now")
        }
        (_, Some(spawn), Some(WorktreeUse::Acquires), _) if spawn.workspace == Workspace::Worktree => {
            ("has no worktree to start an agent in yet", "binds the worktree only now")
        }
        (_, Some(_), _, Some(Ends::Session)) => ("starts an agent", "ends it again"),
        (_, Some(spawn), _, Some(Ends::Reviewer)) if spawn.actor() == Actor::Reviewer => {
            ("starts a reviewer", "ends it again")
        }
        (_, Some(_), Some(WorktreeUse::Releases), _) => ("starts an agent", "takes its worktree away"),
        _ => return None,
    };
    Some(parts)
}

fn finding(
    facts: &Facts<'_>,
    transition: &Transition,
    hooks: &[Hook<'_>],
    at: usize,
    order: &HookOrder,
) -> Diagnostic {
    let (earlier, later) = (&transition.hooks[at], &transition.hooks[order.later]);
    let (earlier_name, later_name) = (hooks[at].name(), hooks[order.later].name());
    let message = format!("{} runs `{earlier_name}` before `{later_name}`", facts.arrow(transition));
    let place = facts.first_line(later.span);
    let story = vec![
        (facts.first_line(earlier.span), order.earlier_part.to_owned()),
        (place, order.later_part.to_owned()),
    ];
    let help = format!("hooks run in the order of the list: put `{later_name}` before `{earlier_name}`");
    let has_parameters = !hooks[order.later].action.parameters().is_empty();
    let fix = (!has_parameters).then(|| move_before(facts, earlier, later, later_name)).flatten();
    numbered(Diagnostic::new(&C67, place, message), story).help(help).fix_if(fix)
}
