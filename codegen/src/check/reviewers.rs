//! A19: all transitions into a state start the same reviewers with names, and gates read what each of them writes.

use std::collections::{BTreeMap, BTreeSet};

use super::CheckContext;
use crate::catalogue::A19;
use crate::diag::Diagnostic;
use crate::model::reviewers::reviewers_of;
use crate::model::{Condition, Gate, Hook, Role, SectionGate, StateId, Transition};
use crate::span::{Span, Spanned};
use crate::syntax::limits::{MAX_REVIEWERS, exceeded};

pub(super) fn check(context: &mut CheckContext<'_>) {
    let mut found: BTreeMap<Span, Diagnostic> = BTreeMap::new();
    nobody_s(context, &mut found);
    same_names(context, &mut found);
    same_reviewers(context, &mut found);
    unread(context, &mut found);
    forgotten(context, &mut found);
    too_many(context, &mut found);
    found.into_values().for_each(|it| context.report(it));
}

/// Transitions of one declaration have the same gates and hooks: a place is reported once.
type DiagnosticsBySpan = BTreeMap<Span, Diagnostic>;

/// The gates with `verdicts` of states into which no transition starts a reviewer with a name.
fn nobody_s(context: &CheckContext<'_>, found: &mut DiagnosticsBySpan) {
    let workflow = &context.draft.workflow;
    let of_transitions = workflow.transitions.iter().map(|it| (it.from.value, &it.gates[..]));
    let of_rules = workflow.exit_monitoring.rules.iter().filter_map(|it| match &it.condition {
        Condition::HasArtifact(gates) => Some((it.status.value, &gates[..])),
        Condition::NoArtifact
        | Condition::Ended(_)
        | Condition::Overdue(_)
        | Condition::Spent
        | Condition::Always => None,
    });
    for (state, gates) in of_transitions.chain(of_rules) {
        let all = gates.iter().flat_map(Gate::sections).filter(|gate| gate.reviewer.is_none());
        for (gate, verdicts) in all.filter_map(|gate| Some((gate, gate.verdicts?))) {
            let state = context.name(state);
            let message = format!(
                "`verdicts` asks for those of reviewers with names, and none is started for `{state}`"
            );
            let help = format!(
                "give each `spawn_reviewer` of the transitions to `{state}` a `name`, or delete `verdicts`"
            );
            let finding = Diagnostic::new(&A19, verdicts.span, message)
                .label(verdicts.span, format!("reads `{}: NAME`", gate.section.value))
                .help(help);
            found.entry(verdicts.span).or_insert(finding);
        }
    }
}

/// Within a transition every reviewer needs a name of its own, if one has a name.
fn same_names(context: &CheckContext<'_>, found: &mut DiagnosticsBySpan) {
    for transition in &context.draft.workflow.transitions {
        let reviews = |it: &&Hook| it.spawn.as_ref().is_some_and(|spawn| spawn.role == Role::Reviewer);
        let starts: Vec<&Hook> = transition.hooks.iter().filter(reviews).collect();
        let mut names: Vec<&Spanned<String>> = Vec::new();
        for name in starts.iter().filter_map(|it| it.reviewer()) {
            match names.iter().find(|it| it.value == name.value) {
                Some(first) => {
                    let message = format!("two reviewers of one transition have the name `{}`", name.value);
                    let finding = Diagnostic::new(&A19, name.span, message)
                        .label(first.span, "the first one")
                        .label(name.span, "the second one")
                        .help("give each a name of its own");
                    found.entry(name.span).or_insert(finding);
                }
                None => names.push(name),
            }
        }
        let nameless = starts.iter().find(|it| it.reviewer().is_none());
        if let Some((nameless, first)) = nameless.zip(names.first()) {
            let at = context.first_line(nameless.span);
            let message = "a reviewer without a name is started beside one that has a name";
            let finding = Diagnostic::new(&A19, at, message)
                .label(first.span, "this one has a name")
                .label(at, "this one has none, and can only be alone")
                .help("add `name: …`");
            found.entry(at).or_insert(finding);
        }
    }
}

