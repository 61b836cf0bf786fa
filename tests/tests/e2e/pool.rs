//! Worktrees and branches: a full pool, branches that are somewhere already, work that is never lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::task::is_alive;
use crate::world::World;

#[test]
fn a_task_that_finds_no_worktree_waits_for_the_one_before() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "1"]);
    let first = world.create("one", "Mend it", &[]);
    let answer = world.ok(&["task", "create", "two", "Mend it too"]);
    let waiting = answer["waiting"].as_str().unwrap();
    assert!(waiting.contains("toy") && waiting.contains('1'), "{waiting}");
    let second = world.task(&answer);
    assert_eq!((second.status(), second.owned("workspace")), ("pending".to_owned(), json!(null)));
    assert_eq!(second.events_of("transition.started"), Vec::<serde_json::Value>::new());

    first.reaches("reviewing");
    second.fails(1, "refused", "spawn", &[]);
    first.ok("merge", &["--local"]);
    second.reaches("reviewing");
    // It begins where the first one ended, so it can be merged as it is.
    second.ok("merge", &["--local"]);
    let slots = world.ok(&["workspace", "list"]);
    assert_eq!((slots.as_array().unwrap().len(), &slots[0]["task"]), (1, &json!(null)));
}

#[test]
fn a_waiting_task_that_cannot_start_lets_the_next_one_start() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "1"]);
    let elsewhere = world.path("elsewhere");
    world.git(&world.repo(), &["worktree", "add", "--quiet", "-b", "two", &elsewhere.to_string_lossy()]);
    let [first, blocked, third] = ["one", "two", "three"].map(|branch| world.create(branch, "Mend it", &[]));
    first.reaches("reviewing");
    first.ok("merge", &["--local"]);
    third.reaches("reviewing");
    assert_eq!(blocked.status(), "pending");
    let attention = blocked.show()["attention"].as_str().unwrap().to_owned();
    assert!(attention.contains("elsewhere"), "{attention}");
}

#[test]
fn a_stale_list_of_worktrees_gives_none_away_that_a_task_holds() {
    let world = World::new();
    let pool = world.home().join("workspaces/.pool.json");
    let first = world.create("one", "Mend it [agents: hang]", &[]);
    first.agent(1).begun();
    first.reaches("working");
    fs::write(first.worktree().join("new.txt"), "half an idea\n").unwrap();
    let held = fs::read_to_string(&pool).unwrap();
    let stale = [
        r#"{"slots": []}"#.to_owned(),
        held.replace(&format!("\"{}\"", first.id), "null"),
        held.replace(&first.id, "gone"),
    ];
    for (number, stale) in stale.iter().enumerate() {
        fs::write(&pool, stale).unwrap();
        for gc in [&["workspace", "gc", "--dry-run"][..], &["doctor"], &["workspace", "gc"]] {
            let said = world.orange(gc);
            assert!(!said.out.contains("toy--1"), "{stale}: {said:#?}");
        }
        assert!(fs::read_to_string(&pool).unwrap().contains(&first.id), "it is rewritten");
        fs::write(&pool, stale).unwrap();
        let second = world.create(&format!("two-{number}"), "Mend it [agents: hang]", &[]);
        assert_eq!(second.owned("workspace"), json!("toy--2"), "{stale}");
        second.ok("cancel", &["--yes"]);
        // What a task gives back is kept, too.
        fs::write(&pool, &held).unwrap();
    }
    fs::write(&pool, &stale[0]).unwrap();
    let kept = format!("refs/orange/backup/{}/1", first.id);
    assert_eq!(first.ok("cancel", &["--yes"])["backed_up"], json!([kept]));
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:new.txt")]), "half an idea");
}

#[test]
fn what_stands_in_the_place_of_a_worktree_is_left_to_its_owner() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "2"]);
    let place = |n: u32| world.home().join(format!("workspaces/toy--{n}"));
    fs::create_dir_all(place(1)).unwrap();
    fs::write(place(1).join("precious"), "mine\n").unwrap();
    fs::create_dir(world.path("outside")).unwrap();
    std::os::unix::fs::symlink(world.path("outside"), place(2)).unwrap();
    fs::write(place(3), "a file\n").unwrap();
    let first = world.create("one", "Mend it [agents: hang]", &[]);
    assert_eq!((first.owned("workspace"), first.status()), (json!("toy--4"), "working".to_owned()));
    // A free worktree that somebody works in is somebody's, too.
    let second = world.create("two", "Mend it [agents: hang]", &[]);
    assert_eq!(second.owned("workspace"), json!("toy--5"));
    second.ok("cancel", &["--yes"]);
    fs::write(place(5).join("idea.txt"), "half an idea\n").unwrap();
    let third = world.create("three", "Mend it [agents: hang]", &[]);
    assert_eq!((third.owned("workspace"), third.status()), (json!("toy--6"), "working".to_owned()));
    assert_eq!(fs::read_dir(world.path("outside")).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(place(1).join("precious")).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(place(5).join("idea.txt")).unwrap(), "half an idea\n");
}

