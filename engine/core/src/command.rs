//! The commands of `orange`, by which the lints read texts that name one.

/// Every command that help shows, with its other names, each with the commands below it.
pub const COMMANDS: &[(&str, &[&str])] = &[
    ("attempt", &["help", "run", "show"]),
    ("completions", &[]),
    ("dashboard", &[]),
    ("demo", &[]),
    ("doctor", &[]),
    ("gc", &[]),
    ("harness", &["help", "list", "ls"]),
    ("help", &[]),
    ("install", &[]),
    ("list", &[]),
    ("log", &[]),
    ("ls", &[]),
    ("mcp", &[]),
    (
        "mission",
        &[
            "attach", "cancel", "continue", "delete", "help", "list", "logs", "ls", "pane", "restore",
            "retry", "show", "start", "watch",
        ],
    ),
    ("monitor", &[]),
    ("notify", &["help", "list", "ls", "test"]),
    (
        "project",
        &["add", "help", "list", "ls", "remove", "revoke", "show", "token", "tokens", "trust", "update"],
    ),
    ("setup", &[]),
    ("step", &["complete", "fail", "help", "show"]),
    (
        "task",
        &[
            "answer",
            "attach",
            "cancel",
            "complete",
            "create",
            "create-pr",
            "delete",
            "diff",
            "edit",
            "help",
            "list",
            "logs",
            "ls",
            "merge",
            "migrate",
            "next",
            "open",
            "pane",
            "refresh",
            "respawn",
            "restart",
            "restore",
            "send",
            "show",
            "spawn",
            "stop",
            "undo",
            "update",
            "wait",
            "watch",
        ],
    ),
    ("workflow", &["contract", "help", "list", "ls", "show"]),
    ("workspace", &["gc", "help", "init", "list", "ls"]),
];

/// The options of these commands, without `--`, beside `--json` and `--help`, which every command has.
const OPTIONS: &[(&str, &[&str])] = &[
    ("dashboard", &["all-projects", "exit-on-attach", "project"]),
    ("demo", &["keep"]),
    ("gc", &["kind", "older-than", "project", "yes"]),
    ("install", &["harness", "print"]),
    ("list", &["all", "all-projects", "changes", "needs-me", "project", "status", "without-git"]),
    ("log", &["component", "grep", "level", "lines"]),
    ("ls", &["all", "all-projects", "changes", "needs-me", "project", "status", "without-git"]),
    ("mission cancel", &["yes"]),
    ("mission continue", &["accept-failure", "execution", "intervene", "pause"]),
    ("mission delete", &["dry-run", "yes"]),
    ("mission list", &["all", "all-projects", "needs-me", "project"]),
    ("mission ls", &["all", "all-projects", "needs-me", "project"]),
    ("mission pane", &["follow", "lines", "size", "spawn"]),
    ("mission restore", &["backup", "dry-run"]),
    (
        "mission start",
        &["branch", "execution", "harness", "intervene", "no-notices", "project", "review-harness"],
    ),
    ("mission watch", &["verbose"]),
    ("monitor", &["interval", "once"]),
    (
        "project add",
        &[
            "backup-days",
            "branch-days",
            "copy",
            "default-branch",
            "environment",
            "harness",
            "link",
            "name",
            "pool-size",
            "ports",
            "queue",
            "reclaim-when-waiting",
            "review-harness",
            "setup",
            "transcripts-mb",
            "trash-days",
            "type-answers",
            "unset",
            "workflow",
        ],
    ),
    ("project revoke", &["project"]),
    ("project token", &["project"]),
    ("project tokens", &["project"]),
    ("project trust", &["hash", "yes"]),
    (
        "project update",
        &[
            "backup-days",
            "branch-days",
            "copy",
            "default-branch",
            "environment",
            "harness",
            "link",
            "path",
            "pool-size",
            "ports",
            "queue",
            "reclaim-when-waiting",
            "review-harness",
            "setup",
            "transcripts-mb",
            "trash-days",
            "type-answers",
            "unset",
            "workflow",
        ],
    ),
    ("setup", &["harness", "undo", "yes"]),
    ("step complete", &["result", "summary", "warning"]),
    ("step fail", &["reason"]),
    ("task answer", &["message"]),
    ("task attach", &["reviewer"]),
    ("task cancel", &["dry-run", "where", "yes"]),
    (
        "task create",
        &[
            "blocked-by",
            "context",
            "dry-run",
            "edit",
            "harness",
            "issue",
            "no-spawn",
            "priority",
            "project",
            "review-harness",
            "status",
            "workflow",
        ],
    ),
    ("task create-pr", &["dry-run"]),
    ("task delete", &["dry-run", "where", "yes"]),
    ("task diff", &["stat", "tool"]),
    (
        "task edit",
        &["blocked-by", "dry-run", "harness", "priority", "review-harness", "seen", "summary", "unblock"],
    ),
    ("task list", &["all", "all-projects", "changes", "needs-me", "project", "status", "without-git"]),
    ("task logs", &["follow", "raw", "spawn"]),
    ("task ls", &["all", "all-projects", "changes", "needs-me", "project", "status", "without-git"]),
    ("task merge", &["dry-run", "force", "local", "strategy", "where", "yes"]),
    ("task migrate", &["dry-run", "to", "workflow"]),
    ("task pane", &["follow", "lines", "size", "spawn"]),
    ("task respawn", &["dry-run", "fresh", "where"]),
    ("task restart", &["dry-run", "fresh", "where"]),
    ("task restore", &["backup", "dry-run"]),
    ("task send", &["dry-run", "reviewer", "spawn", "where"]),
    ("task show", &["all"]),
    ("task spawn", &["dry-run", "force", "where"]),
    ("task stop", &["dry-run", "where"]),
    ("task undo", &["dry-run"]),
    (
        "task update",
        &["as", "branch", "dry-run", "feedback", "retry-hooks", "status", "summary", "token-file", "where"],
    ),
    ("task wait", &["needs-me", "status", "timeout"]),
    ("task watch", &["verbose"]),
    ("workspace gc", &["dry-run"]),
    ("workspace init", &["project"]),
    ("workspace list", &["all"]),
    ("workspace ls", &["all"]),
];

/// The options of a command that help shows, without `--`: of `task update`, `status` and the others.
pub fn options(command: &str) -> impl Iterator<Item = &'static str> + Clone + use<> {
    let own = OPTIONS.iter().find(|(name, _)| *name == command).map_or(&[][..], |(_, options)| options);
    own.iter().copied().chain(["help", "json"])
}

/// The first word behind `orange` that makes no command of these words: its place, and the words that are known there.
pub fn unknown_command<'w>(
    words: impl IntoIterator<Item = &'w str>,
) -> Option<(usize, impl Iterator<Item = &'static str> + Clone)> {
    let mut words = words.into_iter();
    let first = words.next()?;
    let known = COMMANDS.iter().find(|(name, _)| *name == first);
    let (place, below): (usize, &[&str]) = match known {
        None => (0, &[]),
        Some((_, below)) if below.is_empty() || words.next().is_none_or(|word| below.contains(&word)) => {
            return None;
        }
        Some((_, below)) => (1, below),
    };
    let first = COMMANDS.iter().map(|(name, _)| *name).filter(move |_| place == 0);
    Some((place, first.chain(below.iter().copied())))
}
