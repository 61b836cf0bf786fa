//! Commits what an agent has left in its worktree, and pushes the branch, bound to the attempt.

use std::path::Path;
use std::time::Duration;

use orange_api::Result;

use super::git::{GitFolder, REMOTE, RemoteCommits, branch_ref, claim_ref, kept_ref, tracking_ref};
use super::job::{Job, Ready};
use super::program::StillWanted;
use super::repository::{fetched, lease};

/// Time limit for the removal of a claim.
const BRIEF: Duration = Duration::from_secs(60);

/// Result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has the branch.
    Done {
        commit: String,
        /// Notes for a person.
        notes: Vec<String>,
    },
    /// The content of the worktree cannot be pushed.
    Unfit(String),
    /// Another attempt has the claim. The gateway decides which one counts.
    Claimed(Option<String>),
    /// Something in the clone is in the way, such as a lock that a killed git has left, or a hook.
    NotHere(String),
    /// The remote does not answer, or refuses for another reason.
    NotNow(String),
}

impl Pushed {
    /// Result of a push when git itself fails in the worktree. A full disk may have room again; the lock of a git that was killed
    /// stays.
    pub fn failed(why: String) -> Pushed {
        if why.contains(".lock': File exists") { Pushed::NotHere(why) } else { Pushed::NotNow(why) }
    }
}

/// Commits and pushes. It does nothing twice, so that it can be repeated after a kill.
///
/// # Errors
/// Git fails in the worktree.
pub fn push(job: &Job, ready: &Ready, wanted: &dyn StillWanted) -> Result<Pushed> {
    let worktree = Path::new(&ready.worktree);
    let git = GitFolder::new(worktree, wanted);
    let branch = &job.assigned.branch;
    if !worktree.is_dir() {
        return Ok(Pushed::Unfit(format!("its worktree is gone: {}", worktree.display())));
    }
    if let Some(why) = unfit(git)? {
        return Ok(Pushed::Unfit(why));
    }
    let notes = commit(git, job)?;
    let Some(head) = git.commit("HEAD")? else {
        return Ok(Pushed::Unfit("the worktree has no commit".to_owned()));
    };
    let is_on_it = git.text(&["rev-parse", "--symbolic-full-name", "HEAD"])? == branch_ref(branch);
    if !is_on_it && !git.is_part(&branch_ref(branch), &head)? {
        git.text(&["update-ref", &kept_ref(&head), &head])?;
        return Ok(Pushed::Unfit(format!(
            "the agent has left the worktree at {head}, which is not on the branch {branch}; the crab keeps it as {}",
            kept_ref(&head)
        )));
    }
    let remote = match fetched(git, branch, None) {
        Ok(remote) => remote,
        Err(error) => return Ok(Pushed::NotNow(error.one_line())),
    };
    if remote.branch.as_ref() == Some(&head) && remote.claim.is_none() {
        // The answer to the push before was lost.
        return Ok(Pushed::Done { commit: head, notes });
    }
    if remote.claim.as_ref() != Some(&ready.claim) {
        return Ok(Pushed::Claimed(remote.claim));
    }
    if !is_ours(git, &remote, ready, branch, &head)? {
        git.text(&["update-ref", &kept_ref(&head), &head])?;
        return Ok(Pushed::Unfit(format!(
            "somebody else has changed {branch} on the remote meanwhile; the crab keeps the work of this attempt as {}",
            kept_ref(&head)
        )));
    }
    send(git, job, ready, &remote, &head, notes)
}

/// Takes the claim back from an attempt that is not current.
///
/// # Errors
/// Git fails.
pub fn reclaim(job: &Job, ready: &Ready, other: Option<&str>, wanted: &dyn StillWanted) -> Result<bool> {
    let name = claim_ref(&job.assigned.branch);
    let spec = format!("{}:{name}", ready.claim);
    let clone = Path::new(&ready.clone);
    GitFolder::new(clone, wanted).is(&["push", "--quiet", "--no-verify", &lease(&name, other), REMOTE, &spec])
}

