//! The answer of a command, for programs and for people.

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

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
    /// The length of most rows of lists.
    const USUAL: usize = 1024;
    let unwritten =
        |cause: String| Error::new(ErrorKind::Environment, format!("cannot write the answer: {cause}"));
    let mut bytes = Vec::with_capacity(USUAL);
    serde_json::to_writer(&mut bytes, value).map_err(|cause| unwritten(cause.to_string()))?;
    String::from_utf8(bytes).map_err(|cause| unwritten(cause.to_string()))
}

/// Values in JSON as one array, which may have megabytes.
pub fn array(values: &[String]) -> String {
    let length = values.iter().map(|value| value.len() + 1).sum::<usize>() + 1;
    let mut text = String::with_capacity(length.max(2));
    text.push('[');
    for (at, value) in values.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { "," });
        text.push_str(value);
    }
    text.push(']');
    text
}

/// Millionths of a dollar as dollars and cents: `$0.25`.
pub fn dollars(millionths: u64) -> String {
    format!("${}.{:02}", millionths / 1_000_000, millionths % 1_000_000 / 10_000)
}

/// Rows as a table with aligned columns, the header first. Cells keep to one line.
pub fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = header.map(UnicodeWidthStr::width);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.lines().map(UnicodeWidthStr::width).fold(*width, usize::max);
        }
    }
    let mut text = String::new();
    add_row(&mut text, &header, &widths);
    for row in rows {
        text.push('\n');
        add_row(&mut text, &row.each_ref().map(String::as_str), &widths);
    }
    text
}

/// Adds the lines of a row; a cell may have several.
fn add_row<const N: usize>(text: &mut String, row: &[&str; N], widths: &[usize; N]) {
    let mut cells = row.map(str::lines);
    let mut line = cells.each_mut().map(Iterator::next);
    loop {
        add_line(text, &line.map(Option::unwrap_or_default), widths);
        line = cells.each_mut().map(Iterator::next);
        if line.iter().all(Option::is_none) {
            return;
        }
        text.push('\n');
    }
}

fn add_line<const N: usize>(text: &mut String, line: &[&str; N], widths: &[usize; N]) {
    const BETWEEN: usize = 2;
    let (mut column, mut filled) = (0, 0);
    for (cell, width) in line.iter().zip(widths) {
        let cell = cell.trim_end();
        if !cell.is_empty() {
            text.extend(std::iter::repeat_n(' ', column - filled));
            text.push_str(cell);
            filled = column + cell.width();
        }
        column += width + BETWEEN;
    }
}

/// The text on one line, free of control characters and of those that change the direction of a line, cut to `width` characters.
pub fn one_line(text: &str, width: usize) -> String {
    // Most texts are so, and a list has thousands.
    let is_flat = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !text.contains("  ")
        && text.trim_ascii().len() == text.len();
    if is_flat && text.len() <= width {
        return text.to_owned();
    }
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
        let rows = [["a".to_owned(), "one\ntwo".to_owned(), "z".to_owned()]];
        assert_eq!(table(["ID", "漢", "LAST"], &rows), "ID  漢   LAST\na   one  z\n    two");
    }

    #[test]
    fn an_array_is_json() {
        let array = |values: &[&str]| array(&values.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!([array(&[]), array(&["1"]), array(&["1", "{}"])], ["[]", "[1]", "[1,{}]"]);
    }

    #[test]
    fn a_cell_is_one_short_line() {
        assert_eq!(one_line("a\n\n\tb\u{1b}[31m", 80), "a b [31m");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!([" a b", "a  b", "a b ", "a b"].map(|text| one_line(text, 3)), ["a b"; 4]);
        assert_eq!(one_line("exe\u{202E}txt.", 80), "exe txt.");
    }
}
