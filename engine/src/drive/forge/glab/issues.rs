//! Labelled issues on GitLab, with the events of their labels, and comments on them.

use orange_api::Permission;
use serde::{Deserialize, Serialize};

use super::super::issues::{MOST_PAGES, millis};
use super::super::{AppliedLabel, Author, Issue, LabelledIssue, LabelledIssues};
use super::discussion::is_bot;
use super::{Glab, asked, encoded, posted, without_quick_actions};
use crate::{Error, ErrorKind, Result};

/// The most entries of an answer, which GitLab fixes.
const PAGE: usize = 100;

/// Beginnings of the notes that GitLab writes when a title or a text changes.
const EDITS: &[&str] = &["changed title", "changed the description", "marked the "];

#[derive(Deserialize)]
struct ListedProject {
    web_url: String,
}

#[derive(Deserialize)]
struct ListedIssue {
    iid: u64,
    title: String,
    description: Option<String>,
    web_url: String,
    state: String,
    author: Option<User>,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize)]
struct ListedEvent {
    id: u64,
    user: Option<User>,
    created_at: String,
    /// Null once the label is deleted.
    label: Option<Label>,
    action: String,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

#[derive(Deserialize)]
struct Note {
    body: String,
    author: Option<User>,
    created_at: String,
    #[serde(default)]
    system: bool,
}

#[derive(Deserialize)]
struct Link {
    iid: u64,
    state: String,
    web_url: String,
    link_type: String,
}

#[derive(Deserialize)]
struct Assigned {
    assignees: Vec<Assignee>,
}

#[derive(Deserialize)]
struct Assignee {
    id: u64,
}

#[derive(Serialize)]
struct NewAssignees {
    assignee_ids: [u64; 1],
}

#[derive(Serialize)]
struct NewNote {
    body: String,
}

impl Glab {
    /// The host and the path of the project.
    pub fn repository(&self) -> Result<String> {
        let answer = asked(self.call(&["api", "projects/:fullpath"]))?;
        let shown: Option<ListedProject> = serde_json::from_slice(&answer.stdout).ok();
        let path =
            shown.as_ref().and_then(|it| without_scheme(&it.web_url)).filter(|path| place(path).is_ok());
        path.map(str::to_owned).ok_or_else(|| super::unclear(&answer))
    }

    /// The open issues with a label. Known ones come without the answers to further questions.
    pub fn labelled(
        &self,
        repository: &str,
        label: &str,
        is_known: &dyn Fn(u64, Option<&str>) -> bool,
    ) -> Result<LabelledIssues> {
        let (host, project) = place(repository)?;
        let of = format!("projects/{}/issues", encoded(project));
        let asked = format!("labels={}&state=opened&order_by=created_at&sort=asc", encoded(label));
        let mut found = LabelledIssues::default();
        for page in 1..=MOST_PAGES {
            let listed: Vec<ListedIssue> =
                self.read(host, &format!("{of}?{asked}&per_page={PAGE}&page={page}"))?;
            found.has_more = listed.len() >= PAGE;
            for issue in listed {
                found.issues.push(self.labelled_issue(host, (repository, &of), issue, label, is_known)?);
            }
            if !found.has_more {
                break;
            }
        }
        Ok(found)
    }

