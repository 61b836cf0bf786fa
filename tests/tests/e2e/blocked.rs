//! The order in which waiting tasks start: by priority, and after the tasks that block them.

use std::fs;

use serde_json::{Value, json};

use crate::task::Task;
use crate::world::World;

fn row(world: &World, task: &Task<'_>) -> Value {
    let rows = world.ok(&["task", "list", "--all"]);
    rows.as_array().unwrap().iter().find(|row| row["id"] == task.id).unwrap().clone()
}

fn waits_for(world: &World, task: &Task<'_>) -> String {
    row(world, task)["waits_for"].as_str().unwrap_or_default().to_owned()
}

fn agents(task: &Task<'_>) -> usize {
    task.events_of("agent.spawned").len()
}

#[test]
fn a_blocked_task_starts_once_the_other_one_is_merged() {
    let world = World::new();
    let first = world.create("first", "Mend it [agents: work pass]", &[]);
    let words = ["task", "create", "second", "Mend that [agents: hang]", "--blocked-by", "first"];
    let made = world.ok(&words);
    assert!(made["waiting"].as_str().unwrap().contains("after first"), "{made}");
    let second = world.task(&made);
    assert_eq!(row(&world, &second)["blocked_by"], json!([first.id]));
    let refused = second.fails(1, "refused", "spawn", &[]);
    assert!(refused.contains("after first") && refused.contains("--force"), "{refused}");
    first.reaches("reviewing");
    world.ok(&["project", "update", "--queue", "auto"]);
    world.ok(&["monitor", "--once"]);
    assert_eq!((agents(&second), second.status()), (0, "pending".to_owned()));
    assert_eq!(waits_for(&world, &second), "after first, which is reviewing");
    assert_eq!(second.show()["waits_for"], "after first, which is reviewing");
    first.ok("merge", &["--local"]);
    world.until("it starts", || {
        world.ok(&["monitor", "--once"]);
        agents(&second) == 1
    });
    second.reaches("working");
}

#[test]
fn a_person_may_start_a_blocked_task() {
    let world = World::new();
    let first = world.create("first", "Mend it", &["--no-spawn"]);
    let second =
        world.create("second", "Mend that [agents: hang]", &["--no-spawn", "--blocked-by", &first.id]);
    second.fails(1, "refused", "spawn", &[]);
    second.ok("spawn", &["--force"]);
    second.reaches("working");
}

#[test]
fn what_is_cancelled_or_deleted_blocks_until_a_person_decides() {
    let world = World::new();
    world.ok(&["project", "update", "--queue", "auto"]);
    let first = world.create("first", "Mend it", &["--no-spawn", "--priority", "-5"]);
    let other = world.create("other", "Mend it", &["--no-spawn", "--priority", "-5"]);
    let blocked_by = format!("{},other", first.id);
    let second =
        world.create("second", "Mend that [agents: hang]", &["--no-spawn", "--blocked-by", &blocked_by]);
    first.ok("cancel", &["--yes"]);
    assert_eq!(waits_for(&world, &second), "after first, which is cancelled and was not merged");
    other.ok("cancel", &["--yes"]);
    world.ok(&["monitor", "--once"]);
    first.ok("delete", &["--yes"]);
    assert_eq!(waits_for(&world, &second), "after first, which is cancelled and was not merged");
    fs::remove_dir_all(world.home().join("trash")).unwrap();
    let gone = format!("after {}, which does not exist any more", first.id);
    assert_eq!(waits_for(&world, &second), gone);
    world.ok(&["monitor", "--once"]);
    assert_eq!(agents(&second), 0, "it stays");
    second.ok("edit", &["--unblock"]);
    assert_eq!(row(&world, &second)["blocked_by"], json!([]));
    world.until("it starts", || {
        world.ok(&["monitor", "--once"]);
        agents(&second) == 1
    });
}

#[test]
fn the_queue_starts_a_higher_priority_first_and_then_the_older() {
    let world = World::new();
    world.ok(&["project", "update", "--queue", "auto", "--pool-size", "1"]);
    let holder = world.create("holder", "Hold it [agents: hang]", &[]);
    holder.reaches("working");
    let create = |branch: &str, priority: &str| {
        world.create(branch, "Mend it [agents: hang]", &["--no-spawn", "--priority", priority])
    };
    let tasks = [create("low", "-1"), create("old", "3"), create("young", "3"), create("late", "0")];
    tasks[3].ok("edit", &["--priority", "7"]);
    assert_eq!(row(&world, &tasks[3])["priority"], 7);
    let mut before = holder;
    for next in [3, 1, 2, 0] {
        before.ok("cancel", &["--yes"]);
        world.until("the next one starts", || {
            world.ok(&["monitor", "--once"]);
            tasks.iter().any(|task| task.status() == "working")
        });
        let started: Vec<usize> = (0..4).filter(|at| tasks[*at].status() == "working").collect();
        assert_eq!(started, [next]);
        before = world.task(&json!({"id": tasks[next].id}));
        before.agent(1).begun();
        before.reaches("working");
    }
}

#[test]
fn circles_and_unknown_tasks_are_refused() {
    let world = World::new();
    let [a, b, c] = ["a1", "b1", "c1"].map(|branch| world.create(branch, "Mend it", &["--no-spawn"]));
    let unknown = world.fails(3, "not_found", &["task", "create", "d", "X", "--blocked-by", "nobody"]);
    assert!(unknown.contains("nobody"), "{unknown}");
    assert_eq!(world.ok(&["task", "list"]).as_array().unwrap().len(), 3, "nothing was created");
    let itself = a.fails(1, "refused", "edit", &["--blocked-by", "a1"]);
    assert!(itself.contains("wait for itself"), "{itself}");
    b.ok("edit", &["--blocked-by", "a1"]);
    c.ok("edit", &["--blocked-by", "b1"]);
    let texts = [&a, &b, &c].map(|task| fs::read(task.file()).unwrap());
    let circle = a.fails(1, "refused", "edit", &["--blocked-by", "c1", "--priority", "4"]);
    assert!(circle.contains(&format!("after {}, after {}, after {}", c.id, b.id, a.id)), "{circle}");
    a.fails(1, "refused", "edit", &["--blocked-by", "c1", "--dry-run"]);
    assert_eq!([&a, &b, &c].map(|task| fs::read(task.file()).unwrap()), texts);
    let started = ["task", "create", "d", "X", "--blocked-by", "a1", "--status", "agent-review"];
    world.commit_on("d", "d.txt");
    let made = world.ok(&started);
    assert!(made["waiting"].as_str().unwrap().contains("after a1"), "work that is there waits, too: {made}");
}
