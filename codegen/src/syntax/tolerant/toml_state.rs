//! The things that are open where a TOML text ends: strings, brackets, a table's header, a key without a value.

use std::ops::Range;

use super::patch::Patch;

/// The state at the end of a text.
#[derive(Default)]
struct TomlState {
    /// The string that is open, by the quotes that end it.
    string: Option<&'static str>,
    /// The bytes of a comment belong to nothing else.
    is_comment: bool,
    /// True behind a backslash of a string.
    is_escaped: bool,
    /// The closing sign of each open bracket, outermost first.
    closers: Vec<&'static str>,
    /// True within `[…]` or `[[…]]` at the start of a line.
    is_header: bool,
    part: Part,
    /// Behind the last sign that separates values.
    item: usize,
}

/// Part of an entry that a place is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Before a key, or behind a value.
    #[default]
    Nothing,
    /// Within a key, or behind it.
    Key,
    /// Behind the `=`.
    Assigned,
    /// Within a value, or behind it.
    Value,
}

/// The ending that closes a text; empty where nothing is open.
pub(super) fn closing(text: &str) -> String {
    TomlState::at_end_of(text).closing()
}

/// Texts with a line closed, then with a part of it or all of it left out; the first ones keep most.
pub(super) fn patches(text: &str, line: Range<usize>) -> Vec<Patch> {
    let end = line.start + text[line.clone()].trim_end().len();
    let state = TomlState::at_end_of(&text[..end]);
    let mut patches = vec![Patch { blank: end..end, at: end, insert: state.closing() }];
    // What is written as a value is none yet, or a comma has nothing behind it.
    let item = state.item.max(line.start);
    for start in [item, item.saturating_sub(1)] {
        if start >= line.start && text.is_char_boundary(start) && start < end {
            let blank = Patch::blanked(start..end);
            let state = TomlState::at_end_of(&blank.apply(&text[..end]));
            patches.push(Patch { insert: state.closing(), ..blank });
        }
    }
    let before = closing(&text[..line.start]);
    patches.push(Patch::blanked(line.clone()));
    patches.push(Patch { insert: before, ..Patch::blanked(line) });
    patches.retain(|it| !it.is_nothing());
    patches
}

impl TomlState {
    fn at_end_of(text: &str) -> Self {
        let mut state = Self::default();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            at += state.step(&bytes[at..], at);
        }
        state
    }

    /// Reads what a text begins with, and says how many bytes that has.
    fn step(&mut self, rest: &[u8], at: usize) -> usize {
        if let Some(quotes) = self.string {
            return self.in_string(quotes, rest);
        }
        let byte = rest[0];
        if byte == b'\n' {
            self.end_line();
            return 1;
        }
        if self.is_comment || byte.is_ascii_whitespace() {
            return 1;
        }
        for quotes in [r#"""""#, "'''", "\"", "'"] {
            if rest.starts_with(quotes.as_bytes()) {
                self.string = Some(quotes);
                self.write();
                return quotes.len();
            }
        }
        match byte {
            b'#' => self.is_comment = true,
            b'[' if self.closers.is_empty() && self.part == Part::Nothing => {
                self.is_header = true;
                let is_list = rest.starts_with(b"[[");
                self.closers.push(if is_list { "]]" } else { "]" });
                self.item = at + 1;
                return if is_list { 2 } else { 1 };
            }
            b'[' => self.open("]", Part::Assigned, at),
            b'{' => self.open("}", Part::Nothing, at),
            b']' | b'}' => {
                self.closers.pop();
                self.is_header = false;
                self.part = Part::Value;
            }
            b',' => {
                self.part = if self.closers.last() == Some(&"}") { Part::Nothing } else { Part::Assigned };
                self.item = at + 1;
            }
            b'=' => {
                self.part = Part::Assigned;
                self.item = at + 1;
            }
            _ => self.write(),
        }
        1
    }

    fn in_string(&mut self, quotes: &'static str, rest: &[u8]) -> usize {
        let has_escapes = quotes.starts_with('"');
        if rest[0] == b'\n' && quotes.len() == 1 {
            self.string = None;
            self.is_escaped = false;
            self.end_line();
        } else if has_escapes && (self.is_escaped || rest[0] == b'\\') {
            self.is_escaped = !self.is_escaped;
        } else if rest.starts_with(quotes.as_bytes()) {
            self.string = None;
            return quotes.len();
        }
        1
    }

    fn open(&mut self, closer: &'static str, part: Part, at: usize) {
        self.closers.push(closer);
        self.part = part;
        self.item = at + 1;
    }

    /// Something that is neither a sign nor a blank.
    fn write(&mut self) {
        self.part = match self.part {
            Part::Nothing | Part::Key => Part::Key,
            Part::Assigned | Part::Value => Part::Value,
        };
    }

    fn end_line(&mut self) {
        self.is_comment = false;
        if self.is_header {
            self.closers.clear();
            self.is_header = false;
        }
        if self.closers.is_empty() {
            self.part = Part::Nothing;
        }
    }

    fn closing(&self) -> String {
        let mut closing = String::new();
        if self.is_escaped {
            closing.push('\\');
        }
        closing.push_str(self.string.unwrap_or_default());
        if self.is_comment && (self.part != Part::Nothing || !self.closers.is_empty()) {
            closing.push('\n');
        }
        if !self.is_header {
            match self.part {
                Part::Key => closing.push_str(" = \"\""),
                Part::Assigned if self.closers.last() != Some(&"]") => closing.push_str(" \"\""),
                Part::Nothing | Part::Assigned | Part::Value => {}
            }
        }
        closing.extend(self.closers.iter().rev().copied());
        closing
    }
}
