//! State of a task's session, by the journal, by the processes that are on record, and by tmux.

use std::sync::OnceLock;

use orange_core::mission::MissionStatus;

use crate::Result;
use crate::app::App;
use orange_api::SessionState;

use crate::drive::tmux::Pane;
use crate::flow::abandoned;
use crate::flow::activity::may_have_agents;
use crate::hooks::agent_processes::AgentProcesses;
use crate::store::{WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind};

/// State of a task's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionHealth {
    /// An agent is alive in it.
    Active,
    /// A person has stopped its agents.
    Stopped,
    /// It should be there, and no agent is alive in it.
    Crashed,
    /// There is none.
    Inactive,
    /// An agent of it is being started, or an end is being recorded.
    Changing,
    /// Neither tmux nor what is on record can tell.
    Unknown,
}

impl SessionHealth {
    /// The session of this task. Where it can have no agents, nothing is looked for; where its agents' processes are on
    /// record, tmux is not asked for its `panes`.
    ///
    /// The task may have gone on since it was read: [`Observed`](crate::flow::observed::Observed) says what holds of both.
    pub(super) fn of<P: AsRef<[Pane]>>(
        dir: &WorkItemDir,
        task: &WorkItem,
        panes: impl FnOnce() -> Result<P>,
    ) -> SessionHealth {
        if !may_have_agents(task) {
            return SessionHealth::Inactive;
        }
        let is_agent_s = |pane: &Pane| pane.belongs_to(&task.id) && pane.agent.is_some() && !pane.dead;
        let is_active = AgentProcesses::all(dir).and_then(|processes| match processes[..] {
            [] => panes().map(|panes| panes.as_ref().iter().any(is_agent_s)),
            [..] => any_alive(&processes),
        });
        match is_active {
            Ok(true) => SessionHealth::Active,
            Ok(false) if task.owned.stopped_at.is_some() => SessionHealth::Stopped,
            Ok(false) if task.owned.tmux_session.is_some() && wants_agent(task) => SessionHealth::Crashed,
            Ok(false) => SessionHealth::Inactive,
            Err(_) => SessionHealth::Unknown,
        }
    }

    /// As answers have it.
    pub fn state(self) -> SessionState {
        match self {
            SessionHealth::Active => SessionState::Active,
            SessionHealth::Stopped => SessionState::Stopped,
            SessionHealth::Crashed => SessionState::Crashed,
            SessionHealth::Inactive => SessionState::Inactive,
            SessionHealth::Changing | SessionHealth::Unknown => SessionState::Unknown,
        }
    }
}

fn any_alive(processes: &[AgentProcesses]) -> Result<bool> {
    for one in processes {
        if one.is_alive()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if the end of its agent is to be looked after: a mission that does not run ends its agent itself.
fn wants_agent(task: &WorkItem) -> bool {
    task.kind == WorkItemKind::Task || task.status() == MissionStatus::Running.as_str()
}

/// The panes of the tmux server, which is asked once, and only if somebody needs them.
pub struct Panes<'a> {
    app: &'a App,
    found: OnceLock<Result<Vec<Pane>>>,
}

impl Panes<'_> {
    /// Asks nothing yet.
    pub fn of(app: &App) -> Panes<'_> {
        Panes { app, found: OnceLock::new() }
    }

    pub fn all(&self) -> Result<&[Pane]> {
        self.found.get_or_init(|| self.app.tmux.panes()).as_deref().map_err(Clone::clone)
    }
}

/// Event that is not recorded yet, and that no process is recording: an unfinished transition, or the end of an agent.
pub fn unnoticed(dir: &WorkItemDir, history: &WorkItemHistory, session: SessionHealth) -> Option<String> {
    if abandoned(dir, history).is_some() {
        return Some("begun and not finished: `orange monitor --once` finishes it".to_owned());
    }
    let gone = history
        .agents
        .alive
        .keys()
        .next()
        .filter(|_| session == SessionHealth::Crashed && history.transition.open.is_none())?;
    Some(format!("agent {gone} is gone, unnoticed: `orange monitor --once` looks after it"))
}

