//! A16: where a failed hook leads, a transition must be declared, and a hook must be able to lead there.

use super::CheckContext;
use crate::catalogue::A16;
use crate::diag::Diagnostic;
use crate::model::{OnFailure, Transition};

pub(super) fn check(context: &mut CheckContext<'_>) {
    let mut last = None;
    for transition in &context.draft.workflow.transitions {
        // Those of one `from: [a, b]` are one declaration, and stand one after the other for each state of `to`.
        let declared = (transition.declaration, transition.to.value);
        if last.replace(declared) != Some(declared) {
            look_at(context, transition);
        }
    }
}

fn look_at(context: &mut CheckContext<'_>, transition: &Transition) {
    let Some(target) = &transition.on_hook_failure else { return };
    let (from, to) = (context.name(transition.to.value), context.name(target.value));
    if !context.draft.ends.may_connect(transition.to.value, target.value) {
        let message = format!("a failed hook leads to `{to}`, but no transition `{from} → {to}` is declared");
        let finding = Diagnostic::new(&A16, target.span, message)
            .label(transition.to.span, format!("the task is in `{from}` then"))
            .label(target.span, format!("to `{to}`"))
            .help(format!("declare `- {{from: {from}, to: {to}}}`"));
        context.report(finding);
    } else if transition.hooks.iter().all(|hook| hook.on_failure == OnFailure::GoOn) {
        let message = format!("no hook of this transition leads to `{to}`: whichever fails, the others run");
        let help = "write `on_failure: stop` for the hook after whose failure the task goes there";
        context.report(Diagnostic::new(&A16, target.span, message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(hooks: &str, target: &str, expect: &[&str]) {
        let text = format!(
            "name: w\nstates: {{a: {{}}, b: {{}}, c: {{}}}}\ntransitions:\n\
             - {{from: [a, c], to: b, hooks: [{hooks}], on_hook_failure: {target}}}\n- {{from: b, to: a}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    const TEST: &str = "{action: run_command, argv: [make, test]}";

    #[test]
    fn a_failed_hook_leads_to_a_declared_transition() {
        check(TEST, "a", &[]);
        check("{action: push_branch, on_failure: stop}", "a", &[]);
        check(TEST, "c", &["a failed hook leads to `c`, but no transition `b → c` is declared"]);
        check(TEST, "d", &["unknown state `d`"]);
    }

    #[test]
    fn one_of_its_hooks_must_be_able_to_lead_there() {
        let none = ["no hook of this transition leads to `a`: whichever fails, the others run"];
        check("{action: push_branch}", "a", &none);
        check("{action: run_command, argv: [make], on_failure: go-on}", "a", &none);
    }
}
