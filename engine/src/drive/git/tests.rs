use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// A repository with one commit, a bare `origin` it was pushed to, and a git that knows nobody's settings.
struct Lab {
    folder: TempDir,
    git: Git,
}

impl Lab {
    fn new() -> Lab {
        let lab = Lab::without_remote();
        let origin = lab.path("origin.git");
        lab.run(
            &lab.path(""),
            &["init", "--quiet", "--bare", "--initial-branch=main", origin.to_str().unwrap()],
        );
        lab.run(&lab.repo(), &["remote", "add", "origin", origin.to_str().unwrap()]);
        lab.run(&lab.repo(), &["push", "--quiet", "origin", "main"]);
        lab.run(&lab.repo(), &["remote", "set-head", "origin", "main"]);
        lab
    }

    fn without_remote() -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let git = isolated(&folder, &folder.path().join("repo"));
        let lab = Lab { folder, git };
        fs::create_dir(lab.repo()).unwrap();
        lab.run(&lab.repo(), &["init", "--quiet", "--initial-branch=main"]);
        lab.write(&lab.repo().join(".gitignore"), "ignored\n");
        lab.commit(&lab.repo(), "readme", "first\n");
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    fn pooled(&self, n: u32) -> PathBuf {
        self.path(&format!("pool/p--{n}"))
    }

    fn run(&self, folder: &Path, args: &[&str]) -> String {
        self.git.call_in(folder).args(args).text().unwrap()
    }

    fn write(&self, file: &Path, text: &str) {
        fs::write(file, text).unwrap();
    }

    /// Writes one file and commits everything; the commit's id.
    fn commit(&self, worktree: &Path, file: &str, text: &str) -> String {
        self.write(&worktree.join(file), text);
        self.run(worktree, &["add", "--all"]);
        self.run(worktree, &["commit", "--quiet", "-m", file]);
        self.run(worktree, &["rev-parse", "HEAD"])
    }

    fn acquire(&self, n: u32, branch: &str) -> Result<Acquired> {
        self.git.acquire(&self.pooled(n), branch, "main")
    }

    fn release(&self, n: u32) -> Option<Backup> {
        self.git.release(&self.pooled(n), "main", "T1").unwrap()
    }

    fn commit_of(&self, revision: &str) -> String {
        self.run(&self.repo(), &["rev-parse", revision])
    }

    fn text_in(&self, commit: &str, file: &str) -> String {
        self.run(&self.repo(), &["show", &format!("{commit}:{file}")])
    }

    /// The files of a commit.
    fn files_in(&self, commit: &str) -> Vec<String> {
        let listed = self.run(&self.repo(), &["ls-tree", "-r", "--name-only", commit]);
        listed.lines().map(str::to_owned).collect()
    }

    #[track_caller]
    fn check_pristine(&self, n: u32) {
        let folder = self.pooled(n);
        assert_eq!(self.git.changes(&folder).unwrap(), []);
        assert_eq!(self.git.current_branch(&folder).unwrap(), None);
        assert_eq!(self.git.head(&folder).unwrap(), Some(self.git.base("main").unwrap()));
        assert_eq!(self.run(&folder, &["status", "--porcelain=v2", "--branch"]).lines().count(), 2);
    }
}

