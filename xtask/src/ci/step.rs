//! A step of continuous integration: what it runs, and how it came out.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Lanes;
use crate::workspace::{OwnRepository, typed};
use crate::{Result, codegen, tidy, torture};

/// Number of steps that run beside those of cargo. Most of them wait for other programs.
const BESIDE: usize = 3;

/// Time that everything may take on two processors.
const BUDGET: Duration = Duration::from_secs(35 * 60);

/// Time after which the steps that still run are ended, so that their output shows what they wait for.
const LIMIT: Duration = Duration::from_secs(75 * 60);

/// Time between two looks at a step.
const LOOK: Duration = Duration::from_millis(100);

pub(super) struct CiStep {
    name: String,
    work: StepWork,
}

pub(super) enum StepWork {
    Run(Command),
    Tidy,
    /// Stale files are rewritten, and the step still fails, so that somebody reads the diff.
    Golden,
    /// The `orange` that the torture kills.
    Armed,
    /// Nothing, for this reason.
    Skipped(String),
}

/// The result of a step.
pub(super) struct CiResult {
    name: String,
    took: Duration,
    /// The tests that it has skipped, one line for each.
    skipped: Vec<String>,
    /// Reason for its failure.
    failure: Option<String>,
}

/// Runs steps one after the other.
pub(super) fn run_in_order(workspace: &OwnRepository, steps: Vec<CiStep>) -> Vec<CiResult> {
    steps.into_iter().map(|step| step.run_here(workspace)).collect()
}

/// Runs the steps of all lanes. `began` is the beginning of everything.
pub(super) fn run_beside(workspace: &OwnRepository, lanes: Lanes, began: Instant) -> Vec<CiResult> {
    let cargo = Mutex::new(VecDeque::from(lanes.cargo));
    let beside = Mutex::new(VecDeque::from(lanes.beside));
    let outcomes = Mutex::new(Vec::new());
    // A lane without steps of its own helps the other.
    let work = |queues: [&Mutex<VecDeque<CiStep>>; 2]| {
        while let Some(step) = queues.iter().find_map(|queue| locked(queue).pop_front()) {
            let outcome = step.run_apart(workspace, began + LIMIT);
            locked(&outcomes).push(outcome);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| work([&cargo, &beside]));
        (0..BESIDE).for_each(|_| drop(scope.spawn(|| work([&beside, &beside]))));
    });
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CiStep {
    pub(super) fn new(name: impl Into<String>, work: StepWork) -> CiStep {
        CiStep { name: name.into(), work }
    }

    pub(super) fn run(name: impl Into<String>, command: Command) -> CiStep {
        CiStep::new(name, StepWork::Run(command))
    }

    /// Runs it with its output on ours.
    fn run_here(self, workspace: &OwnRepository) -> CiResult {
        println!("\n── {}: {}", self.name, self.work.describe());
        self.timed(|work| (work.run(workspace).err(), String::new()))
    }

    /// Runs it with its output kept, and printed whole at its end.
    fn run_apart(self, workspace: &OwnRepository, deadline: Instant) -> CiResult {
        let head = format!("── {}: {}", self.name, self.work.describe());
        self.timed(|work| {
            let (failure, output) = match work {
                StepWork::Run(command) => kept(command, deadline),
                StepWork::Skipped(why) => (None, format!("SKIPPED: {why}\n")),
                StepWork::Tidy | StepWork::Golden | StepWork::Armed => {
                    (work.run(workspace).err(), String::new())
                }
            };
            let failure = failure.map(|failure| format!("{failure}{}", failing_tests(&output)));
            let end = failure.as_ref().map(|failure| format!("── {failure}\n")).unwrap_or_default();
            print!("\n{head}\n{output}{end}");
            (failure, output)
        })
    }

    fn timed(mut self, run: impl FnOnce(&mut StepWork) -> (Option<String>, String)) -> CiResult {
        let started = Instant::now();
        let (failure, output) = run(&mut self.work);
        let skipped = output.lines().filter(|line| line.starts_with("SKIPPED")).map(str::to_owned).collect();
        CiResult { name: self.name, took: started.elapsed(), skipped, failure }
    }
}

