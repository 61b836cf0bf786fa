//! State of the tracked files of a worktree.

use super::*;

/// Files that differ after this was done in the worktree; `None` where nothing has changed.
fn changed(act: impl Fn(&RepositoryLab, &Path)) -> Option<Vec<String>> {
    let lab = RepositoryLab::without_remote();
    let worktree = lab.pooled(1);
    lab.git.acquire(&worktree, "fix", "main").unwrap();
    lab.commit(&worktree, "src", "old\n");
    let before = lab.git.tracked_state(&worktree).unwrap();
    assert_eq!(lab.git.tracked_state(&worktree).unwrap(), before, "a look changes nothing");
    act(&lab, &worktree);
    let after = lab.git.tracked_state(&worktree).unwrap();
    let files = lab.git.tracked_changes(&before, &after).unwrap();
    (before != after).then(|| files.iter().map(|file| file.display().to_string()).collect())
}

#[test]
fn what_git_does_not_track_is_no_change() {
    assert_eq!(changed(|_, _| ()), None);
    assert_eq!(changed(|lab, it| lab.write(&it.join("new"), "x")), None);
    assert_eq!(changed(|lab, it| lab.write(&it.join("ignored"), "x")), None);
    let touched = |lab: &RepositoryLab, it: &Path| lab.write(&it.join("src"), "old\n");
    assert_eq!(changed(touched), None, "the same bytes again");
}

#[test]
fn every_change_of_a_tracked_file_is_seen_and_named() {
    let src = Some(vec!["src".to_owned()]);
    assert_eq!(changed(|lab, it| lab.write(&it.join("src"), "new\n")), src);
    assert_eq!(changed(|_, it| fs::remove_file(it.join("src")).unwrap()), src);
    let staged = |lab: &RepositoryLab, it: &Path| {
        lab.write(&it.join("src"), "new\n");
        lab.run(it, &["add", "src"]);
        lab.write(&it.join("src"), "old\n");
    };
    assert_eq!(changed(staged), src);
    let added = |lab: &RepositoryLab, it: &Path| {
        lab.write(&it.join("new"), "x");
        lab.run(it, &["add", "new"]);
    };
    assert_eq!(changed(added), Some(vec!["new".to_owned()]));
    assert_eq!(changed(|lab, it| drop(lab.commit(it, "more", "x\n"))), Some(vec!["more".to_owned()]));
    let empty = |lab: &RepositoryLab, it: &Path| {
        lab.run(it, &["commit", "--quiet", "--allow-empty", "--message", "nothing"]);
    };
    assert_eq!(changed(empty), Some(Vec::new()));
}

#[test]
fn an_index_with_conflicts_is_compared_too() {
    let conflict = |lab: &RepositoryLab, it: &Path| {
        lab.run(it, &["checkout", "--quiet", "-b", "other", "HEAD~1"]);
        lab.commit(it, "src", "other\n");
        lab.git.call_in(it).args(["merge", "fix"]).run().unwrap();
    };
    assert!(changed(conflict).is_some());
}

#[test]
fn a_worktree_without_tracked_files_has_a_state() {
    let lab = RepositoryLab::without_remote();
    let worktree = lab.pooled(1);
    lab.git.acquire(&worktree, "fix", "main").unwrap();
    lab.run(&worktree, &["rm", "--quiet", "-r", "."]);
    lab.run(&worktree, &["commit", "--quiet", "--message", "empty"]);
    let before = lab.git.tracked_state(&worktree).unwrap();
    lab.write(&worktree.join("new"), "x");
    assert_eq!(lab.git.tracked_state(&worktree).unwrap(), before);
    lab.run(&worktree, &["add", "new"]);
    assert_ne!(lab.git.tracked_state(&worktree).unwrap(), before);
}
