//! Forges: pull requests and issues in our words, and the programs that ask for them. Every call needs the network and an account.

mod discussion;
mod facts;
mod gh;
mod glab;
mod issues;
mod merging;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use orange_api::{CheckLog, FailedCheck, MOST_CHECKS, Permission, end_of_log};
pub use orange_core::forge::ForgeKind;
use orange_journal::event::Checks;
use orange_system::exec::{find_on_path, not_installed};
use serde::Deserialize;

pub use self::discussion::{Author, Discussion, ForgeComment, Mergeable, OpenThread};
pub use self::facts::{FailedRun, MergeOutlook, MergeState};
use self::gh::Gh;
use self::glab::Glab;
pub use self::issues::{AppliedLabel, LabelledIssue, LabelledIssues};
pub use self::merging::{ForgeMerge, ForgeMergeState, MergeRules};
use crate::{Error, ErrorKind, Result};

/// The time limit of a call.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most bytes of a log that are kept of each of its ends.
const LONGEST_LOG: usize = 64 << 10;

/// The forge of one project's repository, whose remotes name the repository there.
#[derive(Clone, Debug)]
pub enum Forge {
    GitHub(Gh),
    GitLab(Glab),
}

/// A pull request, which GitLab calls a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    pub url: String,
    pub state: PrState,
    /// The commit that merged it, if the forge says so.
    pub commit: Option<String>,
    /// Time of its merge (RFC 3339, UTC), if that was asked for.
    pub merged_at: Option<String>,
    /// The result of its checks, if that was asked for.
    pub checks: Option<CheckedCommit>,
}

/// The result of a pull request's checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedCommit {
    /// The commit that they examine.
    pub commit: String,
    pub state: Checks,
    /// True if none of them still runs.
    pub have_ended: bool,
    /// A word of the forge for the result that is not known here. It counts as a failure.
    pub unknown: Option<String>,
}

/// The state of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrState {
    /// It is open, perhaps as a draft.
    Open,
    /// It was merged.
    Merged,
    /// It was closed without a merge.
    Closed,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Issue {
    pub number: u64,
    /// Its title, one line.
    pub title: String,
    pub body: String,
    pub url: String,
}

/// The text of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestText {
    pub state: PrState,
    /// Its title, one line.
    pub title: String,
    pub body: String,
}

/// The text of a new pull request.
#[derive(Clone, Copy, Debug)]
pub struct NewPullRequest<'a> {
    /// The target branch.
    pub base: &'a str,
    /// Its own branch, which the remote has.
    pub head: &'a str,
    /// Its title, one line.
    pub title: &'a str,
    pub body: &'a str,
}

/// The longest texts that a forge takes, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    pub title: usize,
    pub body: usize,
}

/// Facts that change with a pull request, its reviews, or the checks of its newest commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    pub url: String,
    state: PrState,
    /// Words that change with its commits.
    commits: String,
    updated_at: String,
    /// The forge's own summary, which may count superseded checks.
    checks: Checks,
}

/// Glances of one round.
#[derive(Debug, Default)]
pub struct Glances {
    /// Those that the forge knows.
    pub each: Vec<Glance>,
    /// True if less than a fifth of the account's questions of this hour is left.
    pub is_scarce: bool,
}

impl Glance {
    /// True if a view after this glance has nothing that the view after the earlier one had not. While checks run, one may fail
    /// without a change of the summary; a summary that has failed may be of checks that newer ones have superseded since; and the end
    /// of a pull request is looked at until its task has ended.
    pub fn has_nothing_new(&self, earlier: &Glance) -> bool {
        let is_calm = match self.checks {
            Checks::Green | Checks::None => true,
            Checks::Pending | Checks::Red | Checks::Other(_) => false,
        };
        self == earlier && self.state == PrState::Open && is_calm
    }
}

impl Forge {
    /// The forge of the repository in this folder.
    pub fn at(kind: ForgeKind, repo: impl Into<PathBuf>) -> Forge {
        match kind {
            ForgeKind::GitHub => Forge::GitHub(Gh::at(repo)),
            ForgeKind::GitLab => Forge::GitLab(Glab::at(repo)),
        }
    }

