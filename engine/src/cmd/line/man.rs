//! The manual pages, from the same table.

use super::{Arg, Spec, help};

/// Every page, as of this date: the name of its file, and what is in it.
pub fn pages(root: &'static Spec, date: &str) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    gather(root, root.name, date, &mut pages);
    pages
}

fn gather(spec: &'static Spec, path: &str, date: &str, pages: &mut Vec<(String, String)>) {
    pages.push((format!("{}.1", path.replace(' ', "-")), page(spec, path, date)));
    for below in spec.shown() {
        gather(below, &format!("{path} {}", below.name), date, pages);
    }
}

fn page(spec: &'static Spec, path: &str, date: &str) -> String {
    let name = path.replace(' ', "-");
    let is_root = !path.contains(' ');
    let head = format!(
        ".TH {} 1 {date:?} \"orange {}\" \"Orange Manual\"\n.nh\n.ad l\n",
        escaped(&name.to_uppercase()),
        env!("CARGO_PKG_VERSION")
    );
    // What the notes of the first page say has sections of its own here.
    let notes = if is_root { "" } else { spec.notes };
    let below = spec.shown().map(|below| (bold(&format!("{name}-{}(1)", below.name)), below.about));
    let parts = [
        ("NAME", filled(&format!("{name} - {}", spec.about))),
        ("SYNOPSIS", synopsis(spec, path)),
        ("DESCRIPTION", filled(&format!("{}.", spec.about)) + &paragraph(notes)),
        ("COMMANDS", rows(below)),
        ("ARGUMENTS", rows(spec.words().map(explained))),
        ("OPTIONS", rows(spec.options().map(explained))),
        ("EXIT STATUS", rows(EXIT_STATUS.map(|(status, when)| (bold(status), when)))),
        ("ENVIRONMENT", rows(ENVIRONMENT.map(|(name, what)| (bold(name), what)))),
        ("FILES", if is_root { rows(FILES.map(|(path, what)| (italic(path), what))) } else { String::new() }),
        ("EXAMPLES", spec.examples.iter().map(|example| shown(example)).collect::<Vec<_>>().join(".PP\n")),
        ("SEE ALSO", see_also(path)),
    ];
    let parts = parts.into_iter().filter(|(_, body)| !body.is_empty());
    parts.fold(head, |page, (head, body)| format!("{page}.SH {head}\n{body}"))
}

const EXIT_STATUS: [(&str, &str); 7] = [
    ("0", "Done."),
    ("1", "The engine said no; the message says why, and the help what would make it yes."),
    ("2", "Wrong arguments."),
    ("3", "There is no such task, project, workflow or status."),
    ("4", "Somebody else holds the task."),
    ("5", "tmux, git, gh, a coding agent or the disk is missing or failed."),
    ("6", "A file cannot be understood; nothing was changed."),
];

const ENVIRONMENT: [(&str, &str); 5] = [
    ("ORANGE_HOME", "The folder of everything that is kept; ~/orange when it is not set."),
    ("ORANGE_TMUX_SOCKET", "The name of the tmux server that agents run in; orange when it is not set."),
    (
        "ORANGE_LOG_LEVEL",
        "What is written to the log: error, warn, info, which it is when not set, or debug.",
    ),
    (
        "ORANGE_TASK, ORANGE_ACTOR, ORANGE_SPAWN",
        "Who asks. Agents have them from the engine; without them it is a person.",
    ),
    ("NO_COLOR", "No colour, also on a terminal."),
];

const FILES: [(&str, &str); 6] = [
    ("ORANGE_HOME/projects.json", "The projects and their settings."),
    ("ORANGE_HOME/tasks/PROJECT/ID/TASK.md", "A task, as people and agents see and edit it."),
    ("ORANGE_HOME/tasks/PROJECT/ID/history.jsonl", "Its journal: what the engine knows of it."),
    ("ORANGE_HOME/workspaces", "The worktrees that tasks are worked on in."),
    ("ORANGE_HOME/workflows", "Workflows of your own."),
    ("ORANGE_HOME/harnesses.toml", "Coding agents of your own."),
];

fn synopsis(spec: &Spec, path: &str) -> String {
    let usage = help::usage(spec, path);
    format!("{} {}\n", bold(path), escaped(usage.strip_prefix(path).unwrap_or_default().trim_start()))
}

fn explained(arg: &'static Arg) -> (String, String) {
    let typed = arg.typed();
    let term = match typed.split_once(' ') {
        Some((name, value)) => format!("{} {}", bold(name), italic(value)),
        None if arg.is_option() => bold(&typed),
        None => italic(&typed),
    };
    (term, format!("{}.", help::about(arg)))
}

fn rows(rows: impl IntoIterator<Item = (String, impl AsRef<str>)>) -> String {
    rows.into_iter().map(|(term, about)| format!(".TP\n{term}\n{}", filled(about.as_ref()))).collect()
}

fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(".PP\n{}", filled(text)) }
}

/// An example's command line, and the remark behind it below.
fn shown(example: &str) -> String {
    let (command, remark) = example.split_once("  ").unwrap_or((example, ""));
    let remark = remark.trim_start();
    let below = if remark.is_empty() { String::new() } else { format!(".RS 4\n{}.RE\n", filled(remark)) };
    format!(".nf\n{}\n.fi\n{below}", escaped(command))
}

fn see_also(path: &str) -> String {
    match path.rsplit_once(' ') {
        Some((above, _)) => format!("{}\n", bold(&format!("{}(1)", above.replace(' ', "-")))),
        None => "\\fBtmux\\fR(1), \\fBgit\\fR(1), \\fBgh\\fR(1)\n".to_owned(),
    }
}

fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", escaped(text))
}

/// Text that roff may break, in lines that are short enough for its source.
fn filled(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace().map(escaped) {
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = word,
            Some(line) if line.len() + word.len() < 78 => *line = format!("{line} {word}"),
            Some(_) | None => lines.push(word),
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The text as roff prints it: no line of it is a request, and what people type stays what they type.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for (at, c) in text.char_indices() {
        match c {
            '.' if at == 0 => escaped.push_str("\\&."),
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '`' => escaped.push_str("\\(ga"),
            '~' => escaped.push_str("\\(ti"),
            '^' => escaped.push_str("\\(ha"),
            '…' => escaped.push_str("..."),
            c if c.is_ascii() => escaped.push(c),
            c => escaped.push_str(&format!("\\[u{:04X}]", u32::from(c))),
        }
    }
    escaped
}
