//! Labelled issues on GitHub, by questions in GraphQL, and comments on them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::issues::{MOST_PAGES, millis};
use super::super::{AppliedLabel, Author, Issue, LabelledIssue, LabelledIssues};
use super::graphql::{json, of_repository};
use super::{Gh, asked, checked, unclear};
use crate::{Error, ErrorKind, Result};

/// An answer of GitHub without dependencies of issues, which older servers do not know.
const BLOCKERS: &str =
    " blockedBy(first: 20) { pageInfo { hasNextPage } nodes { number state repository { nameWithOwner } } }";

/// A repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Repository<'a> {
    host: &'a str,
    owner: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
struct Variables<'a> {
    owner: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
}

#[derive(Serialize)]
struct NewComment<'a> {
    body: &'a str,
}

#[derive(Deserialize)]
struct ShownRepository {
    url: String,
}

#[derive(Deserialize)]
struct Listed {
    issues: Page<IssueNode>,
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
    has_next_page: bool,
    end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IssueNode {
    number: u64,
    title: String,
    body: String,
    url: String,
    state: String,
    last_edited_at: Option<String>,
    author: Option<Actor>,
    blocked_by: Option<Page<BlockerNode>>,
    timeline_items: Timeline,
}

#[derive(Deserialize)]
struct BlockerNode {
    number: u64,
    state: String,
    repository: BlockerRepository,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockerRepository {
    name_with_owner: String,
}

#[derive(Deserialize)]
struct Timeline {
    nodes: Vec<EventNode>,
}

#[derive(Deserialize)]
#[serde(tag = "__typename", rename_all_fields = "camelCase")]
enum EventNode {
    LabeledEvent { id: String, created_at: String, actor: Option<Actor>, label: Label },
    RenamedTitleEvent { created_at: String },
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

#[derive(Deserialize)]
struct Actor {
    #[serde(rename = "__typename")]
    kind: String,
    login: String,
}

#[derive(Deserialize)]
struct Commented {
    issue: Option<IssueComments>,
}

#[derive(Deserialize)]
struct IssueComments {
    comments: Comments,
}

#[derive(Deserialize)]
struct Comments {
    nodes: Vec<CommentNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentNode {
    body: String,
    viewer_did_author: bool,
}

impl Gh {
    /// The host and the path of the repository.
    pub fn repository(&self) -> Result<String> {
        let answer = asked(self.call(&["repo", "view", "--json", "url"]))?;
        let shown: ShownRepository = serde_json::from_slice(&answer.stdout).map_err(|_| unclear(&answer))?;
        let path = shown.url.strip_prefix("https://").or_else(|| shown.url.strip_prefix("http://"));
        path.filter(|path| place(path).is_ok()).map(str::to_owned).ok_or_else(|| unclear(&answer))
    }

    /// The open issues with a label.
    pub fn labelled(&self, repository: &str, label: &str) -> Result<LabelledIssues> {
        let place = place(repository)?;
        let mut found = LabelledIssues::default();
        let (mut blockers, mut after, mut pages) = (BLOCKERS, None, 0);
        while pages < MOST_PAGES {
            let query = query(blockers);
            let Repository { host, owner, name } = place;
            let variables =
                Variables { owner, name, label: Some(label), after: after.as_deref(), number: None };
            let answer = self.graphql(host, &query, &variables)?.run()?;
            if !answer.success() && !blockers.is_empty() && answer.complaint().contains("'blockedBy'") {
                blockers = "";
                continue;
            }
            let answer = checked(answer)?;
            let (issues, next) = parse(&answer.stdout, place, label).ok_or_else(|| unclear(&answer))?;
            found.issues.extend(issues);
            found.has_more = next.is_some();
            pages += 1;
            if next.is_none() {
                break;
            }
            after = next;
        }
        Ok(found)
    }

    /// Those of these issues that are closed. One that is gone is not among them.
    pub fn closed(&self, repository: &str, numbers: &[u64]) -> Result<Vec<u64>> {
        let Repository { host, owner, name } = place(repository)?;
        let asked: String =
            numbers.iter().map(|number| format!(" i{number}: issue(number: {number}) {{ state }}")).collect();
        let query = format!(
            "query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {{{asked} }} }}"
        );
        let variables = Variables { owner, name, label: None, after: None, number: None };
        let answer = self.graphql(host, &query, &variables)?.run()?;
        // It fails, too, if it does not know one of them, and has the others all the same.
        match closed(&answer.stdout) {
            Some(closed) => Ok(closed),
            None => Err(unclear(&checked(answer)?)),
        }
    }

