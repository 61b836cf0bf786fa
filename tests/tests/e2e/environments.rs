//! The environment of an agent is that of the command that starts it, and no command line shows a secret.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::processes;
use crate::task::Task;
use crate::world::{World, write_program};

/// `orange --json`, from a shell with these variables.
pub(crate) fn shell(world: &World, variables: &[(&str, &str)]) -> Command {
    let mut command = world.command(world.program);
    command.envs(variables.iter().copied()).current_dir(world.repo()).arg("--json");
    command
}

/// A task whose agents hang, created from a shell with these variables.
fn created<'w>(world: &'w World, project: &str, branch: &str, variables: &[(&str, &str)]) -> Task<'w> {
    let summary = "Mend it [agents: hang hang hang]";
    let mut command = shell(world, variables);
    let answer = world.said(command.args(["task", "create", "--project", project, branch, summary])).ok();
    world.task(&answer)
}

/// The environment of a process, which has none for the moment in which it changes its program.
pub(crate) fn of(world: &World, pid: i32) -> BTreeMap<String, String> {
    let read = || fs::read(Path::new("/proc").join(pid.to_string()).join("environ")).unwrap();
    world.until("the process has an environment", || !read().is_empty());
    let bytes = read();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let pair = |entry: &str| entry.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.split('\0').filter_map(pair).collect()
}

/// The process of an agent, in whatever project.
pub(crate) fn process(world: &World, task: &Task<'_>, spawn: u32) -> i32 {
    let note = world.home().join("agents").join(format!("{}.{spawn}.pid", task.id));
    let noted = || fs::read_to_string(&note).ok().and_then(|pid| pid.trim().parse().ok());
    world.until("the agent has begun", || noted().is_some());
    noted().unwrap()
}

/// The values of two variables in the environment of this agent.
fn keys(world: &World, task: &Task<'_>, spawn: u32) -> [Option<String>; 2] {
    let mut found = of(world, process(world, task, spawn));
    ["MY_API_KEY", "AWS_PROFILE"].map(|name| found.remove(name))
}

fn known(values: [Option<&str>; 2]) -> [Option<String>; 2] {
    values.map(|value| value.map(str::to_owned))
}

/// A second project, whose tasks the scripted agent does too.
fn second_project(world: &World) {
    let repo = world.path("other");
    world.git(&world.path(""), &["clone", "--quiet", &world.path("toy.git").to_string_lossy(), "other"]);
    world.ok(&["project", "add", &repo.to_string_lossy(), "--name", "other"]);
    world.ok(&["setup", "--harness", "claude", "--yes"]);
}

/// The command lines of every process that works in this world.
fn command_lines(world: &World) -> Vec<String> {
    let home = world.path("").to_string_lossy().into_owned();
    let has = |folder: &Path, file: &str| {
        String::from_utf8_lossy(&fs::read(folder.join(file)).unwrap_or_default()).contains(&home)
    };
    let all = processes::that(|folder| has(folder, "environ") || has(folder, "cmdline"));
    let line = |pid: &i32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    all.iter().map(|pid| String::from_utf8_lossy(&line(pid)).into_owned()).collect()
}

#[test]
fn agents_of_two_projects_have_their_own_shells_variables() {
    let world = World::new();
    second_project(&world);
    let one = created(&world, "toy", "fix", &[("MY_API_KEY", "of toy"), ("AWS_PROFILE", "toy")]);
    let other = created(&world, "other", "mend", &[("MY_API_KEY", "of other")]);
    assert_eq!(keys(&world, &one, 1), known([Some("of toy"), Some("toy")]));
    assert_eq!(keys(&world, &other, 1), known([Some("of other"), None]));

    let server = world.tmux(&["show-environment", "-g"]);
    let server = String::from_utf8(server.stdout).unwrap();
    assert!(!server.contains("MY_API_KEY") && server.contains("HOME="), "{server}");
}

#[test]
fn a_restart_brings_a_key_that_was_rotated() {
    let world = World::new();
    let task = created(&world, "toy", "fix", &[("MY_API_KEY", "old"), ("AWS_PROFILE", "toy")]);
    task.agent(1).begun();
    task.reaches("working");
    let mut restart = shell(&world, &[("MY_API_KEY", "new")]);
    world.said(restart.args(["task", "restart", &task.id])).ok();
    assert_eq!(keys(&world, &task, 2), known([Some("new"), None]));
}

