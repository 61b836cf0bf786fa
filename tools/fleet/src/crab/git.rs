//! git, as a program: the calls that a crab makes, and how it reads the remote's list.

use std::path::{Path, PathBuf};
use std::time::Duration;

use orange_api::{Error, Result};
use orange_system::exec::CallOutput;

use super::job::short_hash;
use super::program::{StillWanted, WantedCall};

/// The remote of every clone.
pub const REMOTE: &str = "origin";

/// Time limit of a clone.
const CLONE: Duration = Duration::from_secs(7200);

/// Time limit of a fetch or a push: hooks of the project may run its tests.
const LONG: Duration = Duration::from_secs(1800);

/// A checkout, or a bare repository.
#[derive(Clone, Copy, Debug)]
pub struct GitFolder<'g> {
    folder: &'g Path,
    wanted: &'g dyn StillWanted,
}

/// Commits that a remote has of a mission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteCommits {
    /// The commit of its branch.
    pub branch: Option<String>,
    /// The commit of the branch that work starts from.
    pub base: Option<String>,
    /// The name of that branch.
    pub base_name: Option<String>,
    /// The commit with which an attempt has claimed the branch.
    pub claim: Option<String>,
}

impl<'g> GitFolder<'g> {
    /// git in this folder. Its calls end when they are not wanted any more.
    pub fn new(folder: &'g Path, wanted: &'g dyn StillWanted) -> GitFolder<'g> {
        GitFolder { folder, wanted }
    }

    /// A call of git in this folder.
    pub fn call(self, args: &[&str]) -> WantedCall<'g> {
        WantedCall::new("git")
            .args(args.iter().copied())
            .folder(self.folder)
            // Nobody is there to type a password.
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("SSH_ASKPASS_REQUIRE", "force")
            .env("LC_ALL", "C")
            .limit(LONG)
            .while_wanted(self.wanted)
    }

    /// Standard output of git; an error if the call fails.
    pub fn text(self, args: &[&str]) -> Result<String> {
        self.call(args).text()
    }

    /// Result of a call, whatever its status.
    pub fn said(self, args: &[&str]) -> Result<CallOutput> {
        self.call(args).run()
    }

    /// True if a call ends with success.
    pub fn is(self, args: &[&str]) -> Result<bool> {
        Ok(self.said(args)?.success())
    }

    /// The commit of a ref, if there is one.
    pub fn commit(self, name: &str) -> Result<Option<String>> {
        let name = format!("{name}^{{commit}}");
        let said = self.said(&["rev-parse", "--quiet", "--verify", "--end-of-options", &name])?;
        let text = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        Ok(Some(text).filter(|_| said.success()))
    }

    /// True if this commit is part of the other one.
    pub fn is_part(self, commit: &str, of: &str) -> Result<bool> {
        self.is(&["merge-base", "--is-ancestor", commit, of])
    }

    /// True if a worktree is on this branch, given by its full name.
    pub fn is_checked_out(self, name: &str) -> Result<bool> {
        let listed = self.text(&["worktree", "list", "--porcelain"])?;
        Ok(listed.lines().any(|line| line.strip_prefix("branch ") == Some(name)))
    }

    /// Clones a repository into a new folder, whole or not at all.
    pub fn clone_into(self, repository: &str, folder: &Path) -> Result<()> {
        let new = folder.with_extension("new");
        if new.exists() {
            std::fs::remove_dir_all(&new).map_err(|cause| Error::io("remove", &new, &cause))?;
        }
        let shown = new.to_string_lossy();
        self.call(&["clone", "--quiet", "--origin", REMOTE, "--", repository, &shown]).limit(CLONE).text()?;
        std::fs::rename(&new, folder).map_err(|cause| Error::io("rename", &new, &cause))
    }

    /// Commits that the remote has of this branch and of the branch that work starts from.
    pub fn look(self, branch: &str, base: Option<&str>) -> Result<RemoteCommits> {
        let (branch, claim) = (branch_ref(branch), claim_ref(branch));
        let base = base.map(branch_ref);
        let mut words = vec!["ls-remote", "--symref", REMOTE, "HEAD", &branch, &claim];
        words.extend(base.as_deref());
        Ok(parse_remote(&self.text(&words)?, &branch, &claim, base.as_deref()))
    }

    /// True if git can have a branch of this name.
    pub fn can_have(self, branch: &str) -> Result<bool> {
        self.is(&["check-ref-format", &branch_ref(branch)])
    }
}

