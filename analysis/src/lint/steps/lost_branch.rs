//! B14: a loop that runs a step again which it does not name, or never the one that its condition reads.

use super::B14;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Step, StepId};
use orange_core::plan::StepSet;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let first = step.requeue.first()?;
        let named: Vec<StepId> = step.requeue.iter().map(|it| it.value).collect();
        let after = facts.plan.downstream(&StepSet::of(facts.plan, &named));
        let before = facts.plan.upstream(id);
        let mut between =
            facts.plan.step_ids().filter(|it| after.has(*it) && before.has(*it) && !named.contains(it));
        let name = &step.id.value;
        let read = step.condition.as_ref().map(|it| it.step.value);
        if let Some(read) = read.filter(|it| !named.contains(it) && !after.has(*it)) {
            let message = format!("`{name}` reads `{}`, which does not run again", facts.name(read));
            let help =
                format!("add \"{}\" to `requeue`: its result never changes otherwise", facts.name(read));
            return Some(Diagnostic::new(&B14, first.span, message).help(help));
        }
        let other = facts.name(between.next()?);
        let message = format!(
            "`{other}` runs again, too: it stands between `{}` and `{name}`",
            facts.name(first.value)
        );
        Some(Diagnostic::new(&B14, first.span, message).help(help(step, other)))
    })
}

fn help(step: &Step, between: &str) -> String {
    match &step.requeue[..] {
        [_] => format!("write `requeue` with \"{between}\", too, or with \"{between}\" alone"),
        _ => format!("add \"{between}\" to `requeue`"),
    }
}
