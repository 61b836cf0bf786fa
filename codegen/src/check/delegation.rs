//! A23: created tasks lead a task on, and some state creates them.

use super::CheckContext;
use crate::catalogue::A23;
use crate::diag::Diagnostic;
use crate::model::{FactKind, Gate, State};
use crate::span::Span;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let workflow = &context.draft.workflow;
    let delegates = |state: &State| state.delegates.as_ref().map(|it| it.span);
    let rules = workflow.watch.iter().filter(|rule| rule.fact.value.kind() == FactKind::Children);
    let waits: Vec<Span> = rules.map(|rule| rule.fact.span).collect();
    let found: Vec<Diagnostic> = if workflow.states.iter().all(|state| state.delegates.is_none()) {
        let of_transitions = workflow.transitions.iter().flat_map(|it| &it.gates);
        let of_rules = workflow.exit_monitoring.rules.iter().flat_map(|it| it.condition.gates());
        let gates = of_transitions.chain(of_rules).filter_map(|gate| match gate {
            Gate::Children(it) => Some(it.span),
            Gate::Section(_) | Gate::AnySection(_) | Gate::Command(_) | Gate::Checks(_) => None,
        });
        let mut places: Vec<Span> = waits.iter().copied().chain(gates).collect();
        places.sort_unstable_by_key(|place| place.start);
        places.dedup_by_key(|place| place.start);
        places.into_iter().map(without_delegates).collect()
    } else {
        let states = workflow.states.iter().filter_map(|state| Some((state, delegates(state)?)));
        states.filter_map(|(state, place)| unused(state, place, !waits.is_empty())).collect()
    };
    found.into_iter().for_each(|finding| context.report(finding));
}

fn without_delegates(place: Span) -> Diagnostic {
    let message = "no agent may create tasks here: no state has `delegates`";
    Diagnostic::new(&A23, place, message)
        .help("add `delegates: {most: 6}` to the state whose agent creates them, or delete this")
}

fn unused(state: &State, place: Span, is_waited_for: bool) -> Option<Diagnostic> {
    let name = &state.name.value;
    if state.terminal {
        let message = format!("`{name}` is terminal, and no agent creates tasks there");
        return Some(Diagnostic::new(&A23, place, message).help("delete `delegates`"));
    }
    let message =
        format!("no watch rule waits for the tasks that an agent creates in `{name}`: `children: merged`");
    let help = format!(
        "add `- {{status: STATE, children: merged, then: {name}}}` and one for `children: ended` to `watch`"
    );
    (!is_waited_for).then(|| Diagnostic::new(&A23, place, message).help(help))
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(delegates: &str, gate: &str, watch: &str, expect: &[&str]) {
        let text = format!(
            "name: w\nfields: {{rounds: 0}}\nstates:\n  a: {{respawn_prompt: p{delegates}}}\n  b: {{}}\n  done: {{terminal: true}}\n\
             transitions:\n- {{from: a, to: b{gate}, when: rounds < 2, hooks: [{{action: kill_session}}, {{action: increment, field: rounds}}]}}\n\
             - {{from: b, to: [a, done]}}\n{watch}prompts: {{p: go}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    #[test]
    fn created_tasks_lead_a_task_on() {
        let waits =
            "watch:\n- {status: b, children: merged, then: a}\n- {status: b, children: ended, then: a}\n";
        let gate = ", gate: {children: some}";
        check(", delegates: {most: 3}", gate, waits, &[]);
        check(", delegates: {most: 3, depth: 2, workflow: default, into: base}", "", waits, &[]);
        let nobody = "no agent may create tasks here: no state has `delegates`";
        check("", gate, waits, &[nobody, nobody, nobody]);
        check("", ", gate: {all: [{children: some}]}", "", &[nobody]);
        let unheard = "no watch rule waits for the tasks that an agent creates in `a`: `children: merged`";
        check(", delegates: {most: 3}", gate, "", &[unheard]);
        check(", delegates: {most: 0}", gate, waits, &["`most: 0` has no meaning"]);
        check(", delegates: {}", "", "", &["`delegates` needs the key `most`"]);
        check(", delegates: {most: 1, into: main}", "", "", &["unknown value `main` of `into`"]);
    }
}
