//! Lines of a pane with their colours, as `capture-pane -e` prints them, and nothing else that a terminal would obey.

use std::iter::Peekable;
use std::str::Chars;

/// The lines of a capture, each of which begins and ends without colours: tmux goes on with those of the line before. Only
/// sequences that set colours and attributes stay.
pub(super) fn whole_lines(captured: &str) -> Vec<String> {
    let mut style = CellStyle::default();
    let mut has_drawing = false;
    captured.lines().map(|line| whole_line(line, &mut style, &mut has_drawing)).collect()
}

/// The text without its colours.
pub fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => drop(sequence(&mut letters)),
            other => plain.push(other),
        }
    }
    plain
}

fn whole_line(line: &str, style: &mut CellStyle, has_drawing: &mut bool) -> String {
    let mut whole = style.sequence();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => {
                if let Some(parameters) = sequence(&mut letters) {
                    style.set(&parameters);
                    whole += &format!("\u{1b}[{parameters}m");
                }
            }
            '\u{e}' => *has_drawing = true,
            '\u{f}' => *has_drawing = false,
            control if control.is_control() => {}
            other if *has_drawing => whole.push(drawn(other)),
            other => whole.push(other),
        }
    }
    if !style.is_plain() {
        whole += "\u{1b}[0m";
    }
    whole
}

/// Reads an escape sequence, and returns the parameters of one that sets colours or attributes.
fn sequence(letters: &mut Peekable<Chars<'_>>) -> Option<String> {
    match letters.next()? {
        '[' => {
            let mut parameters = String::new();
            for letter in letters {
                match letter {
                    '0'..='9' | ';' | ':' => parameters.push(letter),
                    'm' => return Some(parameters),
                    '@'..='~' => return None,
                    _ => parameters.clear(),
                }
            }
            None
        }
        // A command of the operating system, such as a link, with a text up to BEL or ESC \.
        ']' | 'P' | 'X' | '^' | '_' => {
            while let Some(letter) = letters.next() {
                if letter == '\u{7}' || letter == '\u{1b}' && letters.next_if_eq(&'\\').is_some() {
                    break;
                }
            }
            None
        }
        _ => None,
    }
}

/// The colours and attributes at a place.
#[derive(Debug, Default, PartialEq, Eq)]
struct CellStyle {
    foreground: String,
    background: String,
    underline: String,
    attributes: Vec<String>,
}

impl CellStyle {
    fn is_plain(&self) -> bool {
        *self == CellStyle::default()
    }

    /// The sequence that sets it; empty for none.
    fn sequence(&self) -> String {
        let colours = [&self.foreground, &self.background, &self.underline];
        let set: Vec<&str> = self.attributes.iter().chain(colours).map(String::as_str).collect();
        let set: Vec<&str> = set.into_iter().filter(|it| !it.is_empty()).collect();
        if set.is_empty() { String::new() } else { format!("\u{1b}[{}m", set.join(";")) }
    }

    fn set(&mut self, parameters: &str) {
        let mut parameters = parameters.split(';');
        while let Some(parameter) = parameters.next() {
            let number = parameter.split(':').next().unwrap_or_default();
            match number.parse().unwrap_or(0_u32) {
                0 => *self = CellStyle::default(),
                38 => self.foreground = colour(parameter, &mut parameters),
                48 => self.background = colour(parameter, &mut parameters),
                58 => self.underline = colour(parameter, &mut parameters),
                30..=37 | 90..=97 => self.foreground = parameter.to_owned(),
                40..=47 | 100..=107 => self.background = parameter.to_owned(),
                39 => self.foreground.clear(),
                49 => self.background.clear(),
                59 => self.underline.clear(),
                _ => {
                    self.attributes.retain(|set| set != parameter);
                    self.attributes.push(parameter.to_owned());
                }
            }
        }
    }
}

/// A colour in one parameter, such as `38:5:N`, or in several: `38;5;N` or `38;2;R;G;B`.
fn colour<'p>(first: &'p str, rest: &mut impl Iterator<Item = &'p str>) -> String {
    if first.contains(':') {
        return first.to_owned();
    }
    let kind = rest.next().unwrap_or_default();
    let numbers = if kind == "2" { 3 } else { 1 };
    [first, kind].into_iter().chain(rest.take(numbers)).collect::<Vec<_>>().join(";")
}

/// The character of a terminal's drawing set in place of this letter.
fn drawn(letter: char) -> char {
    const FIRST: char = '`';
    const DRAWN: &str = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
    let place = u32::from(letter).checked_sub(u32::from(FIRST));
    place.and_then(|place| DRAWN.chars().nth(usize::try_from(place).ok()?)).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(captured: &str, lines: &[&str]) {
        assert_eq!(whole_lines(captured), lines);
    }

    #[test]
    fn a_line_begins_and_ends_without_colours() {
        check("plain\n\n", &["plain", ""]);
        check("\x1b[31mred\nstill\x1b[0m no\nend", &["\x1b[31mred\x1b[0m", "\x1b[31mstill\x1b[0m no", "end"]);
        check(
            "\x1b[1m\x1b[31m\x1b[44ma\nb\x1b[39mc\nd",
            &["\x1b[1m\x1b[31m\x1b[44ma\x1b[0m", "\x1b[1;31;44mb\x1b[39mc\x1b[0m", "\x1b[1;44md\x1b[0m"],
        );
        check(
            "\x1b[38;5;208m\x1b[48;2;1;2;3ma\nb\x1b[mc",
            &["\x1b[38;5;208m\x1b[48;2;1;2;3ma\x1b[0m", "\x1b[38;5;208;48;2;1;2;3mb\x1b[mc"],
        );
        check(
            "\x1b[38;2;9;8;7;4ma\n\x1b[0;4:3;58:2::1:2:3mb\nc",
            &[
                "\x1b[38;2;9;8;7;4ma\x1b[0m",
                "\x1b[4;38;2;9;8;7m\x1b[0;4:3;58:2::1:2:3mb\x1b[0m",
                "\x1b[4:3;58:2::1:2:3mc\x1b[0m",
            ],
        );
    }

    #[test]
    fn a_colour_that_changes_often_is_remembered_once() {
        let rainbow: String = (0..2000).map(|at| format!("\x1b[38;5;{}mx", at % 256)).collect();
        let lines = whole_lines(&format!("{rainbow}\nend"));
        assert_eq!(lines[1], "\x1b[38;5;207mend\x1b[0m");
    }

    #[test]
    fn nothing_but_colours_reaches_a_terminal() {
        check("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\x07x", &["link x"]);
        check("\x1b[2Ja\x1b[1;1Hb\x1bcd\x07e\u{9b}31mf", &["abde31mf"]);
        check("\x1b[?25lx\x1b[>1my\x1b[3", &["x\x1b[1my\x1b[0m"]);
        check("\x0elqk\x0f lqk", &["┌─┐ lqk"]);
    }

    #[test]
    fn text_without_colours_is_what_was_written() {
        assert_eq!(without_colours("\x1b[1;31mred\x1b[0m 日本"), "red 日本");
    }
}
