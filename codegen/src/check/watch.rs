//! A21 and A22: a watch rule takes a declared transition, a transition for a fact has its rule, and no rule stands behind those that
//! always apply before it.

use orange_core::{Fact, FactKind};

use super::CheckContext;
use super::ambiguous::undecided;
use crate::catalogue::{A21, A22};
use crate::diag::Diagnostic;
use crate::guard::Expr;
use crate::guard::cells::Undecided;
use crate::guard::decide::beyond;
use crate::model::{Clause, Outcome, StateId, Transition, WatchRule};
use crate::span::Spanned;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let draft = context.draft;
    let rules = &draft.workflow.watch;
    let found: Vec<_> = rules.iter().flat_map(|rule| targets(context, rule)).collect();
    let unused = draft.workflow.transitions.iter().filter_map(|it| without_rule(context, it));
    let found: Vec<_> = found.into_iter().chain(unused).collect();
    found.into_iter().for_each(|finding| context.report(finding));
    for (at, rule) in rules.iter().enumerate() {
        hidden(context, &rules[..at], rule);
    }
}

fn targets(context: &CheckContext<'_>, rule: &WatchRule) -> Vec<Diagnostic> {
    let name = context.name(rule.status.value);
    if context.state(rule.status.value).terminal {
        let message = format!("`{name}` is terminal, and no watch rule leads on from there");
        return vec![Diagnostic::new(&A21, rule.status.span, message).help("delete the rule")];
    }
    let (one, clauses): (_, &[Clause]) = match &rule.outcome {
        Outcome::Then(to) => (Some(*to), &[]),
        Outcome::ThenWhen(clauses) => (None, clauses),
        Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => (None, &[]),
    };
    one.into_iter()
        .chain(clauses.iter().map(|it| it.then))
        .filter_map(|to| target(context, rule, to))
        .collect()
}

fn target(context: &CheckContext<'_>, rule: &WatchRule, to: Spanned<StateId>) -> Option<Diagnostic> {
    let (from, kind) = (rule.status, rule.fact.value.kind());
    let (name, target) = (context.name(from.value), context.name(to.value));
    if !context.draft.ends.may_connect(from.value, to.value) {
        let message =
            format!("this watch rule leads to `{target}`, but no transition `{name} → {target}` is declared");
        let found = Diagnostic::new(&A21, to.span, message)
            .label(from.span, format!("from `{name}`"))
            .label(to.span, format!("to `{target}`"))
            .about(format!("{name} → {target}"));
        return Some(found.help(format!("declare `- {{from: {name}, to: {target}, by: engine}}`")));
    }
    let between = context.draft.workflow.transitions.iter();
    let between: Vec<_> =
        between.filter(|it| (it.from.value, it.to.value) == (from.value, to.value)).collect();
    let is_for = |it: &&&Transition| it.cause.is_none_or(|cause| cause.value == kind);
    if between.is_empty() || between.iter().any(|it| is_for(&it)) {
        return None;
    }
    let kind = kind.as_str();
    let message =
        format!("this watch rule is about `{kind}`, and no transition `{name} → {target}` is for that");
    let found = Diagnostic::new(&A21, to.span, message);
    let found = between
        .iter()
        .filter_map(|it| it.cause)
        .fold(found, |found, cause| found.label(cause.span, format!("for `{}`", cause.value.as_str())));
    Some(found.help(format!("add a transition with `cause: {kind}`, or one without `cause`")))
}

/// The finding about a transition for a fact that no rule takes.
fn without_rule(context: &CheckContext<'_>, transition: &Transition) -> Option<Diagnostic> {
    let cause = transition.cause?;
    let (from, to) = (transition.from.value, transition.to.value);
    let takes = |rule: &WatchRule| {
        rule.status.value == from
            && rule.fact.value.kind() == cause.value
            && rule.outcome.targets().any(|it| it == to)
    };
    if context.draft.workflow.watch.iter().any(takes) {
        return None;
    }
    let (from, to) = (context.name(from), context.name(to));
    let message = format!(
        "no watch rule of `{from}` leads to `{to}` because of `{}`: this transition is never taken",
        cause.value.as_str()
    );
    let rule = format!("{{status: {from}, {}, then: {to}}}", example(cause.value));
    Some(
        Diagnostic::new(&A21, cause.span, message)
            .help(format!("add `- {rule}` to `watch`, or delete `cause`")),
    )
}

/// A condition about a fact of this kind, as a workflow writes it.
fn example(kind: FactKind) -> String {
    let fact = match kind {
        FactKind::Checks => Fact::ChecksRed,
        FactKind::Review => Fact::ChangesRequested,
        FactKind::Threads => Fact::ThreadsOpen,
        FactKind::Mergeable => Fact::MergeableConflict,
        FactKind::Base => Fact::BaseConflict,
        FactKind::Children => Fact::ChildrenMerged,
    };
    fact.to_string()
}