/// Removes the claim of an attempt that does not push, and the local branch, as far as that is possible now.
///
/// # Errors
/// Git cannot be run, or takes too long. The next attempt replaces a claim that stays.
pub fn leave(job: &Job, ready: &Ready, wanted: &dyn StillWanted) -> Result<()> {
    let git = GitFolder::new(Path::new(&ready.clone), wanted);
    let branch = branch_ref(&job.assigned.branch);
    if job.pushed.is_none() {
        let name = claim_ref(&job.assigned.branch);
        let (lease, spec) = (lease(&name, Some(&ready.claim)), format!(":{name}"));
        git.call(&["push", "--quiet", "--no-verify", &lease, REMOTE, &spec]).limit(BRIEF).run()?;
    }
    // A branch with anything else stays, and the next attempt keeps what it has.
    match job.pushed.as_ref().or(ready.found.as_ref()) {
        Some(expected) if !git.is_checked_out(&branch)? => {
            git.said(&["update-ref", "-d", &branch, expected]).map(drop)
        }
        Some(_) | None => Ok(()),
    }
}

/// Reason for which no commit is possible here.
fn unfit(git: GitFolder<'_>) -> Result<Option<String>> {
    for folder in ["rebase-merge", "rebase-apply"] {
        let path = git.text(&["rev-parse", "--path-format=absolute", "--git-path", folder])?;
        if Path::new(&path).exists() {
            return Ok(Some("the agent has left a rebase unfinished in its worktree".to_owned()));
        }
    }
    let unmerged = git.text(&["diff", "--name-only", "--diff-filter=U"])?;
    Ok((!unmerged.is_empty())
        .then(|| format!("the agent has left conflicts in its worktree: {}", unmerged.replace('\n', ", "))))
}

/// Commits everything that git does not ignore. Returns what is not in the commit.
fn commit(git: GitFolder<'_>, job: &Job) -> Result<Vec<String>> {
    git.text(&["-c", "advice.addEmbeddedRepo=false", "add", "--all"])?;
    let mut notes = Vec::new();
    for path in embedded(&git.text(&["diff", "--cached", "--raw", "-z", "--no-renames", "HEAD"])?) {
        if !git.is(&[
            "config",
            "--file",
            ".gitmodules",
            "--get-regexp",
            "path",
            &format!("^{}$", escaped(&path)),
        ])? {
            git.text(&["rm", "--cached", "--force", "--quiet", "--", &path])?;
            notes.push(format!("the repository that the agent has made in {path} is not on the branch"));
        }
    }
    let is_merging = git.commit("MERGE_HEAD")?.is_some();
    if is_merging || !git.is(&["diff", "--cached", "--quiet", "HEAD"])? {
        let assigned = &job.assigned;
        let message = format!(
            "Uncommitted work of step {}, attempt {}\n\nIts agent has left it in the worktree ({}).",
            assigned.step_id, assigned.attempt, assigned.run_id
        );
        let quiet = ["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"];
        git.text(&[&quiet[..], &["commit", "--quiet", "--no-verify", "--message", &message]].concat())?;
    }
    Ok(notes)
}

