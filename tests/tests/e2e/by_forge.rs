//! Merges of pull requests by their forge, and what a branch that takes no push asks for.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::task::Task;
use crate::world::World;

const BY_FORGE: [&str; 1] = ["--by-forge"];

fn put(world: &World, file: &str, text: &str) {
    fs::create_dir_all(world.path("home/gh")).unwrap();
    fs::write(world.path("home/gh").join(file), text).unwrap();
}

fn merges(world: &World) -> String {
    fs::read_to_string(world.path("home/gh/1.merges")).unwrap_or_default()
}

/// A task under review on GitHub, whose pull request is open.
fn reviewing(world: &World) -> Task<'_> {
    world.commit_on("fix", "fix.txt");
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    task.ok("create-pr", &[]);
    task
}

fn need(task: &Task<'_>) -> (Value, String) {
    let need = task.show()["need"].clone();
    (need["kind"].clone(), need["why"].as_str().unwrap_or_default().to_owned())
}

/// Kills `orange task merge --by-forge` before the forge has the merge, once it has it, and once it has made it.
#[test]
fn a_merge_by_the_forge_that_is_killed_is_made_once() {
    for moment in ["merge", "accepted", "merged"] {
        let world = World::new().with_github();
        let task = reviewing(&world);
        put(&world, "kill", moment);
        let mut killed = world.command(world.program);
        killed.current_dir(world.repo()).args(["--json", "task", "merge", "fix", "--by-forge"]);
        assert!(!killed.output().unwrap().status.success(), "{moment}");
        assert!(!world.path("home/gh/kill").exists() && task.status() == "reviewing", "{moment}");
        let merged = task.ok("merge", &BY_FORGE);
        let said = (&merged["to"], &merged["strategy"], &merged["pushed"]);
        assert_eq!(said, (&json!("done"), &json!("pr"), &json!(false)), "{moment}");
        assert_eq!((merges(&world).lines().count(), task.events_of("task.merged").len()), (1, 1), "{moment}");
        assert_eq!(task.events_of("pr.merged").len(), 1, "{moment}");
        let tip = world.git(&world.repo(), &["rev-parse", "fix"]);
        assert!(task.events_of("pr.merge_asked").iter().all(|event| event["commit"] == json!(tip)));
        // The forge has merged it: nothing was merged here.
        assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Begin");
    }
}

