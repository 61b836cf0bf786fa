//! `orange dashboard` in a real terminal: keys are pressed, and the screen is read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::activity::{asks, event, reports};
use crate::attach::AttachedTerminal;
use crate::world::{World, target_program};

/// A terminal that shows the dashboard.
#[track_caller]
pub(crate) fn dashboard<'w>(world: &'w World, words: &str) -> AttachedTerminal<'w> {
    target_program("orange-dashboard");
    let terminal = AttachedTerminal::plain(world, &format!("export TERM=xterm-256color; orange {words}"));
    terminal.shows("NEEDS YOU");
    terminal
}

#[track_caller]
pub(crate) fn shows_no(world: &World, terminal: &AttachedTerminal<'_>, what: &str) {
    world.until(&format!("the terminal shows no {what:?}"), || !terminal.screen().contains(what));
}

/// Agrees to the question on the screen. A key that arrives while the question is drawn does not count, and is pressed again.
/// `Y` and not `y`: where the first one counted after all, the second one finds the list, and there `y` copies the id.
#[track_caller]
fn agrees(world: &World, terminal: &AttachedTerminal<'_>) {
    world.until("the question is answered", || {
        if terminal.screen().contains("(y/N)") {
            terminal.press(&["Y"]);
        }
        !terminal.screen().contains("(y/N)")
    });
}

/// Gives an order by this key. A key that arrives before its row counts as seen does nothing, and is pressed again.
#[track_caller]
pub(crate) fn orders(
    world: &World,
    terminal: &AttachedTerminal<'_>,
    key: &str,
    mut has_done: impl FnMut() -> bool,
) {
    terminal.press(&[key]);
    world.until(&format!("{key:?} has done its work"), || {
        if terminal.screen().contains("press it again") {
            has_seen(world, terminal);
            terminal.press(&[key]);
        }
        has_done()
    });
}

/// Returns when the frame that the screen shows counts as seen, so that a key is not too early: another frame has
/// followed it.
#[track_caller]
fn has_seen(world: &World, terminal: &AttachedTerminal<'_>) {
    terminal.press(&["/"]);
    terminal.shows("⏎ search");
    terminal.press(&["Escape"]);
    shows_no(world, terminal, "⏎ search");
}

/// Ends the thread that watches this, also when the test fails.
pub(crate) struct Stops<'s>(pub(crate) &'s AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The processes of this world with this in their command lines.
pub(crate) fn processes(world: &World, what: &str) -> Vec<String> {
    let mark = format!("ORANGE_HOME={}", world.home().display());
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let read = |folder: &Path, file: &str| {
        String::from_utf8_lossy(&fs::read(folder.join(file)).unwrap_or_default()).replace('\0', " ")
    };
    let is_ours =
        |folder: &PathBuf| read(folder, "environ").contains(&mark) && read(folder, "cmdline").contains(what);
    let name = |folder: PathBuf| Some(folder.file_name()?.to_string_lossy().into_owned());
    entries.filter(is_ours).filter_map(name).collect()
}

#[test]
fn orange_alone_is_the_dashboard_on_a_terminal() {
    let world = World::new();
    world.create("fix", "Mend it", &["--no-spawn"]);
    let terminal = dashboard(&world, "");
    terminal.shows("fix");
    terminal.press(&["q"]);
    terminal.shows("LEFT 0");
    let listed = world.orange(&[]).out;
    assert!(listed.contains("fix") && !listed.contains("NEEDS YOU 0"), "elsewhere it lists: {listed}");
    let refused = world.orange(&["dashboard"]);
    assert_eq!(refused.status, 5, "{refused:?}");
    assert!(refused.err.contains("needs a terminal"), "{refused:?}");
}

#[test]
fn a_permission_is_allowed_with_one_key() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let terminal = dashboard(&world, "dashboard");
    let (mut hook, _) = asks(&world, &task, "curl example.org");
    terminal.shows("permission");
    terminal.shows("a allow");
    orders(&world, &terminal, "a", || hook.try_wait().unwrap().is_some());
    let output = hook.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""behavior":"allow""#), "{output:?}");
    shows_no(&world, &terminal, "permission");
}

