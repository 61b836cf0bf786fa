//! The workflows that Orange ships and the binary that they become.

use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/workflows.rs"));

fn main() -> ExitCode {
    orange_engine::main(MACHINES)
}
