//! The output of the demo: lines of at most 100 columns, with colour only on a terminal.

use std::io::IsTerminal;

/// The width of a line.
const WIDTH: usize = 100;

/// The column of the words beside a step.
const SECOND: usize = 30;

/// The column of a labelled text.
const INDENT: usize = 13;

pub(crate) struct DemoPage {
    colour: bool,
}

impl DemoPage {
    /// Standard output.
    pub(crate) fn new() -> DemoPage {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        DemoPage { colour: wanted && std::io::stdout().is_terminal() }
    }

    /// Begins a scene.
    pub(crate) fn heading(&self, text: &str) {
        println!("\n{}\n{}\n", self.painted("1", text), self.painted("2", &"─".repeat(text.chars().count())));
    }

    /// Prints an explanation.
    pub(crate) fn text(&self, text: &str) {
        wrapped(text, WIDTH).iter().for_each(|line| println!("{line}"));
    }

    /// Prints a command.
    pub(crate) fn command(&self, text: &str) {
        println!("{}", self.painted("36", &format!("$ {text}")));
    }

    /// Prints a step of a task, and its actor.
    pub(crate) fn step(&self, what: &str, who: &str) {
        for (index, line) in wrapped(who, WIDTH - SECOND).iter().enumerate() {
            let what = if index == 0 { what } else { "" };
            let margin = format!("  {what:<width$}", width = SECOND - 2);
            println!("{}{line}", self.painted("1", &margin));
        }
    }

    /// Prints a detail of a step.
    pub(crate) fn detail(&self, label: &str, text: &str) {
        let lines = wrapped(text, WIDTH - INDENT);
        for (index, line) in lines.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let margin = format!("      {label:<7}");
            println!("{}{line}", self.painted("2", &margin));
        }
    }

    /// Prints one line of a list, cut at the width.
    pub(crate) fn row(&self, text: &str) {
        let fits = text.chars().count() <= WIDTH;
        let shown =
            if fits { text.to_owned() } else { text.chars().take(WIDTH - 1).chain(['…']).collect() };
        println!("{shown}");
    }

    fn painted(&self, style: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The text in lines of at most `width` columns, broken between words where possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let used = lines[last].chars().count();
        if used > 0 && used + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else if used > 0 {
            lines[last] += &format!(" {word}");
        } else {
            lines[last] = word.to_owned();
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("immeasurable", 4), ["immeasurable"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