/// The full name of a branch.
pub fn branch_ref(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

/// The full name of a branch of the remote, as of the last fetch.
pub fn tracking_ref(branch: &str) -> String {
    format!("refs/remotes/{REMOTE}/{branch}")
}

/// The ref that only the current attempt of a mission has on the remote. It is there while an attempt is under way.
pub fn claim_ref(branch: &str) -> String {
    format!("refs/orange-fleet/claims/{branch}")
}

/// The ref of a commit that a crab keeps since no branch has it any more.
pub fn kept_ref(commit: &str) -> String {
    format!("refs/orange-fleet/kept/{commit}")
}

/// The name of the clone of a repository, also as a project.
pub fn project_name(repository: &str) -> String {
    let last = repository.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last);
    let plain: String = last
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' })
        .collect();
    let plain: String = plain.trim_matches('-').chars().take(40).collect();
    let plain = if plain.is_empty() { "repository" } else { plain.as_str() };
    format!("{plain}-{}", &short_hash(repository)[..8])
}

/// Path of a crab's clone of this project.
pub fn clone_of(crab_home: &Path, project: &str) -> PathBuf {
    crab_home.join("repositories").join(project)
}

fn parse_remote(text: &str, branch: &str, claim: &str, base: Option<&str>) -> RemoteCommits {
    let mut head = (None, None);
    let mut remote = RemoteCommits::default();
    for (value, name) in text.lines().filter_map(|line| line.split_once('\t')) {
        let commit = Some(value.to_owned());
        if name == "HEAD" {
            match value.strip_prefix("ref: refs/heads/") {
                Some(target) => head.0 = Some(target.to_owned()),
                None => head.1 = commit,
            }
        } else {
            // The branch of a mission may be the one that work starts from.
            if Some(name) == base {
                remote.base = commit.clone();
                remote.base_name = name.strip_prefix("refs/heads/").map(str::to_owned);
            }
            if name == branch {
                remote.branch = commit;
            } else if name == claim {
                remote.claim = commit;
            }
        }
    }
    if base.is_none() {
        (remote.base_name, remote.base) = head;
    }
    remote
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_list_of_a_remote_is_read() {
        let text = "ref: refs/heads/main\tHEAD\naaa\tHEAD\nbbb\trefs/heads/fix\nccc\trefs/orange-fleet/claims/fix\n\
                    ddd\trefs/heads/next\neee\trefs/remotes/x/refs/heads/fix";
        let (branch, claim) = (branch_ref("fix"), claim_ref("fix"));
        let found = RemoteCommits {
            branch: some("bbb"),
            base: some("aaa"),
            base_name: some("main"),
            claim: some("ccc"),
        };
        assert_eq!(parse_remote(text, &branch, &claim, None), found);
        let other = RemoteCommits { base: some("ddd"), base_name: some("next"), ..found };
        assert_eq!(parse_remote(text, &branch, &claim, Some("refs/heads/next")), other);
        assert_eq!(parse_remote("", &branch, &claim, None), RemoteCommits::default());
    }

    #[track_caller]
    fn check_name(repository: &str, begins: &str) {
        let name = project_name(repository);
        assert_eq!(name.rsplit_once('-').map(|(begins, _)| begins), Some(begins));
    }

    #[test]
    fn a_clone_is_named_after_its_repository() {
        check_name("git@github.com:ada/Coffee_Shop.git", "coffee-shop");
        check_name("https://example.org/ada/tea/", "tea");
        check_name("/srv/toy.git", "toy");
        check_name("..", "repository");
        assert_ne!(project_name("/a/toy"), project_name("/b/toy"));
    }
}
