//! C71: what is published, or given back, does not wait for a hook before it that can fail.

use std::collections::BTreeSet;

use orange_core::action::{Remote, WorktreeUse};
use orange_core::{Hook, OnFailure};

use super::C71;
use super::places::numbered;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::Transition;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (transition, machine) in facts.transitions.iter().zip(facts.machine.transitions) {
        // One of each list is enough, and the transitions of one `from: [a, b]` share theirs.
        if let Some((fails, goes_on)) = pair(machine.hooks).filter(|_| seen.insert(transition.declaration)) {
            found.push(finding(facts, transition, machine.hooks, fails, goes_on));
        }
    }
    found
}

/// A hook that may fail without stopping the others, and the first one after it that should have waited for it.
fn pair(hooks: &[Hook<'_>]) -> Option<(usize, usize)> {
    hooks.iter().enumerate().filter(|(_, hook)| hook.on_failure == OnFailure::GoOn).find_map(|(at, hook)| {
        let later = hooks.iter().enumerate().skip(at + 1);
        later.filter(|(_, later)| should_wait(hook, later)).map(|(later, _)| (at, later)).next()
    })
}

/// A command checks the work, so nothing follows it that shows the work to others or clears it away; and work that was to be
/// published is not cleared away before it is.
fn should_wait(hook: &Hook<'_>, later: &Hook<'_>) -> bool {
    let checks = hook.action.traits().worktree == Some(WorktreeUse::Uses);
    let publishes = |hook: &Hook<'_>| hook.action.traits().remote == Some(Remote::Adds);
    (checks && publishes(later)) || ((checks || publishes(hook)) && later.action.releases())
}

fn finding(
    facts: &Facts<'_>,
    transition: &Transition,
    hooks: &[Hook<'_>],
    fails: usize,
    goes_on: usize,
) -> Diagnostic {
    let [first, second] = [fails, goes_on].map(|at| hooks[at].name());
    let [earlier, later] = [fails, goes_on].map(|at| facts.first_line(transition.hooks[at].span));
    let message = format!("{} runs `{second}` even if `{first}` fails", facts.arrow(transition));
    let does =
        if hooks[goes_on].action.releases() { "gives the worktree back" } else { "publishes the work" };
    let story = vec![(earlier, "may fail, and the hooks after it run".to_owned()), (later, does.to_owned())];
    numbered(Diagnostic::new(&C71, later, message), story).help(format!(
        "write `on_failure: stop` for `{first}`: the hooks after it wait then until it is mended"
    ))
}
