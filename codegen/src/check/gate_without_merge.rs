//! A20: a gate on the result of a merge stands where a merge leads.

use super::CheckContext;
use crate::catalogue::A20;
use crate::diag::Diagnostic;
use crate::model::Gate;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let workflow = &context.draft.workflow;
    let merge = workflow.commands.merge;
    let elsewhere = workflow.transitions.iter().filter(|it| Some(it.to.value) != merge);
    let of_transitions = elsewhere.flat_map(|it| &it.gates).filter(|gate| is_on_merge(gate));
    let of_transitions: Vec<_> = of_transitions.map(|gate| on_transition(context, gate)).collect();
    let rules = workflow.exit_monitoring.rules.iter().flat_map(|it| it.condition.gates());
    let of_rules: Vec<_> = rules.filter(|gate| is_on_merge(gate)).map(on_rule).collect();
    of_transitions.into_iter().chain(of_rules).for_each(|finding| context.report(finding));
}

fn is_on_merge(gate: &Gate) -> bool {
    matches!(gate, Gate::Command(command) if command.on_merge)
}

fn on_transition(context: &CheckContext<'_>, gate: &Gate) -> Diagnostic {
    let help = match context.draft.workflow.commands.merge {
        Some(merge) => format!(
            "move it to the transition to `{}`, to which a merge leads, or delete `on`: then it runs in the worktree",
            context.name(merge)
        ),
        None => "name the state of merged tasks with `commands: {merge: …}`, or delete `on`: then it runs in the worktree"
            .to_owned(),
    };
    let message =
        "this gate runs on the result of a merge, and its transition is not the one that a merge takes";
    Diagnostic::new(&A20, gate.place(), message).help(help)
}

fn on_rule(gate: &Gate) -> Diagnostic {
    let message = "this gate runs on the result of a merge, and an exit rule is not about one";
    Diagnostic::new(&A20, gate.place(), message).help("delete `on`: then it runs in the worktree")
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    #[track_caller]
    fn check(to_review: &str, to_done: &str, expect: &[&str]) {
        let text = format!(
            "name: w\nstates:\n  a: {{respawn_prompt: p}}\n  b: {{}}\n  done: {{terminal: true}}\n\
             transitions:\n- {{from: a, to: b{to_review}, hooks: [{{action: kill_session}}]}}\n\
             - {{from: b, to: done, by: human{to_done}}}\nprompts: {{p: go}}\n"
        );
        let found = compile(&Source::new("w.yml", text)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    #[test]
    fn a_gate_on_a_merge_stands_where_a_merge_leads() {
        let on_merge = ", gate: {command: {argv: [make], on: merge}}";
        check("", on_merge, &[]);
        check(", gate: {command: {argv: [make]}}", "", &[]);
        let elsewhere =
            "this gate runs on the result of a merge, and its transition is not the one that a merge takes";
        check(on_merge, "", &[elsewhere]);
        check("", ", gate: {command: {argv: [make], on: work}}", &["unknown value `work` of `on`"]);
    }
}
