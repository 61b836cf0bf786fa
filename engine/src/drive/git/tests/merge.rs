//! A branch is merged here, pushed, and deleted on the remote.

use super::*;

/// A task's branch with one commit, on worktree 1.
fn task_with_commit(lab: &RepositoryLab) -> String {
    lab.acquire(1, "fix").unwrap();
    lab.commit(&lab.pooled(1), "feature", "f\n")
}

/// Checks that a merge does what is said of it beforehand.
fn check_foretold(lab: &RepositoryLab) {
    let plan = |strategy| lab.git.plan_merge("fix", "main", strategy, Some(&lab.pooled(1)));
    let (forward, joined) = (plan(Strategy::FastForward), plan(Strategy::Merge));
    match lab.git.mergeable("fix", "main", Some(&lab.pooled(1)), None, None).unwrap() {
        Mergeable::FastForward => assert!(forward.unwrap().is_new && joined.is_ok()),
        Mergeable::WithCommit => {
            assert_eq!(forward.unwrap_err().obstacle, MergeObstacle::MovedOn);
            assert!(joined.unwrap().is_new);
        }
        Mergeable::Nothing => assert_eq!(forward.unwrap().commit, joined.unwrap().commit),
        Mergeable::No { error, is_conflict } => {
            let refused = joined.unwrap_err();
            assert_eq!(refused.error.message, error.message);
            assert_eq!(refused.obstacle == MergeObstacle::Conflict, is_conflict);
        }
    }
}

/// The commit of the merge, and whether there was anything to merge.
fn merge(lab: &RepositoryLab, strategy: Strategy) -> Result<(String, bool)> {
    check_foretold(lab);
    let plan = lab.git.plan_merge("fix", "main", strategy, Some(&lab.pooled(1)));
    let plan = plan.map_err(|flaw| flaw.error)?;
    lab.git.merge(&plan, "main").map(|()| (plan.commit, plan.is_new))
}

#[test]
fn a_branch_is_fast_forwarded_in_the_default_checkout() {
    let lab = RepositoryLab::new();
    let commit = task_with_commit(&lab);
    lab.write(&lab.repo().join("mine"), "unrelated work in the main checkout\n");
    assert_eq!(merge(&lab, Strategy::FastForward).unwrap(), (commit.clone(), true));
    assert_eq!(lab.commit_of("main"), commit);
    assert!(lab.repo().join("feature").exists() && lab.repo().join("mine").exists());
    assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "?? mine");
    // It is not on the remote yet.
    assert_eq!(merge(&lab, Strategy::FastForward).unwrap(), (commit.clone(), true));
    lab.git.push(REMOTE, "main").unwrap();
    assert_eq!(merge(&lab, Strategy::FastForward).unwrap(), (commit, false));
}

#[test]
fn a_branch_is_merged_without_a_checkout_of_the_default_branch() {
    let lab = RepositoryLab::new();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "elsewhere"]);
    let theirs = task_with_commit(&lab);
    let ours = lab.commit_of("main");
    let merged = merge(&lab, Strategy::Merge).unwrap();
    assert_eq!(
        lab.run(&lab.repo(), &["rev-list", "--parents", "-n", "1", "main"]),
        format!("{} {ours} {theirs}", merged.0)
    );
    assert_eq!(
        lab.run(&lab.repo(), &["log", "-1", "--format=%an: %s", "main"]),
        "Ada: Merge branch 'fix' into main"
    );
    assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "");
}

#[test]
fn diverged_branches_need_a_merge_commit() {
    let lab = RepositoryLab::new();
    task_with_commit(&lab);
    lab.commit(&lab.repo(), "other", "o\n");
    refuses(merge(&lab, Strategy::FastForward), ErrorKind::Refused, "--strategy merge");
    merge(&lab, Strategy::Merge).unwrap();
    assert!(lab.repo().join("feature").exists() && lab.repo().join("other").exists());
    assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "");
}

#[test]
fn a_default_branch_that_only_the_remote_has_begins_here() {
    let lab = RepositoryLab::new();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "elsewhere"]);
    let commit = task_with_commit(&lab);
    lab.run(&lab.repo(), &["branch", "--quiet", "-D", "main"]);
    merge(&lab, Strategy::FastForward).unwrap();
    assert_eq!(lab.commit_of("main"), commit);
}