    /// Sets another time limit.
    pub fn patience(self, patience: Duration) -> Forge {
        match self {
            Forge::GitHub(gh) => Forge::GitHub(gh.patience(patience)),
            Forge::GitLab(glab) => Forge::GitLab(glab.patience(patience)),
        }
    }

    pub const fn kind(&self) -> ForgeKind {
        match self {
            Forge::GitHub(_) => ForgeKind::GitHub,
            Forge::GitLab(_) => ForgeKind::GitLab,
        }
    }

    /// Its name in messages.
    pub const fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Checks that its program is installed.
    pub fn check(&self, path: &OsStr) -> Result<()> {
        let program = self.kind().program();
        find_on_path(program, path).map(drop).ok_or_else(|| not_installed(program))
    }

    /// The pull request of this address. If the repository has moved, the answer keeps the address that was asked for.
    ///
    /// # Errors
    /// `refused` for what is not a pull request's address; `environment` when the program is missing, cannot log in, is too slow or
    /// fails.
    pub fn view(&self, url: &str) -> Result<PullRequest> {
        let found = match self {
            Forge::GitHub(gh) => gh.view(url)?,
            Forge::GitLab(glab) => glab.view(url)?,
        };
        Ok(PullRequest { url: url.to_owned(), ..found })
    }

