//! The discussion of a merge request on GitLab, and the permissions of its authors.

use orange_api::{Permission, ReviewDecision};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::{Author, Discussion, ForgeComment, Mergeable, OpenThread};
use super::{Glab, MergeRequestAddress, asked, encoded, place, unclear};
use crate::Result;

/// The most entries of an answer, which GitLab fixes.
const PAGE: usize = 100;
/// The most answers that are asked for.
const MOST_PAGES: usize = 10;
/// The least access level that may push: that of a developer.
const DEVELOPER: u32 = 30;
const MAINTAINER: u32 = 40;

#[derive(Deserialize)]
struct Facts {
    sha: Option<String>,
    detailed_merge_status: Option<String>,
    merge_status: Option<String>,
    #[serde(default)]
    has_conflicts: bool,
}

#[derive(Deserialize)]
struct Approvals {
    #[serde(default)]
    approved: bool,
    #[serde(default)]
    approved_by: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Reviewer {
    state: String,
}

#[derive(Deserialize)]
struct ListedDiscussion {
    id: String,
    notes: Vec<Note>,
}

#[derive(Deserialize)]
struct Note {
    id: u64,
    body: String,
    author: NoteAuthor,
    created_at: String,
    #[serde(default)]
    system: bool,
    #[serde(default)]
    resolvable: bool,
    #[serde(default)]
    resolved: bool,
    position: Option<Position>,
}

#[derive(Deserialize)]
struct NoteAuthor {
    username: String,
}

#[derive(Deserialize)]
struct Position {
    new_path: Option<String>,
    old_path: Option<String>,
    new_line: Option<u32>,
    old_line: Option<u32>,
    head_sha: Option<String>,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize)]
struct Member {
    username: String,
    state: String,
    access_level: u32,
}

/// Answers about a merge request.
struct Answers {
    facts: Facts,
    approvals: Approvals,
    reviewers: Vec<Reviewer>,
    /// The account that asks.
    user: User,
    discussions: Vec<ListedDiscussion>,
    has_more: bool,
}

impl Glab {
    /// The reviews and open threads of a merge request.
    pub fn discussion(&self, url: &str) -> Result<Discussion> {
        let MergeRequestAddress { host, project, number } = place(url)?;
        let of = format!("projects/{}/merge_requests/{number}", encoded(project));
        let (mut discussions, mut has_more) = (Vec::new(), true);
        for page in 1..=MOST_PAGES {
            let asked: Vec<ListedDiscussion> =
                self.read(host, &format!("{of}/discussions?per_page={PAGE}&page={page}"))?;
            has_more = asked.len() >= PAGE;
            discussions.extend(asked);
            if !has_more {
                break;
            }
        }
        let answers = Answers {
            facts: self.read(host, &of)?,
            approvals: self.read(host, &format!("{of}/approvals"))?,
            reviewers: self.read(host, &format!("{of}/reviewers"))?,
            user: self.read(host, "user")?,
            discussions,
            has_more,
        };
        Ok(answers.in_our_words())
    }

    /// The permission of an account in the project of a merge request.
    pub fn permission(&self, url: &str, login: &str) -> Result<Permission> {
        let MergeRequestAddress { host, project, .. } = place(url)?;
        self.account(host, project, login)
    }

    /// The permission of an account in a project.
    pub(super) fn account(&self, host: &str, project: &str, login: &str) -> Result<Permission> {
        if login.is_empty() {
            return Ok(Permission::None);
        }
        let members = format!("projects/{}/members/all", encoded(project));
        let found: Vec<Member> =
            self.read(host, &format!("{members}?query={}&per_page={PAGE}", encoded(login)))?;
        Ok(permission(&found, login))
    }

    /// The answer to a question, as a value.
    pub(super) fn read<T: DeserializeOwned>(&self, host: &str, endpoint: &str) -> Result<T> {
        let answer = asked(self.call(&["api", endpoint, "--hostname", host]))?;
        serde_json::from_slice(&answer.stdout).map_err(|_| unclear(&answer))
    }
}