/// All transitions into a state that start reviewers start the same ones: a gate there reads the verdicts of all of them.
fn same_reviewers(context: &CheckContext<'_>, found: &mut DiagnosticsBySpan) {
    let all = reviewers_of(&context.draft.workflow.transitions);
    for transition in &context.draft.workflow.transitions {
        let Some(names) = all.get(&transition.to.value) else { continue };
        let Some(hook) = transition.hooks.iter().find(|it| it.spawn.is_some()) else { continue };
        let own: BTreeSet<&str> =
            transition.hooks.iter().filter_map(Hook::reviewer).map(|it| it.value.as_str()).collect();
        if let Some(missing) = names.iter().find(|it| !own.contains(it.as_str())) {
            let (to, at) = (context.name(transition.to.value), context.first_line(hook.span));
            let message = format!(
                "this transition to `{to}` does not start the reviewer `{missing}`, which others start"
            );
            let finding = Diagnostic::new(&A19, at, message)
                .help(format!("start all of them in each transition that starts one: {}", names.join(", ")));
            found.entry(at).or_insert(finding);
        }
    }
}

/// Each reviewer with a name has a section that a gate of its state reads.
fn unread(context: &CheckContext<'_>, found: &mut DiagnosticsBySpan) {
    let workflow = &context.draft.workflow;
    let read = |state: StateId, name: &str| {
        let leaving = workflow.transitions.iter().filter(|it| it.from.value == state);
        let of_transitions = leaving.flat_map(Transition::section_gates);
        let rules = workflow.exit_monitoring.rules.iter().filter(|it| it.status.value == state);
        let of_rules = rules.flat_map(|it| it.condition.section_gates());
        let is_own = |it: &SectionGate| it.asks_for_verdict() && it.reviewer.as_deref() == Some(name);
        of_transitions.chain(of_rules).any(is_own)
    };
    for transition in &workflow.transitions {
        for name in transition.hooks.iter().filter_map(Hook::reviewer) {
            if !read(transition.to.value, &name.value) {
                let to = context.name(transition.to.value);
                let message = format!("no gate of `{to}` reads a verdict of the reviewer `{}`", name.value);
                let help = format!(
                    "write `gate: {{section: \"## Review\", verdict: PASS, verdicts: all}}` in a transition from `{to}`"
                );
                found.entry(name.span).or_insert(Diagnostic::new(&A19, name.span, message).help(help));
            }
        }
    }
}

/// A gate that reads a verdict from the section whose name the reviewers add theirs to: none of them writes it.
fn forgotten(context: &CheckContext<'_>, found: &mut DiagnosticsBySpan) {
    let workflow = &context.draft.workflow;
    for (state, names) in reviewers_of(&workflow.transitions) {
        let leaving = workflow.transitions.iter().filter(|it| it.from.value == state);
        let rules = workflow.exit_monitoring.rules.iter().filter(|it| it.status.value == state);
        let gates: Vec<&SectionGate> = leaving
            .flat_map(Transition::section_gates)
            .chain(rules.flat_map(|it| it.condition.section_gates()))
            .collect();
        let is_split = |base: &str| {
            let own =
                gates.iter().filter_map(|it| Some((it.section.value.as_str(), it.reviewer.as_deref()?)));
            own.into_iter().any(|(section, name)| section.strip_suffix(name) == Some(&format!("{base}: ")))
        };
        let plain = gates.iter().filter(|it| {
            it.asks_for_verdict() && it.reviewer.is_none() && it.verdicts.is_none() && it.written_by.is_none()
        });
        for gate in plain.filter(|it| is_split(&it.section.value)) {
            let (section, span) = (&gate.section.value, gate.section.span);
            let message = format!(
                "this gate reads a verdict in `{section}`, and the reviewers of `{}` write `{section}: {}`",
                context.name(state),
                names.iter().map(String::as_str).collect::<Vec<_>>().join(&format!("` and `{section}: "))
            );
            let finding = Diagnostic::new(&A19, span, message)
                .label(span, "nobody writes this section")
                .help("add `verdicts: all`, or `verdicts: any` where one of them is enough; or say who writes it: `written_by`");
            found.entry(span).or_insert(finding);
        }
    }
}

