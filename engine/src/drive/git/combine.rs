//! The commit of a merge, by each strategy. It takes neither a checkout nor an index, and moves no branch.

use std::time::Duration;

use orange_core::merge::{BegunMerge, MessageForm, SquashedWork, Strategy, UndoneMerge};

use super::{Git, GitVersion, refused};
use crate::{Error, ErrorKind, Result};

/// The time limit for a signature, which may need the user.
pub(super) const SIGNING: Duration = Duration::from_secs(120);

/// The git that brought `merge-tree --merge-base`.
const WITH_MERGE_BASE: GitVersion = GitVersion { major: 2, minor: 40 };

/// Messages are UTF-8, whatever the user's settings say.
const UTF_8: [&str; 4] = ["-c", "i18n.commitEncoding=UTF-8", "-c", "i18n.logOutputEncoding=UTF-8"];

/// The form of a merge.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeForm<'m> {
    /// The strategy.
    pub strategy: Strategy,
    /// The first line of a squashed commit; empty for the subject of the last commit.
    pub title: &'m str,
    /// The message of the commit of the merge, in the caller's words.
    pub message: Option<&'m str>,
    /// The text of a squashed commit without such a message.
    pub text: MessageForm,
    /// True if a squashed commit does not name the other authors.
    pub without_authors: bool,
    /// The merge of the branch that was begun before.
    pub begun: Option<BegunMerge<'m>>,
    /// The merge of the branch that was taken back.
    pub undone: Option<UndoneMerge<'m>>,
    /// True if the target here stays as it is.
    pub leaves_target: bool,
    /// True for a dry run: nothing is signed.
    pub is_trial: bool,
}

impl From<Strategy> for MergeForm<'_> {
    fn from(strategy: Strategy) -> Self {
        MergeForm { strategy, ..MergeForm::default() }
    }
}

/// Reason for which no merge is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeObstacle {
    /// Both sides have changed the same lines.
    Conflict,
    /// The target has commits that the branch lacks, and a fast-forward is wanted.
    MovedOn,
    /// The whole can be merged, its commits one by one cannot.
    Replay,
    /// Any other.
    Other,
}

/// The error of a merge that is not made, and its reason as a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmergeable {
    /// The reason.
    pub obstacle: MergeObstacle,
    /// The error for the caller.
    pub error: Error,
}

impl From<Error> for Unmergeable {
    fn from(error: Error) -> Self {
        Unmergeable { obstacle: MergeObstacle::Other, error }
    }
}

impl Unmergeable {
    /// The error, with this help.
    pub fn help(self, help: impl Into<String>) -> Error {
        self.error.help(help)
    }
}

/// The result of the plan of a merge.
pub type PlanResult<T> = std::result::Result<T, Unmergeable>;

/// Both sides of a merge.
#[derive(Clone, Copy)]
pub(super) struct Sides<'s> {
    /// The commit of the target.
    pub ours: &'s str,
    /// The commit of the branch.
    pub theirs: &'s str,
    pub branch: &'s str,
    pub target: &'s str,
    /// The part of the branch that the target has already.
    pub taken: Taken<'s>,
}

/// The part of a branch that an earlier merge has taken.
#[derive(Clone, Copy, Default)]
pub(super) struct Taken<'s> {
    /// The last commit of it.
    pub source: Option<&'s str>,
    /// The commit at which both sides begin to differ, if that is not the one that git finds.
    pub since: Option<&'s str>,
    /// The commit of the target before it got the branch, if it has taken that back.
    pub before: Option<&'s str>,
}

/// The commit of a merge, and the strategy that made it.
pub(super) struct Combined {
    pub commit: String,
    pub strategy: Strategy,
}

/// The merge of two trees.
pub(super) enum MergedTrees {
    /// The tree that has both.
    Clean(String),
    /// The files whose lines both sides have changed.
    Conflict(Vec<String>),
}

/// A commit that is made again.
struct CommitText {
    author: [String; 3],
    message: String,
}

