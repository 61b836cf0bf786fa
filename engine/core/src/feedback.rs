//! Decisions about comments on pull requests: whose of them agents get.

use alloc::string::String;
use alloc::vec::Vec;

/// Heading of the section of a task's text that has its feedback.
pub const HEADING: &str = "## Feedback";

/// The people whose comments agents get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "WrittenAuthors", try_from = "WrittenAuthors")
)]
pub enum Authors {
    /// All who may push to the repository.
    #[default]
    Write,
    /// Those with these names.
    Logins(Vec<String>),
}

/// The threads that an answer may resolve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Resolve {
    /// None: who opened a thread closes it.
    #[default]
    Never,
    /// Those that a bot opened.
    Bots,
    /// All of them.
    All,
}

impl Resolve {
    /// Every value, in the order of the help.
    pub const ALL: [Resolve; 3] = [Resolve::Never, Resolve::Bots, Resolve::All];

    /// The word in settings and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Resolve::Never => "never",
            Resolve::Bots => "bots",
            Resolve::All => "all",
        }
    }

    /// The value of this word.
    pub fn parse(word: &str) -> Option<Resolve> {
        Resolve::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// True if a thread may be resolved that a bot or a person opened.
    pub const fn admits(self, is_of_bot: bool) -> bool {
        match self {
            Resolve::Never => false,
            Resolve::Bots => is_of_bot,
            Resolve::All => true,
        }
    }
}

/// The most bytes of an answer to a thread.
pub const LONGEST_ANSWER: usize = 2 << 10;

/// The beginning of the mark in comments that Orange posts.
pub const MARK: &str = "<!-- orange:";

/// The mark of the answer to a thread, by which a repeat finds it.
pub fn mark(task: &str, round: u32, thread: &str) -> String {
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "_=".contains(*letter);
    let thread: String = thread.chars().filter(plain).collect();
    alloc::format!("{MARK}{task}:{round}:{thread} -->")
}

/// The comment that is posted for an answer: without hidden text, and so that it calls nobody by `@`.
pub fn answer_body(text: &str, mark: &str) -> String {
    let text = crate::foreign::markdown(text).replace('@', "@\u{200b}");
    alloc::format!("{}\n\n{mark}", text.trim())
}

/// The rule for comments of people and bots.
#[derive(Clone, Copy, Debug)]
pub struct AuthorRule<'a> {
    /// The people.
    pub authors: &'a Authors,
    /// The names of bots.
    pub bots: &'a [String],
}

/// The decision about the comments of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Agents get them.
    Given,
    /// Agents get them if the account may push to the repository.
    IfWriter,
    /// They are only counted.
    Counted,
}

impl AuthorRule<'_> {
    /// The decision about the comments of an account. The name of a person admits no bot, and that of a bot no person.
    pub fn admission(&self, login: &str, is_bot: bool) -> Admission {
        let is_named =
            |names: &[String]| names.iter().any(|name| bare(name).eq_ignore_ascii_case(bare(login)));
        match (is_bot, self.authors) {
            (true, _) if is_named(self.bots) => Admission::Given,
            (true, _) => Admission::Counted,
            (false, Authors::Write) => Admission::IfWriter,
            (false, Authors::Logins(names)) if is_named(names) => Admission::Given,
            (false, Authors::Logins(_)) => Admission::Counted,
        }
    }
}

/// The name without the mark that GitHub puts after names of bots.
fn bare(login: &str) -> &str {
    login.strip_suffix("[bot]").unwrap_or(login)
}

impl Authors {
    /// The word for all who may push.
    pub const WRITE: &str = "write";

    /// The names, or the word.
    pub fn words(&self) -> Vec<String> {
        match self {
            Authors::Write => Vec::from([Authors::WRITE.into()]),
            Authors::Logins(names) => names.clone(),
        }
    }
}

