//! B07: a condition that reads a step which may not have ended.

use super::StepsContext;
use crate::catalogue::B07;
use crate::diag::Diagnostic;
use crate::model::StepId;

pub(super) fn check(context: &mut StepsContext<'_>) {
    for (at, step) in (0..).zip(&context.steps.steps) {
        let Some(condition) = &step.condition else { continue };
        let id = StepId(at);
        let is_direct = |read: StepId| step.depends_on.iter().any(|it| it.value == read);
        let others: Vec<_> = condition.steps().into_iter().filter(|it| !is_direct(it.value)).collect();
        let before = if others.is_empty() { Vec::new() } else { context.graph.upstream(id) };
        for read in others.into_iter().filter(|it| !before[it.value.index()]) {
            let (name, other) = (&step.id.value, context.name(read.value));
            let message = match id == read.value {
                true => format!("the condition of `{name}` reads `{name}` itself, which has not run then"),
                false => format!("`{other}` may not have ended when `{name}` is decided"),
            };
            let help = match id == read.value {
                true => format!("read a step on which `{name}` depends"),
                false => format!("add \"{other}\" to `depends_on` of `{name}`"),
            };
            context.found.push(Diagnostic::new(&B07, read.span, message).help(help));
        }
    }
}
