//! A clock that is set between two commands, by an hour or by years: no number is given twice, and nothing false is said of agents
//! or by `orange doctor`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::activity::{doing, event, reports, tool};
use crate::task::{Task, is_alive};
use crate::world::{World, text};

/// By how much the clock is set, in seconds: an hour, and years that each have the days of this one.
const JUMPS: [i64; 4] = [3600, -3600, 4 * 1461 * 86_400, -4 * 1461 * 86_400];

/// File of the reports of an agent's harness.
const ACTIVITY: &str = "activity.jsonl";

/// File of the events of a task.
pub(crate) const JOURNAL: &str = "history.jsonl";

/// Seconds that no test takes.
const LONG: u64 = 1800;

/// Sets the clock by so many seconds, as far as a task can tell by this file, to which nobody writes now, and by the times of all:
/// what was written before has times that differ by that.
pub(crate) fn set_clock(task: &Task<'_>, file: &str, seconds: i64) {
    let file = task.folder().join(file);
    if let Ok(text) = fs::read_to_string(&file) {
        fs::write(&file, moved(&text, -seconds)).unwrap();
    }
    for folder in ["", "agents"] {
        for entry in fs::read_dir(task.folder().join(folder)).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_file() {
                move_file(&path, -seconds);
            }
        }
    }
}

