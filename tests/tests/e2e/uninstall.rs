//! `orange uninstall` removes an installation, and no work.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::said::ProgramOutput;
use crate::task::Task;
use crate::world::World;

/// A world in which `orange` is installed for its user, who has agreed to what claude asks.
fn installed() -> World {
    let world = World::empty();
    fs::remove_file(world.path("home/.claude.json")).unwrap();
    let program = world.path("home/.local/bin/orange");
    for file in INSTALLED {
        fs::create_dir_all(world.path(file).parent().unwrap()).unwrap();
        fs::write(world.path(file), "").unwrap();
    }
    fs::remove_file(&program).unwrap();
    // A copy needs much more room, where a link is possible.
    fs::hard_link(world.program, &program).or_else(|_| fs::copy(world.program, &program).map(drop)).unwrap();
    assert_eq!(run(&world, &["setup", "--harness", "claude", "--yes"]).ok()["added"], "toy");
    world
}

const INSTALLED: &[&str] = &[
    "home/.local/bin/orange",
    "home/.local/bin/orange-dashboard",
    "home/.local/share/bash-completion/completions/orange",
    "home/.local/share/zsh/site-functions/_orange-workflow",
    "home/.config/fish/completions/orange.fish",
    "home/.local/share/man/man1/orange-task.1",
];

/// Runs the installed program.
fn run(world: &World, args: &[&str]) -> ProgramOutput {
    let mut orange = world.command(world.path("home/.local/bin/orange"));
    orange.arg("--json").args(args).env("ANTHROPIC_AUTH_TOKEN", "secret").current_dir(world.repo());
    world.said(&mut orange)
}

/// The parts of an answer, as `kind path`.
fn parts(answer: &Value) -> Vec<(String, PathBuf)> {
    let part = |part: &Value| {
        (part["kind"].as_str().unwrap().to_owned(), PathBuf::from(part["path"].as_str().unwrap()))
    };
    answer["parts"].as_array().unwrap().iter().map(part).collect()
}

#[test]
fn an_installation_is_removed_and_work_stays() {
    let world = installed();
    let theirs = world.path("home/.local/share/man/man1/git.1");
    fs::write(&theirs, "").unwrap();
    let created = run(&world, &["task", "create", "fix", "Mend it [agents: hang]"]).ok();
    let task = Task::new(&world, created["id"].as_str().unwrap());
    task.agent(1).begun();
    for args in [&["uninstall"][..], &["uninstall", "--yes"]] {
        let refused = run(&world, args).fails(1, "refused");
        assert!(refused.contains(&task.id) && refused.contains("task cancel"), "{refused}");
    }
    task.ok("cancel", &["--yes"]);

    let named = run(&world, &["uninstall"]).ok();
    assert_eq!(named["removed"], false);
    let named = parts(&named);
    let skill = world.path("home/.claude/skills/orange/SKILL.md");
    let expect = INSTALLED.iter().map(|file| world.path(file));
    for file in expect.chain([skill.clone(), world.path("home/.claude.json")]) {
        assert!(named.iter().any(|(_, path)| *path == file), "{} is not in {named:?}", file.display());
        assert!(file.exists(), "nothing is removed without a yes");
    }
    assert!(!named.iter().any(|(_, path)| *path == theirs));

    let removed = run(&world, &["uninstall", "--yes"]).ok();
    assert_eq!((&removed["removed"], parts(&removed)), (&Value::Bool(true), named.clone()));
    let left: Vec<_> = named.iter().filter(|(_, path)| path.exists()).collect();
    assert_eq!(left, [] as [&(String, PathBuf); 0]);
    assert!(!skill.parent().unwrap().exists() && theirs.exists());
    let by_hand = removed["kept"][0]["by_hand"].as_str().unwrap();
    assert!(by_hand.starts_with(&format!("rm -r '{}'; git -C ", world.home().display())), "{by_hand}");
    assert!(task.file().exists() && task.events().len() > 1);
}

#[test]
fn a_build_of_cargo_is_no_installation() {
    let world = World::empty();
    let answer = world.ok(&["uninstall", "--yes"]);
    assert_eq!(parts(&answer), []);
    assert_eq!(answer["kept"][0]["by_hand"], "cargo clean");
    assert!(Path::new(world.program).exists());
}