impl Git {
    /// The future commit of the target; `None` if the target has everything already, by content.
    pub(super) fn combine(&self, sides: &Sides<'_>, form: &MergeForm<'_>) -> PlanResult<Option<Combined>> {
        let strategy = form.strategy;
        self.check_sides(sides)?;
        let is_taken_back = sides.taken.before.is_some();
        if is_taken_back && matches!(strategy, Strategy::FastForward | Strategy::Merge) {
            let message = format!(
                "`{}` had the commits of `{}` and took them back, so git takes them for merged",
                sides.target, sides.branch
            );
            return Err(refused(message).help("use `--strategy squash` or `--strategy rebase`").into());
        }
        let made = |commit: Option<String>, strategy| commit.map(|commit| Combined { commit, strategy });
        let is_forward = || self.is_ancestor(sides.ours, sides.theirs);
        let commit = match strategy {
            Strategy::Merge => Some(self.joined(sides, form)?),
            Strategy::Squash => self.squashed(sides, form)?,
            Strategy::Rebase => self.rebased(sides, form)?,
            Strategy::FastForward if is_forward()? => Some(sides.theirs.to_owned()),
            Strategy::FastForward => {
                // Another strategy helps only where nothing conflicts.
                self.merged_tree(sides)?;
                return Err(has_moved_on(sides.branch, sides.target));
            }
            Strategy::Auto if is_forward()? => {
                return Ok(made(Some(sides.theirs.to_owned()), Strategy::FastForward));
            }
            Strategy::Auto => {
                return match self.rebased(sides, form) {
                    Ok(commit) => Ok(made(commit, Strategy::Rebase)),
                    Err(flaw) if matches!(flaw.error.kind, ErrorKind::Refused | ErrorKind::Environment) => {
                        if is_taken_back {
                            return Ok(made(self.squashed(sides, form)?, Strategy::Squash));
                        }
                        Ok(made(Some(self.joined(sides, form)?), Strategy::Merge))
                    }
                    Err(flaw) => Err(flaw),
                };
            }
        };
        Ok(made(commit, strategy))
    }

    /// A commit with two parents.
    fn joined(&self, sides: &Sides<'_>, form: &MergeForm<'_>) -> PlanResult<String> {
        let tree = self.merged_tree(sides)?;
        let message = match form.message {
            Some(text) => format!("{}\n", text.trim()),
            None => format!("Merge branch '{}' into {}\n", sides.branch, sides.target),
        };
        Ok(self.commit_tree(&tree, &[sides.ours, sides.theirs], &message, None, form)?)
    }

    /// The commit of the branch with everything of the target: a merge commit on the branch, or the branch's commits on top of the
    /// target.
    pub(super) fn caught_up(&self, sides: &Sides<'_>, form: &MergeForm<'_>) -> PlanResult<String> {
        self.check_sides(sides)?;
        if form.strategy == Strategy::Rebase {
            return Ok(self.rebased(sides, form)?.unwrap_or_else(|| sides.ours.to_owned()));
        }
        let tree = self.merged_tree(sides)?;
        let message = format!("Merge branch '{}' into {}\n", sides.target, sides.branch);
        Ok(self.commit_tree(&tree, &[sides.theirs, sides.ours], &message, None, form)?)
    }

    /// One commit with all changes of the branch.
    fn squashed(&self, sides: &Sides<'_>, form: &MergeForm<'_>) -> PlanResult<Option<String>> {
        let tree = self.merged_tree(sides)?;
        if tree == self.tree_of(sides.ours)? {
            return Ok(None);
        }
        let message = self.squashed_message(sides, form)?;
        Ok(Some(self.commit_tree(&tree, &[sides.ours], &message, None, form)?))
    }

    fn squashed_message(&self, sides: &Sides<'_>, form: &MergeForm<'_>) -> Result<String> {
        let log = |format: &str| {
            let call =
                self.call().preset(UTF_8).args(["log", "--reverse", "--no-merges", format, sides.theirs]);
            call.args(beyond(sides)).text()
        };
        let messages = log("--format=%B%x00")?;
        let authors = match form.without_authors {
            true => String::new(),
            false => log("--format=%an <%ae>%n%(trailers:key=Co-authored-by,valueonly)")?,
        };
        let own = self.call().args(["var", "GIT_AUTHOR_IDENT"]).text()?;
        let own = own.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or("", |(own, _)| own);
        let work = SquashedWork {
            title: form.title,
            messages: parts(&messages, '\0'),
            form: form.text,
            authors: parts(&authors, '\n'),
            own_address: own,
        };
        Ok(work.message(form.message))
    }

