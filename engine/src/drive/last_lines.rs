//! The last lines of a pane, for the journal.

use super::tmux::Tmux;

/// The number of lines that are kept, without blank ones.
const MAX_LINES: usize = 40;

/// The number of bytes that are kept.
const MAX_BYTES: usize = 4096;

/// The last lines of a pane; `None` if tmux fails, which does not prevent the record of an agent's end.
pub fn of(tmux: &Tmux, pane_id: &str) -> Option<String> {
    tmux.capture(pane_id, 2 * MAX_LINES).ok().map(|shown| kept(&shown))
}

/// The last lines that are not blank, without control characters.
fn kept(shown: &str) -> String {
    let printable =
        |line: &str| -> String { line.trim_end().chars().filter(|it| !it.is_control()).collect() };
    let lines: Vec<String> = shown.lines().map(printable).filter(|line| !line.trim().is_empty()).collect();
    let mut room = MAX_BYTES;
    let fits = |line: &&String| {
        let rest = room.checked_sub(line.len() + 1);
        room = rest.unwrap_or_default();
        rest.is_some()
    };
    let mut last: Vec<&str> =
        lines.iter().rev().take(MAX_LINES).take_while(fits).map(String::as_str).collect();
    last.reverse();
    last.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shown: &str, expect: &str) {
        assert_eq!(kept(shown), expect);
    }

    #[test]
    fn blank_lines_and_control_characters_are_left_out() {
        check("", "");
        check("\n \n\t\n", "");
        check("one  \n\n  two\u{1b}[31m\u{7}\r\n", "one\n  two[31m");
        check("é ✓ │", "é ✓ │");
    }

    #[test]
    fn the_last_lines_are_kept() {
        let lines = |numbers: std::ops::Range<usize>| -> String {
            numbers.map(|number| number.to_string()).collect::<Vec<_>>().join("\n")
        };
        check(&lines(0..100), &lines(60..100));
        let long = "x".repeat(MAX_BYTES - 3);
        check(&format!("first\n{long}\nz"), &format!("{long}\nz"));
        check(&format!("first\n{long}\nlast"), "last");
    }
}