fn isolated(folder: &TempDir, repo: &Path) -> Git {
    let mut git = Git::at(repo)
        .env("HOME", folder.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_COUNT", "0");
    for who in ["AUTHOR", "COMMITTER"] {
        git = git.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
    }
    git
}

#[track_caller]
fn refuses<T: std::fmt::Debug>(result: Result<T>, kind: Kind, says: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn this_git_is_new_enough_and_knows_who_commits() {
    let lab = Lab::without_remote();
    lab.git.check().unwrap();
    lab.git.check_identity().unwrap();
    let nobody = Git::at(lab.repo())
        .env("HOME", lab.path("nowhere"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    refuses(nobody.check_identity(), Kind::Environment, "user.email");
}

#[test]
fn a_folder_knows_its_checkout() {
    let lab = Lab::without_remote();
    fs::create_dir(lab.repo().join("sub")).unwrap();
    let at = |folder: PathBuf| Git { repo: folder, ..lab.git.clone() };
    assert_eq!(at(lab.repo().join("sub")).top_level().unwrap(), fs::canonicalize(lab.repo()).unwrap());
    refuses(at(lab.path("")).top_level(), Kind::NotFound, "not in a checkout");
    refuses(at(lab.path("none")).top_level(), Kind::Environment, "no such folder");
}

#[test]
fn a_project_is_its_main_checkout_from_wherever_it_is_named() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    let main = fs::canonicalize(lab.repo()).unwrap();
    fs::create_dir(lab.pooled(1).join("sub")).unwrap();
    for folder in [lab.repo(), lab.pooled(1), lab.pooled(1).join("sub")] {
        let git = Git { repo: folder, ..lab.git.clone() };
        assert_eq!(git.main_checkout().unwrap(), main);
    }
    lab.git.check_branch_exists("fix").unwrap();
    refuses(lab.git.check_branch_exists("nope"), Kind::NotFound, "no branch `nope`");
}

#[test]
fn a_pool_is_prepared_at_the_default_branch() {
    let lab = Lab::new();
    assert!(lab.git.prepare(&lab.pooled(1), "main").unwrap());
    lab.check_pristine(1);
    assert!(!lab.git.prepare(&lab.pooled(1), "main").unwrap());
    assert!(!lab.acquire(1, "fix").unwrap().created_worktree);
    lab.write(&lab.pooled(1).join("work"), "w\n");
    assert!(!lab.git.prepare(&lab.pooled(1), "main").unwrap());
    assert!(lab.pooled(1).join("work").exists());
}

#[test]
fn the_default_branch_is_the_remotes_else_the_current_one() {
    let lab = Lab::new();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "topic"]);
    assert_eq!(lab.git.default_branch().unwrap(), "main");
    let lab = Lab::without_remote();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "trunk"]);
    assert_eq!(lab.git.default_branch().unwrap(), "trunk");
    lab.run(&lab.repo(), &["switch", "--quiet", "--detach"]);
    assert_eq!(lab.git.default_branch().unwrap(), "main");
}

#[test]
fn branch_names_are_gits_to_judge() {
    let lab = Lab::without_remote();
    for name in ["fix", "fix/login-2", "grün", "#(touch${IFS}x)", "$x;y", "a:b".replace(':', "=").as_str()] {
        lab.git.check_branch_name(name).unwrap();
    }
    for name in [
        "",
        "../../x",
        "#(touch x)",
        "-x",
        "--force",
        "a b",
        "a:b",
        "x.lock",
        "a..b",
        "@",
        "HEAD",
        "a\nb",
        "a\0b",
        "/x",
        "x/",
    ] {
        refuses(lab.git.check_branch_name(name), Kind::Usage, "cannot be a branch's name");
    }
}

#[test]
fn a_new_branch_starts_from_what_the_remote_has_now() {
    let lab = Lab::new();
    let other = lab.path("other");
    lab.run(&lab.path(""), &["clone", "--quiet", lab.path("origin.git").to_str().unwrap(), "other"]);
    let newest = lab.commit(&other, "news", "n\n");
    lab.run(&other, &["push", "--quiet", "origin", "main"]);

    let acquired = lab.acquire(1, "fix").unwrap();
    assert_eq!(
        acquired,
        Acquired { created_worktree: true, created_branch: true, commit: newest, warning: None }
    );
    assert_eq!(lab.git.current_branch(&lab.pooled(1)).unwrap().as_deref(), Some("fix"));
    // Once more is fine, and leaves what the agent has begun.
    lab.write(&lab.pooled(1).join("begun"), "b\n");
    let again = lab.acquire(1, "fix").unwrap();
    assert!(!again.created_worktree && !again.created_branch);
    assert!(lab.pooled(1).join("begun").exists());
}

