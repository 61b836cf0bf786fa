//! Texts and numbers as SVG has them, and the width of a text.

/// The text without anything that XML could take for markup, or does not allow.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            it if it.is_control() => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            it => out.push(it),
        }
    }
    out
}

/// A coordinate, to a tenth of a pixel.
pub fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, part) = (tenths.abs() / 10, tenths.abs() % 10);
    if part == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

/// The width of a text in pixels, rounded up, since the font of the reader is not known.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|it| if it < '\u{1100}' { 0.58 } else { 1.05 }).sum::<f64>() * size
}

/// The text in lines of at most so many characters, broken between words.
pub fn broken(text: &str, length: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= length => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escape("<a b=\"&\">\u{0}\n\u{ffff}Δ"), "&lt;a b=&quot;&amp;&quot;&gt;  \u{fffd}Δ");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, -0.04, 12.0, 3.16, -2.55].map(number), ["0", "0", "12", "3.2", "-2.6"]);
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(broken("one two three", 8), ["one two", "three"]);
        assert_eq!(broken("incomprehensibilities", 8), ["incomprehensibilities"]);
        assert_eq!(broken(" ", 8), [""; 0]);
    }
}
