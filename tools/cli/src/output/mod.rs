//! Findings, written for people, for editors and for programs.

mod changed_steps;
mod changes;
mod excerpt;
mod fingerprint;
mod github;
mod gitlab;
mod graphical;
mod human;
pub(crate) mod junit;
mod narrated;
mod proof;
mod rdjson;
mod sarif;
pub(crate) mod scenarios;
mod short;
mod statistics;

use std::borrow::Cow;
use std::fmt::{self, Write};

pub(crate) use changed_steps::{changed_steps, changed_steps_short};
pub(crate) use changes::DiffOutput;
pub(crate) use github::github;
pub(crate) use gitlab::gitlab;
pub(crate) use human::{findings, human, in_words, summary};
pub(crate) use proof::proof;
pub(crate) use rdjson::rdjson;
pub(crate) use sarif::sarif;
pub(crate) use short::short;
pub(crate) use statistics::{statistics, table};

/// The text with every control character but line ends spelled out: a file must not command the terminal.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        if is_unprintable(it) {
            out.extend(it.escape_default());
        } else {
            out.push(it);
        }
    }
    Cow::Owned(out)
}

/// Control characters, and those that turn the direction of the text around them.
fn is_unprintable(it: char) -> bool {
    (it.is_control() && it != '\n') || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Appends formatted text; a `String` takes everything.
pub(crate) fn put(out: &mut String, text: fmt::Arguments<'_>) {
    match out.write_fmt(text) {
        Ok(()) | Err(fmt::Error) => {}
    }
}

/// The text in lines of at most `width` characters, as far as its words allow.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("averylongword a\nb", 4), ["averylongword", "a", "b"]);
        assert_eq!(wrap("", 4), [""; 0]);
    }

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(printable("a\u{1b}[31m\tb\nc"), "a\\u{1b}[31m\\tb\nc");
        assert_eq!(printable("\u{202e}Δ"), "\\u{202e}Δ");
    }
}
