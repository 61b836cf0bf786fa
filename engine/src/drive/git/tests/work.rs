//! The content of a worktree: equal as long as nothing changes that a program could see.

use super::*;

fn work(lab: &RepositoryLab) -> WorktreeContent {
    lab.git.work(&lab.pooled(1)).unwrap()
}

fn lab() -> RepositoryLab {
    let lab = RepositoryLab::without_remote();
    lab.acquire(1, "fix").unwrap();
    lab.commit(&lab.pooled(1), "file", "one\n");
    lab
}

/// The change is seen, and a second look sees the same.
#[track_caller]
fn sees(lab: &RepositoryLab, change: impl FnOnce(&Path)) -> WorktreeContent {
    let before = work(lab);
    change(&lab.pooled(1));
    let after = work(lab);
    assert_ne!(before, after);
    assert_eq!(work(lab), after);
    after
}

#[test]
fn a_clean_worktree_has_its_commit_alone() {
    let lab = lab();
    let commit = lab.run(&lab.pooled(1), &["rev-parse", "HEAD"]);
    assert_eq!(work(&lab), WorktreeContent { commit, changes: String::new() });
}

#[test]
fn what_differs_from_the_commit_is_seen() {
    let lab = lab();
    let clean = work(&lab);
    let at = |name: &str| lab.pooled(1).join(name);
    sees(&lab, |_| lab.write(&at("file"), "two\n"));
    // The new content has the same length, and perhaps the same second.
    sees(&lab, |_| lab.write(&at("file"), "owt\n"));
    sees(&lab, |_| lab.write(&at("new"), "n\n"));
    sees(&lab, |_| fs::rename(at("new"), at("newer")).unwrap());
    sees(&lab, |_| std::os::unix::fs::symlink("file", at("link")).unwrap());
    sees(&lab, |_| fs::remove_file(at("readme")).unwrap());
    let staged = sees(&lab, |folder| drop(lab.run(folder, &["add", "file"])));
    assert_eq!(staged.commit, clean.commit);
    lab.run(&lab.pooled(1), &["add", "--all"]);
    let committed = sees(&lab, |folder| drop(lab.run(folder, &["commit", "--quiet", "-m", "all"])));
    assert_ne!(committed.commit, clean.commit);
    assert_eq!(committed.changes, "");
}

#[test]
fn what_is_ignored_and_the_task_file_do_not_count() {
    let lab = lab();
    let before = work(&lab);
    lab.write(&lab.pooled(1).join("ignored"), "x\n");
    lab.write(&lab.pooled(1).join(TASK_FILE), "x\n");
    assert_eq!(work(&lab), before);
}

#[test]
fn a_nested_repository_is_looked_into() {
    let lab = lab();
    let nested = lab.pooled(1).join("nested");
    fs::create_dir(&nested).unwrap();
    lab.run(&nested, &["init", "--quiet"]);
    lab.write(&nested.join("file"), "one\n");
    sees(&lab, |_| lab.write(&nested.join("file"), "two\n"));
}

#[test]
fn a_look_writes_neither_an_index_nor_an_object() {
    let lab = lab();
    lab.write(&lab.pooled(1).join("file"), "nowhere else\n");
    let index = || lab.run(&lab.pooled(1), &["ls-files", "--stage", "--debug"]);
    let (before, objects) = (index(), lab.run(&lab.repo(), &["count-objects"]));
    work(&lab);
    assert_eq!(index(), before);
    assert_eq!(lab.run(&lab.repo(), &["count-objects"]), objects);
}
