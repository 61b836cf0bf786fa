//! `orange task cancel`

use std::io::{BufRead, IsTerminal, Write};

use crate::answer::TransitionResult;
use crate::app::App;
use crate::cmd::answer::one_line;
use crate::flow;
use crate::store::{Task, TaskDir};
use crate::{Error, Kind, Result};

/// Cancels a task, after a question if a terminal is there.
pub fn run(app: &App, dir: &TaskDir, yes: bool, as_json: bool) -> Result<(TransitionResult, String)> {
    if !yes {
        let (task, _) = Task::read(&app.home, dir)?;
        confirm("Cancel", &task, as_json)?;
    }
    let result = flow::cancel(app, dir)?;
    let text = result.text();
    Ok((result, text))
}

/// Asks whether to do this to the task or mission.
///
/// # Errors
/// `refused` when the answer is no; `usage` without a terminal to ask on.
pub fn confirm(what: &str, task: &Task, as_json: bool) -> Result<()> {
    if as_json || !std::io::stdin().is_terminal() {
        return Err(Error::new(Kind::Usage, format!("{what} {}? This wants a yes", task.id))
            .help("repeat it with --yes"));
    }
    let question = format!("{what} {} ({}: {})? [y/N] ", task.id, task.status(), one_line(&task.summary, 60));
    let mut answer = String::new();
    let asked =
        write!(std::io::stderr(), "{question}").and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    match asked {
        Ok(_) if matches!(answer.trim(), "y" | "Y" | "yes") => Ok(()),
        Ok(_) => Err(Error::new(Kind::Refused, "nothing was done")),
        Err(cause) => {
            Err(Error::new(Kind::Usage, format!("cannot ask: {cause}")).help("repeat it with --yes"))
        }
    }
}