#[test]
fn without_a_remote_a_branch_starts_from_the_local_default() {
    let lab = Lab::without_remote();
    let acquired = lab.acquire(1, "fix").unwrap();
    assert_eq!((acquired.commit, acquired.warning), (lab.commit_of("main"), None));
}

#[test]
fn a_remote_that_cannot_be_reached_is_a_warning() {
    let lab = Lab::new();
    fs::rename(lab.path("origin.git"), lab.path("away.git")).unwrap();
    let acquired = lab.acquire(1, "fix").unwrap();
    assert!(acquired.warning.unwrap().contains("could not be asked"));
    assert_eq!(acquired.commit, lab.commit_of("main"));
}

#[test]
fn an_existing_local_branch_is_taken_as_it_is() {
    let lab = Lab::new();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "fix"]);
    let commit = lab.commit(&lab.repo(), "half", "done\n");
    lab.run(&lab.repo(), &["switch", "--quiet", "main"]);
    assert_eq!(lab.git.branch_state("fix").unwrap(), BranchState::Local);
    let acquired = lab.acquire(1, "fix").unwrap();
    assert_eq!((acquired.commit, acquired.created_branch), (commit, false));
}

#[test]
fn a_branch_only_on_the_remote_is_fetched_and_tracked() {
    let lab = Lab::new();
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
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    refuses(
        lab.acquire(2, "fix"),
        Kind::Refused,
        &format!("checked out at {}", fs::canonicalize(lab.pooled(1)).unwrap().display()),
    );
    refuses(lab.acquire(2, "main"), Kind::Refused, "checked out at");
    assert!(!lab.pooled(2).exists());
}

#[test]
fn folders_that_are_not_ours_are_refused_and_left_alone() {
    let lab = Lab::new();
    let foreign = lab.pooled(1);
    fs::create_dir_all(&foreign).unwrap();
    lab.write(&foreign.join("precious"), "p\n");
    refuses(lab.acquire(1, "fix"), Kind::Refused, "is not a worktree of");
    refuses(lab.git.release(&foreign, "main", "T1"), Kind::Refused, "is not a worktree of");
    lab.run(&foreign, &["init", "--quiet"]);
    refuses(lab.acquire(1, "fix"), Kind::Refused, "is not a worktree of");
    refuses(lab.git.acquire(&lab.repo(), "fix", "main"), Kind::Refused, "main checkout");
    lab.write(&lab.repo().join("mine"), "m\n");
    refuses(lab.git.release(&lab.repo(), "main", "T1"), Kind::Refused, "main checkout");
    assert!(lab.repo().join("mine").exists() && foreign.join("precious").exists());
    assert_eq!(lab.git.branch_state("fix").unwrap(), BranchState::Nowhere);
}

#[test]
fn a_worktree_without_its_git_file_is_not_taken_for_the_repository_around_it() {
    let lab = Lab::new();
    // The pool lies inside another repository.
    lab.run(&lab.path(""), &["init", "--quiet"]);
    lab.acquire(1, "fix").unwrap();
    fs::remove_file(lab.pooled(1).join(".git")).unwrap();
    lab.write(&lab.pooled(1).join("work"), "w\n");
    refuses(lab.git.release(&lab.pooled(1), "main", "T1"), Kind::Refused, "lost its link");
    refuses(lab.acquire(1, "fix"), Kind::Refused, "lost its link");
    assert!(lab.pooled(1).join("work").exists());
}

#[test]
fn a_pooled_worktree_with_work_is_refused_for_another_branch() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    lab.write(&lab.pooled(1).join("work"), "w\n");
    refuses(lab.acquire(1, "other"), Kind::Refused, "holds uncommitted work: work");
    fs::remove_file(lab.pooled(1).join("work")).unwrap();
    lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
    lab.commit(&lab.pooled(1), "lone", "l\n");
    refuses(lab.acquire(1, "other"), Kind::Refused, "commits that no branch has");
}

