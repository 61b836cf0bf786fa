//! Times whole processes, beside `/bin/true`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{BenchPrograms, FigureRow, fields};
use crate::Result;
use crate::workspace::{OwnRepository, answer};

/// The processes to measure, in the order of the table.
pub(super) struct MeasuredRuns {
    rounds: usize,
    bench: PathBuf,
    asked: Vec<MeasuredProgram>,
}

/// A program, and the budget for its medians.
struct MeasuredProgram {
    line: String,
    budget: &'static str,
    keeps: Option<Keeps>,
    /// The number of the program with which it is compared.
    against: usize,
}

/// Test whether a program's medians keep its budget; the second ones are those of the program with which it is compared, mostly the
/// first one, which is `/bin/true`.
type Keeps = fn(MedianTimes, MedianTimes) -> bool;

/// Medians, in milliseconds.
#[derive(Clone, Copy)]
pub(super) struct MedianTimes {
    pub(super) wall: f64,
    pub(super) cpu: f64,
}

pub(super) fn rows(
    workspace: &OwnRepository,
    built: &BenchPrograms,
    scratch: &Path,
    quick: bool,
) -> Result<Vec<FigureRow>> {
    let (rounds, large) = if quick { (40, 500) } else { (300, 5_000) };
    let mut quickly = MeasuredRuns::new(rounds, built);
    quickly.ask("/bin/true", &[], &["/bin/true"], "", None);
    start_up(&mut quickly, built);
    checks(&mut quickly, workspace, built, scratch)?;
    for tasks in [30, large] {
        updates(&mut quickly, built, scratch, tasks)?;
    }
    event(&mut quickly, built, scratch)?;
    let mut slowly = MeasuredRuns::new(rounds / 10, built);
    slowly.ask("/bin/true", &[], &["/bin/true"], "", None);
    large_checks(&mut slowly, workspace, built, scratch)?;
    for tasks in [0, 100, large] {
        list(&mut slowly, built, scratch, tasks)?;
    }
    for tasks in [FEW, large] {
        finished(&mut slowly, built, scratch, tasks)?;
    }
    slowly.compare_with_fewer();
    look(&mut slowly, built, scratch)?;
    let mut rows = quickly.measure()?;
    rows.extend(slowly.measure()?.into_iter().skip(1));
    Ok(rows)
}

/// Our checker beside others.
pub(super) fn linters(
    workspace: &OwnRepository,
    built: &BenchPrograms,
    peers: &Path,
    scratch: &Path,
    quick: bool,
) -> Result<Vec<FigureRow>> {
    let mut runs = MeasuredRuns::new(if quick { 3 } else { 10 }, built);
    runs.ask("/bin/true", &[], &["/bin/true"], "", None);
    super::peers::rows(workspace, &mut runs, &built.checker, peers, scratch)?;
    runs.measure()
}

/// A workflow with counters that rise independently, so that their values have too many combinations to search.
fn hostile_workflow(counters: usize) -> String {
    let all = |each: &dyn Fn(usize) -> String| (0..counters).map(each).collect::<String>();
    let fields: Vec<String> = (0..counters).map(|it| format!("n{it}: 0")).collect();
    format!(
        "name: hostile\nfields: {{{}}}\nstates:\n  a: {{}}\n  done: {{terminal: true}}\n{}transitions:\n  - {{from: a, to: done}}\n{}",
        fields.join(", "),
        all(&|it| format!("  s{it}: {{}}\n")),
        all(&|it| format!(
            "  - {{from: a, to: s{it}, when: \"n{it} < 40\", hooks: [{{action: increment, field: n{it}}}]}}\n  - \
             {{from: s{it}, to: a}}\n"
        )),
    )
}

fn start_up(runs: &mut MeasuredRuns, built: &BenchPrograms) {
    let keeps: Keeps = |it, floor| it.wall <= 1.5 * floor.wall;
    runs.ask(
        "orange --version",
        &[],
        &[&built.orange.display().to_string(), "--version"],
        "at most 1.5 times /bin/true",
        Some(keeps),
    );
}

