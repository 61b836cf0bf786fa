//! The strategies of merges, what a repeated merge does, and the message of a squashed one.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// The strategy of a merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Strategy {
    /// The target moves to the task's branch; otherwise the merge fails.
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "ff"))]
    FastForward,
    /// A merge commit, always.
    Merge,
    /// One commit with everything.
    Squash,
    /// Each commit again, on top of the target.
    Rebase,
    /// The first of fast-forward, rebase and merge that is possible.
    Auto,
}

impl Strategy {
    /// Every strategy, in the order of the help.
    pub const ALL: [Strategy; 5] =
        [Strategy::FastForward, Strategy::Merge, Strategy::Squash, Strategy::Rebase, Strategy::Auto];

    /// Those that bring a branch up to its base.
    pub const OF_SYNC: [Strategy; 2] = [Strategy::Merge, Strategy::Rebase];

    /// The word in arguments, answers and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Strategy::FastForward => "ff",
            Strategy::Merge => "merge",
            Strategy::Squash => "squash",
            Strategy::Rebase => "rebase",
            Strategy::Auto => "auto",
        }
    }

    /// The strategy of this word.
    pub fn parse(word: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.as_str() == word)
    }

    /// True if the merge makes a commit of its own, which has a message.
    pub const fn has_message(self) -> bool {
        match self {
            Strategy::Merge | Strategy::Squash | Strategy::Auto => true,
            Strategy::FastForward | Strategy::Rebase => false,
        }
    }
}

/// The text of a squashed commit, where the caller gives none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum MessageForm {
    /// The first line of the summary, and the subjects of the commits.
    #[default]
    Summary,
    /// The messages of the commits; under the first line of the summary if there are several.
    Commits,
    /// Title and text of the open pull request, which the caller gives; without one as `Summary`.
    #[cfg_attr(feature = "serde", serde(rename = "pull-request"))]
    PullRequest,
}

impl MessageForm {
    /// Every form, in the order of the help.
    pub const ALL: [MessageForm; 3] = [MessageForm::Summary, MessageForm::Commits, MessageForm::PullRequest];

    /// The word in settings and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            MessageForm::Summary => "summary",
            MessageForm::Commits => "commits",
            MessageForm::PullRequest => "pull-request",
        }
    }

    /// The form of this word.
    pub fn parse(word: &str) -> Option<MessageForm> {
        MessageForm::ALL.into_iter().find(|form| form.as_str() == word)
    }
}

/// A merge that was begun: its commit is in the journal, and the target may have moved to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunMerge<'m> {
    /// The commit of the local target before the merge, if there was one.
    pub from: Option<&'m str>,
    /// The commit of the target after it.
    pub commit: &'m str,
    /// The commit of the task's branch.
    pub source: &'m str,
    /// The strategy.
    pub strategy: Strategy,
}

/// The repository as a repeated merge finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeSides<'m> {
    /// The commit of the local target, if there is one.
    pub target: Option<&'m str>,
    /// The commit of the task's branch.
    pub source: &'m str,
    /// The strategy that is wanted now.
    pub strategy: Strategy,
    /// True if the target contains the commit of the merge that was begun.
    pub contains: bool,
    /// True if the branch contains the commit that was merged then.
    pub continues: bool,
    /// True if the commit of the merge is still in the repository, and contains the target, here and on the remote.
    pub follows: bool,
}

/// Course of a merge after an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeCourse {
    /// The target has everything.
    Done,
    /// The target moves to the commit that was planned.
    Repeat,
    /// The target has the branch up to the commit that was merged then; the rest is merged.
    Rest,
    /// Everything is merged, as if it were the first merge.
    Whole,
}

impl BegunMerge<'_> {
    /// The course of a merge that follows this one.
    pub fn course(&self, now: &MergeSides<'_>) -> MergeCourse {
        if now.contains {
            return match () {
                () if now.source == self.source => MergeCourse::Done,
                () if now.continues => MergeCourse::Rest,
                () => MergeCourse::Whole,
            };
        }
        let is_same = now.source == self.source && now.target == self.from && now.strategy == self.strategy;
        if is_same && now.follows { MergeCourse::Repeat } else { MergeCourse::Whole }
    }
}

/// A merge that a commit of the target has taken back, so that git takes the branch for merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoneMerge<'m> {
    /// The commit of the target before it got the branch for the first time.
    pub onto: &'m str,
    /// The commit of the task's branch then.
    pub source: &'m str,
    /// The commit of the target that takes the merge back.
    pub commit: &'m str,
}

/// A sync that was begun: its commit is in the journal, and the task's branch may have moved to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunSync<'s> {
    /// The commit of the branch before.
    pub from: &'s str,
    /// The commit of the base.
    pub onto: &'s str,
    /// The commit of the branch after it.
    pub commit: &'s str,
    /// The strategy.
    pub strategy: Strategy,
}

