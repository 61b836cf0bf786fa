//! Views of an agent's terminal in `orange task pane` and `orange mission pane`.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::answers;
use crate::attach::AttachedTerminal;
use crate::following::{begin, lines};
use crate::task::Task;
use crate::world::World;

/// A task whose agent runs this script, and the number of the process.
fn drawing<'w>(world: &'w World, script: &str) -> (Task<'w>, i32) {
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    let pid = task.agent(1).begun();
    task.agent(1).tell(script);
    (task, pid)
}

fn shows(shown: &Value, what: &str) -> bool {
    shown["lines"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains(what))
}

#[track_caller]
fn until_shown(world: &World, task: &Task<'_>, what: &str) -> Value {
    let mut shown = Value::Null;
    world.until(&format!("the pane shows {what:?}"), || {
        shown = task.ok("pane", &[]);
        shows(&shown, what)
    });
    shown
}

#[test]
fn a_pane_is_shown_with_its_colours_and_its_cursor() {
    let world = World::new();
    let script = "printf '\\033[2J\\033[1;1H\\033[1;31mred\\n日本 e\\314\\201\\033[0m\\tend\\nlast'; exec sleep 1000000";
    let (task, _) = drawing(&world, script);
    let shown = until_shown(&world, &task, "last");
    let rows = shown["rows"].as_u64().unwrap();
    assert_eq!(
        (&shown["id"], &shown["spawn"], &shown["window"]),
        (&json!(task.id), &json!(1), &json!("worker"))
    );
    assert_eq!(
        (&shown["columns"], rows, &shown["alive"]),
        (&json!(200), shown["lines"].as_array().unwrap().len() as u64, &json!(true))
    );
    assert_eq!(shown["cursor"], json!({"column": 4, "row": 2}));
    let line = |at: usize| shown["lines"][at].as_str().unwrap();
    assert_eq!(line(0), "\u{1b}[1m\u{1b}[31mred\u{1b}[0m");
    assert!(line(1).starts_with("\u{1b}[1;31m日本 e\u{301}\u{1b}[0m"), "{:?}", line(1));
    assert_eq!((line(2), line(3)), ("last", ""));

    let people = world.orange(&["task", "pane", &task.id]);
    assert_eq!(people.out, "red\n日本 e\u{301}  end\nlast\n", "{people:?}");
    let last = task.ok("pane", &["--lines", "1", "--spawn", "1"]);
    assert_eq!((&last["lines"], &last["cursor"]), (&json!(["last"]), &json!({"column": 4, "row": 0})));
}

#[test]
fn lines_that_have_left_the_screen_are_shown_when_asked_for() {
    let world = World::new();
    let (task, _) = drawing(&world, "seq 1 200; exec sleep 1000000");
    let shown = until_shown(&world, &task, "200");
    assert!(!shows(&shown, "111"), "{shown}");
    let longer = task.ok("pane", &["--lines", "100"]);
    assert_eq!(longer["lines"].as_array().unwrap().len(), 100);
    assert_eq!((&longer["lines"][0], &longer["lines"][99]), (&json!("101"), &json!("200")));
}

#[test]
fn nothing_of_a_pane_but_its_colours_reaches_a_terminal() {
    let world = World::new();
    let script = "printf '\\033]0;title\\007\\033]8;;http://example.org\\033\\\\link\\033]8;;\\033\\\\ \\033(0lqk\\033(B \\033[?1049hx\\033[?25lend'; exec sleep 1000000";
    let (task, _) = drawing(&world, script);
    let shown = until_shown(&world, &task, "end");
    let all = shown["lines"].to_string();
    assert!(!all.contains("http") && !all.contains("title") && !all.contains('\u{7}'), "{all}");
    assert_eq!(shown["cursor"], Value::Null);
    let raw = world.orange(&["task", "pane", &task.id]).out;
    assert!(!raw.contains('\u{1b}'), "{raw:?}");
}