fn checks(
    runs: &mut MeasuredRuns,
    workspace: &OwnRepository,
    built: &BenchPrograms,
    scratch: &Path,
) -> Result<()> {
    let flow = scratch.join("default.yml");
    copy(&workspace.root.join("workflows/default.yml"), &flow)?;
    let (bench, checker, flow) = (text(&built.bench), text(&built.checker), text(&flow));
    runs.ask("the bare parse of default.yml", &[], &[&bench, "parse", &flow], "", None);
    let cache = format!("XDG_CACHE_HOME={}", text(scratch));
    runs.ask(
        "orange-workflow check default.yml, which it knows",
        &[&cache],
        &[&checker, "check", &flow, "--exit-zero"],
        "at most 1.5 ms over /bin/true",
        Some(|it, floor| it.wall <= floor.wall + 1.5),
    );
    runs.ask(
        "orange-workflow check default.yml",
        &[],
        &[&checker, "check", &flow, "--exit-zero", "--no-cache"],
        "at most 3 ms of cpu",
        Some(|it, _| it.cpu <= 3.0),
    );
    let plan = text(&workspace.root.join("workflows/dev-task.toml"));
    runs.ask(
        "orange-workflow check dev-task.toml",
        &[],
        &[&checker, "check", &plan, "--exit-zero", "--no-cache"],
        "at most a quarter of default.yml",
        Some(|it, machine| it.wall <= 0.25 * machine.wall),
    );
    runs.against_the_one_before();
    Ok(())
}

/// A thousand files, one file of up to ten thousand states, which shows whether the time grows linearly, and a picture.
fn large_checks(
    runs: &mut MeasuredRuns,
    workspace: &OwnRepository,
    built: &BenchPrograms,
    scratch: &Path,
) -> Result<()> {
    let checker = text(&built.checker);
    let folder = scratch.join("thousand");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let flow = workspace.read("workflows/default.yml")?.text;
    for number in 0..1_000 {
        let name = format!("flow-{number}");
        write(
            &folder.join(format!("{name}.yml")),
            &flow.replacen("name: default", &format!("name: {name}"), 1),
        )?;
    }
    let cache = format!("XDG_CACHE_HOME={}", text(scratch));
    let folder = text(&folder);
    let words = [checker.as_str(), "check", &folder, "--exit-zero"];
    let kept: Option<Keeps> = Some(|it, _| it.wall <= 150.0);
    runs.ask("check of 1 000 files, which it knows", &[&cache], &words, "at most 150 ms", kept);
    let words = [&words[..], &["--no-cache"]].concat();
    let kept: Option<Keeps> = Some(|it, _| it.wall <= 500.0);
    runs.ask("check of 1 000 files", &[], &words, "at most 0.5 s", kept);
    for counters in [8, 20] {
        let hostile = scratch.join(format!("hostile-{counters}.yml"));
        write(&hostile, &hostile_workflow(counters))?;
        runs.ask(
            &format!("check of {counters} counters that all rise"),
            &[],
            &[&checker, "check", &text(&hostile), "--exit-zero", "--no-cache"],
            "within a second",
            Some(|it, _| it.wall <= 1_000.0),
        );
    }
    for states in [100, 1_000, 10_000] {
        let path = scratch.join(format!("large-{states}.yml"));
        write(&path, &large_workflow(states))?;
        let what = format!("check of {states} states");
        runs.ask(
            &what,
            &[],
            &[&checker, "check", &text(&path), "--exit-zero", "--no-cache"],
            "ten times as much for ten times the states",
            None,
        );
    }
    let path = scratch.join("large-100.yml");
    runs.ask(
        "svg of 100 states",
        &[],
        &[&checker, "graph", &text(&path), "--format", "svg"],
        "at most 2 s",
        Some(|it, _| it.wall <= 2_000.0),
    );
    Ok(())
}

/// So many states: a ring, and the end, to which one more transition leads from each.
pub(super) fn large_workflow(states: usize) -> String {
    let ring = states - 1;
    let mut flow = format!("name: large-{states}\nstates:\n");
    (0..ring).for_each(|state| flow += &format!("  s{state}: {{}}\n"));
    flow += "  done: {terminal: true}\ntransitions:\n";
    for state in 0..ring {
        let next = (state + 1) % ring;
        flow += &format!("  - {{from: s{state}, to: s{next}, when: \"review_round < 2\"}}\n");
        flow += &format!("  - {{from: s{state}, to: done, when: \"review_round >= 2\"}}\n");
    }
    flow
}

