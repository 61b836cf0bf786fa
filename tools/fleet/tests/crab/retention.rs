//! The missions of attempts that ended long ago leave a crab's home.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::world::{TestCrab, World, until};

/// Has the crab complete this attempt, the `count`th one, and gives the id of its mission.
fn completes(world: &World, crab: &TestCrab<'_>, attempt: u32, count: usize) -> String {
    let before = missions(crab);
    crab.acts("plan", "complete PASS planned");
    world.gateway.assign(world.attempt("plan", attempt));
    world.gateway.heard("/v1/runs/complete", count);
    crab.is_idle();
    missions(crab).into_iter().find(|it| !before.contains(it)).unwrap()
}

/// Has the crab lose the lease of this attempt, with work that is nowhere else, and gives the id of its mission.
fn loses(world: &World, crab: &TestCrab<'_>, attempt: u32) -> String {
    crab.acts("plan", "echo half >half.txt; touch \"$notes.ready\"; exec sleep 100000");
    world.gateway.assign(world.attempt("plan", attempt));
    until("the agent has worked", || !crab.notes("ready").is_empty());
    world.gateway.script().lost.insert(format!("m.plan.{attempt}"));
    crab.is_idle();
    missions(crab).pop().unwrap()
}

/// The ids of the missions of its home.
fn missions(crab: &TestCrab<'_>) -> Vec<String> {
    let all = crab.orange(&["mission", "list", "--all", "--all-projects"]);
    all.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

/// The folders of the deleted missions.
fn trash(crab: &TestCrab<'_>) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let is_shown = |it: &PathBuf| !it.file_name().unwrap().to_string_lossy().starts_with('.');
    entries(crab.home().join("orange/trash")).filter(is_shown).flat_map(entries).collect()
}

/// Has the mission look as if it had ended a year ago.
fn make_old(crab: &TestCrab<'_>, mission: &str) {
    let shown = crab.orange(&["mission", "show", mission]);
    let file = shown["path"].as_str().unwrap();
    let text = fs::read_to_string(file).unwrap();
    let year_ago = |line: &str| match line.split_once("updated_at: ") {
        Some(("", _)) => "updated_at: 2020-01-01T00:00:00.000Z\n".to_owned(),
        Some(_) | None => format!("{line}\n"),
    };
    fs::write(file, text.lines().map(year_ago).collect::<String>()).unwrap();
}

#[test]
fn old_missions_go_and_work_that_is_nowhere_else_stays() {
    let world = World::new();
    let mut crab = world.crab("atlas", &[]);
    let lost = loses(&world, &crab, 1);
    let [old, young] = [(2, 1), (3, 2)].map(|(attempt, count)| completes(&world, &crab, attempt, count));
    crab.kill();
    make_old(&crab, &lost);
    make_old(&crab, &old);
    crab.start();
    until("the old missions are in the trash", || trash(&crab).len() == 2);
    assert_eq!(missions(&crab), [young.as_str()]);
    // The crab works on.
    let next = completes(&world, &crab, 4, 3);
    assert_eq!(trash(&crab).len(), 2);

    crab.kill();
    let then = SystemTime::now() - Duration::from_secs(40 * 86_400);
    for folder in trash(&crab) {
        File::open(folder.join("history.jsonl")).unwrap().set_modified(then).unwrap();
    }
    crab.start();
    until("the trash is emptied", || trash(&crab).len() == 1);
    assert!(trash(&crab)[0].ends_with(&lost));
    assert_eq!(crab.refs("refs/orange/backup"), [format!("refs/orange/backup/{lost}/1")]);
    let left = missions(&crab);
    assert!(left.len() == 2 && left.contains(&young) && left.contains(&next), "{left:?}");
}

#[test]
fn a_crab_that_keeps_everything_removes_nothing() {
    let world = World::new();
    let mut crab = world.crab("atlas", &[]);
    let old = completes(&world, &crab, 1, 1);
    crab.kill();
    make_old(&crab, &old);
    let crab = world.crab("atlas", &["--keep", "0"]);
    completes(&world, &crab, 2, 2);
    assert!(missions(&crab).contains(&old) && trash(&crab).is_empty());
}

#[test]
fn what_cannot_be_removed_is_said_and_the_crab_works_on() {
    let world = World::new();
    let mut crab = world.crab("atlas", &[]);
    let old = completes(&world, &crab, 1, 1);
    crab.kill();
    make_old(&crab, &old);
    fs::write(crab.home().join("orange/trash"), "in the way\n").unwrap();
    crab.start();
    let said = || fs::read_to_string(crab.home().join("crab.log")).unwrap();
    until("it says so", || said().contains("cannot remove old missions: "));
    completes(&world, &crab, 2, 2);
    assert_eq!(said().matches("cannot remove old missions: ").count(), 1);
    assert!(missions(&crab).contains(&old));
}