    /// Each commit of the branch again, on top of the target. Commits that change nothing there are left out.
    fn rebased(&self, sides: &Sides<'_>, form: &MergeForm<'_>) -> PlanResult<Option<String>> {
        self.check_merge_base()?;
        let whole = self.merged_tree(sides)?;
        let (mut onto, mut tree) = (sides.ours.to_owned(), self.tree_of(sides.ours)?);
        if whole == tree {
            return Ok(None);
        }
        let list = ["rev-list", "--reverse", "--topo-order", "--parents", sides.theirs];
        let listed = self.call().args(list).args(beyond(sides)).text()?;
        let commits: Vec<Vec<&str>> = listed.lines().map(|line| line.split(' ').collect()).collect();
        let has_merges = commits.iter().any(|words| words.len() > 2);
        if !has_merges && self.is_ancestor(sides.ours, sides.theirs)? {
            return Ok(Some(sides.theirs.to_owned()));
        }
        for words in &commits {
            let [commit, parent] = words[..] else { continue };
            let taken = Taken { since: Some(parent), ..sides.taken };
            let step = Sides { ours: &onto, theirs: commit, taken, ..*sides };
            let next = match self.merge_trees(&step)? {
                MergedTrees::Clean(next) => next,
                MergedTrees::Conflict(files) => return Err(cannot_replay(&files, commit, sides)),
            };
            if next == tree {
                continue;
            }
            let CommitText { author, message } = self.text_of(commit)?;
            onto = self.commit_tree(&next, &[&onto], &message, Some(&author), form)?;
            tree = next;
        }
        if tree == whole {
            return Ok(Some(onto));
        }
        let message = format!(
            "`{}` cannot be rebased onto `{}`: a merge commit of the branch has changes of its own, which a rebase would lose",
            sides.branch, sides.target
        );
        let error = refused(message).help("use `--strategy squash` or `--strategy merge`, which keep them");
        Err(Unmergeable { obstacle: MergeObstacle::Replay, error })
    }

    /// The message of a commit.
    pub fn message_of(&self, commit: &str) -> Result<String> {
        Ok(self.text_of(commit)?.message)
    }

    /// The author and the message of a commit.
    fn text_of(&self, commit: &str) -> Result<CommitText> {
        let format = "--format=%an%x00%ae%x00%ad%x00%B";
        let call = self.call().preset(UTF_8).args(["log", "--max-count=1", "--date=raw", format, commit]);
        let printed = call.run()?.checked()?.stdout;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let mut parts = printed.splitn(4, '\0').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let author = [next(), next(), next()];
        Ok(CommitText { author, message: format!("{}\n", next().trim_end_matches('\n')) })
    }

    /// Creates a commit; with `commit.gpgSign`, it is signed.
    pub(super) fn commit_tree(
        &self,
        tree: &str,
        parents: &[&str],
        message: &str,
        author: Option<&[String; 3]>,
        form: &MergeForm<'_>,
    ) -> Result<String> {
        let call = self.call().preset(UTF_8).args(["commit-tree", tree, "-F", "-"]).input(message.as_bytes());
        let call = parents.iter().fold(call, |call, parent| call.args(["-p", parent]));
        let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"];
        let given = author.into_iter().flatten();
        let call = names.into_iter().zip(given).fold(call, |call, (name, value)| call.env(name, value));
        if form.is_trial || !self.is_set("commit.gpgSign")? {
            return call.text();
        }
        call.arg("--gpg-sign").bound(SIGNING).text().map_err(|error| {
            error.help(
                "`commit.gpgSign` asks for a signature: see that `git commit --gpg-sign` works without asking for \
                 anything, or merge with `--strategy ff`, which makes no commit",
            )
        })
    }

    /// The tree of the merge of both sides; a conflict is an error.
    fn merged_tree(&self, sides: &Sides<'_>) -> PlanResult<String> {
        match self.merge_trees(sides)? {
            MergedTrees::Clean(tree) => Ok(tree),
            MergedTrees::Conflict(files) => {
                Err(Unmergeable { obstacle: MergeObstacle::Conflict, error: conflict(&files, sides) })
            }
        }
    }

