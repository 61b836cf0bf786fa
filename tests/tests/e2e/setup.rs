//! `orange setup` answers what coding agents would ask before they start, if a person agrees.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::attach::AttachedTerminal;
use crate::task::Task;
use crate::world::{World, text};

/// A home in which nobody has run a coding agent yet.
fn fresh() -> World {
    let world = World::new();
    fs::remove_file(world.path("home/.claude.json")).unwrap();
    fs::remove_dir_all(world.path("home/.claude")).unwrap();
    world
}

/// `orange …` with a login in the environment.
fn with_token(world: &World, args: &[&str]) -> crate::said::ProgramOutput {
    let mut command = world.command(world.program);
    command.args(["--json"]).args(args).env("ANTHROPIC_AUTH_TOKEN", "secret").current_dir(world.repo());
    world.said(&mut command)
}

/// Names of the open matters of a harness.
fn open(answer: &Value, harness: &str) -> Vec<String> {
    let plans = answer["harnesses"].as_array().unwrap().iter().filter(|plan| plan["harness"] == harness);
    let matters = plans.flat_map(|plan| plan["matters"].as_array().unwrap());
    let open = matters.filter(|matter| matter["answered"] == false);
    open.map(|matter| matter["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_start_that_a_dialog_would_hang_is_refused() {
    let world = fresh();
    // One that waits is its own program all the while, with the arguments that it was started with.
    let new = |branch: &str| world.create(branch, "Mend it [agents: scripted]", &["--no-spawn"]);
    let starts = |task: &Task<'_>| with_token(&world, &["task", "spawn", &task.id]);
    let task = new("fix");
    let refused = starts(&task).fails(5, "environment");
    assert!(refused.contains("orange setup --harness claude --yes"), "{refused}");
    assert!(world.tmux(&["list-sessions"]).stdout.is_empty());

    let shown = with_token(&world, &["setup"]).ok();
    assert_eq!(open(&shown, "claude"), ["login", "trust", "bypass"]);
    assert_eq!(shown["agreed"], false);
    assert!(!world.path("home/.claude.json").exists() && !world.home().join("setup.json").exists());

    let agreed = with_token(&world, &["setup", "--yes", "--harness", "claude"]).ok();
    let file = world.path("home/.claude.json");
    assert_eq!(agreed["changed"], json!([file]));
    assert!(world.path("home/.claude/skills/orange/SKILL.md").exists());
    let doctor = with_token(&world, &["doctor"]).ok();
    let bad = |answer: &Value| {
        let findings = answer["findings"].as_array().unwrap().iter();
        let ours = ["dialogs", "logins", "root", "skills"];
        findings
            .filter(|finding| ours.iter().any(|name| finding["check"] == *name) && finding["level"] != "ok")
            .count()
    };
    assert_eq!(bad(&doctor), 0, "{doctor:#}");
    starts(&task).ok();
    let pid = task.agent(1).begun();
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(text(&line).contains(r#""skipDangerousModePermissionPrompt":true"#), "{}", text(&line));

    // Taken back, everything is as it was, and another start is refused as the first one was.
    with_token(&world, &["setup", "--undo"]).ok();
    assert!(!file.exists());
    let second = new("second");
    assert!(starts(&second).fails(5, "environment").contains("orange setup"));
    assert_eq!(second.status(), "pending");
    let doctor = with_token(&world, &["doctor"]);
    assert_eq!((doctor.status, bad(&doctor.json())), (5, 3), "{doctor:#?}");
}

#[test]
fn without_a_login_a_start_is_refused_and_says_how_to_log_in() {
    let world = fresh();
    world.ok(&["setup", "--yes"]);
    let refused = world.fails(5, "environment", &["task", "create", "fix", "Mend it"]);
    assert!(refused.contains("run `claude` once to log in"), "{refused}");
}

#[test]
fn a_harness_of_one_s_own_is_asked_nothing() {
    let world = fresh();
    crate::agents::harness(&world, "echo $$ >$NOTES/pid; exec sleep 1000000");
    let task = crate::agents::wild(&world, "fix", "Mend it");
    task.reaches("working");
    let refused = world.fails(1, "refused", &["setup", "--harness", "wild"]);
    assert!(refused.contains("not known"), "{refused}");
}

#[test]
fn codex_in_two_repositories_is_agreed_to_for_each() {
    let world = fresh();
    symlink(world.find("true"), world.path("agents/codex")).unwrap();
    world.ok(&["setup", "--yes", "--harness", "codex"]);
    assert_eq!(open(&world.ok(&["setup", "--harness", "codex"]), "codex"), ["login"]);
    let second = world.path("second");
    world.git(&world.path(""), &["clone", "--quiet", "toy.git", "second"]);
    world.orange_in(&second, &["--json", "project", "add", "--name", "second"]).ok();
    assert_eq!(open(&world.ok(&["setup", "--harness", "codex"]), "codex"), ["login", "login", "trust"]);
    assert!(!world.path("home/.codex/config.toml").exists());
}

/// Two projects, and a person at a terminal who is asked about claude in both.
fn asked(world: &World) -> AttachedTerminal<'_> {
    let second = world.path("second");
    world.git(&world.path(""), &["clone", "--quiet", "toy.git", "second"]);
    world.orange_in(&second, &["--json", "project", "add", "--name", "second"]).ok();
    let terminal =
        AttachedTerminal::plain(world, "trap : INT; export ANTHROPIC_AUTH_TOKEN=secret; orange setup");
    terminal.shows("Allow claude what is open in toy? [y/N]");
    terminal
}

/// True for each file that exists: the agreements, the file of claude, its skill.
fn written(world: &World) -> [bool; 3] {
    let claude =
        ["home/.claude.json", "home/.claude/skills/orange/SKILL.md"].map(|file| world.path(file).exists());
    [world.home().join("setup.json").exists(), claude[0], claude[1]]
}

#[test]
fn each_harness_is_agreed_to_in_each_project() {
    let world = fresh();
    let terminal = asked(&world);
    terminal.press(&["y", "Enter"]);
    terminal.shows("Allow claude what is open in second? [y/N]");
    terminal.press(&["n", "Enter"]);
    terminal.shows("Install the skill for claude? [y/N]");
    assert_eq!(written(&world), [false; 3], "nothing is changed before the last answer");
    terminal.press(&["y", "Enter"]);
    let screen = terminal.shows("LEFT 0");
    assert!(screen.contains("agreed in part, 1 left open"), "{screen}");
    assert_eq!(written(&world), [true; 3]);
    let record: Value = serde_json::from_slice(&fs::read(world.home().join("setup.json")).unwrap()).unwrap();
    let repos: Vec<_> = record["agreed"].as_array().unwrap().iter().map(|it| it["repo"].clone()).collect();
    assert_eq!(repos, [json!(world.repo())]);
    let claude: Value = serde_json::from_slice(&fs::read(world.path("home/.claude.json")).unwrap()).unwrap();
    assert_eq!(claude["projects"].as_object().unwrap().len(), 1);
    world.ok(&["setup", "--undo"]);
    assert!(!world.path("home/.claude.json").exists());
}

#[test]
fn a_no_to_all_changes_nothing() {
    let world = fresh();
    let terminal = asked(&world);
    terminal.press(&["n", "Enter", "Enter", "no", "Enter"]);
    let screen = terminal.shows("LEFT 0");
    assert!(screen.contains("nothing was changed"), "{screen}");
    assert_eq!(written(&world), [false; 3]);
}

#[test]
fn an_interrupt_between_two_answers_changes_nothing() {
    let world = fresh();
    let terminal = asked(&world);
    terminal.press(&["y", "Enter"]);
    terminal.shows("in second? [y/N]");
    terminal.press(&["C-c"]);
    terminal.shows("LEFT 130");
    assert_eq!(written(&world), [false; 3]);
}

/// A workflow that gives its worker too little.
const REDUCED: &str = "\
name: flow
version: 1
states: {pending: {terminal: false}, working: {terminal: false}, cancelled: {terminal: true}}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker, permissions: reduced}]
  - {from: [pending, working], to: cancelled, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts: {worker: \"Mend it\"}
";

#[test]
fn an_answer_to_a_start_says_what_the_agent_lacks() {
    let world = World::new();
    let hints = |args: &[&str]| {
        let answer = world.ok(&[&["task", "create", "--workflow", "flow"], args].concat());
        answer["hints"].as_array().cloned().unwrap_or_default()
    };
    world.workflow("flow.yml", REDUCED);
    let both = hints(&["one", "Mend it [agents: hang]"]);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both[0].as_str().unwrap().contains("orange install --harness claude"), "{both:?}");
    assert!(both[1].as_str().unwrap().contains("reduced permissions"), "{both:?}");
    world.ok(&["setup", "--yes", "--harness", "claude"]);
    world.workflow("flow.yml", &REDUCED.replace(", permissions: reduced", ""));
    assert_eq!(hints(&["two", "Mend it [agents: hang]"]), [Value::Null; 0]);
}

#[test]
fn the_repository_around_is_added_if_a_person_agrees() {
    let world = World::empty();
    let projects = || world.ok(&["project", "list"]).as_array().unwrap().len();
    let shown = world.ok(&["setup"]);
    assert_eq!((&shown["agreed"], &shown["added"], projects()), (&json!(false), &json!(null), 0));
    let terminal = AttachedTerminal::plain(&world, "orange setup");
    terminal.shows("as the project toy? [y/N]");
    terminal.press(&["n", "Enter"]);
    terminal.shows("Install the skill for claude? [y/N]");
    terminal.press(&["n", "Enter"]);
    let screen = terminal.shows("LEFT 0");
    assert!(screen.contains("nothing was changed"), "{screen}");
    assert_eq!(projects(), 0);

    let agreed = world.orange(&["setup", "--harness", "claude", "--yes"]);
    assert!(agreed.out.contains("\nadded toy\n"), "{agreed:#?}");
    assert!(agreed.out.contains("next: `orange task create \"What is to be done\"`"), "{agreed:#?}");
    assert_eq!(projects(), 1);
    assert_eq!(world.ok(&["setup"])["added"], json!(null));
    let elsewhere = world.orange_in(&world.path("home"), &["setup"]);
    assert!(!elsewhere.out.contains("no project yet"), "{elsewhere:#?}");
}

#[test]
fn a_task_whose_agent_would_ask_is_not_created() {
    let world = fresh();
    world.fails(5, "environment", &["task", "create", "fix", "Mend it"]);
    assert_eq!(world.ok(&["task", "list", "--all"]), json!([]));
}