/// The permission of an account among members whose name or address contains its name.
fn permission(members: &[Member], login: &str) -> Permission {
    let own = members.iter().filter(|it| it.username.eq_ignore_ascii_case(login) && it.state == "active");
    match own.map(|it| it.access_level).max() {
        Some(level) if level >= MAINTAINER => Permission::Admin,
        Some(level) if level >= DEVELOPER => Permission::Write,
        Some(1..) => Permission::Read,
        Some(0) | None => Permission::None,
    }
}

impl Answers {
    fn in_our_words(self) -> Discussion {
        let commit = self.facts.sha.clone().unwrap_or_default();
        let (review, mergeable) = (self.review(), self.facts.mergeable());
        let Answers { user, discussions, has_more, .. } = self;
        let (mut threads, mut comments) = (Vec::new(), Vec::new());
        for ListedDiscussion { id, notes } in discussions {
            let notes: Vec<Note> = notes.into_iter().filter(|note| !note.system).collect();
            if notes.iter().any(|note| note.resolvable && !note.resolved) {
                threads.push(thread(id, notes, &user, &commit));
            } else if !notes.iter().any(|note| note.resolvable) {
                comments.extend(notes.into_iter().map(|note| note.read(&user)));
            }
        }
        comments.sort_by(|one: &ForgeComment, other| one.time.cmp(&other.time));
        Discussion { commit, review, mergeable, threads, comments, has_more }
    }

    /// GitLab calls one that needs no approval approved, too.
    fn review(&self) -> ReviewDecision {
        let asks = self.reviewers.iter().any(|reviewer| reviewer.state == "requested_changes")
            || self.facts.detailed_merge_status.as_deref() == Some("requested_changes");
        if asks {
            ReviewDecision::ChangesRequested
        } else if self.approvals.approved && !self.approvals.approved_by.is_empty() {
            ReviewDecision::Approved
        } else {
            ReviewDecision::None
        }
    }
}

impl Facts {
    fn mergeable(&self) -> Mergeable {
        if self.has_conflicts || self.detailed_merge_status.as_deref() == Some("conflict") {
            return Mergeable::Conflict;
        }
        let is_clean = self.merge_status.as_deref() == Some("can_be_merged")
            || self.detailed_merge_status.as_deref() == Some("mergeable");
        if is_clean { Mergeable::Clean } else { Mergeable::Unknown }
    }
}

fn thread(id: String, notes: Vec<Note>, user: &User, commit: &str) -> OpenThread {
    let position = notes.iter().find_map(|note| note.position.as_ref());
    let path = position.and_then(|it| it.new_path.clone().or_else(|| it.old_path.clone()));
    OpenThread {
        id,
        path,
        line: position.and_then(|it| it.new_line.or(it.old_line)),
        is_outdated: position.and_then(|it| it.head_sha.as_deref()).is_some_and(|sha| sha != commit),
        left_out: 0,
        comments: notes.into_iter().map(|note| note.read(user)).collect(),
    }
}

impl Note {
    fn read(self, user: &User) -> ForgeComment {
        let Note { id, body, author: NoteAuthor { username }, created_at, .. } = self;
        let author =
            Author { is_bot: is_bot(&username), is_self: username == user.username, login: username };
        ForgeComment { id: id.to_string(), author, time: created_at, text: body }
    }
}

