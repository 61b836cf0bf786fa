//! A24, A25 and A26: a budget leads on by a transition of the engine, comes before that of the task, and has figures.

use orange_core::budget::{BudgetKind, amount};

use super::CheckContext;
use crate::catalogue::{A24, A25, A26};
use crate::diag::Diagnostic;
use crate::model::{
    Actor, AgentSettings, Condition, ExitRule, HarnessName, Outcome, State, StateId, WrittenBudget,
};
use crate::span::Spanned;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let workflow = &context.draft.workflow;
    let mut found: Vec<Diagnostic> =
        workflow.states.iter().filter_map(|state| target(context, state.spent.as_ref()?)).collect();
    found.extend(workflow.states.iter().flat_map(|state| pointless(context, state)));
    for (id, state) in (0..).map(StateId).zip(&workflow.states) {
        let budgets = [state.budget.as_ref(), workflow.budget.as_ref()];
        let limits = budgets.into_iter().flatten();
        found.extend(limits.flat_map(|budget| unknown(context, id, state, budget)));
    }
    found.into_iter().for_each(|finding| context.report(finding));
}

/// The finding about an `on_budget` that no transition of the engine follows.
fn target(context: &CheckContext<'_>, rule: &ExitRule) -> Option<Diagnostic> {
    debug_assert!(matches!(rule.condition, Condition::Spent), "the rule of a budget");
    let Outcome::Then(then) = &rule.outcome else { return None };
    let from = rule.status.value;
    let (status, to) = (context.name(from), context.name(then.value));
    let transitions = context.draft.workflow.transitions.iter();
    let mut between = transitions.filter(|it| (it.from.value, it.to.value) == (from, then.value)).peekable();
    let is_declared = between.peek().is_some() || context.draft.ends.may_connect(from, then.value);
    let first = between.peek().copied();
    let mut is_for_engine = || between.any(|it| it.cause.is_none() && it.by.names(Actor::Engine));
    if is_declared && (first.is_none() || is_for_engine()) {
        return None;
    }
    let message = match first {
        Some(_) => {
            format!("`on_budget` leads to `{to}`, and no transition `{status} → {to}` is for the engine")
        }
        None => format!("`on_budget` leads to `{to}`, but no transition `{status} → {to}` is declared"),
    };
    let found = Diagnostic::new(&A24, then.span, message)
        .label(rule.status.span, format!("from `{status}`"))
        .label(then.span, format!("to `{to}`"))
        .about(format!("{status} → {to}"));
    Some(match first {
        Some(first) => found
            .label(context.first_line(first.span), "the engine may not take this one")
            .help("add `engine` to its `by`, or declare one for the engine"),
        None => found.help(format!("declare `- {{from: {status}, to: {to}}}`")),
    })
}

/// The findings about limits of a state that the task's own limits leave no room for.
fn pointless(context: &CheckContext<'_>, state: &State) -> Vec<Diagnostic> {
    let (Some(of_task), Some(budget)) = (&context.draft.workflow.budget, &state.budget) else {
        return Vec::new();
    };
    let name = &state.name.value;
    let found = budget.limits.iter().filter_map(|limit| {
        let kind = limit.kind.value;
        let whole = of_task.limits.iter().find(|it| it.kind.value == kind && it.value <= limit.value)?;
        let message = format!(
            "the limit of {} in `{name}` is never reached: the task has {}",
            amount(kind, limit.value),
            amount(kind, whole.value)
        );
        Some(
            Diagnostic::new(&A25, limit.kind.span, message)
                .label(limit.kind.span, "a stay in the state")
                .label(whole.kind.span, "the whole task")
                .help(
                    "write a lower limit for the state or a higher one for the task, or delete one of them",
                ),
        )
    });
    found.collect()
}

