//! A worktree is put on the task's branch, wherever that is, or refused.

use super::*;
use orange_testkit::write_program;

#[test]
fn a_pool_is_prepared_at_the_default_branch() {
    let lab = RepositoryLab::new();
    assert!(lab.git.prepare(&lab.pooled(1), "main").unwrap());
    lab.check_pristine(1);
    assert!(!lab.git.prepare(&lab.pooled(1), "main").unwrap());
    assert!(!lab.acquire(1, "fix").unwrap().created_worktree);
    lab.write(&lab.pooled(1).join("work"), "w\n");
    assert!(!lab.git.prepare(&lab.pooled(1), "main").unwrap());
    assert!(lab.pooled(1).join("work").exists());
}

#[test]
fn a_new_branch_starts_from_what_the_remote_has_now() {
    let lab = RepositoryLab::new();
    let other = lab.path("other");
    lab.run(&lab.path(""), &["clone", "--quiet", lab.path("origin.git").to_str().unwrap(), "other"]);
    let newest = lab.commit(&other, "news", "n\n");
    lab.run(&other, &["push", "--quiet", "origin", "main"]);

    let acquired = lab.acquire(1, "fix").unwrap();
    assert_eq!(acquired, Acquired { created_worktree: true, created_branch: true, commit: newest });
    assert_eq!(lab.git.current_branch(&lab.pooled(1)).unwrap().as_deref(), Some("fix"));
    // Once more is fine, and leaves what the agent has begun.
    lab.write(&lab.pooled(1).join("begun"), "b\n");
    let again = lab.acquire(1, "fix").unwrap();
    assert!(!again.created_worktree && !again.created_branch);
    assert!(lab.pooled(1).join("begun").exists());
}

#[test]
fn without_a_remote_a_branch_starts_from_the_local_default() {
    let lab = RepositoryLab::without_remote();
    let acquired = lab.acquire(1, "fix").unwrap();
    assert_eq!(acquired.commit, lab.commit_of("main"));
}

#[test]
fn a_remote_that_cannot_be_reached_is_a_warning() {
    let lab = RepositoryLab::new();
    fs::rename(lab.path("origin.git"), lab.path("away.git")).unwrap();
    let acquired = lab.acquire(1, "fix").unwrap();
    assert!(lab.git.catch_up("other", "main").unwrap().unwrap().contains("could not be asked"));
    assert_eq!(acquired.commit, lab.commit_of("main"));
}

#[test]
fn an_existing_local_branch_is_taken_as_it_is() {
    let lab = RepositoryLab::new();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "fix"]);
    let commit = lab.commit(&lab.repo(), "half", "done\n");
    lab.run(&lab.repo(), &["switch", "--quiet", "main"]);
    assert_eq!(lab.git.branch_state("fix").unwrap(), BranchState::Local);
    let acquired = lab.acquire(1, "fix").unwrap();
    assert_eq!((acquired.commit, acquired.created_branch), (commit, false));
}

