//! A task by its journal, by the processes of its agents and by tmux, which say the same.
//!
//! These sources are read one after the other, and a task goes on meanwhile: an agent that is on record as alive may have ended with a
//! report, or may be about to begin. Whether an agent is gone is therefore said only after the journal, which is read again, has not
//! changed; and not while a process holds the task's lock or records the end of the agent.

use std::time::Duration;

use crate::Result;
use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::activity;
use crate::flow::session::{self, Panes, SessionHealth};
use crate::hooks::agent_processes::missing;
use crate::store::{WorkItem, WorkItemDir, WorkItemHistory, lock, work_item};
use orange_api::Agent;
use orange_system::process;

/// A task or mission at one moment.
#[derive(Debug)]
pub struct Observed {
    pub task: WorkItem,
    /// It has kilobytes, and lists move thousands of them.
    pub history: Box<WorkItemHistory>,
    pub session: SessionHealth,
    /// Activities of its living agents; the agent that needs a person most comes first.
    pub agents: Vec<Agent>,
}

/// Agents that are on record as alive and are gone.
#[derive(Debug, PartialEq, Eq)]
enum Gone {
    /// These are; nobody is recording that.
    Proven(Vec<u32>),
    /// That is being recorded, or an agent is being started.
    Changing,
    /// The journal has changed meanwhile.
    Outdated,
}

impl Observed {
    /// Reads a task and looks at its agents.
    ///
    /// # Errors
    /// Those of the store.
    pub fn read(app: &App, dir: &WorkItemDir, panes: &Panes<'_>) -> Result<Observed> {
        let (task, journal) = WorkItem::read_last(&app.home, dir, 0)?;
        Observed::of(app, dir, task, journal.history(), panes)
    }

    /// Looks at the agents of a task that was read. The task is read again if it has changed since.
    ///
    /// # Errors
    /// Those of the store.
    pub fn of(
        app: &App,
        dir: &WorkItemDir,
        task: WorkItem,
        history: WorkItemHistory,
        panes: &Panes<'_>,
    ) -> Result<Observed> {
        /// One that changes faster than it can be read is changing.
        const READS: usize = 5;
        let (session, history) = (SessionHealth::Unknown, Box::new(history));
        let mut observed = Observed { task, history, session, agents: Vec::new() };
        if observed.task.owned != observed.history.owned {
            observed.read_again(app, dir)?;
        }
        for _ in 0..READS {
            observed.session = SessionHealth::of(dir, &observed.task, || panes.all());
            match gone(app, dir, &observed.history, observed.session, panes) {
                Ok(Gone::Proven(gone)) => {
                    // Its pane is newer than the panes that were listed.
                    let is_there = gone.len() < observed.history.agents.alive.len();
                    if is_there && observed.session == SessionHealth::Crashed {
                        observed.session = SessionHealth::Active;
                    }
                    return Ok(observed.with_agents(app, dir, panes));
                }
                Ok(Gone::Changing) => break,
                Ok(Gone::Outdated) => observed.read_again(app, dir)?,
                Err(_) => {
                    // Neither the processes nor tmux can tell.
                    observed.session = SessionHealth::Unknown;
                    return Ok(observed.with_agents(app, dir, panes));
                }
            }
        }
        observed.session = SessionHealth::Changing;
        Ok(observed.with_agents(app, dir, panes))
    }

    /// A task without agents and transitions, whose status is of this time.
    pub fn without_agents(task: WorkItem, since: &str) -> Observed {
        let mut history = Box::<WorkItemHistory>::default();
        since.clone_into(&mut history.since);
        Observed { task, history, session: SessionHealth::Inactive, agents: Vec::new() }
    }

    /// As [`Observed::without_agents`], in the room of an earlier one: a new history for each of thousands of tasks takes longer than
    /// the rest of a list.
    pub fn without_agents_in<'r>(
        room: &'r mut Option<Observed>,
        task: WorkItem,
        since: &str,
    ) -> &'r Observed {
        match room {
            Some(observed) => {
                observed.task = task;
                since.clone_into(&mut observed.history.since);
                observed
            }
            None => room.insert(Observed::without_agents(task, since)),
        }
    }

    /// Event that is not recorded yet.
    pub fn unnoticed(&self, dir: &WorkItemDir) -> Option<String> {
        session::unnoticed(dir, &self.history, self.session)
    }

    fn read_again(&mut self, app: &App, dir: &WorkItemDir) -> Result<()> {
        let (task, journal) = WorkItem::read_last(&app.home, dir, 0)?;
        (self.task, *self.history) = (task, journal.history());
        Ok(())
    }

    fn with_agents(self, app: &App, dir: &WorkItemDir, panes: &Panes<'_>) -> Observed {
        let panes = || panes.all().ok().map(<[Pane]>::to_vec);
        let agents = activity::of_task(app, dir, &self.task, &self.history, panes);
        Observed { agents, ..self }
    }
}

/// The agents that are on record as alive and are proven to be gone, while nobody records that.
///
/// # Errors
/// Those of the store; `environment` where neither the processes nor tmux can tell.
pub fn gone_unnoticed(
    app: &App,
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    panes: &Panes<'_>,
) -> Result<Vec<u32>> {
    match gone(app, dir, history, SessionHealth::Unknown, panes)? {
        Gone::Proven(gone) => Ok(gone),
        Gone::Changing | Gone::Outdated => Ok(Vec::new()),
    }
}

