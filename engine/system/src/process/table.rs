//! The processes of the system at one moment.

use std::collections::BTreeMap;

use super::Process;
use super::processes::{ProcessState, Stat, system};
use crate::{Result, variables};

/// Every process, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessTable(BTreeMap<i32, Stat>);

/// The environment with which a process was started.
pub(super) struct ProcessEnvironment(Vec<u8>);

impl ProcessTable {
    /// The current table.
    ///
    /// # Errors
    /// `environment` where it cannot be read, or does not even show this process.
    pub(super) fn read() -> Result<ProcessTable> {
        system().all().map(ProcessTable)
    }

    /// The processes that have not ended.
    pub(super) fn alive(&self) -> impl Iterator<Item = Process> {
        let alive = self.0.iter().filter(|(_, stat)| !stat.has_ended());
        alive.map(|(pid, stat)| Process { pid: *pid, start: stat.start })
    }

    /// The children of a process that have not ended.
    pub(super) fn children(&self, parent: i32) -> impl Iterator<Item = Process> {
        self.alive().filter(move |child| self.0.get(&child.pid).is_some_and(|stat| stat.parent == parent))
    }

    /// The zombies among the children of a process.
    pub(super) fn ended_children(&self, parent: i32) -> impl Iterator<Item = i32> {
        let ended = self.0.iter().filter(move |(_, stat)| stat.parent == parent && stat.has_ended());
        ended.map(|(pid, _)| *pid)
    }

    /// True if this process has not ended.
    pub(super) fn has(&self, process: Process) -> bool {
        self.0.get(&process.pid).is_some_and(|stat| stat.start == process.start && !stat.has_ended())
    }

    /// True if any process is in the session or the group of this one.
    pub(super) fn is_led_by(&self, leader: Process) -> bool {
        self.alive().any(|process| self.follows(process.pid, leader))
    }

    /// True if it is in the session or the group of this process. The number of one that has ended stays taken as long as a process
    /// is in either.
    pub(super) fn follows(&self, pid: i32, leader: Process) -> bool {
        let is_replaced = self.0.get(&leader.pid).is_some_and(|stat| stat.start != leader.start);
        !is_replaced && (self.session(pid) == Some(leader.pid) || self.group(pid) == Some(leader.pid))
    }

    /// The leader of its session.
    pub(super) fn session(&self, pid: i32) -> Option<i32> {
        self.0.get(&pid).map(|stat| stat.session)
    }

    /// The leader of its group.
    pub(super) fn group(&self, pid: i32) -> Option<i32> {
        self.0.get(&pid).map(|stat| stat.group)
    }
}

impl Stat {
    pub(super) fn has_ended(self) -> bool {
        self.state == ProcessState::Ended
    }

    pub(super) fn is_stopped(self) -> bool {
        self.state == ProcessState::Stopped
    }
}

impl ProcessEnvironment {
    pub(super) fn has(&self, name: &str, value: &str) -> bool {
        let wanted = |variable: &[u8]| {
            let rest = variable.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            rest == Some(value.as_bytes())
        };
        self.0.split(|byte| *byte == 0).any(wanted)
    }
}

/// The environment of a process; empty for another user's, or one that is gone.
pub(super) fn environment(pid: i32) -> ProcessEnvironment {
    ProcessEnvironment(system().environment(pid))
}

/// True if a process has this agent's variables.
pub(super) fn is_agent(pid: i32, task: &str, spawn: u32) -> bool {
    let environment = environment(pid);
    environment.has(variables::TASK, task) && environment.has(variables::SPAWN, &spawn.to_string())
}

/// True if a process has this agent's variables, or is the agent's wrapper. One whose environment the system hides may have them: it
/// is asked for a process that is on record with its start.
pub(super) fn is_marked(pid: i32, task: &str, spawn: u32) -> bool {
    let words = system().command(pid);
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    let spawn_word = spawn.to_string();
    let wrapper = ["agent", "run", "--task", task, "--spawn", &spawn_word].map(str::as_bytes);
    words.windows(wrapper.len()).any(|some| some == wrapper)
        || is_agent(pid, task, spawn)
        || system().hides_environments() && system().environment(pid).is_empty()
}

/// True if it is the wrapper of some agent.
pub(super) fn is_wrapper(pid: i32) -> bool {
    let words = system().command(pid);
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    words.windows(3).any(|some| some == ["agent", "run", "--task"].map(str::as_bytes))
}

/// True if it is the process that records the end of this agent.
pub(super) fn reports_end(pid: i32, task: &str, spawn: u32) -> bool {
    let words = system().command(pid);
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    let spawn_word = format!("--spawn={spawn}");
    let report = ["agent", "ended", "--task", task, &spawn_word].map(str::as_bytes);
    words.windows(report.len()).any(|some| some == report)
}

/// True if it is a tmux client or server.
pub(super) fn is_tmux(pid: i32) -> bool {
    system().name(pid).starts_with("tmux")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_changes_its_program_keeps_its_variables() {
        if system().hides_environments() {
            println!("SKIPPED: a_process_that_changes_its_program_keeps_its_variables: they are hidden");
            return;
        }
        const RUNS_ITSELF_AGAIN: &str =
            r#"test "$1" -gt 0 && exec env sh -c "$0" "$0" $(($1 - 1)); exec sleep 600"#;
        let mut command = std::process::Command::new("sh");
        command.args(["-c", RUNS_ITSELF_AGAIN, RUNS_ITSELF_AGAIN, "300"]);
        let mut child = command.env(variables::TASK, "t1").env(variables::SPAWN, "1").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let name = || system().name(pid);
        let (mut looks, mut strange) = (0, 0);
        while name() != "sleep" {
            looks += 1;
            strange += usize::from(!is_agent(pid, "t1", 1));
        }
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(strange, 0, "of {looks} looks");
    }

    #[test]
    fn a_variable_is_found_whole() {
        let environment = ProcessEnvironment(b"A=1\0ORANGE_TASK=t12\0B=ORANGE_TASK=t1\0".to_vec());
        assert!(environment.has("ORANGE_TASK", "t12"));
        assert!(!environment.has("ORANGE_TASK", "t1"));
        assert!(!environment.has("ORANGE", "TASK=t12"));
    }
}
