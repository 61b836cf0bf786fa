//! The names in a prompt: of states behind `--status`, of sections, of verdicts.

use std::ops::Range;

use super::Target;
use super::reading::States;
use orange_codegen::suggest;

/// The flag that every command of a prompt has.
pub(super) const FLAG: &str = "--status";

/// How far before the flag its command is looked for, and behind it the end of a place left open.
const REACH: usize = 240;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub start: usize,
    pub end: usize,
    pub target: Target,
}

/// What stands behind the flag: one name, several to choose from, or a place left open: `<status>`. Nothing where the flag
/// is only spoken of.
pub(super) fn after_flag(text: &str, at: usize, states: &States<'_>, is_whole: bool) -> Vec<Named> {
    let start = at + quotes(&text[at..], &['=', ' ', '\t', '\n']);
    let is_whole = is_whole && !text[at..start].contains('\n');
    let closing = match text[start..].chars().next() {
        Some('<') => '>',
        Some('{') => '}',
        Some('$' | '.' | '…') => return vec![Named { start, end: start + 1, target: Target::Open }],
        Some(_) | None => return names(text, start, states, is_whole),
    };
    let inside = start + 1;
    let reach = text.floor_char_boundary(inside + REACH);
    let Some(end) = text[inside..reach].find(closing).map(|it| inside + it) else { return Vec::new() };
    let listed = names(&text[..end], inside, states, false);
    if listed.is_empty() { vec![Named { start: inside, end, target: Target::Open }] } else { listed }
}

/// The state behind `status` where that is set to something: ` to working`.
pub(super) fn after_status(text: &str, at: usize, states: &States<'_>) -> Option<Named> {
    let gap = quotes(&text[at..], &[' ', '=', ':']);
    let rest = &text[at + gap..];
    let to = rest.strip_prefix("to ").map_or(rest, |it| &it[quotes(it, &[' '])..]);
    let start = text.len() - to.len();
    named(text, start, states).filter(|it| matches!(it.target, Target::State(_)))
}

/// Whether the flag belongs to a whole command: `orange task update [ID] --status …`.
pub(super) fn is_whole(text: &str, flag: usize) -> bool {
    let from = text.floor_char_boundary(flag.saturating_sub(REACH));
    let line = text[from..flag].rsplit('\n').next().unwrap_or_default();
    let commands = ["orange task update", "{orange} task update"];
    let Some((_, arguments)) = commands.iter().find_map(|command| line.rsplit_once(command)) else {
        return false;
    };
    let mut values = 0;
    let mut after_flag = false;
    let mut in_quotes = false;
    for word in arguments.split_whitespace() {
        let opens = word.matches('"').count() % 2 == 1;
        if !in_quotes && !word.starts_with('-') && !std::mem::take(&mut after_flag) {
            values += 1;
        }
        after_flag = !in_quotes && word.starts_with('-');
        in_quotes ^= opens;
    }
    values <= 1
}

/// Whether a word is called a section: `Handoff section`.
pub(super) fn is_called_section(text: &str, at: usize, word: &str) -> bool {
    let end = at + word.len();
    let next = text[end..].trim_start_matches([' ', '`', '"', '*', '\'']);
    ["section", "heading"].iter().any(|it| next.starts_with(it))
}

/// The words that a prompt asks for behind `verdict`, and whether it shows the line that they are to stand in.
pub(super) fn verdicts(text: &str, at: usize) -> (Vec<Range<usize>>, bool) {
    let start = at + "verdict".len();
    let rest = &text[start..];
    let has_colon = rest.starts_with(':');
    let is_quoted = text[..at].ends_with(['"', '`', '\'', '“']);
    let mut at = start + quotes(rest, &[':', ' ', '<', '(', '{']);
    let is_open = matches!(text[..at].chars().next_back(), Some('<' | '{'));
    let mut words = Vec::new();
    loop {
        let length = text[at..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = &text[at..at + length];
        if !(is_emphatic(word) || (words.is_empty() && is_quoted && has_colon && length > 1)) {
            break;
        }
        words.push(at..at + length);
        let behind = at + length + quotes(&text[at + length..], &[]);
        let Some(separator) =
            separator(&text[behind..]).or_else(|| text[behind..].starts_with(", ").then_some(2))
        else {
            break;
        };
        at = behind + separator;
        at += quotes(&text[at..], &[' ']);
    }
    let is_line = has_colon && (text[start - "verdict".len()..].starts_with('V') || is_quoted || is_open);
    if !has_colon && words.len() < 2 {
        words.clear();
    }
    (words, is_line)
}

/// A word that is written large and is no mere emphasis.
fn is_emphatic(word: &str) -> bool {
    const EMPHASIS: [&str; 28] = [
        "MUST", "NOT", "IS", "AND", "OR", "THE", "FIRST", "ONLY", "LINE", "BE", "IN", "ON", "AS", "WITH",
        "BEFORE", "AFTER", "ALWAYS", "NEVER", "TODO", "YOUR", "THIS", "PLEASE", "ONE", "OF", "TASK",
        "REVIEW", "NO", "YES",
    ];
    word.len() > 1 && word.bytes().all(|it| it.is_ascii_uppercase()) && !EMPHASIS.contains(&word)
}

fn names(text: &str, start: usize, states: &States<'_>, is_whole: bool) -> Vec<Named> {
    let Some(first) = named(text, start, states) else { return Vec::new() };
    // Behind a flag that is only spoken of any word may follow; one that is nearly a state is a slip.
    let known = || states.keys().copied();
    if first.target == Target::Unknown
        && !is_whole
        && suggest::closest(&text[first.start..first.end], known()).is_none()
    {
        return Vec::new();
    }
    let mut found = vec![first];
    while let Some(end) = found.last().map(|it| it.end) {
        let behind = end + quotes(&text[end..], &[]);
        let Some(separator) = separator(&text[behind..]) else { break };
        let next = behind + separator;
        let next = next + quotes(&text[next..], &[' ']);
        match named(text, next, states) {
            Some(named) if matches!(named.target, Target::State(_)) => found.push(named),
            Some(_) | None => break,
        }
    }
    found
}

fn named(text: &str, start: usize, states: &States<'_>) -> Option<Named> {
    let rest = &text[start..];
    let length =
        rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_')).count();
    let name = rest[..length].trim_end_matches(['-', '_']);
    if !name.starts_with(|it: char| it.is_ascii_alphabetic()) {
        return None;
    }
    let target = states.get(name).map_or(Target::Unknown, |id| Target::State(*id));
    Some(Named { start, end: start + name.len(), target })
}

/// What stands between names to choose from.
fn separator(text: &str) -> Option<usize> {
    let words = [" | ", " / ", "|", "/", ", or ", " or "];
    words.into_iter().find(|it| text.starts_with(it)).map(str::len)
}

/// How many bytes of quotes, and of these others, a text begins with.
fn quotes(text: &str, others: &[char]) -> usize {
    let quote = |it: char| matches!(it, '`' | '"' | '\'' | '*' | '“' | '”') || others.contains(&it);
    text.len() - text.trim_start_matches(quote).len()
}
