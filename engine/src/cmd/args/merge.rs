//! The arguments of `orange task merge`, and words of merges.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use orange_core::merge::{MessageForm, Strategy};

use super::TaskNames;

/// `orange task merge …`
#[derive(Debug, Args)]
pub struct MergeArgs {
    #[command(flatten)]
    pub task: TaskNames,
    /// ff: only fast-forward; merge: a merge commit; squash: one commit of everything; rebase: each commit again, on top; auto: the
    /// first of ff, rebase and merge that is possible [default: the project's]
    #[arg(long, value_name = "HOW", value_parser = strategy(&Strategy::ALL))]
    pub strategy: Option<Strategy>,
    /// The branch to merge into [default: the one that the task is based on]
    #[arg(long, value_name = "BRANCH")]
    pub into: Option<String>,
    /// The message of the commit of a squash or a merge [default: as the project sets it]
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Write that message in an editor, which begins with the planned one
    #[arg(long, conflicts_with_all = ["message", "dry_run"])]
    pub edit: bool,
    /// Push the target, whatever the project does
    #[arg(long, conflicts_with = "no_push")]
    pub push: bool,
    /// Leave the target unpushed, whatever the project does
    #[arg(long)]
    pub no_push: bool,
    /// Push the merge to the remote's target and leave the branch here as it is, such as where uncommitted work is in the way
    #[arg(long, conflicts_with = "no_push")]
    pub remote_only: bool,
    /// Merge, and go on with the task, whatever the project does
    #[arg(long, conflicts_with_all = ["force", "no_keep"])]
    pub keep: bool,
    /// Finish the task, whatever the project does
    #[arg(long)]
    pub no_keep: bool,
    /// Merge here, also with an open pull request
    #[arg(long)]
    pub local: bool,
    /// Have GitHub or GitLab merge the open pull request, by its rules; with a merge queue, the task ends once that has merged it
    #[arg(long, conflicts_with_all = ["local", "remote_only", "into", "push", "no_push", "keep", "edit"])]
    pub by_forge: bool,
    /// Merge from a status that does not lead there, or a branch without commits
    #[arg(long)]
    pub force: bool,
    /// With --force: end living agents without a question
    #[arg(long)]
    pub yes: bool,
    /// Only say what would happen
    #[arg(long)]
    pub dry_run: bool,
}

pub(super) fn strategy(known: &'static [Strategy]) -> impl TypedValueParser<Value = Strategy> {
    let read = |word: String| Strategy::parse(&word).ok_or("a strategy without a name");
    PossibleValuesParser::new(known.iter().map(|it| it.as_str())).try_map(read)
}

pub(super) fn message_form() -> impl TypedValueParser<Value = MessageForm> {
    let read = |word: String| MessageForm::parse(&word).ok_or("a form without a name");
    PossibleValuesParser::new(MessageForm::ALL.map(MessageForm::as_str)).try_map(read)
}
