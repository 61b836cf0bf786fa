//! `watch`: rules that take a task out of a state when a fact outside of it holds.

use orange_core::{Fact, FactKind};

use super::decoder::{Decoder, Field, ObjectFields};
use super::exit::{exclusive, then_when};
use super::keys::{PULL_REQUEST_FACT, WATCH_RULE};
use super::scope::Scope;
use super::{Outcome, StateId};
use crate::catalogue::{A06, S09};
use crate::diag::Diagnostic;
use crate::guard::Guard;
use crate::span::{Span, Spanned};
use crate::syntax::Node;

/// A rule of `watch`.
#[derive(Clone, Debug)]
pub struct WatchRule {
    /// The whole mapping.
    pub span: Span,
    /// The state it is for.
    pub status: Spanned<StateId>,
    /// The fact for which it waits.
    pub fact: Spanned<Fact>,
    /// The condition over counters under which it applies.
    pub when: Option<Guard>,
    /// [`Outcome::Then`] or [`Outcome::ThenWhen`].
    pub outcome: Outcome,
}

/// The watch rules that could be understood; the guards of every `then_when` are added to `choices`.
pub(super) fn watch(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    field: &Field<'_>,
    choices: &mut Vec<Vec<Guard>>,
) -> Vec<WatchRule> {
    let items = decoder.list(field);
    items.iter().filter_map(|item| rule(decoder, scope, item, choices)).collect()
}

fn rule(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    item: &Node,
    choices: &mut Vec<Vec<Guard>>,
) -> Option<WatchRule> {
    let fields = decoder.object(item, &WATCH_RULE)?;
    let status = fields.get("status").and_then(|it| scope.some_state(decoder, &it));
    let fact = watched_fact(decoder, &fields);
    let when = fields.get("when").map(|it| scope.guard(decoder, &it));
    let outcome = outcome(decoder, scope, &fields, choices);
    let when = match when {
        None => None,
        Some(when) => Some(when?),
    };
    Some(WatchRule { span: fields.span, status: status?, fact: fact?, when, outcome: outcome? })
}

/// The fact that the keys `pr`, `base` and `children` name: `pr: {checks: red}`, `base: conflict`, or `children: merged`.
pub fn watched_fact(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Option<Spanned<Fact>> {
    let given: Vec<_> = ["pr", "base", "children"].into_iter().filter_map(|key| fields.get(key)).collect();
    match &given[..] {
        [] => {
            let message = "a watch rule says what it waits for: `pr`, `base` or `children`";
            let help =
                "add `pr: {checks: red}`, `pr: {threads: open}`, `base: conflict` or `children: merged`";
            decoder.report(Diagnostic::new(&S09, fields.span, message).help(help));
            None
        }
        [one] => match FactKind::parse(one.name) {
            Some(kind) => value(decoder, one, kind),
            None => of_pull_request(decoder, one),
        },
        [first, second, ..] => {
            exclusive(decoder, first, second);
            None
        }
    }
}

fn of_pull_request(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<Fact>> {
    let fields = decoder.object(field.value, &PULL_REQUEST_FACT)?;
    let kinds = [("checks", FactKind::Checks), ("review", FactKind::Review), ("threads", FactKind::Threads)];
    let given: Vec<_> = kinds.into_iter().filter_map(|(key, kind)| Some((fields.get(key)?, kind))).collect();
    for pair in given.windows(2) {
        exclusive(decoder, &pair[0].0, &pair[1].0);
    }
    match &given[..] {
        [] => {
            let found = Diagnostic::new(&S09, fields.span, "`pr` says what of the pull request it waits for");
            decoder.report(found.help("add `checks: red`, `review: changes-requested` or `threads: open`"));
            None
        }
        [(field, kind)] => value(decoder, field, *kind),
        [..] => None,
    }
}

fn value(decoder: &mut Decoder<'_>, field: &Field<'_>, kind: FactKind) -> Option<Spanned<Fact>> {
    let facts = Fact::ALL.into_iter().filter(|fact| fact.kind() == kind);
    let words: Vec<_> = facts.map(|fact| (fact.value(), fact)).collect();
    decoder.word(field, &words)
}

fn outcome(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    fields: &ObjectFields<'_>,
    choices: &mut Vec<Vec<Guard>>,
) -> Option<Outcome> {
    match (fields.get("then"), fields.get("then_when")) {
        (Some(then), Some(clauses)) => {
            exclusive(decoder, &then, &clauses);
            None
        }
        (Some(then), None) => scope.state(decoder, &then, &A06).map(Outcome::Then),
        (None, Some(clauses)) => then_when(decoder, scope, &clauses, choices),
        (None, None) => {
            let found = Diagnostic::new(
                &S09,
                fields.span,
                "a watch rule says where the task goes: `then` or `then_when`",
            );
            decoder.report(found.help("add `then: STATE`"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(rule: &str, expect: &[&str]) {
        let text = format!(
            "name: w\nfields: {{rounds: 0}}\nstates:\n  a: {{respawn_prompt: p}}\n  b: {{}}\n  done: {{terminal: true}}\n\
             transitions:\n- {{from: a, to: b, hooks: [{{action: kill_session}}]}}\n- {{from: b, to: [a, done]}}\n\
             watch:\n- {{{rule}}}\nprompts: {{p: go}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    #[test]
    fn a_watch_rule_waits_for_one_fact_and_leads_to_one_state() {
        for fact in [
            "pr: {checks: red}",
            "pr: {checks: green}",
            "pr: {review: changes-requested}",
            "pr: {review: approved}",
            "pr: {threads: open}",
            "base: moved",
            "base: conflict",
        ] {
            check(&format!("status: b, {fact}, then: a"), &[]);
        }
        check("status: b, base: moved, when: rounds < 3, then: a", &[]);
        check(
            "status: b, pr: {checks: red}",
            &["a watch rule says where the task goes: `then` or `then_when`"],
        );
        check("status: b, then: a", &["a watch rule says what it waits for: `pr`, `base` or `children`"]);
        check(
            "status: b, base: moved, children: ended, then: a",
            &["`base` and `children` exclude each other"],
        );
        check("status: b, children: grown, then: a", &["unknown value `grown` of `children`"]);
        check("status: b, pr: {}, then: a", &["`pr` says what of the pull request it waits for"]);
        check("status: b, pr: {checks: red}, base: moved, then: a", &["`pr` and `base` exclude each other"]);
        check(
            "status: b, pr: {checks: red, threads: open}, then: a",
            &["`checks` and `threads` exclude each other"],
        );
        check("status: b, pr: {checks: pink}, then: a", &["unknown value `pink` of `checks`"]);
        check("pr: {checks: red}, then: a", &["a watch rule needs the key `status`"]);
        check("status: c, pr: {checks: red}, then: d", &["unknown state `c`", "unknown state `d`"]);
        check(
            "status: b, base: moved, then_when: [{when: rounds < 3, then: a}]",
            &["no `then_when` clause holds: rounds >= 3 (for example 3)"],
        );
        check("status: b, base: moved, when: rounds <, then: a", &["expected an integer, found the end"]);
    }
}
