//! What a task that is over has left behind, because the hook that should have ended it has failed.

use crate::Result;
use crate::app::App;
use crate::flow::lock_recovered;
use crate::hooks::agents;
use crate::store::{Event, TaskDir};

/// Ends the session of a task that is over, agents and all. What came of it, in words.
pub fn end_leftovers(app: &App, dir: &TaskDir) -> Result<String> {
    let mut open = lock_recovered(app, dir)?;
    let found = open.task().owned.tmux_session.clone();
    let set = agents::kill_session(app, &mut open)?;
    open.append(Event::TaskRepaired { field: "tmux_session".to_owned(), found, kept: None }, set)?;
    Ok(format!("it is {}, and its session was still there: ended", open.task().status()))
}
