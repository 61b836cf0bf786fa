//! States, and which of them a task may be created in.

use super::decoder::{Decoder, Entry};
use super::gate::flag;
use super::keys::STATE;
use super::scope::Scope;
use super::{State, Wait};
use crate::catalogue::A05;
use crate::span::Spanned;
use crate::syntax::Kind;

/// The states that tasks are created in where none is marked, beside the initial one (seed 000).
const USUAL_ENTRIES: [&str; 3] = ["clarification", "agent-review", "reviewing"];

/// The states, in the order of the scope's table.
pub(super) fn states(decoder: &mut Decoder<'_>, scope: &Scope<'_>, entries: &[Entry<'_>]) -> Vec<State> {
    entries.iter().map(|entry| state(decoder, scope, entry)).collect()
}

/// Marks the usual entry states when the author marked none.
pub(super) fn mark_entries(states: &mut [State], initial: usize) {
    if states.iter().any(|state| state.entry) {
        return;
    }
    for (at, state) in states.iter_mut().enumerate() {
        state.entry = at == initial || USUAL_ENTRIES.contains(&state.name.value.as_str());
    }
}

fn state(decoder: &mut Decoder<'_>, scope: &Scope<'_>, entry: &Entry<'_>) -> State {
    let name = entry.name.map(str::to_owned);
    let nothing = matches!(&entry.value.kind, Kind::Scalar(it) if it.is_null());
    let fields = if nothing { None } else { decoder.object(entry.value, &STATE) };
    let Some(fields) = fields else {
        return State {
            name,
            terminal: false,
            respawn_prompt: None,
            description: None,
            wait: None,
            entry: false,
        };
    };
    State {
        name,
        terminal: flag(decoder, &fields, "terminal"),
        respawn_prompt: fields.get("respawn_prompt").and_then(|it| scope.prompt(decoder, &it, &A05)),
        description: fields
            .get("description")
            .and_then(|it| decoder.string(&it))
            .map(|it: Spanned<String>| it.value),
        wait: fields
            .get("wait")
            .and_then(|it| decoder.word(&it, &[("human", Wait::Human)]))
            .map(|it| it.value),
        entry: flag(decoder, &fields, "entry"),
    }
}
