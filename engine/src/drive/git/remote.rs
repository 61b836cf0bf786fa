//! Calls to the remote, which need the network.

use std::time::Duration;

use super::{Git, REMOTE, parse, refused};
use crate::Result;
use orange_system::exec::{CallOutput, ProgramCall};

/// The time limit for a call to the remote.
const PATIENCE: Duration = Duration::from_secs(120);

/// The time limit for a push: a project's hooks may run its tests.
const LONG_PATIENCE: Duration = Duration::from_secs(1800);

/// The branches that are never deleted; `release/*` means every one below `release/`. Git's setting `orange.protected` adds more.
const PROTECTED: [&str; 8] =
    ["main", "master", "trunk", "develop", "development", "staging", "production", "release/*"];

impl Git {
    /// True if the repository has the remote.
    pub fn has_remote(&self) -> Result<bool> {
        Ok(self.call().arg("remote").text()?.lines().any(|name| name == REMOTE))
    }

    /// The address of the remote, as git uses it; `None` without a remote.
    pub fn remote_address(&self) -> Result<Option<String>> {
        if !self.has_remote()? {
            return Ok(None);
        }
        Ok(Some(self.call().args(["remote", "get-url", REMOTE]).text()?.trim().to_owned()))
    }

    /// True if the remote has this branch, as of the last fetch.
    pub fn is_on_remote(&self, branch: &str) -> Result<bool> {
        Ok(self.commit_in(&self.repo, &format!("refs/remotes/{REMOTE}/{branch}"))?.is_some())
    }

    /// True if the remote's branch contains a commit, as of the last fetch or push.
    pub fn is_pushed(&self, commit: &str, branch: &str) -> Result<bool> {
        match self.commit_in(&self.repo, &format!("refs/remotes/{REMOTE}/{branch}"))? {
            Some(there) => self.is_ancestor(commit, &there),
            None => Ok(false),
        }
    }