#[test]
fn a_worktree_that_has_lost_its_link_is_reported() {
    let world = World::new();
    let task = world.create("one", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let link = task.worktree().join(".git");
    let text = fs::read_to_string(&link).unwrap();
    let elsewhere = format!("gitdir: {}\n", world.repo().join(".git").display());
    for wrong in ["", "no link\n", &elsewhere] {
        fs::write(&link, wrong).unwrap();
        let doctor = world.json(&["doctor"]);
        let findings = doctor.json()["findings"].clone();
        let finding = findings.as_array().unwrap().iter().find(|one| one["check"] == "worktrees").unwrap();
        let message = finding["message"].as_str().unwrap();
        assert_eq!((doctor.status, &finding["level"]), (5, &json!("broken")), "{wrong}: {finding}");
        assert!(message.contains(&task.id) && message.contains("lost its link"), "{wrong}: {message}");
        assert!(finding["remedy"].as_str().unwrap().contains("worktree repair"), "{wrong}: {finding}");
    }
    fs::write(&link, text).unwrap();
    task.ok("cancel", &["--yes"]);
}

#[test]
fn worktrees_can_be_made_ahead_of_time() {
    let world = World::new();
    let made = world.ok(&["workspace", "init"]);
    assert_eq!(made["workspaces"], json!(["toy--1", "toy--2"]));
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let slots = world.ok(&["workspace", "list"]);
    let holders: Vec<_> = slots.as_array().unwrap().iter().map(|slot| slot["task"].clone()).collect();
    assert_eq!(holders, [json!(task.id), json!(null)]);
    assert_eq!(world.ok(&["workspace", "init"])["workspaces"], made["workspaces"]);
    assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), "fix");
}

#[test]
fn a_local_branch_is_taken_over_with_its_commits() {
    let world = World::new();
    world.commit_on("fix", "local.txt");
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    assert!(task.worktree().join("local.txt").exists());
}

#[test]
fn a_branch_that_is_only_on_the_remote_is_followed() {
    let world = World::new();
    world.commit_on("fix", "remote.txt");
    world.git(&world.repo(), &["push", "--quiet", "origin", "fix"]);
    world.git(&world.repo(), &["branch", "--quiet", "-D", "fix"]);
    world.git(&world.repo(), &["update-ref", "-d", "refs/remotes/origin/fix"]);
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    assert!(task.worktree().join("remote.txt").exists());
    task.ok("merge", &["--local"]);
    let left = world.git(&world.path("toy.git"), &["branch", "--format=%(refname:short)"]);
    assert_eq!(left, "fix\nmain", "the branch on the remote was there before the task");
    assert!(world.git(&world.repo(), &["ls-tree", "--name-only", "main"]).contains("remote.txt"));
}

#[test]
fn a_branch_that_somebody_has_checked_out_is_left_to_them() {
    let world = World::new();
    let elsewhere = world.path("elsewhere");
    world.git(&world.repo(), &["worktree", "add", "--quiet", "-b", "fix", &elsewhere.to_string_lossy()]);
    let answer = world.ok(&["task", "create", "fix", "Mend it"]);
    let waiting = answer["waiting"].as_str().unwrap();
    assert!(waiting.contains("elsewhere"), "{waiting}");
    let task = world.task(&answer);
    assert_eq!((task.status(), task.owned("workspace")), ("pending".to_owned(), json!(null)));
    assert_eq!(world.ok(&["workspace", "list"]), json!([]));

    let refused = task.fails(1, "refused", "spawn", &[]);
    assert!(refused.contains("elsewhere"), "{refused}");
    world.git(&elsewhere, &["switch", "--quiet", "--detach"]);
    task.ok("spawn", &[]);
    task.reaches("reviewing");
}

#[test]
fn a_branch_that_git_cannot_have_beside_another_takes_nothing() {
    for branch in ["fix", "fix/login/form"] {
        let world = World::new();
        let task = world.create(branch, "Mend it", &["--no-spawn"]);
        world.git(&world.repo(), &["branch", "fix/login"]);
        let message = task.fails(1, "refused", "spawn", &[]);
        assert!(message.contains("beside the branch `fix/login`"), "{message}");
        assert_eq!(task.status(), "pending");
        assert_eq!(world.ok(&["workspace", "list"]), json!([]));
    }
}

