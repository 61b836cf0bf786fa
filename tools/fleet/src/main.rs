//! The program `orange-fleet`.

use std::process::ExitCode;

fn main() -> ExitCode {
    orange_fleet::cmd::main()
}