#[test]
fn a_conflict_changes_nothing() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.commit(&lab.pooled(1), "readme", "theirs\n");
    let ours = lab.commit(&lab.repo(), "readme", "ours\n");
    for strategy in [Strategy::Merge, Strategy::FastForward] {
        refuses(merge(&lab, strategy), ErrorKind::Refused, "conflicts with `main` in readme");
        let refused = lab.git.plan_merge("fix", "main", strategy, None).unwrap_err();
        assert_eq!(refused.obstacle, MergeObstacle::Conflict);
        let refused = refused.error;
        assert!(!refused.help.contains("--strategy"), "{refused}");
    }
    assert_eq!(lab.commit_of("main"), ours);
    assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "");
    assert!(!lab.repo().join(".git/MERGE_HEAD").exists());
}

#[test]
fn uncommitted_work_anywhere_in_the_way_refuses_a_merge() {
    let lab = RepositoryLab::new();
    task_with_commit(&lab);
    lab.write(&lab.pooled(1).join("forgotten"), "f\n");
    refuses(merge(&lab, Strategy::FastForward), ErrorKind::Refused, "uncommitted work: forgotten");
    fs::remove_file(lab.pooled(1).join("forgotten")).unwrap();

    let before = lab.commit_of("main");
    lab.write(&lab.repo().join("feature"), "the person's own\n");
    for strategy in [Strategy::FastForward, Strategy::Merge] {
        refuses(merge(&lab, strategy), ErrorKind::Refused, "cannot take the merge");
    }
    assert_eq!(lab.commit_of("main"), before);
    assert_eq!(fs::read_to_string(lab.repo().join("feature")).unwrap(), "the person's own\n");

    lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
    refuses(merge(&lab, Strategy::FastForward), ErrorKind::Refused, "is on no branch");
    refuses(
        lab.git.plan_merge("nope", "main", Strategy::Merge, None).map_err(|flaw| flaw.error),
        ErrorKind::NotFound,
        "there is no branch",
    );
}

#[test]
fn branches_are_pushed_and_deleted_on_the_remote() {
    let lab = RepositoryLab::new();
    let commit = task_with_commit(&lab);
    assert!(!lab.git.delete_remote_branch("fix", "main", &lab.commit_of("main~0")).unwrap());
    lab.git.push(REMOTE, "fix").unwrap();
    assert_eq!(lab.run(&lab.path("origin.git"), &["rev-parse", "fix"]), commit);
    refuses(lab.git.delete_remote_branch("main", "main", "main"), ErrorKind::Refused, "never deleted");
    assert!(lab.git.delete_remote_branch("fix", "main", &lab.commit_of("main~0")).unwrap());
    assert!(!lab.git.delete_remote_branch("fix", "main", &lab.commit_of("main~0")).unwrap());
    assert!(
        !RepositoryLab::without_remote()
            .git
            .delete_remote_branch("fix", "main", &lab.commit_of("main~0"))
            .unwrap()
    );
}

#[test]
fn protected_branches_stay_on_the_remote() {
    let lab = RepositoryLab::new();
    lab.run(&lab.repo(), &["config", "--add", "orange.protected", "lts-*"]);
    lab.run(&lab.repo(), &["config", "--add", "orange.protected", "demo"]);
    let from = lab.commit_of("main");
    let has = |branch: &str| !lab.run(&lab.path("origin.git"), &["branch", "--list", branch]).is_empty();
    for (branch, stays) in [
        ("develop", true),
        ("release/1.2", true),
        ("lts-3", true),
        ("demo", true),
        ("developer", false),
        ("releases", false),
        ("demo2", false),
    ] {
        lab.run(&lab.repo(), &["branch", branch, "main"]);
        lab.git.push(REMOTE, branch).unwrap();
        assert_eq!(lab.git.delete_remote_branch(branch, "main", &from).unwrap(), !stays, "{branch}");
        assert_eq!(has(branch), stays, "{branch}");
    }
}

