//! Figures for `cargo xtask bench`, which builds this, runs it and makes a table.
//!
//! - `orange-bench resolve`: a line `FORM⇥NANOSECONDS` for each form
//! - `orange-bench resolve FORM ROUNDS`: rounds of one form, for a tool that counts instructions
//! - `orange-bench processes ROUNDS`: times the programs that the standard input names
//! - `orange-bench parse FILE`: reads and parses a workflow and does nothing else

mod forms;
mod processes;
mod resolve;

use std::process::ExitCode;

use orange_codegen::Source;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["resolve"] => {
            resolve::time_all();
            Ok(())
        }
        ["resolve", form, rounds] => resolve::repeat(form, rounds),
        ["processes", rounds] => {
            rounds.parse().map_err(|_| format!("{rounds} is not a number")).and_then(processes::measure)
        }
        ["parse", file] => parse(file),
        _ => Err("one of resolve, processes, parse".to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("orange-bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(file: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let (tree, found) = orange_codegen::syntax::parse(&Source::new(file, text));
    std::hint::black_box(tree);
    found.first().map_or(Ok(()), |it| Err(it.message.clone()))
}