#[test]
fn a_project_with_its_own_task_file_is_refused_at_first() {
    let world = World::new();
    fs::write(world.repo().join("TASK.md"), "mine\n").unwrap();
    world.git(&world.repo(), &["add", "."]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "Mine"]);
    world.git(&world.repo(), &["push", "--quiet"]);
    let answer = world.ok(&["task", "create", "fix", "Mend it"]);
    let task = world.task(&answer);
    assert!(answer["waiting"].as_str().unwrap().contains("TASK.md"), "{answer}");
    assert_eq!((task.status(), world.ok(&["workspace", "list"])), ("pending".to_owned(), json!([])));
    let refused = task.fails(1, "refused", "spawn", &[]);
    assert!(refused.contains("`git rm TASK.md`"), "{refused}");
}

#[test]
fn tasks_whose_names_begin_alike_stay_apart() {
    let world = World::new();
    let [short, long] = ["fix", "fix-2"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    let [short_agent, long_agent] = [&short, &long].map(|task| task.agent(1).begun());
    let cancelled = short.ok("cancel", &["--yes"]);
    assert_eq!(cancelled["hooks_executed"], json!(["kill_session", "release_workspace"]));
    assert_eq!(world.panes(), ["toy/fix-2 worker"]);
    assert_eq!((is_alive(short_agent), is_alive(long_agent)), (false, true));
    let shown = world.ok(&["task", "show", "fix-2"]);
    assert_eq!((&shown["status"], &shown["session"]), (&json!("working"), &json!("active")));
}

#[test]
fn branches_alike_to_tmux_have_sessions_of_their_own() {
    let world = World::new();
    let [dot, dash] = ["fix.2", "fix-2"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    let [dot_agent, dash_agent] = [&dot, &dash].map(|task| task.agent(1).begun());
    dot.reaches("working");
    dash.reaches("working");
    let sessions = [&dot, &dash].map(|task| task.show()["tmux_session"].as_str().unwrap().to_owned());
    assert_eq!(sessions, ["toy/fix-2".to_owned(), format!("toy/fix-2-{}", &dash.id[..6])]);
    dot.ok("cancel", &["--yes"]);
    assert_eq!((is_alive(dot_agent), is_alive(dash_agent), world.panes().len()), (false, true, 1));
    dash.ok("cancel", &["--yes"]);
    assert_eq!((is_alive(dash_agent), world.panes().len()), (false, 0));
}

#[test]
fn cancelling_keeps_what_was_not_committed() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    fs::write(task.worktree().join("new.txt"), "not committed\n").unwrap();
    fs::write(task.worktree().join("README.md"), "changed\n").unwrap();
    let worktree = task.worktree();
    task.ok("cancel", &["--yes"]);
    assert_eq!(world.git(&worktree, &["status", "--porcelain"]), "");
    assert!(!worktree.join("TASK.md").exists());

    let kept = format!("refs/orange/backup/{}/1", task.id);
    assert_eq!(task.events_of("work.backed_up")[0]["reference"], kept.as_str());
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:new.txt")]), "not committed");
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:README.md")]), "changed");
    let files = world.git(&world.repo(), &["ls-tree", "--name-only", &kept]);
    assert_eq!(files, "README.md\nnew.txt", "the task's own file is not work");
}

/// Writes one new file after the other, some by their own name and some renamed to it, until it is over. The texts of those
/// that were written whole.
fn write_all(folder: &Path, is_over: &AtomicBool) -> Vec<String> {
    const MOST: usize = 1500;
    let mut written = Vec::new();
    for count in (0..MOST).take_while(|_| !is_over.load(Ordering::Relaxed)) {
        let file = folder.join(format!("written/{}/{count}", count % 7));
        let text = format!("work {count}\n");
        let saving = folder.join("being-written");
        let saved = match count % 2 {
            0 => fs::write(&file, &text),
            _ => fs::write(&saving, &text).and_then(|()| fs::rename(&saving, &file)),
        };
        match saved {
            Ok(()) => written.push(text),
            // The folder is not there yet, or not any more; nor may it be there when this has made it.
            Err(_) => fs::create_dir_all(file.parent().unwrap()).unwrap_or_default(),
        }
    }
    written
}

#[test]
fn writes_during_a_cancel_are_in_a_backup_or_still_there() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let (worktree, is_over) = (task.worktree(), AtomicBool::new(false));
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| write_all(&worktree, &is_over));
        world.until("it writes", || worktree.join("written/6/20").exists());
        // Somebody who writes all the time may keep it from being given back, and then it says so.
        let cancelled = task.ok("cancel", &["--yes"]);
        let errors = cancelled["hook_errors"].as_array().unwrap().iter();
        errors.for_each(|error| assert!(error.to_string().contains("written"), "{error}"));
        is_over.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert!(written.len() > 10);
    let texts = |folder: &Path| -> BTreeSet<String> {
        let folders = fs::read_dir(folder.join("written")).into_iter().flatten().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        files.map(|file| fs::read_to_string(file.path()).unwrap()).collect()
    };
    let check = |there: BTreeSet<String>| {
        let kept = world.kept_texts();
        let lost: Vec<_> =
            written.iter().filter(|text| !there.contains(*text) && !kept.contains(text.trim_end())).collect();
        assert!(lost.is_empty(), "{} of {}: {lost:?}", lost.len(), written.len());
    };
    check(texts(&worktree));

    // Now it can be given back.
    world.ok(&["workspace", "gc"]);
    assert_eq!(world.git(&worktree, &["status", "--porcelain"]), "");
    check(BTreeSet::new());
}

