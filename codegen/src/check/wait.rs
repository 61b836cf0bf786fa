//! S09: what `action: wait` starts again must be told something.

use super::CheckContext;
use crate::catalogue::S09;
use crate::diag::Diagnostic;
use crate::model::Outcome;

pub(super) fn check(context: &mut CheckContext<'_>) {
    for rule in &context.draft.workflow.exit_monitoring.rules {
        let Outcome::Wait { named, .. } = &rule.outcome else { continue };
        let state = context.state(rule.status.value);
        if state.respawn_prompt.is_some() {
            continue;
        }
        let name = &state.name.value;
        let message =
            format!("`action: wait` starts the agent of `{name}` again, and nothing says what it is told");
        let finding = Diagnostic::new(&S09, *named, message)
            .label(*named, "starts it again")
            .label(state.name.span, "has no `respawn_prompt`")
            .help(format!("add `respawn_prompt: …` to `{name}`"));
        context.report(finding);
    }
}
