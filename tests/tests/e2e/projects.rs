//! Settings of projects: those of people, and those of an `orange.toml` that a person has to trust.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::attach::AttachedTerminal;
use crate::world::World;

fn write(world: &World, text: &str) {
    fs::write(world.repo().join("orange.toml"), text).unwrap();
}

fn setting(world: &World, name: &str) -> (Value, Value) {
    let shown = world.ok(&["project", "show"]);
    let setting = &shown["settings"][name];
    (setting["value"].clone(), setting["source"].clone())
}

fn trust_of(world: &World) -> String {
    world.ok(&["project", "show"])["settings"]["file"]["trust"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_s_setting_wins_over_a_trusted_file() {
    let world = World::new();
    assert_eq!(setting(&world, "copy"), (json!([]), json!("default")));
    write(&world, "copy = ['.env']\n[harness]\ntask = 'codex'\nreview = 'gemini'\n");
    world.ok(&["project", "trust", "--yes"]);
    assert_eq!(setting(&world, "copy"), (json!([".env"]), json!("file")));
    assert_eq!(setting(&world, "harness"), (json!("codex"), json!("file")));
    world.ok(&["project", "update", "--copy", "a", "--copy", "b", "--harness", "claude"]);
    assert_eq!(setting(&world, "copy"), (json!(["a", "b"]), json!("project")));
    assert_eq!(setting(&world, "harness"), (json!("claude"), json!("project")));
    assert_eq!(setting(&world, "review_harness"), (json!("gemini"), json!("file")));
    world.ok(&["project", "update", "--copy", "", "--unset", "harness"]);
    assert_eq!(setting(&world, "copy"), (json!([]), json!("project")));
    assert_eq!(setting(&world, "harness"), (json!("codex"), json!("file")));
    world.ok(&["project", "update", "--unset", "copy"]);
    assert_eq!(setting(&world, "copy"), (json!([".env"]), json!("file")));
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let text = fs::read_to_string(task.folder().join("TASK.md")).unwrap();
    assert!(text.contains("harness: codex") && text.contains("review_harness: gemini"), "{text}");
    let listed = world.ok(&["harness", "list"]);
    let default: Vec<_> = listed.as_array().unwrap().iter().filter(|it| it["default"] == true).collect();
    assert_eq!(default.iter().map(|it| it["name"].clone()).collect::<Vec<_>>(), ["codex"]);
    let claude = listed.as_array().unwrap().iter().find(|it| it["name"] == "claude").unwrap();
    assert_eq!(claude["path"], world.path("agents/claude").to_str().unwrap());
}

#[test]
fn a_file_is_used_only_as_a_person_has_seen_it() {
    let world = World::new();
    assert_eq!(trust_of(&world), "absent");
    world.fails(3, "not_found", &["project", "trust", "--yes"]);
    let (first, second) = ("copy = ['.env']\n", "copy = ['.env', '.secret']\n");
    write(&world, first);
    assert_eq!((trust_of(&world).as_str(), setting(&world, "copy").0), ("untrusted", json!([])));
    let unasked = world.fails(2, "usage", &["project", "trust"]);
    assert!(unasked.contains(first.trim()), "{unasked}");
    assert_eq!(trust_of(&world), "untrusted");

    let trusted = world.ok(&["project", "trust", "--yes"]);
    assert_eq!((&trusted["changed"], trust_of(&world).as_str()), (&json!(true), "trusted"));
    assert_eq!(world.ok(&["project", "trust"])["changed"], false);

    // Neither the new content counts nor the old one, and the person sees what differs.
    write(&world, second);
    assert_eq!((trust_of(&world).as_str(), setting(&world, "copy").0), ("changed", json!([])));
    let unasked = world.fails(2, "usage", &["project", "trust"]);
    assert!(unasked.contains(&format!("- {first}+ {second}")), "{unasked}");
    let hash = trusted["sha256"].as_str().unwrap();
    let other = world.fails(1, "refused", &["project", "trust", "--yes", "--hash", &hash[..8]]);
    assert!(other.contains("does not begin with"), "{other}");
    assert_eq!(trust_of(&world), "changed");
    let created = world.ok(&["task", "create", "--no-spawn", "fix", "Mend it"]);
    assert!(created["hints"][0].as_str().unwrap().contains("has changed since"), "{created}");
    let doctor = world.orange(&["doctor"]).out;
    assert!(doctor.contains("orange project trust toy"), "{doctor}");

    write(&world, first);
    assert_eq!(trust_of(&world), "trusted");
    assert_eq!(world.ok(&["project", "trust", "--yes", "--hash", &hash[..8]])["changed"], false);
    fs::remove_file(world.repo().join("orange.toml")).unwrap();
    assert_eq!((trust_of(&world).as_str(), setting(&world, "copy").0), ("gone", json!([])));
    world.ok(&["project", "trust", "--yes"]);
    assert_eq!(trust_of(&world), "absent");
}

#[test]
fn only_a_file_in_the_repository_is_read() {
    let world = World::new();
    let (file, outside) = (world.repo().join("orange.toml"), world.path("outside.toml"));
    fs::write(&outside, "copy = ['.env']\n").unwrap();
    symlink(&outside, &file).unwrap();
    assert_eq!(trust_of(&world), "unfit");
    world.fails(6, "corrupt", &["project", "trust", "--yes"]);
    fs::remove_file(&file).unwrap();
    world.said(world.command("mkfifo").arg(&file));
    assert_eq!(trust_of(&world), "unfit");
    fs::remove_file(&file).unwrap();
    fs::write(&file, "#".repeat(65 * 1024)).unwrap();
    assert_eq!(trust_of(&world), "unfit");
    write(&world, "copy = ['../secret']\n");
    let error = world.fails(6, "corrupt", &["project", "trust", "--yes"]);
    assert!(error.contains("orange.toml:1: ") && error.contains("not inside the repository"), "{error}");
    write(&world, "\ncpoy = []\n");
    let error = world.fails(6, "corrupt", &["project", "trust", "--yes"]);
    assert!(error.contains("orange.toml:2: ") && error.contains("did you mean `copy`?"), "{error}");
    write(&world, "[harness]\ntask = 'cluade'\n");
    world.fails(3, "not_found", &["project", "trust", "--yes"]);
    assert_eq!(trust_of(&world), "untrusted");
}

#[test]
fn an_agent_trusts_and_changes_nothing() {
    let world = World::new();
    write(&world, "copy = ['.env']\n");
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1);
    agent.begun();
    fs::write(task.worktree().join("orange.toml"), "copy = ['.ssh']\n").unwrap();
    assert_eq!((trust_of(&world).as_str(), setting(&world, "copy").0), ("untrusted", json!([])));
    for words in [
        &["project", "trust", "toy", "--yes"][..],
        &["project", "update", "toy", "--copy", ".ssh"],
        &["project", "update", "toy", "--reclaim-when-waiting", "true"],
    ] {
        world.said(task.as_agent("worker", "1").args(words)).fails(1, "not_allowed");
    }
    assert!(!world.home().join("trusted.json").exists());
}

#[test]
fn a_person_at_a_terminal_is_asked_who_starts_waiting_tasks() {
    let world = World::empty();
    let queue = || world.ok(&["project", "list"])[0]["queue"].clone();
    for (answer, expect) in [("n", "manual"), ("y", "auto")] {
        let script = format!("cd '{}'; orange project add --name toy", world.repo().display());
        let terminal = AttachedTerminal::plain(&world, &script);
        terminal.shows("as soon as a worktree is free? [y/N]");
        terminal.press(&[answer, "Enter"]);
        terminal.shows("LEFT 0");
        assert_eq!(queue(), expect);
        world.ok(&["project", "remove", "toy"]);
    }
    let script = format!("cd '{}'; orange project add --name toy --queue auto", world.repo().display());
    AttachedTerminal::plain(&world, &script).shows("LEFT 0");
    assert_eq!(queue(), "auto", "nobody is asked");
    world.ok(&["project", "remove", "toy"]);
    // Standard input is not a terminal here.
    assert_eq!(world.ok(&["project", "add", "--name", "toy"])["queue"], "manual");
}

#[test]
fn no_two_projects_have_the_same_ports() {
    let world = World::new();
    world.git(&world.path(""), &["clone", "--quiet", "toy.git", "tea"]);
    let tea = world.path("tea");
    world.ok(&["project", "add", tea.to_str().unwrap(), "--name", "tea", "--pool-size", "2"]);
    world.ok(&["project", "update", "toy", "--ports", "4000:10"]);
    for taken in ["4000", "4019:1", "3990:10", "3000:1000"] {
        let (code, kind) = if taken == "3000:1000" { (2, "usage") } else { (1, "refused") };
        world.fails(code, kind, &["project", "update", "tea", "--ports", taken]);
    }
    world.fails(1, "refused", &["project", "update", "tea", "--ports", "65530:10"]);
    fs::write(tea.join("orange.toml"), "[ports]\nbase = 4010\n").unwrap();
    let error = world.fails(1, "refused", &["project", "trust", "tea", "--yes"]);
    assert!(error.contains("toy has 4000 to 4019"), "{error}");
    fs::write(tea.join("orange.toml"), "[ports]\nbase = 4020\n").unwrap();
    world.ok(&["project", "trust", "tea", "--yes"]);
    // A larger pool would reach into the other's ports, even while the other's file has changed.
    fs::write(tea.join("orange.toml"), "[ports]\nbase = 5000\n").unwrap();
    world.fails(1, "refused", &["project", "update", "toy", "--pool-size", "3"]);
    world.ok(&["project", "update", "tea", "--ports", "5000"]);
    world.ok(&["project", "update", "toy", "--pool-size", "3"]);
    let shown = world.ok(&["project", "show", "toy"]);
    let third = json!({"workspace": "toy--3", "first": 4020, "last": 4029});
    assert_eq!(shown["settings"]["ports"]["value"][2], third);
}