/// Reason for which a name cannot be that of an account; `None` if it can.
pub fn flaw_of_login(name: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.[]".contains(letter);
    if name == Authors::WRITE {
        return Some("`write` stands alone: give it, or the names of accounts".into());
    }
    let is_name = !name.is_empty() && name.chars().all(is_plain);
    (!is_name).then(|| {
        alloc::format!(
            "`{}` is not a name of an account: give it without `@`, such as ada",
            name.escape_debug()
        )
    })
}

/// [`Authors`] as settings contain them.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
enum WrittenAuthors {
    Word(String),
    Logins(Vec<String>),
}

#[cfg(feature = "serde")]
impl From<Authors> for WrittenAuthors {
    fn from(authors: Authors) -> WrittenAuthors {
        match authors {
            Authors::Write => WrittenAuthors::Word(Authors::WRITE.into()),
            Authors::Logins(names) => WrittenAuthors::Logins(names),
        }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<WrittenAuthors> for Authors {
    type Error = String;

    fn try_from(written: WrittenAuthors) -> Result<Authors, String> {
        match written {
            WrittenAuthors::Word(word) if word == Authors::WRITE => Ok(Authors::Write),
            WrittenAuthors::Word(word) => {
                Err(alloc::format!("`{}` is neither `write` nor a list of names", word.escape_debug()))
            }
            WrittenAuthors::Logins(names) => Ok(Authors::Logins(names)),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::vec;

    use super::*;

    #[track_caller]
    fn check(authors: &Authors, bots: &[&str], account: (&str, bool), expect: Admission) {
        let bots: Vec<String> = bots.iter().map(|name| (*name).to_owned()).collect();
        let rule = AuthorRule { authors, bots: &bots };
        assert_eq!(rule.admission(account.0, account.1), expect, "{authors:?} {bots:?} {account:?}");
    }

    #[test]
    fn a_bot_has_to_be_named() {
        let ada = Authors::Logins(vec!["ada".to_owned(), "helper".to_owned()]);
        for authors in [&Authors::Write, &ada] {
            check(authors, &[], ("helper", true), Admission::Counted);
            check(authors, &["helper"], ("helper", true), Admission::Given);
            check(authors, &["Helper[bot]"], ("helper", true), Admission::Given);
            check(authors, &["helper"], ("helper2", true), Admission::Counted);
        }
        // A person may have the name that a bot has.
        check(&Authors::Write, &["helper"], ("helper", false), Admission::IfWriter);
        check(&Authors::Logins(vec![]), &["helper"], ("helper", false), Admission::Counted);
    }

    #[test]
    fn a_list_of_people_is_the_whole_list() {
        let ada = Authors::Logins(vec!["ada".to_owned()]);
        check(&Authors::Write, &[], ("eve", false), Admission::IfWriter);
        check(&ada, &[], ("Ada", false), Admission::Given);
        check(&ada, &[], ("eve", false), Admission::Counted);
        check(&ada, &[], ("", false), Admission::Counted);
    }

    #[test]
    fn an_answer_calls_nobody_and_has_one_mark() {
        let mark = mark("t1", 2, "PRRT_kw-->\nx=");
        assert_eq!(mark, "<!-- orange:t1:2:PRRT_kwx= -->");
        let body = answer_body(" Done, @ada. <!-- orange:t1:3:x --> <!--", &mark);
        assert_eq!(body, "Done, @\u{200b}ada.\n\n<!-- orange:t1:2:PRRT_kwx= -->");
    }

    #[test]
    fn every_word_of_resolve_is_read_back() {
        for it in Resolve::ALL {
            assert_eq!(Resolve::parse(it.as_str()), Some(it));
        }
        assert_eq!(Resolve::parse("bot"), None);
    }

    #[test]
    fn a_name_of_an_account_is_plain() {
        for name in ["ada", "o-x_1", "helper[bot]", "a.b"] {
            assert_eq!(flaw_of_login(name), None, "{name}");
        }
        for name in ["write", "@ada", "a b", "", "a/b"] {
            assert!(flaw_of_login(name).is_some(), "{name}");
        }
    }
}