#[test]
fn a_repository_without_a_commit_says_so() {
    let lab = Lab::without_remote();
    let empty = lab.path("empty");
    fs::create_dir(&empty).unwrap();
    lab.run(&empty, &["init", "--quiet", "--initial-branch=main"]);
    let git = isolated(&lab.folder, &empty);
    refuses(git.acquire(&lab.pooled(1), "fix", "main"), Kind::NotFound, "first commit");
}

#[test]
fn many_worktrees_can_be_acquired_at_once() {
    let lab = Lab::new();
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
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    lab.release(1);
    let lock = lab.repo().join(".git/worktrees/p--1/index.lock");
    lab.write(&lock, "");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| lab.acquire(1, "other").unwrap());
        std::thread::sleep(Duration::from_millis(100));
        fs::remove_file(&lock).unwrap();
        waiting.join().unwrap();
    });
    assert_eq!(lab.git.current_branch(&lab.pooled(1)).unwrap().as_deref(), Some("other"));
}

#[test]
fn the_tasks_file_is_no_work() {
    let lab = Lab::new();
    lab.git.exclude(TASK_FILE).unwrap();
    lab.git.exclude(TASK_FILE).unwrap();
    let exclude = fs::read_to_string(lab.repo().join(".git/info/exclude")).unwrap();
    assert_eq!(exclude.matches("/TASK.md").count(), 1);
    lab.acquire(1, "fix").unwrap();
    symlink("/nowhere/TASK.md", lab.pooled(1).join(TASK_FILE)).unwrap();
    assert_eq!(lab.run(&lab.pooled(1), &["status", "--porcelain"]), "");
    assert!(!lab.git.is_dirty(&lab.pooled(1)).unwrap());
    assert_eq!(lab.release(1), None);
    assert!(fs::symlink_metadata(lab.pooled(1).join(TASK_FILE)).is_ok());
}

#[test]
fn a_clean_worktree_is_released_without_a_backup_and_its_branch_stays() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    let commit = lab.commit(&lab.pooled(1), "done", "d\n");
    assert_eq!(lab.release(1), None);
    lab.check_pristine(1);
    assert_eq!(lab.commit_of("fix"), commit);
    assert_eq!(lab.release(1), None);
}

#[test]
fn everything_uncommitted_is_backed_up() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    let tip = lab.commit(&folder, "done", "d\n");
    lab.write(&folder.join("done"), "staged\n");
    lab.run(&folder, &["add", "done"]);
    lab.write(&folder.join("done"), "changed\n");
    fs::create_dir(folder.join("new dir")).unwrap();
    lab.write(&folder.join("new dir/ü\n#"), "untracked\n");
    lab.write(&folder.join("ignored"), "i\n");
    fs::remove_file(folder.join("readme")).unwrap();
    lab.write(&folder.join(TASK_FILE), "an editor replaced the link\n");
    // A person's settings must not get in the way of a backup.
    for (key, value) in [
        ("core.safecrlf", "true"),
        ("core.autocrlf", "input"),
        ("status.showUntrackedFiles", "no"),
        ("commit.gpgSign", "true"),
    ] {
        lab.run(&lab.repo(), &["config", key, value]);
    }
    lab.write(&folder.join("crlf"), "a\r\n");

    let backup = lab.release(1).unwrap();
    assert_eq!(backup.reference, "refs/orange/backup/T1/1");
    assert_eq!(lab.commit_of(&backup.reference), backup.commit);
    assert_eq!(lab.files_in(&backup.commit).len(), 4, "{:?}", lab.files_in(&backup.commit));
    assert_eq!(lab.text_in(&backup.commit, "done"), "changed");
    assert_eq!(lab.text_in(&backup.commit, "new dir/ü\n#"), "untracked");
    assert_eq!(lab.text_in(&format!("{}^", backup.commit), "done"), "staged");
    assert_eq!(lab.commit_of(&format!("{}^^", backup.commit)), tip);
    assert_eq!(lab.run(&lab.repo(), &["log", "-1", "--format=%an", &backup.commit]), "orange");
    assert!(folder.join("ignored").exists() && !folder.join("new dir").exists());
    assert_eq!(fs::read_to_string(folder.join(TASK_FILE)).unwrap(), "an editor replaced the link\n");
    assert_eq!(lab.git.changes(&folder).unwrap(), []);

    lab.acquire(1, "fix").unwrap();
    lab.write(&folder.join("more"), "m\n");
    assert_eq!(lab.release(1).unwrap().reference, "refs/orange/backup/T1/2");
}

