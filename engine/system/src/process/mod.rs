//! Ends all processes of an agent, and no others.

mod ledger;
#[cfg(any(not(target_os = "linux"), test, feature = "lacks"))]
mod lsof;
#[cfg(any(not(target_os = "linux"), test, feature = "lacks"))]
mod portable;
#[cfg(target_os = "linux")]
mod proc_folder;
mod processes;
mod table;
mod users;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

pub use self::ledger::{INTERVAL, Ledger};
use self::processes::system;
use self::table::ProcessTable;
pub use self::users::{FileUser, may_use, users, writers};
use crate::{Error, ErrorKind, Result, fault, variables};

/// Time that processes may take to end before they are killed.
const GRACE: Duration = Duration::from_secs(2);

/// A process, distinct from a later one with the same id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Process {
    pub pid: i32,
    /// Time of its start: in clock ticks since boot on Linux, and else in seconds since 1970.
    pub start: u64,
}

/// The root of a set of processes, which includes what they have started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessRoot {
    /// The session that this process leads: a tmux pane, without what left it with `setsid`.
    Session(Pid),
    /// The process group that this process leads.
    Group(Pid),
    /// This one process.
    Process(Process),
    /// Every process of the session or the group that this process leads or led.
    Led(Process),
    /// This one process, if it is this agent's: by its environment, or as the agent's wrapper.
    Marked(Process, String, u32),
    /// Every process with this `ORANGE_HOME` in its environment.
    Home(PathBuf),
    /// Every process with this task's id in its environment.
    Task(String),
    /// Every process of a program that a gate of this task has asked, by its environment.
    Gate(String),
    /// Every process of one of its agents, by the number of its spawn.
    Agent(String, u32),
}

/// Processes that belong together. It remembers those that it has seen, even after their parents are gone, and never contains this
/// process or those that `orange` started for itself ([`variables::ENGINE`]).
#[derive(Debug)]
pub struct ProcessTree {
    roots: Vec<ProcessRoot>,
    seen: BTreeSet<Process>,
    /// Children of these processes that do not belong to it.
    others: BTreeSet<Process>,
}

/// Ends every process of these roots, as [`ProcessTree::end`].
///
/// # Errors
/// As there.
pub fn end(roots: &[ProcessRoot]) -> Result<()> {
    ProcessTree::of(roots.to_vec())?.end()
}

impl Process {
    /// The process of this id, unless it has ended.
    ///
    /// # Errors
    /// `environment` where the process table cannot be read: that proves no end.
    pub fn alive(pid: i32) -> Result<Option<Process>> {
        let stat = system().one(pid)?.filter(|stat| !stat.has_ended());
        Ok(stat.map(|stat| Process { pid, start: stat.start }))
    }

    /// True if it has not ended; a zombie has ended.
    ///
    /// # Errors
    /// As [`Process::alive`].
    pub fn is_alive(self) -> Result<bool> {
        Ok(Process::alive(self.pid)? == Some(self))
    }

    /// Its age; on Linux by a clock that cannot be set.
    pub fn age(self) -> Option<Duration> {
        system().age(self.start)
    }

    /// True if it is alive and not stopped by a signal.
    ///
    /// # Errors
    /// As [`Process::alive`].
    pub fn is_running(self) -> Result<bool> {
        Ok(self.is_alive()? && system().one(self.pid)?.is_some_and(|stat| !stat.is_stopped()))
    }
}

impl ProcessTree {
    /// The current processes of these roots.
    ///
    /// # Errors
    /// `environment` where the process table cannot be read.
    pub fn of(roots: Vec<ProcessRoot>) -> Result<ProcessTree> {
        let mut tree = ProcessTree { roots, seen: BTreeSet::new(), others: BTreeSet::new() };
        tree.look()?;
        Ok(tree)
    }

    /// Adds roots.
    pub fn and(mut self, roots: impl IntoIterator<Item = ProcessRoot>) -> ProcessTree {
        self.roots.extend(roots);
        self
    }