    /// Merges the trees of both sides.
    pub(super) fn merge_trees(&self, sides: &Sides<'_>) -> Result<MergedTrees> {
        let Sides { ours, theirs, taken: Taken { since, .. }, .. } = *sides;
        let call = self.call().args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]);
        let call = match since {
            Some(since) => call.arg(format!("--merge-base={since}")),
            None => call,
        };
        let output = call.args([ours, theirs]).run()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut fields = printed.split('\0').filter(|field| !field.is_empty());
        let tree = fields.next().unwrap_or_default().to_owned();
        match output.code() {
            Some(0) => Ok(MergedTrees::Clean(tree)),
            Some(1) => Ok(MergedTrees::Conflict(fields.map(str::to_owned).collect())),
            _ => Err(output.failure()),
        }
    }

    pub fn tree_of(&self, commit: &str) -> Result<String> {
        self.call().args(["rev-parse", &format!("{commit}^{{tree}}")]).text()
    }

    /// Refuses sides that this git cannot merge.
    pub(super) fn check_sides(&self, sides: &Sides<'_>) -> Result<()> {
        sides.taken.since.map_or(Ok(()), |_| self.check_merge_base())
    }

    /// Refuses a git that cannot merge from a commit of our choice. With git's own choice, what the branch has taken back since an
    /// earlier merge would stay in the target.
    pub(super) fn check_merge_base(&self) -> Result<()> {
        has_merge_base(self.version()?)
    }
}

/// The commits of the branch that are not merged, as arguments behind its own.
fn beyond(sides: &Sides<'_>) -> Vec<String> {
    let known = [Some(sides.taken.before.unwrap_or(sides.ours)), sides.taken.source].into_iter().flatten();
    known.map(|commit| format!("^{commit}")).collect()
}

fn has_merge_base(version: GitVersion) -> Result<()> {
    if version >= WITH_MERGE_BASE {
        return Ok(());
    }
    let message = format!(
        "git {version} can neither rebase without a checkout nor merge a branch again: {WITH_MERGE_BASE} or newer is needed"
    );
    Err(Error::new(ErrorKind::Environment, message)
        .help("install a newer git, or use `--strategy squash` or `--strategy merge` for the first merge of a branch"))
}

pub(super) fn conflict(files: &[String], sides: &Sides<'_>) -> Error {
    let Sides { branch, target, .. } = sides;
    refused(format!("`{branch}` conflicts with `{target}` in {}", files.join(", "))).help(format!(
        "where `{branch}` is checked out, run `git merge {target}`, resolve, commit; then merge again"
    ))
}

fn cannot_replay(files: &[String], commit: &str, sides: &Sides<'_>) -> Unmergeable {
    let message = format!(
        "`{}` cannot be rebased onto `{}`: its commit {} alone conflicts in {}, though the whole does not",
        sides.branch,
        sides.target,
        commit.get(..12).unwrap_or(commit),
        files.join(", "),
    );
    let error = refused(message).help("use `--strategy squash` or `--strategy merge`, which take the whole");
    Unmergeable { obstacle: MergeObstacle::Replay, error }
}

/// The refusal of a fast-forward to a branch that lacks commits of the target.
/// The parts of a text that are not blank.
fn parts(text: &str, end: char) -> Vec<&str> {
    text.split(end).map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn has_moved_on(branch: &str, target: &str) -> Unmergeable {
    let message = format!("`{target}` has moved on: it cannot be fast-forwarded to `{branch}`");
    let error = refused(message).help(format!(
        "use `--strategy merge`, `squash` or `rebase`, or rebase the branch: `git rebase {target}`"
    ));
    Unmergeable { obstacle: MergeObstacle::MovedOn, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_git_refuses_what_needs_a_merge_base() {
        let of = |minor| has_merge_base(GitVersion { major: 2, minor });
        assert_eq!(of(40), Ok(()));
        let refused = of(39).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Environment);
        assert!(refused.message.starts_with("git 2.39 can neither rebase"), "{refused}");
    }
}
