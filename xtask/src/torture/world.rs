//! The world of a series of faults: a home, an agent that notes what happens to it, and the list of its processes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Result;
use crate::process_stat::ProcessStat;
use crate::scratch::{PROJECT, ScratchHome};

const AGENT: &str = include_str!("agent.sh");

/// The contents of another person's file.
pub(super) const SOMEBODY_S: &str = "somebody's\n";

/// The time after which something hangs: twice the longest wait for a lock.
const PATIENCE: Duration = Duration::from_secs(180);

/// A home with one project, in which the tasks are tortured one after the other.
pub(super) struct World {
    scratch: ScratchHome,
    orange: PathBuf,
}

/// The role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessRole {
    /// An `orange` that carries out a request.
    Request,
    /// A git or a tmux that a request has called.
    Called,
    /// The `orange` around an agent.
    Wrapper,
    /// An `orange` that lives as long as an agent.
    Companion,
    Agent,
    /// The tmux server of all agents.
    Server,
}

impl ProcessRole {
    /// Every role. Requests are the most interesting.
    pub(super) const ALL: [ProcessRole; 8] = [
        ProcessRole::Request,
        ProcessRole::Request,
        ProcessRole::Request,
        ProcessRole::Called,
        ProcessRole::Wrapper,
        ProcessRole::Companion,
        ProcessRole::Agent,
        ProcessRole::Server,
    ];
}

/// A running process of a world.
#[derive(Clone, Debug)]
pub(super) struct RunningProcess {
    pub(super) pid: i32,
    /// Its arguments.
    pub(super) words: Vec<String>,
    is_orange: bool,
}

/// Parts of the system that `orange` does without in every world.
static WITHOUT: OnceLock<String> = OnceLock::new();

/// Has `orange` do without these parts of the system in every world from now on.
pub(super) fn do_without(parts: &str) {
    WITHOUT.get_or_init(|| parts.to_owned());
}

impl World {
    /// A world of this `orange`.
    pub(super) fn new(orange: &Path) -> Result<World> {
        World::made(orange, &[], |_| Ok(()))
    }

    /// A world of this `orange`; `furnish` runs before `ORANGE_HOME` has any contents.
    pub(super) fn furnished(orange: &Path, furnish: impl FnOnce(&Path) -> Result<()>) -> Result<World> {
        World::made(orange, &[], furnish)
    }

    /// A world that limits the address space of every `orange` and its children to `most` KiB.
    pub(super) fn of_memory(orange: &Path, most: u64) -> Result<World> {
        let script = format!("ulimit -v {most}; exec \"$@\"");
        World::made(orange, &["/bin/sh", "-c", &script, "sh"].map(str::to_owned), |_| Ok(()))
    }

    fn made(orange: &Path, launcher: &[String], furnish: impl FnOnce(&Path) -> Result<()>) -> Result<World> {
        let scratch = ScratchHome::empty(orange, AGENT)?.through(launcher);
        let faults = scratch.path("faults");
        fs::create_dir(&faults).map_err(|error| format!("{} cannot be made: {error}", faults.display()))?;
        furnish(&scratch.path("orange"))?;
        let scratch = scratch.with("ORANGE_FAIL_POINTS", faults);
        let scratch = match WITHOUT.get() {
            Some(parts) => scratch.with("ORANGE_LACKS", parts),
            None => scratch,
        };
        let world = World { scratch, orange: orange.to_path_buf() };
        world.git(&world.path("toy.git"), &["config", "core.logAllRefUpdates", "always"])?;
        world.orange(&["project", "add", "--name", PROJECT, "--pool-size", "4"])?;
        Ok(world)
    }

    /// A path in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    /// The answer of an undisturbed `orange … --json`, which must succeed.
    pub(super) fn orange(&self, arguments: &[&str]) -> Result<Value> {
        self.scratch.orange(arguments)
    }

    /// Starts `orange … --json`, with `launcher` before it.
    pub(super) fn start(&self, launcher: &[&str], arguments: &[&str]) -> Result<Child> {
        let mut command = self.scratch.behind(launcher, arguments);
        command.arg("--json").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
            .spawn()
            .map_err(|error| format!("{} cannot be run: {error}", crate::workspace::typed(&command)))
    }

    /// The output of git.
    pub(super) fn git(&self, folder: &Path, arguments: &[&str]) -> Result<String> {
        let mut command = self.scratch.command(Path::new("git"), arguments);
        said(command.current_dir(folder))
    }

    /// The output of git with a standard input.
    pub(super) fn git_with(&self, folder: &Path, arguments: &[&str], input: &str) -> Result<String> {
        let mut file = tempfile::tempfile().map_err(|error| error.to_string())?;
        file.write_all(input.as_bytes()).and_then(|()| file.rewind()).map_err(|error| error.to_string())?;
        let mut command = self.scratch.command(Path::new("git"), arguments);
        heard(command.current_dir(folder).stdin(file))
    }

