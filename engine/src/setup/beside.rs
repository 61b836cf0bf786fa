//! Programs of ours that `orange` becomes for one command, so that this binary stays small.

use std::path::PathBuf;

use crate::app::App;
use crate::{Error, ErrorKind};
use orange_system::exec::{ProgramCall, find_on_path};

/// Becomes this program, which is beside `orange` or on `PATH`, with these arguments; what returns is why that was not possible.
pub fn become_program(app: &App, program: &str, words: &[String]) -> Error {
    match find(app, program) {
        Some(file) => ProgramCall::new(file).args(words).become_it(),
        None => {
            Error::new(ErrorKind::Environment, format!("`{program}` is neither beside `orange` nor on PATH"))
                .help(format!(
                    "build it with `cargo build --release --package {program}` and put it beside `orange`"
                ))
        }
    }
}

/// Path of the program.
pub fn find(app: &App, program: &str) -> Option<PathBuf> {
    beside(app, program).or_else(|| find_on_path(program, app.path()))
}

/// The program of the same installation. One on `PATH` may be another version's.
pub fn beside(app: &App, program: &str) -> Option<PathBuf> {
    let file = app.program.with_file_name(program);
    find_on_path(&file.to_string_lossy(), app.path())
}