    fn labelled_issue(
        &self,
        host: &str,
        (repository, of): (&str, &str),
        listed: ListedIssue,
        label: &str,
        is_known: &dyn Fn(u64, Option<&str>) -> bool,
    ) -> Result<LabelledIssue> {
        let number = listed.iid;
        let mut issue = listed.read().ok_or_else(|| unclear("the state of an issue"))?;
        if is_known(number, None) {
            return Ok(issue);
        }
        let of = format!("{of}/{number}");
        let mut events: Vec<ListedEvent> = Vec::new();
        for page in 1..=MOST_PAGES {
            let asked: Vec<ListedEvent> =
                self.read(host, &format!("{of}/resource_label_events?per_page={PAGE}&page={page}"))?;
            let is_last = asked.len() < PAGE;
            events.extend(asked);
            if is_last {
                break;
            }
        }
        issue.label = applied(events, label).ok_or_else(|| unclear("an event of a label"))?;
        let Some(applied) = issue.label.as_ref().filter(|label| !is_known(number, Some(&label.id))) else {
            return Ok(issue);
        };
        let notes: Vec<Note> =
            self.read(host, &format!("{of}/notes?sort=desc&order_by=created_at&per_page={PAGE}"))?;
        issue.edited_at = edited_at(&notes, applied.at).ok_or_else(|| unclear("the time of a note"))?;
        let links: Vec<Link> = self.read(host, &format!("{of}/links"))?;
        issue.blockers = blockers(links, repository).ok_or_else(|| unclear("a link of an issue"))?;
        Ok(issue)
    }

    /// Those of these issues that are closed. One that is gone is not among them.
    pub fn closed(&self, repository: &str, numbers: &[u64]) -> Result<Vec<u64>> {
        let (host, project) = place(repository)?;
        let mut closed = Vec::new();
        for number in numbers {
            let endpoint = format!("projects/{}/issues/{number}", encoded(project));
            match self.read::<ListedIssue>(host, &endpoint) {
                Ok(issue) if issue.state == "closed" => closed.push(*number),
                Ok(_) => {}
                Err(error) if error.message.contains("HTTP 404") => {}
                Err(error) => return Err(error),
            }
        }
        Ok(closed)
    }

    /// True if this account has posted a comment with this mark on an issue.
    pub fn has_comment(&self, repository: &str, number: u64, mark: &str) -> Result<bool> {
        let (host, project) = place(repository)?;
        let user: User = self.read(host, "user")?;
        let of = format!("projects/{}/issues/{number}/notes", encoded(project));
        let notes: Vec<Note> =
            self.read(host, &format!("{of}?sort=desc&order_by=created_at&per_page={PAGE}"))?;
        let is_own = |note: &Note| note.author.as_ref().is_some_and(|it| it.username == user.username);
        Ok(notes.iter().any(|note| is_own(note) && note.body.contains(mark)))
    }

    /// Assigns an issue to this account, unless it is another account's: not every edition takes several.
    pub fn claim(&self, repository: &str, number: u64) -> Result<()> {
        let (host, project) = place(repository)?;
        let endpoint = format!("projects/{}/issues/{number}", encoded(project));
        let issue: Assigned = self.read(host, &endpoint)?;
        if !issue.assignees.is_empty() {
            return Ok(());
        }
        let user: Assignee = self.read(host, "user")?;
        let call = self.call(&["api", &endpoint, "--hostname", host, "--method", "PUT", "--input", "-"]);
        asked(posted(call, &NewAssignees { assignee_ids: [user.id] })?).map(drop)
    }

    /// Adds a comment to an issue.
    pub fn comment(&self, repository: &str, number: u64, text: &str) -> Result<()> {
        let (host, project) = place(repository)?;
        let endpoint = format!("projects/{}/issues/{number}/notes", encoded(project));
        let call = self.call(&["api", &endpoint, "--hostname", host, "--method", "POST", "--input", "-"]);
        asked(posted(call, &NewNote { body: without_quick_actions(text) })?).map(drop)
    }

    /// The permission of an account in a project.
    pub fn permission_in(&self, repository: &str, login: &str) -> Result<Permission> {
        let (host, project) = place(repository)?;
        self.account(host, project, login)
    }
}

fn unclear(what: &str) -> Error {
    Error::new(ErrorKind::Environment, format!("`glab` said {what} that was not understood"))
        .help("repeat this; `glab --version` should be 1.36 or newer, and GitLab 15.6 or newer")
}

fn without_scheme(url: &str) -> Option<&str> {
    url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))
}

