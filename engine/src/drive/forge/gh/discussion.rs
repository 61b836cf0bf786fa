//! The discussion of a pull request on GitHub, by one question in GraphQL, and the permissions of its authors.

use orange_api::{Permission, ReviewDecision};
use serde::Deserialize;

use super::super::{Author, Discussion, ForgeComment, Mergeable, OpenThread};
use super::graphql::of_pull_request;
use super::{Gh, PullRequestAddress, asked, place, unclear};
use crate::Result;

/// The newest threads and comments. A repository that has another name since is found by the old one.
const QUERY: &str = "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { \
    pullRequest(number: $number) { headRefOid reviewDecision mergeable \
    reviewThreads(last: 50) { pageInfo { hasPreviousPage } nodes { id isResolved isOutdated path line originalLine \
    first: comments(first: 1) { nodes { ...comment state } } latest: comments(last: 20) { totalCount nodes { ...comment state } } } } \
    comments(last: 50) { pageInfo { hasPreviousPage } nodes { ...comment } } \
    latestOpinionatedReviews(last: 50, writersOnly: true) { nodes { state author { __typename login } } } \
    reviews(last: 50) { pageInfo { hasPreviousPage } nodes { ...comment state } } } } } \
    fragment comment on Comment { id author { __typename login } createdAt body viewerDidAuthor ...hidden } \
    fragment hidden on Minimizable { isMinimized }";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    head_ref_oid: String,
    review_decision: Option<String>,
    mergeable: String,
    review_threads: Page<ThreadNode>,
    comments: Page<CommentNode>,
    reviews: Page<CommentNode>,
    /// The newest decision of each reviewer who may push.
    #[serde(default)]
    latest_opinionated_reviews: Decisions,
}

#[derive(Default, Deserialize)]
struct Decisions {
    nodes: Vec<DecisionNode>,
}

