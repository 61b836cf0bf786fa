//! The remote is asked while somebody else does the same.

use super::*;
use orange_testkit::write_program;

/// A commit that only the remote has, on its default branch.
fn news(lab: &RepositoryLab) -> String {
    lab.run(&lab.path(""), &["clone", "--quiet", lab.path("origin.git").to_str().unwrap(), "other"]);
    let commit = lab.commit(&lab.path("other"), "news", "n\n");
    lab.run(&lab.path("other"), &["push", "--quiet", "origin", "main"]);
    commit
}

/// Something that happens here each time that the remote has answered a fetch, before its branches are moved here.
fn when_answered(lab: &RepositoryLab, script: &str) {
    let file = lab.path("answer");
    let repo = lab.repo();
    let answer = format!("#!/bin/sh\ngit-upload-pack \"$@\" || exit\ncd {}\n{script}", repo.display());
    write_program(&file, &answer);
    lab.run(&repo, &["config", "remote.origin.uploadpack", file.to_str().unwrap()]);
}

#[test]
fn a_branch_moved_by_another_fetch_is_fetched_again() {
    let lab = RepositoryLab::new();
    let side = lab.run(&lab.repo(), &["commit-tree", "main^{tree}", "-m", "somebody else's"]);
    let newest = news(&lab);
    let moves =
        format!("[ -e ../moved ] || git update-ref refs/remotes/origin/main {side}\ntouch ../moved\n");
    when_answered(&lab, &moves);
    assert_eq!(lab.git.fetch(&["main"]).unwrap(), None);
    assert!(lab.path("moved").exists());
    assert_eq!(lab.commit_of("refs/remotes/origin/main"), newest);
}

#[test]
fn a_lock_of_another_fetch_is_waited_for() {
    let lab = RepositoryLab::new();
    let newest = news(&lab);
    let lock = lab.repo().join(".git/refs/remotes/origin/main.lock");
    lab.write(&lock, "");
    when_answered(&lab, "echo >>../asked\n");
    std::thread::scope(|scope| {
        let fetching = scope.spawn(|| lab.git.fetch(&["main"]).unwrap());
        let asked = || fs::read_to_string(lab.path("asked")).unwrap_or_default().lines().count();
        while asked() < 2 && !fetching.is_finished() {
            std::thread::yield_now();
        }
        fs::remove_file(&lock).unwrap();
        assert_eq!(fetching.join().unwrap(), None);
    });
    assert_eq!(lab.commit_of("refs/remotes/origin/main"), newest);
}