    /// Ends all of them: terminates them, kills the rest after two seconds, and returns when none is left. The wrappers of agents end
    /// last, as in [`ProcessTree::end_below_wrappers`].
    ///
    /// # Errors
    /// `environment` where the process table cannot be read, or a process does not end.
    pub fn end(mut self) -> Result<()> {
        self.end_below_wrappers()?;
        self.end_those(|_| true)
    }

    /// Ends all of them but the wrappers of agents. A wrapper adopts what has lost its parent: as long as it lives, the process that
    /// goes on after a kill of this one finds below it what has left the session and the environment of the agent.
    ///
    /// # Errors
    /// As [`ProcessTree::end`].
    pub fn end_below_wrappers(&mut self) -> Result<()> {
        self.end_those(|process| !table::is_wrapper(process.pid))
    }

    fn end_those(&mut self, are_meant: impl Fn(&Process) -> bool) -> Result<()> {
        for signal in [Signal::TERM, Signal::KILL] {
            if self.ends_by(signal, &are_meant)? {
                return Ok(());
            }
        }
        // On a slow machine the last of them end while the table is read for the last time within the grace.
        let left: Vec<String> =
            self.left(&are_meant)?.iter().map(|process| process.pid.to_string()).collect();
        if left.is_empty() {
            return Ok(());
        }
        let message = format!("processes that do not end when killed: {}", left.join(", "));
        Err(Error::new(ErrorKind::Environment, message).help(format!(
            "they wait for the system, as for a disk that does not answer: `ps -o pid,stat,wchan,args -p {}` says more",
            left.join(",")
        )))
    }