#[test]
fn keys_in_one_burst_allow_one_request() {
    let world = World::new();
    let tasks = ["one", "two"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    for task in &tasks {
        task.agent(1).begun();
    }
    let (first, _) = asks(&world, &tasks[0], "echo first");
    let (mut second, _) = asks(&world, &tasks[1], "for f in *\ndo\n  rm \"$f\"\ndone");
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("  echo first");
    has_seen(&world, &terminal);
    terminal.press(&["a", "a", "a"]);
    let output = first.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""behavior":"allow""#), "{output:?}");
    terminal.shows("    rm \"$f\"");
    assert!(second.try_wait().unwrap().is_none(), "nobody has answered what was not on the screen");
    orders(&world, &terminal, "d", || second.try_wait().unwrap().is_some());
    let output = second.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""behavior":"deny""#), "{output:?}");
}

#[test]
fn a_question_is_answered_with_a_text() {
    let world = World::new();
    let task = world.create("fix", "", &[]);
    task.reaches("clarification");
    world.until("it has asked", || fs::read_to_string(task.file()).unwrap().contains("## Questions"));
    for name in ["SessionStart", "UserPromptSubmit", "Stop"] {
        reports(&task, &event(name));
    }
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("s send");
    terminal.press(&["s"]);
    terminal.shows("send fix?");
    terminal.press(&["Mend the date", "C-s"]);
    task.reaches("working");
    assert_eq!(task.show()["summary"], "Mend the date");
}

#[test]
fn reviewed_work_is_merged_or_sent_back() {
    let world = World::new();
    let (one, other) = (work(&world, "one"), work(&world, "other"));
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("m merge");
    terminal.press(&["/", "one", "Enter"]);
    shows_no(&world, &terminal, "other");
    terminal.press(&["m"]);
    terminal.shows("merge one? Its work goes into the default branch");
    agrees(&world, &terminal);
    terminal.shows("u undoes");
    one.reaches("done");
    terminal.shows("✓ merge one");
    terminal.press(&["Escape"]);
    shows_no(&world, &terminal, "✓ merge one");
    terminal.press(&["Escape"]);
    terminal.shows("other");
    terminal.shows("r back to working");
    terminal.press(&["r"]);
    terminal.shows("what is to change");
    terminal.press(&["Use the library", "C-s"]);
    other.reaches("working");
    let text = fs::read_to_string(other.file()).unwrap();
    assert!(text.contains("## Feedback\n\nUse the library\n"), "{text}");
}

/// A task with a commit of its own that waits for a person.
fn work<'w>(world: &'w World, branch: &str) -> crate::task::Task<'w> {
    world.commit_on(branch, &format!("{branch}.txt"));
    world.create(branch, "Look at it", &["--status", "reviewing"])
}

#[test]
fn comments_never_approve_work_of_a_custom_workflow() {
    let world = World::new();
    let default = include_str!("../../../workflows/default.yml");
    let text = default
        .replacen("name: default", "name: judged", 1)
        .replacen("  working:\n", "  approved:\n    terminal: false\n  working:\n", 1)
        .replacen("- from: reviewing\n    to: done", "- from: approved\n    to: done", 1)
        .replacen("transitions:\n", &format!("transitions:{STEPS}"), 1);
    world.workflow("judged.yml", &text);
    world.commit_on("one", "one.txt");
    let task = world.create("one", "Look at it", &["--workflow", "judged", "--status", "reviewing"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("r back to working");
    terminal.shows("> to approved");
    terminal.press(&[">"]);
    terminal.shows("move one to approved? (y/N)");
    agrees(&world, &terminal);
    task.reaches("approved");
    terminal.shows("m merge");
    terminal.shows("r back to working");
    terminal.press(&["2"]);
    terminal.shows("one.txt");
    terminal.press(&["Right", "j", "j", "c", "bad code", "C-s"]);
    terminal.shows("▌ bad code");
    terminal.press(&["F"]);
    task.reaches("working");
    let text = fs::read_to_string(task.file()).unwrap();
    assert!(text.contains("bad code"), "{text}");
}

/// Transitions to a judgement of work that a person has reviewed, and back.
const STEPS: &str = "
  - from: reviewing
    to: approved
    by: human
    hooks: []
  - from: approved
    to: working
    by: human
    hooks:
      - action: acquire_workspace
      - action: spawn_agent
        prompt: worker_feedback
        harness: task
        permissions: full
  - from: approved
    to: cancelled
    hooks:
      - action: kill_session
      - action: release_workspace
";

#[test]
fn work_without_a_review_is_merged_by_force() {
    let world = World::new();
    world.commit_on("fix", "fix.txt");
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("m force merge");
    terminal.press(&["m"]);
    terminal.shows("force merge fix? The workflow has no merge from working. (y/N)");
    agrees(&world, &terminal);
    task.reaches("done");
}

#[test]
fn a_crashed_agent_is_started_again() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: crash crash hang]", &[]);
    task.agent(1).begun();
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("crashed");
    orders(&world, &terminal, "r", || task.status() == "stuck");
    terminal.shows("stuck");
    // While the transition is under way, nothing is offered.
    terminal.shows("r start again");
    terminal.press(&["t"]);
    terminal.shows("What happens to fix?");
    terminal.shows("to agent-review");
    terminal.press(&["Escape"]);
    shows_no(&world, &terminal, "What happens to");
    orders(&world, &terminal, "r", || task.agent(3).is_there());
}