#[test]
fn the_monitor_starts_agents_as_the_last_person_would() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--queue", "auto"]);
    let mut create = shell(&world, &[("MY_API_KEY", "a person's")]);
    let words = ["task", "create", "--no-spawn", "fix", "Mend it [agents: hang]"];
    let task = world.task(&world.said(create.args(words)).ok());
    let kept = world.home().join("environments/toy");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);

    let mut monitor = shell(&world, &[("MY_API_KEY", "the monitor's"), ("AWS_PROFILE", "monitor")]);
    world.said(monitor.args(["monitor", "--once"])).ok();
    assert_eq!(keys(&world, &task, 1), known([Some("a person's"), None]));
}

#[test]
fn the_command_of_an_agent_is_not_the_last_of_a_person() {
    let world = World::new();
    let task = created(&world, "toy", "fix", &[("MY_API_KEY", "a person's")]);
    task.agent(1).begun();
    task.reaches("working");
    let mut asks = task.as_agent("worker", "1");
    asks.env("MY_API_KEY", "an agent's").current_dir(task.worktree());
    world.said(asks.args(["task", "update", "--summary", "Mend all"])).ok();
    let kept = fs::read_to_string(world.home().join("environments/toy")).unwrap();
    assert!(kept.contains("a person's") && !kept.contains("an agent's"), "{kept}");
}

#[test]
fn a_project_names_the_variables_of_its_agents() {
    let world = World::new();
    let named = world.ok(&["project", "update", "toy", "--environment", "MY_API_KEY"]);
    assert_eq!(named["name"], "toy");
    let shown = world.ok(&["project", "show", "toy"]);
    assert_eq!(shown["settings"]["environment"]["value"], serde_json::json!(["MY_API_KEY"]));
    let task = created(&world, "toy", "fix", &[("MY_API_KEY", "1"), ("AWS_PROFILE", "toy")]);
    assert_eq!(keys(&world, &task, 1), known([Some("1"), None]));
    let found = of(&world, task.agent(1).begun());
    for needed in ["PATH", "HOME", "LC_ALL", "TERM", "ORANGE_HOME"] {
        assert!(found.contains_key(needed), "{needed}: {found:?}");
    }
    let kept = fs::read_to_string(world.home().join("environments/toy")).unwrap();
    assert!(!kept.contains("AWS_PROFILE"), "{kept}");
}

#[test]
fn no_command_line_has_a_secret() {
    let world = World::new();
    let variables = [("MY_API_KEY", "a key that nobody shows"), ("AWS_PROFILE", "toy")];
    let one = created(&world, "toy", "fix", &variables);
    let other = created(&world, "toy", "mend", &variables);
    process(&world, &one, 1);
    process(&world, &other, 1);
    let secrets = [one.secret("1").unwrap(), other.secret("1").unwrap(), variables[0].1.to_owned()];
    let lines = command_lines(&world);
    assert!(lines.iter().any(|line| line.contains("tmux")), "{lines:?}");
    for line in &lines {
        assert!(secrets.iter().all(|secret| !line.contains(secret)), "{line}");
    }
}

#[test]
fn the_environment_of_an_agent_stays_in_no_file() {
    let world = World::new();
    let task = created(&world, "toy", "fix", &[("MY_API_KEY", "1")]);
    process(&world, &task, 1);
    assert!(!task.folder().join("agents/1.environment").exists());
    assert_eq!(of(&world, task.agent(1).begun())["ORANGE_SECRET"], task.secret("1").unwrap());
}

#[test]
fn an_environment_that_no_wrapper_takes_is_removed() {
    let world = World::new();
    let tmux = world.find("tmux");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *new-session*) echo 'no session today' >&2; exit 1;; esac\nexec '{}' \"$@\"\n",
        tmux.display()
    );
    write_program(&world.path("agents/tmux"), &script);
    let created = world.ok(&["task", "create", "fix", "Mend it"]);
    assert!(created["attention"].as_str().unwrap().contains("no session today"), "{created}");
    let task = world.task(&created);
    assert!(!task.events_of("agent.exited").is_empty());
    let left = fs::read_dir(task.folder().join("agents")).unwrap().flatten().map(|it| it.file_name());
    assert_eq!(left.collect::<Vec<_>>(), Vec::<std::ffi::OsString>::new());
}
