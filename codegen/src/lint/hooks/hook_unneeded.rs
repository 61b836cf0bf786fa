//! C65: on every path there is nothing for a hook to do.

use std::collections::BTreeMap;

use super::C65;
use crate::diag::{Diagnostic, Fix};
use crate::edit;
use crate::lint::Facts;
use crate::model::Transition;
use crate::search::HookIndex;
use crate::search::task::Event;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    if facts.search.cut().is_some() {
        return Vec::new();
    }
    let mut steps: BTreeMap<u32, usize> = BTreeMap::new();
    let mut idle: BTreeMap<(u32, HookIndex), usize> = BTreeMap::new();
    let mut declared: BTreeMap<u32, &Transition> = BTreeMap::new();
    for (_, edge) in facts.search.edges() {
        let Some(id) = edge.step.transition() else { continue };
        let transition = facts.transition(id);
        *steps.entry(transition.declaration).or_default() += 1;
        for (index, _) in facts.search.events(edge).iter().filter(|(_, event)| *event == Event::Idle) {
            *idle.entry((transition.declaration, *index)).or_default() += 1;
            declared.entry(transition.declaration).or_insert(transition);
        }
    }
    let always = idle.iter().filter(|((declaration, _), times)| steps.get(declaration) == Some(times));
    always
        .filter_map(|((declaration, index), _)| finding(facts, declared[declaration], usize::from(*index)))
        .collect()
}

fn finding(facts: &Facts<'_>, transition: &Transition, index: usize) -> Option<Diagnostic> {
    let hook = transition.hooks.get(index)?;
    let place = facts.first_line(hook.span);
    let name = facts.source.text.get(hook.named.range())?;
    let message = format!(
        "`{name}` has nothing to do in {}, on whatever way a task comes here",
        facts.arrow(transition)
    );
    let found = Diagnostic::new(&C65, place, message);
    let fix =
        (transition.hooks.len() > 1).then(|| edit::remove_entry(&facts.source.text, hook.span)).flatten();
    let fix = fix.map(|edit| Fix { title: format!("remove this `{name}`"), edits: vec![edit], safe: false });
    Some(found.help("take it out, or leave it to say what is meant").fix_if(fix))
}
