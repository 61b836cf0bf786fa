//! Texts that fit: widths are columns of the terminal, so that wide characters shift nothing.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in at most this width, cut with `…`. Control characters become spaces.
pub fn fit(text: &str, width: usize) -> String {
    let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if clean.width() <= width {
        return clean;
    }
    let mut cut = String::new();
    let mut used = 0;
    for letter in clean.chars() {
        let more = letter.width().unwrap_or(0);
        if used + more + 1 > width {
            break;
        }
        used += more;
        cut.push(letter);
    }
    if width > 0 {
        cut.push('…');
    }
    cut
}

/// The text in exactly this width, to the left.
pub fn left(text: &str, width: usize) -> String {
    let fitted = fit(text, width);
    let room = width.saturating_sub(fitted.width());
    fitted + &" ".repeat(room)
}

/// The text in exactly this width, to the right.
pub fn right(text: &str, width: usize) -> String {
    let fitted = fit(text, width);
    " ".repeat(width.saturating_sub(fitted.width())) + &fitted
}

/// The lines of a text, broken at spaces where they are too long.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for whole in text.split('\n') {
        let mut line = String::new();
        let mut is_continued = false;
        for word in whole.split_inclusive(' ') {
            if line.width() + word.trim_end().width() > width && !line.trim().is_empty() {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                is_continued = true;
            }
            // The spaces at which a line is broken go away with it.
            if is_continued && line.is_empty() && word.trim().is_empty() {
                continue;
            }
            for letter in word.chars().filter(|letter| !letter.is_control()) {
                if line.width() + letter.width().unwrap_or(0) > width {
                    lines.push(std::mem::take(&mut line).trim_end().to_owned());
                    is_continued = true;
                }
                if !(is_continued && line.is_empty() && letter == ' ') {
                    line.push(letter);
                }
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_two_columns() {
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(left("é\u{301}漢", 6).width(), 6);
        assert_eq!(right("漢", 4), "  漢");
        assert_eq!(fit("a\tb\u{1b}[m", 9), "a b [m");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two  three\n\nabcdefghij", 7), ["one two", "three", "", "abcdefg", "hij"]);
    }
}