    /// The windows of a session by name, each with its pane.
    pub(super) fn panes(&self, session: &str) -> BTreeMap<String, String> {
        let target = format!("={session}:");
        let format = "#{window_name} #{pane_id}";
        let listed = said(&mut self.scratch.tmux(&["list-panes", "-s", "-t", &target, "-F", format]));
        // Without such a session there is no pane.
        let listed = listed.unwrap_or_default();
        listed.lines().filter_map(|line| line.split_once(' ')).map(|(a, b)| (a.into(), b.into())).collect()
    }

    /// Types a line into the agent's terminal.
    pub(super) fn type_at(&self, session: &str, window: &str, line: &str) -> Result<()> {
        let panes = self.panes(session);
        let pane = panes.get(window).ok_or_else(|| format!("{session} has no window {window}"))?;
        said(&mut self.scratch.tmux(&["send-keys", "-t", pane, "-l", line])).map(drop)?;
        said(&mut self.scratch.tmux(&["send-keys", "-t", pane, "Enter"])).map(drop)
    }

    /// Writes a program.
    pub(super) fn script(&self, place: &Path, text: &str) -> Result<()> {
        fs::write(place, text)
            .and_then(|()| fs::set_permissions(place, fs::Permissions::from_mode(0o755)))
            .map_err(|error| format!("{} cannot be written: {error}", place.display()))
    }

    /// Requires that these texts are in a commit when the task of this branch has ended.
    pub(super) fn must_be_kept(&self, branch: &str, texts: &[&str]) -> Result<()> {
        let note = self.path(&format!("{branch}.kept"));
        let scratch = self.path(&format!("{branch}.text"));
        let mut blobs = String::new();
        for text in texts {
            fs::write(&scratch, text).map_err(|error| error.to_string())?;
            let place = scratch.to_string_lossy();
            blobs += &format!("{}\n", self.git(&self.path(PROJECT), &["hash-object", &place])?.trim());
        }
        fs::write(note, blobs).map_err(|error| error.to_string())
    }

    /// Writes another person's file, which must not change until the request for this branch is over.
    pub(super) fn must_stay(&self, branch: &str, file: &Path) -> Result<()> {
        fs::write(file, SOMEBODY_S)
            .and_then(|()| {
                fs::write(self.path(&format!("{branch}.others")), file.as_os_str().as_encoded_bytes())
            })
            .map_err(|error| error.to_string())
    }

    /// A file of our own.
    pub(super) fn note(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Every running process of this world.
    pub(super) fn processes(&self) -> Vec<RunningProcess> {
        let mark = format!("ORANGE_HOME={}", self.path("orange").display());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid| process(pid, &mark, &self.orange)).collect()
    }

    /// The processes of running requests, without agents and their wrappers; with the programs that they have called, or only `orange`.
    pub(super) fn at_work(&self, with_called: bool) -> Vec<RunningProcess> {
        let processes = self.processes();
        let asks = |process: &&RunningProcess| {
            process.is_orange && !process.is_wrapper() && !process.is_beside_agent()
        };
        let requests: Vec<i32> = processes.iter().filter(asks).map(|process| process.pid).collect();
        let is_called =
            |process: &RunningProcess| parent(process.pid).is_some_and(|parent| requests.contains(&parent));
        let is_meant =
            |process: &RunningProcess| requests.contains(&process.pid) || with_called && is_called(process);
        processes.into_iter().filter(is_meant).collect()
    }

    /// Kills every process of this role, and returns their number.
    pub(super) fn kill(&self, role: ProcessRole) -> usize {
        let requests: Vec<i32> = self.at_work(false).iter().map(|process| process.pid).collect();
        let is_called =
            |process: &RunningProcess| parent(process.pid).is_some_and(|it| requests.contains(&it));
        let is_meant = |process: &&RunningProcess| match role {
            ProcessRole::Request => requests.contains(&process.pid),
            ProcessRole::Called => !process.is_orange && is_called(process),
            ProcessRole::Wrapper => process.is_wrapper(),
            ProcessRole::Companion => process.is_beside_agent(),
            ProcessRole::Agent => process.is_agent(),
            ProcessRole::Server => process.is("tmux") && !is_called(process),
        };
        let processes = self.processes();
        let met: Vec<&RunningProcess> = processes.iter().filter(is_meant).collect();
        met.iter().for_each(|process| signal(process.pid, Signal::KILL));
        met.len()
    }

    /// True if a git runs in this world.
    pub(super) fn has_git(&self) -> bool {
        let is_git = |word: &String| word.rsplit('/').next().is_some_and(|name| name.starts_with("git"));
        self.processes().iter().any(|process| process.words.first().is_some_and(is_git))
    }

    /// Waits until no request runs, and no wrapper without a living agent.
    pub(super) fn quiet(&self) -> Result<()> {
        self.quiet_without(|_| false)
    }

    /// Waits as [`World::quiet`] does, but ignores processes that wait for the next start of an agent, which may take
    /// minutes.
    pub(super) fn calm(&self) -> Result<()> {
        self.quiet_without(|process| process.is_command(["agent", "resume"]))
    }