#[test]
fn each_repository_merges_by_its_rules() {
    let world = World::new().with_github();
    world.ok(&["project", "update", "--merge-message", "pull-request"]);
    let task = reviewing(&world);
    // What the pull request lacks is not merged.
    world.git(&world.repo(), &["branch", "--force", "fix", "fix^"]);
    let behind = task.fails(1, "refused", "merge", &BY_FORGE);
    assert!(behind.contains("another commit here") && behind.contains("create-pr"), "{behind}");
    world.git(&world.repo(), &["branch", "--force", "fix", "origin/fix"]);
    let refused = task.fails(1, "refused", "merge", &["--by-forge", "--strategy", "merge"]);
    assert!(refused.contains("does not allow `merge`") && refused.contains("rebase, squash"), "{refused}");
    assert_eq!(task.ok("merge", &["--by-forge", "--dry-run"])["to"], "done");
    assert_eq!(merges(&world), "");
    // A queue decides the strategy, and takes its time.
    put(&world, "queue", "");
    let queued = task.ok("merge", &BY_FORGE);
    assert_eq!((&queued["queued"], &queued["to"]), (&json!(true), &json!("reviewing")));
    assert!(merges(&world).contains("\"merge_action\":\"default\"}"), "{}", merges(&world));
    assert_eq!(need(&task), (json!("queued"), "its pull request is queued for merge".to_owned()));
    world.ok(&["monitor", "--once"]);
    assert_eq!(need(&task).0, "queued");
    put(&world, "left", "");
    world.ok(&["monitor", "--once"]);
    let (kind, why) = need(&task);
    assert!(kind == "review-ready" && why.contains("it has left the queue"), "{kind}: {why}");
    for file in ["queue", "left"] {
        fs::remove_file(world.path("home/gh").join(file)).unwrap();
    }
    task.ok("merge", &BY_FORGE);
    let asked = merges(&world);
    let squash = r#""merge_method":"squash","commit_title":"Mend it (#1)","commit_message":"Mend it"}"#;
    assert!(asked.lines().last().unwrap().ends_with(squash), "{asked}");
    assert_eq!(task.status(), "done");

    // An older server.
    let world = World::new().with_github();
    put(&world, "without-async", "");
    let task = reviewing(&world);
    task.ok("merge", &["--by-forge", "--message", "Mine\n\nWhy.", "--strategy", "squash"]);
    let calls = fs::read_to_string(world.path("home/gh/calls")).unwrap();
    assert!(calls.contains("[--squash] [--subject=Mine] [--body-file=-]"), "{calls}");
    assert_eq!((merges(&world).as_str(), task.status().as_str()), ("Why.\n", "done"));

    // GitLab.
    let world = World::new().with_gitlab();
    let task = reviewing(&world);
    fs::write(world.path("home/glab/fault"), "not-mergeable").unwrap();
    let refused = task.fails(1, "refused", "merge", &BY_FORGE);
    assert!(refused.contains("405 Method Not Allowed"), "{refused}");
    assert!(need(&task).1.contains("its forge did not merge it"), "{}", need(&task).1);
    fs::write(world.path("home/glab/fault"), "").unwrap();
    let refused = task.fails(1, "refused", "merge", &["--by-forge", "--strategy", "rebase"]);
    assert!(refused.contains("it allows ff, squash"), "{refused}");
    task.ok("merge", &BY_FORGE);
    let asked = fs::read_to_string(world.path("home/glab/1.merges")).unwrap();
    let tip = world.git(&world.repo(), &["rev-parse", "fix"]);
    assert_eq!(asked, format!(r#"{{"sha":"{tip}","squash":false,"auto_merge":false}}"#));
    assert_eq!(task.status(), "done");
}

#[test]
fn a_dirty_checkout_and_a_protected_branch_stay_as_they_are() {
    let world = World::new().with_github();
    let (repo, remote) = (world.repo(), world.path("toy.git"));
    world.commit_on("fix", "fix.txt");
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    fs::write(repo.join("fix.txt"), "in the way\n").unwrap();
    let refused = task.fails(1, "refused", "merge", &["--strategy", "squash"]);
    assert!(refused.contains("--remote-only"), "{refused}");
    let main = |folder| world.git(folder, &["log", "-1", "--format=%s", "main"]);
    let merged = task.ok("merge", &["--strategy", "squash", "--remote-only"]);
    assert_eq!((&merged["to"], &merged["pushed"]), (&json!("done"), &json!(true)));
    assert_eq!((main(&remote), main(&repo)), ("Mend it".to_owned(), "Begin".to_owned()));
    assert_eq!(fs::read_to_string(repo.join("fix.txt")).unwrap(), "in the way\n");

    // The remote declines a push to the target from now on.
    let hook = remote.join("hooks/update");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\n[ \"$1\" != refs/heads/main ]\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    for _ in 0..2 {
        let proposed = task.ok("undo", &[]);
        let url = json!("https://github.com/toys/toy/pull/1");
        assert_eq!((&proposed["to"], &proposed["merge"]["pr_url"]), (&json!("done"), &url));
    }
    assert_eq!((main(&remote), main(&repo)), ("Mend it".to_owned(), "Begin".to_owned()));
    let head = fs::read_to_string(world.path("home/gh/1.pr")).unwrap();
    let head = head.lines().next().unwrap().to_owned();
    assert!(head.starts_with("revert-fix-"), "{head}");
    assert_eq!(task.status(), "done");
    // Others squash it into the target.
    fs::remove_file(&hook).unwrap();
    fs::remove_file(repo.join("fix.txt")).unwrap();
    world.git(&repo, &["fetch", "--quiet"]);
    world.git(&repo, &["merge", "--quiet", "--ff-only", "origin/main"]);
    world.git(&repo, &["merge", "--quiet", "--squash", &format!("origin/{head}")]);
    world.git(&repo, &["commit", "--quiet", "--message", "Reverted"]);
    world.git(&repo, &["push", "--quiet", "origin", "main"]);
    let undone = task.ok("undo", &[]);
    assert_eq!((&undone["to"], &undone["merge"].get("pr_url")), (&json!("reviewing"), &None));
    assert_eq!(main(&remote), "Reverted");
    task.ok("merge", &["--strategy", "squash"]);
    assert!(repo.join("fix.txt").exists());
}
