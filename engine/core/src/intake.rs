//! Intake: which labelled issues of a forge become tasks, and the sources of tasks that nobody has typed.

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::feedback::{AuthorRule, Authors, MARK};

/// Failures of one issue in a row after which it is taken no more.
pub const MOST_FAILURES: u32 = 3;

/// Variables with an account's access to a forge, as `gh` and `glab` read them.
pub const FORGE_TOKENS: &[&str] = &[
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
    "GITLAB_ACCESS_TOKEN",
    "OAUTH_TOKEN",
    "CI_JOB_TOKEN",
];

/// The people whose issues are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntakeAuthors {
    /// All, bots and strangers, too.
    Anyone,
    /// These people.
    Of(Authors),
}

impl IntakeAuthors {
    /// The word for all.
    pub const ANYONE: &str = "anyone";
}

impl Default for IntakeAuthors {
    fn default() -> IntakeAuthors {
        IntakeAuthors::Of(Authors::Write)
    }
}

/// Origin of a task or a mission that the engine has made by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// An issue, whose text other people write.
    Issue {
        /// The host and the path of its repository.
        repository: &'a str,
        /// Its number there.
        number: u64,
        /// Id of the event by which it got its label.
        event: &'a str,
    },
    /// A slot of a schedule.
    Slot {
        /// Name of the schedule.
        name: &'a str,
        /// Local time of the slot, such as `2026-11-27T07:00`.
        time: &'a str,
    },
}

impl<'a> Source<'a> {
    /// The source in this text.
    pub fn parse(text: &'a str) -> Option<Source<'a>> {
        let (first, last) =
            text.rsplit_once('@').filter(|(first, last)| !first.is_empty() && !last.is_empty())?;
        match first.rsplit_once('#') {
            Some((repository, number)) => {
                let number = number.parse().ok()?;
                (!repository.is_empty()).then_some(Source::Issue { repository, number, event: last })
            }
            None => Some(Source::Slot { name: first, time: last }),
        }
    }

    /// True if the work comes from a text of other people. A source that cannot be read counts as one.
    pub fn is_foreign(text: &str) -> bool {
        !matches!(Source::parse(text), Some(Source::Slot { .. }))
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Issue { repository, number, event } => write!(f, "{repository}#{number}@{event}"),
            Source::Slot { name, time } => write!(f, "{name}@{time}"),
        }
    }
}

/// The mark of the comment on an issue that was taken by this event, by which a repeat finds it.
pub fn mark(event: &str) -> String {
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "_=".contains(*letter);
    let event: String = event.chars().filter(plain).collect();
    format!("{MARK}intake:{event} -->")
}

/// The rule of an `[[intake]]`.
#[derive(Clone, Copy, Debug)]
pub struct IntakeRule<'a> {
    /// The people whose issues are taken.
    pub authors: &'a IntakeAuthors,
    /// The people whose label counts.
    pub labelled_by: &'a Authors,
    /// The most open tasks at once.
    pub max_open: u32,
    /// The most tasks of a day in UTC.
    pub max_per_day: u32,
}

/// An account of a forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account<'a> {
    /// Login on the forge.
    pub login: &'a str,
    /// True for a program.
    pub is_bot: bool,
    /// True if it may push to the repository.
    pub may_write: bool,
}

/// The event by which an issue got its label last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelEvent<'a> {
    /// The account that added it; `None` if it is gone.
    pub by: Option<Account<'a>>,
    /// Time of the event, in milliseconds since 1970.
    pub at: u64,
}

/// An open issue that has to be closed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// True if it is a task that has not ended.
    pub is_task: bool,
}

/// The facts of an issue.
#[derive(Clone, Copy, Debug)]
pub struct IssueFacts<'a> {
    /// False once it is closed.
    pub is_open: bool,
    /// Its author; `None` if the account is gone.
    pub author: Option<Account<'a>>,
    /// The last event of the label; `None` if the forge does not show it.
    pub label: Option<LabelEvent<'a>>,
    /// Time of the last change of its title or its text, in milliseconds since 1970.
    pub edited_at: Option<u64>,
    /// Its open blockers.
    pub blockers: &'a [Blocker],
}

/// Known facts about earlier tasks of an issue, and of the rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntakeFacts {
    /// True if the label event has a task, an ended or deleted one, too.
    pub is_known: bool,
    /// True if a task of the issue has not ended.
    pub has_open_task: bool,
    /// Its failures in a row.
    pub failures: u32,
    /// Open tasks of the rule.
    pub open: u32,
    /// Tasks of the rule that were made today.
    pub today: u32,
}

/// The decision about an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntakeVerdict {
    /// It becomes a task.
    Take,
    /// It is closed.
    Closed,
    /// The label event has a task, or the issue has an open one.
    Known,
    /// It has failed [`MOST_FAILURES`] times in a row.
    Quarantined,
    /// The forge does not show by which event it got its label.
    NoLabelEvent,
    /// The label comes from an account whose label does not count.
    LabelledBy,
    /// Its author is not admitted.
    Author,
    /// Its title or text was changed after the label: a person looks at it and adds the label again.
    Edited,
    /// An open issue that is not a task blocks it.
    Blocked,
    /// The rule has as many open tasks as it may.
    MaxOpen,
    /// The rule has made as many tasks today as it may.
    MaxPerDay,
}