/// Looks in the only order that proves an end: the journal, which the caller has read; who is at work on the task; its agents; who
/// records their ends; and the journal again.
fn gone(
    app: &App,
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    session: SessionHealth,
    panes: &Panes<'_>,
) -> Result<Gone> {
    if session != SessionHealth::Crashed && missing(dir, history, || panes.all())?.is_empty() {
        return Ok(Gone::Proven(Vec::new()));
    }
    let is_at_work = lock::held_longer(&dir.lock_file(), Duration::ZERO).is_some();
    // The panes may have been listed before the journal was read.
    let gone = missing(dir, history, || app.tmux.panes())?;
    if session != SessionHealth::Crashed && gone.is_empty() {
        return Ok(Gone::Proven(gone));
    }
    if is_at_work || !gone.is_empty() && process::is_reported(&dir.id, &gone)? {
        return Ok(Gone::Changing);
    }
    let is_outdated = work_item::read_journal_last(dir, 0)?.history().last_seq != history.last_seq;
    Ok(if is_outdated { Gone::Outdated } else { Gone::Proven(gone) })
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::flow::tests::MACHINES;
    use crate::hooks::agent_processes::RecordRoom;
    use crate::machines::Machines;
    use crate::store::event::{Ending, Exited, Spawn};
    use crate::store::{Event, LockedWorkItem, Set, tests};

    struct AgentWard {
        _folder: tempfile::TempDir,
        app: App,
        dir: WorkItemDir,
    }

    impl AgentWard {
        /// A task whose agent is on record as alive, and is gone.
        fn new() -> AgentWard {
            let (folder, home) = tests::home();
            home.prepare().unwrap();
            let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
            let mut locked = tests::task(&app.home, "fix");
            let set = Set::new().workflow("test", "").status("working").tmux_session(Some("coffee/fix"));
            locked.append(Event::AgentSpawned(Spawn { spawn: 1, ..worker() }), set).unwrap();
            let dir = locked.dir().clone();
            drop(locked);
            // No process has the highest number.
            let nobody = process::Process { pid: i32::MAX, start: 1 };
            RecordRoom::make(&dir, 1).unwrap().note(nobody).unwrap();
            let text = std::fs::read_to_string(dir.agent(1)).unwrap();
            let wrapper = format!("\"pid\":{}", std::process::id());
            std::fs::write(dir.agent(1), text.replace(&wrapper, "\"pid\":2147483646")).unwrap();
            AgentWard { _folder: folder, app, dir }
        }

        fn read(&self) -> (WorkItem, WorkItemHistory) {
            let (task, journal) = WorkItem::read_last(&self.app.home, &self.dir, 0).unwrap();
            (task, journal.history())
        }

        fn observe(&self, (task, history): (WorkItem, WorkItemHistory)) -> Observed {
            Observed::of(&self.app, &self.dir, task, history, &Panes::of(&self.app)).unwrap()
        }
    }

    fn worker() -> Spawn {
        Spawn { actor: crate::store::event::Actor::Worker, ..Spawn::default() }
    }

    /// The process that records the end of agent 1.
    fn reporter(task: &str) -> Child {
        let mut shell = Command::new("sh");
        shell.args(["-c", "read -r _", "agent", "ended", "--task", task, "--spawn=1"]);
        shell.stdin(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn an_agent_that_is_gone_without_a_record_has_crashed() {
        let ward = AgentWard::new();
        let observed = ward.observe(ward.read());
        assert_eq!(observed.session, SessionHealth::Crashed);
        assert!(observed.unnoticed(&ward.dir).is_some_and(|it| it.contains("agent 1 is gone")));
    }

    #[test]
    fn a_task_that_is_listed_is_not_read_twice() {
        let ward = AgentWard::new();
        let listed = crate::store::list(&ward.app.home, None).unwrap();
        let task = listed[0].task.as_ref().unwrap();
        assert_eq!(task.owned, ward.read().1.owned);
    }

    #[test]
    fn an_end_that_was_recorded_since_is_no_crash() {
        let ward = AgentWard::new();
        let before = ward.read();
        let mut locked = LockedWorkItem::lock(&ward.app.home, &ward.dir).unwrap();
        let exited = Exited { spawn: 1, reason: Ending::Killed, ..Exited::default() };
        locked.append(Event::AgentExited(exited), Set::new().tmux_session(None).status("done")).unwrap();
        drop(locked);
        let observed = ward.observe(before);
        assert_eq!((observed.session, observed.task.status()), (SessionHealth::Inactive, "done"));
        assert_eq!(observed.unnoticed(&ward.dir), None);
    }

    #[test]
    fn an_agent_is_changing_while_its_task_is_locked() {
        let ward = AgentWard::new();
        let locked = LockedWorkItem::lock(&ward.app.home, &ward.dir).unwrap();
        assert_eq!(ward.observe(ward.read()).session, SessionHealth::Changing);
        drop(locked);
        assert_eq!(ward.observe(ward.read()).session, SessionHealth::Crashed);
    }

    #[test]
    fn an_agent_is_changing_while_its_end_is_reported() {
        let ward = AgentWard::new();
        let mut reporter = reporter(&ward.dir.id);
        let seen = ward.observe(ward.read()).session;
        let (_, history) = ward.read();
        let gone = gone_unnoticed(&ward.app, &ward.dir, &history, &Panes::of(&ward.app));
        reporter.kill().unwrap();
        reporter.wait().unwrap();
        assert_eq!((seen, gone.unwrap()), (SessionHealth::Changing, vec![]));
        assert_eq!(ward.observe(ward.read()).session, SessionHealth::Crashed);
    }
}
