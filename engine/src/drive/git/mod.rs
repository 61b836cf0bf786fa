//! git: a project's repository, its pool of worktrees, and the rule that no work is ever lost.
//!
//! It writes only the refs `refs/orange/…`, the task's own branch and the pool's own worktrees; it refuses other folders, the main
//! checkout and a person's uncommitted work instead of cleaning them.

mod backup;
mod busy;
mod capture;
mod combine;
mod convert;
mod diff;
mod filters;
mod garbage;
mod gitlink;
mod given;
mod head;
mod inner;
mod link;
mod look;
mod merge;
mod parse;
mod reclaim;
mod release;
mod remote;
mod restore;
mod scratch;
mod sync;
mod template;
#[cfg(test)]
mod tests;
mod tracked;
mod undo;
mod work;
mod worktree;

use orange_system::variables;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, ErrorKind, Result};
use orange_system::exec::{ProgramCall, how_to_install};

pub use backup::{Backup, BackupContext, SavedWork};
pub use combine::{MergeForm, MergeObstacle, PlanResult, Unmergeable};
pub use diff::{CommitComparison, DiffForm, FileDiff};
pub use given::given;
pub use head::{may_have, may_have_repository, stands_on};
pub use merge::{Merge, Mergeable};
pub use orange_core::merge::{BegunMerge, BegunSync, Strategy, UndoneMerge};
pub(in crate::drive) use parse::quoted;
pub use parse::{ChangedFile, GitVersion, ListedWorktree};
pub use sync::{SyncForm, SyncPlan};
pub use template::PullRequestTemplate;
pub use tracked::TrackedState;
pub use undo::{UndoForm, UndoPlan};
pub use work::WorktreeContent;

/// The oldest sufficient git: 2.38 brought `merge-tree --write-tree`.
pub const OLDEST: GitVersion = GitVersion { major: 2, minor: 38 };

/// The name of the remote.
pub const REMOTE: &str = "origin";

/// The longest part of a branch's name between two `/`: it is a file's name, to which git adds `.lock`.
const LONGEST_PART: usize = 250;

/// The copy of `TASK.md` in a worktree, which is never committed.
pub const TASK_FILE: &str = "TASK.md";

/// The folder in a worktree with a folder for each agent, `.orange/<spawn>`, for the requests of sandboxed ones.
pub const REQUEST_FOLDER: &str = ".orange";

/// No hook runs: a relative `core.hooksPath` is a folder of the worktree, in which agents write. A push has those of the main checkout.
const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

/// Settings that show all files of a sparse checkout.
const WHOLE: [&str; 4] = ["-c", "core.sparseCheckout=false", "-c", "index.sparse=false"];

/// The time limit for reading everything in a worktree.
const LONG: Duration = Duration::from_secs(3600);

/// git does not look for changes inside a nested repository: it would run the filters that an agent has set there.
const NOT_INSIDE: &str = "--ignore-submodules=dirty";

/// One project's repository.
#[derive(Clone, Debug)]
pub struct Git {
    repo: PathBuf,
    env: Vec<(OsString, OsString)>,
}

/// Location of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchState {
    /// Neither here nor on the remote, as of the last fetch.
    Nowhere,
    /// A local branch that is checked out nowhere.
    Local,
    /// On this remote only.
    OnlyRemote(String),
    /// A local branch that is checked out in this worktree.
    CheckedOutAt(PathBuf),
}

impl Git {
    /// The repository of this folder.
    pub fn at(repo: impl Into<PathBuf>) -> Git {
        Git { repo: repo.into(), env: Vec::new() }
    }

    /// The folder of this `Git`.
    pub fn folder(&self) -> &Path {
        &self.repo
    }

    /// Adds a variable to the environment of every call.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Git {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The version of the git on `PATH`.
    pub fn version(&self) -> Result<GitVersion> {
        let printed = ProgramCall::new("git").arg("version").text()?;
        parse::parse_version(&printed)
            .ok_or_else(|| Error::new(ErrorKind::Environment, format!("`git version` said `{printed}`")))
    }