impl StepWork {
    fn describe(&self) -> String {
        match self {
            StepWork::Run(command) => typed(command),
            StepWork::Tidy => "cargo xtask tidy".to_string(),
            StepWork::Golden => "cargo xtask codegen".to_string(),
            StepWork::Armed => "cargo build --package orange --features fail-points".to_string(),
            StepWork::Skipped(why) => why.clone(),
        }
    }

    fn run(&mut self, workspace: &OwnRepository) -> Result<()> {
        match self {
            StepWork::Run(command) => ended(command.status()),
            StepWork::Tidy => match tidy::report(workspace)? {
                0 => Ok(()),
                findings => Err(format!("{findings} to mend")),
            },
            StepWork::Golden => match codegen::rewrite(workspace)?.len() {
                0 => Ok(()),
                stale => Err(format!("{stale} were stale and are mended: read the diff and commit them")),
            },
            StepWork::Armed => torture::build_armed(workspace),
            StepWork::Skipped(why) => {
                println!("SKIPPED: {why}");
                Ok(())
            }
        }
    }
}

/// Runs a command with its output in a file: a pipe would be held open by what the command leaves running.
fn kept(command: &mut Command, deadline: Instant) -> (Option<String>, String) {
    let mut run = || -> std::io::Result<(Result<()>, Vec<u8>)> {
        let mut file = tempfile::tempfile()?;
        let for_errors: File = file.try_clone()?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(for_errors);
        let end = ended(command.spawn().and_then(|child| ended_by(child, deadline)));
        let mut output = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut output)?;
        Ok((end, output))
    };
    match run() {
        Ok((end, output)) => (end.err(), String::from_utf8_lossy(&output).into_owned()),
        Err(error) => (Some(format!("its output cannot be kept: {error}")), String::new()),
    }
}

/// Waits for the end of a command, and ends it at the deadline.
fn ended_by(mut child: Child, deadline: Instant) -> std::io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            let running = descendants(child.id());
            child.kill()?;
            child.wait()?;
            let reason = format!("it did not end in time{running}");
            return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, reason));
        }
        thread::sleep(LOOK);
    }
}

/// The processes that a process has started, directly or not, one line each.
fn descendants(of: u32) -> String {
    let mut command = Command::new("ps");
    command.args(["-A", "-o", "pid=,ppid=,etime=,args="]);
    match command.output() {
        Ok(said) => below(of, &String::from_utf8_lossy(&said.stdout)),
        Err(error) => format!("\nits processes cannot be listed: {error}"),
    }
}

/// Lines of a list of processes, where each begins with its id and that of its parent, that descend from a process.
fn below(of: u32, list: &str) -> String {
    let ids = |line: &str| -> Option<(u32, u32)> {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let mut tree = vec![of];
    let mut next = 0;
    while let Some(&parent) = tree.get(next) {
        tree.extend(list.lines().filter_map(ids).filter(|(_, its)| *its == parent).map(|(id, _)| id));
        next += 1;
    }
    let runs = |line: &&str| ids(line).is_some_and(|(id, _)| id != of && tree.contains(&id));
    list.lines().filter(runs).map(|line| format!("\nstill running: {}", line.trim())).collect()
}

/// The tests that failed or did not end, one line each.
fn failing_tests(output: &str) -> String {
    let of = |end: &'static str| {
        output.lines().filter_map(move |line| line.strip_prefix("test ")?.strip_suffix(end))
    };
    let ended: HashSet<&str> = [" ... ok", " ... FAILED"].into_iter().flat_map(of).collect();
    let failed = of(" ... FAILED").map(|test| format!("\nfailed: {test}"));
    let slow = of(" has been running for over 60 seconds").filter(|test| !ended.contains(test));
    failed.chain(slow.map(|test| format!("\nnot ended: {test}"))).collect()
}

fn ended(status: std::io::Result<ExitStatus>) -> Result<()> {
    let status = status.map_err(|error| format!("failed: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed, {status}")) }
}

impl CiResult {
    pub(super) fn is_ok(&self) -> bool {
        self.failure.is_none()
    }
}

