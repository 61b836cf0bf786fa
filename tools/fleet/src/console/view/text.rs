//! Texts that others have written: shown as text, cut where they are long, each in its own direction.

use std::borrow::Cow;

use maud::{Markup, html};

/// Number of characters of a prompt that a page shows.
pub const PROMPT: usize = 2_000;

/// Number of characters of a summary, a reason or a context that a page shows.
pub const SUMMARY: usize = 700;

/// Number of characters of a text that stand in one line.
pub const LINE: usize = 140;

/// Number of lines of a text that a page shows.
const LINES: usize = 40;

/// The beginning of a text, in characters, and whether that is not all.
pub fn cut(text: &str, most: usize) -> (&str, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

/// The beginning of a text of many lines, and whether that is not all.
fn cut_lines(text: &str, most: usize) -> (&str, bool) {
    let (shown, is_cut) = cut(text, most);
    match shown.match_indices('\n').nth(LINES - 1) {
        Some((end, _)) if end + 1 < text.len() => (&text[..end], true),
        Some(_) | None => (shown, is_cut),
    }
}

/// The first line of a text that has anything in it, cut.
pub fn line(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or("(no text)");
    let (shown, is_cut) = cut(first, LINE);
    let shown = visible(shown);
    if is_cut { format!("{shown}…") } else { shown.into_owned() }
}

/// A text with a sign for each character that no page may hold, that nobody sees, or that turns the text around it.
pub fn visible(text: &str) -> Cow<'_, str> {
    let turns = |it: char| matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_hidden = |it: char| it.is_control() && !matches!(it, '\n' | '\t') || turns(it);
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let replaced = text.chars().filter(|it| *it != '\r').map(|it| match it {
        '\u{0}'..='\u{1f}' if is_hidden(it) => char::from_u32(0x2400 + u32::from(it)).unwrap_or('\u{fffd}'),
        it if is_hidden(it) => '\u{fffd}',
        it => it,
    });
    Cow::Owned(replaced.collect())
}

/// Number of bytes that a text takes of a page, at most.
pub fn weight(text: &str) -> usize {
    let of = |it: char| match it {
        '"' => 6,
        '&' => 5,
        '<' | '>' => 4,
        '\n' | '\t' => 1,
        it if it.is_control() => 3,
        it => it.len_utf8(),
    };
    text.chars().map(of).sum()
}

/// The end of a text that takes at most so many bytes of a page, from the beginning of a line, and whether that is not all.
pub fn end(text: &str, most: usize) -> (&str, bool) {
    let mut room = most;
    let fits = text.char_indices().rev().take_while(|(at, it)| {
        let rest = room.checked_sub(weight(&text[*at..*at + it.len_utf8()]));
        room = rest.unwrap_or_default();
        rest.is_some()
    });
    let from = fits.last().map_or(text.len(), |(at, _)| at);
    match text[from..].find('\n').filter(|_| from > 0) {
        Some(line) => (&text[from + line + 1..], true),
        None => (&text[from..], from > 0),
    }
}

/// A text of several lines. Where it is cut, a link leads to the whole of it.
pub fn block(text: &str, most: usize, whole: &str, name: &str) -> Markup {
    let (shown, is_cut) = cut_lines(text, most);
    html! {
        pre.text dir="auto" { (visible(shown)) @if is_cut { "…" } }
        @if is_cut {
            p { a href=(whole) { "The whole " (name) } " (" (size(text.len())) ", as plain text)" }
        }
    }
}

/// A short text in a sentence: its direction does not reach beyond it.
pub fn inline(text: &str) -> Markup {
    html! { bdi { (line(text)) } }
}

/// A length in bytes, for people.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        _ => format!("{} kB", bytes.div_ceil(1_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("añb", 2), ("añ", true));
        assert_eq!(cut("añb", 3), ("añb", false));
    }

    #[test]
    fn a_text_of_many_lines_is_cut_between_lines() {
        let text = "x\n".repeat(LINES);
        assert_eq!(cut_lines(&text, 1_000), (text.as_str(), false));
        assert_eq!(cut_lines(&format!("{text}y"), 1_000), (text.trim_end(), true));
    }

    #[test]
    fn the_end_of_a_text_begins_with_a_line() {
        assert_eq!(end("one\ntwo", 7), ("one\ntwo", false));
        assert_eq!(end("one\ntwo", 6), ("two", true));
        assert_eq!(end("<<<", 8), ("<<", true));
        assert_eq!(end("", 0), ("", false));
        assert_eq!(end("ñ", 1), ("", true));
    }

    #[test]
    fn no_text_takes_more_of_a_page_than_its_weight() {
        for text in ["plain", "<a href=\"x\">'&'</a>", "\u{0}\u{1b}\u{9b}\u{202e}\r\t\nñ😀"] {
            let markup = html! { (visible(text)) }.into_string();
            assert!(markup.len() <= weight(text), "{markup}");
        }
    }

    #[test]
    fn a_line_is_the_first_with_text() {
        assert_eq!(line("\n  Fix it  \nnow"), "Fix it");
        assert_eq!(line(" \n"), "(no text)");
        assert_eq!(line(&"x".repeat(LINE + 1)).chars().count(), LINE + 1);
    }

    #[test]
    fn control_characters_are_signs() {
        assert_eq!(visible("a\u{0}\u{1b}[1mb\r\nc\u{9b}"), "a␀␛[1mb\nc\u{fffd}");
        assert_eq!(visible("שלום\t"), "שלום\t");
        assert_eq!(visible("\u{202e}abc\u{2066}"), "\u{fffd}abc\u{fffd}");
    }

    #[test]
    fn markup_in_a_text_is_text() {
        let shown = block("<script>alert(1)</script>", 8, "/whole?a=1&b=2", "prompt").into_string();
        assert!(shown.contains("&lt;script&gt;…</pre>") || shown.contains("&lt;script…"), "{shown}");
        assert!(!shown.contains("<script"), "{shown}");
        assert!(shown.contains("href=\"/whole?a=1&amp;b=2\""), "{shown}");
    }
}
