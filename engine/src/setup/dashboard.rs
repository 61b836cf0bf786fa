//! `orange-dashboard`, the screen for people. It is a program of its own, so that this one stays small.

use super::beside::{become_program, find};
use crate::Error;
use crate::app::App;

const PROGRAM: &str = "orange-dashboard";

/// Becomes `orange-dashboard` with these arguments; what returns is why that was not possible.
pub fn run(app: &App, words: &[String]) -> Error {
    become_program(app, PROGRAM, words)
}

/// True if there is a dashboard.
pub fn is_installed(app: &App) -> bool {
    find(app, PROGRAM).is_some()
}
