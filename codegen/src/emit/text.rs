//! Literals: numbers without a suffix, and texts that read in the source as they read on the screen.

use proc_macro2::Literal;

/// A number without a suffix.
pub(super) fn number(number: usize) -> Literal {
    Literal::usize_unsuffixed(number)
}

/// A string literal whose lines are lines, so that the diff of a prompt is the diff of its lines.
pub(super) fn lines(text: &str) -> Literal {
    let mut literal = String::from("\"");
    for char in text.chars() {
        match char {
            '\n' | '\'' => literal.push(char),
            _ => literal.extend(char.escape_debug()),
        }
    }
    literal.push('"');
    literal.parse().unwrap_or_else(|_| Literal::string(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(lines(text).to_string(), expect);
    }

    #[test]
    fn lines_stay_lines_and_everything_else_is_escaped() {
        check("a\n\nb's\n", "\"a\n\nb's\n\"");
        check("\"q\" \\ \t\r\0", r#""\"q\" \\ \t\r\0""#);
        check("日本 é", "\"日本 é\"");
        check("\u{202e}\u{feff}", r#""\u{202e}\u{feff}""#);
    }
}
