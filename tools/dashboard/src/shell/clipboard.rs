//! Copies a text: by a program for the clipboard, and by the terminal itself, which also works over ssh.

use std::io::{Write, stdout};
use std::process::{Command, Stdio};

use crossterm::clipboard::CopyToClipboard;
use crossterm::execute;

/// Programs that copy their standard input, each with the variable without which it cannot work.
const PROGRAMS: &[(&str, &[&str], &str)] = &[
    ("wl-copy", &[], "WAYLAND_DISPLAY"),
    ("xclip", &["-selection", "clipboard"], "DISPLAY"),
    ("xsel", &["--clipboard", "--input"], "DISPLAY"),
    ("pbcopy", &[], "HOME"),
];

/// Copies it. Returns what to say.
pub(super) fn copy(text: &str) -> Result<String, String> {
    let by_program = PROGRAMS.iter().find(|(program, words, variable)| {
        std::env::var_os(variable).is_some() && pipe(program, words, text)
    });
    let by_terminal = execute!(stdout(), CopyToClipboard::to_clipboard_from(text));
    match (by_program, by_terminal) {
        (Some((program, ..)), _) => Ok(format!("copied by {program}: {text}")),
        (None, Ok(())) => Ok(format!("copied by the terminal: {text}")),
        (None, Err(cause)) => Err(format!("cannot copy {text}: {cause}")),
    }
}

fn pipe(program: &str, words: &[&str], text: &str) -> bool {
    let mut command = Command::new(program);
    let child = command.args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return false };
    let is_written = child.stdin.take().is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok());
    is_written && child.wait().is_ok_and(|status| status.success())
}
