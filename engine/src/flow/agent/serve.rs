//! The companion of an agent: answers the requests from inside its sandbox, and looks after the task meanwhile.

use std::io;

use crate::Result;
use crate::app::App;
use crate::flow::{event, limit, merge_copy};
use crate::hooks::{imported, wall};
use crate::relay::{self, RequestCheck};
use crate::store::{WorkItem, WorkItemDir};

/// Answers requests until its standard input is closed. `ready` is called when it begins, and `check` says what an agent may ask
/// for.
pub fn serve(
    app: &App,
    dir: &WorkItemDir,
    spawn: u32,
    check: RequestCheck,
    ready: impl FnOnce() -> io::Result<()>,
) -> Result<()> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let record = journal.history().agents.alive.get(&spawn).filter(|record| wall::is_walled(record)).cloned();
    // Without it the agent has no network, and the companion says in the log why it does not answer.
    let _proxy = record.map(|record| wall::proxy(app, dir, &task, &record)).transpose()?.flatten();
    relay::serve(app, dir, spawn, check, ready, |is_saved| {
        // Some harnesses report a limit only in their own record. If the task is locked for long, the monitor does this.
        if limit::look_into_transcript(dir, spawn) && limit::met(dir, spawn).is_some() {
            event::wake_up(app, dir, spawn).unwrap_or_default();
        }
        imported::look_at(app, dir);
        // The next command tries again, and reports a failure.
        if is_saved {
            merge_copy(app, dir).map(drop).unwrap_or_default();
        }
    })
}