/// True for the names that GitLab gives to the accounts of access tokens, to its own accounts, and to deleted ones.
pub(super) fn is_bot(username: &str) -> bool {
    let is_of_token = ["project_", "group_"].iter().any(|prefix| {
        let rest = username.strip_prefix(prefix).unwrap_or_default();
        let after = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        after.len() < rest.len() && after.starts_with("_bot")
    });
    is_of_token
        || matches!(username, "ghost" | "support-bot" | "alert-bot" | "GitLabDuo" | "gitlab-bot")
        || username.starts_with("service_account_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of `GET /projects/:id/merge_requests/:iid/discussions`, shortened, as documented for GitLab 18.
    const DISCUSSIONS: &str = include_str!("discussions.json");

    fn answers(facts: &str, approvals: &str, reviewers: &str) -> Answers {
        Answers {
            facts: serde_json::from_str(facts).unwrap(),
            approvals: serde_json::from_str(approvals).unwrap(),
            reviewers: serde_json::from_str(reviewers).unwrap(),
            user: User { username: "me".to_owned() },
            discussions: serde_json::from_str(DISCUSSIONS).unwrap(),
            has_more: false,
        }
    }

    const FACTS: &str = r#"{"sha":"8888","detailed_merge_status":"not_approved","merge_status":"can_be_merged","has_conflicts":false}"#;

    #[test]
    fn threads_that_are_not_resolved_are_open() {
        let found = answers(FACTS, "{}", "[]").in_our_words();
        let [thread] = &found.threads[..] else { panic!("{:?}", found.threads) };
        assert_eq!(
            (thread.id.as_str(), thread.path.as_deref(), thread.line),
            ("6a9c", Some("src/b.rs"), Some(12))
        );
        assert!(!thread.is_outdated);
        let authors: Vec<_> =
            thread.comments.iter().map(|it| (it.author.login.as_str(), it.author.is_bot)).collect();
        assert_eq!(authors, [("ada", false), ("project_2_bot_3f", true)]);
        let said: Vec<_> = found.comments.iter().map(|it| (it.id.as_str(), it.author.is_self)).collect();
        assert_eq!(said, [("1129", true)]);
    }

    #[test]
    fn an_approval_needs_a_person() {
        let by_ada = r#"{"approved":true,"approved_by":[{"user":{"username":"ada"}}]}"#;
        let asks = r#"[{"user":{"username":"ada"},"state":"requested_changes"},{"user":{"username":"bob"},"state":"approved"}]"#;
        for (approvals, reviewers, expect) in [
            (by_ada, "[]", ReviewDecision::Approved),
            (by_ada, asks, ReviewDecision::ChangesRequested),
            (r#"{"approved":true,"approved_by":[]}"#, "[]", ReviewDecision::None),
            (r#"{"approved":false,"approved_by":[{}]}"#, "[]", ReviewDecision::None),
            ("{}", r#"[{"state":"approved_by_all"}]"#, ReviewDecision::None),
        ] {
            assert_eq!(answers(FACTS, approvals, reviewers).review(), expect, "{approvals} {reviewers}");
        }
    }

    #[test]
    fn a_merge_that_was_not_tried_is_unknown() {
        for (facts, expect) in [
            (FACTS, Mergeable::Clean),
            (r#"{"detailed_merge_status":"mergeable"}"#, Mergeable::Clean),
            (r#"{"has_conflicts":true,"merge_status":"cannot_be_merged"}"#, Mergeable::Conflict),
            (r#"{"detailed_merge_status":"conflict"}"#, Mergeable::Conflict),
            (r#"{"detailed_merge_status":"checking","merge_status":"unchecked"}"#, Mergeable::Unknown),
            (r#"{"detailed_merge_status":"a_new_word"}"#, Mergeable::Unknown),
        ] {
            assert_eq!(serde_json::from_str::<Facts>(facts).unwrap().mergeable(), expect, "{facts}");
        }
    }

    #[test]
    fn developers_may_write() {
        let members = |level: u32, state: &str| -> Vec<Member> {
            let json = format!(
                r#"[{{"username":"ada-l","state":"active","access_level":50}},
                {{"username":"Ada","state":"{state}","access_level":{level}}}]"#
            );
            serde_json::from_str(&json).unwrap()
        };
        for (level, state, expect) in [
            (50, "active", Permission::Admin),
            (30, "active", Permission::Write),
            (20, "active", Permission::Read),
            (5, "active", Permission::Read),
            (0, "active", Permission::None),
            (50, "blocked", Permission::None),
        ] {
            assert_eq!(permission(&members(level, state), "ada"), expect, "{level} {state}");
        }
        assert_eq!(permission(&members(50, "active"), "da"), Permission::None);
    }

    #[test]
    fn accounts_of_tokens_are_bots() {
        for name in ["project_2_bot_3f", "group_12_bot", "support-bot", "ghost", "service_account_7"] {
            assert!(is_bot(name), "{name}");
        }
        for name in ["ada", "project_bot", "project_2_robot", "my_project_2_bot", "botany"] {
            assert!(!is_bot(name), "{name}");
        }
    }
}
