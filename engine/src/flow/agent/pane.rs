//! Screen of the pane of a living agent, now and at each change.

use std::time::{Duration, Instant};

use crate::app::App;
use crate::drive::tmux::Pane;
pub use crate::drive::tmux::{PaneScreen, Size, without_colours};
use crate::store::event::Spawn;
use crate::store::{WorkItemDir, work_item};
use crate::{Error, ErrorKind, Result};
use orange_system::changes::FolderWatch;
use orange_system::nofollow;

/// The time between two looks at a pane in which nothing is written: its size may change, and the reader may be gone.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// The time after the last change until another look: tmux may not have read what was written.
const AFTERWARDS: Duration = Duration::from_millis(100);

/// Time that a program gets to go on writing before its screen is captured, since it draws a screen in several writes.
const DRAWING: Duration = Duration::from_millis(15);

/// The shortest time between two captures, so that a program that always writes costs little.
const SHORTEST_WAIT: Duration = Duration::from_millis(60);

/// The pane of a living agent.
#[derive(Clone, Debug)]
pub struct AgentPane {
    /// The record of its start.
    pub agent: Spawn,
    pane: Pane,
}

/// The pane of this agent, or of the newest one that is alive.
///
/// # Errors
/// `not_found` when there is no such agent, or its pane is gone.
pub fn of(app: &App, dir: &WorkItemDir, spawn: Option<u32>) -> Result<AgentPane> {
    let history = work_item::read_journal(dir)?.history();
    let panes = app.tmux.panes_of(&dir.id)?;
    let pane_of = |agent: &Spawn| panes.iter().find(|pane| pane.hosts(&agent.window)).cloned();
    let mut found =
        history.agents.alive.values().filter(|agent| spawn.is_none_or(|wanted| agent.spawn == wanted));
    let last = found.rfind(|agent| pane_of(agent).is_some());
    last.and_then(|agent| Some(AgentPane { agent: agent.clone(), pane: pane_of(agent)? }))
        .ok_or_else(|| no_pane(dir, spawn, history.agents.last_spawn))
}

fn no_pane(dir: &WorkItemDir, spawn: Option<u32>, last: u32) -> Error {
    let message = match spawn {
        Some(spawn) => format!("agent {spawn} of {} has no pane", dir.shown()),
        None => format!("no agent of {} has a pane", dir.shown()),
    };
    let logs = format!("`orange {} logs {}` shows what the last one did", dir.kind.word(), dir.id);
    Error::new(ErrorKind::NotFound, message).help(match last {
        0 => format!("none has been started; {} shows what it waits for", dir.command("show")),
        _ => logs,
    })
}

/// Gives the window of the pane another size, unless a terminal shows it.
pub fn resize(app: &App, found: &AgentPane, size: Size) -> Result<()> {
    app.tmux.resize(&found.pane, size)
}

/// Screen of the pane, or so many of its last lines.
///
/// # Errors
/// `not_found` when it is gone.
pub fn look(app: &App, dir: &WorkItemDir, found: &AgentPane, lines: Option<usize>) -> Result<PaneScreen> {
    let spawn = found.agent.spawn;
    app.tmux.screen(&found.pane, lines)?.ok_or_else(|| no_pane(dir, Some(spawn), spawn))
}

/// Shows the pane now and after each change, until it is gone or the end of its agent is recorded, or `tell` returns that
/// nobody listens; `is_read` says the same between two changes.
pub fn follow(
    app: &App,
    dir: &WorkItemDir,
    found: &AgentPane,
    lines: Option<usize>,
    is_read: &dyn Fn() -> bool,
    tell: &dyn Fn(&PaneScreen) -> Result<bool>,
) -> Result<()> {
    // A program that writes to its terminal changes the file that the terminal is.
    let mut changes = FolderWatch::of(&[&found.pane.tty, &dir.path]);
    let mut life = AgentLife { dir, spawn: found.agent.spawn, read: None };
    let (mut shown, mut wait) = (None, AFTERWARDS);
    loop {
        let looked = Instant::now();
        let Some(screen) = app.tmux.screen(&found.pane, lines)? else { return Ok(()) };
        if shown.as_ref() != Some(&screen) {
            if !tell(&screen)? {
                return Ok(());
            }
            shown = Some(screen);
        }
        let waited = Instant::now();
        if !life.goes_on()? {
            return Ok(());
        }
        changes.wait_for_any(wait);
        if !is_read() {
            return Ok(());
        }
        wait = if waited.elapsed() < wait { AFTERWARDS } else { LONGEST_WAIT };
        std::thread::sleep(DRAWING.max(SHORTEST_WAIT.saturating_sub(looked.elapsed())));
    }
}

/// Life of an agent by the journal, which is read only when it has grown.
struct AgentLife<'d> {
    dir: &'d WorkItemDir,
    spawn: u32,
    read: Option<u64>,
}

impl AgentLife<'_> {
    fn goes_on(&mut self) -> Result<bool> {
        let length = nofollow::metadata(&self.dir.history()).map(|found| found.len()).ok();
        if length.is_some() && length == self.read {
            return Ok(true);
        }
        self.read = length;
        match work_item::read_journal(self.dir) {
            Ok(journal) => Ok(journal.history().agents.alive.contains_key(&self.spawn)),
            // A deleted task has no agent.
            Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
