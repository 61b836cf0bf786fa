//! Asks a person at a terminal before something is done.

use std::io::{BufRead, IsTerminal, Write};

use crate::app::App;
use crate::{Error, ErrorKind, Result};

/// Asks a person at a terminal this question, to which no is the usual answer; `None` where nobody can be asked.
pub fn ask(app: &App, question: &str, as_json: bool) -> Option<bool> {
    let is_person = app.caller.check_person("answer a question").is_ok();
    if as_json || !is_person || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    asked(question).ok()
}

fn asked(question: &str) -> std::io::Result<bool> {
    let mut answer = String::new();
    write!(std::io::stderr(), "{question} [y/N] ")?;
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Asks this question. `unasked` is the refusal where nobody can be asked.
///
/// # Errors
/// `refused` when the answer is no; `usage` without a terminal to ask on.
pub fn confirm(question: &str, unasked: String, help: &str, as_json: bool) -> Result<()> {
    if as_json || !std::io::stdin().is_terminal() {
        return Err(Error::new(ErrorKind::Usage, unasked).help(help));
    }
    match asked(question) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::new(ErrorKind::Refused, "nothing was done")),
        Err(cause) => Err(Error::new(ErrorKind::Usage, format!("cannot ask: {cause}")).help(help)),
    }
}