/// Moves tasks between two states whose transitions have no hooks. Several tasks take turns, so that no journal gets longer than
/// in reality.
fn updates(runs: &mut MeasuredRuns, built: &BenchPrograms, scratch: &Path, tasks: usize) -> Result<()> {
    const TURNS: usize = 30;
    let home =
        BenchHome::with_tasks(&built.hookless, scratch, &format!("update-{tasks}"), "to-and-fro", tasks)?;
    let there_and_back = [vec!["there"; TURNS], vec!["here"; TURNS]].concat().join("|");
    let (orange, ids) = (text(&built.hookless), home.ids()?[..TURNS].join("|"));
    let words = [orange.as_str(), "task", "update", &ids, "--status", &there_and_back];
    let what = format!("task update --status, one of {tasks} tasks");
    runs.ask(&what, &[&home.setting()], &words, "at most 5 ms", Some(|it, _| it.wall <= 5.0));
    Ok(())
}

/// The secret of the agent whose harness calls.
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// The call of a harness before and after each tool.
fn event(runs: &mut MeasuredRuns, built: &BenchPrograms, scratch: &Path) -> Result<()> {
    let home = BenchHome::with_tasks(&built.orange, scratch, "event", "default", 1)?;
    let task = home.ids()?.join("");
    let folder = home.path.join("tasks/bench").join(&task);
    let agents = folder.join("agents");
    std::fs::create_dir_all(&agents).map_err(|error| format!("{}: {error}", agents.display()))?;
    write(&agents.join("1.secret"), SECRET)?;
    let given = scratch.join("event.json");
    write(
        &given,
        r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#,
    )?;
    let opened = File::open(&given).map_err(|error| format!("{}: {error}", given.display()))?;
    let mut once = Command::new(&built.orange);
    once.args(["agent", "event"]).env("ORANGE_HOME", &home.path).stdin(opened);
    once.envs([("ORANGE_TASK", task.as_str()), ("ORANGE_SPAWN", "1"), ("ORANGE_SECRET", SECRET)]);
    once.status().map_err(|error| format!("{}: {error}", built.orange.display()))?;
    // The command never fails, since it must not stop an agent.
    if !folder.join("activity.jsonl").exists() {
        return Err("`orange agent event` has noted nothing".to_string());
    }
    let secret = format!("ORANGE_SECRET={SECRET}");
    let settings = [&*home.setting(), &format!("ORANGE_TASK={task}"), "ORANGE_SPAWN=1", &secret];
    let (orange, given) = (text(&built.orange), format!("<{}", given.display()));
    let words = [orange.as_str(), "agent", "event", &given];
    runs.ask("agent event, of a tool", &settings, &words, "at most 3 ms", Some(|it, _| it.wall <= 3.0));
    Ok(())
}

fn list(runs: &mut MeasuredRuns, built: &BenchPrograms, scratch: &Path, tasks: usize) -> Result<()> {
    let home = BenchHome::with_tasks(&built.orange, scratch, &format!("list-{tasks}"), "default", tasks)?;
    let orange = text(&built.orange);
    let keeps: Option<Keeps> = Some(|it, _| it.wall <= 60.0);
    let what = format!("task list with {tasks} tasks");
    runs.ask(&what, &[&home.setting()], &[&orange, "task", "list", "--json"], "at most 60 ms", keeps);
    Ok(())
}

/// The tasks of a small home.
const FEW: usize = 50;

/// The commands whose time may hardly depend on the number of finished tasks.
const AMONG_FINISHED: [(&str, &[&str]); 6] = [
    ("task list", &["task", "list", "--json"]),
    ("task list --all", &["task", "list", "--all", "--json"]),
    ("task show ID", &["task", "show", "ID"]),
    ("task show BRANCH", &["task", "show", "task-20"]),
    ("task update BRANCH", &["task", "update", "task-5", "--summary", "One|Two"]),
    ("task create", &["task", "create", "new", "One more", "--project", "bench", "--no-spawn", "--dry-run"]),
];

/// The doctor fails where this machine lacks a coding agent.
const DOCTOR: &str = "\"$0\" doctor > /dev/null; true";