/// Every step with its time, what was skipped, the tests that failed, and how long everything took.
pub(super) fn summary(outcomes: &[CiResult], took: Duration) -> String {
    let skipped = outcomes.iter().flat_map(|outcome| &outcome.skipped);
    let skipped: Vec<String> = skipped.map(|line| format!("{line}\n")).collect();
    let failed = outcomes.iter().filter(|outcome| !outcome.is_ok()).count();
    let ends = format!(
        "{} steps, {failed} failed, {} tests skipped, {:.0} s of {} s\n",
        outcomes.len(),
        skipped.len(),
        took.as_secs_f64(),
        BUDGET.as_secs()
    );
    let failures = outcomes.iter().filter_map(|outcome| outcome.failure.as_deref());
    let details = failures.flat_map(|failure| failure.lines().skip(1));
    let details: String = details.map(|line| format!("{line}\n")).collect();
    format!("{}{}{details}{ends}", table(outcomes), skipped.concat())
}

fn table(outcomes: &[CiResult]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.name.len()).max().unwrap_or_default();
    let row = |CiResult { name, took, failure, .. }: &CiResult| {
        let word = failure.as_deref().unwrap_or("ok").lines().next().unwrap_or_default();
        format!("{name:width$}  {:8.1} s  {word}\n", took.as_secs_f64())
    };
    outcomes.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(name: &str, millis: u64, skipped: &[&str], failure: Option<&str>) -> CiResult {
        CiResult {
            name: name.to_owned(),
            took: Duration::from_millis(millis),
            skipped: skipped.iter().map(|line| (*line).to_owned()).collect(),
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn the_table_says_what_failed_and_how_long_it_took() {
        let ok = outcome("fmt", 1240, &[], None);
        let failed = outcome("clippy", 75_000, &[], Some("failed, exit status: 1\nmore"));
        assert_eq!(
            table(&[ok, failed]),
            "fmt          1.2 s  ok\nclippy      75.0 s  failed, exit status: 1\n"
        );
    }

    #[test]
    fn the_summary_counts_what_is_skipped() {
        let outcomes =
            [outcome("fmt", 0, &[], None), outcome("agents", 0, &["SKIPPED: minimal: no npm"], None)];
        let said = summary(&outcomes, Duration::from_secs(90));
        let end = "SKIPPED: minimal: no npm\n2 steps, 0 failed, 1 tests skipped, 90 s of 2100 s\n";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn the_summary_names_the_tests_that_failed() {
        let failed = outcome("e2e", 0, &[], Some("failed, exit status: 101\nfailed: merge::one"));
        let said = summary(&[failed], Duration::from_secs(90));
        assert!(said.contains("exit status: 101\nfailed: merge::one\n1 steps, 1 failed"), "{said}");
    }

    #[test]
    fn a_command_that_does_not_end_is_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "exec sleep 1000000"]);
        let (failure, _) = kept(&mut command, Instant::now());
        assert_eq!(failure.as_deref(), Some("failed: it did not end in time"));
    }

    #[test]
    fn the_processes_below_one_are_those_that_it_started() {
        let list = " 1 0 9:00 init\n 20 1 5:00 e2e\n 7 30 1:00 git fetch\n 30 20 1:01 orange merge\n 8 1 0:01 other\n";
        assert_eq!(
            below(20, list),
            "\nstill running: 7 30 1:00 git fetch\nstill running: 30 20 1:01 orange merge"
        );
    }

    #[test]
    fn a_test_that_was_slow_and_ended_is_not_named() {
        let output = "test a has been running for over 60 seconds\ntest b has been running for over 60 seconds\n\
                      test a ... ok\ntest c ... FAILED\n";
        assert_eq!(failing_tests(output), "\nfailed: c\nnot ended: b");
    }

    #[test]
    fn a_failing_command_keeps_its_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo 'SKIPPED: one' >&2; exit 3"]);
        let (failure, output) = kept(&mut command, Instant::now() + LIMIT);
        assert_eq!(
            (failure.as_deref(), output.as_str()),
            (Some("failed, exit status: 3"), "out\nSKIPPED: one\n")
        );
    }
}
