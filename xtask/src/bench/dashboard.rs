//! Times the dashboard in a real tmux: 500 tasks, the first frame, a key, and what it costs while nothing happens.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::FigureRow;
use crate::Result;
use crate::process_stat::ProcessStat;
use crate::scratch::ScratchHome;

/// The time limit for each figure.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with the dashboard.
struct Dashboard<'s> {
    scratch: &'s ScratchHome,
    socket: PathBuf,
    pid: u32,
}

/// The rows of the table: first frame, key to frame, idle, memory.
pub(super) fn rows(orange: &Path, quick: bool) -> Result<Vec<FigureRow>> {
    let tasks = if quick { 50 } else { 500 };
    let scratch = ScratchHome::new(orange, "#!/bin/sh\nexec sleep 1000000\n")?;
    for number in 0..tasks {
        let branch = format!("task-{number:03}");
        scratch.orange(&["task", "create", &branch, "Mend the date", "--no-spawn"])?;
    }
    let first = median((0..5).map(|_| first_frame(&scratch)).collect::<Result<_>>()?);
    let dashboard = Dashboard::open(&scratch)?;
    dashboard.shows("task-000")?;
    let keys = median((0..20).map(|number| dashboard.key(number)).collect::<Result<_>>()?);
    // It counts as idle when its first questions are answered.
    thread::sleep(Duration::from_secs(2));
    let idle = dashboard.share_of_a_core(Duration::from_secs(if quick { 3 } else { 15 }))?;
    let memory = dashboard.memory()?;
    dashboard.close()?;
    scratch.remove()?;
    let row = |what: String, figure: f64, budget: &str, most: f64| FigureRow {
        what,
        figures: vec![format!("{figure:.1}")],
        budget: budget.to_owned(),
        kept: Some(figure <= most),
    };
    Ok(vec![
        row(format!("first frame with {tasks} tasks, ms, with tmux"), first, "at most 150 ms", 150.0),
        row("key to frame, ms, with two calls of tmux".to_owned(), keys, "at most 16 ms", 16.0),
        row("idle, % of a core".to_owned(), idle, "below 1 %", 1.0),
        row("memory, MB".to_owned(), memory, "at most 40 MB", 40.0),
    ])
}

/// From the start of the program until its list is on the screen.
fn first_frame(scratch: &ScratchHome) -> Result<f64> {
    let begin = Instant::now();
    let dashboard = Dashboard::open(scratch)?;
    dashboard.shows("task-000")?;
    let took = begin.elapsed().as_secs_f64() * 1000.0;
    dashboard.close()?;
    Ok(took)
}

impl<'s> Dashboard<'s> {
    fn open(scratch: &'s ScratchHome) -> Result<Dashboard<'s>> {
        let socket = scratch.path("screen");
        let program = scratch.dashboard();
        let program = program.to_string_lossy();
        let mut dashboard = Dashboard { scratch, socket, pid: 0 };
        dashboard.tmux(&[
            "new-session",
            "-d",
            "-x",
            "120",
            "-y",
            "40",
            "-s",
            "dashboard",
            &format!("exec {program}"),
        ])?;
        let pid = dashboard.tmux(&["display-message", "-p", "-t", "=dashboard:", "#{pane_pid}"])?;
        dashboard.pid = pid.trim().parse().map_err(|error| format!("tmux gives no process id: {error}"))?;
        Ok(dashboard)
    }

    fn tmux(&self, words: &[&str]) -> Result<String> {
        let socket = self.socket.to_string_lossy();
        let words = [&["-S", &*socket, "-f", "/dev/null"], words].concat();
        crate::workspace::answer(self.scratch.command(Path::new("tmux"), &words))
    }

    fn shows(&self, what: &str) -> Result<()> {
        let begin = Instant::now();
        while !self.tmux(&["capture-pane", "-p", "-t", "=dashboard:"])?.contains(what) {
            if begin.elapsed() > PATIENCE {
                return Err(format!("the dashboard does not show {what}"));
            }
        }
        Ok(())
    }

    /// From a key until the next row is selected.
    fn key(&self, number: usize) -> Result<f64> {
        let begin = Instant::now();
        self.tmux(&["send-keys", "-t", "=dashboard:", "j"])?;
        self.shows(&format!("task-{:03} · ", number + 1))?;
        Ok(begin.elapsed().as_secs_f64() * 1000.0)
    }

    /// The share of a core that the process and its children take, in percent.
    fn share_of_a_core(&self, span: Duration) -> Result<f64> {
        let before = self.used()?;
        thread::sleep(span);
        let used = self.used()?.saturating_sub(before);
        Ok(used.as_secs_f64() / span.as_secs_f64() * 100.0)
    }

    fn used(&self) -> Result<Duration> {
        let stat = ProcessStat::of(self.pid).ok_or("`/proc` says nothing about the dashboard")?;
        Ok(stat.used)
    }

    fn memory(&self) -> Result<f64> {
        let path = format!("/proc/{}/status", self.pid);
        let status = fs::read_to_string(&path).map_err(|error| format!("{path} cannot be read: {error}"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kilobytes = line.split_whitespace().next().and_then(|it| it.parse::<f64>().ok());
        kilobytes.map(|it| it / 1000.0).ok_or_else(|| "Linux says nothing about memory".to_owned())
    }

    fn close(self) -> Result<()> {
        self.tmux(&["kill-server"]).map(drop)
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