/// The findings about limits for which a named harness of a state reports no figures.
fn unknown(
    context: &CheckContext<'_>,
    id: StateId,
    state: &State,
    budget: &WrittenBudget,
) -> Vec<Diagnostic> {
    let mut harnesses = harnesses(context, id, state);
    harnesses.sort_unstable_by_key(|it| (it.value, it.span.start));
    harnesses.dedup_by_key(|it| it.value);
    let mut found = Vec::new();
    for harness in harnesses {
        let is_unknown = |kind: BudgetKind| kind.is_reported_by(harness.value) == Some(false);
        for limit in budget.limits.iter().filter(|it| is_unknown(it.kind.value)) {
            let (kind, state) = (limit.kind.value.as_str(), &state.name.value);
            let message = format!(
                "`{}` reports no figures for `{kind}`: what its agents use in `{state}` counts nothing",
                harness.value
            );
            found.push(
                Diagnostic::new(&A26, limit.kind.span, message)
                    .label(limit.kind.span, "the limit")
                    .label(harness.span, "the harness")
                    .help("limit `time` or `starts`, which Orange counts itself, or name another harness"),
            );
        }
    }
    found
}

/// The harnesses that the workflow names for the agents of a state: in the hooks that start them, or else in the state.
fn harnesses<'c>(context: &CheckContext<'c>, id: StateId, state: &'c State) -> Vec<Spanned<&'c str>> {
    let into = context.draft.workflow.transitions.iter().filter(|it| it.to.value == id);
    let hooks = into.flat_map(|it| &it.hooks).filter_map(|hook| hook.spawn.as_ref());
    let own = hooks.map(|spawn| &spawn.agent).filter(|it| it.harness.is_some());
    own.chain([&state.agent]).filter_map(named).collect()
}

fn named(agent: &AgentSettings) -> Option<Spanned<&str>> {
    let harness = agent.harness.as_ref()?;
    match &harness.value {
        HarnessName::Named(name) => Some(Spanned::new(name.as_str(), harness.span)),
        // Which harness a task has is said when it is created.
        HarnessName::Task | HarnessName::Review => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(budget: &str, state: &str, by: &str, expect: &[&str]) {
        let text = format!(
            "name: w\n{budget}states:\n  a: {{}}\n  b: {{respawn_prompt: p{state}}}\n  c: {{}}\n  d: {{terminal: true}}\ntransitions:\n\
             - {{from: a, to: b, hooks: [{{action: spawn_agent, prompt: p}}]}}\n- {{from: b, to: c{by}, hooks: [{{action: kill_session}}]}}\n\
             - {{from: c, to: [b, d]}}\nprompts: {{p: go}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    #[test]
    fn a_used_up_budget_takes_a_transition_of_the_engine() {
        let state = ", budget: {cost: 2}, on_budget: c";
        check("", state, "", &[]);
        check("", state, ", by: [engine, human]", &[]);
        let human = "`on_budget` leads to `c`, and no transition `b → c` is for the engine";
        check("", state, ", by: human", &[human]);
        let undeclared = "`on_budget` leads to `d`, but no transition `b → d` is declared";
        check("", ", budget: {cost: 2}, on_budget: d", "", &[undeclared]);
    }

    #[test]
    fn a_state_has_less_than_its_task() {
        check("budget: {cost: 5, starts: 9}\n", ", budget: {cost: 4.99, time: 9d}", "", &[]);
        let never = "the limit of $5.00 in `b` is never reached: the task has $5.00";
        check("budget: {cost: 5}\n", ", budget: {cost: 5}", "", &[never]);
    }

    #[test]
    fn a_named_harness_has_figures_for_the_limits() {
        let message = |harness: &str, kind: &str| {
            format!("`{harness}` reports no figures for `{kind}`: what its agents use in `b` counts nothing")
        };
        let of = |harness: &str| {
            format!(", agent: {{harness: {harness}}}, budget: {{cost: 1, fresh_tokens: 9k, time: 1h}}")
        };
        check("", &of("claude"), "", &[]);
        check("", &of("task"), "", &[]);
        check("", &of("my-own"), "", &[]);
        check("", &of("pi"), "", &[&message("pi", "fresh_tokens")]);
        check("", &of("gemini"), "", &[&message("gemini", "cost"), &message("gemini", "fresh_tokens")]);
        check("budget: {cost: 5}\n", ", agent: {harness: copilot}", "", &[&message("copilot", "cost")]);
    }
}