/// Measures [`AMONG_FINISHED`] and the doctor in a home with this number of tasks, of which ten are under way.
fn finished(runs: &mut MeasuredRuns, built: &BenchPrograms, scratch: &Path, tasks: usize) -> Result<()> {
    const UNDER_WAY: usize = 10;
    let name = format!("finished-{tasks}");
    let home = BenchHome::with_tasks(&built.orange, scratch, &name, "default", UNDER_WAY)?;
    let over = home.create("task-over")?;
    home.orange(&["task", "cancel", &over, "--yes"])?;
    (UNDER_WAY..tasks).try_for_each(|number| home.copy(&over, "task-over", number))?;
    // The first commands write the indexes.
    home.orange(&["task", "list", "--all"])?;
    let (settings, orange) = (home.setting(), text(&built.orange));
    let mut ask = |what: &str, words: &[&str]| {
        let (budget, keeps): (&str, Option<Keeps>) = match what {
            _ if tasks == FEW => ("", None),
            "task list --all" => ("at most 60 ms", Some(|it, _| it.wall <= 60.0)),
            _ => ("at most 3 times as with 50 tasks", Some(|it, few| it.wall <= 3.0 * few.wall)),
        };
        runs.ask(&format!("{what}, with {tasks} tasks"), &[&settings], words, budget, keeps);
    };
    for (what, words) in AMONG_FINISHED {
        let words = words.iter().map(|word| if *word == "ID" { &over } else { *word });
        ask(what, &std::iter::once(orange.as_str()).chain(words).collect::<Vec<_>>());
    }
    ask("doctor", &["sh", "-c", DOCTOR, &orange]);
    Ok(())
}

/// A round of the monitor, which it makes every 30 s.
fn look(runs: &mut MeasuredRuns, built: &BenchPrograms, scratch: &Path) -> Result<()> {
    let home = BenchHome::with_tasks(&built.orange, scratch, "look", "default", 500)?;
    let orange = text(&built.orange);
    let budget = "at most 300 ms of cpu, which is 1 % of a core every 30 s";
    let words = [orange.as_str(), "monitor", "--once"];
    runs.ask(
        "a look of the monitor at 500 tasks",
        &[&home.setting()],
        &words,
        budget,
        Some(|it, _| it.cpu <= 300.0),
    );
    Ok(())
}

/// An `ORANGE_HOME` with one project.
struct BenchHome<'b> {
    orange: &'b Path,
    path: PathBuf,
}

impl<'b> BenchHome<'b> {
    fn new(orange: &'b Path, scratch: &Path, name: &str, workflow: &str) -> Result<BenchHome<'b>> {
        let repository = scratch.join(format!("{name}-repository"));
        repository_at(&repository)?;
        let home = BenchHome { orange, path: scratch.join(name) };
        home.orange(&["project", "add", &text(&repository), "--name", "bench", "--workflow", workflow])?;
        Ok(home)
    }

    /// Adds waiting tasks: `orange` creates the first, and the others are copies, which takes seconds for thousands.
    fn with_tasks(
        orange: &'b Path,
        scratch: &Path,
        name: &str,
        workflow: &str,
        tasks: usize,
    ) -> Result<BenchHome<'b>> {
        let home = BenchHome::new(orange, scratch, name, workflow)?;
        if tasks > 0 {
            let first = home.create("task-0")?;
            (1..tasks).try_for_each(|number| home.copy(&first, "task-0", number))?;
        }
        Ok(home)
    }

    fn copy(&self, first: &str, branch: &str, number: usize) -> Result<()> {
        let folder = self.path.join("tasks/bench");
        let id = format!("{}{number:06}", &first[..first.len() - 6]);
        std::fs::create_dir(folder.join(&id)).map_err(|error| format!("{id}: {error}"))?;
        for name in ["TASK.md", "history.jsonl"] {
            let original = std::fs::read_to_string(folder.join(first).join(name))
                .map_err(|error| format!("{first}/{name}: {error}"))?;
            let own = original.replace(first, &id).replace(branch, &format!("task-{number}"));
            write(&folder.join(&id).join(name), &own)?;
        }
        Ok(())
    }

    /// The ids of its tasks.
    fn ids(&self) -> Result<Vec<String>> {
        let listed: serde_json::Value = serde_json::from_str(&self.orange(&["task", "list", "--json"])?)
            .map_err(|error| format!("`orange task list --json` did not answer in JSON: {error}"))?;
        let ids = listed.as_array().into_iter().flatten().filter_map(|task| task["id"].as_str());
        Ok(ids.map(str::to_owned).collect())
    }

