//! The processes of an agent and its wrapper, in a file beside the task for as long as the journal has the agent as alive.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::drive::tmux::Pane;
use crate::store::event::Spawn;
use crate::store::{LockedWorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, environment, home, secret};
use crate::{Error, ErrorKind, Result};
use orange_system::process::{self, Process, ProcessRoot};
use orange_system::{atomic, clock, nofollow};

/// The contents of `agents/<spawn>.json`: the wrapper writes it when the agent has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProcesses {
    boot: String,
    wrapper: Process,
    agent: Process,
}

/// The reserved file for the record of one agent: nothing could end an agent without a record.
pub struct RecordRoom(atomic::FileRoom);

impl RecordRoom {
    /// Reserves the file before the agent starts.
    pub fn make(dir: &WorkItemDir, spawn: u32) -> Result<RecordRoom> {
        /// The identifier of a boot and four numbers need half of this.
        const LENGTH: usize = 512;
        let path = dir.agent(spawn);
        home::make_folder(path.parent().unwrap_or(&path))?;
        atomic::make_room(&path, LENGTH).map(RecordRoom)
    }

    /// Records this process as the wrapper of this agent.
    pub fn note(self, agent: Process) -> Result<()> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let Some(wrapper) = Process::alive(own)? else { return Ok(()) };
        let processes = AgentProcesses { boot: clock::boot(), wrapper, agent };
        let text = serde_json::to_vec(&processes).map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("cannot note process {own}: {cause}"))
        })?;
        self.0.write(&text)
    }
}

impl AgentProcesses {
    /// The record of the agent of this spawn; none before it has begun, and after its end is recorded.
    ///
    /// # Errors
    /// `environment` when it cannot be read; `corrupt` when it is not what the wrapper wrote.
    pub fn read(dir: &WorkItemDir, spawn: u32) -> Result<Option<AgentProcesses>> {
        let path = dir.agent(spawn);
        match nofollow::read(&path, nofollow::LONGEST) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|cause| {
                Error::new(ErrorKind::Corrupt, format!("{}: {cause}", path.display()))
                    .help("it says which processes an agent is: remove it, and tmux is asked instead")
            }),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(Error::io("read", &path, &cause)),
        }
    }

    /// Time since the agent of this spawn has begun, independent of the clock; none if that was not recorded, or was before the
    /// system started.
    pub fn age(dir: &WorkItemDir, spawn: u32) -> Result<Option<Duration>> {
        match AgentProcesses::read(dir, spawn)? {
            Some(processes) if processes.is_of_this_boot()? => Ok(processes.agent.age()),
            Some(_) | None => Ok(None),
        }
    }

    /// The records of all agents of the task whose end is not recorded yet.
    pub fn all(dir: &WorkItemDir) -> Result<Vec<AgentProcesses>> {
        let spawns = spawns(dir, "json")?.into_iter();
        spawns.filter_map(|spawn| AgentProcesses::read(dir, spawn).transpose()).collect()
    }

    /// Deletes the records of agents whose end is recorded: a kill may have come between that record and this.
    pub fn sweep(dir: &WorkItemDir, is_alive: impl Fn(u32) -> bool) -> Result<()> {
        let spawns = [spawns(dir, "json")?, spawns(dir, "secret")?, spawns(dir, "environment")?].concat();
        let ended = spawns.into_iter().filter(|spawn| !is_alive(*spawn));
        ended.into_iter().try_for_each(|spawn| AgentProcesses::forget(dir, spawn))
    }

    /// Deletes the record, the agent's secret, and an environment that no wrapper took: the agent's end is recorded.
    pub fn forget(dir: &WorkItemDir, spawn: u32) -> Result<()> {
        atomic::remove(&dir.agent(spawn))?;
        secret::forget(dir, spawn)?;
        environment::forget(dir, spawn)
    }

    /// True if the agent is alive. It counts as alive while its wrapper runs, which may be ending processes of the agent before its
    /// report; a wrapper that was stopped reports nothing.
    ///
    /// # Errors
    /// `environment` where the process table cannot be read: nobody is dead without proof.
    pub fn is_alive(&self) -> Result<bool> {
        Ok(self.is_of_this_boot()? && (self.agent.is_alive()? || self.wrapper.is_running()?))
    }

    /// The agent's process, if it is alive without its wrapper.
    ///
    /// # Errors
    /// As [`AgentProcesses::is_alive`].
    pub fn survivor(&self) -> Result<Option<Process>> {
        let is_alone = self.is_of_this_boot()? && self.agent.is_alive()? && !self.wrapper.is_alive()?;
        Ok(is_alone.then_some(self.agent))
    }

    /// The agent of this spawn and its wrapper, each with all its descendants and with what is in its session or its group, even after
    /// its end. A recorded process without the mark of this spawn is left out.
    ///
    /// # Errors
    /// As [`AgentProcesses::is_alive`].
    pub fn roots(&self, dir: &WorkItemDir, spawn: u32) -> Result<Vec<ProcessRoot>> {
        let processes = if self.is_of_this_boot()? { vec![self.wrapper, self.agent] } else { Vec::new() };
        let roots =
            |process| [ProcessRoot::Marked(process, dir.id.clone(), spawn), ProcessRoot::Led(process)];
        Ok(processes.into_iter().flat_map(roots).collect())
    }

    fn is_of_this_boot(&self) -> Result<bool> {
        let boot = clock::boot();
        if boot.is_empty() && !self.boot.is_empty() {
            process::check()?;
            let message = "the boot id of the system cannot be read";
            return Err(Error::new(ErrorKind::Environment, message).help(
                "it tells agents from those before a restart: make `/proc/sys/kernel/random/boot_id` readable, or on macOS `sysctl -n kern.bootsessionuuid` work",
            ));
        }
        Ok(self.boot == boot)
    }
}

