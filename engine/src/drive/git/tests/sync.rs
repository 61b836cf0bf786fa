//! A branch is brought up to its base, with and without a worktree.

use orange_core::merge::{BegunMerge, BegunSync, Strategy};

use super::*;

fn by(strategy: Strategy) -> SyncForm<'static> {
    SyncForm { strategy, begun: None, merged: None, undone: None, is_trial: false }
}

impl RepositoryLab {
    fn plan_sync(&self, form: SyncForm<'_>) -> SyncPlan {
        self.git.plan_sync("fix", "main", form).unwrap()
    }

    /// Brings `fix` up to `main`.
    fn sync(&self, strategy: Strategy, worktree: Option<&Path>) -> SyncPlan {
        let plan = self.plan_sync(by(strategy));
        self.git.sync(&plan, "fix", worktree).unwrap();
        plan
    }

    fn parents(&self, commit: &str) -> Vec<String> {
        let printed = self.run(&self.repo(), &["log", "-1", "--format=%P", commit]);
        printed.split_whitespace().map(str::to_owned).collect()
    }
}

#[test]
fn a_worktree_follows_its_branch() {
    for strategy in Strategy::OF_SYNC {
        let lab = RepositoryLab::new();
        lab.acquire(1, "fix").unwrap();
        let own = lab.commit(&lab.pooled(1), "feature", "f\n");
        let base = lab.commit(&lab.repo(), "other", "o\n");
        lab.write(&lab.pooled(1).join("ignored"), "stays\n");
        let plan = lab.sync(strategy, Some(&lab.pooled(1)));
        assert_eq!((&plan.from, &plan.onto, plan.is_new()), (&own, &base, true));
        assert_eq!((lab.commit_of("fix"), lab.commit_of("main")), (plan.commit.clone(), base.clone()));
        let folder = lab.pooled(1);
        assert!(["other", "feature", "ignored"].iter().all(|file| folder.join(file).exists()));
        assert_eq!(lab.run(&folder, &["status", "--porcelain", "--branch"]), "## fix");
        if strategy == Strategy::Rebase {
            assert_eq!(lab.parents("fix"), [base]);
        } else {
            assert_eq!(lab.parents("fix"), [own, base]);
            let subject = lab.run(&lab.repo(), &["log", "-1", "--format=%s", "fix"]);
            assert_eq!(subject, "Merge branch 'main' into fix");
        }
        assert!(!lab.plan_sync(by(strategy)).is_new());
    }
}

#[test]
fn a_branch_without_a_worktree_moves_alone() {
    for strategy in Strategy::OF_SYNC {
        let lab = RepositoryLab::new();
        lab.acquire(1, "fix").unwrap();
        lab.commit(&lab.pooled(1), "feature", "f\n");
        lab.commit(&lab.repo(), "other", "o\n");
        let plan = lab.plan_sync(by(strategy));
        let refused = lab.git.sync(&plan, "fix", None).unwrap_err();
        assert!(refused.message.contains("is checked out in"), "{refused}");
        lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
        lab.git.sync(&plan, "fix", None).unwrap();
        assert_eq!(lab.files_in("fix"), [".gitignore", "feature", "other", "readme"]);
        // Somebody has moved it meanwhile.
        lab.commit(&lab.repo(), "third", "t\n");
        let plan = lab.plan_sync(by(strategy));
        lab.run(&lab.pooled(1), &["switch", "--quiet", "fix"]);
        let theirs = lab.commit(&lab.pooled(1), "late", "l\n");
        assert!(lab.git.sync(&plan, "fix", Some(&lab.pooled(1))).is_err());
        lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
        assert!(lab.git.sync(&plan, "fix", None).is_err());
        assert_eq!(lab.commit_of("fix"), theirs);
    }
}

#[test]
fn a_conflict_with_the_base_changes_nothing() {
    for strategy in Strategy::OF_SYNC {
        let lab = RepositoryLab::new();
        lab.acquire(1, "fix").unwrap();
        let own = lab.commit(&lab.pooled(1), "readme", "theirs\n");
        lab.commit(&lab.repo(), "readme", "ours\n");
        let flaw = lab.git.plan_sync("fix", "main", by(strategy)).unwrap_err();
        assert_eq!(flaw.obstacle, MergeObstacle::Conflict);
        assert_eq!(flaw.error.message, "`fix` conflicts with `main` in readme");
        assert_eq!(lab.commit_of("fix"), own);
        assert_eq!(lab.run(&lab.pooled(1), &["status", "--porcelain", "--branch"]), "## fix");
    }
}

