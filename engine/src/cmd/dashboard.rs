//! `orange dashboard`, and `orange` alone.

use std::io::{IsTerminal, stdin, stdout};

use crate::app::App;
use crate::caller::Caller;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{DashboardArgs, ListArgs};
use crate::cmd::task;
use crate::setup::dashboard;
use crate::{Error, Result};

/// Becomes the dashboard; what returns is why that was not possible.
pub fn run(app: &App, args: &DashboardArgs) -> Error {
    let project = args.project.iter().map(|name| format!("--project={name}"));
    let flags = [(args.all_projects, "--all-projects"), (args.exit_on_attach, "--exit-on-attach")];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned());
    dashboard::run(app, &project.chain(flags).collect::<Vec<_>>())
}

/// `orange` without a command: the dashboard for a person at a terminal if it is installed, otherwise the list.
pub fn alone(app: &App, as_json: bool) -> Result<CommandAnswer> {
    let is_for_person = !as_json && app.caller == Caller::Person && is_screen();
    if is_for_person && dashboard::is_installed(app) {
        return Err(run(app, &DashboardArgs::default()));
    }
    task::list(app, &ListArgs::default(), as_json)
}

/// True if a program can show a whole screen here.
fn is_screen() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    stdin().is_terminal() && stdout().is_terminal() && !is_dumb
}
