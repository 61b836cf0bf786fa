//! Orange reports locks of gits that have died, and never removes one.

use super::*;

/// A lab whose worktree 1 has work, and the folder of it that belongs to git.
fn with_work() -> (RepositoryLab, PathBuf) {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.write(&lab.pooled(1).join("new"), "n\n");
    let folder = fs::canonicalize(lab.repo().join(".git/worktrees/p--1")).unwrap();
    (lab, folder)
}

#[track_caller]
fn says_who_died<T: std::fmt::Debug>(result: Result<T>, lock: &Path) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Environment);
    assert!(error.message.ends_with("(the git that held it has died)"), "{error}");
    assert!(!error.message.contains("Another git process"), "{error}");
    assert!(error.help.contains(&format!("rm '{}'", lock.display())), "{error}");
    assert!(lock.exists());
}

#[test]
fn a_worktree_locked_by_a_dead_git_is_released_after_unlock() {
    let (lab, folder) = with_work();
    let lock = folder.join("index.lock");
    lab.write(&lock, "");
    says_who_died(lab.released(1), &lock);
    assert_eq!(lab.git.current_branch(&lab.pooled(1)).unwrap().as_deref(), Some("fix"));
    fs::remove_file(&lock).unwrap();
    lab.released(1).unwrap();
    lab.check_pristine(1);
    let backups = lab.git.backups("T1").unwrap();
    assert_eq!(lab.text_in(&backups[0].commit, "new"), "n");
}

#[test]
fn locks_of_the_whole_repository_are_named_whatever_was_asked() {
    let (lab, _) = with_work();
    let shared = fs::canonicalize(lab.repo().join(".git")).unwrap();
    let lock = shared.join("refs/heads/other.lock");
    lab.write(&lock, "");
    says_who_died(lab.acquire(2, "other"), &lock);

    lab.commit(&lab.pooled(1), "new", "n\n");
    let plan = lab.git.plan_merge("fix", "main", Strategy::FastForward, None).unwrap();
    let lock = shared.join("index.lock");
    lab.write(&lock, "");
    says_who_died(lab.git.merge(&plan, "main"), &lock);
    fs::remove_file(&lock).unwrap();
    lab.git.merge(&plan, "main").unwrap();
}

#[test]
fn locks_that_nobody_holds_are_found_wherever_they_are() {
    let (lab, folder) = with_work();
    assert_eq!(lab.git.abandoned_locks().unwrap(), Vec::<PathBuf>::new());
    let shared = fs::canonicalize(lab.repo().join(".git")).unwrap();
    fs::create_dir_all(shared.join("refs/heads/a/b")).unwrap();
    let locks = [
        shared.join("packed-refs.lock"),
        shared.join("refs/heads/a/b/c.lock"),
        folder.join("HEAD.lock"),
        folder.join("index.lock"),
    ];
    locks.iter().for_each(|lock| lab.write(lock, ""));
    let found = Git { repo: fs::canonicalize(lab.repo()).unwrap(), ..lab.git.clone() };
    assert_eq!(found.abandoned_locks().unwrap(), locks);
    let _held = fs::File::open(&locks[0]).unwrap();
    assert_eq!(found.abandoned_locks().unwrap(), locks[1..]);
}

#[test]
fn a_git_that_is_at_work_in_any_worktree_may_hold_every_lock() {
    let (lab, folder) = with_work();
    let lock = folder.join("index.lock");
    let git = ProgramCall::new("git").folder(&lab.pooled(1)).args(["cat-file", "--batch"]);
    let mut git = git.held().unwrap();
    lab.write(&lock, "");
    // It was started in that folder, under another name for a moment.
    while !lab.git.abandoned_locks().unwrap().is_empty() {}
    git.kill().unwrap();
    git.wait().unwrap();
    assert_eq!(lab.git.abandoned_locks().unwrap(), [lock]);
}