/// True if an agent is alive: by its processes, whatever tmux says, as soon as they are on record; before that, by its pane.
pub fn is_alive(dir: &WorkItemDir, record: &Spawn, panes: &[Pane]) -> Result<bool> {
    let in_its_pane =
        || panes.iter().any(|pane| pane.belongs_to(&dir.id) && is_alive_in(pane, &record.window));
    AgentProcesses::read(dir, record.spawn)?
        .map_or_else(|| Ok(in_its_pane()), |processes| processes.is_alive())
}

/// The agents that are on record as alive, and are not.
///
/// # Errors
/// Those of `panes`, which are asked for only if an agent's processes are not on record; `environment` where the process table
/// cannot be read.
pub fn missing<P: AsRef<[Pane]>>(
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    panes: impl FnOnce() -> Result<P>,
) -> Result<Vec<u32>> {
    let mut noted = Vec::new();
    for record in history.agents.alive.values() {
        noted.push((record, AgentProcesses::read(dir, record.spawn)?));
    }
    let panes = noted.iter().any(|(_, processes)| processes.is_none()).then(panes).transpose()?;
    let panes = panes.as_ref().map(AsRef::as_ref).unwrap_or_default();
    let mut missing = Vec::new();
    for (record, processes) in noted {
        let is_alive = match processes {
            Some(processes) => processes.is_alive()?,
            None => panes.iter().any(|pane| pane.belongs_to(&dir.id) && is_alive_in(pane, &record.window)),
        };
        missing.extend((!is_alive).then_some(record.spawn));
    }
    Ok(missing)
}

/// Refuses while an agent of the task is alive.
pub fn check_gone(app: &App, locked: &LockedWorkItem) -> Result<()> {
    for record in locked.history().agents.alive.values() {
        // Where its processes are on record, tmux need not even be there.
        let is_noted = AgentProcesses::read(locked.dir(), record.spawn)?.is_some();
        let panes = if is_noted { Vec::new() } else { app.tmux.panes_of(&locked.task().id)? };
        if is_alive(locked.dir(), record, &panes)? {
            let Spawn { spawn, actor, .. } = record;
            return Err(Error::new(
                ErrorKind::Refused,
                format!("agent {spawn} ({actor}) is still alive in it"),
            )
            .help(given_back_by(locked.dir())));
        }
    }
    Ok(())
}

