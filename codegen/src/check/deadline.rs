//! A18: a deadline can end, in each of its states, and leads out of them.

use orange_core::Ending;

use super::CheckContext;
use crate::catalogue::A18;
use crate::diag::Diagnostic;
use crate::model::{Condition, Deadline, Outcome, StateId};

pub(super) fn check(context: &mut CheckContext<'_>) {
    let draft = context.draft;
    for number in 0..draft.workflow.deadlines.len() {
        let found = faults(context, number);
        found.into_iter().for_each(|finding| context.report(finding));
    }
}

fn faults(context: &CheckContext<'_>, number: usize) -> Vec<Diagnostic> {
    let deadline = &context.draft.workflow.deadlines[number];
    let mut found = Vec::new();
    for state in &deadline.states {
        let name = context.name(state.value);
        if context.state(state.value).terminal {
            let message = format!("`{name}` is terminal, and no deadline ends there");
            found.push(Diagnostic::new(&A18, state.span, message).help("delete it from the states"));
        }
    }
    let inside = deadline.then.filter(|then| has(deadline, then.value));
    if let Some(then) = inside {
        let message = format!("`{}` is one of the deadline's own states", context.name(then.value));
        found.push(Diagnostic::new(&A18, then.span, message).help("name a state outside of them"));
    } else {
        found.extend(hidden(context, number));
    }
    found
}

/// The finding about a deadline before whose end other times always move the task on.
fn hidden(context: &CheckContext<'_>, number: usize) -> Option<Diagnostic> {
    let deadline = &context.draft.workflow.deadlines[number];
    let shorter: Vec<&Deadline> = shorter(context, number).collect();
    let within = longest(context, deadline, &shorter).filter(|it| *it < deadline.after);
    let around =
        shorter.iter().find(|it| deadline.states.iter().all(|state| moves(context, it, state.value)));
    let longest = within.into_iter().chain(around.map(|it| it.after)).min()?;
    let timeouts = deadline.states.iter().filter_map(|it| context.state(it.value).timeout.as_ref());
    let timeouts = timeouts.map(|it| it.span);
    let shared = shorter.iter().filter(|it| deadline.states.iter().any(|state| has(it, state.value)));
    let causes: Vec<_> = timeouts.chain(shared.map(|it| context.first_line(it.span))).collect();
    let longest = Ending { after: Some(longest), ..Ending::ANY };
    let message = format!(
        "this deadline is never over: other times of its states move the task on {longest} at the latest"
    );
    let finding = Diagnostic::new(&A18, context.first_line(deadline.span), message);
    let finding = causes.into_iter().fold(finding, |finding, it| finding.label(it, "moves it on before"));
    Some(finding.help("write a shorter `after`, or delete the deadline"))
}

/// The deadlines that are over before this one where both begin at once, and that move the task out of their states.
fn shorter<'c>(context: &CheckContext<'c>, number: usize) -> impl Iterator<Item = &'c Deadline> {
    let deadlines = &context.draft.workflow.deadlines;
    let after = deadlines[number].after;
    let before = deadlines.iter().enumerate().filter(move |(at, it)| (it.after, *at) < (after, number));
    before.map(|(_, it)| it).filter(|it| it.then.is_some_and(|then| !has(it, then.value)))
}

fn has(deadline: &Deadline, id: StateId) -> bool {
    deadline.states.iter().any(|it| it.value == id)
}

/// The longest time that a task can be within the states, if in each a time moves it on and none can be entered twice.
fn longest(context: &CheckContext<'_>, deadline: &Deadline, shorter: &[&Deadline]) -> Option<u32> {
    let times: Vec<u32> =
        deadline.states.iter().map(|it| moves_after(context, it.value, shorter)).collect::<Option<_>>()?;
    let number = |id: StateId| deadline.states.iter().position(|it| it.value == id);
    let transitions = &context.draft.workflow.transitions;
    let within: Vec<(usize, usize)> =
        transitions.iter().filter_map(|it| number(it.from.value).zip(number(it.to.value))).collect();
    let mut longest = times.clone();
    // Without a circle, no path has more transitions than there are other states.
    for _ in &times {
        let before = longest.clone();
        for (from, to) in &within {
            longest[*to] = longest[*to].max(longest[*from].saturating_add(times[*to]));
        }
        if before == longest {
            return longest.into_iter().max();
        }
    }
    None
}