fn move_file(path: &Path, seconds: i64) {
    let (written, distance) =
        (fs::metadata(path).unwrap().modified().unwrap(), Duration::from_secs(seconds.unsigned_abs()));
    let time: SystemTime = if seconds < 0 { written - distance } else { written + distance };
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// The text with every time in it moved. A hash may begin as a time does.
fn moved(text: &str, seconds: i64) -> String {
    const SIGN: &str = "\"20";
    const LENGTH: usize = "2026-11-21T22:23:24.025Z".len();
    let mut moved = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(SIGN) {
        let (before, after) = rest.split_at(at + 1);
        moved.push_str(before);
        let is_time = |it: &&str| it.as_bytes()[4] == b'-' && it.ends_with('Z');
        rest = match after.get(..LENGTH).filter(is_time) {
            Some(time) => {
                moved.push_str(&date(&format!("{time} {seconds} seconds")));
                &after[LENGTH..]
            }
            None => after,
        };
    }
    moved + rest
}

fn date(of: &str) -> String {
    let output = Command::new("date").args(["-u", "-d", of, "+%Y-%m-%dT%H:%M:%S.%3NZ"]).output().unwrap();
    assert!(output.status.success(), "{of}: {output:?}");
    text(&output.stdout).trim().to_owned()
}

fn working(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

/// Findings of these checks of `orange doctor` that are not as they should be.
fn found(world: &World, checks: &[&str]) -> Vec<Value> {
    let answer = world.orange(&["doctor", "--json"]).json();
    let findings = answer["findings"].as_array().unwrap().clone();
    let is_bad = |finding: &Value| {
        checks.contains(&finding["check"].as_str().unwrap_or_default()) && finding["level"] != "ok"
    };
    findings.into_iter().filter(is_bad).collect()
}

#[test]
fn an_agent_is_not_said_to_do_anything_for_longer_than_it_lives() {
    let world = World::new();
    let task = working(&world);
    let is_doing = |expect: (&str, &str), jump: i64| {
        assert_eq!(doing(&task), (expect.0.to_owned(), expect.1.to_owned()), "{jump}");
        let seconds = task.show()["agents"][0]["seconds"].as_u64();
        assert!(seconds.is_none_or(|seconds| seconds < LONG), "{jump}: {seconds:?}");
        assert_eq!(
            found(&world, &["agents", "sessions", "transitions", "locks"]),
            [json!(null); 0],
            "{jump}"
        );
    };
    for jump in JUMPS {
        set_clock(&task, ACTIVITY, jump);
        is_doing(("busy", "it has just begun"), jump);
        set_clock(&task, ACTIVITY, -jump);
    }
    for jump in JUMPS {
        reports(&task, &event("UserPromptSubmit"));
        reports(&task, &tool("PreToolUse", "make"));
        is_doing(("busy", "Bash: make"), jump);
        set_clock(&task, ACTIVITY, jump);
        is_doing(("busy", "Bash: make"), jump);
        // The next events have the new clock's times.
        reports(&task, &tool("PostToolUse", "make"));
        is_doing(("busy", "it thinks"), jump);
        reports(&task, &event("Stop"));
        assert_eq!(doing(&task).0, "waiting", "{jump}");
    }
}

#[test]
fn the_doctor_says_only_that_a_journal_ends_in_the_future() {
    let world = World::new();
    let checks = ["clock", "locks", "journals", "tasks", "queue", "leftovers", "pool", "worktrees"];
    for (number, jump) in JUMPS.into_iter().enumerate() {
        let task = world.create(&format!("fix-{number}"), "Mend it", &["--no-spawn"]);
        set_clock(&task, JOURNAL, jump);
        let findings = found(&world, &checks);
        let names: Vec<_> = findings.iter().filter_map(|finding| finding["check"].as_str()).collect();
        let is_set_back = jump < 0;
        assert_eq!(names, ["clock"][..usize::from(is_set_back)], "{jump}: {findings:?}");
        // Its journal ends with the new clock's time now.
        task.ok("cancel", &["--yes"]);
        assert_eq!(found(&world, &checks), [json!(null); 0], "{jump}");
    }
}

#[test]
fn no_number_is_given_twice() {
    let world = World::new();
    let mut ids = BTreeSet::new();
    for (number, jump) in JUMPS.into_iter().enumerate() {
        let [before, after] = ["before", "after"].map(|name| {
            let task = world.create(&format!("{name}-{number}"), "Mend it", &["--no-spawn"]);
            set_clock(&task, JOURNAL, jump);
            task
        });
        for task in [before, after] {
            task.ok("cancel", &["--yes"]);
            let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            assert!(task.id.len() == 21 && task.id.bytes().all(is_letter), "{}", task.id);
            assert!(task.events().iter().zip(1..).all(|(event, seq)| event["seq"] == seq), "{jump}");
            assert!(ids.insert(task.id.clone()), "{}", task.id);
        }
    }
    let listed = world.ok(&["task", "list", "--all"]);
    let listed = listed.as_array().unwrap().iter().filter_map(|task| Some(task["id"].as_str()?.to_owned()));
    assert_eq!(listed.collect::<BTreeSet<_>>(), ids);
}

/// `default`, with a time for work.
fn timed(world: &World, on_timeout: &str) {
    changed(world, "  working:\n", &format!("  working:\n    timeout: 2h\n    on_timeout: {on_timeout}\n"));
}

/// `default`, with a deadline.
fn deadline(world: &World, deadline: &str) {
    changed(world, "\ntransitions:\n", &format!("\ndeadlines:\n  - {deadline}\ntransitions:\n"));
}

/// `default` under another name, with this change.
fn changed(world: &World, from: &str, to: &str) {
    let source =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../workflows/default.yml")).unwrap();
    let named = source.replacen("name: default", "name: timed", 1);
    let timed = named.replacen(from, to, 1);
    assert_ne!(timed, named);
    fs::create_dir_all(world.path("orange/workflows")).unwrap();
    fs::write(world.path("orange/workflows/timed.yml"), timed).unwrap();
}

#[test]
fn a_state_that_lasts_too_long_ends_its_agent_and_is_left() {
    let world = World::new();
    timed(&world, "stuck");
    let task = world.create("fix", "Mend it [agents: hang]", &["--workflow", "timed"]);
    let agent = task.agent(1).begun();
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.show()["status"], json!("working"), "its time is not over");
    set_clock(&task, JOURNAL, 7201);
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.show()["status"], json!("stuck"));
    assert!(!is_alive(agent), "its agent is ended");
    let reason = task.events_of("auto.advanced")[0]["reason"].clone();
    assert!(reason.as_str().unwrap().contains("after 2 h"), "{reason}");
}

