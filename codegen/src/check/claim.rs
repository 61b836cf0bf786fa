//! A13: `wait: human` says that nobody but a person moves a task on, so no exit rule may, and nobody else may ask.

use super::CheckContext;
use crate::catalogue::A13;
use crate::diag::Diagnostic;
use crate::model::{Actor, Actors, Outcome, State, StateId, Transition};
use crate::span::Span;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let states = (0..).map(StateId).zip(&context.draft.workflow.states);
    let found: Vec<_> = states.filter_map(|(id, state)| of_state(context, id, state)).collect();
    found.into_iter().for_each(|finding| context.report(finding));
}

fn of_state(context: &CheckContext<'_>, id: StateId, state: &State) -> Option<Diagnostic> {
    let claim = state.wait?.span;
    let (rules, requests) = (rules(context, id), requests(context, id));
    if rules.is_empty() && requests.is_empty() {
        return None;
    }
    let name = &state.name.value;
    let message = format!("`{name}` says that only a person moves a task on from there, and that is not so");
    let help = match (rules.is_empty(), requests.is_empty()) {
        (true, _) => "write `by: human` in each transition that leaves it, or delete `wait: human`",
        (false, true) => "delete the rule, or `wait: human`",
        (false, false) => {
            "delete `wait: human`; or delete the rule, and write `by: human` in each transition that leaves it"
        }
    };
    let finding = Diagnostic::new(&A13, claim, message).label(claim, "says so");
    let others = rules.into_iter().chain(requests);
    Some(others.fold(finding, |finding, (span, text)| finding.label(span, text)).help(help))
}

/// The exit rules that lead on, a timeout among them, and the watch rules.
fn rules(context: &CheckContext<'_>, id: StateId) -> Vec<(Span, String)> {
    let workflow = &context.draft.workflow;
    let own = workflow.exit_monitoring.rules.iter().filter(|rule| rule.status.value == id);
    let leads_on = own.filter_map(|rule| {
        let crash = workflow.commands.crash.filter(|_| matches!(rule.outcome, Outcome::Crash { .. }));
        let to = rule.outcome.targets().next().or(crash)?;
        Some((context.first_line(rule.span), format!("this {} leads to `{}`", rule.what(), context.name(to))))
    });
    let watched = workflow.watch.iter().filter(|rule| rule.status.value == id).filter_map(|rule| {
        let to = rule.outcome.targets().next()?;
        Some((context.first_line(rule.span), format!("this watch rule leads to `{}`", context.name(to))))
    });
    leads_on.chain(watched).collect()
}

/// The transitions that others may ask for, each declaration once.
fn requests(context: &CheckContext<'_>, id: StateId) -> Vec<(Span, String)> {
    let leaving = context.draft.workflow.transitions.iter().filter(|it| it.from.value == id);
    let open = leaving.filter(|it| others(it.by).next().is_some());
    open.map(|it| (context.first_line(it.span), who_may(context, it))).collect()
}

/// Those who may ask beside persons and the engine.
fn others(by: Actors) -> impl Iterator<Item = Actor> {
    by.iter().filter(|it| !matches!(it, Actor::Human | Actor::Engine))
}

fn who_may(context: &CheckContext<'_>, transition: &Transition) -> String {
    let to = context.name(transition.to.value);
    if transition.by == Actors::ANYONE {
        return format!("has no `by`: anybody may ask for `{to}`");
    }
    let workflow = &context.draft.workflow;
    let others: Vec<&str> = others(transition.by).map(|it| workflow.actor_name(it)).collect();
    format!("its `by` lets `{}` ask for `{to}`", others.join("` and `"))
}
