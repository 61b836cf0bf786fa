//! The authors' command: check, explain, graph and emit agent workflows.

use std::process::ExitCode;

use orange_workflow::{Screens, run};

fn main() -> ExitCode {
    run(std::env::args_os(), Screens::of_process()).deliver()
}
