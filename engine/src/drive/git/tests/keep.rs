//! All forms of work that is in a worktree and nowhere else.

use super::*;

fn acquired() -> (RepositoryLab, PathBuf) {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    (lab, folder)
}

#[test]
fn commits_on_no_remote_outlive_their_branch() {
    let (lab, folder) = acquired();
    let commit = lab.commit(&folder, "done", "d\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(backup, Backup { reference: "refs/orange/backup/T1/1".to_owned(), commit });
    lab.run(&lab.repo(), &["branch", "--quiet", "-D", "fix"]);
    assert_eq!(lab.text_in(&backup.commit, "done"), "d");
    // Nothing new is nothing more to keep.
    lab.run(&lab.repo(), &["branch", "fix", &backup.commit]);
    lab.acquire(1, "fix").unwrap();
    assert_eq!(lab.release(1).unwrap(), backup);
    assert_eq!(lab.git.backups("T1").unwrap(), [backup]);
}

#[test]
fn what_is_merged_needs_no_backup() {
    let (lab, folder) = acquired();
    lab.commit(&folder, "done", "d\n");
    let plan = lab.git.plan_merge("fix", "main", Strategy::FastForward, Some(&folder)).unwrap();
    lab.git.merge(&plan, "main").unwrap();
    assert_eq!(lab.release(1), None);
}

#[test]
fn a_backup_that_a_kill_interrupted_is_the_same_one_again() {
    let (lab, folder) = acquired();
    lab.write(&folder.join("new"), "n\n");
    let unnoted = |_| Err(refused("killed".to_owned()));
    let mut context = BackupContext {
        task: "T1",
        default_branch: "main",
        aside: &lab.path("aside"),
        note: &mut { unnoted },
    };
    refuses(lab.git.release(&folder, &mut context), ErrorKind::Refused, "killed");
    assert!(folder.join("new").exists(), "nothing is cleaned before it is noted");
    assert_eq!(lab.release(1).unwrap().reference, "refs/orange/backup/T1/1");
}

#[test]
fn a_stash_stays_where_it_is() {
    let (lab, folder) = acquired();
    lab.write(&folder.join("readme"), "stashed\n");
    lab.run(&folder, &["stash", "push", "--quiet"]);
    assert_eq!(lab.release(1), None);
    assert_eq!(lab.text_in("stash@{0}", "readme"), "stashed");
}

#[test]
fn files_hidden_from_git_are_backed_up_and_reset() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let (lab, folder) = acquired();
        lab.run(&folder, &["update-index", flag, "readme"]);
        lab.write(&folder.join("readme"), "hidden\n");
        let backup = lab.release(1).unwrap();
        assert_eq!(lab.text_in(&backup.commit, "readme"), "hidden", "{flag}");
        lab.check_pristine(1);
        assert_eq!(fs::read_to_string(folder.join("readme")).unwrap(), "first\n", "{flag}");
        assert!(lab.run(&folder, &["ls-files", "-v", "readme"]).starts_with('H'), "{flag}");
    }
}

#[test]
fn a_sparse_worktree_is_whole_again_for_the_next_task() {
    let (lab, folder) = acquired();
    fs::create_dir(folder.join("sub")).unwrap();
    lab.commit(&folder, "sub/file", "s\n");
    lab.run(&folder, &["sparse-checkout", "set", "--no-cone", "/sub"]);
    assert!(!folder.join("readme").exists());
    lab.release(1).unwrap();
    assert!(folder.join("readme").exists());
    lab.check_pristine(1);
}

#[test]
fn files_come_back_byte_for_byte() {
    let (lab, folder) = acquired();
    lab.write(&folder.join(".gitattributes"), "* text=auto eol=lf filter=lossy\n");
    lab.run(&lab.repo(), &["config", "filter.lossy.clean", "head -c 1"]);
    lab.write(&folder.join("crlf"), "a\r\nb\n");
    let backup = lab.release(1).unwrap();
    let kept = lab.git.call().args(["cat-file", "blob", &format!("{}:crlf", backup.commit)]).run().unwrap();
    assert_eq!(kept.stdout, b"a\r\nb\n");
}

