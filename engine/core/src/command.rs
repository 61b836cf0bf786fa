//! The commands of `orange`, by which the lints read texts that name one.

/// Every command that help shows, with its other names, each with the commands below it.
pub const COMMANDS: &[(&str, &[&str])] = &[
    ("completions", &[]),
    ("doctor", &[]),
    ("gc", &[]),
    ("help", &[]),
    ("install", &[]),
    ("list", &[]),
    ("log", &[]),
    ("ls", &[]),
    ("mcp", &[]),
    (
        "mission",
        &["attach", "cancel", "continue", "help", "list", "logs", "ls", "retry", "show", "start", "watch"],
    ),
    ("monitor", &[]),
    ("project", &["add", "help", "list", "ls", "remove", "revoke", "token", "tokens", "update"]),
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
            "help",
            "list",
            "logs",
            "ls",
            "merge",
            "migrate",
            "next",
            "respawn",
            "restart",
            "restore",
            "show",
            "spawn",
            "stop",
            "update",
            "wait",
            "watch",
        ],
    ),
    ("workflow", &["contract", "help", "list", "ls", "show"]),
    ("workspace", &["gc", "help", "init", "list", "ls"]),
];

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
