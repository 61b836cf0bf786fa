//! A worktree is given back, and nothing that was in it is lost.

use std::os::unix::fs::symlink;

use super::*;
use orange_testkit::write_program;

#[test]
fn the_tasks_file_is_no_work() {
    let lab = RepositoryLab::new();
    lab.git.exclude(TASK_FILE).unwrap();
    lab.git.exclude(TASK_FILE).unwrap();
    let exclude = fs::read_to_string(lab.repo().join(".git/info/exclude")).unwrap();
    assert_eq!(exclude.matches("/TASK.md").count(), 1);
    lab.acquire(1, "fix").unwrap();
    symlink("/nowhere/TASK.md", lab.pooled(1).join(TASK_FILE)).unwrap();
    assert_eq!(lab.run(&lab.pooled(1), &["status", "--porcelain"]), "");
    assert_eq!(lab.git.changes(&lab.pooled(1)).unwrap(), []);
    assert_eq!(lab.release(1), None);
    assert!(fs::symlink_metadata(lab.pooled(1).join(TASK_FILE)).is_ok());
}

#[test]
fn an_ignored_task_file_does_not_hold_a_backup() {
    let lab = RepositoryLab::new();
    lab.git.exclude(TASK_FILE).unwrap();
    lab.acquire(1, "fix").unwrap();
    symlink("/nowhere/TASK.md", lab.pooled(1).join(TASK_FILE)).unwrap();
    lab.write(&lab.pooled(1).join("new"), "untracked\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.files_in(&backup.commit), [".gitignore", "new", "readme"]);
}

#[test]
fn thousands_of_new_files_become_one_pack() {
    const MANY: usize = 1_000;
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    fs::create_dir(lab.pooled(1).join("made")).unwrap();
    (0..MANY)
        .for_each(|number| lab.write(&lab.pooled(1).join(format!("made/{number}")), &format!("{number}\n")));
    let backup = lab.release(1).unwrap();
    let counted = lab.run(&lab.repo(), &["count-objects", "-v"]);
    let count = |what: &str| -> usize {
        let count =
            counted.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": ")?.parse().ok());
        count.unwrap()
    };
    assert!(count("packs") == 1 && count("in-pack") == MANY && count("count") < 20, "{counted}");
    assert_eq!(lab.files_in(&backup.commit).len(), MANY + 2);
    assert_eq!(lab.text_in(&backup.commit, "made/999"), "999");
}

#[test]
fn a_clean_worktree_is_released_without_backup_and_keeps_branch() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let commit = lab.commit(&lab.pooled(1), "done", "d\n");
    lab.run(&lab.pooled(1), &["push", "--quiet", "origin", "fix"]);
    assert_eq!(lab.release(1), None);
    lab.check_pristine(1);
    assert_eq!(lab.commit_of("fix"), commit);
    assert_eq!(lab.release(1), None);
}

#[test]
fn everything_uncommitted_is_backed_up() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    let tip = lab.commit(&folder, "done", "d\n");
    lab.write(&folder.join("done"), "staged\n");
    lab.run(&folder, &["add", "done"]);
    lab.write(&folder.join("done"), "changed\n");
    fs::create_dir(folder.join("new dir")).unwrap();
    lab.write(&folder.join("new dir/ü\n#"), "untracked\n");
    lab.write(&folder.join("ignored"), "i\n");
    fs::remove_file(folder.join("readme")).unwrap();
    lab.write(&folder.join(TASK_FILE), "as an editor saved it\n");
    // A person's settings must not get in the way of a backup.
    for (key, value) in [
        ("core.safecrlf", "true"),
        ("core.autocrlf", "input"),
        ("status.showUntrackedFiles", "no"),
        ("commit.gpgSign", "true"),
    ] {
        lab.run(&lab.repo(), &["config", key, value]);
    }
    lab.write(&folder.join("crlf"), "a\r\n");

    let backup = lab.release(1).unwrap();
    assert_eq!(backup.reference, "refs/orange/backup/T1/1");
    assert_eq!(lab.commit_of(&backup.reference), backup.commit);
    assert_eq!(lab.files_in(&backup.commit).len(), 4, "{:?}", lab.files_in(&backup.commit));
    assert_eq!(lab.text_in(&backup.commit, "done"), "changed");
    assert_eq!(lab.text_in(&backup.commit, "new dir/ü\n#"), "untracked");
    assert_eq!(lab.text_in(&format!("{}^", backup.commit), "done"), "staged");
    assert_eq!(lab.commit_of(&format!("{}^^", backup.commit)), tip);
    assert_eq!(lab.run(&lab.repo(), &["log", "-1", "--format=%an", &backup.commit]), "orange");
    assert!(folder.join("ignored").exists() && !folder.join("new dir").exists());
    assert_eq!(fs::read_to_string(folder.join(TASK_FILE)).unwrap(), "as an editor saved it\n");
    assert_eq!(lab.git.changes(&folder).unwrap(), []);

    lab.acquire(1, "fix").unwrap();
    lab.write(&folder.join("more"), "m\n");
    assert_eq!(lab.release(1).unwrap().reference, "refs/orange/backup/T1/2");
}

