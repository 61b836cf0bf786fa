//! Statements about agents are true while they begin and end, and where nothing shows whether they are alive.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::said::ProgramOutput;
use crate::task::{Task, is_alive};
use crate::world::{World, binary};

/// Ends of agents, beside those that ask on: their wrappers report them.
const LIVES: [&str; 4] = [
    "",
    "[agents: work-die fail-die work-die pass-die]",
    "[agents: work-die pass-die]",
    "[agents: work pass-die]",
];

/// The rows of tasks and missions that are said to have crashed.
fn crashed(world: &World) -> Vec<Value> {
    let rows = ["task", "mission"].map(|kind| world.ok(&[kind, "list", "--all"]));
    let rows = rows.iter().flat_map(|rows| rows.as_array().unwrap().clone());
    rows.filter(|row| {
        row["session"] == "crashed" || row["need"]["kind"] == "crashed" || row["unnoticed"].is_string()
    })
    .collect()
}

#[test]
fn no_look_at_ordinary_lives_finds_a_crash() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "6"]);
    let tasks: Vec<Task<'_>> = (0..)
        .zip(LIVES)
        .map(|(place, agents)| world.create(&format!("fix-{place}"), &format!("Mend it {agents}"), &[]))
        .collect();
    let is_over = AtomicBool::new(false);
    let look = || {
        let mut looks = 0;
        while !is_over.load(Ordering::Relaxed) {
            let found = crashed(&world);
            assert_eq!(found, Vec::<Value>::new(), "look {looks}");
            looks += 1;
        }
        looks
    };
    let looks: u32 = thread::scope(|scope| {
        let lookers = [scope.spawn(look), scope.spawn(look)];
        let ended = thread::scope(|inner| {
            inner.spawn(|| tasks.iter().for_each(|task| task.reaches("reviewing"))).join()
        });
        is_over.store(true, Ordering::Relaxed);
        ended.unwrap();
        lookers.into_iter().map(|looker| looker.join().unwrap()).sum()
    });
    assert!(looks > 0);
    for task in &tasks {
        assert_eq!(task.events_of("agent.crashed"), Vec::<Value>::new());
    }
}

/// `orange` where `/proc` shows no process, only the program; `None`, with a word, where that cannot be made.
fn without_table(world: &World, args: &[&str]) -> Option<ProgramOutput> {
    let hide =
        "mount -t tmpfs none /proc && mkdir /proc/self && ln -s \"$0\" /proc/self/exe && exec \"$0\" \"$@\"";
    let may = Command::new("unshare").args(["--mount", "sh", "-c", hide, "true"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: `unshare --mount` needs root to hide /proc");
        return None;
    }
    let mut command = world.command("unshare");
    command.args(["--mount", "sh", "-c", hide]).arg(binary()).arg("--json").args(args);
    Some(world.said(command.current_dir(world.repo())))
}

#[test]
fn an_unreadable_process_table_ends_no_agent() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    let agent = task.agent(1).begun();
    let before = task.events();
    let refused: [&[&str]; 5] = [
        &["monitor", "--once"],
        &["task", "stop", "fix"],
        &["task", "restart", "fix"],
        &["task", "cancel", "fix", "--yes"],
        &["task", "create", "other", "Mend it, too"],
    ];
    for args in refused {
        let Some(said) = without_table(&world, args) else { return };
        let text = said.fails(5, "environment");
        assert!(text.contains("process table") && text.contains("mount"), "{args:?}: {text}");
    }
    let Some(list) = without_table(&world, &["task", "list"]) else { return };
    let rows = list.ok();
    let row = rows.as_array().unwrap().iter().find(|row| row["id"] == json!(task.id)).unwrap();
    assert_eq!((&row["session"], &row["need"]["kind"]), (&json!("unknown"), &json!("working")), "{row}");
    assert!(is_alive(agent));
    assert_eq!(task.events(), before);
    let seen = task.show();
    assert_eq!((&seen["session"], &seen["counters"]["crash_count"]), (&json!("active"), &json!(0)));
}
