//! Changes between two step workflows.

use super::{printable, put, wrap};
use crate::json::{ChangedStep, DiffAnswer};

/// The differences below the step that they are in, and what they mean for missions.
pub(crate) fn changed_steps(answer: &DiffAnswer<'_>, width: usize) -> String {
    let mut out = String::new();
    for same_step in answer.steps.chunk_by(|a, b| a.step == b.step) {
        let Some(first) = same_step.first() else { continue };
        let place = place(answer, first).map(|it| format!(" ({it})")).unwrap_or_default();
        put(&mut out, format_args!("{}{}\n", printable(first.step.unwrap_or("workflow")), printable(&place)));
        for change in same_step {
            let text = printable(&difference(change)).into_owned();
            put(&mut out, format_args!("  {}\n", wrap(&text, width - 4).join("\n    ")));
        }
    }
    if !out.is_empty() {
        let count = answer.steps.len();
        let changes = if count == 1 { "change" } else { "changes" };
        put(
            &mut out,
            format_args!(
                "\n{count} {changes} for missions that start later; a mission that runs keeps its plan\n"
            ),
        );
    }
    out
}

/// One line each.
pub(crate) fn changed_steps_short(answer: &DiffAnswer<'_>) -> String {
    let line = |it: &ChangedStep<'_>| {
        let place = place(answer, it).map(|it| format!("{it}: ")).unwrap_or_default();
        let step = it.step.map(|it| format!("{it}: ")).unwrap_or_default();
        format!("{}\n", printable(&format!("{place}{step}{}", difference(it))))
    };
    answer.steps.iter().map(line).collect()
}

/// The line of the new file, or else that of the old one.
fn place(answer: &DiffAnswer<'_>, change: &ChangedStep<'_>) -> Option<String> {
    match (change.new_line, change.old_line) {
        (Some(line), _) => Some(format!("{}:{line}", answer.new)),
        (None, Some(line)) => Some(format!("{}:{line}", answer.old)),
        (None, None) => None,
    }
}

fn difference(change: &ChangedStep<'_>) -> String {
    let what = change.what;
    match (what, change.before, change.after) {
        ("added", ..) => "is new".to_owned(),
        ("removed", ..) => "is gone".to_owned(),
        (_, Some(before), Some(after)) => format!("{what}: {before} → {after}"),
        (_, None, Some(after)) => format!("{what}: {after}, where there was none"),
        (_, Some(before), None) => format!("{what}: none, where there was {before}"),
        (_, None, None) => format!("{what}: another text"),
    }
}
