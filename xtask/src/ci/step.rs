//! A step of continuous integration: what it runs, and how it came out.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Lanes;
use super::evidence::evidence;
use super::processors::{Ended, wait_until};
use crate::workspace::{OwnRepository, typed};
use crate::{Result, codegen, tidy, torture};

/// Number of steps that run beside those of cargo. Most of them wait for other programs.
const BESIDE: usize = 3;

/// Time that everything may take on two processors.
const BUDGET: Duration = Duration::from_secs(35 * 60);

/// Time after which the steps that still run are ended, so that their output shows what they wait for.
const LIMIT: Duration = Duration::from_secs(75 * 60);

/// The beginning of the line with which a program says that it has done nothing, and why.
const NOTHING_DONE: &str = "SKIPPED STEP: ";

/// Steps that cannot run on macOS, by the beginnings of their names, and the reasons.
const NOT_ON_MACOS: &[(&str, &str)] = &[
    ("attack", "it mounts disks and reads /proc"),
    ("torture", "it reads /proc"),
    ("tortured fleet", "it reads /proc"),
];

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
    /// Nothing, since a part of this machine is missing.
    Skipped(String),
    /// Nothing, since this system cannot run the step.
    LeftOut(&'static str),
}

/// The end of a step's work.
#[derive(Default)]
struct StepEnd {
    /// Reason for its failure.
    failure: Option<String>,
    output: String,
    /// Time of processors that its programs have used, as far as it is known.
    used: Option<Duration>,
}

/// The result of a step.
pub(super) struct CiResult {
    name: String,
    took: Duration,
    /// Time of processors that its programs have used, as far as it is known.
    used: Option<Duration>,
    /// The tests that it has skipped, one line for each.
    skipped: Vec<String>,
    /// Reason why it has done nothing.
    left_out: Option<String>,
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
        let name = name.into();
        let reason = reason_to_skip(std::env::consts::OS, &name);
        CiStep { name, work: reason.map_or(work, StepWork::LeftOut) }
    }

    pub(super) fn run(name: impl Into<String>, command: Command) -> CiStep {
        CiStep::new(name, StepWork::Run(command))
    }

    /// Runs it with its output on ours.
    fn run_here(self, workspace: &OwnRepository) -> CiResult {
        println!("\n── {}: {}", self.name, self.work.describe());
        self.timed(|work| work.run(workspace))
    }

    /// Runs it with its output kept, and printed whole at its end.
    fn run_apart(self, workspace: &OwnRepository, deadline: Instant) -> CiResult {
        let head = format!("── {}: {}", self.name, self.work.describe());
        self.timed(|work| {
            let end = match work {
                StepWork::Run(command) => kept(command, deadline),
                StepWork::Tidy
                | StepWork::Golden
                | StepWork::Armed
                | StepWork::Skipped(_)
                | StepWork::LeftOut(_) => work.run(workspace),
            };
            let last = end.failure.as_ref().map(|failure| format!("── {failure}\n")).unwrap_or_default();
            print!("\n{head}\n{}{last}", end.output);
            let failure = end.failure.map(|failure| format!("{failure}{}", evidence(&end.output)));
            StepEnd { failure, ..end }
        })
    }

    fn timed(mut self, run: impl FnOnce(&mut StepWork) -> StepEnd) -> CiResult {
        let started = Instant::now();
        let StepEnd { failure, output, used } = run(&mut self.work);
        let skipped = output.lines().filter(|line| line.starts_with("SKIPPED:")).map(str::to_owned).collect();
        let left_out = output.lines().find_map(|line| line.strip_prefix(NOTHING_DONE)).map(str::to_owned);
        let failure = failure.or_else(|| refusal(std::env::consts::OS, &self.name, left_out.as_deref()?));
        CiResult { name: self.name, took: started.elapsed(), used, skipped, left_out, failure }
    }
}

impl StepWork {
    fn describe(&self) -> String {
        match self {
            StepWork::Run(command) => typed(command),
            StepWork::Tidy => "cargo xtask tidy".to_string(),
            StepWork::Golden => "cargo xtask codegen".to_string(),
            StepWork::Armed => "cargo build --package orange --features fail-points".to_string(),
            StepWork::Skipped(_) | StepWork::LeftOut(_) => "nothing".to_string(),
        }
    }