impl IntakeVerdict {
    /// Every verdict, in the order in which the rules apply; the first that applies decides.
    pub const ALL: [IntakeVerdict; 11] = [
        IntakeVerdict::Closed,
        IntakeVerdict::Known,
        IntakeVerdict::Quarantined,
        IntakeVerdict::NoLabelEvent,
        IntakeVerdict::LabelledBy,
        IntakeVerdict::Author,
        IntakeVerdict::Edited,
        IntakeVerdict::Blocked,
        IntakeVerdict::MaxOpen,
        IntakeVerdict::MaxPerDay,
        IntakeVerdict::Take,
    ];

    /// The word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            IntakeVerdict::Take => "take",
            IntakeVerdict::Closed => "closed",
            IntakeVerdict::Known => "known",
            IntakeVerdict::Quarantined => "quarantined",
            IntakeVerdict::NoLabelEvent => "no-label-event",
            IntakeVerdict::LabelledBy => "labelled-by",
            IntakeVerdict::Author => "author",
            IntakeVerdict::Edited => "edited",
            IntakeVerdict::Blocked => "blocked",
            IntakeVerdict::MaxOpen => "max-open",
            IntakeVerdict::MaxPerDay => "max-per-day",
        }
    }

    /// The rule that made it, as a sentence without its subject.
    pub const fn rule(self) -> &'static str {
        match self {
            IntakeVerdict::Take => "every rule admits it",
            IntakeVerdict::Closed => "the issue is closed",
            IntakeVerdict::Known => "it has a task already",
            IntakeVerdict::Quarantined => "it has failed three times in a row",
            IntakeVerdict::NoLabelEvent => "the forge does not show who added the label, and when",
            IntakeVerdict::LabelledBy => "`labelled_by` does not admit the account that added the label",
            IntakeVerdict::Author => "`authors` does not admit its author",
            IntakeVerdict::Edited => "its title or text was changed after the label was added",
            IntakeVerdict::Blocked => "an open issue without a task blocks it",
            IntakeVerdict::MaxOpen => "`max_open` tasks are open",
            IntakeVerdict::MaxPerDay => "`max_per_day` tasks were made today",
        }
    }

    /// True if only a person can change it.
    pub const fn needs_person(self) -> bool {
        match self {
            IntakeVerdict::Quarantined | IntakeVerdict::Edited => true,
            IntakeVerdict::Take
            | IntakeVerdict::Closed
            | IntakeVerdict::Known
            | IntakeVerdict::NoLabelEvent
            | IntakeVerdict::LabelledBy
            | IntakeVerdict::Author
            | IntakeVerdict::Blocked
            | IntakeVerdict::MaxOpen
            | IntakeVerdict::MaxPerDay => false,
        }
    }
}

impl IntakeRule<'_> {
    /// The decision about an issue.
    pub fn judge(&self, issue: &IssueFacts<'_>, known: &IntakeFacts) -> IntakeVerdict {
        let applies = |verdict: &IntakeVerdict| match verdict {
            IntakeVerdict::Closed => !issue.is_open,
            IntakeVerdict::Known => known.is_known || known.has_open_task,
            IntakeVerdict::Quarantined => known.failures >= MOST_FAILURES,
            IntakeVerdict::NoLabelEvent => issue.label.is_none(),
            IntakeVerdict::LabelledBy => {
                let by = issue.label.and_then(|label| label.by);
                !by.is_some_and(|by| admits(self.labelled_by, by))
            }
            IntakeVerdict::Author => match self.authors {
                IntakeAuthors::Anyone => false,
                IntakeAuthors::Of(authors) => !issue.author.is_some_and(|author| admits(authors, author)),
            },
            // A forge may round times to seconds: what may have come after the label counts as later.
            IntakeVerdict::Edited => {
                issue.edited_at.zip(issue.label).is_some_and(|(edited, label)| edited >= label.at)
            }
            IntakeVerdict::Blocked => issue.blockers.iter().any(|blocker| !blocker.is_task),
            IntakeVerdict::MaxOpen => known.open >= self.max_open,
            IntakeVerdict::MaxPerDay => known.today >= self.max_per_day,
            IntakeVerdict::Take => true,
        };
        IntakeVerdict::ALL.into_iter().find(applies).unwrap_or(IntakeVerdict::NoLabelEvent)
    }
}

/// True if a rule for people admits an account. It admits no program: a label is the decision of a person.
fn admits(authors: &Authors, account: Account<'_>) -> bool {
    use crate::feedback::Admission;
    match (AuthorRule { authors, bots: &[] }).admission(account.login, account.is_bot) {
        Admission::Given => true,
        Admission::IfWriter => account.may_write,
        Admission::Counted => false,
    }
}

/// The end of an attempt to do the work of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntakeEnd {
    /// The task ended well.
    Done,
    /// The task was cancelled, or could not be made.
    Failed,
    /// A person asks to try the issue again.
    Retried,
}

/// The number of failures in a row at the end of these.
pub fn failures(ends: impl IntoIterator<Item = IntakeEnd>) -> u32 {
    ends.into_iter().fold(0, |failures: u32, end| match end {
        IntakeEnd::Failed => failures.saturating_add(1),
        IntakeEnd::Done | IntakeEnd::Retried => 0,
    })
}
