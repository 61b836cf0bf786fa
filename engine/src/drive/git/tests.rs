//! Git on real repositories, isolated from the settings of the person who runs the tests.

mod acquire;
mod busy;
mod convert;
mod fetch;
mod fuzz;
mod gitlink;
mod head;
mod keep;
mod merge;
mod odd;
mod patch;
mod release;
mod strategy;
mod sync;
mod template;
mod tracked;
mod wall;
mod whole;
mod work;
mod writers;

use orange_system::variables;
use tempfile::TempDir;

use super::worktree::Acquired;
use super::*;

/// A repository with one commit, a bare `origin` it was pushed to, and a git that knows nobody's settings.
struct RepositoryLab {
    folder: TempDir,
    git: Git,
}

impl RepositoryLab {
    fn new() -> RepositoryLab {
        let lab = RepositoryLab::without_remote();
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

    fn without_remote() -> RepositoryLab {
        let folder = tempfile::tempdir().unwrap();
        let git = isolated(&folder, &folder.path().join("repo"));
        let lab = RepositoryLab { folder, git };
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
        self.git.catch_up(branch, "main")?;
        self.git.acquire(&self.pooled(n), branch, "main")
    }

    /// Releases a worktree; the newest backup that was noted.
    fn release(&self, n: u32) -> Option<Backup> {
        let work = |kept| if let SavedWork::Commit(backup) = kept { Some(backup) } else { None };
        self.released(n).unwrap().into_iter().filter_map(work).next_back()
    }

    /// Releases a worktree; everything that was noted.
    fn released(&self, n: u32) -> Result<Vec<SavedWork>> {
        self.kept(|git, context| git.release(&self.pooled(n), context))
    }

    fn kept(&self, act: impl FnOnce(&Git, &mut BackupContext<'_>) -> Result<()>) -> Result<Vec<SavedWork>> {
        let mut noted = Vec::new();
        let aside = self.path("aside");
        let mut note = |kept| {
            noted.push(kept);
            Ok(())
        };
        let mut context =
            BackupContext { task: "T1", default_branch: "main", aside: &aside, note: &mut note };
        act(&self.git, &mut context)?;
        Ok(noted)
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
fn refuses<T: std::fmt::Debug>(result: Result<T>, kind: ErrorKind, says: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn this_git_is_new_enough_and_knows_who_commits() {
    let lab = RepositoryLab::without_remote();
    lab.git.check().unwrap();
    lab.git.check_identity().unwrap();
    let nobody = Git::at(lab.repo())
        .env("HOME", lab.path("nowhere"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    refuses(nobody.check_identity(), ErrorKind::Environment, "user.email");
}

#[test]
fn a_folder_knows_its_checkout() {
    let lab = RepositoryLab::without_remote();
    fs::create_dir(lab.repo().join("sub")).unwrap();
    let at = |folder: PathBuf| Git { repo: folder, ..lab.git.clone() };
    assert_eq!(at(lab.repo().join("sub")).top_level().unwrap(), fs::canonicalize(lab.repo()).unwrap());
    refuses(at(lab.path("")).top_level(), ErrorKind::NotFound, "not in a checkout");
    refuses(at(lab.path("none")).top_level(), ErrorKind::Environment, "no such folder");
}

#[test]
fn a_project_is_its_main_checkout_from_wherever_it_is_named() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let main = fs::canonicalize(lab.repo()).unwrap();
    fs::create_dir(lab.pooled(1).join("sub")).unwrap();
    for folder in [lab.repo(), lab.pooled(1), lab.pooled(1).join("sub")] {
        let git = Git { repo: folder, ..lab.git.clone() };
        assert_eq!(git.main_checkout().unwrap(), main);
    }
    lab.git.check_branch_exists("fix").unwrap();
    refuses(lab.git.check_branch_exists("nope"), ErrorKind::NotFound, "no branch `nope`");
}

#[test]
fn a_branch_that_differs_only_in_case_is_refused_on_such_a_disk() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix/login").unwrap();
    let refused = ["Fix/login", "fix/Login", "FIX/other", "FIX"];
    lab.run(&lab.repo(), &["config", "core.ignoreCase", "false"]);
    refused.iter().for_each(|branch| lab.git.check_room_for(branch).unwrap());
    lab.run(&lab.repo(), &["config", "core.ignoreCase", "true"]);
    for branch in refused {
        refuses(lab.git.check_room_for(branch), ErrorKind::Refused, "differs only in case");
    }
    ["fix/other", "fix/login-2", "fixes"].iter().for_each(|branch| lab.git.check_room_for(branch).unwrap());
    refuses(lab.acquire(2, "FIX/Login"), ErrorKind::Refused, "differs only in case");
}

#[test]
fn the_default_branch_is_the_remotes_else_the_current_one() {
    let lab = RepositoryLab::new();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "topic"]);
    assert_eq!(lab.git.default_branch().unwrap(), "main");
    let lab = RepositoryLab::without_remote();
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "trunk"]);
    assert_eq!(lab.git.default_branch().unwrap(), "trunk");
    lab.run(&lab.repo(), &["switch", "--quiet", "--detach"]);
    assert_eq!(lab.git.default_branch().unwrap(), "main");
}

#[test]
fn branch_names_are_gits_to_judge() {
    let lab = RepositoryLab::without_remote();
    lab.git.check_branch_name(&"x".repeat(250)).unwrap();
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
        &format!("fix/{}", "x".repeat(251)),
    ] {
        refuses(lab.git.check_branch_name(name), ErrorKind::Usage, "cannot be a branch's name");
    }
}

#[test]
fn being_called_from_a_git_hook_changes_nothing() {
    let lab = RepositoryLab::new();
    let other = lab.path("other");
    fs::create_dir(&other).unwrap();
    lab.run(&other, &["init", "--quiet"]);
    // A call's own variables are set after the scrub, so this shows what would happen without it.
    let misled = lab.git.clone().env("GIT_DIR", other.join(".git"));
    assert_ne!(misled.common_dir().unwrap(), lab.git.common_dir().unwrap());
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_QUARANTINE_PATH"] {
        assert!(variables::GIT.contains(&name));
    }
}