/// The repository as a repeated sync finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncSides<'s> {
    /// The commit of the branch.
    pub tip: &'s str,
    /// The commit of the base.
    pub base: &'s str,
    /// The strategy that is wanted now.
    pub strategy: Strategy,
    /// True if the commit of the sync that was begun is still in the repository.
    pub exists: bool,
    /// True if the branch contains that commit: it has moved there, and perhaps on.
    pub contains: bool,
}

/// Course of a sync after one that was begun and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncCourse {
    /// The branch has moved to the commit that was planned.
    Done,
    /// The branch moves to the commit that was planned.
    Repeat,
    /// The sync is planned as if it were the first.
    Whole,
}

impl BegunSync<'_> {
    /// The course of a sync that follows this one.
    pub fn course(&self, now: &SyncSides<'_>) -> SyncCourse {
        if now.contains {
            return SyncCourse::Done;
        }
        let is_same = now.tip == self.from && now.base == self.onto && now.strategy == self.strategy;
        if is_same && now.exists { SyncCourse::Repeat } else { SyncCourse::Whole }
    }
}

/// The commits that a squashed commit replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SquashedWork<'m> {
    /// The first line of the task's summary; may be empty.
    pub title: &'m str,
    /// The messages of the commits, the oldest first.
    pub messages: Vec<&'m str>,
    /// The parts of the messages that the text takes over.
    pub form: MessageForm,
    /// The authors of the commits and those that their trailers name, as `Name <address>`; none if they are not to be named.
    pub authors: Vec<&'m str>,
    /// The address of the author of the squashed commit.
    pub own_address: &'m str,
}

/// The longest message of a squashed commit, in bytes.
const LONGEST_MESSAGE: usize = 64 * 1024;

impl SquashedWork<'_> {
    /// The message: the text of the form and the other authors. `text` takes the place of the former.
    pub fn message(&self, text: Option<&str>) -> String {
        let mut message = match (text, self.form, &self.messages[..]) {
            (Some(text), _, _) => text.trim().to_owned(),
            (None, MessageForm::Commits, [only]) => without_authors(only),
            (None, MessageForm::Commits, _) => self.titled(without_authors),
            (None, MessageForm::Summary | MessageForm::PullRequest, _) => {
                self.titled(|message| subject(message).to_owned())
            }
        };
        let mut seen = alloc::vec![self.own_address.to_lowercase()];
        let mut trailers = String::new();
        for author in &self.authors {
            let address = author.rsplit_once('<').map_or(*author, |(_, rest)| rest.trim_end_matches('>'));
            let address = address.to_lowercase();
            if !seen.contains(&address) {
                trailers += &alloc::format!("\n{CO_AUTHOR} {author}");
                seen.push(address);
            }
        }
        if !trailers.is_empty() {
            message.push('\n');
            message += &trailers;
        }
        message.push('\n');
        message
    }

    /// The title and a part of each message, as a list.
    fn titled(&self, part: impl Fn(&str) -> String) -> String {
        let title = match self.title.trim() {
            "" => self.messages.last().copied().map(subject).unwrap_or_default(),
            title => title,
        };
        let mut message = title.to_owned();
        let others: Vec<String> = self.messages.iter().map(|it| part(it)).filter(|it| *it != title).collect();
        for (index, part) in others.iter().enumerate() {
            if message.len() + part.len() > LONGEST_MESSAGE {
                message += &alloc::format!("\n* and {} more commits", others.len() - index);
                break;
            }
            let has_body = |part: &String| part.contains('\n');
            let is_apart = index == 0 || has_body(part) || others.get(index - 1).is_some_and(has_body);
            message += if is_apart { "\n\n* " } else { "\n* " };
            message += part;
        }
        message
    }
}

/// The first line of a message.
fn subject(message: &str) -> &str {
    message.trim().lines().next().unwrap_or_default().trim_end()
}

/// A message without the lines that name other authors, which follow once for all commits.
fn without_authors(message: &str) -> String {
    let is_author =
        |line: &&str| line.get(..CO_AUTHOR.len()).is_some_and(|start| start.eq_ignore_ascii_case(CO_AUTHOR));
    let lines: Vec<&str> = message.trim().lines().filter(|line| !is_author(line)).collect();
    lines.join("\n").trim_end().to_owned()
}

/// The start of a line that names another author.
const CO_AUTHOR: &str = "Co-authored-by:";

#[cfg(test)]
mod tests {
    use super::*;

