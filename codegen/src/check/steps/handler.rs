//! B26: a handler starts when a failure takes it, and for no other reason.

use std::collections::HashMap;

use super::StepsContext;
use crate::catalogue::B26;
use crate::diag::Diagnostic;
use crate::model::StepId;
use crate::span::Span;

pub(super) fn check(context: &mut StepsContext<'_>) {
    let mut named: HashMap<StepId, (StepId, Span)> = HashMap::new();
    for (at, step) in (0..).zip(&context.steps.steps) {
        let Some(handler) = step.on_fail else { continue };
        let id = StepId(at);
        let (name, failed) = (context.name(handler.value).to_owned(), step.id.value.clone());
        if handler.value == id {
            let message = format!("`{name}` cannot handle its own failure");
            let help = "name another step, which runs when this one has failed";
            context.report(Diagnostic::new(&B26, handler.span, message).help(help));
            continue;
        }
        if let Some((other, first)) = named.insert(handler.value, (id, handler.span)) {
            let message = format!("`{name}` handles the failures of two steps");
            let finding = Diagnostic::new(&B26, handler.span, message)
                .label(first, format!("of `{}`", context.name(other)))
                .label(handler.span, format!("of `{failed}`"))
                .help("write a step for each: what it reports stands for the step that failed");
            context.report(finding);
        }
        faults(context, handler.value, &failed);
    }
}

/// Reports everything else that would start a handler, or wait for it.
fn faults(context: &mut StepsContext<'_>, handler: StepId, failed: &str) {
    let step = context.step(handler);
    let name = step.id.value.clone();
    let reasons = [
        (!step.depends_on.is_empty()).then_some("depends_on"),
        step.condition.as_ref().map(|_| "condition"),
        step.max_retries.map(|_| "max_retries"),
        (!step.requeue.is_empty() && step.max_retries.is_none()).then_some("requeue"),
        step.on_fail.map(|_| "on_fail"),
    ];
    let span = step.id.span;
    for key in reasons.into_iter().flatten() {
        let message = format!("`{name}` handles the failure of `{failed}`, and has `{key}`");
        let help = format!("delete `{key}`: a handler starts only when a failure takes it");
        context.report(Diagnostic::new(&B26, span, message).help(help));
    }
    let dependents: Vec<StepId> = context.graph.dependents(handler).to_vec();
    for dependent in dependents {
        let other = context.name(dependent).to_owned();
        let place = context.step(dependent).depends_on.iter().find(|it| it.value == handler);
        let Some(place) = place.map(|it| it.span) else { continue };
        let message = format!("`{other}` waits for `{name}`, which runs only when `{failed}` fails");
        let finding = Diagnostic::new(&B26, place, message).label(span, "handles a failure");
        let help = format!("write \"{failed}\" here: what its handler reports stands for it");
        context.report(finding.label(place, "waits for it").help(help));
    }
}
