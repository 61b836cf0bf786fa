//! `orange-mcp`, the program that speaks the Model Context Protocol. It is a program of its own, so that this one stays small.

use super::beside::{become_program, beside};
use crate::Error;
use crate::app::App;

const PROGRAM: &str = "orange-mcp";

/// Becomes `orange-mcp`; what returns is why that was not possible.
pub fn run(app: &App) -> Error {
    become_program(app, PROGRAM, &[])
}

/// True if agents can be given a server: `orange-mcp` lies beside this program. One on `PATH` may be another version's.
pub fn is_installed(app: &App) -> bool {
    beside(app, PROGRAM).is_some()
}