#[derive(Deserialize)]
struct DecisionNode {
    state: String,
    author: Option<AuthorNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    page_info: PageInfo,
    nodes: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_previous_page: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadNode {
    id: String,
    is_resolved: bool,
    is_outdated: bool,
    path: Option<String>,
    line: Option<u32>,
    original_line: Option<u32>,
    first: Nodes,
    latest: Nodes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nodes {
    #[serde(default)]
    total_count: u32,
    nodes: Vec<CommentNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentNode {
    id: String,
    /// Null for an account that was deleted.
    author: Option<AuthorNode>,
    created_at: String,
    body: String,
    #[serde(default)]
    viewer_did_author: bool,
    #[serde(default)]
    is_minimized: bool,
    /// `PENDING` for a comment and a review that its author has not published, `DISMISSED` for a review that was taken back.
    state: Option<String>,
}

#[derive(Deserialize)]
struct AuthorNode {
    #[serde(rename = "__typename")]
    kind: String,
    login: String,
}

#[derive(Deserialize)]
struct ShownPermission {
    permission: String,
}

impl Gh {
    /// The reviews and open threads of a pull request.
    pub fn discussion(&self, url: &str) -> Result<Discussion> {
        let answer = asked(self.graphql_about(url, QUERY)?)?;
        parse(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// The permission of an account in the repository of a pull request.
    pub fn permission(&self, url: &str, login: &str) -> Result<Permission> {
        let PullRequestAddress { host, owner, name, .. } = place(url)?;
        self.account(host, owner, name, login)
    }

    /// The permission of an account in a repository.
    pub(super) fn account(&self, host: &str, owner: &str, name: &str, login: &str) -> Result<Permission> {
        // A name that cannot be part of an address belongs to no account.
        if login.is_empty()
            || !login.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        {
            return Ok(Permission::None);
        }
        let endpoint = format!("repos/{owner}/{name}/collaborators/{login}/permission");
        let answer = self.call(&["api", &endpoint, "--hostname", host]).run()?;
        if !answer.success() && answer.complaint().contains("HTTP 404") {
            return Ok(Permission::None);
        }
        let answer = super::checked(answer)?;
        permission(&answer.stdout).ok_or_else(|| unclear(&answer))
    }
}

fn permission(json: &[u8]) -> Option<Permission> {
    let shown: ShownPermission = serde_json::from_slice(json).ok()?;
    // `maintain` is `write` here, and `triage` is `read`; a role of an organization is the one that it is made of.
    Some(match shown.permission.as_str() {
        "admin" => Permission::Admin,
        "write" => Permission::Write,
        "read" => Permission::Read,
        _ => Permission::None,
    })
}

fn parse(json: &[u8]) -> Option<Discussion> {
    let facts = of_pull_request::<Facts>(json)?;
    let review = facts.review();
    let Facts { head_ref_oid, mergeable, review_threads, comments, reviews, .. } = facts;
    let has_more = review_threads.page_info.has_previous_page
        || comments.page_info.has_previous_page
        || reviews.page_info.has_previous_page;
    let open = review_threads.nodes.into_iter().filter(|thread| !thread.is_resolved);
    let threads = open.map(ThreadNode::read).filter(|thread| !thread.comments.is_empty()).collect();
    let said = comments.nodes.into_iter().chain(reviews.nodes).filter_map(CommentNode::read);
    let mut comments: Vec<ForgeComment> = said.filter(|comment| !comment.text.trim().is_empty()).collect();
    comments.sort_by(|one, other| one.time.cmp(&other.time));
    Some(Discussion {
        commit: head_ref_oid,
        review,
        mergeable: match mergeable.as_str() {
            "MERGEABLE" => Mergeable::Clean,
            "CONFLICTING" => Mergeable::Conflict,
            _ => Mergeable::Unknown,
        },
        threads,
        comments,
        has_more,
    })
}

impl Facts {
    /// GitHub has a decision only for a repository that asks for reviews. Elsewhere that of the reviewers who may push counts, and of a bot
    /// its disapproval alone.
    fn review(&self) -> ReviewDecision {
        let decisions = &self.latest_opinionated_reviews.nodes;
        let is_person = |it: &DecisionNode| it.author.as_ref().is_some_and(|author| author.kind == "User");
        match self.review_decision.as_deref() {
            Some("APPROVED") => ReviewDecision::Approved,
            Some("CHANGES_REQUESTED") => ReviewDecision::ChangesRequested,
            Some(_) => ReviewDecision::None,
            None if decisions.iter().any(|it| it.state == "CHANGES_REQUESTED") => {
                ReviewDecision::ChangesRequested
            }
            None if decisions.iter().any(|it| it.state == "APPROVED" && is_person(it)) => {
                ReviewDecision::Approved
            }
            None => ReviewDecision::None,
        }
    }
}

impl ThreadNode {
    fn read(self) -> OpenThread {
        let ThreadNode { id, is_outdated, path, line, original_line, first, latest, .. } = self;
        let total = latest.total_count;
        let mut nodes = latest.nodes;
        for node in first.nodes {
            if nodes.iter().all(|it| it.id != node.id) {
                nodes.insert(0, node);
            }
        }
        let asked = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        OpenThread {
            id,
            path,
            line: line.or(original_line),
            is_outdated,
            left_out: total.saturating_sub(asked),
            comments: nodes.into_iter().filter_map(CommentNode::read).collect(),
        }
    }
}

impl CommentNode {
    /// `None` for a comment that is hidden, taken back or not published.
    fn read(self) -> Option<ForgeComment> {
        let CommentNode { id, author, created_at, body, viewer_did_author, is_minimized, state } = self;
        if is_minimized || matches!(state.as_deref(), Some("PENDING" | "DISMISSED")) {
            return None;
        }
        let author = match author {
            Some(AuthorNode { kind, login }) => Author {
                login: login.strip_suffix("[bot]").map(str::to_owned).unwrap_or(login),
                is_bot: kind != "User",
                is_self: viewer_did_author,
            },
            // GitHub shows the account `ghost` in its place.
            None => Author { login: "ghost".to_owned(), is_bot: true, is_self: false },
        };
        Some(ForgeComment { id, author, time: created_at, text: body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of GitHub's GraphQL API to the question here.
    const ANSWER: &str = include_str!("discussion.json");

    fn with(changes: &[(&str, &str)]) -> Discussion {
        let json = changes.iter().fold(ANSWER.to_owned(), |json, (from, to)| {
            assert!(json.contains(from), "{from}");
            json.replacen(from, to, 1)
        });
        parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn open_threads_have_their_comments() {
        let found = with(&[]);
        assert_eq!((found.commit.as_str(), found.has_more), ("c0ffee", true));
        let [thread] = &found.threads[..] else { panic!("{:?}", found.threads) };
        assert_eq!(
            (thread.id.as_str(), thread.path.as_deref(), thread.line),
            ("PRRT_2", Some("src/b.rs"), Some(12))
        );
        assert_eq!((thread.is_outdated, thread.left_out), (true, 3));
        let authors: Vec<_> =
            thread.comments.iter().map(|it| (it.author.login.as_str(), it.author.is_bot)).collect();
        assert_eq!(authors, [("ada", false), ("helper", true), ("ghost", true)]);
        assert_eq!(thread.comments[0].text, "Name this.\n\n> why");
    }

    #[test]
    fn comments_and_reviews_with_a_text_are_one_list() {
        let said: Vec<_> = with(&[]).comments.into_iter().map(|it| (it.id, it.author.is_self)).collect();
        assert_eq!(said, [("PRR_1".to_owned(), false), ("IC_1".to_owned(), true)]);
    }

    #[test]
    fn an_unknown_word_is_no_approval() {
        for (word, expect) in [
            ("\"APPROVED\"", ReviewDecision::Approved),
            ("\"CHANGES_REQUESTED\"", ReviewDecision::ChangesRequested),
            ("\"REVIEW_REQUIRED\"", ReviewDecision::None),
            ("\"APPROVED_BY_ALL\"", ReviewDecision::None),
            ("null", ReviewDecision::None),
        ] {
            assert_eq!(with(&[("\"CHANGES_REQUESTED\"", word)]).review, expect, "{word}");
        }
        for (word, expect) in [
            ("MERGEABLE", Mergeable::Clean),
            ("CONFLICTING", Mergeable::Conflict),
            ("UNKNOWN", Mergeable::Unknown),
            ("MERGEABLE_SOON", Mergeable::Unknown),
        ] {
            assert_eq!(with(&[("\"MERGEABLE\"", &format!("\"{word}\""))]).mergeable, expect, "{word}");
        }
    }

    #[test]
    fn without_a_rule_reviewers_who_may_push_decide() {
        for (decisions, expect) in [
            (&[][..], ReviewDecision::None),
            (&[("APPROVED", "User")], ReviewDecision::Approved),
            (&[("APPROVED", "Bot")], ReviewDecision::None),
            (&[("APPROVED", "User"), ("CHANGES_REQUESTED", "Bot")], ReviewDecision::ChangesRequested),
            (&[("DISMISSED", "User"), ("A_NEW_WORD", "User")], ReviewDecision::None),
        ] {
            let nodes = decisions.iter().map(|(state, kind)| {
                format!(r#"{{"state":"{state}","author":{{"__typename":"{kind}","login":"ada"}}}}"#)
            });
            let nodes = nodes.collect::<Vec<_>>().join(",");
            let changes = [
                ("\"CHANGES_REQUESTED\"", "null"),
                (
                    "\"comments\":",
                    &format!("\"latestOpinionatedReviews\":{{\"nodes\":[{nodes}]}},\"comments\":"),
                ),
            ];
            assert_eq!(with(&changes).review, expect, "{decisions:?}");
        }
    }

    #[test]
    fn half_an_answer_or_another_one_is_not_read() {
        for json in [
            &ANSWER[..ANSWER.len() / 2],
            "",
            "{}",
            "<html>",
            r#"{"data":{"repository":null},"errors":[{"type":"NOT_FOUND"}]}"#,
            r#"{"data":{"repository":{"pullRequest":null}}}"#,
            r#"{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#,
        ] {
            assert_eq!(parse(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn an_unknown_permission_is_none() {
        for (word, expect) in [
            ("admin", Permission::Admin),
            ("write", Permission::Write),
            ("read", Permission::Read),
            ("none", Permission::None),
            ("owner", Permission::None),
        ] {
            let json = format!(r#"{{"permission":"{word}","role_name":"x","user":{{"login":"ada"}}}}"#);
            assert_eq!(permission(json.as_bytes()), Some(expect), "{word}");
        }
        assert_eq!(permission(b"{\"message\":\"Not Found\"}"), None);
    }
}
