//! Merging: what is ready, where it goes, and everything as it was when it cannot be.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::said::ProgramOutput;
use crate::task::is_alive;
use crate::world::{World, binary, write_program};

#[test]
fn nothing_is_merged_that_is_not_ready() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    task.agent(2).begun();
    task.reaches("agent-review");
    let refused = task.fails(1, "no_transition", "merge", &["--local"]);
    assert!(refused.contains("agent-review to done"), "{refused}");

    task.write("## Review\n\nVerdict: PASS");
    task.ok("update", &["--status", "reviewing"]);
    let loose = task.worktree().join("loose.txt");
    fs::write(&loose, "not committed\n").unwrap();
    let refused = task.fails(1, "refused", "merge", &["--local"]);
    assert!(refused.contains("loose.txt"), "{refused}");
    assert_eq!(
        (task.status(), world.git(&world.repo(), &["log", "-1", "--format=%s"])),
        ("reviewing".into(), "Begin".into())
    );

    fs::remove_file(loose).unwrap();
    task.ok("merge", &["--local"]);
    let again = task.fails(1, "no_transition", "merge", &["--local"]);
    assert!(again.contains("final"), "{again}");
}

#[test]
fn changes_in_the_main_checkout_stop_a_merge_at_first() {
    let world = World::new();
    world.commit_on("fix", "README.md");
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    fs::write(world.repo().join("README.md"), "mine\n").unwrap();
    let refused = task.fails(1, "refused", "merge", &["--local"]);
    assert!(refused.contains("README.md"), "{refused}");
    assert_eq!(fs::read_to_string(world.repo().join("README.md")).unwrap(), "mine\n");
    let pushed = world.git(&world.path("toy.git"), &["log", "-1", "--format=%s", "main"]);
    assert_eq!((task.status(), pushed), ("reviewing".into(), "Begin".into()));
}

#[test]
fn branches_that_conflict_are_named_and_left_as_they_are() {
    let world = World::new();
    world.commit_on("mine", "README.md");
    let task = world.create("mine", "Mend it", &[]);
    task.reaches("reviewing");
    fs::write(world.repo().join("README.md"), "somebody else was faster\n").unwrap();
    world.git(&world.repo(), &["commit", "--quiet", "--all", "--message", "Faster"]);
    let refused = task.fails(1, "refused", "merge", &["--local", "--strategy", "merge"]);
    assert!(refused.contains("conflicts") && refused.contains("README.md"), "{refused}");
    let subject = world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]);
    assert_eq!((task.status().as_str(), subject.as_str()), ("reviewing", "Faster"));
    assert_eq!(world.git(&world.repo(), &["status", "--porcelain"]), "");
}

#[test]
fn a_merge_can_be_asked_for_in_the_worktree_that_it_gives_back() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let merged = task.here(&["merge", "--local"]).ok();
    assert_eq!((&merged["to"], &merged["hook_errors"]), (&json!("done"), &json!([])));
    assert!(world.repo().join(format!("work-{}.txt", task.id)).exists(), "the main checkout has moved on");
}

#[test]
fn a_repository_without_a_remote_is_merged_where_it_is() {
    let world = World::empty();
    world.git(&world.repo(), &["remote", "remove", "origin"]);
    world.ok(&["project", "add", "--name", "toy"]);
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let merged = task.ok("merge", &["--local"]);
    assert_eq!((&merged["pushed"], &merged["hook_errors"]), (&json!(false), &json!([])));
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Agent 3 did its part");
}

#[test]
fn a_merge_that_could_not_be_pushed_can_be_repeated() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let guard = world.path("toy.git/hooks/pre-receive");
    write_program(&guard, "#!/bin/sh\necho the branch is frozen >&2\nexit 1\n");
    let message = task.fails(5, "environment", "merge", &["--local"]);
    assert!(message.contains("frozen") && message.contains("not pushed"), "{message}");
    assert!(message.contains("merge again"), "{message}");
    assert_eq!((task.status().as_str(), task.events_of("task.merged").len()), ("reviewing", 0));
    fs::remove_file(guard).unwrap();
    assert_eq!(task.ok("merge", &["--local"])["pushed"], true);
    assert_eq!(pushed(&world), "Agent 3 did its part");
    assert_eq!(task.events_of("task.merged").len(), 1);
}