#[test]
fn commits_that_nothing_keeps_are_backed_up() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
    let lone = lab.commit(&lab.pooled(1), "lone", "l\n");
    assert_eq!(lab.release(1).unwrap().commit, lone);
    lab.check_pristine(1);
}

#[test]
fn work_on_a_branch_without_commits_is_backed_up() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    lab.run(&lab.pooled(1), &["switch", "--quiet", "--orphan", "fresh"]);
    lab.write(&lab.pooled(1).join("only"), "o\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.files_in(&backup.commit), ["only"]);
    lab.check_pristine(1);
}

/// Leaves worktree 1 in the middle of something that conflicts.
fn in_the_middle_of(lab: &Lab, verb: &[&str]) {
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    lab.commit(&folder, "readme", "ours\n");
    lab.commit(&folder, "more", "m\n");
    lab.run(&folder, &["switch", "--quiet", "-c", "theirs", "origin/main"]);
    lab.commit(&folder, "readme", "theirs\n");
    lab.run(&folder, &["switch", "--quiet", "fix"]);
    assert!(!lab.git.call_in(&folder).args(verb).run().unwrap().success());
    assert!(lab.git.is_dirty(&folder).unwrap());
}

#[test]
fn an_unfinished_operation_is_backed_up_and_ended() {
    let verbs = [
        vec!["rebase", "theirs"],
        vec!["rebase", "--apply", "theirs"],
        vec!["merge", "theirs"],
        vec!["cherry-pick", "theirs"],
        vec!["cherry-pick", "theirs", "theirs~1"],
    ];
    for verb in verbs {
        let lab = Lab::new();
        in_the_middle_of(&lab, &verb);
        let tip = lab.commit_of("fix");
        let backup = lab.release(1).unwrap();
        let text = lab.text_in(&backup.commit, "readme");
        assert!(text.contains("ours") && text.contains("theirs"), "{verb:?}: {text}");
        lab.check_pristine(1);
        assert_eq!(lab.commit_of("fix"), tip, "{verb:?}");
        // The next task can have it.
        assert_eq!(lab.acquire(1, "next").unwrap().commit, lab.commit_of("origin/main"), "{verb:?}");
        lab.run(&lab.pooled(1), &["rebase", "--quiet", "main"]);
    }
}

#[test]
fn a_bisection_is_ended() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    for n in 0..4 {
        lab.commit(&folder, "steps", &format!("{n}\n"));
    }
    lab.run(&folder, &["bisect", "start", "HEAD", "HEAD~4"]);
    lab.write(&folder.join("steps"), "tried\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.text_in(&backup.commit, "steps"), "tried");
    lab.check_pristine(1);
    assert_eq!(lab.acquire(1, "fix").unwrap().commit, lab.commit_of("fix"));
    assert!(!lab.git.call_in(&folder).args(["bisect", "log"]).run().unwrap().success());
}

#[test]
fn a_repository_inside_a_worktree_is_neither_lost_nor_in_the_way_of_a_backup() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    let nested = lab.pooled(1).join("nested");
    fs::create_dir(&nested).unwrap();
    lab.run(&nested, &["init", "--quiet"]);
    lab.write(&nested.join("inner"), "i\n");
    lab.write(&lab.pooled(1).join("work"), "w\n");
    let backup = lab.release(1).unwrap();
    assert!(lab.files_in(&backup.commit).contains(&"work".to_owned()));
    assert!(nested.join("inner").exists());
    refuses(lab.acquire(1, "next"), Kind::Refused, "nested/");
}