    const BEGUN: BegunMerge<'_> =
        BegunMerge { from: Some("m1"), commit: "m2", source: "w1", strategy: Strategy::Squash };
    const SIDES: MergeSides<'_> = MergeSides {
        target: Some("m1"),
        source: "w1",
        strategy: Strategy::Squash,
        contains: false,
        continues: true,
        follows: true,
    };

    #[test]
    fn every_word_of_a_strategy_is_read_back() {
        for strategy in Strategy::ALL {
            assert_eq!(Strategy::parse(strategy.as_str()), Some(strategy));
        }
        assert_eq!(Strategy::parse("octopus"), None);
    }

    #[test]
    fn a_repeated_merge_takes_its_first_commit() {
        assert_eq!(BEGUN.course(&SIDES), MergeCourse::Repeat);
        for other in [
            MergeSides { target: Some("m9"), ..SIDES },
            MergeSides { source: "w2", ..SIDES },
            MergeSides { strategy: Strategy::Rebase, ..SIDES },
            MergeSides { follows: false, ..SIDES },
        ] {
            assert_eq!(BEGUN.course(&other), MergeCourse::Whole, "{other:?}");
        }
    }

    #[test]
    fn what_is_in_the_target_is_not_merged_again() {
        let there = MergeSides { target: Some("m2"), contains: true, ..SIDES };
        assert_eq!(BEGUN.course(&there), MergeCourse::Done);
        assert_eq!(BEGUN.course(&MergeSides { strategy: Strategy::Merge, ..there }), MergeCourse::Done);
        let grown = MergeSides { source: "w2", ..there };
        assert_eq!(BEGUN.course(&grown), MergeCourse::Rest);
        assert_eq!(BEGUN.course(&MergeSides { continues: false, ..grown }), MergeCourse::Whole);
    }

    #[test]
    fn a_repeated_sync_takes_its_first_commit() {
        let begun = BegunSync { from: "w1", onto: "m1", commit: "w2", strategy: Strategy::Rebase };
        let sides =
            SyncSides { tip: "w1", base: "m1", strategy: Strategy::Rebase, exists: true, contains: false };
        assert_eq!(begun.course(&sides), SyncCourse::Repeat);
        for other in [
            SyncSides { tip: "w9", ..sides },
            SyncSides { base: "m9", ..sides },
            SyncSides { strategy: Strategy::Merge, ..sides },
            SyncSides { exists: false, ..sides },
        ] {
            assert_eq!(begun.course(&other), SyncCourse::Whole, "{other:?}");
        }
        assert_eq!(
            begun.course(&SyncSides { tip: "w3", base: "m9", contains: true, ..sides }),
            SyncCourse::Done
        );
    }

    #[test]
    fn a_squashed_commit_names_its_parts() {
        let work = SquashedWork {
            title: "Mend the login",
            messages: Vec::from(["Add a test\n\nIt fails.\n", "Mend it\n\nCo-authored-by: Eve <eve@e>\n"]),
            form: MessageForm::Summary,
            authors: Vec::from(["Ada <ada@a>", "Bob <bob@b>", "Robert <BOB@b>", "Eve <eve@e>"]),
            own_address: "Ada@a",
        };
        assert_eq!(
            work.message(None),
            "Mend the login\n\n* Add a test\n* Mend it\n\nCo-authored-by: Bob <bob@b>\nCo-authored-by: Eve <eve@e>\n"
        );
        assert_eq!(
            work.message(Some("Other\n")),
            "Other\n\nCo-authored-by: Bob <bob@b>\nCo-authored-by: Eve <eve@e>\n"
        );
        let untitled = SquashedWork { messages: Vec::from(["Mend it\n\nWhy.\n"]), ..SquashedWork::default() };
        assert_eq!(untitled.message(None), "Mend it\n");
    }

    #[test]
    fn a_squashed_commit_may_have_whole_messages() {
        let of = |messages: &[&'static str]| SquashedWork {
            title: "Mend the login",
            messages: messages.to_vec(),
            form: MessageForm::Commits,
            ..SquashedWork::default()
        };
        let first = "Add a test\n\nIt fails.\n\nCo-authored-by: Eve <eve@e>\n";
        assert_eq!(of(&[first]).message(None), "Add a test\n\nIt fails.\n");
        let several = of(&[first, "Mend it", "Tidy up"]).message(None);
        assert_eq!(several, "Mend the login\n\n* Add a test\n\nIt fails.\n\n* Mend it\n* Tidy up\n");
        assert_eq!(of(&[first]).message(Some("Other")), "Other\n");
    }

    #[test]
    fn every_word_of_a_form_is_read_back() {
        assert_eq!(
            MessageForm::ALL.map(|form| MessageForm::parse(form.as_str())),
            MessageForm::ALL.map(Some)
        );
        assert_eq!(MessageForm::parse("poem"), None);
    }

    #[test]
    fn a_long_squashed_message_is_cut() {
        let subject = "x".repeat(1000);
        let messages = alloc::vec![subject.as_str(); 100];
        let message = SquashedWork { title: "t", messages, ..SquashedWork::default() }.message(None);
        assert!(
            message.len() <= LONGEST_MESSAGE + 100 && message.contains("more commits"),
            "{}",
            message.len()
        );
    }
}
