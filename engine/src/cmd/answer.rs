//! The answer of a command, for programs and for people.

use comfy_table::{Table, presets::NOTHING};
use serde::Serialize;

use crate::{Error, ErrorKind, Result};

/// An answer in both forms; `entry_point.rs` prints one of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandAnswer {
    /// For `--json`. Without it, `text` is what to print in any case: of a long answer only one form is made.
    pub json: Option<String>,
    /// For people; no newline at the end. Empty if there is nothing to print.
    pub text: String,
    /// The kind of the problems that a check reports; it gives the exit status.
    pub wrong: Option<ErrorKind>,
    /// Bytes to be printed as they are, instead of both forms.
    pub raw: Option<Vec<u8>>,
}

impl CommandAnswer {
    /// An answer whose JSON is this value.
    pub fn of(value: &impl Serialize, text: impl Into<String>) -> Result<CommandAnswer> {
        Ok(CommandAnswer { json: Some(written(value)?), ..CommandAnswer::text(text) })
    }

    /// A text, to be printed in any case.
    pub fn text(text: impl Into<String>) -> CommandAnswer {
        CommandAnswer { text: text.into(), ..CommandAnswer::default() }
    }

    /// Bytes, to be printed as they are.
    pub fn raw(bytes: Vec<u8>) -> CommandAnswer {
        CommandAnswer { raw: Some(bytes), ..CommandAnswer::default() }
    }

    /// Makes the answer report a problem of this kind.
    pub fn wrong(self, kind: ErrorKind) -> CommandAnswer {
        CommandAnswer { wrong: Some(kind), ..self }
    }
}

/// A value in JSON.
pub fn written(value: &impl Serialize) -> Result<String> {
    let unwritten = |cause| Error::new(ErrorKind::Environment, format!("cannot write the answer: {cause}"));
    serde_json::to_string(value).map_err(unwritten)
}

/// Rows as a table with aligned columns, the header first. Cells keep to one line.
pub fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header).add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

/// The text on one line, free of control characters and of those that change the direction of a line, cut to `width` characters.
pub fn one_line(text: &str, width: usize) -> String {
    let turns = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let flat: String = text.chars().map(|c| if c.is_control() || turns(c) { ' ' } else { c }).collect();
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= width {
        return flat;
    }
    flat.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_do_not_trail() {
        let rows = [["a".to_owned(), "long cell".to_owned()], ["übung".to_owned(), String::new()]];
        assert_eq!(table(["ID", "WHAT"], &rows), "ID     WHAT\na      long cell\nübung");
    }

    #[test]
    fn a_cell_is_one_short_line() {
        assert_eq!(one_line("a\n\n\tb\u{1b}[31m", 80), "a b [31m");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("exe\u{202E}txt.", 80), "exe txt.");
    }
}
