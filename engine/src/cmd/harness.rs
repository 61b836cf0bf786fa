//! `orange harness`: the coding agents that tasks can name.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, table};
use crate::cmd::args::HarnessCommand;
use crate::flow::harness;
use orange_api::ListedHarness;

pub fn run(app: &App, command: &HarnessCommand) -> Result<CommandAnswer> {
    match command {
        HarnessCommand::List => list(app),
    }
}

fn list(app: &App) -> Result<CommandAnswer> {
    let harnesses = harness::list(app)?;
    let mark = |default: bool| if default { "yes" } else { "" }.to_owned();
    let row = |it: &ListedHarness| {
        let path = it.path.clone().unwrap_or_else(|| "not installed".to_owned());
        [it.name.clone(), mark(it.default), path]
    };
    let rows: Vec<_> = harnesses.iter().map(row).collect();
    CommandAnswer::of(&harnesses, table(["HARNESS", "DEFAULT", "PROGRAM"], &rows))
}
