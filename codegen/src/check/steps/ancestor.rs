//! B07: a condition, a list or a placeholder that reads a step which may not have ended.

use super::StepsContext;
use crate::catalogue::B07;
use crate::diag::Diagnostic;
use crate::model::{Operand, Step, StepId, StepItemList, StepPiece};
use crate::span::Spanned;

/// The part of a step that reads another one.
#[derive(Clone, Copy)]
enum StepRead {
    Condition,
    List,
    Placeholder,
}

impl StepRead {
    const fn as_str(self) -> &'static str {
        match self {
            StepRead::Condition => "condition",
            StepRead::List => "list",
            StepRead::Placeholder => "prompt",
        }
    }
}

pub(super) fn check(context: &mut StepsContext<'_>) {
    for (at, step) in (0..).zip(&context.steps.steps) {
        let id = StepId(at);
        let is_direct = |read: StepId| step.depends_on.iter().any(|it| it.value == read);
        let others: Vec<_> = reads(step).into_iter().filter(|(_, it)| !is_direct(it.value)).collect();
        if others.is_empty() {
            continue;
        }
        // A handler runs in the place of its step, and reads what that may read.
        let handled =
            (0..).zip(&context.steps.steps).find(|(_, it)| it.on_fail.is_some_and(|it| it.value == id));
        let handled = handled.map(|(at, _)| StepId(at));
        let before = context.graph.upstream(handled.unwrap_or(id));
        for (part, read) in others.into_iter().filter(|(_, it)| !before[it.value.index()]) {
            let (name, other) = (&step.id.value, context.name(read.value));
            let message = match id == read.value {
                true => {
                    format!("the {} of `{name}` reads `{name}` itself, which has not run then", part.as_str())
                }
                false => format!("`{other}` may not have ended when `{name}` is decided"),
            };
            let help = match (id == read.value, handled) {
                (true, _) => format!("read a step on which `{name}` depends"),
                (false, None) => format!("add \"{other}\" to `depends_on` of `{name}`"),
                (false, Some(handled)) => {
                    let handled = context.name(handled);
                    format!("`{name}` handles `{handled}`: read a step on which `{handled}` depends")
                }
            };
            context.found.push(Diagnostic::new(&B07, read.span, message).help(help));
        }
    }
}

/// The steps that a step reads, each at its place.
fn reads(step: &Step) -> Vec<(StepRead, Spanned<StepId>)> {
    let condition = step.condition.iter().flat_map(|it| it.steps()).map(|it| (StepRead::Condition, it));
    let list = step.fan_out.iter().filter_map(|it| match &it.list {
        StepItemList::Output(step, _) => Some((StepRead::List, *step)),
        StepItemList::Input(_) | StepItemList::Fixed(_) => None,
    });
    let read = |piece: &StepPiece| match piece {
        StepPiece::Read(Operand::Step(step, _), name) => Some(Spanned::new(*step, name.span)),
        StepPiece::Read(Operand::Input(_), _) | StepPiece::Text(_) | StepPiece::Value(_) => None,
    };
    let texts = step.texts().flatten().filter_map(read).map(|it| (StepRead::Placeholder, it));
    condition.chain(list).chain(texts).collect()
}