    fn run(&mut self, workspace: &OwnRepository) -> StepEnd {
        let (result, used) = match self {
            StepWork::Run(command) => ended(command.spawn().and_then(|child| ended_by(child, None))),
            StepWork::Tidy => (tidied(workspace), None),
            StepWork::Golden => (rewritten(workspace), None),
            StepWork::Armed => (torture::build_armed(workspace), None),
            StepWork::Skipped(_) | StepWork::LeftOut(_) => (Ok(()), None),
        };
        StepEnd { failure: result.err(), output: self.output(), used }
    }

    /// The output of work that is not a program.
    fn output(&self) -> String {
        match self {
            StepWork::Skipped(reason) => format!("SKIPPED: {reason}\n"),
            StepWork::LeftOut(reason) => format!("{NOTHING_DONE}{reason}\n"),
            StepWork::Run(_) | StepWork::Tidy | StepWork::Golden | StepWork::Armed => String::new(),
        }
    }
}

fn tidied(workspace: &OwnRepository) -> Result<()> {
    match tidy::report(workspace)? {
        0 => Ok(()),
        findings => Err(format!("{findings} to mend")),
    }
}

fn rewritten(workspace: &OwnRepository) -> Result<()> {
    match codegen::rewrite(workspace)?.len() {
        0 => Ok(()),
        stale => Err(format!("{stale} were stale and are mended: read the diff and commit them")),
    }
}

/// The reason why a system cannot run a step.
fn reason_to_skip(system: &str, step: &str) -> Option<&'static str> {
    let known = if system == "macos" { NOT_ON_MACOS } else { &[] };
    known.iter().find(|(name, _)| step.starts_with(name)).map(|(_, reason)| *reason)
}

/// The failure of a step that has done nothing on a system that can run it.
fn refusal(system: &str, step: &str, reason: &str) -> Option<String> {
    let is_known = reason_to_skip(system, step).is_some();
    (!is_known).then(|| format!("skipped, and {system} must run it: {reason}"))
}

/// Runs a command with its output in a file: a pipe would be held open by what the command leaves running.
fn kept(command: &mut Command, deadline: Instant) -> StepEnd {
    let mut run = || -> std::io::Result<StepEnd> {
        let mut file = tempfile::tempfile()?;
        let for_errors: File = file.try_clone()?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(for_errors);
        let (result, used) = ended(command.spawn().and_then(|child| ended_by(child, Some(deadline))));
        let mut output = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut output)?;
        let output = String::from_utf8_lossy(&output).into_owned();
        Ok(StepEnd { failure: result.err(), output, used })
    };
    run().unwrap_or_else(|error| {
        let failure = Some(format!("its output cannot be kept: {error}"));
        StepEnd { failure, ..StepEnd::default() }
    })
}

