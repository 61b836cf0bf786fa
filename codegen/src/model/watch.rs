//! `watch`: rules that take a task out of a state when a fact outside of it holds.

use orange_core::{Fact, FactKind, MAX_RERUNS};

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
    /// The most requests to run the failed checks of one commit again before it applies.
    pub rerun: u8,
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
    let rerun = fields.get("rerun").map(|it| rerun(decoder, &it, fact)).unwrap_or(Some(0));
    let outcome = outcome(decoder, scope, &fields, choices);
    let when = match when {
        None => None,
        Some(when) => Some(when?),
    };
    let (status, fact, rerun, outcome) = (status?, fact?, rerun?, outcome?);
    Some(WatchRule { span: fields.span, status, fact, when, rerun, outcome })
}

/// The number of `rerun`, which only a rule about failed checks has, once all have ended.
fn rerun(decoder: &mut Decoder<'_>, field: &Field<'_>, fact: Option<Spanned<Fact>>) -> Option<u8> {
    let number = decoder.integer(field)?;
    let fact = fact?;
    if !fact.value.is_red() {
        let message = "only failed checks can run again";
        let found = Diagnostic::new(&S09, field.key, message)
            .label(fact.span, "another fact than that checks have failed");
        decoder.report(found.help("delete `rerun`, or write `pr: {checks: red}`"));
        return None;
    }
    if fact.value.is_early() {
        let message = "`rerun` and `early` exclude each other: checks run again once all of them have ended";
        let found = Diagnostic::new(&S09, field.key, message).label(fact.span, "does not wait for that");
        decoder.report(found.help("delete one of them"));
        return None;
    }
    match u8::try_from(number) {
        Ok(number) if (1..=MAX_RERUNS).contains(&number) => Some(number),
        Ok(_) | Err(_) => {
            let message = format!("`rerun` is a number from 1 to {MAX_RERUNS}, not {number}");
            let found = Diagnostic::new(&S09, field.value.span, message);
            decoder.report(found.help("say how often the failed checks of one commit run again"));
            None
        }
    }
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
    let kinds = [
        ("checks", FactKind::Checks),
        ("review", FactKind::Review),
        ("threads", FactKind::Threads),
        ("mergeable", FactKind::Mergeable),
    ];
    let given: Vec<_> = kinds.into_iter().filter_map(|(key, kind)| Some((fields.get(key)?, kind))).collect();
    for pair in given.windows(2) {
        exclusive(decoder, &pair[0].0, &pair[1].0);
    }
    match &given[..] {
        [] => {
            let found = Diagnostic::new(&S09, fields.span, "`pr` says what of the pull request it waits for");
            let help =
                "add `checks: red`, `review: changes-requested`, `threads: open` or `mergeable: conflict`";
            decoder.report(found.help(help));
            None
        }
        [(field, kind)] => {
            let fact = value(decoder, field, *kind);
            of_some_checks(decoder, &fields, fact)
        }
        [..] => None,
    }
}

/// The fact with what `required` and `early` say of it.
fn of_some_checks(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'_>,
    fact: Option<Spanned<Fact>>,
) -> Option<Spanned<Fact>> {
    let mut flag = |name: &str| {
        let field = fields.get(name)?;
        decoder.boolean(&field).map(|it| (field, it))
    };
    let (required, early) = (flag("required"), flag("early"));
    let fact = fact?;
    let says = |flag: &Option<(Field<'_>, bool)>| flag.as_ref().is_some_and(|(_, it)| *it);
    let kind = fact.value.kind();
    if let Some(value) = Fact::with(kind, fact.value.value(), says(&required), says(&early)) {
        return Some(Spanned { value, ..fact });
    }
    for (field, message, help) in [
        (required.filter(|_| kind != FactKind::Checks), "only checks are required", "`checks: red`"),
        (early, "`early` is about the first failed check", "`checks: red`"),
    ] {
        if let Some((field, true)) = field {
            let found = Diagnostic::new(&S09, field.key, message).label(fact.span, "this is another fact");
            decoder.report(found.help(format!("delete `{}`, or write {help}", field.name)));
        }
    }
    None
}

fn value(decoder: &mut Decoder<'_>, field: &Field<'_>, kind: FactKind) -> Option<Spanned<Fact>> {
    let facts = Fact::ALL.into_iter().filter(|fact| fact.kind() == kind && fact.word() == fact.value());
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
            "pr: {checks: red, early: true}",
            "pr: {checks: red, required: true, early: false}",
            "pr: {checks: red}, rerun: 10",
            "pr: {checks: green}",
            "pr: {checks: green, required: true}",
            "pr: {mergeable: clean}",
            "pr: {mergeable: conflict}",
            "pr: {mergeable: blocked}",
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

    #[test]
    fn failed_checks_run_again_a_few_times() {
        let red = |rest: &str| format!("status: b, pr: {{checks: red}}, then: a, {rest}");
        check(&red("rerun: 1"), &[]);
        check(&red("rerun: 0"), &["`rerun` is a number from 1 to 10, not 0"]);
        check(&red("rerun: 11"), &["`rerun` is a number from 1 to 10, not 11"]);
        check(&red("rerun: soon"), &["`rerun` takes a whole number, and this is `soon`"]);
        for fact in ["pr: {checks: green}", "pr: {mergeable: blocked}", "base: conflict"] {
            check(&format!("status: b, {fact}, rerun: 1, then: a"), &["only failed checks can run again"]);
        }
        let early = "`rerun` and `early` exclude each other: checks run again once all of them have ended";
        check("status: b, pr: {checks: red, early: true}, rerun: 1, then: a", &[early]);
    }

    #[test]
    fn only_checks_are_required_and_only_failed_ones_early() {
        let early = "`early` is about the first failed check";
        check("status: b, pr: {checks: green, early: true}, then: a", &[early]);
        check("status: b, pr: {threads: open, early: true}, then: a", &[early]);
        check("status: b, pr: {threads: open, required: true}, then: a", &["only checks are required"]);
        check("status: b, pr: {threads: open, required: false}, then: a", &[]);
        check(
            "status: b, pr: {checks: red, early: 1}, then: a",
            &["`early` takes true or false, and this is `1`"],
        );
        let other = "`checks` and `mergeable` exclude each other";
        check("status: b, pr: {checks: red, mergeable: clean}, then: a", &[other]);
    }
}
