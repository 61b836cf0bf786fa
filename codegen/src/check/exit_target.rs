//! C40 and C46: where an exit rule leads, a transition must be declared.

use super::CheckContext;
use crate::catalogue::{C40, C46};
use crate::diag::Diagnostic;
use crate::model::decoder::unknown_name;
use crate::model::{Condition, ExitRule, Outcome, StateId};
use crate::span::{Span, Spanned};
use crate::suggest;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let rules = context.draft.workflow.exit_monitoring.rules.iter();
    // Another check is about budgets.
    for rule in rules.filter(|rule| !matches!(rule.condition, Condition::Spent)) {
        match &rule.outcome {
            Outcome::Then(then) => target(context, rule, then),
            Outcome::ThenWhen(clauses) => clauses.iter().for_each(|it| target(context, rule, &it.then)),
            Outcome::Crash { named, stuck_after, .. } => crash(context, rule, *named, *stuck_after),
            Outcome::MarkDead | Outcome::Wait { .. } => {}
        }
    }
}

fn target(context: &mut CheckContext<'_>, rule: &ExitRule, then: &Spanned<StateId>) {
    let from = rule.status.value;
    if context.draft.ends.may_connect(from, then.value) {
        return;
    }
    let (status, to) = (context.name(from), context.name(then.value));
    let finding = Diagnostic::new(
        &C40,
        then.span,
        format!("this {} leads to `{to}`, but no transition `{status} → {to}` is declared", rule.what()),
    )
    .label(rule.status.span, format!("from `{status}`"))
    .label(then.span, format!("to `{to}`"))
    .about(format!("{status} → {to}"))
    .help(format!("declare `- {{from: {status}, to: {to}}}`{}", instead(context, from)));
    context.report(finding);
}

fn crash(context: &mut CheckContext<'_>, rule: &ExitRule, named: Span, stuck_after: u32) {
    if context.draft.crash_is_unknown {
        return;
    }
    let from = rule.status.value;
    let status = context.name(from);
    let finding = match context.draft.workflow.commands.crash {
        Some(crash) if context.draft.ends.may_connect(from, crash) => return,
        Some(crash) => {
            let to = context.name(crash);
            let message = format!(
                "after {} in `{status}` the engine moves to `{to}`, but no transition `{status} → {to}` is declared",
                crashes(stuck_after)
            );
            Diagnostic::new(&C46, named, message)
                .label(rule.status.span, format!("from `{status}`"))
                .label(named, format!("to `{to}`, the crash state"))
                .label(context.state(crash).name.span, "declared here")
                .about(format!("{status} → {to}"))
                .help(format!("declare `- {{from: {status}, to: {to}}}`"))
        }
        None => {
            let message = format!(
                "after {} in `{status}` the engine moves to the crash state, and this workflow has none",
                crashes(stuck_after)
            );
            Diagnostic::new(&C46, named, message)
                .label(rule.status.span, format!("from `{status}`"))
                .label(named, "to `stuck`, which is not declared")
                .about("the crash state")
                .about(unknown_name("state", "stuck"))
                .help(format!("declare a state `stuck` and `- {{from: {status}, to: stuck}}`, or name another state with `commands: {{crash: …}}`"))
        }
    };
    context.report(finding);
}

fn crashes(number: u32) -> String {
    if number == 1 { "1 crash".to_owned() } else { format!("{number} crashes") }
}

/// The declared transitions out, when they are few.
fn instead(context: &CheckContext<'_>, from: StateId) -> String {
    let mut targets: Vec<&str> = context
        .draft
        .workflow
        .transitions
        .iter()
        .filter(|it| it.from.value == from)
        .map(|it| context.name(it.to.value))
        .collect();
    targets.dedup();
    suggest::list(targets).map_or(String::new(), |all| format!(", or choose one of {all}"))
}
