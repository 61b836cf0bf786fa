//! A text as it is: every line of it, with what a terminal would hide or obey made visible.

use unicode_width::UnicodeWidthChar;

/// A line of the screen with a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbatimLine {
    /// The text that is drawn.
    pub text: String,
    /// True if it continues a line of the text that is too long for the screen.
    pub is_continued: bool,
    /// Number of characters of the text that are drawn up to the end of this line.
    pub end: usize,
}

/// The lines of a text at this width, and no more than so many of them.
pub fn lines(text: &str, width: usize, most: usize) -> Vec<VerbatimLine> {
    broken(text, width, most, |letter, _| visible(letter))
}

/// The columns between the stops of tabs.
const TAB: usize = 4;

/// The lines of a text that a person writes, at this width: a tab reaches to its next stop.
pub fn written_lines(text: &str, width: usize) -> Vec<VerbatimLine> {
    broken(text, width, usize::MAX, |letter, column| match letter {
        '\t' => " ".repeat(TAB - column % TAB),
        _ => visible(letter),
    })
}

/// True if it is drawn over the character before it.
pub fn is_drawn_over(letter: char) -> bool {
    columns(&visible(letter)) == 0
}

/// The lines of a text; a character is drawn as what `shown` makes of it at its column.
fn broken(text: &str, width: usize, most: usize, shown: impl Fn(char, usize) -> String) -> Vec<VerbatimLine> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = VerbatimLine { text: String::new(), is_continued: false, end: 0 };
    let mut used = 0;
    for letter in text.chars() {
        if lines.len() >= most {
            return lines;
        }
        if letter == '\n' {
            let end = line.end + 1;
            let next = VerbatimLine { text: String::new(), is_continued: false, end };
            lines.push(VerbatimLine { end, ..std::mem::replace(&mut line, next) });
            used = 0;
            continue;
        }
        let mut drawn = shown(letter, used);
        if used + columns(&drawn) > width && used > 0 {
            let next = VerbatimLine { text: String::new(), is_continued: true, end: line.end };
            lines.push(std::mem::replace(&mut line, next));
            used = 0;
            drawn = shown(letter, used);
        }
        used += columns(&drawn);
        line.text.push_str(&drawn);
        line.end += 1;
    }
    if lines.len() < most {
        lines.push(line);
    }
    lines
}

fn columns(text: &str) -> usize {
    text.chars().map(|letter| letter.width().unwrap_or(0)).sum()
}

/// The ranges of characters that take no room, look like a space or change the order of others.
const UNSEEN: &[(char, char)] = &[
    ('\u{80}', '\u{a0}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{2000}', '\u{200f}'),
    ('\u{2028}', '\u{202f}'),
    ('\u{205f}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// A character as it is drawn: `␛` for an escape, `<U+202E>` for one that turns others round.
fn visible(letter: char) -> String {
    let code = u32::from(letter);
    let picture = match code {
        0..0x20 => char::from_u32(0x2400 + code),
        0x7f => Some('␡'),
        _ => None,
    };
    let is_unseen = UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&letter));
    match picture {
        Some(picture) => picture.to_string(),
        None if is_unseen => format!("<U+{code:04X}>"),
        None => letter.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, width: usize, expect: &[&str]) {
        let shown = lines(text, width, usize::MAX);
        let texts: Vec<_> = shown.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, expect, "{text:?}");
        assert_eq!(shown.last().unwrap().end, text.chars().count(), "all of {text:?} is drawn");
    }

    #[test]
    fn every_line_and_every_space_stands_as_it_is() {
        check("", 9, &[""]);
        check("a\n\n  b  \n", 9, &["a", "", "  b  ", ""]);
        check("abcdef gh\nij", 4, &["abcd", "ef g", "h", "ij"]);
        check("漢字漢", 5, &["漢字", "漢"]);
    }

    #[test]
    fn what_a_terminal_hides_or_obeys_is_visible() {
        check("a\tb\rc\u{1b}[2J\u{7f}", 20, &["a␉b␍c␛[2J␡"]);
        check("x\u{202e}y\u{200b}z\u{a0}", 80, &["x<U+202E>y<U+200B>z<U+00A0>"]);
    }

    #[test]
    fn no_more_lines_are_made_than_have_room() {
        let text = "line\n".repeat(1000);
        assert_eq!(lines(&text, 9, 3).len(), 3);
        assert_eq!(lines(&text, 9, 0).len(), 0);
        assert_eq!(lines("ab", 1, usize::MAX)[0].end, 1);
        assert!(lines("ab", 1, usize::MAX)[1].is_continued);
    }
}
