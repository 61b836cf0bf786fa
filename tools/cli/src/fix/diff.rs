//! The changes of the fixes as a unified diff.

use similar::TextDiff;

/// The diff that `patch` understands, with three lines of context; empty when nothing changes.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}