/// The paths of new repositories inside the worktree, in the output of `git diff --raw -z`.
fn embedded(raw: &str) -> Vec<String> {
    let mut fields = raw.split('\0');
    let mut paths = Vec::new();
    while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
        if about.starts_with(":000000 160000 ") {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// A path as a pattern for itself.
fn escaped(path: &str) -> String {
    path.chars().flat_map(|it| (!it.is_alphanumeric()).then_some('\\').into_iter().chain([it])).collect()
}

/// True if the remote's branch is where this attempt has found it, or where its agent has pushed it.
fn is_ours(
    git: GitFolder<'_>,
    remote: &RemoteCommits,
    ready: &Ready,
    branch: &str,
    head: &str,
) -> Result<bool> {
    let Some(there) = &remote.branch else { return Ok(ready.found.is_none()) };
    if remote.branch == ready.found || git.is_part(there, head)? {
        return Ok(true);
    }
    // The agent may have pushed a commit and replaced it since.
    let been = git.text(&["rev-list", "--walk-reflogs", &branch_ref(branch)])?;
    Ok(been.lines().any(|line| line == there))
}

fn send(
    git: GitFolder<'_>,
    job: &Job,
    ready: &Ready,
    remote: &RemoteCommits,
    head: &str,
    notes: Vec<String>,
) -> Result<Pushed> {
    let (branch, claim) = (branch_ref(&job.assigned.branch), claim_ref(&job.assigned.branch));
    let leases = [lease(&branch, remote.branch.as_deref()), lease(&claim, Some(&ready.claim))];
    let specs = [format!("{head}:{branch}"), format!(":{claim}")];
    let words = [
        "push",
        "--quiet",
        "--atomic",
        "--no-follow-tags",
        &leases[0],
        &leases[1],
        REMOTE,
        &specs[0],
        &specs[1],
    ];
    match git.said(&words) {
        Ok(said) if said.success() => {
            git.said(&["update-ref", &tracking_ref(&job.assigned.branch), head])?;
            Ok(Pushed::Done { commit: head.to_owned(), notes })
        }
        Ok(said) if is_final(&said.complaint()) => {
            git.text(&["update-ref", &kept_ref(head), head])?;
            let why = format!("{REMOTE} does not take {}: {}", job.assigned.branch, said.complaint());
            Ok(Pushed::Unfit(format!("{why}\nthe crab keeps the work of this attempt as {}", kept_ref(head))))
        }
        Ok(said) if is_of_hook(said.code(), &said.complaint()) => {
            let output = String::from_utf8_lossy(&said.stdout);
            let why = format!("the pre-push hook of the clone refuses {}", job.assigned.branch);
            Ok(Pushed::NotHere(format!("{why}: {}{}", output, said.complaint())))
        }
        Ok(said) => Ok(Pushed::NotNow(said.complaint())),
        Err(error) => Ok(Pushed::NotNow(error.one_line())),
    }
}

/// True if the remote would refuse the same push again: one of its hooks says no, or the name of another branch conflicts with its
/// name.
fn is_final(complaint: &str) -> bool {
    let is_in_the_way = |line: &str| line.contains("cannot lock ref") && line.contains("' exists");
    complaint.lines().any(|line| line.contains("hook declined") || is_in_the_way(line))
}

/// True if the push has ended before it has reached the remote: git then says nothing about a branch. Without a remote, its status
/// is 128.
fn is_of_hook(status: Option<i32>, complaint: &str) -> bool {
    status == Some(1) && !complaint.lines().any(|line| line.starts_with(" ! ["))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crab::job::tests::assigned;

    #[derive(Debug)]
    struct TestWanted;

    impl StillWanted for TestWanted {
        fn is_wanted(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_worktree_that_is_gone_has_nothing_to_push() {
        let ready = Ready { worktree: "/no/such/worktree".to_owned(), ..Ready::default() };
        let pushed = push(&Job::new(assigned("plan"), String::new()), &ready, &TestWanted).unwrap();
        assert_eq!(pushed, Pushed::Unfit("its worktree is gone: /no/such/worktree".to_owned()));
    }

    #[test]
    fn a_refusal_that_stays_differs_from_others() {
        for complaint in [
            " ! [remote rejected] aaa -> m/one (pre-receive hook declined)",
            " ! [remote rejected] aaa -> m/one (protected branch hook declined)\nerror: failed to push some refs",
            "remote: error: cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'",
        ] {
            assert!(is_final(complaint), "{complaint}");
        }
        for complaint in [
            "",
            "fatal: unable to access 'https://example.org/': Could not resolve host",
            " ! [rejected] aaa -> m/one (stale info)",
            "remote: error: cannot lock ref 'refs/heads/a': is at bbb but expected ccc",
        ] {
            assert!(!is_final(complaint), "{complaint}");
        }
    }

    #[test]
    fn a_lock_that_stays_differs_from_a_full_disk() {
        let locked = "`git add --all`: fatal: Unable to create '/w/.git/index.lock': File exists.";
        assert_eq!(Pushed::failed(locked.to_owned()), Pushed::NotHere(locked.to_owned()));
        let full = "`git add --all`: fatal: write error: No space left on device";
        assert_eq!(Pushed::failed(full.to_owned()), Pushed::NotNow(full.to_owned()));
    }

    #[test]
    fn a_hook_of_the_clone_differs_from_the_remote() {
        let failed = "error: failed to push some refs to '/srv/git/toy.git'";
        assert!(is_of_hook(Some(1), failed));
        assert!(!is_of_hook(Some(1), &format!(" ! [rejected] aaa -> m/one (stale info)\n{failed}")));
        assert!(!is_of_hook(Some(128), "fatal: Could not read from remote repository."));
        assert!(!is_of_hook(None, ""));
    }

    #[test]
    fn new_repositories_are_found_among_the_changes() {
        let raw = ":000000 160000 0000 aaaa A\0vendor/x\0:100644 100644 aaaa bbbb M\0a b\0:160000 160000 a b M\0module\0";
        assert_eq!(embedded(raw), ["vendor/x"]);
        assert_eq!(embedded(""), Vec::<String>::new());
        assert_eq!(escaped("a.b/c d"), "a\\.b\\/c\\ d");
    }
}
