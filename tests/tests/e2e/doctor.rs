//! `orange doctor` on real homes: exit 0 where nothing is broken, 5 where something is, a remedy for everything.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::said::ProgramOutput;
use crate::world::World;

/// Its findings that are not fine, as `check level`.
#[track_caller]
fn found(said: &ProgramOutput) -> Vec<String> {
    let answer = said.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = answer["findings"].as_array().unwrap().iter();
    let bad = findings.filter(|finding| finding["level"] != "ok");
    bad.map(|finding| {
        assert!(!text(&finding["remedy"]).is_empty(), "{finding}");
        format!("{} {}", text(&finding["check"]), text(&finding["level"]))
    })
    .filter(|found| !["gh warning", "disk warning", "path warning"].contains(&found.as_str()))
    .collect()
}

#[test]
fn a_world_at_work_is_healthy() {
    let world = World::new();
    world.ok(&["install", "--harness", "claude"]);
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let said = world.json(&["doctor"]);
    assert_eq!((said.status, found(&said)), (0, Vec::new()), "{said:#?}");
    let run = world.orange(&["doctor"]);
    assert!(run.out.contains("ok       tmux"), "{}", run.out);
}

#[test]
fn a_home_that_is_not_there_yet_is_healthy_and_is_not_made() {
    let world = World::empty();
    let said = world.json(&["doctor"]);
    assert_eq!((said.status, found(&said)), (0, Vec::new()), "{said:#?}");
    assert!(!world.home().exists());
}

#[test]
fn broken_and_left_behind_tasks_are_reported() {
    let world = World::new();
    world.ok(&["install", "--harness", "claude"]);
    let [fix, more] = ["fix", "more"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    for task in [&fix, &more] {
        task.agent(1).begun();
        task.reaches("working");
        task.is_recorded();
    }
    let (worktree, folder) = (fix.worktree(), more.folder());
    let lock = world.git(&worktree, &["rev-parse", "--absolute-git-dir"]) + "/index.lock";
    fs::write(lock, "").unwrap();
    assert_eq!(found(&world.json(&["doctor"])), ["git-locks warning"]);
    fs::remove_file(worktree.join(".git")).unwrap();
    fs::remove_dir_all(folder).unwrap();
    let said = world.json(&["doctor"]);
    assert_eq!(said.status, 5);
    assert_eq!(found(&said), ["sessions warning", "pool warning", "worktrees broken", "git-locks warning"]);

    fs::rename(world.repo(), world.path("elsewhere")).unwrap();
    let said = world.orange_in(&world.home(), &["--json", "doctor"]);
    assert!(found(&said).contains(&"projects broken".to_owned()), "{said:#?}");
    let said = world.said(world.with_only(&["git"]).current_dir(world.home()).args(["--json", "doctor"]));
    let found = found(&said);
    assert!(
        ["tmux broken", "harnesses broken", "sessions broken"]
            .iter()
            .all(|it| found.contains(&(*it).to_owned())),
        "{found:?}"
    );
}

/// Breaks something, follows the remedy of the check that sees it to the letter, and the check is fine. Words in capitals
/// are for the reader to fill in.
#[track_caller]
fn check_remedy(world: &World, check: &str, filled_in: &[(&str, &str)]) {
    let of_check = || {
        let findings = world.orange_in(&world.home(), &["--json", "doctor"]).json()["findings"].clone();
        let findings = findings.as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["check"] == check).unwrap()
    };
    let finding = of_check();
    assert_ne!(finding["level"], "ok", "{finding}");
    let remedy = finding["remedy"].as_str().unwrap();
    let command = remedy.split('`').nth(1).unwrap_or_else(|| panic!("{remedy}")).to_owned();
    let command = filled_in.iter().fold(command, |command, (word, value)| command.replace(word, value));
    let said = world.said(world.command("sh").args(["-c", &command]).current_dir(world.home()));
    assert_eq!(said.status, 0, "{command}: {said:#?}");
    let after = of_check();
    assert_eq!(after["level"], "ok", "{command} came to {after}");
}

#[test]
fn who_follows_a_remedy_to_the_letter_has_mended_it() {
    let world = World::new();
    symlink(world.program, world.path("agents/orange")).unwrap();
    let task = world.create("fix", "Mend it [agents: hang hang hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task.is_recorded();

    fs::set_permissions(world.home(), fs::Permissions::from_mode(0o755)).unwrap();
    check_remedy(&world, "home", &[]);
    fs::write(task.folder().join("prompts/.1.md.4194305.0.tmp"), "half").unwrap();
    check_remedy(&world, "leftovers", &[]);
    let update = format!("orange task update {} --summary 'Mend it'", task.id);
    let text = fs::read_to_string(task.file()).unwrap();
    fs::write(task.file(), text.replace("status: working", "status: done")).unwrap();
    check_remedy(&world, "journals", &[("orange task update", &update)]);
    fs::rename(world.repo(), world.path("elsewhere")).unwrap();
    check_remedy(&world, "projects", &[("PATH", &world.path("elsewhere").display().to_string())]);
    fs::rename(world.path("elsewhere"), world.repo()).unwrap();
    check_remedy(&world, "projects", &[("PATH", &world.repo().display().to_string())]);
    let settings = fs::read_to_string(world.path("home/.gitconfig")).unwrap();
    fs::write(world.path("home/.gitconfig"), settings.replace("email", "letter")).unwrap();
    let address = "git config --global user.email toy@example.org";
    check_remedy(&world, "identity", &[("git config --global user.name \"…\"", address)]);
    let git_folder = world.git(&task.worktree(), &["rev-parse", "--absolute-git-dir"]);
    fs::write(format!("{git_folder}/index.lock"), "").unwrap();
    check_remedy(&world, "git-locks", &[]);
    fs::remove_file(task.worktree().join(".git")).unwrap();
    check_remedy(&world, "worktrees", &[]);
    fs::remove_dir_all(task.folder()).unwrap();
    check_remedy(&world, "sessions", &[]);
    check_remedy(&world, "pool", &[]);
}
