//! Tasks that wait to be started: who starts them, how many at once, and what is said of them.

use std::fs::{self, File};

use serde_json::json;

use crate::processes;
use crate::said::ProgramOutput;
use crate::task::{Task, try_kill};
use crate::world::{PROJECT, World};

/// Two tasks that are worked on, and more that wait for their worktrees.
fn crowded(world: &World, waiting: usize) -> (Vec<Task<'_>>, Vec<Task<'_>>) {
    let create = |name: String, agents: &str| {
        let summary = format!("Mend it [agents: {agents}]");
        world.create(&name, &summary, &["--workflow", "minimal"])
    };
    let done: Vec<_> = (0..2).map(|n| create(format!("done-{n}"), "work")).collect();
    done.iter().for_each(|task| task.reaches("reviewing"));
    let waiting = (0..waiting).map(|n| create(format!("next-{n}"), "hang")).collect();
    (done, waiting)
}

fn started(tasks: &[Task<'_>]) -> Vec<bool> {
    tasks.iter().map(|task| task.status() == "working").collect()
}

/// The processes that start the next task after this one.
fn starters(task: &Task<'_>) -> Vec<i32> {
    processes::that(|folder| processes::runs(folder, &["task", "spawn-next", &task.id]))
}

#[test]
fn two_that_make_room_at_once_start_two() {
    let world = World::new();
    let (done, waiting) = crowded(&world, 3);
    assert_eq!(started(&waiting), [false; 3]);
    let merges = done.iter().map(|task| {
        let mut merge = world.command(world.program);
        merge.args(["--json", "task", "merge", &task.id, "--local", "--strategy", "merge"]);
        merge.current_dir(world.repo()).stdout(std::process::Stdio::piped()).spawn().unwrap()
    });
    for merge in merges.collect::<Vec<_>>() {
        ProgramOutput::from(merge.wait_with_output().unwrap()).ok();
    }
    waiting[..2].iter().for_each(|task| task.reaches("working"));
    for task in &waiting[..2] {
        task.agent(1).begun();
        assert_eq!(task.events_of("agent.spawned").len(), 1);
    }
    assert_eq!(waiting[2].status(), "pending", "there is no third worktree");
}

#[test]
fn a_prevented_start_is_made_by_the_next_process() {
    let world = World::new();
    let (done, waiting) = crowded(&world, 1);
    let folder = world.home().join("tasks").join(PROJECT).join(".owed");
    fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    done[0].ok("merge", &["--local"]);
    world.until("somebody wants to start the next one", || !starters(&done[0]).is_empty());
    world.until("it is killed", || {
        starters(&done[0]).into_iter().for_each(|pid| _ = try_kill(pid));
        starters(&done[0]).is_empty()
    });
    drop(lock);
    assert_eq!(waiting[0].status(), "pending");
    let doctor = world.orange(&["doctor"]).out;
    assert!(doctor.contains(&format!("task {} has made room", done[0].id)), "{doctor}");

    world.ok(&["monitor", "--once"]);
    waiting[0].reaches("working");
    world.ok(&["monitor", "--once"]);
    assert_eq!(waiting[0].events_of("agent.spawned").len(), 1);
    assert!(fs::read_dir(&folder).unwrap().flatten().all(|entry| entry.file_name() == ".lock"));
}

#[test]
fn a_start_that_a_dialog_forbids_is_stuck_until_it_is_allowed() {
    let world = World::new();
    let need = || world.ok(&["task", "list"])[0]["need"].clone();
    fs::write(world.path("home/.claude.json"), json!({"hasCompletedOnboarding": true}).to_string()).unwrap();
    world.ok(&["task", "create", "fix", "Mend it [agents: hang]", "--no-spawn"]);
    let stuck = need();
    let why = stuck["why"].as_str().unwrap();
    assert_eq!(stuck["kind"], "stuck", "{stuck}");
    assert!(why.contains("trust") && why.contains("`orange setup --harness claude --yes`"), "{stuck}");
    let actions = stuck["actions"].as_array().unwrap();
    let spawn = actions.iter().find(|action| action["name"] == "spawn").unwrap();
    assert!(spawn["refusal"].as_str().is_some_and(|why| why.contains("trust")), "{stuck}");
    let starts = actions.iter().filter(|action| action["name"] == "status");
    assert!(
        starts.clone().count() > 0 && starts.clone().all(|it| it["refusal"] == spawn["refusal"]),
        "{stuck}"
    );
    let doctor = world.json(&["doctor"]).json().to_string();
    assert!(doctor.contains("cannot start: claude would ask"), "{doctor}");
    world.ok(&["setup", "--harness", "claude", "--yes"]);
    assert_eq!(need()["kind"], "queued");
    world.ok(&["task", "spawn", "fix"]);
    assert_eq!(need()["kind"], "working");
}

#[test]
fn a_task_waits_until_it_is_somebodys_part_to_start_it() {
    let world = World::new();
    let (working, waiting) = crowded(&world, 2);
    let attention = || {
        let listed = world.ok(&["task", "list"]);
        let row = listed.as_array().unwrap().iter().find(|row| row["id"] == waiting[0].id.as_str());
        row.unwrap()["waits_for"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(attention(), "waits: all 2 worktrees of toy are held by work that waits for you");
    let doctor = world.ok(&["doctor"]).to_string();
    assert!(doctor.contains("all 2 worktrees of toy: held by work that waits for you"), "{doctor}");
    assert!(doctor.contains("--reclaim-when-waiting true"), "{doctor}");
    working[0].ok("cancel", &["--yes"]);
    world.ok(&["monitor", "--once"]);
    assert_eq!(started(&waiting), [false, false], "a cancellation starts nothing");
    let why = attention();
    assert!(why.contains("`orange task spawn`") && why.contains("project update toy --queue auto"), "{why}");
    let doctor = world.orange(&["doctor"]).out;
    assert!(doctor.contains(&format!("task {} waits for", waiting[0].id)), "{doctor}");

    let changed = world.ok(&["project", "update", PROJECT, "--queue", "auto"]);
    let listed = world.orange(&["project", "list"]);
    assert!(listed.out.contains(" --queue auto "), "{listed:?}");
    assert_eq!(changed["queue"], json!("auto"));
    assert!(changed["hints"][0].as_str().is_some_and(|hint| hint.contains("`orange monitor`")), "{changed}");
    assert_eq!(attention(), "waits for `orange monitor`, and none runs");
    let doctor = world.ok(&["doctor"]).to_string();
    assert!(doctor.contains("the queue of toy is automatic, and no monitor runs"), "{doctor}");
    world.ok(&["monitor", "--once"]);
    waiting[0].reaches("working");
    assert_eq!(attention(), "");
    working[1].ok("cancel", &["--yes"]);
    waiting[1].reaches("working");
}
