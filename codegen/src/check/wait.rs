//! S09: an agent that `action: wait` starts again needs a prompt, and a timeout or a budget needs a state where an agent works.

use super::CheckContext;
use crate::catalogue::S09;
use crate::diag::Diagnostic;
use crate::model::{Condition, Outcome, StateId};

pub(super) fn check(context: &mut CheckContext<'_>) {
    waits(context);
    timeouts(context);
}

fn timeouts(context: &mut CheckContext<'_>) {
    let staffed = staffed(context);
    for (state, is_staffed) in context.draft.workflow.states.iter().zip(staffed) {
        if let Some(budget) = state.budget.as_ref().filter(|_| !is_staffed) {
            let name = &state.name.value;
            let message = format!("`{name}` has a budget, and no agent ever works there");
            let finding = Diagnostic::new(&S09, budget.span, message)
                .label(budget.span, "limits agents")
                .label(state.name.span, "has none")
                .help(format!("start an agent on a transition to `{name}`, or delete the budget"));
            context.found.push(finding);
        }
        let Some(timeout) = state.timeout.as_ref().filter(|_| !is_staffed) else { continue };
        let Condition::Ended(ending) = &timeout.condition else { continue };
        let name = &state.name.value;
        let message = format!("`{name}` has a timeout, and no agent ever works there");
        let finding = Diagnostic::new(&S09, ending.span, message)
            .label(ending.span, "ends an agent")
            .label(state.name.span, "has none")
            .help(format!(
                "start an agent on a transition to `{name}`, limit the time there with `deadlines`, which need no agent, or delete the timeout"
            ));
        context.found.push(finding);
    }
}

/// By state: true if an agent can be there, started there or brought along from a state that has one.
fn staffed(context: &CheckContext<'_>) -> Vec<bool> {
    let workflow = &context.draft.workflow;
    let at = |id: StateId| usize::from(id.0);
    let mut staffed: Vec<bool> = workflow.states.iter().map(|it| it.respawn_prompt.is_some()).collect();
    for _ in &workflow.states {
        for it in &workflow.transitions {
            let starts = it.hooks.iter().any(|hook| hook.spawn.is_some());
            let ends = it.hooks.iter().any(|hook| hook.action.ends_session());
            staffed[at(it.to.value)] |= starts || (staffed[at(it.from.value)] && !ends);
        }
    }
    workflow.states.iter().zip(staffed).map(|(state, is)| is && !state.terminal).collect()
}

fn waits(context: &mut CheckContext<'_>) {
    for rule in &context.draft.workflow.exit_monitoring.rules {
        let Outcome::Wait { named, .. } = &rule.outcome else { continue };
        let state = context.state(rule.status.value);
        if state.respawn_prompt.is_some() {
            continue;
        }
        let name = &state.name.value;
        let message =
            format!("`action: wait` starts the agent of `{name}` again, and the state has no prompt for it");
        let finding = Diagnostic::new(&S09, *named, message)
            .label(*named, "starts it again")
            .label(state.name.span, "has no `respawn_prompt`")
            .help(format!("add `respawn_prompt: …` to `{name}`"));
        context.report(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(hooks: &str, timed: &str, expect: &[&str]) {
        let text = format!(
            "name: w\nstates:\n  a: {{}}\n  b: {{{timed}}}\n  c: {{terminal: true}}\ntransitions:\n\
             - {{from: a, to: b, hooks: [{hooks}]}}\n- {{from: b, to: c}}\nprompts: {{p: go}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    #[test]
    fn a_time_without_an_agent_is_a_deadline() {
        let text =
            "name: w\nstates: {a: {timeout: 2h}, c: {terminal: true}}\ntransitions: [{from: a, to: c}]\n";
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let help = found[0].help.as_deref().unwrap_or_default();
        assert!(help.contains("`deadlines`, which need no agent"), "{help}");
        let deadline = "deadlines: [{states: a, after: 2h, then: c}]\n";
        let mended = format!("{}{deadline}", text.replace("timeout: 2h", ""));
        assert!(compile(&Source::new("w.yml", mended)).diagnostics.is_empty());
    }

    #[test]
    fn a_timeout_is_for_where_an_agent_works() {
        let spawn = "{action: spawn_agent, prompt: p}";
        check(spawn, "timeout: 2h, on_timeout: c", &[]);
        check(spawn, "timeout: 90s", &[]);
        check("", "timeout: 2h", &["`b` has a timeout, and no agent ever works there"]);
        check(spawn, "timeout: 2 hours", &["`timeout: 2 hours` is not a time up to a week"]);
        check(spawn, "on_timeout: c", &["`on_timeout` says what follows, and no `timeout` when"]);
        let undeclared = "this timeout leads to `a`, but no transition `b → a` is declared";
        check(spawn, "timeout: 2h, on_timeout: a", &[undeclared]);
    }
}
