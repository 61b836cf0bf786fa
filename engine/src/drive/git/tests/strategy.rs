//! Merges by each strategy: their commits, repeated merges, and random branches.

use orange_core::merge::{BegunMerge, Strategy};
use orange_testkit::Random;

use super::*;

const MAKING: [Strategy; 4] = [Strategy::Merge, Strategy::Squash, Strategy::Rebase, Strategy::Auto];

impl RepositoryLab {
    /// Commits a file on a branch that begins at `main`, without a checkout of `main` in between.
    fn commit_on(&self, branch: &str, file: &str, text: &str) -> String {
        let folder = self.path("side");
        if !folder.exists() {
            self.run(&self.repo(), &["worktree", "add", "--quiet", "--detach", folder.to_str().unwrap()]);
        }
        let known = self.git.branch_tip(branch).unwrap().is_some();
        let words: &[&str] =
            if known { &["switch", "-q", branch] } else { &["switch", "-q", "-c", branch, "main"] };
        self.run(&folder, words);
        let commit = self.commit(&folder, file, text);
        self.run(&folder, &["switch", "--quiet", "--detach"]);
        commit
    }

    fn merge_by(&self, branch: &str, form: MergeForm<'_>) -> Result<Merge> {
        let plan = self.git.plan_merge(branch, "main", form, None).map_err(|flaw| flaw.error)?;
        self.git.merge(&plan, "main").map(|()| plan)
    }

    fn subjects(&self, range: &str) -> Vec<String> {
        self.run(&self.repo(), &["log", "--format=%an: %s", range]).lines().map(str::to_owned).collect()
    }
}

fn by(strategy: Strategy) -> MergeForm<'static> {
    strategy.into()
}

#[test]
fn five_parallel_branches_merge_one_after_the_other() {
    for strategy in MAKING {
        let lab = RepositoryLab::new();
        let branches = ["a", "b", "c", "d", "e"];
        for branch in branches {
            lab.commit_on(branch, branch, "1\n");
            lab.commit_on(branch, &format!("{branch}2"), "2\n");
        }
        for branch in branches {
            assert!(lab.merge_by(branch, by(strategy)).unwrap().is_new, "{strategy:?}");
        }
        for branch in branches {
            assert!(lab.repo().join(branch).exists() && lab.repo().join(format!("{branch}2")).exists());
            let again = lab.git.plan_merge(branch, "main", strategy, None).unwrap();
            assert_eq!(again.commit, lab.commit_of("main"), "{strategy:?} merges {branch} twice");
        }
        assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "");
        let commits = lab.subjects("main").len();
        let expected = match strategy {
            Strategy::Squash => 1 + 5,
            Strategy::Rebase | Strategy::Auto => 1 + 10,
            Strategy::Merge | Strategy::FastForward => 1 + 15,
        };
        assert_eq!(commits, expected, "{strategy:?}");
    }
}

#[test]
fn a_squash_is_one_commit_with_a_title_and_authors() {
    let lab = RepositoryLab::new();
    lab.commit_on("fix", "one", "1\n");
    let folder = lab.path("side");
    lab.run(&folder, &["switch", "--quiet", "fix"]);
    lab.write(&folder.join("two"), "2\n");
    lab.run(&folder, &["add", "two"]);
    lab.run(&folder, &["commit", "-q", "-m", "# two", "--author=Bob <bob@b>"]);
    lab.run(&folder, &["switch", "--quiet", "--detach"]);
    let before = lab.commit_of("main");
    let form = MergeForm { title: "Mend it", ..by(Strategy::Squash) };
    lab.merge_by("fix", form).unwrap();
    assert_eq!(lab.commit_of("main~1"), before);
    let text = lab.run(&lab.repo(), &["log", "-1", "--format=%B", "main"]);
    assert_eq!(text, "Mend it\n\n* one\n* # two\n\nCo-authored-by: Bob <bob@b>");
}