#[test]
fn a_timeout_that_tells_a_person_leaves_the_agent_alone() {
    let world = World::new();
    timed(&world, "notify");
    let task = world.create("fix", "Mend it [agents: hang]", &["--workflow", "timed"]);
    let agent = task.agent(1).begun();
    set_clock(&task, JOURNAL, 7201);
    for _ in 0..2 {
        world.ok(&["monitor", "--once"]);
        assert_eq!(task.show()["attention"], json!("the task is still in working after 2 h"));
    }
    assert_eq!(task.show()["status"], json!("working"));
    assert!(is_alive(agent));
}

#[test]
fn a_deadline_counts_from_the_first_of_its_states() {
    let world = World::new();
    deadline(&world, "{states: [working, agent-review], after: 4h, then: cancelled}");
    let task = world.create("fix", "Mend it [agents: hang hang]", &["--workflow", "timed"]);
    task.agent(1).begun();
    set_clock(&task, JOURNAL, 3 * 3600);
    world.ok(&["monitor", "--once"]);
    task.write("## Handoff\n\nDONE: all\nREMAINING: nothing");
    task.ok("update", &["--status", "agent-review"]);
    let reviewer = task.agent(2).begun();
    set_clock(&task, JOURNAL, 3600 - LONG as i64);
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.show()["status"], json!("agent-review"), "its time is not over");
    set_clock(&task, JOURNAL, LONG as i64);
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.show()["status"], json!("cancelled"));
    assert!(!is_alive(reviewer), "its agent is ended");
    let events = task.events_of("auto.advanced");
    let reason = events.last().unwrap()["reason"].as_str().unwrap();
    assert!(reason.contains("at the deadline of 4 h"), "{reason}");
}

#[test]
fn a_deadline_moves_a_task_on_where_no_agent_works() {
    let world = World::new();
    deadline(&world, "{states: [pending, clarification], after: 4h, then: cancelled}");
    let task = world.create("fix", "Mend it", &["--workflow", "timed", "--no-spawn"]);
    set_clock(&task, JOURNAL, 4 * 3600 - LONG as i64);
    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!(looked["watched"], json!(1), "it waits for a time");
    assert_eq!(task.show()["status"], json!("pending"), "its time is not over");
    set_clock(&task, JOURNAL, LONG as i64);
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.show()["status"], json!("cancelled"));
}

#[test]
fn a_deadline_that_tells_a_person_may_wait_for_one() {
    let world = World::new();
    deadline(&world, "{states: [stuck, working], after: 4h}");
    let task = world.create("fix", "Mend it [agents: hang]", &["--workflow", "timed"]);
    task.agent(1).begun();
    task.ok("update", &["--status", "stuck"]);
    set_clock(&task, JOURNAL, 4 * 3600);
    world.ok(&["monitor", "--once"]);
    let attention = "the task is still in stuck at the deadline of 4 h";
    assert_eq!(
        (task.show()["status"].clone(), task.show()["attention"].clone()),
        (json!("stuck"), json!(attention))
    );
}

#[test]
fn a_step_that_takes_too_long_fails() {
    let world = World::new();
    let flow =
        "[workflow]\nname = \"slow\"\n\n[[steps]]\nid = \"build\"\nprompt = \"Build it\"\ntimeout = 3600\n";
    world.workflow("slow.toml", flow);
    world.acts("build", "exec sleep 1000000");
    let mission = world.start("slow", &[]);
    let agent = mission.agent(1).begun();
    world.ok(&["monitor", "--once"]);
    assert_eq!(mission.events_of("step.ended").len(), 0);

    set_clock(&mission, JOURNAL, 7200);
    world.ok(&["monitor", "--once"]);
    let what = mission.show()["pause"]["what"].clone();
    assert_eq!(what, "build failed: it took longer than the 3600 seconds that it may take");
    world.until("its agent is ended", || !is_alive(agent));
    mission.ok("cancel", &["--yes"]);
}