const SETTINGS: &str = ".claude/settings.local.json";

#[test]
fn the_next_task_finds_no_settings_of_the_agent_before() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let settings = task.worktree().join(SETTINGS);
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{}\n").unwrap();
    task.ok("cancel", &["--yes"]);
    assert!(!settings.exists());
    assert_eq!(task.events_of("work.backed_up").len(), 0, "it is not work");
}

#[test]
fn settings_that_git_tracks_stay_as_the_project_has_them() {
    let world = World::new();
    fs::create_dir(world.repo().join(".claude")).unwrap();
    fs::write(world.repo().join(SETTINGS), "the project's\n").unwrap();
    world.git(&world.repo(), &["add", "--force", SETTINGS]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "Settings"]);
    world.git(&world.repo(), &["push", "--quiet", "origin", "main"]);
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let settings = task.worktree().join(SETTINGS);
    fs::write(&settings, "the agent's\n").unwrap();
    task.ok("cancel", &["--yes"]);
    assert_eq!(fs::read_to_string(settings).unwrap(), "the project's\n");
    assert_eq!(task.events_of("work.backed_up").len(), 1);
}

#[test]
fn cancelling_keeps_the_branch_and_its_commits() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    task.agent(2).begun();
    task.reaches("agent-review");
    task.ok("cancel", &["--yes"]);
    let subject = world.git(&world.repo(), &["log", "-1", "--format=%s", "fix"]);
    assert_eq!(subject, "Agent 1 did its part");
    assert_eq!(world.panes(), Vec::<String>::new());
}

#[test]
fn cancelling_keeps_what_is_outside_of_a_sparse_checkout() {
    let world = World::new();
    for folder in ["in", "out"] {
        fs::create_dir(world.repo().join(folder)).unwrap();
        fs::write(world.repo().join(folder).join("file"), "base\n").unwrap();
    }
    world.git(&world.repo(), &["add", "--all"]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "Folders"]);
    world.git(&world.repo(), &["push", "--quiet", "origin", "main"]);
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let worktree = task.worktree();
    world.git(&worktree, &["sparse-checkout", "set", "in"]);
    fs::create_dir(worktree.join("out")).unwrap();
    fs::write(worktree.join("out/file"), "changed\n").unwrap();
    fs::write(worktree.join("out/new"), "new\n").unwrap();
    let cancelled = task.ok("cancel", &["--yes"]);
    let kept = cancelled["backed_up"][0].as_str().unwrap();
    let said = ["file", "new"].map(|name| world.git(&world.repo(), &["show", &format!("{kept}:out/{name}")]));
    assert_eq!((said, &cancelled["hook_errors"]), (["changed", "new"].map(str::to_owned), &json!([])));
    assert_eq!(world.git(&worktree, &["status", "--porcelain"]), "");
}

#[test]
fn a_link_changed_by_an_agent_leads_to_no_other_checkout() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let link = task.worktree().join(".git");
    let before = fs::read_to_string(&link).unwrap();
    world.git(&world.repo(), &["switch", "--quiet", "--create", "mine"]);
    fs::write(world.repo().join("README.md"), "a person's\n").unwrap();
    fs::write(&link, format!("gitdir: {}\n", world.repo().join(".git").display())).unwrap();
    let cancelled = task.ok("cancel", &["--yes"]);
    assert!(cancelled["hook_errors"][0].as_str().unwrap().contains("lost its link"), "{cancelled}");
    assert_eq!(world.git(&world.repo(), &["branch", "--show-current"]), "mine");
    assert_eq!(fs::read_to_string(world.repo().join("README.md")).unwrap(), "a person's\n");
    world.create("next", "Mend it [agents: hang]", &[]).agent(1).begun();

    fs::write(&link, before).unwrap();
    let collected = world.ok(&["workspace", "gc"]);
    assert_eq!(collected[0]["fate"], "given back");
}
