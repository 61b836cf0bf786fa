//! B12: a step without a condition that runs although a dependency was skipped.

use super::B12;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let pairs = facts.search.after_skip();
    let pairs = pairs.into_iter().filter(|((id, _), _)| facts.step(*id).condition.is_none());
    each(pairs, |((id, skipped), at)| {
        let step = facts.step(id);
        let dependency = step.depends_on.iter().find(|it| it.value == skipped)?;
        let (name, other) = (&step.id.value, facts.name(skipped));
        let message = format!("`{name}` runs although `{other}` was skipped");
        let finding =
            Diagnostic::new(&B12, dependency.span, message).label(dependency.span, "counts as ended");
        let finding = match &facts.step(skipped).condition {
            Some(condition) => {
                finding.label(condition.span, format!("if this does not hold, `{other}` is skipped"))
            }
            None => finding,
        };
        let trace = facts.tell(Some(at), format!("`{other}` was skipped"));
        Some(
            finding
                .trace_if(trace)
                .help(format!("give `{name}` a condition, too, or let it depend on what it needs")),
        )
    })
}
