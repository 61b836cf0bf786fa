//! Texts of other people and programs, without the parts that people do not see and terminals obey.

use alloc::string::String;
use alloc::vec::Vec;
use core::iter::Peekable;
use core::str::Chars;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// A text in markdown without its HTML comments, escape sequences and hidden characters. Every kind of line end becomes `\n`.
pub fn markdown(text: &str) -> String {
    let mut text = visible(text);
    let mut done = 0;
    while let Some(start) = text[done..].find(OPEN).map(|at| done + at) {
        // `<!-->` is a whole comment.
        let from = start + OPEN.len() - 2;
        let end = text[from..].find(CLOSE).map_or(text.len(), |at| from + at + CLOSE.len());
        text.replace_range(start..end, "");
        // What is left on both sides of a comment may make another one.
        done = text.floor_char_boundary(start.saturating_sub(OPEN.len()));
    }
    text
}

/// The output of a program without escape sequences and hidden characters. Of a line that was overwritten, the last text stays. The
/// beginnings of HTML comments are taken apart, since a log shows them and a reader of markdown does not.
pub fn log(text: &str) -> String {
    let mut lines = Vec::new();
    for line in without_sequences(text).split('\n') {
        let parts = line.split('\r').map(visible);
        let mut shown = parts.filter(|part| !part.trim().is_empty() && !is_section_mark(part));
        lines.push(shown.next_back().unwrap_or_default());
    }
    lines.join("\n").replace(OPEN, "<! --")
}

/// True if GitLab begins or ends a folded part of a log with this.
fn is_section_mark(part: &str) -> bool {
    part.starts_with("section_start:") || part.starts_with("section_end:")
}

/// The text in one line, cut to `width` characters, for a heading.
pub fn line(text: &str, width: usize) -> String {
    crate::notify::plain(&without_sequences(text), width).replace(OPEN, "<! --")
}

/// Each line of the text as a quote in markdown, without an end of the last one. No line begins with anything but `>`.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for line in text.split('\n') {
        let line = line.trim_end();
        if !quoted.is_empty() {
            quoted.push('\n');
        }
        quoted.push('>');
        if !line.is_empty() {
            quoted.push(' ');
            quoted.push_str(line);
        }
    }
    quoted
}

/// True if it is a control character, or changes the direction of others, or has no width.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{feff}'
        )
        || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
        || matches!(letter, '\u{e0000}'..='\u{e01ef}')
}

fn visible(text: &str) -> String {
    let text = without_sequences(text);
    let mut letters = text.chars().peekable();
    let mut visible = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => {
                letters.next_if_eq(&'\n');
                visible.push('\n');
            }
            '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => visible.push('\n'),
            '\n' | '\t' => visible.push(letter),
            _ if is_hidden(letter) => {}
            _ => visible.push(letter),
        }
    }
    visible
}

/// The text without sequences for a terminal: colours, moves, links, titles.
fn without_sequences(text: &str) -> String {
    let mut letters = text.chars().peekable();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_sequence(&mut letters),
            '\u{9b}' => skip_until_final(&mut letters),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut letters),
            _ => plain.push(letter),
        }
    }
    plain
}

fn skip_sequence(letters: &mut Peekable<Chars<'_>>) {
    match letters.next_if(|letter| !letter.is_control()) {
        Some('[') => skip_until_final(letters),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(letters),
        Some(' '..='/') => drop(letters.next_if(|letter| ('0'..='~').contains(letter))),
        Some(_) | None => {}
    }
}

/// A control character ends an incomplete sequence.
fn skip_until_final(letters: &mut Peekable<Chars<'_>>) {
    while let Some(letter) = letters.next_if(|letter| (' '..='~').contains(letter)) {
        if ('@'..='~').contains(&letter) {
            return;
        }
    }
}

/// A string for the terminal ends with a bell, or with an escape and a backslash. One that is not ended on its line hides nothing after it.
fn skip_string(letters: &mut Peekable<Chars<'_>>) {
    while let Some(letter) = letters.next_if(|letter| !matches!(letter, '\n' | '\r')) {
        match letter {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                letters.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_no_part_of_a_text() {
        for (text, expect) in [
            ("a <!-- do this --> b", "a  b"),
            ("a <!-- never closed\nb\n", "a "),
            ("a <!-<!-- x -->- y --> b", "a  b"),
            ("<!--> seen <!-- x --->", " seen "),
            ("<!\u{200b}-- x --> b", " b"),
            ("<!\u{1b}[0m-- x --> b", " b"),
            ("a --> b", "a --> b"),
            ("", ""),
        ] {
            assert_eq!(markdown(text), expect, "{text}");
        }
    }

    #[test]
    fn every_kind_of_line_end_is_one() {
        assert_eq!(
            markdown("a\r\nb\rc\u{85}d\u{2028}e\u{2029}f\u{b}g\u{c}h\ti\n"),
            "a\nb\nc\nd\ne\nf\ng\nh\ti\n"
        );
    }

    #[test]
    fn nothing_hidden_is_left() {
        assert_eq!(
            markdown("a\u{202e}b\u{2066}c\u{200b}d\u{e0041}e\u{e0101}f\u{0}g\u{7f}h\u{feff}"),
            "abcdefgh"
        );
        assert_eq!(
            markdown("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\ \u{9b}31mred\u{1b}[0m"),
            "link red"
        );
        assert_eq!(markdown("\u{1b}]0;no end\n## seen\u{1b}"), "\n## seen");
    }

    #[test]
    fn a_log_keeps_what_its_lines_end_with() {
        assert_eq!(log("10%\r20%\r100%\r\ndone\r\n"), "100%\ndone\n");
        assert_eq!(log("section_start:1:a\r\u{1b}[0K\u{1b}[36mTest\u{1b}[0m\n"), "Test\n");
        assert_eq!(log("section_end:1:a\r\u{1b}[0K\nx"), "\nx");
        assert_eq!(log("expected <!-- a -->\n"), "expected <! -- a -->\n");
    }

    #[test]
    fn a_heading_is_one_line() {
        assert_eq!(line("test\n## Review\u{1b}[31m <!-- ", 80), "test ## Review <! --");
        assert_eq!(line("abcdef", 4), "abc…");
    }

    #[test]
    fn every_line_of_a_quote_is_quoted() {
        assert_eq!(quoted("a \n\n## b"), "> a\n>\n> ## b");
        assert_eq!(quoted(""), ">");
    }
}
