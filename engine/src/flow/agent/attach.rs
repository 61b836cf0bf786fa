//! Shows the session of a task on this terminal, and after a hand-off that of the next agent.

use std::thread;
use std::time::{Duration, Instant};

use orange_core::mission::MissionStatus;

use crate::Result;
use crate::app::App;
use crate::drive::tmux::ShownEnd;
use crate::flow::waiting;
use crate::hooks::agent_processes;
use crate::store::{WorkItem, WorkItemDir, WorkItemKind};
use orange_system::fault;

/// Reason for which a session is shown no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachEnd {
    /// The terminal is inside tmux, and was switched to the session.
    Switched,
    /// The person has detached.
    Detached,
    /// The session has ended, and no other agent follows.
    Over,
}

/// True if the task has a session.
pub fn has_session(app: &App, dir: &WorkItemDir) -> Result<bool> {
    Ok(!app.tmux.panes_of(&dir.id)?.is_empty())
}

/// Shows it, first with this window. `before` gets the task and the keys that detach, before each session; `ended` gets the task after each.
pub fn attach(
    app: &App,
    dir: &WorkItemDir,
    window: Option<&str>,
    before: &dyn Fn(&WorkItem, &str) -> Result<()>,
    ended: &dyn Fn(&WorkItem) -> Result<()>,
) -> Result<AttachEnd> {
    let inside = std::env::var_os("TMUX");
    loop {
        let (task, _) = WorkItem::read(&app.home, dir)?;
        let before = |keys: &str| if keys.is_empty() { Ok(()) } else { before(&task, keys) };
        match app.tmux.attach(&dir.id, window, inside.as_deref(), before)? {
            ShownEnd::Switched => return Ok(AttachEnd::Switched),
            ShownEnd::Detached => return Ok(AttachEnd::Detached),
            ShownEnd::Ended => ended(&task)?,
        }
        if !is_followed(app, dir)? {
            return Ok(AttachEnd::Over);
        }
    }
}

/// Waits for what comes after the end of a session: whether there is an agent to look at again.
fn is_followed(app: &App, dir: &WorkItemDir) -> Result<bool> {
    const PATIENCE: Duration = Duration::from_secs(60);
    const PAUSE: Duration = Duration::from_millis(50);
    let until = Instant::now() + PATIENCE;
    loop {
        let (task, journal) = WorkItem::read(&app.home, dir)?;
        let history = journal.history();
        let panes = app.tmux.panes_of(&dir.id)?;
        let mut is_alive = false;
        for record in history.agents.alive.values() {
            is_alive |= agent_processes::is_alive(dir, record, &panes)?;
        }
        if is_alive && panes.iter().any(|pane| pane.agent.is_some() && !pane.dead) {
            return Ok(true);
        }
        // The end of the agent may not be recorded yet, and a transition may not be finished yet.
        let is_due =
            history.agents.waiting.as_ref().is_some_and(|waiting| waiting::is_due(waiting, fault::now()));
        // The next step of a mission begins after the end of the agent before is recorded.
        let is_between = task.kind == WorkItemKind::Mission
            && task.status() == MissionStatus::Running.as_str()
            && history.agents.waiting.is_none();
        let is_moving =
            history.transition.open.is_some() || !history.agents.alive.is_empty() || is_due || is_between;
        if !is_moving || Instant::now() >= until || app.is_over(&task) && history.transition.open.is_none() {
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
}
