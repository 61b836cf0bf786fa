//! Sessions of finished tasks, which remain if the hook that should have ended them failed.

use crate::Result;
use crate::app::App;
use crate::flow::lock_recovered;
use crate::hooks::agents;
use crate::store::{Event, TaskDir};

/// Ends the session of a finished task with its agents, and returns what was done, in words.
pub fn end_leftovers(app: &App, dir: &TaskDir) -> Result<String> {
    let mut open = lock_recovered(app, dir)?;
    let found = open.task().owned.tmux_session.clone();
    let set = agents::kill_session(app, &mut open)?;
    open.append(Event::TaskRepaired { field: "tmux_session".to_owned(), found, kept: None }, set)?;
    Ok(format!("it is {}, and its session was still there: ended", open.task().status()))
}
