//! The faults that strike a request while it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::world::{World, signal};
use crate::Result;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TortureFault {
    /// None, for comparison.
    None,
    /// The process of this role is killed when it comes to this step.
    Step { role: String, number: usize, what: String },
    /// Every working process is killed at this moment, with the programs that it has called, or without.
    Moment { after: Duration, with_called: bool },
    /// Every working process is stopped and continued again and again, which interrupts its system calls.
    Stops,
    /// The clock jumps while the request runs, by this many seconds each time.
    Clock { by: i64 },
    /// The disk has this many free bytes.
    FullDisk { left: u64 },
    /// No file may exceed this many KiB, for systems without a small disk.
    ShortFiles { longest: u64 },
    /// Nothing can be written.
    ReadOnly,
}

/// One step that a process came to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReachedStep {
    pub(super) role: String,
    pub(super) number: usize,
    pub(super) what: String,
}

impl TortureFault {
    /// Its line in the table.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            TortureFault::None => "none",
            TortureFault::Step { .. } => "SIGKILL at a step",
            TortureFault::Moment { with_called: false, .. } => "SIGKILL at a random moment",
            TortureFault::Moment { with_called: true, .. } => {
                "the same, with the git and tmux that were called"
            }
            TortureFault::Stops => "SIGSTOP and SIGCONT all the time (EINTR)",
            TortureFault::Clock { .. } => "the clock jumps",
            TortureFault::FullDisk { .. } => "disk full",
            TortureFault::ShortFiles { .. } => "no room in a file (RLIMIT_FSIZE)",
            TortureFault::ReadOnly => "read-only home",
        }
    }

    /// True if the request may fail because of its environment, or end without an answer.
    pub(super) fn may_fail(&self) -> bool {
        !matches!(self, TortureFault::None | TortureFault::Stops | TortureFault::Clock { .. })
    }

    /// True if it prevents hooks from working.
    pub(super) fn starves(&self) -> bool {
        matches!(
            self,
            TortureFault::FullDisk { .. } | TortureFault::ShortFiles { .. } | TortureFault::ReadOnly
        )
    }

    /// True if it also kills the programs that `orange` has called.
    pub(super) fn kills_called(&self) -> bool {
        matches!(self, TortureFault::Moment { with_called: true, .. })
    }

    /// The words before `orange` on the command line.
    pub(super) fn launcher(&self) -> Vec<String> {
        let TortureFault::ShortFiles { longest } = self else { return Vec::new() };
        // If the signal is ignored, the write fails instead.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", longest * 2);
        ["/bin/sh", "-c", &script, "sh"].map(str::to_owned).to_vec()
    }

    /// Runs before the request.
    pub(super) fn arm(&self, world: &World) -> Result<()> {
        for name in ["steps", "kill", "killed", "clock"] {
            let file = world.path("faults").join(name);
            if file.exists() {
                fs::remove_file(&file).map_err(|error| error.to_string())?;
            }
        }
        match self {
            TortureFault::Step { role, number, .. } => {
                write(&world.path("faults/kill"), &format!("{role} {number}"))
            }
            TortureFault::FullDisk { left } => fill(&world.path("orange"), *left),
            TortureFault::ReadOnly => make_read_only(&world.path("orange")),
            TortureFault::None
            | TortureFault::Moment { .. }
            | TortureFault::Stops
            | TortureFault::Clock { .. }
            | TortureFault::ShortFiles { .. } => Ok(()),
        }
    }

    /// Runs during the request. True if a process was struck.
    pub(super) fn strike(&self, world: &World, is_over: &AtomicBool) -> Result<bool> {
        match self {
            TortureFault::Moment { after, with_called } => {
                thread::sleep(*after);
                let met = world.at_work(*with_called);
                met.iter().for_each(|process| signal(process.pid, Signal::KILL));
                // The second look finds processes that were being started during the first.
                let late = world.at_work(*with_called);
                late.iter().for_each(|process| signal(process.pid, Signal::KILL));
                Ok(!met.is_empty() || !late.is_empty())
            }
            TortureFault::Stops => {
                let mut stopped = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let met = world.at_work(true);
                    met.iter().for_each(|process| signal(process.pid, Signal::STOP));
                    met.iter().for_each(|process| signal(process.pid, Signal::CONT));
                    stopped += met.len();
                }
                Ok(stopped > 0)
            }
            TortureFault::Clock { by } => {
                for turn in (1i64..).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                    write(&world.path("faults/clock"), &format!("{}", by * (turn % 5 - 2)))?;
                    thread::sleep(Duration::from_millis(2));
                }
                Ok(true)
            }
            TortureFault::Step { .. } => Ok(true),
            TortureFault::None
            | TortureFault::FullDisk { .. }
            | TortureFault::ShortFiles { .. }
            | TortureFault::ReadOnly => Ok(true),
        }
    }

    /// True if it has struck, after which the request itself does nothing more.
    pub(super) fn has_struck(&self, world: &World) -> bool {
        matches!(self, TortureFault::Step { .. }) && world.path("faults/killed").exists()
    }

    /// Runs after the request, before the world is examined.
    pub(super) fn mend(&self, world: &World) -> Result<()> {
        match self {
            TortureFault::FullDisk { .. } => {
                fs::remove_file(ballast(&world.path("orange"))).map_err(|error| error.to_string())
            }
            TortureFault::ReadOnly => mount("umount", &["--lazy"], &[&world.path("orange")]),
            TortureFault::Step { .. } => {
                // The step may not have occurred, and must not strike a later process.
                let armed = world.path("faults/kill");
                if armed.exists() {
                    fs::remove_file(armed).map_err(|error| error.to_string())
                } else {
                    Ok(())
                }
            }
            TortureFault::None
            | TortureFault::Moment { .. }
            | TortureFault::Stops
            | TortureFault::Clock { .. }
            | TortureFault::ShortFiles { .. } => Ok(()),
        }
    }
}