/// Takes `gitlab.com/group/name` apart.
fn place(repository: &str) -> Result<(&str, &str)> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['-', '.'])
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte))
    };
    let parts = repository.split_once('/');
    let parts = parts.filter(|(_, project)| project.contains('/') && repository.split('/').all(is_plain));
    parts.ok_or_else(|| {
        Error::new(
            ErrorKind::Environment,
            format!("`{}` is not a project on GitLab", repository.escape_debug()),
        )
        .help("`glab repo view` in the repository shows its address")
    })
}

impl ListedIssue {
    fn read(self) -> Option<LabelledIssue> {
        if self.state != "opened" {
            return None;
        }
        let ListedIssue { iid, title, description, web_url, author, .. } = self;
        let issue = Issue { number: iid, title, body: description.unwrap_or_default(), url: web_url };
        let author = author.map(User::read);
        Some(LabelledIssue { issue, author, label: None, edited_at: None, blockers: Vec::new() })
    }
}

impl User {
    fn read(self) -> Author {
        Author { is_bot: is_bot(&self.username), login: self.username, is_self: false }
    }
}

/// The last event by which an issue got the label; the outer `None` if a part of an event has no meaning.
fn applied(events: Vec<ListedEvent>, label: &str) -> Option<Option<AppliedLabel>> {
    let mut applied = None;
    for ListedEvent { id, user, created_at, label: of, action } in events {
        if of.is_none_or(|it| it.name.to_lowercase() != label.to_lowercase()) {
            continue;
        }
        let at = millis(&created_at)?;
        applied = match action.as_str() {
            "add" => Some(AppliedLabel { id: id.to_string(), by: user.map(User::read), at }),
            "remove" => None,
            _ => return None,
        };
    }
    Some(applied)
}

/// Time of the last edit that these notes tell of, the newest first; the outer `None` if a time has no meaning. Where they end before the
/// label, an edit may have come before them: the oldest of them counts as one.
fn edited_at(notes: &[Note], labelled_at: u64) -> Option<Option<u64>> {
    let is_edit =
        |note: &&Note| note.system && EDITS.iter().any(|beginning| note.body.starts_with(beginning));
    if let Some(note) = notes.iter().find(is_edit) {
        return millis(&note.created_at).map(Some);
    }
    let oldest = notes.last().filter(|_| notes.len() >= PAGE).map(|note| millis(&note.created_at).ok_or(()));
    Some(oldest.transpose().ok()?.filter(|oldest| *oldest >= labelled_at))
}