#[test]
fn what_only_the_branch_ignores_is_kept_before_it_is_cleaned() {
    let (lab, folder) = acquired();
    lab.write(&folder.join(".gitignore"), "ignored\nsecret\n");
    lab.commit(&folder, "done", "d\n");
    lab.write(&folder.join("secret"), "s\n");
    lab.write(&folder.join("ignored"), "i\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.text_in(&backup.commit, "secret"), "s");
    assert!(folder.join("ignored").exists() && !folder.join("secret").exists());
    lab.check_pristine(1);
}

#[test]
fn both_sides_of_a_conflict_and_staged_work_are_kept() {
    let (lab, folder) = acquired();
    lab.commit(&folder, "readme", "ours\n");
    lab.run(&folder, &["switch", "--quiet", "-c", "theirs", "origin/main"]);
    lab.commit(&folder, "readme", "theirs\n");
    lab.run(&folder, &["switch", "--quiet", "fix"]);
    assert!(!lab.git.call_in(&folder).args(["merge", "theirs"]).run().unwrap().success());
    lab.write(&folder.join("new"), "staged\n");
    lab.run(&folder, &["add", "new"]);
    lab.write(&folder.join("new"), "changed\n");
    let backup = lab.release(1).unwrap();
    let staged = format!("{}^", backup.commit);
    assert_eq!(lab.text_in(&staged, "readme~ours"), "ours");
    assert_eq!(lab.text_in(&staged, "readme~theirs"), "theirs");
    assert_eq!(
        (lab.text_in(&staged, "new"), lab.text_in(&backup.commit, "new")),
        ("staged".into(), "changed".into())
    );
    assert!(!lab.files_in(&backup.commit).contains(&"readme~ours".to_owned()));
}

#[test]
fn commits_that_a_detached_rebase_has_not_come_to_are_kept() {
    let (lab, folder) = acquired();
    lab.run(&folder, &["switch", "--quiet", "-c", "theirs", "origin/main"]);
    lab.commit(&folder, "readme", "theirs\n");
    lab.run(&folder, &["switch", "--quiet", "--detach", "origin/main"]);
    lab.commit(&folder, "readme", "ours\n");
    let last = lab.commit(&folder, "last", "l\n");
    lab.write(&folder.join(".gitignore"), "autostashed\n");
    let rebase = ["rebase", "--autostash", "theirs"];
    assert!(!lab.git.call_in(&folder).args(rebase).run().unwrap().success());
    let kept = lab.released(1).unwrap();
    let commits: Vec<_> = kept
        .iter()
        .filter_map(
            |kept| if let SavedWork::Commit(backup) = kept { Some(backup.commit.as_str()) } else { None },
        )
        .collect();
    assert!(commits.contains(&last.as_str()), "{kept:?}");
    let is_autostash = |commit: &&str| lab.text_in(commit, ".gitignore") == "autostashed";
    assert!(commits.iter().any(is_autostash), "{kept:?}");
    lab.check_pristine(1);
}

#[test]
fn what_was_staged_in_a_worktree_that_is_gone_is_kept() {
    let (lab, folder) = acquired();
    lab.write(&folder.join("new"), "staged\n");
    lab.run(&folder, &["add", "new"]);
    fs::remove_dir_all(&folder).unwrap();
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.text_in(&backup.commit, "new"), "staged");
}

#[test]
fn a_branch_that_the_agent_renamed_or_left_is_kept() {
    let (lab, folder) = acquired();
    lab.commit(&folder, "done", "d\n");
    lab.run(&folder, &["branch", "-m", "better"]);
    let commit = lab.commit_of("better");
    assert_eq!(lab.release(1).unwrap().commit, commit);
    assert_eq!(lab.commit_of("better"), commit);
    assert_eq!(lab.git.branch_state("fix").unwrap(), BranchState::Nowhere);
    assert!(lab.acquire(1, "fix").unwrap().created_branch);
}

#[test]
fn a_backup_does_not_wait_for_another_git_in_the_index() {
    let (lab, folder) = acquired();
    lab.write(&folder.join("new"), "n\n");
    let lock = lab.repo().join(".git/worktrees/p--1/index.lock");
    lab.write(&lock, "");
    refuses(lab.released(1), ErrorKind::Environment, "index.lock");
    let [backup] = &lab.git.backups("T1").unwrap()[..] else { panic!() };
    assert_eq!(lab.text_in(&backup.commit, "new"), "n");
    fs::remove_file(lock).unwrap();
    assert_eq!(lab.release(1), None, "it is kept already");
    lab.check_pristine(1);
}