/// Reports a rule that never applies, since one of those before it does whenever it could.
fn hidden(context: &mut CheckContext<'_>, earlier: &[WatchRule], rule: &WatchRule) {
    let covers =
        |it: &&WatchRule| it.status.value == rule.status.value && rule.fact.value.implies(it.fact.value);
    let before: Vec<&WatchRule> = earlier.iter().filter(covers).collect();
    if before.is_empty() {
        return;
    }
    let guards: Vec<&Expr> = before.iter().filter_map(|it| it.when.as_ref()).map(|it| &it.expr).collect();
    let own = rule.when.as_ref().map(|it| &it.expr);
    let left = if guards.len() < before.len() {
        Ok(None)
    } else {
        beyond(own, &guards, &context.draft.workflow.counters, &mut context.work)
    };
    let place = context.first_line(rule.span);
    match left {
        Ok(Some(_)) => {}
        Ok(None) => {
            let message = "this watch rule never applies: those before it apply whenever it could";
            let found = Diagnostic::new(&A22, place, message);
            let found = before
                .iter()
                .fold(found, |found, it| found.label(context.first_line(it.span), "applies before"));
            context
                .report(found.help("delete the rule, move it up, or give those before it a narrower `when`"));
        }
        Err(Undecided { cells }) => {
            let finding = undecided("this watch rule", "ever applies", cells, place);
            context.report(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(transition: &str, rules: &[&str], expect: &[&str]) {
        let rules: String = rules.iter().map(|rule| format!("- {{{rule}}}\n")).collect();
        let text = format!(
            "name: w\nfields: {{rounds: 0}}\nstates:\n  a: {{respawn_prompt: p}}\n  b: {{}}\n  done: {{terminal: true}}\n\
             transitions:\n- {{from: a, to: b, hooks: [{{action: kill_session}}]}}\n- {{from: b, to: done, by: human}}\n\
             - {{from: b, to: a{transition}}}\nwatch:\n{rules}prompts: {{p: go}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    #[test]
    fn a_watch_rule_takes_a_declared_transition() {
        let red = "status: b, pr: {checks: red}, then: a";
        check("", &[red], &[]);
        check(", cause: pr.checks", &[red], &[]);
        let undeclared = "this watch rule leads to `done`, but no transition `a → done` is declared";
        check("", &["status: a, base: conflict, then: done"], &[undeclared]);
        let terminal = "`done` is terminal, and no watch rule leads on from there";
        check("", &["status: done, base: conflict, then: a"], &[terminal]);
        let other = [
            "no watch rule of `b` leads to `a` because of `pr.checks`: this transition is never taken",
            "this watch rule is about `base`, and no transition `b → a` is for that",
        ];
        check(", cause: pr.checks", &["status: b, base: moved, then: a"], &other);
    }

    #[test]
    fn a_transition_for_a_fact_is_taken_by_the_engine_alone() {
        let rule = "status: b, pr: {threads: open}, then: a";
        check(", cause: pr.threads, by: engine", &[rule], &[]);
        let message = "a transition for `pr.threads` is taken by watch rules alone";
        check(", cause: pr.threads, by: human", &[rule], &[message]);
        check(", cause: pr.threads, by: [engine, human]", &[rule], &[message]);
        check(", cause: pr.chicks", &[rule], &["unknown value `pr.chicks` of `cause`"]);
    }

    #[test]
    fn a_rule_behind_those_that_always_apply_is_reported() {
        let moved = "status: b, base: moved, then: a";
        let hidden = "this watch rule never applies: those before it apply whenever it could";
        check("", &[moved, moved], &[hidden]);
        check("", &[moved, "status: b, base: conflict, then: a"], &[hidden]);
        check("", &["status: b, base: conflict, then: a", moved], &[]);
        check("", &["status: b, base: moved, when: rounds < 3, then: a", moved], &[]);
        let split = [
            "status: b, base: moved, when: rounds < 3, then: a",
            "status: b, base: moved, when: rounds >= 3, then: done",
        ];
        check("", &[split[0], split[1]], &[]);
        check("", &[split[0], split[1], moved], &[hidden]);
        check("", &[split[0], "status: b, base: moved, when: rounds < 2, then: a"], &[hidden]);
    }

    #[test]
    fn transitions_of_one_pair_may_be_for_different_facts() {
        let rules = ["status: b, pr: {checks: red}, then: a", "status: b, pr: {threads: open}, then: a"];
        let two = ", cause: pr.checks}\n- {from: b, to: a, cause: pr.threads}\n- {from: b, to: a, by: human";
        check(two, &rules, &[]);
        let same = ", cause: pr.checks}\n- {from: b, to: a, cause: pr.checks";
        check(same, &rules[..1], &["two transitions `b → a` always both fire: neither has a `when`"]);
    }
}