#[test]
fn a_rebase_keeps_authors_dates_and_messages() {
    let lab = RepositoryLab::new();
    lab.commit_on("fix", "one", "1\n");
    let folder = lab.path("side");
    lab.run(&folder, &["switch", "--quiet", "fix"]);
    let date = "2020-02-02T02:02:02+02:00";
    let words = ["commit", "-q", "--allow-empty", "-m", "empty"];
    lab.run(&folder, &words);
    lab.write(&folder.join("two"), "2\n");
    lab.run(&folder, &["add", "two"]);
    let author = ["--author=Zoë <zoe@z>", "--date", date];
    lab.run(&folder, &[&["commit", "-q", "-m", "Ärger\n\nbody  \n\n# kept"][..], &author].concat());
    lab.run(&folder, &["switch", "--quiet", "--detach"]);
    lab.commit(&lab.repo(), "other", "o\n");
    let plan = lab.merge_by("fix", by(Strategy::Rebase)).unwrap();
    assert_eq!(plan.strategy, Strategy::Rebase);
    assert_eq!(lab.subjects("main"), ["Zoë: Ärger", "Ada: one", "Ada: other", "Ada: readme"]);
    let format = "--format=%ae %aI%n%B";
    let of = |revision: &str| lab.run(&lab.repo(), &["log", "-1", format, revision]);
    assert_eq!(of("main"), of("fix"));
    let source = lab.commit_of("fix");
    assert_eq!(plan.source, source, "the branch stays");
}

#[test]
fn a_rebase_does_not_lose_what_a_merge_commit_has_changed() {
    let lab = RepositoryLab::new();
    lab.commit_on("fix", "one", "1\n");
    lab.commit(&lab.repo(), "other", "o\n");
    let folder = lab.path("side");
    lab.run(&folder, &["switch", "--quiet", "fix"]);
    lab.run(&folder, &["merge", "--quiet", "--no-commit", "main"]);
    lab.write(&folder.join("evil"), "in the merge alone\n");
    lab.run(&folder, &["add", "evil"]);
    lab.run(&folder, &["commit", "--quiet", "-m", "Merge"]);
    lab.run(&folder, &["switch", "--quiet", "--detach"]);
    lab.commit(&lab.repo(), "third", "t\n");
    let before = lab.commit_of("main");
    refuses(lab.merge_by("fix", by(Strategy::Rebase)), ErrorKind::Refused, "--strategy squash");
    assert_eq!(lab.commit_of("main"), before);
    assert_eq!(lab.merge_by("fix", by(Strategy::Auto)).unwrap().strategy, Strategy::Merge);
    assert!(lab.repo().join("evil").exists());
}

#[test]
fn the_first_possible_strategy_is_taken() {
    let lab = RepositoryLab::new();
    lab.commit_on("fix", "one", "1\n");
    assert_eq!(
        lab.git.plan_merge("fix", "main", Strategy::Auto, None).unwrap().strategy,
        Strategy::FastForward
    );
    lab.commit(&lab.repo(), "other", "o\n");
    assert_eq!(lab.git.plan_merge("fix", "main", Strategy::Auto, None).unwrap().strategy, Strategy::Rebase);
    lab.commit(&lab.repo(), "one", "mine\n");
    for strategy in MAKING {
        refuses(
            lab.git.plan_merge("fix", "main", strategy, None).map_err(|flaw| flaw.error),
            ErrorKind::Refused,
            "conflicts with `main` in one",
        );
    }
}

#[test]
fn work_that_was_squashed_by_hand_is_nothing_new() {
    let lab = RepositoryLab::new();
    lab.commit_on("fix", "one", "1\n");
    lab.commit(&lab.repo(), "other", "o\n");
    lab.commit(&lab.repo(), "one", "1\n");
    for strategy in [Strategy::Squash, Strategy::Rebase, Strategy::Auto] {
        let plan = lab.git.plan_merge("fix", "main", strategy, None).unwrap();
        assert_eq!((plan.commit, plan.is_new), (lab.commit_of("main"), false), "{strategy:?}");
    }
}

fn begun(plan: &Merge) -> BegunMerge<'_> {
    BegunMerge {
        from: plan.from.as_deref(),
        commit: &plan.commit,
        source: &plan.source,
        strategy: plan.strategy,
    }
}

#[test]
fn a_second_squash_takes_only_the_new_commits() {
    for strategy in [Strategy::Squash, Strategy::Rebase, Strategy::Merge] {
        let lab = RepositoryLab::new();
        lab.commit(&lab.repo(), "file", "a\nb\nc\n");
        lab.commit_on("fix", "file", "a\nB1\nc\n");
        lab.commit(&lab.repo(), "other", "o\n");
        let first = lab.merge_by("fix", by(strategy)).unwrap();
        lab.commit_on("fix", "file", "a\nB2\nc\n");
        let form = MergeForm { begun: Some(begun(&first)), ..by(strategy) };
        assert!(lab.merge_by("fix", form).unwrap().is_new);
        assert_eq!(fs::read_to_string(lab.repo().join("file")).unwrap(), "a\nB2\nc\n", "{strategy:?}");
        let found = lab.git.mergeable("fix", "main", None, Some(&begun(&first)), None).unwrap();
        assert!(!matches!(found, Mergeable::No { .. }), "{found:?}");
    }
}

