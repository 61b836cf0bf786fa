//! A field that a person writes a text into, of one line or of several.

use unicode_width::UnicodeWidthStr;

use super::keys;
use super::verbatim::{self, VerbatimLine};

/// A text with a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextField {
    text: String,
    /// Number of its bytes before the cursor.
    cursor: usize,
    /// True if it may have several lines.
    has_lines: bool,
}

/// The part of a field that the screen shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownField {
    /// Its lines, as far as there is room.
    pub lines: Vec<VerbatimLine>,
    /// The line of the cursor among these, and its column.
    pub cursor: (usize, usize),
    /// The number of the cursor's line, from 1, and how many lines there are.
    pub place: (usize, usize),
}

impl TextField {
    /// A field of one line, with the cursor behind this text.
    pub fn line(text: impl Into<String>) -> TextField {
        let text = text.into();
        TextField { cursor: text.len(), text, has_lines: false }
    }

    /// A field of several lines, with the cursor behind this text.
    pub fn lines(text: impl Into<String>) -> TextField {
        TextField { has_lines: true, ..TextField::line(text) }
    }

    /// The text, as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if nothing but blanks is written in it.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// True if it may have several lines.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Writes a text at the cursor. In a field of one line, line breaks become spaces.
    pub fn insert(&mut self, text: &str) {
        // A terminal pastes a line break as the key that makes one.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = if self.has_lines { text } else { one_line(&text) };
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Has this text instead, with the cursor behind it.
    pub fn replace(&mut self, text: &str) {
        *self = TextField { has_lines: self.has_lines, ..TextField::default() };
        self.insert(text);
    }

    /// Takes a key, in a field that is as wide as this. Says whether the key has a meaning here: no line is above the first one.
    pub fn press(&mut self, name: &str, width: u16) -> bool {
        match (name, keys::typed(name)) {
            ("Enter", _) if self.has_lines => self.insert("\n"),
            ("Backspace", _) => self.remove(self.before(self.cursor), self.cursor),
            ("Delete", _) => self.remove(self.cursor, self.after(self.cursor)),
            ("Ctrl-U", _) => self.remove(self.line_begin(), self.cursor),
            ("Ctrl-W", _) => self.remove(self.word_begin(), self.cursor),
            ("Left", _) => self.cursor = self.before(self.cursor),
            ("Right", _) => self.cursor = self.after(self.cursor),
            ("Home", _) => self.cursor = self.line_begin(),
            ("End", _) => self.cursor = self.line_end(),
            ("Up", _) => return self.move_line(false, width),
            ("Down", _) => return self.move_line(true, width),
            (_, Some(letter)) => self.insert(letter.encode_utf8(&mut [0; 4])),
            (_, None) => return false,
        }
        true
    }

    /// The lines around the cursor, in a field of this size.
    pub fn shown(&self, width: u16, height: usize) -> ShownField {
        if !self.has_lines {
            return self.shown_line(width);
        }
        let mut lines = self.wrapped(width);
        let (at, column) = self.cursor_in(&lines);
        let place = (at + 1, lines.len());
        let first = (at + 1).saturating_sub(height.max(1));
        let mut lines = lines.split_off(first);
        lines.truncate(height);
        ShownField { lines, cursor: (at - first, column), place }
    }

    /// The only line: from its end that has room before the cursor, with what follows.
    fn shown_line(&self, width: u16) -> ShownField {
        let room = usize::from(width.saturating_sub(1));
        let cut = self.text[..self.cursor].char_indices().map(|(byte, _)| byte).chain([self.cursor]);
        let is_short = |byte: &usize| columns(&self.text[*byte..self.cursor]) <= room;
        let from = cut.into_iter().find(is_short).unwrap_or(self.cursor);
        let lines = verbatim::written_lines(&self.text[from..], usize::MAX);
        ShownField { lines, cursor: (0, columns(&self.text[from..self.cursor])), place: (1, 1) }
    }

    /// Number of lines that it needs at this width.
    pub fn height(&self, width: u16) -> usize {
        self.wrapped(width).len()
    }

    /// The lines of the screen, which leave a column for the cursor.
    fn wrapped(&self, width: u16) -> Vec<VerbatimLine> {
        let width = if self.has_lines { usize::from(width.saturating_sub(1)) } else { usize::MAX };
        verbatim::written_lines(&self.text, width)
    }

    /// The line of the cursor among these, and its column.
    fn cursor_in(&self, lines: &[VerbatimLine]) -> (usize, usize) {
        let letters = self.text[..self.cursor].chars().count();
        let at = lines.iter().position(|line| letters < line.end).unwrap_or(lines.len().saturating_sub(1));
        (at, self.column(begin(lines, at), letters))
    }

    /// The columns between two characters of a line.
    fn column(&self, from: usize, to: usize) -> usize {
        columns(&self.text.chars().skip(from).take(to.saturating_sub(from)).collect::<String>())
    }

    /// Moves the cursor to the next line of the screen or to the one before, as near to its column as that line has a character.
    fn move_line(&mut self, is_down: bool, width: u16) -> bool {
        let lines = self.wrapped(width);
        let (at, column) = self.cursor_in(&lines);
        let target = if is_down { at + 1 } else { at.wrapping_sub(1) };
        let Some(line) = lines.get(target) else { return false };
        let from = begin(&lines, target);
        // What ends a line is the next line's: the last place of a line is before its end.
        let last = if target + 1 == lines.len() { line.end } else { line.end.saturating_sub(1) };
        let place = (from..=last).rev().find(|place| self.column(from, *place) <= column).unwrap_or(from);
        self.cursor = self.text.char_indices().nth(place).map_or(self.text.len(), |(byte, _)| byte);
        true
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    /// The place before a character and what is drawn over it.
    fn before(&self, place: usize) -> usize {
        let mut letters = self.text[..place].char_indices().rev();
        letters.find(|(_, letter)| !verbatim::is_drawn_over(*letter)).map_or(0, |(byte, _)| byte)
    }

    /// The place behind a character and what is drawn over it.
    fn after(&self, place: usize) -> usize {
        let mut letters = self.text[place..].char_indices().skip(1);
        let next = letters.find(|(_, letter)| !verbatim::is_drawn_over(*letter));
        next.map_or(self.text.len(), |(byte, _)| place + byte)
    }

    fn line_begin(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn word_begin(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before.rfind(char::is_whitespace).map_or(0, |at| self.after(at))
    }
}

/// Width of a part of a line.
fn columns(text: &str) -> usize {
    verbatim::written_lines(text, usize::MAX).first().map_or(0, |line| line.text.width())
}

/// Number of characters before this line.
fn begin(lines: &[VerbatimLine], at: usize) -> usize {
    at.checked_sub(1).and_then(|before| lines.get(before)).map_or(0, |line| line.end)
}

/// A text for a field of one line.
fn one_line(text: &str) -> String {
    let text = text.trim_end_matches('\n');
    let letters = text.chars().map(|letter| if matches!(letter, '\n' | '\t') { ' ' } else { letter });
    letters.filter(|letter| !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field after these keys, with the cursor as `|`.
    #[track_caller]
    fn check(text: &str, width: u16, keys: &[&str], expect: &str) {
        let mut field = TextField::lines(text);
        for key in keys {
            field.press(key, width);
        }
        let (before, behind) = field.text.split_at(field.cursor);
        assert_eq!(format!("{before}|{behind}"), expect, "{text:?} after {keys:?}");
    }

    #[test]
    fn a_paste_keeps_its_lines_where_there_are_lines() {
        let mut lines = TextField::lines("a");
        lines.insert("b\r\n\tc\rd\n");
        assert_eq!(lines.text(), "ab\n\tc\nd\n");
        let mut line = TextField::line("a");
        line.insert("b\r\nc\td\u{1b}[31m\n");
        assert_eq!(line.text(), "ab c d[31m");
        assert!(!line.press("Enter", 9), "a line has no other below it");
        line.replace("one\ntwo\n");
        assert_eq!(line.text(), "one two");
    }

    #[test]
    fn the_cursor_moves_by_characters_and_lines() {
        check("ab\ncd", 9, &["Up"], "ab|\ncd");
        check("ab\ncd", 9, &["Up", "Home", "Down", "x"], "ab\nx|cd");
        check("a\nlong", 9, &["Up", "Down"], "a\nl|ong");
        check("ab\ncd", 9, &["Left", "Left", "Left", "Backspace"], "a|\ncd");
        check("ab\ncd", 9, &["Home", "Backspace"], "ab|cd");
        check("ab\ncd", 9, &["Up", "End", "Delete"], "ab|cd");
        check("one two\nthree", 9, &["Ctrl-U"], "one two\n|");
        check("one two  ", 9, &["Ctrl-W", "Enter", "x"], "one \nx|");
        check("e\u{301}x", 9, &["Left", "Left", "Delete"], "|x");
        check("", 9, &["Backspace", "Delete", "Left", "Right", "Up", "Down", "Ctrl-W"], "|");
    }

    #[test]
    fn the_cursor_moves_by_lines_of_the_screen() {
        // Three columns and one for the cursor.
        check("abcdef", 4, &["Up"], "ab|cdef");
        check("abcdef", 4, &["Left", "Left", "Up"], "a|bcdef");
        check("漢字漢", 5, &["Up"], "漢|字漢");
        let mut field = TextField::lines("abcdef");
        assert!(!field.press("Down", 4) && field.press("Up", 4) && !field.press("Up", 4));
    }

    #[test]
    fn the_cursor_stands_where_its_character_is_drawn() {
        let place = |text: &str, keys: &[&str]| {
            let mut field = TextField::lines(text);
            for key in keys {
                field.press(key, 9);
            }
            let shown = field.shown(9, 2);
            let texts: Vec<String> = shown.lines.into_iter().map(|line| line.text).collect();
            (texts, shown.cursor, shown.place)
        };
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(place("a\tb漢", &[]), (texts(&["a   b漢"]), (0, 7), (1, 1)));
        assert_eq!(place("a\tb漢", &["Left"]), (texts(&["a   b漢"]), (0, 5), (1, 1)));
        assert_eq!(
            place("one\ntwo\n", &[]),
            (texts(&["two", ""]), (1, 0), (3, 3)),
            "it scrolls to the cursor"
        );
        assert_eq!(place("one\ntwo\n", &["Up", "Up"]), (texts(&["one", "two"]), (0, 0), (1, 3)));
        let line = TextField::line("漢字abc");
        assert_eq!(line.shown(6, 1).lines[0].text, "字abc");
        assert_eq!(line.shown(0, 1).lines[0].text, "");
        assert_eq!(place("12345678", &[]), (texts(&["12345678"]), (0, 8), (1, 1)));
    }
}