    /// True if this account has posted a comment with this mark on an issue.
    pub fn has_comment(&self, repository: &str, number: u64, mark: &str) -> Result<bool> {
        const QUERY: &str = "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { \
            issue(number: $number) { comments(last: 100) { nodes { body viewerDidAuthor } } } } }";
        let Repository { host, owner, name } = place(repository)?;
        let variables = Variables { owner, name, label: None, after: None, number: Some(number) };
        let answer = asked(self.graphql(host, QUERY, &variables)?)?;
        let issue = of_repository::<Commented>(&answer.stdout).and_then(|it| it.issue);
        let issue = issue.ok_or_else(|| unclear(&answer))?;
        Ok(issue.comments.nodes.iter().any(|it| it.viewer_did_author && it.body.contains(mark)))
    }

    /// Assigns an issue to this account.
    pub fn claim(&self, repository: &str, number: u64) -> Result<()> {
        place(repository)?;
        let number = number.to_string();
        asked(self.call(&["issue", "edit", &number, "--repo", repository, "--add-assignee", "@me"])).map(drop)
    }

    /// Adds a comment to an issue. The text goes through a pipe.
    pub fn comment(&self, repository: &str, number: u64, text: &str) -> Result<()> {
        let Repository { host, owner, name } = place(repository)?;
        let endpoint = format!("repos/{owner}/{name}/issues/{number}/comments");
        let call = self.call(&["api", &endpoint, "--hostname", host, "--method", "POST", "--input", "-"]);
        asked(call.input(&json(&NewComment { body: text })?)).map(drop)
    }