/// Waits for the end of a command, and ends it at the deadline.
fn ended_by(mut child: Child, deadline: Option<Instant>) -> std::io::Result<Ended> {
    if let Some(ended) = wait_until(&mut child, deadline)? {
        return Ok(ended);
    }
    let running = descendants(child.id());
    child.kill()?;
    child.wait()?;
    Err(std::io::Error::new(std::io::ErrorKind::TimedOut, format!("it did not end in time{running}")))
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

fn ended(end: std::io::Result<Ended>) -> (Result<()>, Option<Duration>) {
    match end {
        Ok(Ended { status, used }) if status.success() => (Ok(()), used),
        Ok(Ended { status, used }) => (Err(format!("failed, {status}")), used),
        Err(error) => (Err(format!("failed: {error}")), None),
    }
}

impl CiResult {
    pub(super) fn is_ok(&self) -> bool {
        self.failure.is_none()
    }
}

/// Every step with its time and that of processors, what was skipped, what the failed ones printed last, and how long everything took.
pub(super) fn summary(outcomes: &[CiResult], took: Duration) -> String {
    let skipped = outcomes.iter().flat_map(|outcome| &outcome.skipped);
    let skipped: Vec<String> = skipped.map(|line| format!("{line}\n")).collect();
    let reasons = outcomes.iter().filter_map(|it| Some(format!("{}: {}", it.name, it.left_out.as_ref()?)));
    let left_out: Vec<String> = reasons.collect();
    let failed = outcomes.iter().filter(|outcome| !outcome.is_ok()).count();
    let ends = format!(
        "{} steps, {failed} failed, {} skipped{}, {} tests skipped, {:.0} s of {} s\n",
        outcomes.len(),
        left_out.len(),
        if left_out.is_empty() { String::new() } else { format!(" ({})", left_out.join("; ")) },
        skipped.len(),
        took.as_secs_f64(),
        BUDGET.as_secs()
    );
    let failures = outcomes.iter().filter_map(|it| Some((&it.name, it.failure.as_deref()?)));
    let details = failures.filter_map(|(name, failure)| Some((name, failure.split_once('\n')?.1)));
    let details: String = details.map(|(name, detail)| format!("\n── failed: {name}\n{detail}\n")).collect();
    format!("{}{}{details}\n{ends}", table(outcomes), skipped.concat())
}

fn table(outcomes: &[CiResult]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.name.len()).max().unwrap_or_default();
    let row = |CiResult { name, took, used, failure, .. }: &CiResult| {
        let word = failure.as_deref().unwrap_or("ok").lines().next().unwrap_or_default();
        let used = used.map_or(String::new(), |used| format!("{:.1} s", used.as_secs_f64()));
        format!("{name:width$}  {:8.1} s  {used:>10}  {word}\n", took.as_secs_f64())
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
            used: None,
            skipped: skipped.iter().map(|line| (*line).to_owned()).collect(),
            left_out: None,
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn the_table_says_what_failed_and_how_long_it_took() {
        let ok = CiResult { used: Some(Duration::from_millis(2160)), ..outcome("fmt", 1240, &[], None) };
        let failed = outcome("clippy", 75_000, &[], Some("failed, exit status: 1\nmore"));
        assert_eq!(
            table(&[ok, failed]),
            "fmt          1.2 s       2.2 s  ok\nclippy      75.0 s              failed, exit status: 1\n"
        );
    }

    #[test]
    fn the_summary_counts_what_is_skipped() {
        let outcomes =
            [outcome("fmt", 0, &[], None), outcome("agents", 0, &["SKIPPED: minimal: no npm"], None)];
        let said = summary(&outcomes, Duration::from_secs(90));
        let end =
            "SKIPPED: minimal: no npm\n\n2 steps, 0 failed, 0 skipped, 1 tests skipped, 90 s of 2100 s\n";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn the_summary_says_why_a_step_was_skipped() {
        let left_out = Some("it reads /proc".to_owned());
        let torture = CiResult { left_out, ..outcome("torture", 0, &[], None) };
        let said = summary(&[torture], Duration::from_secs(90));
        let end = "1 steps, 0 failed, 1 skipped (torture: it reads /proc), 0 tests skipped, 90 s of 2100 s\n";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn a_step_is_skipped_only_where_it_cannot_run() {
        for (step, reason) in [("tortured fleet, sqlite", "it reads /proc"), ("torture", "it reads /proc")] {
            assert_eq!(reason_to_skip("macos", step), Some(reason));
            assert_eq!(refusal("macos", step, reason), None);
            assert_eq!(reason_to_skip("linux", step), None);
            let refused = refusal("linux", step, "no Postgres");
            assert_eq!(refused.as_deref(), Some("skipped, and linux must run it: no Postgres"));
        }
        assert_eq!(reason_to_skip("macos", "clippy"), None);
        assert!(refusal("macos", "clippy", "no clippy").is_some());
    }

    #[test]
    fn a_program_that_has_done_nothing_fails_its_step() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'SKIPPED: one'; echo 'SKIPPED STEP: no Postgres'"]);
        let work = StepWork::Run(command);
        let step = CiStep { name: "tests, e2e".to_owned(), work };
        let workspace = OwnRepository::find().unwrap();
        let result = step.run_apart(&workspace, Instant::now() + LIMIT);
        assert_eq!((result.skipped.len(), result.left_out.as_deref()), (1, Some("no Postgres")));
        assert!(result.failure.is_some_and(|it| it.ends_with("must run it: no Postgres")));
    }

    #[test]
    fn the_summary_ends_with_the_evidence_of_failures() {
        let failed = outcome("e2e", 0, &[], Some("failed, exit status: 101\nfailed: merge::one"));
        let said = summary(&[failed], Duration::from_secs(90));
        let end = "exit status: 101\n\n── failed: e2e\nfailed: merge::one\n\n1 steps, 1 failed";
        assert!(said.contains(end), "{said}");
    }

    #[test]
    fn a_command_that_does_not_end_is_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "exec sleep 1000000"]);
        let end = kept(&mut command, Instant::now());
        assert_eq!(end.failure.as_deref(), Some("failed: it did not end in time"));
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
    fn a_failing_command_keeps_its_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo 'SKIPPED: one' >&2; exit 3"]);
        let end = kept(&mut command, Instant::now() + LIMIT);
        assert_eq!(
            (end.failure.as_deref(), end.output.as_str()),
            (Some("failed, exit status: 3"), "out\nSKIPPED: one\n")
        );
    }
}
