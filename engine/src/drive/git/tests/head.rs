//! The commit of a worktree: its files agree with git, or leave the answer to git.

use super::*;
use crate::drive::git::head::{from_files, stands_on};

#[track_caller]
fn check(worktree: &Path, by_files: bool) {
    let expect = Git::at(worktree).head(worktree).unwrap();
    assert_eq!(from_files(worktree), expect.clone().filter(|_| by_files));
    assert_eq!(stands_on(worktree).unwrap(), expect);
}

#[test]
fn a_worktree_stands_where_git_says() {
    let lab = RepositoryLab::without_remote();
    check(&lab.repo(), true);
    lab.acquire(1, "fix").unwrap();
    lab.commit(&lab.pooled(1), "work", "w\n");
    check(&lab.pooled(1), true);
    lab.run(&lab.repo(), &["pack-refs", "--all"]);
    check(&lab.repo(), true);
    check(&lab.pooled(1), true);
    lab.commit(&lab.pooled(1), "more", "m\n");
    check(&lab.pooled(1), true);
    lab.run(&lab.pooled(1), &["checkout", "--quiet", "--detach"]);
    check(&lab.pooled(1), true);
}

#[test]
fn what_is_not_plain_is_left_to_git() {
    let lab = RepositoryLab::without_remote();
    lab.run(&lab.repo(), &["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    lab.run(&lab.repo(), &["symbolic-ref", "HEAD", "refs/heads/alias"]);
    check(&lab.repo(), false);
    lab.run(&lab.repo(), &["symbolic-ref", "HEAD", "refs/heads/unborn"]);
    check(&lab.repo(), false);
    assert!(stands_on(&lab.path("nowhere")).is_err());
}