/// Command with which a person goes on with a task that waits for one: no agent works in its status, and none is there.
pub fn your_turn(app: &App, task: &WorkItem, session: SessionHealth) -> Option<String> {
    let machine = app.machine_of(&task.owned).ok()?;
    let id = machine.state_named(task.status())?;
    let state = machine.state(id);
    let is_nobody_s = session == SessionHealth::Inactive && state.respawn.is_none() && !state.terminal;
    if !is_nobody_s || id == machine.initial {
        return None;
    }
    let merges = machine.commands.merge.is_some_and(|merge| machine.between(id, merge).next().is_some());
    Some(format!("orange task {} {}", if merges { "merge" } else { "next" }, task.id))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::hooks::agent_processes::RecordRoom;
    use crate::store::{Event, LockedWorkItem, Set, tests};
    use crate::{Error, ErrorKind};

    fn pane(locked: &LockedWorkItem, agent: Option<&str>, dead: bool) -> Pane {
        Pane {
            session: "coffee/fix".to_owned(),
            session_id: "$1".to_owned(),
            window: "worker".to_owned(),
            window_id: "@1".to_owned(),
            pane_id: "%1".to_owned(),
            tty: PathBuf::new(),
            pid: 1,
            dead,
            changed: 0,
            task: Some(locked.dir().id.clone()),
            agent: agent.map(str::to_owned),
        }
    }

    #[track_caller]
    fn check(locked: &LockedWorkItem, panes: Result<&[Pane]>, expect: SessionHealth) {
        assert_eq!(SessionHealth::of(locked.dir(), locked.task(), || panes), expect);
    }

    #[test]
    fn a_session_is_active_with_an_agent_in_it() {
        let (_folder, home) = tests::home();
        let mut locked = tests::task(&home, "fix");
        let no_answer = || Err(Error::new(ErrorKind::Environment, "tmux says nothing"));
        check(&locked, no_answer(), SessionHealth::Inactive);
        locked.append(Event::Unknown, Set::new().tmux_session(Some("coffee/fix"))).unwrap();
        check(&locked, no_answer(), SessionHealth::Unknown);
        check(&locked, Ok(&[pane(&locked, Some("worker"), false)]), SessionHealth::Active);
        check(&locked, Ok(&[pane(&locked, Some("worker"), true)]), SessionHealth::Crashed);
        check(&locked, Ok(&[pane(&locked, None, false)]), SessionHealth::Crashed);
        let foreign = Pane { task: None, ..pane(&locked, Some("worker"), false) };
        check(&locked, Ok(&[foreign]), SessionHealth::Crashed);
    }

    #[test]
    fn a_mission_without_its_agent_has_crashed_only_while_it_runs() {
        let (_folder, home) = tests::home();
        let mut mission = tests::mission(&home, "brew");
        let set = |status| Set::new().status(status).tmux_session(Some("coffee/brew"));
        mission.append(Event::Unknown, set("running")).unwrap();
        check(&mission, Ok(&[]), SessionHealth::Crashed);
        mission.append(Event::Unknown, set("paused")).unwrap();
        check(&mission, Ok(&[]), SessionHealth::Inactive);
    }

    #[test]
    fn processes_on_record_need_no_tmux() {
        let (_folder, home) = tests::home();
        let mut locked = tests::task(&home, "fix");
        locked.append(Event::Unknown, Set::new().workspace(Some("coffee--1"))).unwrap();
        let own = orange_system::process::Process::alive(std::process::id().cast_signed()).unwrap().unwrap();
        RecordRoom::make(locked.dir(), 1).unwrap().note(own).unwrap();
        check(&locked, Err(Error::new(ErrorKind::Environment, "tmux says nothing")), SessionHealth::Active);
    }
}