#[test]
fn a_sync_that_was_planned_is_the_same_when_repeated() {
    for strategy in Strategy::OF_SYNC {
        let lab = RepositoryLab::new();
        lab.acquire(1, "fix").unwrap();
        lab.commit(&lab.pooled(1), "feature", "f\n");
        lab.commit(&lab.repo(), "other", "o\n");
        let first = lab.plan_sync(by(strategy));
        let SyncPlan { from, onto, commit, .. } = &first;
        let begun = Some(BegunSync { from, onto, commit, strategy });
        let again = lab.plan_sync(SyncForm { begun, ..by(strategy) });
        assert!(again.is_begun && again.commit == first.commit);
        lab.git.sync(&again, "fix", Some(&lab.pooled(1))).unwrap();
        lab.commit(&lab.pooled(1), "more", "m\n");
        let moved = lab.plan_sync(SyncForm { begun, ..by(strategy) });
        assert!(moved.is_begun && moved.commit == first.commit);
        lab.git.sync(&moved, "fix", Some(&lab.pooled(1))).unwrap();
        assert!(lab.pooled(1).join("more").exists());
    }
}

#[test]
fn what_only_the_remote_has_is_not_lost() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.commit(&lab.pooled(1), "feature", "f\n");
    lab.run(&lab.repo(), &["push", "--quiet", "origin", "fix"]);
    lab.run(&lab.path(""), &["clone", "--quiet", lab.path("origin.git").to_str().unwrap(), "other"]);
    lab.run(&lab.path("other"), &["switch", "--quiet", "fix"]);
    lab.commit(&lab.path("other"), "theirs", "t\n");
    lab.run(&lab.path("other"), &["push", "--quiet", "origin", "fix"]);
    lab.commit(&lab.repo(), "other", "o\n");
    lab.git.fetch(&["main", "fix"]).unwrap();
    let flaw = lab.git.plan_sync("fix", "main", by(Strategy::Merge)).unwrap_err();
    assert!(flaw.error.message.contains("has commits that `fix` here lacks"), "{}", flaw.error);
}

/// Part of the branch is in the base by a squash; then both go on, and the branch is brought up to the base.
#[test]
fn a_branch_of_which_a_part_was_squashed_is_synced() {
    for strategy in Strategy::OF_SYNC {
        let lab = RepositoryLab::new();
        lab.commit(&lab.repo(), "file", "a\nb\nc\n");
        lab.git.push(REMOTE, "main").unwrap();
        lab.acquire(1, "fix").unwrap();
        lab.commit(&lab.pooled(1), "file", "a\nB1\nc\n");
        let squash = MergeForm { strategy: Strategy::Squash, ..MergeForm::default() };
        let first = lab.git.plan_merge("fix", "main", squash, None).unwrap();
        lab.git.merge(&first, "main").unwrap();
        lab.commit(&lab.pooled(1), "file", "a\nB2\nc\n");
        lab.commit(&lab.repo(), "other", "o\n");
        let begun = BegunMerge {
            from: first.from.as_deref(),
            commit: &first.commit,
            source: &first.source,
            strategy: Strategy::Squash,
        };
        let form = SyncForm { merged: Some(begun), ..by(strategy) };
        let plan = lab.plan_sync(form);
        lab.git.sync(&plan, "fix", Some(&lab.pooled(1))).unwrap();
        assert_eq!(lab.text_in("fix", "file"), "a\nB2\nc");
        // The base changes again what the branch got from it.
        lab.commit(&lab.repo(), "other", "O\n");
        let form = MergeForm { begun: Some(begun), ..squash };
        let second = lab.git.plan_merge("fix", "main", form, None).unwrap();
        lab.git.merge(&second, "main").unwrap();
        assert_eq!(lab.text_in("main", "file"), "a\nB2\nc");
        assert_eq!(lab.text_in("main", "other"), "O");
        let message = lab.run(&lab.repo(), &["log", "-1", "--format=%B", "main"]);
        assert_eq!(message, "file", "{strategy:?}: only the second commit is new");
    }
}
