//! The crab's clone of a repository: brought to where the remote is, with the branch of a mission claimed for one attempt.
//!
//! The claim is a ref on the remote, which the push of an attempt removes in the same transaction. An attempt whose lease was lost has
//! lost the claim to the next one, so that its push is refused, however late it comes.

use std::path::PathBuf;

use orange_api::gateway::TaskAssigned;
use orange_api::{Error, ErrorKind, Result};

use super::git::{
    GitFolder, REMOTE, RemoteCommits, branch_ref, claim_ref, clone_of, kept_ref, project_name, tracking_ref,
};
use super::job::Ready;
use super::orange::Engine;
use super::program::StillWanted;

/// The setting with the address of the remote, and the crab's note of it.
const REMOTE_URL: &str = "remote.origin.url";
const CLONED_FROM: &str = "orange-fleet.clonedFrom";

/// Number of tries to set the claim while others change it.
const ROUNDS: usize = 5;

/// Settings of a crab for the repositories of its jobs.
#[derive(Clone, Copy, Debug)]
pub struct RepositorySettings<'r> {
    /// The home of the crab.
    pub home: &'r std::path::Path,
    /// The crab, for people who look at a claim.
    pub crab: &'r str,
    pub orange: &'r Engine,
    /// True if the crab agrees to what harnesses ask.
    pub agrees: bool,
}

/// Reason for which no attempt can start.
#[derive(Debug)]
pub enum Unready {
    /// The mission or its colony: every crab would find the same.
    Mission(Error),
    /// This machine, or its way to the remote.
    Machine(Error),
}

impl From<Error> for Unready {
    fn from(error: Error) -> Unready {
        Unready::Machine(error)
    }
}

impl RepositorySettings<'_> {
    /// Makes the clone if it is not there, fetches the branch, claims it, and puts the local branch where the remote's is.
    ///
    /// # Errors
    /// No attempt can start here.
    pub fn prepare(
        &self,
        assigned: &TaskAssigned,
        wanted: &dyn StillWanted,
    ) -> std::result::Result<Ready, Unready> {
        let project = project_name(&assigned.repository);
        let clone = self.clone(assigned, &project, wanted)?;
        let git = GitFolder::new(&clone, wanted);
        if !git.can_have(&assigned.branch)? {
            return Err(Unready::Mission(no_name(&assigned.branch)));
        }
        let base = assigned.base.as_deref();
        let remote = fetched(git, &assigned.branch, base)?;
        if remote.base_name.as_ref() == Some(&assigned.branch) {
            return Err(Unready::Mission(on_base(&assigned.branch)));
        }
        let start = remote.branch.clone().or(remote.base.clone());
        let start = start.ok_or_else(|| Unready::Mission(no_base(assigned)))?;
        begin(git, &remote)?;
        self.orange.add_project(&project, &clone, base)?;
        if self.agrees && assigned.run.is_empty() {
            self.orange.agree(assigned.harness.as_deref())?;
        }
        let claim = self.claim(git, assigned, &remote)?;
        put(git, &assigned.branch, &start)?;
        Ok(Ready {
            clone: clone.to_string_lossy().into_owned(),
            worktree: self.orange.worktree_of(&project).to_string_lossy().into_owned(),
            found: remote.branch,
            start,
            claim,
            project,
        })
    }

    fn clone(&self, assigned: &TaskAssigned, project: &str, wanted: &dyn StillWanted) -> Result<PathBuf> {
        let clone = clone_of(self.home, project);
        let folder = clone.parent().unwrap_or(self.home);
        std::fs::create_dir_all(folder).map_err(|cause| Error::io("make", folder, &cause))?;
        if !clone.is_dir() {
            // A path of this machine is seen from where the crab was started.
            let here = std::env::current_dir().map_err(|cause| Error::io("find", folder, &cause))?;
            GitFolder::new(&here, wanted).clone_into(&assigned.repository, &clone)?;
            let git = GitFolder::new(&clone, wanted);
            git.text(&["config", CLONED_FROM, &git.text(&["config", REMOTE_URL])?])?;
        }
        set_right(GitFolder::new(&clone, wanted))?;
        Ok(clone)
    }

    /// Replaces the claim of whichever attempt was there before: the gateway says that this one is current.
    fn claim(&self, git: GitFolder<'_>, assigned: &TaskAssigned, remote: &RemoteCommits) -> Result<String> {
        let own = claim_commit(git, &format!("{} by {}", assigned.run_id, self.crab))?;
        let name = claim_ref(&assigned.branch);
        let mut before = remote.clone();
        for _ in 0..ROUNDS {
            let lease = lease(&name, before.claim.as_deref());
            let spec = format!("{own}:{name}");
            let said = git.said(&["push", "--quiet", "--no-verify", &lease, REMOTE, &spec])?;
            if said.success() {
                return Ok(own);
            }
            let now = git.look(&assigned.branch, assigned.base.as_deref())?;
            if now.claim == before.claim {
                let message = format!("{REMOTE} does not take the claim {name}: {}", said.complaint());
                return Err(Error::new(ErrorKind::Environment, message)
                    .help("the crab needs the right to push the branch and refs/orange-fleet/"));
            }
            before = now;
        }
        Err(Error::new(ErrorKind::Locked, format!("others claim {} again and again", assigned.branch)))
    }
}