/// The seconds after which the state's own timeout, or one of these deadlines, has moved a task on.
fn moves_after(context: &CheckContext<'_>, id: StateId, shorter: &[&Deadline]) -> Option<u32> {
    let deadlines = shorter.iter().filter(|it| moves(context, it, id)).map(|it| it.after);
    deadlines.chain(timeout(context, id)).min()
}

/// The seconds after which the state's own timeout moves a task on, if nothing can refuse its transition.
fn timeout(context: &CheckContext<'_>, id: StateId) -> Option<u32> {
    let rule = context.state(id).timeout.as_ref()?;
    let Outcome::Then(to) = &rule.outcome else { return None };
    match &rule.condition {
        Condition::Ended(ending) => ending.after.filter(|_| is_open(context, id, to.value)),
        Condition::HasArtifact(_)
        | Condition::NoArtifact
        | Condition::Overdue(_)
        | Condition::Spent
        | Condition::Always => None,
    }
}

/// True if a deadline moves a task on from a state, and nothing can refuse its transition.
fn moves(context: &CheckContext<'_>, deadline: &Deadline, from: StateId) -> bool {
    has(deadline, from) && deadline.then.is_some_and(|then| is_open(context, from, then.value))
}

/// True if a transition is declared, and no guard and no gate can refuse it.
fn is_open(context: &CheckContext<'_>, from: StateId, to: StateId) -> bool {
    let transitions = context.draft.workflow.transitions.iter();
    let mut between = transitions.filter(|it| (it.from.value, it.to.value) == (from, to)).peekable();
    between.peek().is_some() && between.all(|it| it.when.is_none() && it.gates.is_empty())
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
        check(none, "states: a, after: 9d", &["`after: 9d` is not a time up to a week"]);
        check(none, "states: a", &["a deadline needs the key `after`"]);
        check(none, "after: 4h", &["a deadline needs the key `states`"]);
        check(none, "states: e, after: 4h, then: f", &["unknown state `e`", "unknown state `f`"]);
    }

    #[test]
    fn timeouts_of_the_states_leave_time_for_the_deadline() {
        let timeouts = [", timeout: 1h, on_timeout: c", ", timeout: 2h, on_timeout: c"];
        check(timeouts, "states: [a, b], after: 2h, then: c", &[]);
        // Of times that are over at once, a deadline comes first.
        check(timeouts, "states: [a, b], after: 3h, then: c", &[]);
        let never =
            "this deadline is never over: other times of its states move the task on after 3 h at the latest";
        check(timeouts, "states: [a, b], after: 4h, then: c", &[never]);
        check(timeouts, "states: [a, b], after: 4h", &[never]);
        check(["", timeouts[1]], "states: [a, b], after: 4h, then: c", &[]);
        check([", timeout: 1h", timeouts[1]], "states: [a, b], after: 4h, then: c", &[]);
    }

    #[test]
    fn a_shorter_deadline_hides_a_longer_one() {
        let none = ["", ""];
        let two = |first: &str, second: &str| format!("{first}}}\n- {{{second}");
        let of =
            |deadlines: [&str; 2], expect: &[&str]| check(none, &two(deadlines[0], deadlines[1]), expect);
        let never = |hours: &str| {
            format!(
                "this deadline is never over: other times of its states move the task on after {hours} h at the latest"
            )
        };
        let (long, short) = ("states: a, after: 4h, then: c", "states: [a, b], after: 2h, then: c");
        of([long, short], &[&never("2")]);
        of([short, long], &[&never("2")]);
        of(["states: a, after: 4h", short], &[&never("2")]);
        // What only tells a person moves nothing, and a task may come to `b` when the time in `a` is nearly over.
        of([long, "states: [a, b], after: 2h"], &[]);
        of(["states: [a, b], after: 4h, then: c", "states: a, after: 2h, then: c"], &[]);
        of(["states: [a, b], after: 4h, then: c", "states: b, after: 2h, then: c"], &[]);
        // Of two that are over at once, the first moves the task.
        let same = "states: a, after: 2h, then: b";
        of([same, short], &[]);
        of([short, same], &[&never("2")]);
        // The task stays where no transition leads to the shorter one's state.
        let undeclared = "this deadline leads to `d`, but no transition `a → d` is declared";
        of([long, "states: a, after: 2h, then: d"], &[undeclared]);
        let timeouts = ["", ", timeout: 1h, on_timeout: c"];
        let both = "states: [a, b], after: 4h, then: c";
        check(timeouts, &two(both, "states: a, after: 2h, then: c"), &[&never("3")]);
    }
}
