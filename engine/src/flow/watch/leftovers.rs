//! Sessions and plain folders of finished tasks, which remain if a hook failed or an agent was still alive.

use crate::Result;
use crate::app::App;
use crate::flow::lock_recovered;
use crate::hooks::{agents, workspace};
use crate::store::{Event, Set, WorkItemDir};

/// Ends the session of a finished task with its agents, removes its folder, and returns what was done, in words.
pub fn end_leftovers(app: &App, dir: &WorkItemDir) -> Result<String> {
    let mut open = lock_recovered(app, dir)?;
    let mut ended = Vec::new();
    if let Some(found) = open.task().owned.tmux_session.clone() {
        let set = agents::kill_session(app, &mut open)?;
        open.append(repaired("tmux_session", found), set)?;
        ended.push("session");
    }
    if workspace::leave_folder(app, &mut open)? {
        let found = open.dir().id.clone();
        open.append(repaired("workspace", found), Set::new().workspace(None))?;
        ended.push("folder");
    }
    Ok(format!("it is {}, and its {} was still there: ended", open.task().status(), ended.join(" and its ")))
}

fn repaired(field: &str, found: String) -> Event {
    Event::TaskRepaired { field: field.to_owned(), found: Some(found), kept: None }
}