#[test]
fn a_cancel_waits_for_its_grace_and_can_be_withdrawn() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("x cancel");
    terminal.press(&["x"]);
    terminal.shows("(y/N)");
    agrees(&world, &terminal);
    terminal.shows("u undoes");
    terminal.press(&["u"]);
    terminal.shows("withdrawn");
    assert_eq!(task.status(), "pending");
    terminal.press(&["x"]);
    terminal.shows("(y/N)");
    agrees(&world, &terminal);
    world.until("the dashboard has ended", || {
        let screen = terminal.screen();
        let has_left = screen.contains("LEFT 0");
        if !has_left {
            terminal.press(&["q"]);
        }
        has_left
    });
    assert_eq!(task.status(), "cancelled", "an end carries out what was agreed to");
}

#[test]
fn a_task_that_was_cancelled_long_ago_comes_back() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    world.ok(&["task", "cancel", &task.id, "--yes"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.press(&["f", "f"]);
    terminal.shows("u undo the cancel");
    // A second `u` finds nothing to undo, so a person may press it until the task is there.
    let mut pressed: Option<Instant> = None;
    world.until("the cancelled task comes back", || {
        if pressed.is_none_or(|it| it.elapsed() > Duration::from_secs(5)) {
            terminal.press(&["u"]);
            pressed = Some(Instant::now());
        }
        task.status() == "pending"
    });
}

#[test]
fn a_task_that_is_cancelled_elsewhere_goes_away() {
    let world = World::new();
    let task = world.create("gone", "Mend it", &["--no-spawn"]);
    world.create("stays", "Mend that", &["--no-spawn"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("gone");
    world.ok(&["task", "cancel", &task.id, "--yes"]);
    shows_no(&world, &terminal, "gone");
    assert!(terminal.screen().contains("stays"));
}

#[test]
fn a_broken_journal_has_a_row_beside_the_others() {
    let world = World::new();
    let broken = world.create("broken", "Mend it", &["--no-spawn"]);
    world.create("whole", "Mend that", &["--no-spawn"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("broken");
    fs::OpenOptions::new()
        .append(true)
        .open(broken.folder().join("history.jsonl"))
        .and_then(|mut file| file.write_all(b"nonsense\nnonsense\n"))
        .unwrap();
    let screen = terminal.shows(&format!("✗ {}", &broken.id[..8]));
    assert!(screen.contains("whole"), "{screen}");
}

#[test]
fn the_agent_is_attached_and_the_dashboard_comes_back() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    world.create("other", "Mend that [agents: hang]", &[]);
    task.agent(1).begun();
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("other");
    terminal.press(&["/", "fix", "Enter"]);
    shows_no(&world, &terminal, "other");
    terminal.press(&["Enter"]);
    terminal.shows("[toy/fix]");
    // A hand-off: the agent is another one, and the terminal shows it.
    world.ok(&["task", "restart", &task.id]);
    task.agent(2).begun();
    terminal.shows("[toy/fix]");
    terminal.press(&["C-b", "d"]);
    let screen = terminal.shows("NEEDS YOU");
    assert!(screen.contains("/fix") && !screen.contains("other"), "the search is kept: {screen}");
}

#[test]
fn every_tab_shows_something_of_the_task() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("fix");
    terminal.press(&["5"]);
    terminal.shows("agent.spawned");
    terminal.press(&["4"]);
    terminal.shows("agent-review");
    terminal.press(&["3"]);
    terminal.shows("harness");
}

#[test]
fn changes_show_as_soon_as_files_are_written() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let terminal = dashboard(&world, "dashboard");
    terminal.press(&["2"]);
    terminal.shows("Nothing has changed.");
    let worktree = world.home().join("workspaces").join(task.show()["workspace"].as_str().unwrap());
    fs::create_dir_all(worktree.join("deep/er")).unwrap();
    fs::write(worktree.join("deep/er/new.txt"), "first\n").unwrap();
    terminal.shows("+first");
    fs::write(worktree.join("deep/er/new.txt"), "second\n").unwrap();
    terminal.shows("+second");
    fs::remove_file(worktree.join("deep/er/new.txt")).unwrap();
    terminal.shows("Nothing has changed.");
}

#[test]
fn the_header_follows_the_settings_of_a_project() {
    let world = World::new();
    world.create("fix", "Mend it", &["--no-spawn"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("slots 0/2");
    world.ok(&["project", "update", "toy", "--pool-size", "5"]);
    terminal.shows("slots 0/5");
}

#[test]
fn an_order_that_fails_at_the_end_is_reported() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    target_program("orange-dashboard");
    let impatient = "export TERM=xterm-256color ORANGE_LOCK_TIMEOUT=0.05; orange dashboard";
    let terminal = AttachedTerminal::plain(&world, impatient);
    terminal.shows("x cancel");
    terminal.press(&["x"]);
    terminal.shows("(y/N)");
    // Another command is busy with the task for as long as this file is locked.
    let lock = fs::File::open(task.folder().join(".lock")).unwrap();
    lock.lock().unwrap();
    // Together, so that the order is still held when the dashboard ends. If `y` was too early, `q` says no.
    world.until("the dashboard has ended", || {
        let screen = terminal.screen();
        if screen.contains("(y/N)") {
            terminal.press(&["y", "q"]);
            shows_no(&world, &terminal, "(y/N)");
        } else if screen.contains("now and quit?") {
            terminal.press(&["q"]);
        } else if screen.contains("x cancel") {
            terminal.press(&["x"]);
        }
        screen.contains("LEFT 0")
    });
    let screen = terminal.screen();
    assert!(screen.contains("error: cannot cancel fix"), "{screen}");
}

#[test]
fn a_hundred_changes_a_second_leave_keys_alone() {
    let world = World::new();
    let tasks: Vec<_> = (0..10)
        .map(|number| world.create(&format!("t{number}"), &format!("Mend number {number}"), &["--no-spawn"]))
        .collect();
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("t9");
    let folders: Vec<_> = tasks.iter().map(crate::task::Task::folder).collect();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                fs::write(folders[number % folders.len()].join("noise"), number.to_string()).unwrap();
                thread::sleep(std::time::Duration::from_millis(10));
            }
        });
        let _stops = Stops(&stop);
        terminal.press(&["G", "?"]);
        terminal.shows("the next need");
        terminal.press(&["x", "/", "number 3", "Enter"]);
        shows_no(&world, &terminal, "t9");
        terminal.press(&["q"]);
        terminal.shows("LEFT 0");
    });
}

