//! The authors' command: check, explain, graph and emit agent workflows.

use std::io;
use std::process::ExitCode;

use orange_workflow::{Style, Styles, run};

fn main() -> ExitCode {
    let styles = Styles { out: Style::of(&io::stdout()), err: Style::of(&io::stderr()) };
    run(std::env::args_os(), styles).deliver()
}