#[test]
fn an_agent_without_a_pane_is_not_found() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &["--no-spawn"]);
    let none = task.fails(3, "not_found", "pane", &[]);
    assert!(none.contains("no agent of task") && none.contains("task show"), "{none}");
    task.ok("spawn", &[]);
    task.agent(1).begun();
    let other = task.fails(3, "not_found", "pane", &["--spawn", "2"]);
    assert!(other.contains("agent 2") && other.contains("task logs"), "{other}");
    task.ok("cancel", &["--yes"]);
    let ended = task.fails(3, "not_found", "pane", &["--follow"]);
    assert!(ended.contains("task logs"), "{ended}");
    for size in ["120", "120x", "0x40", "120x40x2", "99999x4", "-1x2", "a"] {
        let refused = task.fails(2, "usage", "pane", &[&format!("--size={size}")]);
        assert!(refused.contains("120x40"), "{refused}");
    }
    task.fails(2, "usage", "pane", &["--lines", "0"]);
}

#[test]
fn a_window_gets_the_size_that_is_asked_for_while_nobody_looks() {
    let world = World::new();
    let (task, _) = drawing(&world, "trap 'stty size' WINCH; echo begun; while :; do sleep 0.1; done");
    until_shown(&world, &task, "begun");
    let shown = task.ok("pane", &["--size", "70x20"]);
    assert_eq!((&shown["columns"], &shown["rows"]), (&json!(70), &json!(20)));
    until_shown(&world, &task, "20 70");

    // A terminal gets its own size, also after that, and keeps it.
    let terminal = AttachedTerminal::plain(&world, &format!("orange task attach {}", task.id));
    terminal.shows("C-b d: detach");
    let attached = until_shown(&world, &task, "29 120");
    assert_eq!((&attached["columns"], &attached["rows"]), (&json!(120), &json!(29)));
    let kept = task.ok("pane", &["--size", "50x10"]);
    assert_eq!((&kept["columns"], &kept["rows"]), (&json!(120), &json!(29)));
    terminal.press(&["C-b", "d"]);
    terminal.shows("LEFT 0");
    let free = task.ok("pane", &["--size", "50x10"]);
    assert_eq!((&free["columns"], &free["rows"]), (&json!(50), &json!(10)));
}

#[test]
fn a_pane_is_followed_until_its_agent_ends() {
    let world = World::new();
    let script =
        "echo begun; while read -r line; do echo \"heard <$line>\"; [ \"$line\" = stop ] && exit 3; done";
    let (task, _) = drawing(&world, script);
    // What is typed before is not for this script.
    until_shown(&world, &task, "begun");
    let mut following = begin(&world, &["task", "pane", &task.id, "--follow", "--json"]);
    let screens = lines(&mut following);
    let first: Value = serde_json::from_str(&screens.recv().unwrap()).unwrap();
    answers::check(&["task", "pane"], &first);
    let press = |line: &str| {
        world.tmux(&["send-keys", "-t", "=toy/fix:", line, "Enter"]);
    };
    for number in 0..10 {
        let said = format!("<it {number}>");
        press(&format!("it {number}"));
        let shown = screens.iter().find(|line| shows(&serde_json::from_str(line).unwrap(), &said));
        assert!(shown.is_some(), "the follower has ended before {said}");
    }
    press("stop");
    let last: Vec<String> = screens.iter().collect();
    assert!(last.len() < 20, "{last:?}");
    assert!(following.wait().unwrap().success());
}

#[test]
fn a_follower_that_nobody_reads_ends() {
    let world = World::new();
    let (task, _) = drawing(&world, "echo begun; exec sleep 1000000");
    until_shown(&world, &task, "begun");
    let mut following = begin(&world, &["task", "pane", &task.id, "--follow", "--json"]);
    let mut first = String::new();
    BufReader::new(following.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("begun"), "{first}");
    // Its output is closed now, and nothing changes in the pane.
    assert!(following.wait().unwrap().success());
    let spawned: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(spawned["spawn"], 1);
}

#[test]
fn the_pane_of_a_mission_is_shown_too() {
    let world = World::new();
    world.acts("plan", "printf 'planning'; exec sleep 1000000");
    let mission = world.start("dev-task", &[]);
    mission.agent(1).begun();
    let mut shown = Value::Null;
    world.until("it plans", || {
        shown = mission.ok("pane", &["--lines", "5"]);
        shows(&shown, "planning")
    });
    assert_eq!((&shown["id"], &shown["spawn"]), (&json!(mission.id), &json!(1)));
    let people = world.orange(&["mission", "pane", &mission.id]);
    assert!(people.out.ends_with("planning\n"), "{people:?}");
    mission.ok("cancel", &["--yes"]);
    let ended = mission.fails(3, "not_found", "pane", &[]);
    assert!(ended.contains("mission logs"), "{ended}");
}