#[test]
fn a_remote_that_does_not_answer_stops_a_merge_before_it_begins() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    fs::rename(world.path("toy.git"), world.path("away.git")).unwrap();
    let message = task.fails(5, "environment", "merge", &["--local"]);
    assert!(message.contains("nothing was merged"), "{message}");
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Begin");
    fs::rename(world.path("away.git"), world.path("toy.git")).unwrap();
    task.ok("merge", &["--local"]);
}

#[test]
fn what_somebody_else_has_pushed_meanwhile_comes_along() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let other = world.path("other");
    let (origin, to) = (world.path("toy.git"), other.clone());
    world.git(&world.path(""), &["clone", "--quiet", &origin.to_string_lossy(), &to.to_string_lossy()]);
    world.git(&other, &["commit", "--quiet", "--allow-empty", "--message", "Faster"]);
    world.git(&other, &["push", "--quiet", "origin", "main"]);
    let refused = task.fails(1, "refused", "merge", &[]);
    assert!(refused.contains("--strategy merge"), "{refused}");
    task.ok("merge", &["--strategy", "merge"]);
    assert_eq!(pushed(&world), "Merge branch 'fix' into main");
    let log = world.git(&origin, &["log", "--format=%s", "main"]);
    assert!(log.contains("Faster") && log.contains("Agent 3 did its part"), "{log}");

    let task = world.create("more", "Mend more", &[]);
    task.reaches("reviewing");
    world.git(&other, &["pull", "--quiet", "origin", "main"]);
    world.git(&other, &["commit", "--quiet", "--allow-empty", "--message", "Faster again"]);
    world.git(&other, &["push", "--quiet", "origin", "main"]);
    world.git(&world.repo(), &["commit", "--quiet", "--allow-empty", "--message", "Mine"]);
    let refused = task.fails(1, "refused", "merge", &["--strategy", "merge"]);
    assert!(refused.contains("diverged") && refused.contains("git pull --rebase"), "{refused}");
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Mine");
}

#[test]
fn a_branch_without_work_is_not_merged() {
    let world = World::new();
    world.git(&world.repo(), &["branch", "fix"]);
    let task = world.create("fix", "Done, they say", &["--status", "reviewing"]);
    let refused = task.fails(1, "refused", "merge", &[]);
    assert!(refused.contains("nothing to merge") && refused.contains("--force"), "{refused}");
    assert_eq!(task.ok("merge", &["--force"])["to"], "done");
    assert_eq!(task.events_of("task.force_merged")[0]["from"], "reviewing");
}

#[test]
fn a_person_may_merge_what_was_not_reviewed() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    let reviewer = task.agent(2).begun();
    task.reaches("agent-review");
    let refused = task.fails(1, "no_transition", "merge", &[]);
    assert!(refused.contains("--force"), "{refused}");
    let said = world.said(task.as_agent("reviewer", "2").args(["task", "merge", &task.id, "--force"]));
    said.fails(1, "not_allowed");

    let asked = task.fails(2, "usage", "merge", &["--force"]);
    assert!(asked.contains("End agent 2 (reviewer) and merge") && asked.contains("--yes"), "{asked}");
    assert!(is_alive(reviewer));
    let hooks = json!(["kill_session", "release_workspace", "delete_remote_branch", "spawn_next"]);
    let planned = task.ok("merge", &["--force", "--dry-run"]);
    let planned = (&planned["from"], &planned["to"], &planned["hooks_executed"]);
    assert_eq!(planned, (&json!("agent-review"), &json!("done"), &hooks));
    let merged = task.ok("merge", &["--force", "--yes"]);
    assert_eq!((&merged["hooks_executed"], &merged["hook_errors"]), (&hooks, &json!([])));
    assert_eq!((world.panes(), is_alive(reviewer)), (vec![], false));
    let forced = &task.events_of("task.force_merged")[0];
    assert_eq!((&forced["from"], &forced["into"]), (&json!("agent-review"), &json!("main")));
    let last = task.events_of("status.changed").pop().unwrap();
    assert_eq!((&last["cause"], &last["actor"]), (&json!("forced_merge"), &json!("human")));
    assert_eq!(pushed(&world), "Agent 1 did its part");
    task.fails(1, "no_transition", "merge", &["--force"]);
}

