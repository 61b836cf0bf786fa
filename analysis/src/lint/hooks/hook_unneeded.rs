//! C65: on every path there is nothing for a hook to do.

use super::C65;
use crate::lint::Facts;
use crate::search::HookIndex;
use crate::search::task::Event;
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::model::Transition;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    if facts.search.cut().is_some() {
        return Vec::new();
    }
    // By declaration: the hooks that were idle in every step so far.
    let mut idle: Vec<Option<Vec<HookIndex>>> = vec![None; facts.transitions.len()];
    for (_, edge) in facts.search.edges() {
        let Some(id) = edge.step.transition() else { continue };
        let events = facts.search.events(edge);
        match &mut idle[facts.transition(id).declaration as usize] {
            Some(idle) => idle.retain(|index| events.contains(&(*index, Event::Idle))),
            first => {
                let idle = events.iter().filter(|(_, event)| *event == Event::Idle).map(|(index, _)| *index);
                *first = Some(idle.collect());
            }
        }
    }
    let declared = facts.transitions.iter().flat_map(|it| {
        // The first of several with one declaration speaks for all.
        let idle = idle[it.declaration as usize].take().unwrap_or_default();
        idle.into_iter().map(move |index| (*it, usize::from(index)))
    });
    declared.filter_map(|(transition, index)| finding(facts, transition, index)).collect()
}

fn finding(facts: &Facts<'_>, transition: &Transition, index: usize) -> Option<Diagnostic> {
    let hook = transition.hooks.get(index)?;
    let place = facts.first_line(hook.span);
    let name = facts.source.text.get(hook.named.range())?;
    let message = format!("`{name}` has nothing to do in {}, in every run", facts.arrow(transition));
    let found = Diagnostic::new(&C65, place, message);
    let fix =
        (transition.hooks.len() > 1).then(|| edit::remove_entry(&facts.source.text, hook.span)).flatten();
    let fix = fix.map(|edit| Fix { title: format!("remove this `{name}`"), edits: vec![edit], safe: false });
    Some(found.help("take it out, or leave it to say what is meant").fix_if(fix))
}