/// Gives the remote the address that it was cloned from: an agent may have changed it, and worktrees have the settings of their clone.
fn set_right(git: GitFolder<'_>) -> Result<()> {
    // An agent may have removed the note of it.
    let said = git.said(&["config", "--get", CLONED_FROM])?;
    let address = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if address.is_empty() {
        return Ok(());
    }
    git.text(&["config", "--replace-all", REMOTE_URL, &address])?;
    // It need not be there.
    git.said(&["config", "--unset-all", "remote.origin.pushurl"]).map(drop)
}

/// Fetches the branch of a mission and the branch that work starts from, as the remote has them now.
pub fn fetched(git: GitFolder<'_>, branch: &str, base: Option<&str>) -> Result<RemoteCommits> {
    let remote = git.look(branch, base)?;
    let spec = |name: &str| format!("+{}:{}", branch_ref(name), tracking_ref(name));
    let own = remote.branch.as_ref().map(|_| spec(branch));
    let base = remote.base_name.as_deref().filter(|name| *name != branch).map(spec);
    let specs: Vec<&str> = own.iter().chain(&base).map(String::as_str).collect();
    if !specs.is_empty() {
        let words = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", REMOTE];
        git.text(&[&words[..], &specs].concat())?;
    }
    if remote.branch.is_none() {
        git.said(&["update-ref", "-d", &tracking_ref(branch)])?;
    }
    Ok(remote)
}

/// Gives a clone the branch that work starts from, if it has none: the remote had no commit when it was cloned.
fn begin(git: GitFolder<'_>, remote: &RemoteCommits) -> Result<()> {
    let Some(base) = remote.base_name.as_deref().filter(|_| remote.base.is_some()) else { return Ok(()) };
    if git.commit("HEAD")?.is_none() {
        git.text(&["checkout", "--quiet", "-B", base, &tracking_ref(base)])?;
        git.text(&["remote", "set-head", REMOTE, base])?;
    }
    Ok(())
}

/// The option that refuses a push if the remote's ref is not this commit, or is there at all.
pub fn lease(name: &str, expected: Option<&str>) -> String {
    format!("--force-with-lease={name}:{}", expected.unwrap_or_default())
}

/// A commit of nothing that says who claims.
fn claim_commit(git: GitFolder<'_>, message: &str) -> Result<String> {
    let tree = git.call(&["mktree"]).text()?;
    let call = git.call(&["commit-tree", &tree, "-m", message]);
    let call = ["AUTHOR", "COMMITTER"].iter().fold(call, |call, who| {
        call.env(&format!("GIT_{who}_NAME"), "orange-fleet")
            .env(&format!("GIT_{who}_EMAIL"), "orange-fleet@localhost")
    });
    call.text()
}

/// Puts the local branch on a commit, and keeps what only the branch had.
fn put(git: GitFolder<'_>, branch: &str, start: &str) -> Result<()> {
    let name = branch_ref(branch);
    if let Some(before) = git.commit(&name)?.filter(|before| before != start) {
        if !git.is_part(&before, start)? {
            git.text(&["update-ref", &kept_ref(&before), &before])?;
        }
        if git.is_checked_out(&name)? {
            let message = format!("the branch {branch} is checked out on the machine of the crab");
            return Err(Error::new(ErrorKind::Refused, message)
                .help("`orange mission list --all` in the home of the crab shows who has it"));
        }
    }
    git.text(&["update-ref", &name, start]).map(drop)
}

fn no_name(branch: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("git cannot have a branch `{}`", branch.escape_debug()))
        .help("start the mission again with another branch")
}

fn on_base(branch: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("the mission is on `{branch}`, the branch that work starts from"))
        .help("cancel it, and start it again with a branch of its own")
}

fn no_base(assigned: &TaskAssigned) -> Error {
    let what = match &assigned.base {
        Some(base) => format!("{} has no branch `{base}` to start from", assigned.repository),
        None => format!("{} has no commit to start from", assigned.repository),
    };
    Error::new(ErrorKind::NotFound, what).help("push a first commit, or give the colony another base")
}
