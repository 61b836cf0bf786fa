//! Reasons why a task in an old state is stranded when the new workflow takes over.

use std::collections::BTreeMap;

use super::both::Both;
use super::removed_transition::{Loss, losses};

/// By the name of each old state that strands its tasks and is not terminal: the reason, in words.
pub(super) fn fates(both: &Both<'_>) -> BTreeMap<String, String> {
    let mut fates = BTreeMap::new();
    for (id, state) in both.old.states().filter(|(_, it)| !it.terminal) {
        let name = &state.name.value;
        match both.state(id) {
            None => {
                fates.insert(name.clone(), format!("the new workflow has no state `{name}`"));
            }
            Some(new) if both.new.state(new).terminal => {
                fates.insert(name.clone(), format!("`{name}` is terminal now, and the task is not over"));
            }
            Some(_) => {}
        }
    }
    for (pair, loss) in losses(both) {
        let [from, to] = [pair.old[0].from.value, pair.old[0].to.value].map(|it| both.old.name(it));
        let why = match loss {
            Loss::Named(_) => format!("its prompt may name `{to}`, and that transition is gone"),
            Loss::Asked(actors) => {
                format!("`{}` may ask for `{to}`, and that transition is gone", actors.join("` and `"))
            }
            Loss::Last => format!("nothing leads on from `{from}` any more"),
        };
        fates.entry(from.to_owned()).or_insert(why);
    }
    fates
}