/// A lab whose worktree 1 has a submodule, checked out.
fn with_submodule() -> (RepositoryLab, PathBuf) {
    let (lab, folder) = acquired();
    let origin = lab.path("origin.git");
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin.to_str().unwrap(), "sub"];
    lab.run(&folder, &add);
    lab.run(&folder, &["commit", "--quiet", "-m", "a submodule"]);
    lab.run(&folder, &["push", "--quiet", "origin", "fix"]);
    let sub = folder.join("sub");
    (lab, sub)
}

#[test]
fn a_clean_submodule_is_only_emptied() {
    let (lab, _) = with_submodule();
    assert_eq!(lab.release(1), None);
    lab.check_pristine(1);
    lab.acquire(1, "fix").unwrap();
    lab.run(&lab.pooled(1), &["submodule", "--quiet", "update"]);
    assert!(lab.pooled(1).join("sub/readme").exists());
}

#[test]
fn what_is_in_a_submodule_is_kept_in_the_project() {
    let (lab, sub) = with_submodule();
    let commit = lab.commit(&sub, "unpushed", "u\n");
    lab.run(&sub, &["branch", "side"]);
    lab.write(&sub.join("dirty"), "d\n");
    let backup = lab.release(1).unwrap();
    lab.check_pristine(1);
    let kept = lab.git.backups("T1").unwrap();
    assert!(kept.iter().any(|kept| kept.commit == commit), "{kept:?} {backup:?}");
    assert!(kept.iter().any(|kept| lab.files_in(&kept.commit).contains(&"dirty".to_owned())), "{kept:?}");
    lab.acquire(1, "next").unwrap();
}

#[test]
fn a_worktree_inside_a_worktree_is_kept_and_removed() {
    let (lab, folder) = acquired();
    lab.run(&folder, &["worktree", "add", "--quiet", "-b", "inner", "inner"]);
    lab.write(&folder.join("inner/work"), "w\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.text_in(&backup.commit, "work"), "w");
    lab.check_pristine(1);
    assert!(!folder.join("inner").exists());
    assert_eq!(lab.git.branch_state("inner").unwrap(), BranchState::Local);
}

#[test]
fn a_worktree_is_removed_with_all_that_is_in_it_kept() {
    let (lab, sub) = with_submodule();
    lab.write(&sub.join("dirty"), "d\n");
    let folder = lab.pooled(1);
    lab.write(&folder.join("new"), "n\n");
    lab.run(&lab.repo(), &["worktree", "lock", folder.to_str().unwrap()]);
    let kept = lab.kept(|git, context| git.remove(&folder, context)).unwrap();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(!folder.exists() && !lab.git.has_worktree(&folder).unwrap());
    assert_eq!(lab.kept(|git, context| git.remove(&folder, context)).unwrap(), []);
}

#[test]
fn what_is_not_ours_is_not_removed() {
    let (lab, folder) = acquired();
    lab.write(&lab.repo().join("mine"), "m\n");
    refuses(lab.kept(|git, context| git.remove(&lab.repo(), context)), ErrorKind::Refused, "main checkout");
    fs::remove_file(folder.join(".git")).unwrap();
    refuses(lab.kept(|git, context| git.remove(&folder, context)), ErrorKind::Refused, "lost its link");
    let stray = lab.path("pool/stray");
    fs::create_dir(&stray).unwrap();
    lab.write(&stray.join("precious"), "p\n");
    refuses(lab.kept(|git, context| git.remove(&stray, context)), ErrorKind::Refused, "not a worktree");
    assert!(stray.join("precious").exists() && lab.repo().join("mine").exists() && folder.exists());
}

#[test]
fn worktrees_are_linked_again_to_a_repository_that_moved() {
    let (lab, folder) = acquired();
    lab.write(&folder.join("work"), "w\n");
    let moved = lab.path("moved");
    fs::rename(lab.repo(), &moved).unwrap();
    let git = Git { repo: moved, ..lab.git.clone() };
    git.repair(std::slice::from_ref(&folder)).unwrap();
    assert!(!git.changes(&folder).unwrap().is_empty());
}

#[test]
fn a_branch_at_a_backup_moves_no_other() {
    let (lab, folder) = acquired();
    lab.commit(&folder, "done", "d\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.git.branch_at("new", &backup.commit).unwrap(), "new");
    assert_eq!(lab.git.branch_at("new", &backup.commit).unwrap(), "new");
    let main = lab.commit_of("main");
    assert_eq!(lab.git.branch_at("main", &backup.commit).unwrap(), "main-2");
    assert_eq!((lab.commit_of("main"), lab.commit_of("main-2")), (main, backup.commit));
}
