//! The dashboard of Orange: one screen of every task, in which a person sees what needs them and answers it.
//!
//! It has no rule of its own: it shows what `orange … --json` and the journals say, and does everything by a command of `orange`.

mod args;
mod model;
mod shell;
#[cfg(test)]
mod tests;
mod view;

use std::io::{self, Write};
use std::process::ExitCode;

use args::ParsedArguments;

fn main() -> ExitCode {
    let scope = match args::parse(std::env::args_os()) {
        ParsedArguments::Scope(scope) => scope,
        ParsedArguments::Text(text) => {
            let is_written = write!(io::stdout(), "{text}").is_ok();
            return if is_written { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        ParsedArguments::Wrong(text) => return fail(2, &text),
    };
    match shell::run(scope) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(5, &format!("error: {message}\n")),
    }
}

fn fail(status: u8, text: &str) -> ExitCode {
    // A closed standard error cannot show the error; the exit status still does.
    write!(io::stderr(), "{text}").unwrap_or_default();
    ExitCode::from(status)
}