    /// Sends a signal to each once, including new ones; returns whether all ended within the grace.
    fn ends_by(&mut self, signal: Signal, are_meant: &impl Fn(&Process) -> bool) -> Result<bool> {
        let until = Instant::now() + GRACE;
        let (mut signalled, mut pause) = (BTreeSet::new(), Duration::from_millis(1));
        loop {
            let left = self.left(are_meant)?;
            if left.is_empty() {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            fault::step("end", "processes");
            for process in left.into_iter().filter(|process| signalled.insert(*process)) {
                send(process.pid, signal);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Those that are meant and alive.
    fn left(&mut self, are_meant: &impl Fn(&Process) -> bool) -> Result<Vec<Process>> {
        let mut left = self.look()?;
        left.retain(are_meant);
        if left.is_empty() {
            // One that was started while the table was read, by one that has ended since, is only in the next one.
            left = self.look()?;
            left.retain(are_meant);
        }
        Ok(left)
    }

    /// True if it is in the session or the group of one that was seen, which may have ended after it had started this one.
    fn is_led(&self, table: &ProcessTable, process: Process) -> bool {
        self.seen.iter().any(|seen| table.follows(process.pid, *seen)) && !is_the_engine_s(process.pid)
    }

    /// Those that are alive.
    fn look(&mut self) -> Result<Vec<Process>> {
        Ok(self.look_in(&ProcessTable::read()?))
    }

    fn look_in(&mut self, table: &ProcessTable) -> Vec<Process> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let is_seed = |process: &Process| {
            // One that was seen between its fork and its program can be the engine's.
            self.seen.contains(process) && !is_the_engine_s(process.pid)
                || self.roots.iter().any(|root| root.has(table, *process))
                || self.is_led(table, *process)
        };
        let mut left: Vec<Process> = table.alive().filter(is_seed).collect();
        let mut known = BTreeSet::new();
        known.extend(&left);
        let mut next = 0;
        while let Some(parent) = left.get(next).copied() {
            let is_theirs = |child: &Process| {
                child.pid != own && !self.others.contains(child) && !is_the_engine_s(child.pid)
            };
            let children = table.children(parent.pid).filter(is_theirs);
            left.extend(children.filter(|child| known.insert(*child)).collect::<Vec<_>>());
            next += 1;
        }
        left.retain(|process| process.pid != own);
        self.seen.extend(&left);
        // The number of one that has ended, and that no session and no group has, may be given to any process.
        self.seen.retain(|seen| table.has(*seen) || table.is_led_by(*seen));
        left
    }
}

impl ProcessRoot {
    fn has(&self, table: &ProcessTable, process: Process) -> bool {
        match self {
            ProcessRoot::Session(leader) => table.session(process.pid) == Some(leader.as_raw_nonzero().get()),
            ProcessRoot::Group(leader) => table.group(process.pid) == Some(leader.as_raw_nonzero().get()),
            ProcessRoot::Process(one) => *one == process,
            ProcessRoot::Led(leader) => {
                *leader != process && table.follows(process.pid, *leader) && !is_the_engine_s(process.pid)
            }
            ProcessRoot::Marked(one, task, spawn) => {
                *one == process && table::is_marked(process.pid, task, *spawn)
            }
            ProcessRoot::Home(home) => {
                table::environment(process.pid).has(variables::HOME, &home.to_string_lossy())
            }
            ProcessRoot::Task(task) => table::environment(process.pid).has(variables::TASK, task),
            ProcessRoot::Gate(task) => table::environment(process.pid).has(variables::GATE, task),
            ProcessRoot::Agent(task, spawn) => table::is_agent(process.pid, task, *spawn),
        }
    }
}

/// True if this process leads a session. In a container `getsid` returns 0 for a session from outside, which is not a process id,
/// so it is not used.
///
/// # Errors
/// `environment` where the process table cannot be read.
pub fn leads_session(pid: Pid) -> Result<bool> {
    let pid = pid.as_raw_nonzero().get();
    Ok(system().one(pid)?.is_some_and(|stat| stat.session == pid))
}

/// Moves this process into a session of its own without a terminal, so that neither a closed terminal nor a killed tmux session
/// ends it: the kernel sends SIGHUP only to processes with that terminal.
pub fn become_independent() -> Result<()> {
    let own = rustix::process::getpid();
    fault::step("become", "independent");
    match rustix::process::setsid() {
        Ok(_) => Ok(()),
        Err(cause) => match leads_session(own)? {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Environment,
                format!("cannot leave the terminal's session: {cause}"),
            )),
        },
    }
}

/// The zombies among the children of this process.
///
/// # Errors
/// `environment` where the process table cannot be read.
pub fn ended_children(parent: Pid) -> Result<Vec<Pid>> {
    let table = ProcessTable::read()?;
    Ok(table.ended_children(parent.as_raw_nonzero().get()).filter_map(Pid::from_raw).collect())
}

/// True if a process is recording the end of one of these agents of a task.
///
/// # Errors
/// `environment` where the process table cannot be read.
pub fn is_reported(task: &str, spawns: &[u32]) -> Result<bool> {
    let table = ProcessTable::read()?;
    let reports = |process: Process| spawns.iter().any(|spawn| table::reports_end(process.pid, task, *spawn));
    Ok(table.alive().any(reports))
}

/// Refuses where the process table cannot be read: nothing is started or ended without it.
///
/// # Errors
/// `environment`.
pub fn check() -> Result<()> {
    system().check()
}

/// True if it is a process of the engine: any process can set the variable, so its program counts, too, ours or a tmux.
fn is_the_engine_s(pid: i32) -> bool {
    table::environment(pid).has(variables::ACTOR, variables::ENGINE)
        && (system().is_own(pid) || table::is_tmux(pid))
}

/// Makes orphans below this process its children, so that they can be found. False where the system cannot do that.
#[cfg(target_os = "linux")]
fn adopt_orphans() -> Result<bool> {
    if fault::lacks("subreaper") {
        return Ok(false);
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("cannot look after what a program starts: {cause}"))
    })?;
    Ok(true)
}

/// False: orphans become children of the first process of the system.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
fn adopt_orphans() -> Result<bool> {
    Ok(false)
}

/// The children of this process, including adopted ones.
///
/// # Errors
/// `environment` where the process table cannot be read.
pub fn children() -> Result<BTreeSet<Process>> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let table = ProcessTable::read()?;
    Ok(table.children(own).collect())
}

/// Sends a signal; a process that is gone is not an error.
fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        rustix::process::kill_process(pid, signal).unwrap_or_default();
    }
}