fn blockers(links: Vec<Link>, repository: &str) -> Option<Vec<Option<u64>>> {
    let mut blockers = Vec::new();
    for Link { iid, state, web_url, .. } in links.into_iter().filter(|link| link.link_type == "is_blocked_by")
    {
        let rest = without_scheme(&web_url)?.strip_prefix(repository);
        let is_own = rest.is_some_and(|rest| rest.starts_with("/-/") || rest.starts_with("/issues/"));
        match state.as_str() {
            "opened" => blockers.push(is_own.then_some(iid)),
            "closed" => {}
            _ => return None,
        }
    }
    Some(blockers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u64, action: &str, label: &str) -> String {
        format!(
            r#"{{"id":{id},"user":{{"id":1,"name":"Ada","username":"ada","state":"active"}},"created_at":"2026-11-20T10:00:00.077Z",
            "resource_type":"Issue","resource_id":253,"label":{{"id":73,"name":"{label}","color":"\#34495E"}},"action":"{action}"}}"#
        )
        .replace("\\#", "#")
    }

    fn events(all: &[String]) -> Vec<ListedEvent> {
        serde_json::from_str(&format!("[{}]", all.join(","))).unwrap()
    }

    #[test]
    fn a_label_that_was_removed_has_no_event() {
        let add = |id| event(id, "add", "agent");
        let found = |all: &[String]| applied(events(all), "agent").map(|it| it.map(|it| it.id));
        assert_eq!(found(&[add(142), event(143, "add", "bug")]), Some(Some("142".to_owned())));
        assert_eq!(found(&[add(142), event(143, "remove", "agent")]), Some(None));
        assert_eq!(found(&[add(142), event(143, "remove", "Agent"), add(144)]), Some(Some("144".to_owned())));
        assert_eq!(found(&[event(142, "replace", "agent")]), None);
        let label = applied(events(&[add(142)]), "agent").flatten().unwrap();
        assert_eq!((label.at, label.by.unwrap().login.as_str()), (1_795_168_800_077, "ada"));
        let mut gone = events(&[add(142)]);
        (gone[0].user, gone[0].label) = (None, None);
        assert_eq!(applied(gone, "agent"), Some(None));
    }

    fn note(system: bool, body: &str, time: &str) -> Note {
        let json = format!(
            r#"{{"id":1,"body":"{body}","author":{{"username":"ada"}},"created_at":"{time}","system":{system}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn notes_of_gitlab_tell_of_edits() {
        let (early, late) = ("2026-11-20T10:00:00.000Z", "2026-11-20T11:00:00.000Z");
        let ten = 1_795_168_800_000;
        for (body, expect) in [
            ("changed title from **a** to **b**", Some(ten)),
            ("changed the description", Some(ten)),
            ("marked the checklist item **a** as completed", Some(ten)),
            ("mentioned in issue #7", None),
            ("assigned to @ada", None),
        ] {
            let notes = [note(true, "assigned to @ada", late), note(true, body, early)];
            assert_eq!(edited_at(&notes, ten), Some(expect), "{body}");
        }
        assert_eq!(edited_at(&[note(false, "changed the description", early)], 0), Some(None));
        assert_eq!(edited_at(&[note(true, "changed title", "now")], 0), None);
        let many: Vec<Note> = (0..PAGE).map(|_| note(false, "x", early)).collect();
        assert_eq!((edited_at(&many, ten), edited_at(&many, ten + 1)), (Some(Some(ten)), Some(None)));
    }

    #[test]
    fn only_open_issues_block() {
        let link = |iid: u64, kind: &str, state: &str, path: &str| {
            let url = format!("https://gitlab.com/{path}/-/issues/{iid}");
            format!(r#"{{"iid":{iid},"state":"{state}","web_url":"{url}","link_type":"{kind}"}}"#)
        };
        let read = |all: &[String]| {
            let links = serde_json::from_str(&format!("[{}]", all.join(","))).unwrap();
            blockers(links, "gitlab.com/toys/toy")
        };
        let all = [
            link(1, "is_blocked_by", "opened", "toys/toy"),
            link(2, "is_blocked_by", "closed", "toys/toy"),
            link(3, "blocks", "opened", "toys/toy"),
            link(4, "is_blocked_by", "opened", "toys/toy-2"),
        ];
        assert_eq!(read(&all), Some(vec![Some(1), None]));
        assert_eq!(read(&[link(1, "is_blocked_by", "asleep", "toys/toy")]), None);
    }

    #[test]
    fn an_issue_in_an_unknown_state_is_none() {
        let read = |state: &str| {
            let json = format!(
                r#"{{"iid":42,"title":"Log in","description":null,"web_url":"https://gitlab.com/toys/toy/-/issues/42",
                "state":"{state}","author":{{"username":"project_2_bot_3f"}}}}"#
            );
            serde_json::from_str::<ListedIssue>(&json).unwrap().read()
        };
        let issue = read("opened").unwrap();
        assert_eq!((issue.issue.number, issue.author.unwrap().is_bot), (42, true));
        assert_eq!(read("locked"), None);
    }

    #[test]
    fn a_project_has_a_host_a_group_and_a_name() {
        assert_eq!(place("gitlab.com/toys/parts/toy").unwrap(), ("gitlab.com", "toys/parts/toy"));
        for wrong in
            ["toy", "gitlab.com/toy", "gitlab.com/../toy", "--web/toys/toy", "gitlab.com/toys/:id/%2e"]
        {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