#[test]
fn a_merge_that_was_planned_is_the_same_when_repeated() {
    for strategy in MAKING {
        let lab = RepositoryLab::new();
        lab.commit_on("fix", "one", "1\n");
        lab.commit(&lab.repo(), "other", "o\n");
        let first = lab.git.plan_merge("fix", "main", strategy, None).unwrap();
        let form = MergeForm { begun: Some(begun(&first)), ..by(first.strategy) };
        let again = lab.merge_by("fix", form).unwrap();
        assert!(again.is_begun && again.is_new && again.commit == first.commit, "{strategy:?}");
        let done = lab.merge_by("fix", form).unwrap();
        assert!(done.is_begun && !done.is_new && done.commit == first.commit, "{strategy:?}");
        // Somebody commits meanwhile: the merge that was planned is no longer one step ahead.
        lab.commit_on("next", "two", "2\n");
        let planned = lab.git.plan_merge("next", "main", Strategy::Squash, None).unwrap();
        lab.commit(&lab.repo(), "third", "t\n");
        let form = MergeForm { begun: Some(begun(&planned)), ..by(Strategy::Squash) };
        let second = lab.merge_by("next", form).unwrap();
        assert!(!second.is_begun && lab.repo().join("third").exists() && lab.repo().join("two").exists());
    }
}

#[test]
fn a_planned_merge_is_made_again_after_a_push_of_others() {
    let lab = RepositoryLab::new();
    lab.commit_on("fix", "one", "1\n");
    let planned = lab.git.plan_merge("fix", "main", Strategy::Squash, None).unwrap();
    lab.run(&lab.path(""), &["clone", "--quiet", lab.path("origin.git").to_str().unwrap(), "other"]);
    lab.commit(&lab.path("other"), "theirs", "t\n");
    lab.run(&lab.path("other"), &["push", "--quiet", "origin", "HEAD:main"]);
    lab.git.fetch(&["main"]).unwrap();
    let form = MergeForm { begun: Some(begun(&planned)), ..by(Strategy::Squash) };
    assert!(!lab.merge_by("fix", form).unwrap().is_begun);
    lab.git.push(REMOTE, "main").unwrap();
    assert!(lab.repo().join("one").exists() && lab.repo().join("theirs").exists());
}

/// Random branches over few lines: whatever a strategy does, `main` gets what `git merge` makes, or nothing changes; nobody's
/// uncommitted file changes, and no commit of a branch is lost.
#[test]
fn no_strategy_loses_a_line() {
    const ROUNDS: u64 = 12;
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let lab = RepositoryLab::new();
        let lines = |random: &mut Random| -> String {
            (0..6)
                .map(|line| format!("{line} {}\n", if random.below(4) == 0 { random.below(3) } else { 9 }))
                .collect()
        };
        lab.commit(&lab.repo(), "f", &lines(&mut random));
        for branch in ["a", "b", "c"] {
            for _ in 0..=random.below(2) {
                let file = ["f", "g"][random.below(2)];
                let text = format!("{}{}", lines(&mut random), random.below(1000));
                lab.commit_on(branch, file, &text);
            }
        }
        lab.write(&lab.repo().join("mine"), "not committed\n");
        for branch in ["a", "b", "c"] {
            let strategy = Strategy::ALL[random.below(5)];
            let (before, tip) = (lab.commit_of("main"), lab.commit_of(branch));
            let words = ["merge-tree", "--write-tree", before.as_str(), tip.as_str()];
            let oracle = lab.git.call_in(&lab.repo()).args(words).run().unwrap();
            let story = format!("seed {seed}: {branch} by {}", strategy.as_str());
            match lab.merge_by(branch, by(strategy)) {
                Ok(_) => {
                    assert!(oracle.success(), "{story}");
                    assert_eq!(lab.git.tree_of("main").unwrap(), oracle.text(), "{story}");
                    assert!(lab.git.is_ancestor(&before, "main").unwrap(), "{story}");
                }
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::Refused, "{story}: {error}");
                    assert_eq!(lab.commit_of("main"), before, "{story}");
                }
            }
            assert_eq!(lab.commit_of(branch), tip, "{story}");
            assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "?? mine", "{story}");
        }
    }
}
