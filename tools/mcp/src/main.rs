//! The tools of Orange for agents that speak the Model Context Protocol over standard input and output.
//!
//! Every tool is a call of `orange … --json`: rules, actors, locks and errors are the very same as in a shell.

mod call;
mod server;
mod tools;

use std::io::{self, Write};
use std::process::ExitCode;

use rmcp::ServiceExt;

use crate::server::Server;

const HELP: &str = "\
The tools task_list, task_show, task_next and task_update for agents, over standard input and output.

Usage: orange-mcp

An agent's settings name it as a server, for example with `claude mcp add orange -- orange mcp`. It calls the `orange` that
lies beside it, or else the one on PATH, in the folder and with the environment that it was started in.";

fn main() -> ExitCode {
    let said = match std::env::args().nth(1).as_deref() {
        None => return serve(),
        Some("--help" | "-h") => writeln!(io::stdout(), "{HELP}"),
        Some("--version" | "-V") => writeln!(io::stdout(), "orange-mcp {}", env!("CARGO_PKG_VERSION")),
        Some(other) => {
            return fail(
                2,
                &format!("there is no argument `{other}`; `orange-mcp --help` says what it does"),
            );
        }
    };
    if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Answers until standard input ends.
fn serve() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(cause) => return fail(5, &format!("cannot begin: {cause}")),
    };
    let served = runtime.block_on(async {
        let running = Server.serve(rmcp::transport::stdio()).await.map_err(|error| error.to_string())?;
        running.waiting().await.map(drop).map_err(|error| error.to_string())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, &format!("the conversation has ended: {error}")),
    }
}

fn fail(status: u8, message: &str) -> ExitCode {
    // Nobody is left to tell when standard error is gone; the exit status still says it.
    writeln!(io::stderr(), "error: {message}").unwrap_or_default();
    ExitCode::from(status)
}
