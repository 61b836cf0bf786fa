//! Command lines that are refused, in the form of every other error.

use std::ffi::OsString;

use crate::{Error, ErrorKind};

/// True if the answer is to be JSON, also for a line that is refused.
pub fn asks_for_json(words: impl IntoIterator<Item = OsString>) -> bool {
    words.into_iter().take_while(|word| word != "--").any(|word| word == "--json")
}

/// clap's text as our error: its first paragraph is the message, the others are the help.
pub fn error(text: &str) -> Error {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let (message, help) = text.split_once("\n\n").unwrap_or((text, ""));
    let lines =
        |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let (message, help): (Vec<String>, Vec<String>) = (lines(message), lines(help));
    let help: Vec<_> = help.iter().map(|line| line.strip_prefix("tip: ").unwrap_or(line)).collect();
    Error::new(ErrorKind::Usage, message.join(" ")).help(help.join("\n"))
}
