//! `orange doctor` on real homes: exit 0 where nothing is broken, 5 where something is, a remedy for everything.

use std::fs;

use serde_json::Value;

use crate::said::Said;
use crate::world::World;

/// What it finds that is not fine, as `check level`.
#[track_caller]
fn found(said: &Said) -> Vec<String> {
    let answer = said.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = answer["findings"].as_array().unwrap().iter();
    let bad = findings.filter(|finding| finding["level"] != "ok");
    bad.map(|finding| {
        assert!(!text(&finding["remedy"]).is_empty(), "{finding}");
        format!("{} {}", text(&finding["check"]), text(&finding["level"]))
    })
    .filter(|found| !["gh warning", "disk warning"].contains(&found.as_str()))
    .collect()
}

#[test]
fn a_world_at_work_is_healthy() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let said = world.json(&["doctor"]);
    assert_eq!((said.status, found(&said)), (0, Vec::new()), "{said:#?}");
    let told = world.orange(&["doctor"]);
    assert!(told.out.contains("ok       tmux"), "{}", told.out);
}

#[test]
fn a_home_that_is_not_there_yet_is_healthy_and_is_not_made() {
    let world = World::empty();
    let said = world.json(&["doctor"]);
    assert_eq!((said.status, found(&said)), (0, Vec::new()), "{said:#?}");
    assert!(!world.home().exists());
}

#[test]
fn what_is_broken_or_left_behind_is_told() {
    let world = World::new();
    let [fix, more] = ["fix", "more"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    for task in [&fix, &more] {
        task.agent(1).begun();
        task.reaches("working");
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