fn too_many(context: &CheckContext<'_>, found: &mut DiagnosticsBySpan) {
    let mut names = BTreeSet::new();
    for name in context.draft.workflow.transitions.iter().flat_map(|it| &it.hooks).filter_map(Hook::reviewer)
    {
        if names.insert(name.value.as_str()) && names.len() > MAX_REVIEWERS {
            found.insert(name.span, exceeded("reviewers with names", MAX_REVIEWERS, name.span));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(hooks: &str, rest: &str, gate: &str, expect: &[&str]) {
        let text = format!(
            "name: w\nstates: {{a: {{}}, b: {{}}, c: {{terminal: true}}}}\ntransitions:\n\
             - {{from: a, to: b, hooks: [{hooks}]}}\n{rest}- {{from: b, to: c, gate: {gate}}}\n\
             prompts: {{p: hi}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    const ONE: &str = "{action: spawn_reviewer, prompt: p, name: one}";
    const TWO: &str = "{action: spawn_reviewer, prompt: p, name: two}";
    const ALL: &str = "{section: \"## R\", verdict: PASS, verdicts: all}";

    #[test]
    fn reviewers_with_names_have_gates_that_read_them() {
        let both = format!("{ONE}, {TWO}");
        check(&both, "", ALL, &[]);
        check(&both, "", &ALL.replace("all", "any"), &[]);
        let own = "{all: [{section: '## R: one', verdict: PASS}, {section: '## X: two', verdict: FAIL}]}";
        check(&both, "", own, &[]);
        let unread = ["no gate of `b` reads a verdict of the reviewer `two`"];
        check(&both, "", "{section: '## R: one', verdict: PASS}", &unread);
        let nobody = ["`verdicts` asks for those of reviewers with names, and none is started for `b`"];
        check("{action: spawn_reviewer, prompt: p}", "", ALL, &nobody);
    }

    #[test]
    fn a_gate_that_forgets_verdicts_reads_what_nobody_writes() {
        let both = format!("{ONE}, {TWO}");
        let other = "- {from: b, to: a, gate: {section: \"## R\", verdict: FAIL, verdicts: any}}\n";
        let plain = "{section: '## R', verdict: PASS}";
        let found = [
            "this gate reads a verdict in `## R`, and the reviewers of `b` write `## R: one` and `## R: two`",
        ];
        check(&both, other, plain, &found);
        check(&both, other, "{section: '## R', verdict: PASS, written_by: human}", &[]);
        check(&both, other, "{section: '## X', verdict: PASS}", &[]);
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        check(&format!("{ONE}, {ONE}"), "", ALL, &["two reviewers of one transition have the name `one`"]);
        let nameless = ["a reviewer without a name is started beside one that has a name"];
        check(&format!("{ONE}, {{action: spawn_reviewer, prompt: p}}"), "", ALL, &nameless);
        let slug = ["`One` is not a name for a reviewer"];
        check(&format!("{}, {TWO}", ONE.replace("one", "One")), "", ALL, &slug);
        let worker = ["`two` names a worker, and only reviewers have names"];
        check(&format!("{ONE}, {}", TWO.replace("two", "two, as: worker")), "", ALL, &worker);
        let rest = format!("- {{from: b, to: a, hooks: [{}]}}\n", TWO.replace("two", "two, as: worker"));
        check(ONE, &rest, ALL, &worker);
    }

    #[test]
    fn verdicts_of_reviewers_tell_transitions_of_a_pair_apart() {
        let both = format!("{ONE}, {TWO}");
        let other = |verdicts| {
            format!(
                "- {{from: b, to: c, gate: {{section: \"## R\", verdict: FAIL, verdicts: {verdicts}}}}}\n"
            )
        };
        let overlap = ["two transitions `b → c` always both fire: neither has a `when`"];
        check(&both, &other("any"), ALL, &[]);
        check(&both, &other("all"), ALL, &[]);
        check(&both, &other("all"), &ALL.replace("all", "any"), &[]);
        check(&both, &other("any"), &ALL.replace("all", "any"), &overlap);
        check(&both, &other("any"), "{section: '## R: one', verdict: PASS}", &overlap);
    }

    #[test]
    fn every_transition_into_a_state_starts_the_same_ones() {
        let rest = format!("- {{from: b, to: b, hooks: [{ONE}]}}\n");
        let other = ["this transition to `b` does not start the reviewer `two`, which others start"];
        check(&format!("{ONE}, {TWO}"), &rest, ALL, &other);
        check(&format!("{ONE}, {TWO}"), "- {from: b, to: b}\n", ALL, &[]);
    }
}