/// Help with the command that gives a worktree back once its agent has ended. A mission that has ended is not cancelled, and the
/// monitor goes on with it.
fn given_back_by(dir: &WorkItemDir) -> String {
    let command = match dir.kind {
        WorkItemKind::Task => dir.command("cancel"),
        WorkItemKind::Mission => "`orange monitor --once`".to_owned(),
    };
    format!("end it, then {command} gives the worktree back")
}

/// True if the agent of this window is alive in this pane.
pub(super) fn is_alive_in(pane: &Pane, window: &str) -> bool {
    pane.hosts(window) && !pane.dead
}

/// The spawns that have a file of this kind.
fn spawns(dir: &WorkItemDir, kind: &str) -> Result<Vec<u32>> {
    let folder = dir.agents();
    let entries =
        nofollow::entries(&folder).map_err(|cause| Error::io("read the folder", &folder, &cause))?;
    let names = entries.into_iter().map(|entry| entry.file_name());
    let number = |name: &str| name.strip_suffix(kind)?.strip_suffix('.')?.parse().ok();
    Ok(names.filter_map(|name| number(name.to_str()?)).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use super::*;
    use crate::store::Home;

    const YEAR: Duration = Duration::from_secs(31_536_000);

    #[test]
    fn who_is_attended_is_noted_until_the_end_is_on_record() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Home::at(folder.path()).task("toy", "t1");
        assert_eq!(AgentProcesses::read(&dir, 3).unwrap(), None);
        assert_eq!(AgentProcesses::all(&dir).unwrap(), []);
        let own = Process::alive(std::process::id().cast_signed()).unwrap().unwrap();
        assert_eq!(AgentProcesses::age(&dir, 3).unwrap(), None);
        let room = RecordRoom::make(&dir, 3).unwrap();
        assert_eq!(AgentProcesses::read(&dir, 3).unwrap(), None);
        room.note(own).unwrap();
        let processes = AgentProcesses::read(&dir, 3).unwrap().unwrap();
        assert!(processes.is_alive().unwrap() && processes.survivor().unwrap().is_none());
        assert_eq!(AgentProcesses::all(&dir).unwrap(), [processes]);
        // The times of a file are those of a clock that can be set.
        let file = fs::File::options().append(true).open(dir.agent(3)).unwrap();
        for time in [SystemTime::UNIX_EPOCH, SystemTime::now() + YEAR] {
            file.set_modified(time).unwrap();
            assert!(AgentProcesses::age(&dir, 3).unwrap().is_some_and(|age| age < YEAR));
        }
        AgentProcesses::forget(&dir, 3).unwrap();
        AgentProcesses::forget(&dir, 3).unwrap();
        assert_eq!(AgentProcesses::read(&dir, 3).unwrap(), None);
    }

    #[test]
    fn a_number_that_another_process_has_got_is_nobody() {
        let own = Process::alive(std::process::id().cast_signed()).unwrap().unwrap();
        let older = Process { start: own.start - 1, ..own };
        let processes = AgentProcesses { boot: clock::boot(), wrapper: older, agent: older };
        assert!(!processes.is_alive().unwrap() && processes.survivor().unwrap().is_none());
        let survivor = AgentProcesses { agent: own, ..processes };
        assert_eq!(survivor.survivor().unwrap(), Some(own));
        let before = AgentProcesses { boot: "another".to_owned(), ..survivor };
        assert!(
            !before.is_alive().unwrap()
                && before.survivor().unwrap().is_none()
                && before.roots(&Home::at("/x").task("toy", "t1"), 1).unwrap().is_empty()
        );
    }

    #[test]
    fn a_worktree_is_given_back_by_a_command_that_there_is() {
        let home = Home::at("/orange");
        assert!(given_back_by(&home.task("toy", "t1")).contains("`orange task cancel t1`"));
        assert!(given_back_by(&home.mission("toy", "m1")).contains("`orange monitor --once`"));
    }

    #[test]
    fn a_broken_note_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Home::at(folder.path()).task("toy", "t1");
        fs::create_dir_all(dir.agents()).unwrap();
        fs::write(dir.agent(1), "{").unwrap();
        assert_eq!(AgentProcesses::all(&dir).unwrap_err().kind, ErrorKind::Corrupt);
    }
}