    /// The text of the pull request of this address.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn text(&self, url: &str) -> Result<PullRequestText> {
        match self {
            Forge::GitHub(gh) => gh.text(url),
            Forge::GitLab(glab) => glab.text(url),
        }
    }

    /// The rules of the repository for merges of a pull request.
    ///
    /// # Errors
    /// Those of [`Forge::view`]; also `refused` where this version cannot follow them.
    pub fn merge_rules(&self, url: &str) -> Result<MergeRules> {
        match self {
            Forge::GitHub(gh) => gh.merge_rules(url),
            Forge::GitLab(glab) => glab.merge_rules(url),
        }
    }

    /// True if a pull request is in the queue of its repository; `None` on a forge that does not say so.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn queued(&self, url: &str) -> Result<Option<bool>> {
        match self {
            Forge::GitHub(gh) => gh.merge_rules(url).map(|rules| Some(rules.is_queued)),
            Forge::GitLab(_) => Ok(None),
        }
    }

    /// Asks the forge to merge a pull request. It can be repeated: a merge that is under way is not doubled.
    ///
    /// # Errors
    /// Those of [`Forge::view`]. A refusal of the forge is an answer.
    pub fn merge(&self, merge: &ForgeMerge<'_>) -> Result<ForgeMergeState> {
        match self {
            Forge::GitHub(gh) => gh.merge(merge),
            Forge::GitLab(glab) => glab.merge(merge),
        }
    }

    /// The state of a merge that the forge has accepted under this name; `None` if it does not know that any more.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn merge_state(&self, url: &str, id: &str, commit: &str) -> Result<Option<ForgeMergeState>> {
        match self {
            Forge::GitHub(gh) => gh.merge_state(url, id, commit),
            // It has no names for merges.
            Forge::GitLab(_) => Ok(None),
        }
    }

    /// The issue of this number.
    pub fn issue(&self, number: u64) -> Result<Issue> {
        match self {
            Forge::GitHub(gh) => gh.issue(number),
            Forge::GitLab(glab) => glab.issue(number),
        }
    }

    /// The newest open pull request of a branch, or else the newest one.
    pub fn of_branch(&self, branch: &str) -> Result<Option<PullRequest>> {
        match self {
            Forge::GitHub(gh) => gh.of_branch(branch),
            Forge::GitLab(glab) => glab.of_branch(branch),
        }
    }

    /// The pull request of a branch of a project that may not use the forge: `None` also if the program is missing or has no login,
    /// and if no remote of the repository is there.
    pub fn of_branch_if_used(&self, branch: &str, path: &OsStr) -> Result<Option<PullRequest>> {
        if self.check(path).is_err() {
            return Ok(None);
        }
        match self {
            Forge::GitHub(gh) => gh.of_branch_if_used(branch),
            Forge::GitLab(glab) => glab.of_branch_if_used(branch),
        }
    }

    /// Opens a pull request and returns its address. The text goes through a pipe.
    pub fn create(&self, new: &NewPullRequest<'_>) -> Result<String> {
        match self {
            Forge::GitHub(gh) => gh.create(new),
            Forge::GitLab(glab) => glab.create(new),
        }
    }

    /// Glances at these pull requests, with few questions.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn glances(&self, urls: &[&str]) -> Result<Glances> {
        match self {
            Forge::GitHub(gh) => gh.glances(urls),
            Forge::GitLab(glab) => glab.glances(urls),
        }
    }

    /// The reviews and open threads of a pull request. A thread or comment that a person has not published, or that the forge hides as
    /// spam, is not among them.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn discussion(&self, url: &str) -> Result<Discussion> {
        match self {
            Forge::GitHub(gh) => gh.discussion(url),
            Forge::GitLab(glab) => glab.discussion(url),
        }
    }

    /// The failed checks of a pull request whose newest commit is this one, the first [`MOST_CHECKS`] of them with the end of their logs.
    ///
    /// # Errors
    /// `refused` if its newest commit is another one; else those of [`Forge::view`]. A log that cannot be had is not an error.
    ///
    /// [`MOST_CHECKS`]: orange_api::MOST_CHECKS
    pub fn failed_checks(&self, url: &str, commit: &str) -> Result<Vec<FailedCheck>> {
        match self {
            Forge::GitHub(gh) => gh.failed_checks(url, commit),
            Forge::GitLab(glab) => glab.failed_checks(url, commit),
        }
    }

    /// The failed runs of checks of a pull request whose newest commit is this one, of required checks alone or of all.
    ///
    /// # Errors
    /// `refused` if its newest commit is another one, and for required checks of a forge that does not know them; else those of
    /// [`Forge::view`].
    pub fn failed_runs(&self, url: &str, commit: &str, is_of_required: bool) -> Result<Vec<FailedRun>> {
        match self {
            Forge::GitHub(gh) => gh.failed_runs(url, commit, is_of_required),
            Forge::GitLab(_) if is_of_required => Err(without_required_checks()),
            Forge::GitLab(glab) => glab.failed_runs(url, commit),
        }
    }

    /// Asks the forge to run failed checks again: `again` is from [`FailedRun::again`].
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn rerun(&self, url: &str, again: &[&str]) -> Result<()> {
        match self {
            Forge::GitHub(gh) => gh.rerun(url, again),
            Forge::GitLab(glab) => glab.rerun(url, again),
        }
    }

    /// The result of the required checks of a pull request.
    ///
    /// # Errors
    /// `refused` where the forge does not know which checks are required; else those of [`Forge::view`].
    pub fn required_checks(&self, url: &str) -> Result<CheckedCommit> {
        match self {
            Forge::GitHub(gh) => gh.required_checks(url),
            Forge::GitLab(_) => Err(without_required_checks()),
        }
    }

    /// The merge of a pull request, as the forge foresees it.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn merge_outlook(&self, url: &str) -> Result<MergeOutlook> {
        match self {
            Forge::GitHub(gh) => gh.merge_outlook(url),
            Forge::GitLab(glab) => glab.merge_outlook(url),
        }
    }

    /// The permission of an account in the repository of a pull request. An account that the forge does not know has none.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn permission(&self, url: &str, login: &str) -> Result<Permission> {
        match self {
            Forge::GitHub(gh) => gh.permission(url, login),
            Forge::GitLab(glab) => glab.permission(url, login),
        }
    }

    /// Adds a comment to a thread of a pull request. The text goes through a pipe.
    pub fn reply(&self, url: &str, thread: &str, text: &str) -> Result<()> {
        match self {
            Forge::GitHub(gh) => gh.reply(thread, url, text),
            Forge::GitLab(glab) => glab.reply(thread, url, text),
        }
    }

    /// Resolves a thread of a pull request. Repeating it does no harm.
    pub fn resolve(&self, url: &str, thread: &str) -> Result<()> {
        match self {
            Forge::GitHub(gh) => gh.resolve(thread, url),
            Forge::GitLab(glab) => glab.resolve(thread, url),
        }
    }

    /// The host and the path of the repository, such as `github.com/owner/name`.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn repository(&self) -> Result<String> {
        match self {
            Forge::GitHub(gh) => gh.repository(),
            Forge::GitLab(glab) => glab.repository(),
        }
    }

    /// The open issues of a repository with a label. `is_known` gets the number of an issue, and then the id of its label event, too: about
    /// a known one no more is asked than that takes.
    ///
    /// # Errors
    /// Those of [`Forge::view`]; also for an answer with a word that is not known.
    pub fn labelled(
        &self,
        repository: &str,
        label: &str,
        is_known: &dyn Fn(u64, Option<&str>) -> bool,
    ) -> Result<LabelledIssues> {
        match self {
            Forge::GitHub(gh) => gh.labelled(repository, label),
            Forge::GitLab(glab) => glab.labelled(repository, label, is_known),
        }
    }

    /// Those of these issues that are closed.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn closed(&self, repository: &str, numbers: &[u64]) -> Result<Vec<u64>> {
        match self {
            Forge::GitHub(gh) => gh.closed(repository, numbers),
            Forge::GitLab(glab) => glab.closed(repository, numbers),
        }
    }

    /// True if this account has posted a comment with this mark on an issue, among the last hundred.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn has_comment(&self, repository: &str, number: u64, mark: &str) -> Result<bool> {
        match self {
            Forge::GitHub(gh) => gh.has_comment(repository, number, mark),
            Forge::GitLab(glab) => glab.has_comment(repository, number, mark),
        }
    }

    /// Assigns an issue to this account; on GitLab, unless it is another account's.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn claim(&self, repository: &str, number: u64) -> Result<()> {
        match self {
            Forge::GitHub(gh) => gh.claim(repository, number),
            Forge::GitLab(glab) => glab.claim(repository, number),
        }
    }

    /// Adds a comment to an issue. The text goes through a pipe.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn comment(&self, repository: &str, number: u64, text: &str) -> Result<()> {
        match self {
            Forge::GitHub(gh) => gh.comment(repository, number, text),
            Forge::GitLab(glab) => glab.comment(repository, number, text),
        }
    }

    /// The permission of an account in a repository. An account that the forge does not know has none.
    ///
    /// # Errors
    /// Those of [`Forge::view`].
    pub fn permission_in(&self, repository: &str, login: &str) -> Result<Permission> {
        match self {
            Forge::GitHub(gh) => gh.permission_in(repository, login),
            Forge::GitLab(glab) => glab.permission_in(repository, login),
        }
    }

    /// The longest texts of a new pull request, less the note that one was cut.
    pub const fn limits(&self) -> TextLimits {
        match self {
            Forge::GitHub(_) => TextLimits { title: 256, body: 65_000 },
            Forge::GitLab(_) => TextLimits { title: 255, body: 1_000_000 },
        }
    }

    /// A command that merges this pull request at the forge.
    pub fn merge_command(&self, url: &str) -> String {
        match self {
            Forge::GitHub(_) => format!("gh pr merge {url}"),
            Forge::GitLab(_) => {
                let number = url.rsplit('/').next().unwrap_or(url);
                format!("glab mr merge {number}")
            }
        }
    }
}

