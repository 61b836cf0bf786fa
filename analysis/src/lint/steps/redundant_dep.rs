//! B22: a dependency that follows from another.

use super::B22;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let steps = facts.all().filter(|(_, step)| step.depends_on.len() > 1);
    let pairs = steps.flat_map(|(_, step)| step.depends_on.iter().map(move |it| (step, it)));
    // Who waits for a fan-out wants the reports of its items.
    let pairs = pairs.filter(|(_, it)| !facts.plan.step(it.value).is_fan_out());
    each(pairs, |(step, dependency)| {
        let mut others = step.depends_on.iter().filter(|it| it.value != dependency.value);
        let through = others.find(|it| facts.waits_for(it.value, dependency.value))?;
        let (name, other) = (facts.name(dependency.value), facts.name(through.value));
        let message = format!("`{}` waits for `{name}` already, since `{other}` does", step.id.value);
        let finding = Diagnostic::new(&B22, dependency.span, message)
            .label(dependency.span, "follows")
            .label(through.span, format!("waits for `{name}`"));
        Some(finding.help(format!(
            "delete \"{name}\" if its summary is not wanted: without it, the context has no `## {name}`"
        )))
    })
}
