//! B48: a condition that never holds, or that holds whatever the steps report that it reads.

use super::B48;
use super::facts::{StepFacts, each};
use crate::missions::worlds::{World, Worlds};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let condition = facts.plan.step(id).condition?;
        // One comparison with a word has findings of its own.
        if condition.equality().is_some() {
            return None;
        }
        let worlds = Worlds::of(facts.plan, &[condition])?;
        let holds = |it: &&World| it.holds(&condition);
        let (name, span) = (&step.id.value, step.condition.as_ref()?.span);
        if !worlds.all().any(|it| it.holds(&condition)) {
            let message = format!("the condition of `{name}` never holds");
            let help = "correct it: its tests exclude each other, or a value is out of its bounds";
            return Some(Diagnostic::new(&B48, span, message).help(help));
        }
        let mut present = worlds.all().filter(|it| it.has_all(&condition)).peekable();
        (present.peek().is_some() && present.all(|it| holds(&it))).then(|| {
            let message = format!("the condition of `{name}` holds whatever is reported");
            Diagnostic::new(&B48, span, message)
                .help("correct it, or test with `ran` that the step has completed")
        })
    })
}
