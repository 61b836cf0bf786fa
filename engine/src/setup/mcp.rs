//! `orange-mcp`, the program that speaks the Model Context Protocol. It is a program of its own, so that this one stays small.

use std::path::PathBuf;

use crate::app::App;
use crate::drive::exec::{Call, find_on_path};
use crate::{Error, Kind};

const PROGRAM: &str = "orange-mcp";

/// Becomes `orange-mcp`; what returns is why that was not possible.
pub fn run(app: &App) -> Error {
    match beside(app).or_else(|| find_on_path(PROGRAM, app.path())) {
        Some(program) => Call::new(program).become_it(),
        None => Error::new(Kind::Environment, format!("`{PROGRAM}` is neither beside `orange` nor on PATH"))
            .help(format!(
                "build it with `cargo build --release --package {PROGRAM}` and put it beside `orange`"
            )),
    }
}

/// Whether agents can be given a server: `orange-mcp` lies beside this program. One on `PATH` may be another version's.
pub fn is_installed(app: &App) -> bool {
    beside(app).is_some()
}

fn beside(app: &App) -> Option<PathBuf> {
    let file = app.program.with_file_name(PROGRAM);
    find_on_path(&file.to_string_lossy(), app.path())
}