#[test]
fn a_task_that_ends_without_a_merge_says_so_and_can_be_merged() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let (turn, listed) = (format!("orange task merge {}", task.id), &world.ok(&["task", "list"])[0]);
    assert_eq!((&listed["your_turn"], &task.show()["your_turn"]), (&json!(turn), &json!(turn)));
    let list = world.orange(&["task", "list"]).out;
    assert!(list.starts_with("NEED") && list.contains("review-ready") && list.contains("Mend it"), "{list}");
    let ended = task.ok("update", &["--status", "done", "--dry-run"]);
    assert_eq!(ended["merged"], false);
    let ended = task.ok("update", &["--status", "done"]);
    let hint = format!("fix is not merged into main: `orange task merge {}` merges it", task.id);
    assert_eq!((&ended["merged"], &ended["hints"]), (&json!(false), &json!([hint])));

    let said = world.orange(&["task", "merge", &task.id]);
    let commit = world.git(&world.repo(), &["rev-parse", "main"]);
    assert!(said.out.contains(&format!("merged fix into main (ff, {}); pushed", &commit[..10])), "{said:?}");
    assert_eq!(pushed(&world), "Agent 3 did its part");
    assert_eq!((task.status().as_str(), task.events_of("task.merged").len()), ("done", 1));
    task.fails(1, "no_transition", "merge", &[]);

    // What a person has merged by hand is merged.
    let other = world.create("other", "Mend it", &[]);
    other.reaches("reviewing");
    world.git(&world.repo(), &["merge", "--quiet", "--ff-only", "other"]);
    assert_eq!(other.ok("update", &["--status", "done"])["merged"], json!(null));
}

#[test]
fn a_merge_says_what_it_merged_where() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let merged = task.ok("merge", &["--strategy", "merge"]);
    assert_eq!(
        json!([merged["branch"], merged["into"], merged["strategy"], merged["pushed"], merged["commit"]]),
        json!(["fix", "main", "merge", true, world.git(&world.repo(), &["rev-parse", "main"])])
    );
}

#[test]
fn a_branch_that_only_the_remote_has_is_merged() {
    let world = World::new();
    world.commit_on("fix", "fix.txt");
    world.git(&world.repo(), &["push", "--quiet", "origin", "fix"]);
    world.git(&world.repo(), &["branch", "--quiet", "-D", "fix"]);
    let task = world.create("fix", "Done elsewhere", &["--status", "reviewing"]);
    assert_eq!(task.ok("merge", &[])["hook_errors"], json!([]));
    assert_eq!(pushed(&world), "Before");
    let left = world.git(&world.repo(), &["ls-remote", "origin", "refs/heads/fix"]);
    assert!(!left.is_empty(), "the task has not made it");
}

