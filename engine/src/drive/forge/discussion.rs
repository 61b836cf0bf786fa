//! The discussion of a pull request, in our words.

use orange_api::ReviewDecision;

/// Reviews and comments of a pull request, with the facts that change with its commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discussion {
    /// The newest commit of its branch.
    pub commit: String,
    pub review: ReviewDecision,
    pub mergeable: Mergeable,
    /// The threads that are not resolved, the oldest first.
    pub threads: Vec<OpenThread>,
    /// Comments without a thread and texts of reviews, the oldest first.
    pub comments: Vec<ForgeComment>,
    /// True if the forge has more threads or comments than were asked for.
    pub has_more: bool,
}

/// The result of a merge of a pull request into its target, as the forge foresees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mergeable {
    Clean,
    Conflict,
    /// The forge has not computed it yet, or says it in an unknown word.
    Unknown,
}

/// A thread that is not resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenThread {
    pub id: String,
    /// The file that it is about.
    pub path: Option<String>,
    pub line: Option<u32>,
    /// True if the file has changed there since.
    pub is_outdated: bool,
    /// The number of its comments that were not asked for.
    pub left_out: u32,
    /// The oldest first. Of many, the first one and the newest.
    pub comments: Vec<ForgeComment>,
}

/// A comment as the forge has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeComment {
    pub id: String,
    pub author: Author,
    pub time: String,
    pub text: String,
}

/// The account that wrote a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Its name, of a bot on GitHub without `[bot]`.
    pub login: String,
    pub is_bot: bool,
    /// True for the account that asks.
    pub is_self: bool,
}
