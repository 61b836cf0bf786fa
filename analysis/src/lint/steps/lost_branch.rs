//! B14: a loop that runs a step again which it does not name, or never the one that its condition reads.

use super::B14;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Step, StepId};
use orange_core::plan::{StepSet, WorktreeUse};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let Some(first) = step.requeue.first() else { return never_again(facts, step) };
        let named: Vec<StepId> = step.requeue.iter().map(|it| it.value).collect();
        let named_set = StepSet::of(facts.plan, &named);
        let after = facts.plan.downstream(&named_set);
        let before = facts.plan.upstream(id);
        // A reader that looks at what runs again is there for that.
        let looks_on = |it: StepId| {
            let rule = facts.plan.step(it);
            rule.worktree == WorktreeUse::Read && rule.condition.is_some_and(|it| it.reads_one_of(&named_set))
        };
        let mut between = facts
            .plan
            .step_ids()
            .filter(|it| after.has(*it) && before.has(*it) && !named.contains(it) && !looks_on(*it));
        let name = &step.id.value;
        let mut read = step.condition.iter().flat_map(|it| it.steps()).map(|it| it.value).peekable();
        let stays = |it: &StepId| !named.contains(it) && !after.has(*it);
        // Of several steps, one that runs again may change what the condition says.
        let first_read = read.peek().copied();
        if let Some(read) = first_read.filter(|_| read.all(|it| stays(&it))) {
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

/// A condition and `max_retries = 0`: the author had a loop in mind.
fn never_again(facts: &StepFacts<'_>, step: &Step) -> Option<Diagnostic> {
    let retries = step.max_retries.filter(|it| it.value == 0)?;
    let (name, read) = (&step.id.value, facts.name(step.condition.as_ref()?.steps().first()?.value));
    let message = format!("`{read}` does not run again after `{name}`: `max_retries` is 0");
    let help = format!("write how often `{name}` may send `{read}` back, or delete `max_retries`");
    Some(Diagnostic::new(&B14, retries.span, message).help(help))
}

fn help(step: &Step, between: &str) -> String {
    match &step.requeue[..] {
        [_] => format!("write `requeue` with \"{between}\", too, or with \"{between}\" alone"),
        _ => format!("add \"{between}\" to `requeue`"),
    }
}