#[test]
fn a_worktree_removed_by_hand_counts_as_released() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
    let lone = lab.commit(&lab.pooled(1), "lone", "l\n");
    fs::remove_dir_all(lab.pooled(1)).unwrap();
    assert_eq!(lab.release(1).unwrap().commit, lone);
    assert_eq!(lab.git.worktrees().unwrap().len(), 1);
    assert_eq!(lab.release(1), None);

    lab.acquire(1, "fix").unwrap();
    fs::remove_dir_all(lab.pooled(1)).unwrap();
    assert!(lab.acquire(1, "fix").unwrap().created_worktree);
}

#[test]
fn a_hook_of_the_project_does_not_hold_a_release() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    let hook = lab.repo().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    lab.write(&hook, "#!/bin/sh\nexit 1\n");
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(lab.release(1), None);
    lab.check_pristine(1);
}

/// A task's branch with one commit, on worktree 1.
fn task_with_commit(lab: &Lab) -> String {
    lab.acquire(1, "fix").unwrap();
    lab.commit(&lab.pooled(1), "feature", "f\n")
}

fn merge(lab: &Lab, strategy: Strategy) -> Result<Merged> {
    lab.git.merge_local("fix", "main", strategy, Some(&lab.pooled(1)))
}

#[test]
fn a_branch_is_fast_forwarded_in_the_checkout_of_the_default_branch() {
    let lab = Lab::new();
    let commit = task_with_commit(&lab);
    lab.write(&lab.repo().join("mine"), "unrelated work in the main checkout\n");
    assert_eq!(
        merge(&lab, Strategy::FastForward).unwrap(),
        Merged { commit: commit.clone(), already: false }
    );
    assert_eq!(lab.commit_of("main"), commit);
    assert!(lab.repo().join("feature").exists() && lab.repo().join("mine").exists());
    assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "?? mine");
    assert_eq!(merge(&lab, Strategy::FastForward).unwrap(), Merged { commit, already: true });
}

#[test]
fn a_branch_is_merged_where_nothing_has_the_default_branch_checked_out() {
    let lab = Lab::new();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "elsewhere"]);
    let theirs = task_with_commit(&lab);
    let ours = lab.commit_of("main");
    let merged = merge(&lab, Strategy::Merge).unwrap();
    assert_eq!(
        lab.run(&lab.repo(), &["rev-list", "--parents", "-n", "1", "main"]),
        format!("{} {ours} {theirs}", merged.commit)
    );
    assert_eq!(
        lab.run(&lab.repo(), &["log", "-1", "--format=%an: %s", "main"]),
        "Ada: Merge branch 'fix' into main"
    );
    assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "");
}

#[test]
fn diverged_branches_need_a_merge_commit() {
    let lab = Lab::new();
    task_with_commit(&lab);
    lab.commit(&lab.repo(), "other", "o\n");
    refuses(merge(&lab, Strategy::FastForward), Kind::Refused, "--strategy merge");
    merge(&lab, Strategy::Merge).unwrap();
    assert!(lab.repo().join("feature").exists() && lab.repo().join("other").exists());
    assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "");
}

#[test]
fn a_default_branch_that_only_the_remote_has_begins_here() {
    let lab = Lab::new();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "elsewhere"]);
    let commit = task_with_commit(&lab);
    lab.run(&lab.repo(), &["branch", "--quiet", "-D", "main"]);
    merge(&lab, Strategy::FastForward).unwrap();
    assert_eq!(lab.commit_of("main"), commit);
}