#[test]
fn a_branch_only_on_the_remote_is_fetched_and_tracked() {
    let lab = RepositoryLab::new();
    lab.run(&lab.path(""), &["clone", "--quiet", lab.path("origin.git").to_str().unwrap(), "other"]);
    let other = lab.path("other");
    lab.run(&other, &["switch", "--quiet", "-c", "fix"]);
    let commit = lab.commit(&other, "theirs", "t\n");
    lab.run(&other, &["push", "--quiet", "origin", "fix"]);
    // A clone of one branch only would never see it by itself.
    lab.run(&lab.repo(), &["config", "remote.origin.fetch", "+refs/heads/main:refs/remotes/origin/main"]);
    assert_eq!(lab.git.branch_state("fix").unwrap(), BranchState::Nowhere);

    let acquired = lab.acquire(1, "fix").unwrap();
    assert_eq!((acquired.commit, acquired.created_branch), (commit.clone(), true));
    lab.release(1);

    lab.run(&lab.repo(), &["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
    lab.run(&lab.repo(), &["branch", "--quiet", "-D", "fix"]);
    assert_eq!(lab.acquire(1, "fix").unwrap().commit, commit);
    assert_eq!(lab.run(&lab.pooled(1), &["config", "branch.fix.remote"]), "origin");
}

#[test]
fn a_branch_that_is_checked_out_elsewhere_is_refused_by_place() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    refuses(
        lab.acquire(2, "fix"),
        ErrorKind::Refused,
        &format!("checked out at {}", fs::canonicalize(lab.pooled(1)).unwrap().display()),
    );
    refuses(lab.acquire(2, "main"), ErrorKind::Refused, "checked out at");
    assert!(!lab.pooled(2).exists());
}

#[test]
fn folders_that_are_not_ours_are_refused_and_left_alone() {
    let lab = RepositoryLab::new();
    let foreign = lab.pooled(1);
    fs::create_dir_all(&foreign).unwrap();
    lab.write(&foreign.join("precious"), "p\n");
    refuses(lab.acquire(1, "fix"), ErrorKind::Refused, "is not a worktree of");
    refuses(lab.released(1), ErrorKind::Refused, "is not a worktree of");
    lab.run(&foreign, &["init", "--quiet"]);
    refuses(lab.acquire(1, "fix"), ErrorKind::Refused, "is not a worktree of");
    refuses(lab.git.acquire(&lab.repo(), "fix", "main"), ErrorKind::Refused, "main checkout");
    lab.write(&lab.repo().join("mine"), "m\n");
    refuses(lab.kept(|git, context| git.release(&lab.repo(), context)), ErrorKind::Refused, "main checkout");
    assert!(lab.repo().join("mine").exists() && foreign.join("precious").exists());
    assert_eq!(lab.git.branch_state("fix").unwrap(), BranchState::Nowhere);
}

#[test]
fn a_worktree_without_its_git_file_is_not_the_outer_repository() {
    let lab = RepositoryLab::new();
    // The pool lies inside another repository.
    lab.run(&lab.path(""), &["init", "--quiet"]);
    lab.acquire(1, "fix").unwrap();
    fs::remove_file(lab.pooled(1).join(".git")).unwrap();
    lab.write(&lab.pooled(1).join("work"), "w\n");
    refuses(lab.released(1), ErrorKind::Refused, "lost its link");
    refuses(lab.acquire(1, "fix"), ErrorKind::Refused, "lost its link");
    assert!(lab.pooled(1).join("work").exists());
}

#[test]
fn a_pooled_worktree_with_work_is_refused_for_another_branch() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.write(&lab.pooled(1).join("work"), "w\n");
    refuses(lab.acquire(1, "other"), ErrorKind::Refused, "holds uncommitted work: work");
    fs::remove_file(lab.pooled(1).join("work")).unwrap();
    lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
    lab.commit(&lab.pooled(1), "lone", "l\n");
    refuses(lab.acquire(1, "other"), ErrorKind::Refused, "commits that no branch has");
}

#[test]
fn a_repository_without_a_commit_says_so() {
    let lab = RepositoryLab::without_remote();
    let empty = lab.path("empty");
    fs::create_dir(&empty).unwrap();
    lab.run(&empty, &["init", "--quiet", "--initial-branch=main"]);
    let git = isolated(&lab.folder, &empty);
    refuses(git.acquire(&lab.pooled(1), "fix", "main"), ErrorKind::NotFound, "first commit");
}

#[test]
fn many_worktrees_can_be_acquired_at_once() {
    let lab = RepositoryLab::new();
    std::thread::scope(|scope| {
        for n in 0..20 {
            let lab = &lab;
            scope.spawn(move || lab.acquire(n, &format!("fix-{n}")).unwrap());
        }
    });
    assert_eq!(lab.git.worktrees().unwrap().len(), 21);
    for n in 0..20 {
        assert_eq!(lab.git.current_branch(&lab.pooled(n)).unwrap(), Some(format!("fix-{n}")));
    }
}

#[test]
fn a_held_lock_is_waited_for() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.release(1);
    let lock = lab.repo().join(".git/worktrees/p--1/index.lock");
    // As long as somebody has it open, it is held.
    let _held = fs::File::create(&lock).unwrap();
    let trace = lab.path("trace");
    let patient = lab.git.clone().env("GIT_TRACE", &trace);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| patient.acquire(&lab.pooled(1), "other", "main").unwrap());
        let attempts =
            || fs::read_to_string(&trace).unwrap_or_default().matches("built-in: git switch").count();
        while attempts() < 2 && !waiting.is_finished() {
            std::thread::yield_now();
        }
        fs::remove_file(&lock).unwrap();
        waiting.join().unwrap();
    });
    assert_eq!(lab.git.current_branch(&lab.pooled(1)).unwrap().as_deref(), Some("other"));
}

#[test]
fn a_hook_that_fails_after_a_checkout_has_no_say() {
    let lab = RepositoryLab::new();
    let hook = lab.repo().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    write_program(&hook, "#!/bin/sh\necho no such program >&2\nexit 2\n");
    lab.run(&lab.repo(), &["config", "core.hooksPath", hook.parent().unwrap().to_str().unwrap()]);
    let acquired = lab.acquire(1, "fix").unwrap();
    assert!(acquired.created_worktree && acquired.created_branch);
    assert_eq!(lab.git.current_branch(&lab.pooled(1)).unwrap().as_deref(), Some("fix"));
    assert_eq!(lab.run(&lab.pooled(1), &["status", "--porcelain"]), "");
    lab.release(1);
    lab.check_pristine(1);
}