fn without_required_checks() -> Error {
    let message = "GitLab does not say which checks of a merge request are required";
    let help = "take `required: true` out of the watch rule; jobs with `allow_failure` never make checks red";
    Error::new(ErrorKind::Refused, message).help(help)
}

/// The check of a log of this text, or without one.
fn check_log(log: std::result::Result<String, String>) -> CheckLog {
    match log {
        Ok(text) => {
            let (text, is_cut) = end_of_log(&text);
            CheckLog::End { text, is_cut }
        }
        Err(reason) => CheckLog::Missing { reason },
    }
}

/// The reason for a check without a log that is not one of the first.
fn not_asked_for() -> CheckLog {
    CheckLog::Missing { reason: format!("only the logs of the first {MOST_CHECKS} checks are read") }
}

/// Refuses checks of another commit than the one that is asked about.
fn check_commit(newest: &str, asked: &str) -> Result<()> {
    if newest == asked {
        return Ok(());
    }
    let message =
        format!("the newest commit of the pull request is `{}`, not `{asked}`", newest.escape_debug());
    Err(Error::new(ErrorKind::Refused, message).help("ask again: its checks are those of another commit"))
}

/// The first open one, or else the first.
fn open_or_first(all: Vec<PullRequest>) -> Option<PullRequest> {
    let open = all.iter().position(|one| one.state == PrState::Open);
    all.into_iter().nth(open.unwrap_or(0))
}
