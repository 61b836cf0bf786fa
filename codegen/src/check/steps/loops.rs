//! B13 and B27: a loop has a bound, and sends back what stands before it.

use super::StepsContext;
use crate::catalogue::{B13, B27};
use crate::diag::Diagnostic;
use crate::model::StepId;

pub(super) fn check(context: &mut StepsContext<'_>) {
    for at in 0..context.steps.steps.len() as u16 {
        bound(context, StepId(at));
        upstream(context, StepId(at));
    }
}

fn bound(context: &mut StepsContext<'_>, id: StepId) {
    let step = context.step(id);
    let (name, span) = (step.id.value.clone(), step.id.span);
    let retries = step.max_retries;
    match (step.requeue.first(), retries) {
        (Some(first), None) => {
            let message = format!("`{name}` sends steps back, and nothing says how often");
            let finding = Diagnostic::new(&B13, first.span, message);
            context.report(finding.help(format!("add `max_retries = 3` to `{name}`")));
        }
        (Some(first), Some(retries)) if retries.value == 0 => {
            let message = format!("`{name}` sends steps back, and `max_retries` is 0");
            let finding = Diagnostic::new(&B13, retries.span, message);
            let finding = finding.label(first.span, "never sent back").label(retries.span, "never");
            context.report(finding.help("write a larger number, or delete `requeue`"));
        }
        (None, Some(retries)) if retries.value > 0 => {
            let message = format!("`{name}` has `max_retries`, and sends no step back");
            let finding =
                Diagnostic::new(&B13, retries.span, message).label(span, "has no `requeue` and no condition");
            let finding = finding.label(retries.span, "counts nothing");
            context.report(finding.help("add `requeue = [\"…\"]` or a condition, or delete `max_retries`"));
        }
        _ => {}
    }
}

fn upstream(context: &mut StepsContext<'_>, id: StepId) {
    let step = context.step(id);
    if step.requeue.is_empty() {
        return;
    }
    let above = context.graph.upstream(id);
    let others: Vec<_> = step.requeue.iter().filter(|it| !above[it.value.index()]).copied().collect();
    let name = step.id.value.clone();
    // A condition on a step that is not upstream has its own finding.
    let read: Vec<_> = step.condition.iter().flat_map(|it| it.steps()).map(|it| it.span).collect();
    for other in others.iter().filter(|it| !read.contains(&it.span)) {
        let message =
            format!("`{name}` does not wait for `{}`, and sends it back", context.name(other.value));
        let help = "send back the step that the condition reads, or one that stands before it";
        context.report(Diagnostic::new(&B27, other.span, message).help(help));
    }
}
