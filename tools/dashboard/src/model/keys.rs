//! The keys that do the same whatever is selected, as the help shows them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Keys and what they do.
pub struct KeyHelp {
    pub keys: &'static str,
    pub does: &'static str,
}

const fn help(keys: &'static str, does: &'static str) -> KeyHelp {
    KeyHelp { keys, does }
}

/// The help that `?` shows, in columns. The keys of a row are shown only where the machine allows what they do.
pub const HELP: &[(&str, &[KeyHelp])] = &[
    (
        "Move",
        &[
            help("j k", "the next row, the last"),
            help("g G", "the first row, the end"),
            help("n", "the next need"),
            help("v", "mark rows for an action"),
            help("f", "active, all, done"),
            help("/", "find a text"),
            help("w", "how the screen is split"),
            help("1…5 Tab", "what is shown of a row"),
            help("J K", "scroll it (PgDn, PgUp)"),
            help("→ ←", "its lines; the list"),
        ],
    ),
    (
        "Answer",
        &[
            help("a d", "allow or go on, deny"),
            help("o", "what it asks, in full"),
            help("s", "send the agent a text"),
            help("⏎", "attach; start a task"),
            help("r", "restart, retry, back"),
            help(">", "to the next status"),
            help("A", "accept a failure"),
            help("m", "merge"),
            help("p R", "pull request: open, ask"),
            help("l", "the agent's words"),
            help("x d", "cancel; delete"),
            help("t", "everything it allows"),
        ],
    ),
    (
        "Changes",
        &[
            help("[ ] { }", "files, hunks"),
            help("c", "comment on the line"),
            help("F", "send all comments back"),
        ],
    ),
    (
        "Write",
        &[help("Ctrl-S", "send or create it"), help("⏎", "a new line"), help("Ctrl-E", "in your editor")],
    ),
    (
        "Else",
        &[
            help("c", "a new task or mission"),
            help("u", "undo"),
            help("y", "copy the id"),
            help("e", "messages in full"),
            help("Esc", "a message is read; back"),
            help("Ctrl-Z q", "stop; end"),
        ],
    ),
];

/// The keys that type no character, with their names.
const NAMED: &[(KeyCode, &str)] = &[
    (KeyCode::Enter, "Enter"),
    (KeyCode::Esc, "Esc"),
    (KeyCode::Tab, "Tab"),
    (KeyCode::BackTab, "BackTab"),
    (KeyCode::Up, "Up"),
    (KeyCode::Down, "Down"),
    (KeyCode::Left, "Left"),
    (KeyCode::Right, "Right"),
    (KeyCode::PageUp, "PgUp"),
    (KeyCode::PageDown, "PgDn"),
    (KeyCode::Home, "Home"),
    (KeyCode::End, "End"),
    (KeyCode::Backspace, "Backspace"),
    (KeyCode::Delete, "Delete"),
];

/// The name of a key, such as `a`, `Enter` or `Ctrl-C`. One that has no meaning here has no name.
pub fn name(key: KeyEvent) -> String {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let is_plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
    if let KeyCode::Char(letter) = key.code {
        return match () {
            () if control => format!("Ctrl-{}", letter.to_ascii_uppercase()),
            () if is_plain => letter.to_string(),
            () => String::new(),
        };
    }
    let named = NAMED.iter().find(|(code, _)| *code == key.code);
    named.map(|(_, name)| (*name).to_owned()).unwrap_or_default()
}

/// The character that a key types.
pub fn typed(name: &str) -> Option<char> {
    let mut letters = name.chars();
    letters.next().filter(|_| letters.next().is_none())
}

/// The name as the footer shows it.
pub fn sign(name: &str) -> &str {
    if name == "Enter" { "⏎" } else { name }
}