    /// Checks that git is installed and new enough.
    pub fn check(&self) -> Result<()> {
        let version = self.version()?;
        if version >= OLDEST {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Environment,
            format!("git {version} is too old: {OLDEST} or newer is needed"),
        )
        .help(how_to_install("git")))
    }

    /// Checks that git knows who commits.
    pub fn check_identity(&self) -> Result<()> {
        for who in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            // Without this setting git derives an address from the host's name.
            if !self.call().preset(["-c", "user.useConfigOnly=true"]).args(["var", who]).run()?.success() {
                return Err(Error::new(
                    ErrorKind::Environment,
                    format!("git does not know who commits in {}", self.repo.display()),
                )
                .help("run `git config --global user.name \"…\"` and `git config --global user.email …`"));
            }
        }
        Ok(())
    }

    /// The name with which this user commits here, if git has one.
    pub fn user_name(&self) -> Result<Option<String>> {
        self.setting("user.name")
    }

    /// Writes the name and the address of commits into another file of settings, and nothing else, since settings may have tokens.
    pub fn copy_identity(&self, file: &Path) -> Result<()> {
        for key in ["user.name", "user.email"] {
            if let Some(value) = self.setting(key)? {
                let write = self.call().args(["config", "--file"]).arg(file).args([key, &value]);
                write.run()?.checked()?;
            }
        }
        Ok(())
    }

    /// The top folder of the checkout that contains the folder of this `Git`.
    pub fn top_level(&self) -> Result<PathBuf> {
        let output = self.call().args(["rev-parse", "--show-toplevel"]).run()?;
        let complaint = output.complaint();
        if complaint.contains("must be run in a work tree") && self.is_bare()? {
            return Err(self.bare());
        }
        if complaint.contains("not a git repository") || complaint.contains("must be run in a work tree") {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("{} is not in a checkout of a git repository", self.repo.display()),
            )
            .help(
                "go into a repository, or make one here: `git init && git commit --allow-empty -m Begin`",
            ));
        }
        Ok(PathBuf::from(output.checked()?.text()))
    }

    /// The top folder of the repository's main checkout, which identifies a project, from anywhere in it or in its worktrees.
    pub fn main_checkout(&self) -> Result<PathBuf> {
        let top = self.top_level()?;
        let main = self.worktrees()?.into_iter().next().filter(|main| !main.bare);
        Ok(main.map_or(top, |main| main.path))
    }

    fn is_bare(&self) -> Result<bool> {
        Ok(self.call().args(["rev-parse", "--is-bare-repository"]).text()? == "true")
    }

    fn bare(&self) -> Error {
        let known = self.worktrees().unwrap_or_default();
        let one = known.into_iter().find(|one| !one.bare && one.path.is_dir());
        let help = match one {
            Some(one) => format!("name one of its worktrees: {}", one.path.display()),
            None => format!(
                "name one of its worktrees: `git -C '{}' worktree add PATH BRANCH` makes the first one",
                self.repo.display()
            ),
        };
        let message = format!("{} is a bare repository, which has no files of its own", self.repo.display());
        Error::new(ErrorKind::Refused, message).help(help)
    }

    /// The branch into which work is merged: the one of `origin/HEAD`, or else the current one, or else `main` or `master`.
    pub fn default_branch(&self) -> Result<String> {
        let prefix = format!("refs/remotes/{REMOTE}/");
        if let Some(branch) = self
            .symbolic_ref(&self.repo, &format!("{prefix}HEAD"))?
            .and_then(|full| full.strip_prefix(&prefix).map(str::to_owned))
        {
            return Ok(branch);
        }
        if let Some(branch) = self.current_branch(&self.repo)? {
            return Ok(branch);
        }
        for branch in ["main", "master"] {
            if self.branch_state(branch)? != BranchState::Nowhere {
                return Ok(branch.to_owned());
            }
        }
        Err(Error::new(ErrorKind::NotFound, format!("{} has no default branch", self.repo.display()))
            .help("name it with `--default-branch`"))
    }

    /// Refuses what git does not accept as a branch's name, and what looks like an option.
    pub fn check_branch_name(&self, branch: &str) -> Result<()> {
        if let Some(name) = branch.strip_prefix("refs/") {
            let name = name.strip_prefix("heads/").unwrap_or(name);
            return Err(Error::new(ErrorKind::Usage, format!("`{}` is a ref", branch.escape_debug()))
                .help(format!("give the branch's own name: `{}`", name.escape_debug())));
        }
        let fits = !branch.starts_with('-')
            && !branch.contains('\0')
            && branch.split('/').all(|part| part.len() <= LONGEST_PART)
            && !["HEAD", "@"].contains(&branch)
            && ProgramCall::new("git")
                .args(["check-ref-format", &format!("refs/heads/{branch}")])
                .run()?
                .yes_or_no()?;
        if fits {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Usage, format!("`{}` cannot be a branch's name", branch.escape_debug()))
            .help("use letters, digits, `-`, `_`, `.` and `/`, and begin with a letter: fix/login-form"))
    }

    /// Refuses a branch that exists neither here nor on the remote.
    pub fn check_branch_exists(&self, branch: &str) -> Result<()> {
        self.base(branch).map(drop)
    }

    /// True if the branch, or else the default branch, has a committed file of this path.
    pub fn tracks(&self, branch: &str, default_branch: &str, path: &str) -> Result<bool> {
        let revision = self.revision_of(branch, default_branch)?;
        let listed =
            self.call().args(["ls-tree", "--full-tree", "--name-only", &revision, "--", path]).text()?;
        Ok(!listed.is_empty())
    }

    /// Revision with which a worktree on the branch begins: the branch, or else the default branch.
    fn revision_of(&self, branch: &str, default_branch: &str) -> Result<String> {
        Ok(match self.branch_state(branch)? {
            BranchState::Local | BranchState::CheckedOutAt(_) => format!("refs/heads/{branch}"),
            BranchState::OnlyRemote(remote) => format!("refs/remotes/{remote}/{branch}"),
            BranchState::Nowhere => self.base(default_branch)?,
        })
    }

    /// True if the index of a worktree has this file.
    pub fn is_tracked(&self, worktree: &Path, path: &str) -> Result<bool> {
        if !worktree.is_dir() {
            return Ok(false);
        }
        let listed = self.inside(worktree)?.call().args(["ls-files", "--", path]).text()?;
        Ok(!listed.is_empty())
    }

    /// Refuses a branch on which the task's file is committed: on the default branch, it would be in the way of every task's copy.
    pub fn check_no_task_file(&self, commit: &str, branch: &str) -> Result<()> {
        let listed =
            self.call().args(["ls-tree", "--full-tree", "--name-only", commit, "--", TASK_FILE]).text()?;
        if listed.is_empty() {
            return Ok(());
        }
        Err(refused(format!("{TASK_FILE} is committed on `{branch}`, and it is not a part of the work")).help(format!(
            "in the task's worktree, run `git rm --cached {TASK_FILE}` and commit that; the file stays where it is"
        )))
    }

    /// Location of a branch, as of the last fetch.
    pub fn branch_state(&self, branch: &str) -> Result<BranchState> {
        let (local, remote) = (format!("refs/heads/{branch}"), format!("refs/remotes/{REMOTE}/{branch}"));
        let refs = self.refs(&[&local, &remote])?;
        if let Some(found) = refs.iter().find(|one| one.name == local) {
            return Ok(found.worktree.clone().map_or(BranchState::Local, BranchState::CheckedOutAt));
        }
        let on_remote = refs.iter().any(|one| one.name == remote);
        Ok(if on_remote { BranchState::OnlyRemote(REMOTE.to_owned()) } else { BranchState::Nowhere })
    }

    /// Renames a local branch, also in the worktree that has it checked out.
    pub fn rename_branch(&self, from: &str, to: &str) -> Result<()> {
        self.patiently(|| self.call().args(["branch", "--move", "--", from, to]))?.checked().map(drop)
    }

    /// The branch of a worktree; `None` if it is detached.
    pub fn current_branch(&self, worktree: &Path) -> Result<Option<String>> {
        let full = self.symbolic_ref(worktree, "HEAD")?;
        Ok(full.and_then(|full| full.strip_prefix("refs/heads/").map(str::to_owned)))
    }

    /// The commit of a worktree; `None` on a branch without commits.
    pub fn head(&self, worktree: &Path) -> Result<Option<String>> {
        self.commit_in(worktree, "HEAD")
    }

    /// The commit of a local branch, if there is one.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<String>> {
        self.commit_in(&self.repo, &format!("refs/heads/{branch}"))
    }

    /// The short name of the commit at which the work in a worktree leaves the default branch; the tip of that branch if they have
    /// nothing in common.
    pub fn fork_point(&self, worktree: &Path, default_branch: &str) -> Result<String> {
        let base = self.base(default_branch)?;
        let there = self.inside(worktree)?;
        let output = there.call().args(["merge-base", "HEAD", &base]).run()?;
        let commit = if output.code() == Some(1) { base } else { output.checked()?.text() };
        there.call().args(["rev-parse", "--short=12", &commit]).text()
    }

    /// True if the repository has a commit of this name.
    pub fn has_commit(&self, revision: &str) -> Result<bool> {
        self.commit_in(&self.repo, revision).map(|commit| commit.is_some())
    }

    /// The uncommitted changes in a worktree: changed, staged and untracked files, without ignored ones and the task's own file.
    pub fn changes(&self, worktree: &Path) -> Result<Vec<ChangedFile>> {
        let there = self.inside(worktree)?;
        let call = there.call().args(["status", "--porcelain", "-z", "--untracked-files=all", NOT_INSIDE]);
        let output = call.args(["--", ":/", without_task_file()]).run()?.checked()?;
        let mut changes = parse::parse_status(&output.stdout);
        changes.extend(there.changed_submodules()?);
        Ok(changes)
    }

    /// Every worktree of the repository, the main checkout first.
    pub fn worktrees(&self) -> Result<Vec<ListedWorktree>> {
        let output =
            self.patiently(|| self.call().args(["worktree", "list", "--porcelain", "-z"]))?.checked()?;
        Ok(parse::parse_worktrees(&output.stdout))
    }

    /// Makes git ignore a path (from the top, as in `.gitignore`) in all worktrees of this repository, unless it is tracked.
    pub fn exclude(&self, path: &str) -> Result<()> {
        let info = self.common_dir()?.join("info");
        let file = info.join("exclude");
        let line = format!("/{path}");
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => String::new(),
            Err(cause) => return Err(Error::io("read", &file, &cause)),
        };
        if text.lines().any(|known| known == line) {
            return Ok(());
        }
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        fs::create_dir_all(&info).map_err(|cause| Error::io("create", &info, &cause))?;
        // One write in append mode keeps concurrent additions whole.
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&file)
            .and_then(|mut file| file.write_all(format!("{gap}{line}\n").as_bytes()))
            .map_err(|cause| Error::io("write", &file, &cause))
    }

    /// The part of the repository that all worktrees share.
    pub(in crate::drive) fn common_dir(&self) -> Result<PathBuf> {
        let call = self.call().args(["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        Ok(PathBuf::from(call.text()?))
    }

    fn refs(&self, names: &[&str]) -> Result<Vec<parse::Ref>> {
        let output = self
            .patiently(|| self.call().args(["for-each-ref", parse::REF_FORMAT]).args(names))?
            .checked()?;
        Ok(parse::parse_refs(&output.stdout))
    }

    /// The commits of these refs.
    pub(in crate::drive) fn commits_of(&self, names: &[&str]) -> Result<Vec<String>> {
        Ok(self.refs(names)?.into_iter().map(|one| one.commit).collect())
    }

    fn symbolic_ref(&self, folder: &Path, name: &str) -> Result<Option<String>> {
        let output = self.inside(folder)?.call().args(["symbolic-ref", "--quiet", name]).run()?;
        match output.code() {
            Some(1) => Ok(None),
            _ => Ok(Some(output.checked()?.text())),
        }
    }

    fn commit_in(&self, folder: &Path, revision: &str) -> Result<Option<String>> {
        let wanted = format!("{revision}^{{commit}}");
        let output = self.inside(folder)?.call().args(["rev-parse", "--verify", "--quiet", &wanted]).run()?;
        match output.code() {
            Some(1) => Ok(None),
            _ => Ok(Some(output.checked()?.text())),
        }
    }

    /// The commit from which new work starts and to which a released worktree returns: the remote's default branch, or else the
    /// local one.
    pub fn base(&self, default_branch: &str) -> Result<String> {
        let names =
            [format!("refs/remotes/{REMOTE}/{default_branch}"), format!("refs/heads/{default_branch}")];
        let refs = self.refs(&[&names[0], &names[1]])?;
        let found = names.iter().find_map(|name| refs.iter().find(|one| one.name == *name));
        found.map(|one| one.commit.clone()).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!(
                    "the repository {} has no branch `{default_branch}` with a commit",
                    self.repo.display()
                ),
            )
            .help("make a first commit on it, or name another with `orange project update --default-branch`")
        })
    }

    /// A call without questions and hooks, in English, that sees this repository only.
    pub(in crate::drive) fn call(&self) -> ProgramCall {
        self.call_in(&self.repo)
    }

    /// A call on the user's terminal, with the user's settings but no hooks, that sees this repository only and takes no lock.
    fn on_terminal(&self) -> ProgramCall {
        self.alone(&self.repo).env("GIT_OPTIONAL_LOCKS", "0").preset(NO_HOOKS)
    }

    /// A call without questions and hooks, in English, that sees this folder's repository only.
    fn call_in(&self, folder: &Path) -> ProgramCall {
        self.with_hooks(folder).preset(NO_HOOKS)
    }

    /// A call without questions, in English, that sees this folder's repository only and runs its hooks.
    fn with_hooks(&self, folder: &Path) -> ProgramCall {
        let call = self.alone(folder).bound(Duration::from_secs(600));
        call.without(&["LANGUAGE"])
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("SSH_ASKPASS_REQUIRE", "force")
            .preset(["-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"])
            // No file system monitor, and no colours.
            .preset(["-c", "core.fsmonitor=false", "-c", "color.ui=false"])
    }

    /// A call that sees this folder's repository only.
    fn alone(&self, folder: &Path) -> ProgramCall {
        let call = ProgramCall::new("git").folder(folder).without(variables::GIT);
        self.env.iter().fold(call, |call, (name, value)| call.env(name, value))
    }
}

/// The pathspec for everything but the task's own file. It is a pattern, since `git add` fails on the name of an ignored file, even
/// in an exclusion.
fn without_task_file() -> &'static str {
    ":(top,exclude)TASK.m[d]"
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::Refused, message)
}