#[test]
fn a_killed_terminal_leaves_no_process() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("fix");
    world.until("the monitor runs", || !processes(&world, "monitor").is_empty());
    terminal.kill();
    world.until("no process is left", || {
        ["orange-dashboard", "monitor", "--follow"].iter().all(|what| processes(&world, what).is_empty())
    });
    assert_eq!(task.show()["session"], "active", "the agent goes on");
}

#[test]
fn a_killed_dashboard_takes_its_monitor_with_it() {
    let world = World::new();
    let terminal = dashboard(&world, "dashboard");
    let monitor = || processes(&world, "monitor");
    world.until("the monitor runs", || monitor().len() == 1);
    let first = monitor();
    kill(&world, "KILL", &first);
    terminal.shows("orange monitor has ended");
    world.until("another one runs", || monitor().len() == 1 && monitor() != first);
    // One that stands by ends as well.
    let other = dashboard(&world, "dashboard");
    world.until("another one stands by", || monitor().len() == 2);
    kill(&world, "KILL", &processes(&world, "orange-dashboard"));
    terminal.shows("LEFT 137");
    other.shows("LEFT 137");
    world.until("no monitor is left", || monitor().is_empty());
}

pub(crate) fn kill(world: &World, signal: &str, processes: &[String]) {
    for pid in processes {
        world.command("kill").args([&format!("-{signal}"), pid]).status().unwrap();
    }
}

#[test]
fn the_terminal_is_restored_after_a_signal() {
    let world = World::new();
    world.create("fix", "Mend it", &["--no-spawn"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("fix");
    terminal.resize(80, 24);
    terminal.shows("? keys");
    kill(&world, "TERM", &processes(&world, "orange-dashboard"));
    let screen = terminal.shows("LEFT 0");
    assert!(!screen.contains("NEEDS YOU"), "the former screen is back: {screen}");
}