#[test]
fn a_conflict_changes_nothing() {
    let lab = Lab::new();
    lab.acquire(1, "fix").unwrap();
    lab.commit(&lab.pooled(1), "readme", "theirs\n");
    let ours = lab.commit(&lab.repo(), "readme", "ours\n");
    refuses(merge(&lab, Strategy::Merge), Kind::Refused, "conflicts with `main` in readme");
    assert_eq!(lab.commit_of("main"), ours);
    assert_eq!(lab.run(&lab.repo(), &["status", "--porcelain"]), "");
    assert!(!lab.repo().join(".git/MERGE_HEAD").exists());
}

#[test]
fn uncommitted_work_anywhere_in_the_way_refuses_a_merge() {
    let lab = Lab::new();
    task_with_commit(&lab);
    lab.write(&lab.pooled(1).join("forgotten"), "f\n");
    refuses(merge(&lab, Strategy::FastForward), Kind::Refused, "uncommitted work: forgotten");
    fs::remove_file(lab.pooled(1).join("forgotten")).unwrap();

    let before = lab.commit_of("main");
    lab.write(&lab.repo().join("feature"), "the person's own\n");
    for strategy in [Strategy::FastForward, Strategy::Merge] {
        refuses(merge(&lab, strategy), Kind::Refused, "cannot take the merge");
    }
    assert_eq!(lab.commit_of("main"), before);
    assert_eq!(fs::read_to_string(lab.repo().join("feature")).unwrap(), "the person's own\n");

    lab.run(&lab.pooled(1), &["switch", "--quiet", "--detach"]);
    refuses(merge(&lab, Strategy::FastForward), Kind::Refused, "is on no branch");
    refuses(lab.git.merge_local("nope", "main", Strategy::Merge, None), Kind::NotFound, "no local branch");
}

#[test]
fn branches_are_pushed_and_deleted_on_the_remote() {
    let lab = Lab::new();
    let commit = task_with_commit(&lab);
    assert!(!lab.git.delete_remote_branch("fix", "main").unwrap());
    lab.git.push(REMOTE, "fix").unwrap();
    assert_eq!(lab.run(&lab.path("origin.git"), &["rev-parse", "fix"]), commit);
    refuses(lab.git.delete_remote_branch("main", "main"), Kind::Refused, "never deleted");
    assert!(lab.git.delete_remote_branch("fix", "main").unwrap());
    assert!(!lab.git.delete_remote_branch("fix", "main").unwrap());
    assert!(!Lab::without_remote().git.delete_remote_branch("fix", "main").unwrap());
}

#[test]
fn a_remote_branch_with_somebody_elses_commits_is_not_deleted() {
    let lab = Lab::new();
    task_with_commit(&lab);
    lab.git.push(REMOTE, "fix").unwrap();
    lab.run(
        &lab.path(""),
        &["clone", "--quiet", "-b", "fix", lab.path("origin.git").to_str().unwrap(), "other"],
    );
    lab.commit(&lab.path("other"), "theirs", "t\n");
    lab.run(&lab.path("other"), &["push", "--quiet", "origin", "fix"]);
    refuses(lab.git.delete_remote_branch("fix", "main"), Kind::Refused, "commits that are not here");
}

#[test]
fn being_called_from_a_git_hook_changes_nothing() {
    let lab = Lab::new();
    let other = lab.path("other");
    fs::create_dir(&other).unwrap();
    lab.run(&other, &["init", "--quiet"]);
    // A call's own variables are set after the scrub, so this shows what would happen without it.
    let misled = lab.git.clone().env("GIT_DIR", other.join(".git"));
    assert_ne!(misled.common_dir().unwrap(), lab.git.common_dir().unwrap());
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_QUARANTINE_PATH"] {
        assert!(GIT_VARIABLES.contains(&name));
    }
}

#[test]
fn commits_ahead_are_counted() {
    let lab = Lab::new();
    task_with_commit(&lab);
    assert_eq!(lab.git.ahead("main", "fix").unwrap(), 1);
    assert_eq!(lab.git.ahead("fix", "main").unwrap(), 0);
}
