//! D01: a state is gone, and tasks may be in it.

use super::both::{Both, label};
use super::{ChangeFinding, D01, Side};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{State, StateId};
use orange_codegen::suggest;

pub(super) fn find(both: &Both<'_>) -> Vec<ChangeFinding> {
    let gone = both.old.states().filter(|(id, _)| both.state(*id).is_none() && both.may_be_in(*id));
    renamed_workflow(both).into_iter().chain(gone.map(|(id, state)| removed(both, id, state))).collect()
}

/// A task names its workflow: under another name it has none of its states.
fn renamed_workflow(both: &Both<'_>) -> Option<ChangeFinding> {
    let (old, new) = (&both.old.workflow.name, &both.new.workflow.name);
    (old.value != new.value).then(|| {
        let message = format!(
            "`{}` is called `{}` now: its tasks don't find any of their states",
            old.value, new.value
        );
        let finding = Diagnostic::new(&D01, new.span, message)
            .label(new.span, "a workflow of another name")
            .help(format!(
                "write `name: {}`, or keep the old file beside this one until its tasks are over",
                old.value
            ));
        ChangeFinding::on(Side::New, finding).beside(label(old.span, "the state that running tasks have"))
    })
}

fn removed(both: &Both<'_>, id: StateId, state: &State) -> ChangeFinding {
    let name = &state.name.value;
    let renamed = renamed(both, name);
    let message = match (state.terminal, renamed) {
        (true, _) => format!("`{name}` is gone, and tasks have ended in it"),
        (false, Some(new)) => {
            format!("`{name}` is gone, and tasks may be in it; is it called `{}` now?", new.name.value)
        }
        (false, None) => format!("`{name}` is gone, and tasks may be in it"),
    };
    let help = match (state.terminal, renamed) {
        (true, _) => format!("keep `{name}: {{terminal: true}}`"),
        (false, Some(new)) => format!(
            "keep `{name}` beside it until no task is left there: `{name}: {{}}`, and `- {{from: {name}, to: {}}}`",
            new.name.value
        ),
        (false, None) => {
            format!(
                "keep `{name}`, without a transition to it and with one out of it, until no task is left there"
            )
        }
    };
    let finding = Diagnostic::new(&D01, state.name.span, message).label(state.name.span, "gone").help(help);
    let finding = match both.old.nearest[usize::from(id.0)] {
        Some(at) => finding.trace(both.old.tell_to(at, "which is gone".to_owned())),
        None => finding,
    };
    ChangeFinding::on(Side::Old, finding).beside(renamed.and_then(|new| label(new.name.span, "a new name?")))
}

/// The new state that this one has become, as far as names tell: the closest one, or the only one.
fn renamed<'b>(both: &Both<'b>, name: &str) -> Option<&'b State> {
    let old = &both.old.workflow.states;
    let is_new = |it: &&State| old.iter().all(|old| old.name.value != it.name.value);
    let new: Vec<&State> = both.new.workflow.states.iter().filter(is_new).collect();
    let close = suggest::closest(name, new.iter().map(|it| it.name.value.as_str()));
    let alone =
        || both.old.states().filter(|(id, _)| both.state(*id).is_none()).count() == 1 && new.len() == 1;
    match close {
        Some(close) => new.into_iter().find(|it| it.name.value == close),
        None if alone() => new.first().copied(),
        None => None,
    }
}
