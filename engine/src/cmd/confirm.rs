//! Asks a person at a terminal before something is done.

use std::io::{BufRead, IsTerminal, Write};

use crate::{Error, Kind, Result};

/// Asks this question. `unasked` is the refusal where nobody can be asked.
///
/// # Errors
/// `refused` when the answer is no; `usage` without a terminal to ask on.
pub fn confirm(question: &str, unasked: String, help: &str, as_json: bool) -> Result<()> {
    if as_json || !std::io::stdin().is_terminal() {
        return Err(Error::new(Kind::Usage, unasked).help(help));
    }
    let mut answer = String::new();
    let asked = write!(std::io::stderr(), "{question} [y/N] ")
        .and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    match asked {
        Ok(_) if matches!(answer.trim(), "y" | "Y" | "yes") => Ok(()),
        Ok(_) => Err(Error::new(Kind::Refused, "nothing was done")),
        Err(cause) => Err(Error::new(Kind::Usage, format!("cannot ask: {cause}")).help(help)),
    }
}