    /// The permission of an account in a repository.
    pub fn permission_in(&self, repository: &str, login: &str) -> Result<orange_api::Permission> {
        let Repository { host, owner, name } = place(repository)?;
        self.account(host, owner, name, login)
    }
}

/// Takes `github.com/owner/name` apart.
fn place(repository: &str) -> Result<Repository<'_>> {
    let is_plain = |text: &&str, more: &[u8]| {
        !text.is_empty()
            && !text.starts_with('-')
            && !matches!(*text, "." | "..")
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    let read = || {
        let [host, owner, name] = repository.split('/').collect::<Vec<_>>().try_into().ok()?;
        let [owner, name] = [owner, name].map(|it| Some(it).filter(|it| is_plain(it, b"._-")));
        let host = Some(host).filter(|it| is_plain(it, b".-:"));
        Some(Repository { host: host?, owner: owner?, name: name? })
    };
    read().ok_or_else(|| {
        Error::new(
            ErrorKind::Environment,
            format!("`{}` is not a repository on GitHub", repository.escape_debug()),
        )
        .help("`gh repo view` in the repository shows its address")
    })
}

fn query(blockers: &str) -> String {
    format!(
        "query($owner: String!, $name: String!, $label: String!, $after: String) {{ repository(owner: $owner, name: $name) {{ \
         issues(first: 50, after: $after, states: [OPEN], labels: [$label], orderBy: {{field: CREATED_AT, direction: ASC}}) {{ \
         pageInfo {{ hasNextPage endCursor }} nodes {{ number title body url state lastEditedAt author {{ __typename login }}{blockers} \
         timelineItems(last: 100, itemTypes: [LABELED_EVENT, RENAMED_TITLE_EVENT]) {{ nodes {{ __typename \
         ... on LabeledEvent {{ id createdAt actor {{ __typename login }} label {{ name }} }} \
         ... on RenamedTitleEvent {{ createdAt }} }} }} }} }} }} }}"
    )
}

type Issues = (Vec<LabelledIssue>, Option<String>);

/// The issues, and where the next answer begins; `None` if a part is missing or a word is not known.
fn parse(json: &[u8], repository: Repository<'_>, label: &str) -> Option<Issues> {
    let Page { page_info, nodes } = of_repository::<Listed>(json)?.issues;
    let next = if page_info.has_next_page { Some(page_info.end_cursor?) } else { None };
    let issues = nodes.into_iter().map(|node| node.read(repository, label)).collect::<Option<_>>()?;
    Some((issues, next))
}

fn closed(json: &[u8]) -> Option<Vec<u64>> {
    #[derive(Deserialize)]
    struct State {
        state: String,
    }
    let issues = of_repository::<BTreeMap<String, Value>>(json)?;
    let one = |(key, value): (String, Value)| {
        let state: State = serde_json::from_value(value).ok()?;
        (state.state == "CLOSED").then(|| key.strip_prefix('i')?.parse().ok()).flatten()
    };
    Some(issues.into_iter().filter_map(one).collect())
}

impl IssueNode {
    fn read(self, repository: Repository<'_>, label: &str) -> Option<LabelledIssue> {
        let IssueNode { number, title, body, url, state, .. } = self;
        if state != "OPEN" {
            return None;
        }
        let mut edited_at =
            self.last_edited_at.as_deref().map(|time| millis(time).ok_or(())).transpose().ok()?;
        let mut applied = None;
        for event in self.timeline_items.nodes {
            match event {
                EventNode::LabeledEvent { id, created_at, actor, label: added } => {
                    if added.name.to_lowercase() == label.to_lowercase() {
                        let by = actor.map(Actor::read);
                        applied = Some(AppliedLabel { id, by, at: millis(&created_at)? });
                    }
                }
                EventNode::RenamedTitleEvent { created_at } => {
                    edited_at = edited_at.max(Some(millis(&created_at)?));
                }
            }
        }
        let own = format!("{}/{}", repository.owner, repository.name);
        let mut blockers = Vec::new();
        if let Some(Page { page_info, nodes }) = self.blocked_by {
            for BlockerNode { number, state, repository } in nodes {
                match state.as_str() {
                    "OPEN" if repository.name_with_owner.eq_ignore_ascii_case(&own) => {
                        blockers.push(Some(number))
                    }
                    "OPEN" => blockers.push(None),
                    "CLOSED" => {}
                    _ => return None,
                }
            }
            blockers.extend(page_info.has_next_page.then_some(None));
        }
        let issue = Issue { number, title, body, url };
        Some(LabelledIssue {
            issue,
            author: self.author.map(Actor::read),
            label: applied,
            edited_at,
            blockers,
        })
    }
}

impl Actor {
    fn read(self) -> Author {
        Author { is_bot: self.kind != "User", login: self.login, is_self: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOY: Repository<'_> = Repository { host: "github.com", owner: "toys", name: "toy" };

    /// An answer as the API's reference has it, with these parts of the issue.
    fn answer(state: &str, edited: &str, events: &str, blockers: &str) -> String {
        format!(
            r#"{{"data":{{"repository":{{"issues":{{"pageInfo":{{"hasNextPage":false,"endCursor":"Y3"}},"nodes":[{{"number":42,
            "title":"Log in","body":"Text","url":"https://github.com/toys/toy/issues/42","state":"{state}","lastEditedAt":{edited},
            "author":{{"__typename":"User","login":"ada"}},"blockedBy":{{"pageInfo":{{"hasNextPage":false,"endCursor":null}},
            "nodes":[{blockers}]}},"timelineItems":{{"nodes":[{events}]}}}}]}}}}}}}}"#
        )
    }

    fn labelled(id: &str, time: &str, actor: &str, label: &str) -> String {
        format!(
            r#"{{"__typename":"LabeledEvent","id":"{id}","createdAt":"{time}","actor":{actor},"label":{{"name":"{label}"}}}}"#
        )
    }

    fn one(json: &str) -> Option<LabelledIssue> {
        let (mut issues, next) = parse(json.as_bytes(), TOY, "agent")?;
        assert_eq!((issues.len(), next), (1, None));
        issues.pop()
    }

    const ADA: &str = r#"{"__typename":"User","login":"ada"}"#;

    #[test]
    fn the_last_event_of_the_label_counts() {
        let events = [
            labelled("LE_1", "2026-11-20T10:00:00Z", ADA, "agent"),
            labelled("LE_2", "2026-11-20T11:00:00Z", r#"{"__typename":"Bot","login":"helper"}"#, "Agent"),
            labelled("LE_3", "2026-11-20T12:00:00Z", ADA, "bug"),
        ];
        let found = one(&answer("OPEN", "null", &events.join(","), "")).unwrap();
        let label = found.label.unwrap();
        assert_eq!((label.id.as_str(), label.by.unwrap().is_bot), ("LE_2", true));
        assert_eq!((label.at, found.edited_at, found.issue.number), (1_795_172_400_000, None, 42));
        let gone = labelled("LE_1", "2026-11-20T10:00:00Z", "null", "agent");
        assert_eq!(one(&answer("OPEN", "null", &gone, "")).unwrap().label.unwrap().by, None);
        assert_eq!(one(&answer("OPEN", "null", "", "")).unwrap().label, None);
    }

    #[test]
    fn a_new_title_is_an_edit() {
        let renamed = r#"{"__typename":"RenamedTitleEvent","createdAt":"2026-11-20T11:00:00Z"}"#;
        let edited = |edited: &str, events: &str| one(&answer("OPEN", edited, events, "")).unwrap().edited_at;
        assert_eq!(edited("null", renamed), Some(1_795_172_400_000));
        assert_eq!(edited(r#""2026-11-20T12:00:00Z""#, renamed), Some(1_795_176_000_000));
        assert_eq!(edited(r#""2026-11-20T10:00:00Z""#, ""), Some(1_795_168_800_000));
    }

    #[test]
    fn only_open_blockers_block() {
        let blocker = |number: u64, state: &str, repository: &str| {
            format!(
                r#"{{"number":{number},"state":"{state}","repository":{{"nameWithOwner":"{repository}"}}}}"#
            )
        };
        let all =
            [blocker(1, "OPEN", "Toys/toy"), blocker(2, "CLOSED", "toys/toy"), blocker(3, "OPEN", "o/r")];
        let json = answer("OPEN", "null", "", &all.join(","));
        assert_eq!(one(&json).unwrap().blockers, [Some(1), None]);
        let more = answer("OPEN", "null", "", "").replacen(
            "\"hasNextPage\":false,\"endCursor\":null",
            "\"hasNextPage\":true,\"endCursor\":\"x\"",
            1,
        );
        assert_eq!(one(&more).unwrap().blockers, [None]);
        assert_eq!(one(&answer("OPEN", "null", "", &blocker(1, "ASLEEP", "toys/toy"))), None);
        // An older server has no such answer.
        let old = answer("OPEN", "null", "", "").replace("blockedBy", "other");
        assert_eq!(one(&old).unwrap().blockers, []);
    }

    #[test]
    fn half_an_answer_is_none() {
        let whole = answer("OPEN", "null", &labelled("LE_1", "2026-11-20T10:00:00Z", ADA, "agent"), "");
        assert!(one(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(parse(&whole.as_bytes()[..length], TOY, "agent"), None, "{length}");
        }
        let wrong = [
            whole.replace("\"OPEN\"", "\"DRAFT\""),
            whole.replace("2026-11-20T10:00:00Z", "yesterday"),
            whole.replace("LabeledEvent", "NewEvent"),
            whole.replace("\"body\"", "\"text\""),
            r#"{"data":{"repository":null},"errors":[{"message":"no"}]}"#.to_owned(),
            "gh: Bad gateway (HTTP 502)".to_owned(),
        ];
        for json in wrong {
            assert_eq!(parse(json.as_bytes(), TOY, "agent"), None, "{json}");
        }
    }

    #[test]
    fn a_closed_issue_is_named() {
        let json = r#"{"data":{"repository":{"i42":{"state":"CLOSED"},"i43":{"state":"OPEN"},"i44":null}},"errors":[]}"#;
        assert_eq!(closed(json.as_bytes()), Some(vec![42]));
        assert_eq!(closed(b"{}"), None);
    }

    #[test]
    fn a_repository_has_a_host_an_owner_and_a_name() {
        assert_eq!(place("github.com/toys/toy").unwrap(), TOY);
        for wrong in
            ["toys/toy", "github.com/toys/toy/x", "github.com/-toys/toy", "github.com/../toy", "a@b/c/d", ""]
        {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
