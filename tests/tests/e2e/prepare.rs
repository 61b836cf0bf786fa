//! New worktrees: files that they get, programs that prepare them, ports; and what is left of that afterwards.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::task::{Task, kill};
use crate::world::{World, write_program};

const SECRET: &str = "TOKEN=very-secret\n";

/// A project whose repository has an `.env` and a folder of packages beside what is in git.
fn world() -> World {
    let world = World::new();
    give_files(&world);
    world
}

fn give_files(world: &World) {
    let repo = world.repo();
    fs::write(repo.join(".env"), SECRET).unwrap();
    fs::set_permissions(repo.join(".env"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(repo.join("packages/deep")).unwrap();
    fs::write(repo.join("packages/deep/one"), "a package\n").unwrap();
}

fn set(world: &World, options: &[&str]) {
    world.ok(&[&["project", "update"], options].concat());
}

/// A program on `PATH`, as a value of `--setup`.
fn setup(world: &World, name: &str, script: &str) -> String {
    write_program(&world.path("agents").join(name), &format!("#!/bin/sh\n{script}\n"));
    json!([name, "{port}"]).to_string()
}

fn attention(task: &Task<'_>) -> String {
    task.show()["attention"].as_str().unwrap_or_default().to_owned()
}

fn holds(world: &World) -> Vec<Value> {
    let listed = world.ok(&["workspace", "list"]);
    listed.as_array().unwrap().iter().filter(|it| !it["task"].is_null()).cloned().collect()
}

fn status(world: &World, folder: &Path) -> String {
    world.git(folder, &["status", "--porcelain", "--untracked-files=all"])
}

#[test]
fn a_worktree_gets_its_files_and_leaves_none() {
    let world = world();
    let made = setup(
        &world,
        "prepare",
        "echo \"$1 $ORANGE_SLOT $ORANGE_PORT $ORANGE_PORTS\" >>\"$ORANGE_HOME/made\"",
    );
    set(&world, &["--copy", ".env", "--link", "packages", "--setup", &made, "--ports", "4000:3"]);
    let first = world.create("one", "Mend it [agents: scripted hang]", &[]);
    let agent = first.agent(1);
    agent.begun();
    let second = world.create("two", "Mend that [agents: hang]", &[]);
    second.agent(1).begun();
    let ports = |home: &Path| fs::read_to_string(home.join("made")).unwrap();
    assert_eq!(ports(&world.home()), "4000 1 4000 4000 4001 4002\n4003 2 4003 4003 4004 4005\n");
    agent.tell("echo \"$ORANGE_SLOT $ORANGE_PORT $ORANGE_PORTS\" >\"$ORANGE_HOME/env.new\"; mv \"$ORANGE_HOME/env.new\" \"$ORANGE_HOME/env\"; exec sleep 1000000");
    world.until("the agent says its ports", || world.home().join("env").exists());
    assert_eq!(fs::read_to_string(world.home().join("env")).unwrap(), "1 4000 4000 4001 4002\n");

    let worktree = first.worktree();
    assert_eq!(fs::read_to_string(worktree.join(".env")).unwrap(), SECRET);
    assert_eq!(fs::metadata(worktree.join(".env")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_link(worktree.join("packages")).unwrap(), world.repo().join("packages"));
    assert_eq!(status(&world, &worktree), "");
    world.git(&worktree, &["add", "--all"]);
    assert_eq!(status(&world, &worktree), "");

    fs::write(worktree.join(".env"), "TOKEN=changed-by-the-agent\n").unwrap();
    fs::write(worktree.join("idea"), "half\n").unwrap();
    first.ok("cancel", &["--yes"]);
    for left in [".env", "packages", "idea"] {
        assert!(worktree.join(left).symlink_metadata().is_err(), "{left}");
    }
    assert_eq!(fs::read_to_string(world.repo().join("packages/deep/one")).unwrap(), "a package\n");
    assert_eq!(fs::read_to_string(world.repo().join(".env")).unwrap(), SECRET);
    let kept = world.kept_texts();
    assert!(kept.contains("half") && !kept.iter().any(|line| line.contains("TOKEN")), "{kept:?}");

    // The next task of the worktree gets only what the project says now.
    set(&world, &["--unset", "copy", "--unset", "link", "--unset", "setup", "--unset", "ports"]);
    let next = world.create("three", "Go on [agents: hang]", &[]);
    next.agent(1).begun();
    assert_eq!(next.worktree(), worktree);
    assert!(!worktree.join(".env").exists() && !worktree.join("packages").exists());
}

#[test]
fn a_file_of_the_branch_is_never_overwritten() {
    let world = world();
    let repo = world.repo();
    world.git(&repo, &["switch", "--quiet", "--create", "one"]);
    world.git(&repo, &["rm", "--quiet", "--cached", "--ignore-unmatch", ".env"]);
    fs::write(repo.join(".env"), "COMMITTED\n").unwrap();
    fs::create_dir(repo.join("conf")).unwrap();
    fs::write(repo.join("conf/kept"), "committed\n").unwrap();
    world.git(&repo, &["add", "--force", ".env", "conf"]);
    world.git(&repo, &["commit", "--quiet", "--message", "Both"]);
    world.git(&repo, &["switch", "--quiet", "main"]);
    fs::write(repo.join(".env"), SECRET).unwrap();
    fs::create_dir_all(repo.join("conf")).unwrap();
    fs::write(repo.join("conf/local"), "mine\n").unwrap();
    set(&world, &["--copy", ".env", "--copy", "conf", "--copy", "missing"]);
    let task = world.create("one", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let worktree = task.worktree();
    assert_eq!(fs::read_to_string(worktree.join(".env")).unwrap(), "COMMITTED\n");
    assert!(!worktree.join("conf/local").exists());
    let left_out = task.events_of("worktree.prepared")[0]["left_out"].to_string();
    for part in [".env is in git", "conf is in git", "missing is not in "] {
        assert!(left_out.contains(part), "{left_out}");
    }
    task.ok("cancel", &["--yes"]);
    assert_eq!(world.git(&repo, &["show", "one:.env"]), "COMMITTED");
}

#[test]
fn nothing_is_copied_from_outside_of_the_repository() {
    let world = world();
    let (repo, outside) = (world.repo(), world.path("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("key"), "PRIVATE KEY\n").unwrap();
    symlink(outside.join("key"), repo.join("linked")).unwrap();
    symlink(&outside, repo.join("door")).unwrap();
    world.said(world.command("mkfifo").arg(repo.join("pipe")));
    fs::create_dir(repo.join("mixed")).unwrap();
    symlink(outside.join("key"), repo.join("mixed/key")).unwrap();
    for (place, part) in [
        ("linked", "neither a file nor a folder"),
        ("door/key", "link"),
        ("pipe", "neither a file nor a folder"),
        ("mixed", "neither a file nor a folder"),
    ] {
        set(&world, &["--copy", place]);
        let created = world.orange(&["--json", "task", "create", place, "Mend it [agents: hang]"]);
        let task = world.task(&created.ok());
        assert!(attention(&task).contains(part), "{place}: {}", attention(&task));
        assert_eq!(holds(&world), Vec::<Value>::new(), "{place}");
        assert!(task.events_of("agent.spawned").is_empty(), "{place}");
        task.ok("cancel", &["--yes"]);
    }
    let found = |name: &str| world.home().join("workspaces/toy--1").join(name).symlink_metadata().is_ok();
    assert!(!["linked", "door", "pipe", "mixed"].iter().any(|name| found(name)));
    // A link that is made of a folder leads to that folder, and the link goes alone.
    set(&world, &["--copy", "", "--link", "door"]);
    let task = world.task(&world.ok(&["task", "create", "last", "Mend it [agents: hang]"]));
    assert!(attention(&task).contains("neither a file nor a folder"), "{}", attention(&task));
}

#[test]
fn a_gitignore_that_takes_a_secret_for_work_is_refused() {
    let world = world();
    let repo = world.repo();
    fs::write(repo.join(".gitignore"), "!.env\n").unwrap();
    world.git(&repo, &["add", ".gitignore"]);
    world.git(&repo, &["commit", "--quiet", "--message", "Ignore nothing"]);
    world.git(&repo, &["push", "--quiet"]);
    set(&world, &["--copy", ".env"]);
    let task = world.task(&world.ok(&["task", "create", "one", "Mend it [agents: hang]"]));
    assert!(attention(&task).contains("git would take .env for work"), "{}", attention(&task));
    assert!(!world.home().join("workspaces/toy--1/.env").exists());
}

#[test]
fn no_agent_begins_in_a_worktree_that_is_not_prepared() {
    let world = world();
    let failing = setup(&world, "prepare", "echo out of coffee; exit 3");
    set(&world, &["--copy", ".env", "--setup", &failing, "--ports", "4000"]);
    let task = world.task(&world.ok(&["task", "create", "one", "Mend it [agents: hang]"]));
    assert!(attention(&task).contains("out of coffee"), "{}", attention(&task));
    assert!(task.events_of("agent.spawned").is_empty() && world.panes().is_empty());
    assert_eq!(task.events_of("setup.ended")[0]["code"], 3);
    assert_eq!(holds(&world), Vec::<Value>::new());
    assert!(!world.home().join("workspaces/toy--1/.env").exists());
    setup(&world, "prepare", "test \"$1\" = 4000 && exec sleep 1000000");
    set(&world, &["--setup", r#"{"argv": ["prepare", "{port}"], "timeout": 1}"#]);
    let late = task.fails(5, "environment", "spawn", &[]);
    assert!(late.contains("did not end within 1 s"), "{late}");
    assert!(task.events_of("agent.spawned").is_empty());
    setup(&world, "prepare", "exit 0");
    task.ok("spawn", &[]);
    task.agent(1).begun();
    assert_eq!(fs::read_to_string(task.worktree().join(".env")).unwrap(), SECRET);
}

#[test]
fn a_preparation_goes_on_after_a_kill() {
    let world = world();
    let log = "echo \"$0\" | sed 's,.*/,,' >>\"$ORANGE_HOME/made\"";
    let first = setup(&world, "first", log);
    let second = setup(
        &world,
        "second",
        &format!("{log}\nmkdir \"$ORANGE_HOME/held\" 2>/dev/null && exec sleep 1000000\nexit 0"),
    );
    set(&world, &["--copy", ".env", "--setup", &first, "--setup", &second, "--ports", "4000"]);
    let mut creating = world.command(world.program);
    creating.args(["task", "create", "one", "Mend it [agents: hang]"]).current_dir(world.repo());
    let mut creating = creating.stderr(std::process::Stdio::null()).spawn().unwrap();
    world.until("the second program runs", || world.home().join("held").exists());
    let listed = world.ok(&["task", "list"]);
    let task = Task::new(&world, listed[0]["id"].as_str().unwrap());
    let signature = fs::read_to_string(task.folder().join(".lock")).unwrap();
    kill(signature.lines().next().unwrap().parse().unwrap());
    creating.wait().unwrap();
    task.ok("update", &["--summary", "Mend it well [agents: hang]"]);
    task.agent(1).begun();
    assert_eq!(fs::read_to_string(world.home().join("made")).unwrap(), "first\nsecond\nsecond\n");
    assert_eq!(task.events_of("worktree.preparing").len(), 1);
    assert_eq!(task.events_of("worktree.prepared").len(), 1);
    assert_eq!(task.events_of("setup.ended").len(), 2);
    assert_eq!(fs::read_to_string(task.worktree().join(".env")).unwrap(), SECRET);
    let sleeping = world.said(world.command("pgrep").args(["-f", "ORANGE_SLOT=1.*sleep 1000000"]));
    assert_eq!(sleeping.out, "");
}

#[test]
fn a_changed_file_runs_nothing() {
    let world = world();
    let made = setup(&world, "prepare", "touch \"$ORANGE_HOME/made\"");
    let file = world.repo().join("orange.toml");
    fs::write(&file, format!("copy = ['.env']\n[[setup]]\nargv = {}\n", made.replace("{port}", "x")))
        .unwrap();
    let task = world.task(&world.ok(&["task", "create", "one", "Mend it [agents: hang]"]));
    task.agent(1).begun();
    assert!(attention(&task).contains("is not trusted"), "{}", attention(&task));
    assert!(!world.home().join("made").exists() && !task.worktree().join(".env").exists());
    world.ok(&["project", "trust", "--yes"]);
    fs::write(&file, format!("copy = ['.env']\n[[setup]]\nargv = {}\n", made.replace("{port}", "y")))
        .unwrap();
    let task = world.task(&world.ok(&["task", "create", "two", "Mend it [agents: hang]"]));
    task.agent(1).begun();
    assert!(attention(&task).contains("has changed since"), "{}", attention(&task));
    assert!(!world.home().join("made").exists() && !task.worktree().join(".env").exists());
}

/// A branch with a folder `data` in git, of which the main checkout has one that is not in git.
fn with_data() -> World {
    let world = World::new();
    let repo = world.repo();
    fs::create_dir(repo.join("data")).unwrap();
    world.commit_on("feature", "data/tracked");
    give_files(&world);
    fs::create_dir_all(repo.join("data")).unwrap();
    fs::write(repo.join("data/seed"), "mine\n").unwrap();
    world
}

#[test]
fn new_files_in_a_folder_of_the_branch_are_backed_up() {
    for how in ["--copy", "--link"] {
        let world = with_data();
        set(&world, &[how, "data", "--pool-size", "2"]);
        let other = world.create("other", "Mend that [agents: hang]", &[]);
        assert_eq!(fs::read_to_string(other.worktree().join("data/seed")).unwrap(), "mine\n");
        assert_eq!(status(&world, &other.worktree()), "", "{how}");
        let task = world.create("feature", "Mend it [agents: hang]", &[]);
        let worktree = task.worktree();
        fs::write(worktree.join("data/new"), "an agent's work\n").unwrap();
        fs::write(worktree.join("data/tracked"), "an agent's change\n").unwrap();
        assert!(status(&world, &worktree).contains("?? data/new"), "{how}");
        assert!(task.ok("diff", &[]).to_string().contains("data/new"), "{how}");
        task.ok("cancel", &["--yes"]);
        let kept = world.kept_texts();
        assert!(kept.contains("an agent's work") && kept.contains("an agent's change"), "{how}: {kept:?}");
        assert!(!kept.contains("mine"), "{how}: {kept:?}");
        assert_eq!(fs::read_to_string(world.repo().join("data/seed")).unwrap(), "mine\n");
    }
}

#[test]
fn a_given_folder_that_an_agent_puts_in_git_is_work() {
    let world = with_data();
    set(&world, &["--copy", "data"]);
    let task = world.create("one", "Mend it [agents: hang]", &[]);
    let worktree = task.worktree();
    fs::write(worktree.join("data/model"), "an agent's work\n").unwrap();
    world.git(&worktree, &["add", "--force", "data/model"]);
    world.git(&worktree, &["commit", "--quiet", "--message", "Add a model"]);
    fs::write(worktree.join("data/later"), "more of it\n").unwrap();
    task.ok("cancel", &["--yes"]);
    let kept = world.kept_texts();
    assert!(kept.contains("more of it"), "{kept:?}");
    assert_eq!(world.git(&world.repo(), &["show", "one:data/model"]), "an agent's work");
    let next = world.create("two", "Mend that [agents: hang]", &[]);
    assert_eq!(fs::read_dir(next.worktree().join("data")).unwrap().count(), 1, "only the seed is there");
}

#[test]
fn no_worktree_hides_what_another_was_given() {
    let world = with_data();
    let (repo, exclude) = (world.repo(), world.repo().join(".git/info/exclude"));
    fs::write(&exclude, "/own\n/mine\n").unwrap();
    fs::create_dir_all(world.path("settings")).unwrap();
    fs::write(world.path("settings/ignored"), "*.swp\n").unwrap();
    let ignored = world.path("settings/ignored");
    world.git(&repo, &["config", "core.excludesFile", ignored.to_str().unwrap()]);
    set(&world, &["--copy", "data"]);
    let first = world.create("one", "Mend it [agents: hang]", &[]);
    let lines = || fs::read_to_string(&exclude).unwrap();
    assert!(!lines().lines().any(|line| line == "/data"), "{}", lines());
    assert!(["/own", "/mine"].iter().all(|own| lines().lines().any(|line| line == *own)), "{}", lines());
    assert!(status(&world, &repo).contains("?? data/seed"), "{}", status(&world, &repo));
    fs::write(first.worktree().join("notes.swp"), "").unwrap();
    assert_eq!(status(&world, &first.worktree()), "", "what the user ignores everywhere stays ignored");
    first.ok("cancel", &["--yes"]);
    assert!(!world.git(&repo, &["config", "--local", "--list"]).contains("includeif"));
    assert!(!world.home().join("workspaces/.given/toy--1").exists());

    set(&world, &["--copy", ""]);
    fs::write(&exclude, lines() + "/data\n").unwrap();
    let second = world.create("two", "Mend it [agents: hang]", &[]);
    assert!(lines().ends_with("/data\n"), "a line that a person has added stays: {}", lines());
    fs::write(&exclude, lines().replace("/data\n", "")).unwrap();
    let worktree = second.worktree();
    fs::create_dir_all(worktree.join("data")).unwrap();
    fs::write(worktree.join("data/model"), "an agent's work\n").unwrap();
    assert!(status(&world, &worktree).contains("data/model"));
    second.ok("cancel", &["--yes"]);
    assert!(world.kept_texts().contains("an agent's work"));
    let third = world.create("three", "Mend it [agents: hang]", &[]);
    assert!(!third.worktree().join("data").exists());
}

#[test]
fn what_a_worktree_was_given_stays_hidden_through_a_restart() {
    let world = with_data();
    set(&world, &["--copy", "data", "--link", "packages"]);
    let task = world.create("one", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    fs::write(task.worktree().join("data/seed"), "changed by an agent\n").unwrap();
    task.ok("restart", &[]);
    task.agent(2).begun();
    assert_eq!(status(&world, &task.worktree()), "");
    fs::write(task.worktree().join("toy.txt"), "a toy\n").unwrap();
    world.git(&task.worktree(), &["add", "--all"]);
    world.git(&task.worktree(), &["commit", "--quiet", "--message", "Add a toy"]);
    task.ok("merge", &["--local", "--force", "--yes"]);
    let merged = world.git(&world.repo(), &["ls-tree", "-r", "--name-only", "main"]);
    assert!(merged.contains("toy.txt") && !merged.contains("data/"), "{merged}");
    assert!(!world.kept_texts().iter().any(|line| line.contains("changed by an agent")));
    assert_eq!(fs::read_to_string(world.repo().join("data/seed")).unwrap(), "mine\n");
}

#[test]
fn a_settings_file_that_is_gone_is_no_failed_hook() {
    let world = world();
    let file = world.repo().join("orange.toml");
    let need = |task: &Task<'_>| task.show()["need"]["kind"].clone();
    fs::write(&file, "copy = ['.env']\n").unwrap();
    let task = world.task(&world.ok(&["task", "create", "one", "Mend it [agents: hang]"]));
    task.agent(1).begun();
    assert_eq!(need(&task), "hook-failed");
    fs::remove_file(&file).unwrap();
    assert_eq!(need(&task), "working", "nothing is left to agree to");

    fs::write(&file, "copy = ['.env']\n").unwrap();
    assert_eq!(need(&task), "hook-failed");
    world.ok(&["project", "trust", "--yes"]);
    assert_eq!(need(&task), "working");
    fs::remove_file(&file).unwrap();
    let later = world.task(&world.ok(&["task", "create", "two", "Mend it [agents: hang]"]));
    later.agent(1).begun();
    assert_eq!((attention(&later).as_str(), need(&later)), ("", json!("working")));
}
