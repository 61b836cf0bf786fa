//! D05: a terminal state is no longer terminal, or another state has become terminal.

use super::both::{Both, label};
use super::{ChangeFinding, D05, Side};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::State;

pub(super) fn find(both: &Both<'_>) -> Vec<ChangeFinding> {
    let states = both.old.states().filter(|(id, _)| both.may_be_in(*id));
    let both_sides = states.filter_map(|(id, old)| Some((old, both.new.state(both.state(id)?))));
    both_sides.filter(|(old, new)| old.terminal != new.terminal).map(|(old, new)| changed(old, new)).collect()
}

fn changed(old: &State, new: &State) -> ChangeFinding {
    let name = &new.name.value;
    let (message, help, was) = if new.terminal {
        (
            format!("`{name}` is terminal now: running tasks there can never go on"),
            format!("end tasks in a state of its own, and let `{name}` lead there"),
            "was not terminal",
        )
    } else {
        (
            format!(
                "`{name}` is not terminal any more: tasks that have ended there run again, without a worktree"
            ),
            format!("keep `{name}` terminal, and let tasks go on from another state"),
            "was terminal",
        )
    };
    let finding = Diagnostic::new(&D05, new.name.span, message)
        .label(new.name.span, if new.terminal { "terminal" } else { "not terminal" })
        .help(help);
    ChangeFinding::on(Side::New, finding).beside(label(old.name.span, was))
}