/// The steps since the fault was armed.
pub(super) fn steps(world: &World) -> Vec<ReachedStep> {
    let notes = world.note("faults/steps");
    let step = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (role, number, what) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        Some(ReachedStep { role: role.to_owned(), number, what: what.to_owned() })
    };
    let mut steps: Vec<_> = notes.lines().filter_map(step).collect();
    steps.sort();
    steps.dedup_by(|a, b| (&a.role, a.number) == (&b.role, b.number));
    steps
}

/// Mounts a small disk here; false without the right to do that.
pub(super) fn small_disk(place: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=8m,mode=0700", "none"]).arg(place);
    fs::create_dir_all(place).is_ok() && mount.output().is_ok_and(|output| output.status.success())
}

pub(super) fn unmount(place: &Path) {
    // A disk in use goes away with its last user.
    Command::new("umount").arg("--lazy").arg(place).output().map(drop).unwrap_or_default();
}

fn ballast(home: &Path) -> PathBuf {
    home.join("ballast")
}

fn fill(home: &Path, left: u64) -> Result<()> {
    let disk = rustix::fs::statvfs(home).map_err(|error| error.to_string())?;
    let room = (disk.f_bavail * disk.f_frsize).saturating_sub(left);
    let length = usize::try_from(room).map_err(|error| error.to_string())?;
    fs::write(ballast(home), vec![0; length]).map_err(|error| error.to_string())
}

/// Mounts the home once more on itself: the companions of living agents have files of it open for writing, which prevents a change of
/// the original mount.
fn make_read_only(home: &Path) -> Result<()> {
    mount("mount", &["--bind"], &[home, home])?;
    mount("mount", &["-o", "remount,bind,ro"], &[home])
}

fn mount(program: &str, words: &[&str], paths: &[&Path]) -> Result<()> {
    let output = Command::new(program).args(words).args(paths).output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn write(file: &Path, text: &str) -> Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, text).and_then(|()| fs::rename(&new, file)).map_err(|error| error.to_string())
}
