//! Names that tmux leaves unchanged.
//!
//! tmux rewrites `.` and `:` in names, and expands formats such as `#(command)` in names, status lines and titles. These names have
//! only characters without a meaning to it.

/// The name of a task's session: `<project>/<branch>`, with every character outside `[A-Za-z0-9_/-]` replaced by `-`.
pub fn session_name(project: &str, branch: &str) -> String {
    plain(&format!("{project}/{branch}"))
}

/// The name for a session whose `name` another task's session has.
pub(super) fn with_task(name: &str, task: &str) -> String {
    let short: String = task.chars().take(6).collect();
    plain(&format!("{name}-{short}"))
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "_/-".contains(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(project: &str, branch: &str, expect: &str) {
        assert_eq!(session_name(project, branch), expect);
    }

    #[test]
    fn session_names_have_nothing_that_tmux_reads() {
        check("orange", "fix-2", "orange/fix-2");
        check("a:b.c", "fix", "a-b-c/fix");
        check("p", "#(touch x)", "p/--touch-x-");
        check("p", "#{pane_id};kill-server", "p/--pane_id--kill-server");
        check("grün", "naïve\n", "gr-n/na-ve-");
        check("", "=x", "/-x");
    }

    #[test]
    fn the_fallback_name_carries_the_task() {
        assert_eq!(with_task("p/fix", "k3v9Qa_-77"), "p/fix-k3v9Qa");
    }
}