#[test]
fn commits_that_nothing_keeps_are_backed_up() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
    let lone = lab.commit(&lab.pooled(1), "lone", "l\n");
    assert_eq!(lab.release(1).unwrap().commit, lone);
    lab.check_pristine(1);
}

#[test]
fn work_on_a_branch_without_commits_is_backed_up() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.run(&lab.pooled(1), &["switch", "--quiet", "--orphan", "fresh"]);
    lab.write(&lab.pooled(1).join("only"), "o\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.files_in(&backup.commit), ["only"]);
    lab.check_pristine(1);
}

/// Leaves worktree 1 in the middle of something that conflicts.
fn in_the_middle_of(lab: &RepositoryLab, verb: &[&str]) {
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    lab.commit(&folder, "readme", "ours\n");
    lab.commit(&folder, "more", "m\n");
    lab.run(&folder, &["switch", "--quiet", "-c", "theirs", "origin/main"]);
    lab.commit(&folder, "readme", "theirs\n");
    lab.run(&folder, &["switch", "--quiet", "fix"]);
    assert!(!lab.git.call_in(&folder).args(verb).run().unwrap().success());
    assert!(!lab.git.changes(&folder).unwrap().is_empty());
}

#[test]
fn an_unfinished_operation_is_backed_up_and_ended() {
    let verbs = [
        vec!["rebase", "theirs"],
        vec!["rebase", "--apply", "theirs"],
        vec!["merge", "theirs"],
        vec!["cherry-pick", "theirs"],
        vec!["cherry-pick", "theirs", "theirs~1"],
    ];
    for verb in verbs {
        let lab = RepositoryLab::new();
        in_the_middle_of(&lab, &verb);
        let tip = lab.commit_of("fix");
        let backup = lab.release(1).unwrap();
        let text = lab.text_in(&backup.commit, "readme");
        assert!(text.contains("ours") && text.contains("theirs"), "{verb:?}: {text}");
        lab.check_pristine(1);
        assert_eq!(lab.commit_of("fix"), tip, "{verb:?}");
        // The next task can have it.
        assert_eq!(lab.acquire(1, "next").unwrap().commit, lab.commit_of("origin/main"), "{verb:?}");
        lab.run(&lab.pooled(1), &["rebase", "--quiet", "main"]);
    }
}

#[test]
fn a_bisection_is_ended() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    for n in 0..4 {
        lab.commit(&folder, "steps", &format!("{n}\n"));
    }
    lab.run(&folder, &["bisect", "start", "HEAD", "HEAD~4"]);
    lab.write(&folder.join("steps"), "tried\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.text_in(&backup.commit, "steps"), "tried");
    lab.check_pristine(1);
    assert_eq!(lab.acquire(1, "fix").unwrap().commit, lab.commit_of("fix"));
    assert!(!lab.git.call_in(&folder).args(["bisect", "log"]).run().unwrap().success());
}

#[test]
fn a_repository_inside_a_worktree_is_kept_and_blocks_nothing() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let nested = lab.pooled(1).join("nested");
    fs::create_dir(&nested).unwrap();
    lab.run(&nested, &["init", "--quiet"]);
    lab.write(&nested.join("inner"), "i\n");
    lab.write(&lab.pooled(1).join("work"), "w\n");
    let [SavedWork::Aside(aside), SavedWork::Commit(backup)] = &lab.released(1).unwrap()[..] else {
        panic!()
    };
    assert!(lab.files_in(&backup.commit).contains(&"work".to_owned()));
    assert!(aside.join("inner").exists() && aside.join(".git").exists() && !nested.exists());
    lab.check_pristine(1);
    lab.acquire(1, "next").unwrap();
}

#[test]
fn a_worktree_removed_by_hand_counts_as_released() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
    let lone = lab.commit(&lab.pooled(1), "lone", "l\n");
    fs::remove_dir_all(lab.pooled(1)).unwrap();
    assert_eq!(lab.release(1).unwrap().commit, lone);
    assert_eq!(lab.git.worktrees().unwrap().len(), 1);
    assert_eq!(lab.release(1), None);

    lab.acquire(1, "fix").unwrap();
    fs::remove_dir_all(lab.pooled(1)).unwrap();
    assert!(lab.acquire(1, "fix").unwrap().created_worktree);
}

#[test]
fn a_hook_of_the_project_does_not_hold_a_release() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let hook = lab.repo().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    write_program(&hook, "#!/bin/sh\nexit 1\n");
    assert_eq!(lab.release(1), None);
    lab.check_pristine(1);
}