#[test]
fn a_remote_branch_with_somebody_elses_commits_is_not_deleted() {
    let lab = RepositoryLab::new();
    task_with_commit(&lab);
    lab.git.push(REMOTE, "fix").unwrap();
    lab.run(
        &lab.path(""),
        &["clone", "--quiet", "-b", "fix", lab.path("origin.git").to_str().unwrap(), "other"],
    );
    lab.commit(&lab.path("other"), "theirs", "t\n");
    lab.run(&lab.path("other"), &["push", "--quiet", "origin", "fix"]);
    refuses(
        lab.git.delete_remote_branch("fix", "main", &lab.commit_of("main~0")),
        ErrorKind::Refused,
        "commits that are not here",
    );
}

#[test]
fn what_the_remote_has_beyond_comes_along() {
    let lab = RepositoryLab::new();
    task_with_commit(&lab);
    let theirs = somebody_pushes(&lab, "theirs");
    lab.git.fetch(&["main"]).unwrap();
    refuses(merge(&lab, Strategy::FastForward), ErrorKind::Refused, "--strategy merge");
    merge(&lab, Strategy::Merge).unwrap();
    assert!(lab.repo().join("theirs").exists() && lab.repo().join("feature").exists());
    lab.run(&lab.repo(), &["merge-base", "--is-ancestor", &theirs, "main"]);
    lab.git.push(REMOTE, "main").unwrap();
}

#[test]
fn a_default_branch_that_has_diverged_stops_a_merge() {
    let lab = RepositoryLab::new();
    task_with_commit(&lab);
    somebody_pushes(&lab, "theirs");
    lab.git.fetch(&["main"]).unwrap();
    let ours = lab.commit(&lab.repo(), "ours", "o\n");
    for strategy in [Strategy::FastForward, Strategy::Merge] {
        refuses(merge(&lab, strategy), ErrorKind::Refused, "have diverged");
    }
    assert_eq!(lab.commit_of("main"), ours);
}

#[test]
fn a_default_branch_that_is_being_rebased_is_left_alone() {
    let lab = RepositoryLab::new();
    task_with_commit(&lab);
    lab.run(&lab.repo(), &["branch", "--quiet", "base"]);
    lab.commit(&lab.repo(), "readme", "ours\n");
    lab.run(&lab.repo(), &["switch", "--quiet", "base"]);
    lab.commit(&lab.repo(), "readme", "theirs\n");
    lab.run(&lab.repo(), &["switch", "--quiet", "main"]);
    let before = lab.commit_of("main");
    let rebased = ProgramCall::new("git").args(["rebase", "base"]).folder(&lab.repo()).run().unwrap();
    assert!(!rebased.success(), "it stops at the conflict");
    refuses(merge(&lab, Strategy::Merge), ErrorKind::Refused, "is being rebased");
    lab.run(&lab.repo(), &["rebase", "--abort"]);
    assert_eq!(lab.commit_of("main"), before);
}

/// Another clone pushes a commit to the default branch.
fn somebody_pushes(lab: &RepositoryLab, file: &str) -> String {
    lab.run(&lab.path(""), &["clone", "--quiet", lab.path("origin.git").to_str().unwrap(), "other"]);
    let commit = lab.commit(&lab.path("other"), file, "t\n");
    lab.run(&lab.path("other"), &["push", "--quiet", "origin", "HEAD:main"]);
    commit
}

#[test]
fn git_config_for_merges_and_pushes_changes_nothing() {
    let lab = RepositoryLab::new();
    let commit = task_with_commit(&lab);
    for (name, value) in [
        ("branch.main.mergeOptions", "--squash"),
        ("merge.ff", "no"),
        ("push.default", "nothing"),
        ("push.followTags", "true"),
    ] {
        lab.run(&lab.repo(), &["config", name, value]);
    }
    lab.run(&lab.repo(), &["tag", "--annotate", "-m", "mine", "mine"]);
    assert_eq!(merge(&lab, Strategy::FastForward).unwrap(), (commit.clone(), true));
    assert_eq!(lab.commit_of("main"), commit);
    lab.git.push(REMOTE, "main").unwrap();
    let there = lab.run(&lab.repo(), &["ls-remote", "origin", "refs/*"]);
    assert_eq!(there, format!("{commit}\trefs/heads/main"));
}
