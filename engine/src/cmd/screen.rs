//! The terminal that answers are printed on, and how wide text is there.

use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;

/// The columns of the terminal; `None` when standard output is no terminal, or does not say.
pub fn width() -> Option<usize> {
    let out = io::stdout();
    let columns = out.is_terminal().then(|| tcgetwinsize(&out).ok())??.ws_col;
    (columns > 0).then_some(columns.into())
}

/// How many columns the text takes.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// As much of the text as fits, with an ellipsis for the rest.
pub fn fit(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |letter: &char| match left.checked_sub(columns_of(*letter)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// What terminals do: letters of East Asia and emoji take two columns, marks that join the letter before them none.
fn columns_of(letter: char) -> usize {
    const NONE: [(u32, u32); 6] = [
        (0x300, 0x36f),
        (0x200b, 0x200f),
        (0x20d0, 0x20ff),
        (0xfe00, 0xfe0f),
        (0xfe20, 0xfe2f),
        (0xe0100, 0xe01ef),
    ];
    const TWO: [(u32, u32); 10] = [
        (0x1100, 0x115f),
        (0x2e80, 0x303e),
        (0x3041, 0xa4cf),
        (0xa960, 0xa97f),
        (0xac00, 0xd7a3),
        (0xf900, 0xfaff),
        (0xfe30, 0xfe6f),
        (0xff00, 0xff60),
        (0x1f300, 0x1faff),
        (0x20000, 0x3fffd),
    ];
    let is_in =
        |ranges: &[(u32, u32)]| ranges.iter().any(|(from, to)| (*from..=*to).contains(&u32::from(letter)));
    match letter {
        ..'\u{300}' => 1,
        _ if is_in(&NONE) => 0,
        _ if is_in(&TWO) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, width: usize, expect: &str) {
        let found = fit(text, width);
        assert_eq!(found, expect);
        assert!(columns(&found) <= width);
    }

    #[test]
    fn text_is_cut_where_the_terminal_ends() {
        check("abc", 3, "abc");
        check("abcd", 3, "ab…");
        check("ab cd", 4, "ab…");
        check("日本語", 6, "日本語");
        check("日本語", 5, "日本…");
        check("日本語", 4, "日…");
        check("🍊🍊", 3, "🍊…");
        check("e\u{301}e\u{301}e", 3, "e\u{301}e\u{301}e");
        check("ab", 1, "…");
    }
}
