//! A18: a deadline can end, in each of its states, and leads out of them.

use orange_core::Ending;

use super::CheckContext;
use crate::catalogue::A18;
use crate::diag::Diagnostic;
use crate::model::{Condition, Deadline, Outcome, StateId};

pub(super) fn check(context: &mut CheckContext<'_>) {
    let draft = context.draft;
    for deadline in &draft.workflow.deadlines {
        let found = faults(context, deadline);
        found.into_iter().for_each(|finding| context.report(finding));
    }
}

fn faults(context: &CheckContext<'_>, deadline: &Deadline) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for state in &deadline.states {
        let name = context.name(state.value);
        if context.state(state.value).terminal {
            let message = format!("`{name}` is terminal, and no deadline ends there");
            found.push(Diagnostic::new(&A18, state.span, message).help("delete it from the states"));
        }
    }
    let inside = deadline.then.filter(|then| deadline.states.iter().any(|it| it.value == then.value));
    if let Some(then) = inside {
        let message = format!("`{}` is one of the deadline's own states", context.name(then.value));
        found.push(Diagnostic::new(&A18, then.span, message).help("name a state outside of them"));
    } else if let Some(longest) = longest(context, deadline).filter(|it| *it <= deadline.after) {
        let longest = Ending { after: Some(longest), ..Ending::ANY };
        let message = format!(
            "this deadline is never over: the timeouts of its states move the task on {longest} at the latest"
        );
        let timed = deadline.states.iter().filter_map(|it| context.state(it.value).timeout.as_ref());
        let finding = Diagnostic::new(&A18, context.first_line(deadline.span), message);
        let finding = timed.fold(finding, |finding, it| finding.label(it.span, "moves it on before"));
        found.push(finding.help("write a shorter `after`, or delete the deadline"));
    }
    found
}

/// The longest time that a task can be within the states, if each has a timeout that moves it on and none can be entered twice.
fn longest(context: &CheckContext<'_>, deadline: &Deadline) -> Option<u32> {
    let timeouts: Vec<u32> =
        deadline.states.iter().map(|it| moves_after(context, it.value)).collect::<Option<_>>()?;
    let number = |id: StateId| deadline.states.iter().position(|it| it.value == id);
    let transitions = &context.draft.workflow.transitions;
    let within: Vec<(usize, usize)> =
        transitions.iter().filter_map(|it| number(it.from.value).zip(number(it.to.value))).collect();
    let mut longest = timeouts.clone();
    // Without a circle, no path has more transitions than there are other states.
    for _ in &timeouts {
        let before = longest.clone();
        for (from, to) in &within {
            longest[*to] = longest[*to].max(longest[*from].saturating_add(timeouts[*to]));
        }
        if before == longest {
            return longest.into_iter().max();
        }
    }
    None
}

/// The seconds after which the state's own timeout moves a task on, if nothing can refuse its transition.
fn moves_after(context: &CheckContext<'_>, id: StateId) -> Option<u32> {
    let rule = context.state(id).timeout.as_ref()?;
    let Outcome::Then(to) = &rule.outcome else { return None };
    let mut taken = context.draft.workflow.transitions.iter();
    if taken.any(|it| {
        (it.from.value, it.to.value) == (id, to.value) && (it.when.is_some() || !it.gates.is_empty())
    }) {
        return None;
    }
    match &rule.condition {
        Condition::Ended(ending) => ending.after,
        Condition::HasArtifact(_) | Condition::NoArtifact | Condition::Overdue(_) | Condition::Always => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check([a, b]: [&str; 2], deadline: &str, expect: &[&str]) {
        let text = format!(
            "name: w\nstates:\n  a: {{respawn_prompt: p{a}}}\n  b: {{respawn_prompt: p{b}}}\n  c: {{}}\n  d: {{terminal: true}}\n\
             transitions:\n- {{from: a, to: b}}\n- {{from: [a, b], to: c, hooks: [{{action: kill_session}}]}}\n- {{from: c, to: [a, d]}}\n\
             deadlines:\n- {{{deadline}}}\nprompts: {{p: go}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    #[test]
    fn a_deadline_leads_out_of_its_states() {
        let none = ["", ""];
        check(none, "states: [a, b], after: 4h, then: c", &[]);
        check(none, "states: [a, b, c], after: 4h", &[]);
        check(none, "states: a, after: 4h, then: notify", &[]);
        let undeclared = "this deadline leads to `d`, but no transition `a → d` is declared";
        check(none, "states: [a, c], after: 4h, then: d", &[undeclared]);
        check(none, "states: [a, d], after: 4h", &["`d` is terminal, and no deadline ends there"]);
        check(
            none,
            "states: [a, b], after: 4h, then: b",
            &[
                "`b` is one of the deadline's own states",
                "this deadline leads to `b`, but no transition `b → b` is declared",
            ],
        );
        check(none, "states: [a, e], after: 4h, then: c", &["unknown state `e`"]);
        check(none, "states: [a, a], after: 4h, then: c", &["this deadline has the state twice"]);
        check(none, "states: [], after: 4h", &["a deadline is for at least one state"]);
        check(none, "states: a, after: 9d", &["`after: 9d` is no time up to a week"]);
        check(none, "states: a", &["a deadline needs the key `after`"]);
        check(none, "after: 4h", &["a deadline needs the key `states`"]);
        check(none, "states: e, after: 4h, then: f", &["unknown state `e`", "unknown state `f`"]);
    }

    #[test]
    fn timeouts_of_the_states_leave_time_for_the_deadline() {
        let timeouts = [", timeout: 1h, on_timeout: c", ", timeout: 2h, on_timeout: c"];
        check(timeouts, "states: [a, b], after: 2h, then: c", &[]);
        let never = "this deadline is never over: the timeouts of its states move the task on after 3 h at the latest";
        check(timeouts, "states: [a, b], after: 3h, then: c", &[never]);
        check(timeouts, "states: [a, b], after: 3h", &[never]);
        check(["", timeouts[1]], "states: [a, b], after: 3h, then: c", &[]);
        check([", timeout: 1h", timeouts[1]], "states: [a, b], after: 3h, then: c", &[]);
    }
}