    /// Fetches those of these branches that the remote has. Without a remote it does nothing; if the remote cannot be reached, it
    /// returns the reason as a warning.
    pub fn fetch(&self, branches: &[&str]) -> Result<Option<String>> {
        if !self.has_remote()? {
            return Ok(None);
        }
        // A pattern, unlike a name, may match nothing.
        let pattern = |name: &&str| format!("+refs/heads/{name}*:refs/remotes/{REMOTE}/{name}*");
        let call = || {
            let call =
                self.remote_call().args(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", REMOTE]);
            call.args(branches.iter().map(pattern))
        };
        let mut asked = self.patiently(call);
        if asked.as_ref().is_ok_and(|output| parse::says_moved(&output.complaint())) {
            asked = self.patiently(call);
        }
        Ok(match asked {
            Ok(output) if output.success() => None,
            Ok(output) => Some(format!("`{REMOTE}` could not be asked: {}", output.complaint())),
            Err(error) => Some(format!("`{REMOTE}` could not be asked: {}", error.message)),
        })
    }

    /// Pushes a branch under its own name, without force. The hook `pre-push` is the one of the main checkout.
    pub fn push(&self, remote: &str, branch: &str) -> Result<()> {
        let spec = format!("refs/heads/{branch}:refs/heads/{branch}");
        let call = self.with_hooks(&self.repo).bound(LONG_PATIENCE);
        call.args(["push", "--quiet", "--no-follow-tags", remote, &spec]).run()?.checked().map(drop)
    }

    /// Pushes a commit to a branch of the remote, without force. The hook `pre-push` is the one of the main checkout.
    pub fn push_commit(&self, commit: &str, branch: &str) -> Result<()> {
        let spec = format!("{commit}:refs/heads/{branch}");
        let call = self.with_hooks(&self.repo).bound(LONG_PATIENCE);
        call.args(["push", "--quiet", "--no-follow-tags", REMOTE, &spec]).run()?.checked().map(drop)
    }

    /// The commit of a branch on the remote, which is asked.
    pub fn tip_on_remote(&self, branch: &str) -> Result<Option<String>> {
        let name = format!("refs/heads/{branch}");
        let listed = self.remote_call().args(["ls-remote", REMOTE, &name]).text()?;
        let found = listed.lines().filter_map(|line| line.split_once('\t')).find(|(_, full)| *full == name);
        Ok(found.map(|(commit, _)| commit.to_owned()))
    }

    /// Pushes a branch that was rebased, in the place of this commit. The remote refuses if it has another one by then.
    pub fn push_over(&self, branch: &str, old: &str) -> Result<()> {
        let name = format!("refs/heads/{branch}");
        let (lease, spec) = (format!("--force-with-lease={name}:{old}"), format!("{name}:{name}"));
        let call = self.with_hooks(&self.repo).bound(LONG_PATIENCE);
        call.args(["push", "--quiet", "--no-follow-tags", &lease, REMOTE, &spec]).run()?.checked().map(drop)
    }

    /// Deletes a branch on the remote that was created at the commit `from`. Returns false if there is no remote or no such branch, if
    /// the branch does not contain that commit, and if it is protected. It refuses the default branch, and a branch with commits
    /// that are not here.
    pub fn delete_remote_branch(&self, branch: &str, default_branch: &str, from: &str) -> Result<bool> {
        let never = || refused(format!("`{branch}` is the default branch: it is never deleted"));
        if branch == default_branch {
            return Err(never());
        }
        if !self.has_remote()? || self.is_protected(branch)? {
            return Ok(false);
        }
        let name = format!("refs/heads/{branch}");
        let listed = self.remote_call().args(["ls-remote", "--symref", REMOTE, "HEAD", &name]).text()?;
        if listed.lines().any(|line| line == format!("ref: {name}\tHEAD")) {
            return Err(never());
        }
        let Some(commit) =
            listed.lines().find_map(|line| line.split_once('\t').filter(|(_, full)| *full == name))
        else {
            return Ok(false);
        };
        if !self.is_known(commit.0, default_branch, branch)? {
            return Err(refused(format!("`{branch}` on `{REMOTE}` has commits that are not here")).help(
                format!("fetch and merge them, or delete it yourself: `git push {REMOTE} --delete {branch}`"),
            ));
        }
        if !self.is_ancestor(from, commit.0)? {
            return Ok(false);
        }
        // With the lease, the remote refuses if somebody has pushed since.
        let lease = format!("--force-with-lease={name}:{}", commit.0);
        let output = self
            .with_hooks(&self.repo)
            .bound(PATIENCE)
            .args(["push", "--quiet", "--no-follow-tags", &lease, REMOTE, &format!(":{name}")])
            .run()?;
        if says_no_branch(&output) { Ok(false) } else { output.checked().map(|_| true) }
    }

    fn is_protected(&self, branch: &str) -> Result<bool> {
        // Without a setting, git prints nothing.
        let set = self.call().args(["config", "--get-all", "orange.protected"]).run()?.text();
        let covers = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => branch.starts_with(start),
            None => branch == pattern,
        };
        Ok(PROTECTED.into_iter().chain(set.lines()).any(covers))
    }

    /// True if this commit of the remote's branch is part of the local branch or of the default branch.
    fn is_known(&self, commit: &str, default_branch: &str, branch: &str) -> Result<bool> {
        if self.commit_in(&self.repo, commit)?.is_none() {
            return Ok(false);
        }
        let remote_default = format!("refs/remotes/{REMOTE}/{default_branch}");
        for name in [format!("refs/heads/{branch}"), format!("refs/heads/{default_branch}"), remote_default] {
            if self.commit_in(&self.repo, &name)?.is_some() && self.is_ancestor(commit, &name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn remote_call(&self) -> ProgramCall {
        self.call().bound(PATIENCE)
    }
}

fn says_no_branch(output: &CallOutput) -> bool {
    output.complaint().contains("remote ref does not exist")
}