    fn quiet_without(&self, waits: impl Fn(&RunningProcess) -> bool) -> Result<()> {
        // A single look may miss a process that was started meanwhile.
        const LOOKS: usize = 3;
        let start = Instant::now();
        let mut quiet = 0;
        loop {
            let processes = self.processes();
            let is_busy = |it: &&RunningProcess| it.is_orange && !it.attends(&processes) && !waits(it);
            let Some(busy) = processes.iter().find(is_busy) else {
                quiet += 1;
                if quiet == LOOKS {
                    return Ok(());
                }
                continue;
            };
            quiet = 0;
            if start.elapsed() > PATIENCE {
                return Err(format!("`{}` hangs", busy.words.join(" ")));
            }
            thread::sleep(Duration::from_millis(3));
        }
    }

    /// Waits until this holds.
    pub(super) fn until(&self, what: &str, holds: impl Fn() -> bool) -> Result<()> {
        let start = Instant::now();
        while !holds() {
            if start.elapsed() > PATIENCE {
                return Err(format!("the time is over before this: {what}"));
            }
            thread::sleep(Duration::from_millis(3));
        }
        Ok(())
    }

    /// Ends every process in it.
    pub(super) fn stop(&self) {
        // There may be no server.
        self.scratch.tmux(&["kill-server"]).output().map(drop).unwrap_or_default();
        for process in self.processes() {
            signal(process.pid, Signal::KILL);
        }
    }

    /// Ends every process in it, and removes it.
    pub(super) fn end(self) -> Result<()> {
        self.stop();
        self.scratch.remove()
    }

    /// The number of a task's agents with a wrapper.
    pub(super) fn attended(&self, task: &str) -> usize {
        let is_own =
            |process: &&RunningProcess| process.is_wrapper() && process.words.iter().any(|word| word == task);
        self.processes().iter().filter(is_own).count()
    }
}

impl RunningProcess {
    /// True if it is an agent's wrapper.
    fn is_wrapper(&self) -> bool {
        self.is_command(["agent", "run"])
    }

    fn is(&self, program: &str) -> bool {
        self.words.first().is_some_and(|word| word.rsplit('/').next() == Some(program))
    }

    fn is_command(&self, command: [&str; 2]) -> bool {
        self.is_orange && self.words.get(1..3).is_some_and(|words| words == command)
    }

    /// True if it is a companion, or records a pane.
    fn is_beside_agent(&self) -> bool {
        self.is_command(["agent", "serve"]) || self.is_command(["agent", "record"])
    }

    /// True if it is the wrapper of a living agent, or lives as long as one.
    fn attends(&self, all: &[RunningProcess]) -> bool {
        let has_agent = |it: &RunningProcess| it.is_wrapper() && it.has_agent(all);
        // A recorder is a child of tmux.
        let is_above =
            |it: &RunningProcess| self.is_command(["agent", "record"]) || Some(it.pid) == parent(self.pid);
        has_agent(self) || self.is_beside_agent() && all.iter().any(|it| is_above(it) && has_agent(it))
    }

    fn has_agent(&self, all: &[RunningProcess]) -> bool {
        all.iter().any(|other| other.is_agent() && parent(other.pid) == Some(self.pid))
    }

    /// True if it is an agent, and not a tmux that the wrapper has called.
    fn is_agent(&self) -> bool {
        self.words.iter().take(2).any(|word| word.ends_with("/agents/claude"))
    }
}

/// Sends a signal; a process that is gone needs none.
pub(super) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        rustix::process::kill_process(pid, signal).unwrap_or_default();
    }
}

/// Waits for a process and returns its output, which may exceed a pipe's buffer; a process that hangs is killed.
pub(super) fn end_of(child: Child) -> Result<Output> {
    let pid = Pid::from_child(&child);
    let (ended, end) = mpsc::channel();
    // The receiver may no longer wait.
    thread::spawn(move || ended.send(child.wait_with_output()).unwrap_or_default());
    match end.recv_timeout(PATIENCE) {
        Ok(output) => output.map_err(|error| error.to_string()),
        Err(_) => {
            kill_process(pid, Signal::KILL).map_err(|error| error.to_string())?;
            Err("a request hangs".to_string())
        }
    }
}

/// True if a process runs; a zombie does not.
pub(super) fn is_alive(pid: i32) -> bool {
    ProcessStat::of(pid).is_some_and(|stat| stat.state != 'Z')
}

fn process(pid: i32, mark: &str, orange: &Path) -> Option<RunningProcess> {
    let folder = Path::new("/proc").join(pid.to_string());
    let environment = fs::read(folder.join("environ")).ok()?;
    if !is_alive(pid) || !environment.split(|byte| *byte == 0).any(|it| it == mark.as_bytes()) {
        return None;
    }
    let line = fs::read(folder.join("cmdline")).ok()?;
    let words =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let is_orange = fs::read_link(folder.join("exe")).is_ok_and(|program| program == orange);
    Some(RunningProcess { pid, words, is_orange })
}

fn parent(pid: i32) -> Option<i32> {
    ProcessStat::of(pid).map(|stat| stat.parent)
}

fn said(command: &mut Command) -> Result<String> {
    heard(command.stdin(Stdio::null()))
}

fn heard(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    Err(format!(
        "{}: {}",
        crate::workspace::typed(command),
        String::from_utf8_lossy(&output.stderr).trim_end()
    ))
}