#[test]
fn tasks_that_are_merged_at_once_are_all_merged() {
    let world = World::new();
    let branches = ["a", "b", "c", "d"];
    for branch in branches {
        world.commit_on(branch, &format!("{branch}.txt"));
    }
    let tasks = branches.map(|branch| world.create(branch, "Done elsewhere", &["--status", "reviewing"]));
    let merging = tasks.each_ref().map(|task| {
        let mut merging = world.command(binary());
        merging.current_dir(world.repo());
        merging.args(["--json", "task", "merge", &task.id, "--strategy", "merge"]);
        merging.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for merging in merging {
        ProgramOutput::from(merging.wait_with_output().unwrap()).ok();
    }
    for branch in branches {
        assert!(world.repo().join(format!("{branch}.txt")).exists());
        world.git(&world.repo(), &["merge-base", "--is-ancestor", branch, "origin/main"]);
    }
    assert_eq!(world.git(&world.repo(), &["status", "--porcelain"]), "");
}

#[test]
fn a_merge_that_a_kill_interrupted_is_no_empty_one() {
    let world = World::empty();
    world.git(&world.repo(), &["remote", "remove", "origin"]);
    world.ok(&["project", "add", "--name", "toy"]);
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    // As if the kill had come when the default branch had moved.
    world.git(&world.repo(), &["merge", "--quiet", "--ff-only", "fix"]);
    let refused = task.fails(1, "refused", "merge", &[]);
    assert!(refused.contains("nothing to merge"), "{refused}");
    let journal = task.folder().join("history.jsonl");
    let before = fs::read_to_string(&journal).unwrap();
    let seq = task.events().len() + 1;
    let started = json!({
        "seq": seq, "timestamp": "2026-01-01T00:00:00Z", "type": "merge.started", "into": "main", "commit": "c0ffee",
    });
    fs::write(&journal, format!("{before}{started}\n")).unwrap();
    assert_eq!(task.ok("merge", &[])["to"], "done");
}

#[test]
fn at_a_terminal_long_work_says_what_it_is_at() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let set = |name: &str, value: &std::path::Path| format!("{name}={}", value.display());
    let (home, socket) = (set("ORANGE_HOME", &world.home()), set("ORANGE_TMUX_SOCKET", &world.path("tmux")));
    let command = format!("{} task merge fix; exec sleep 1000000", world.program.display());
    let repo = world.repo();
    let place = ["new-session", "-d", "-s", "person", "-x", "200", "-y", "50", "-c", &repo.to_string_lossy()];
    world.tmux(&[&place[..], &["-e", &home, "-e", &socket, &command]].concat());
    task.reaches("done");
    world.until("the person reads it", || {
        let shown = world.tmux(&["capture-pane", "-p", "-t", "=person:"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        ["merging fix into main", "pushing main", "release_workspace"].iter().all(|line| shown.contains(line))
    });
}

/// The subject of the commit that the remote's default branch is at.
fn pushed(world: &World) -> String {
    world.git(&world.path("toy.git"), &["log", "-1", "--format=%s", "main"])
}

#[test]
fn a_branch_that_was_there_before_its_task_stays_on_the_remote() {
    let world = World::new();
    world.commit_on("develop", "new.txt");
    world.git(&world.repo(), &["push", "--quiet", "origin", "develop"]);
    let before = world.create("develop", "Mend it", &["--status", "reviewing"]);
    before.ok("merge", &["--local"]);

    let made = world.create("fix", "Mend it", &[]);
    made.reaches("reviewing");
    world.git(&world.repo(), &["push", "--quiet", "origin", "fix"]);
    assert_eq!(made.events_of("branch.made").len(), 1);
    made.ok("merge", &["--local", "--strategy", "merge"]);

    // An agent that has gone to somebody else's branch merges that, and deletes nothing.
    let switched = world.create("mine", "Mend it", &[]);
    switched.reaches("reviewing");
    world.git(&world.repo(), &["push", "--quiet", "origin", "main:production"]);
    world.git(&world.repo(), &["fetch", "--quiet"]);
    world.git(&switched.worktree(), &["switch", "--quiet", "production"]);
    world.git(&switched.worktree(), &["commit", "--quiet", "--allow-empty", "--message", "More"]);
    world.git(&switched.worktree(), &["push", "--quiet", "origin", "production"]);
    switched.ok("update", &["--branch", "production"]);
    switched.ok("merge", &["--local", "--strategy", "merge"]);
    let left =
        world.git(&world.path("toy.git"), &["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    assert_eq!(left, "develop\nmain\nproduction");
}

#[test]
fn a_branch_with_a_committed_task_file_is_refused() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let worktree = task.worktree();
    world.git(&worktree, &["add", "--force", "TASK.md"]);
    world.git(&worktree, &["commit", "--quiet", "--message", "Everything"]);
    task.write("## Handoff\n\nDONE: all of it");
    let refused = task.fails(1, "refused", "update", &["--status", "agent-review"]);
    assert!(
        refused.contains("TASK.md is committed") && refused.contains("git rm --cached TASK.md"),
        "{refused}"
    );
    world.git(&worktree, &["commit", "--quiet", "--all", "--allow-empty", "--message", "The task's file"]);
    let refused = task.fails(1, "refused", "merge", &["--local", "--force", "--yes"]);
    assert!(refused.contains("TASK.md is committed"), "{refused}");
    assert_eq!(task.status(), "working");

    world.git(&worktree, &["rm", "--quiet", "--cached", "TASK.md"]);
    world.git(&worktree, &["commit", "--quiet", "--message", "Without it"]);
    task.ok("update", &["--status", "agent-review"]);
}
