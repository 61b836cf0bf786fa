//! A line that a person types.

use unicode_width::UnicodeWidthStr;

/// A text with a cursor at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The text.
    pub text: String,
}

impl Line {
    /// A line that begins with this text.
    pub fn of(text: impl Into<String>) -> Line {
        Line { text: text.into() }
    }

    /// Adds a character.
    pub fn push(&mut self, letter: char) {
        if !letter.is_control() {
            self.text.push(letter);
        }
    }

    /// Adds a text; line breaks become spaces.
    pub fn paste(&mut self, text: &str) {
        let text = text.trim_end_matches(['\r', '\n']);
        let letters =
            text.chars().map(|letter| if matches!(letter, '\r' | '\n' | '\t') { ' ' } else { letter });
        self.text.extend(letters.filter(|letter| !letter.is_control()));
    }

    /// Removes the last character.
    pub fn pop(&mut self) {
        self.text.pop();
    }

    /// Removes the last word.
    pub fn pop_word(&mut self) {
        let rest = self.text.trim_end().rfind(' ').map_or(0, |at| at + 1);
        self.text.truncate(rest);
    }

    /// The end of the text that has room, with the cursor behind it.
    pub fn tail(&self, width: usize) -> &str {
        let mut tail = self.text.as_str();
        while tail.width() > width.saturating_sub(1) {
            let mut letters = tail.chars();
            letters.next();
            tail = letters.as_str();
        }
        tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_stays_in_one_line() {
        let mut line = Line::of("a");
        line.paste("b\r\nc\td\u{1b}[31m\n");
        assert_eq!(line.text, "ab  c d[31m");
        line.pop_word();
        line.pop_word();
        assert_eq!(line.text, "ab  ");
    }

    #[test]
    fn the_tail_counts_columns() {
        assert_eq!(Line::of("漢字abc").tail(6), "字abc");
        assert_eq!(Line::of("abc").tail(0), "");
    }
}