    /// Creates a waiting task and returns its id.
    fn create(&self, branch: &str) -> Result<String> {
        let create = ["task", "create", branch, "One of many", "--project", "bench", "--no-spawn", "--json"];
        let created: serde_json::Value = serde_json::from_str(&self.orange(&create)?)
            .map_err(|error| format!("`orange task create --json` did not answer in JSON: {error}"))?;
        let id = created["id"].as_str().ok_or("`orange task create --json` gives no id")?;
        Ok(id.to_string())
    }

    fn orange(&self, arguments: &[&str]) -> Result<String> {
        let mut orange = Command::new(self.orange);
        orange.args(arguments).env("ORANGE_HOME", &self.path).env("ORANGE_TMUX_SOCKET", "orange-bench");
        answer(orange)
    }

    fn setting(&self) -> String {
        format!("ORANGE_HOME={}", self.path.display())
    }
}

/// A git repository with one commit, independent of the user's settings.
fn repository_at(path: &Path) -> Result<()> {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(path).args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
        git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        answer(git)
    };
    std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
    git(&["init", "--quiet", "--initial-branch", "main"])?;
    git(&["commit", "--quiet", "--allow-empty", "--message", "start"])?;
    Ok(())
}

impl MeasuredRuns {
    pub(super) fn new(rounds: usize, built: &BenchPrograms) -> MeasuredRuns {
        MeasuredRuns { rounds, bench: built.bench.clone(), asked: Vec::new() }
    }

    pub(super) fn ask(
        &mut self,
        what: &str,
        settings: &[&str],
        words: &[&str],
        budget: &'static str,
        keeps: Option<Keeps>,
    ) {
        let line = [&[what], settings, words].concat().join("\t");
        self.asked.push(MeasuredProgram { line, budget, keeps, against: 0 });
    }

    /// Compares the commands that were asked last, in a home with many finished tasks, with the same ones in the home before.
    fn compare_with_fewer(&mut self) {
        const COMMANDS: usize = AMONG_FINISHED.len() + 1;
        let many = self.asked.len().saturating_sub(COMMANDS);
        for (at, asked) in self.asked.iter_mut().enumerate().skip(many) {
            asked.against = at.saturating_sub(COMMANDS);
        }
    }

    /// Compares the program that was asked last with the one before it.
    fn against_the_one_before(&mut self) {
        let before = self.asked.len().saturating_sub(2);
        self.asked.iter_mut().last().into_iter().for_each(|asked| asked.against = before);
    }

    /// Runs all programs in turn, many times; the first is the baseline.
    pub(super) fn measure(&self) -> Result<Vec<FigureRow>> {
        let mut lines = String::new();
        for asked in &self.asked {
            writeln!(lines, "{}", asked.line).map_err(|error| error.to_string())?;
        }
        let answered = self.answer(&lines)?;
        let fields = fields(&answered);
        let milliseconds = |row: usize, field: usize| -> f64 {
            let micros = fields.get(row).and_then(|row| row.get(field)).and_then(|it| it.parse::<f64>().ok());
            micros.unwrap_or(f64::NAN) / 1_000.0
        };
        let took = |row: usize| MedianTimes { wall: milliseconds(row, 1), cpu: milliseconds(row, 2) };
        let row = |(at, asked): (usize, &MeasuredProgram)| {
            let MedianTimes { wall, cpu } = took(at);
            FigureRow {
                what: asked.line.split('\t').next().unwrap_or_default().to_string(),
                figures: vec![format!("{wall:.2}"), format!("{cpu:.2}")],
                budget: asked.budget.to_string(),
                kept: asked.keeps.map(|keeps| keeps(took(at), took(asked.against))),
            }
        };
        Ok(self.asked.iter().enumerate().map(row).collect())
    }

    fn answer(&self, lines: &str) -> Result<String> {
        let failed = |error: std::io::Error| format!("orange-bench: {error}");
        let mut command = Command::new(&self.bench);
        command.args(["processes", &self.rounds.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(lines.as_bytes()).map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        if !output.status.success() {
            return Err("orange-bench could not measure; it says why above".to_string());
        }
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    }
}

pub(super) fn text(path: &Path) -> String {
    path.display().to_string()
}

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to)
        .map(|_| ())
        .map_err(|error| format!("{} cannot be copied: {error}", from.display()))
}
