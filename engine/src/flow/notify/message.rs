//! One message, in the forms that channels read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use orange_core::need::NeedKind;
use orange_core::notify::plain;
use serde::Serialize;

use super::seen::SeenNeed;
use crate::store::intake::WaitingIssue;
use crate::store::suggest;
use crate::{Error, ErrorKind, Result};
use orange_api::Need;

/// The longest text of an agent or a person in a message.
const LONGEST: usize = 300;

/// Number of needs that a text names at most.
const MOST_LINES: usize = 10;

/// A message about one or several needs. No text in it has a line break or a control character.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeedMessage {
    /// Subject, such as `permission: fix (toy)`.
    pub title: String,
    /// Reason, and for several needs a sentence for each.
    pub text: String,
    pub needs: Vec<NeedItem>,
    /// Buttons, which only ntfy shows.
    #[serde(skip)]
    pub buttons: Vec<Button>,
}

/// A button in the format of ntfy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Button {
    /// Sends a request.
    Http {
        label: Cow<'static, str>,
        method: &'static str,
        url: String,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
        body: String,
        /// True if the notification goes after that.
        clear: bool,
    },
    /// Opens a page.
    View { label: &'static str, url: String },
}

/// A need in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeedItem {
    /// The task's or the mission's id; empty for an issue.
    pub id: String,
    pub project: String,
    /// Branch, or `issue 42`.
    pub branch: String,
    /// Summary of the task or mission, or title of the issue.
    pub summary: String,
    /// The kind of the need.
    pub need: String,
    /// One sentence.
    pub why: String,
    /// Beginning of the need, RFC 3339 UTC; empty if unknown.
    pub since: String,
    /// The command that shows it.
    pub command: String,
}

/// Format that a server reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageFormat {
    /// Everything that is known, as JSON.
    Json,
    /// An incoming webhook of Slack, or of a program that reads the same.
    Slack,
    Ntfy,
}

/// Message in the format of Slack.
#[derive(Debug, Serialize)]
struct Slack {
    text: String,
}

/// Message in the format of ntfy.
#[derive(Debug, Serialize)]
struct Ntfy<'m> {
    topic: &'m str,
    title: &'m str,
    message: &'m str,
    #[serde(skip_serializing_if = "<[Button]>::is_empty")]
    actions: &'m [Button],
}

/// Reads a field of a message.
type MessageField = fn(&NeedMessage) -> String;

/// The fields of templates, each with its value in a message.
const FIELDS: [(&str, MessageField); 10] = [
    ("title", |message| message.title.clone()),
    ("text", |message| message.text.clone()),
    ("count", |message| message.needs.len().to_string()),
    ("id", |message| message.first(|item| &item.id)),
    ("project", |message| message.first(|item| &item.project)),
    ("branch", |message| message.first(|item| &item.branch)),
    ("summary", |message| message.first(|item| &item.summary)),
    ("need", |message| message.first(|item| &item.need)),
    ("why", |message| message.first(|item| &item.why)),
    ("since", |message| message.first(|item| &item.since)),
];

impl NeedMessage {
    /// The message about these needs.
    pub fn about(needs: Vec<NeedItem>) -> NeedMessage {
        if let [one] = &needs[..] {
            let title = format!("{}: {} ({})", one.need, one.branch, one.project);
            let text = [&one.why, &one.summary].map(String::as_str).into_iter().filter(|it| !it.is_empty());
            let text = text.collect::<Vec<_>>().join(" · ");
            return NeedMessage { title, text, needs, ..NeedMessage::default() };
        }
        let title = format!("{} tasks need you", needs.len());
        let shown = needs.iter().take(MOST_LINES).map(|it| format!("{}: {}: {}", it.branch, it.need, it.why));
        let left = needs.len().saturating_sub(MOST_LINES);
        let more = (left > 0).then(|| format!("and {left} more"));
        let text = shown.chain(more).collect::<Vec<_>>().join(" · ");
        NeedMessage { title, text, needs, ..NeedMessage::default() }
    }

    /// The message of `orange notify test`.
    pub fn test() -> NeedMessage {
        let text = "orange sends its messages here".to_owned();
        NeedMessage { title: "orange: a test".to_owned(), text, ..NeedMessage::default() }
    }

    /// The fields with their names.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        FIELDS.iter().map(|(name, value)| (*name, value(self)))
    }

    /// The message as JSON.
    pub fn written(&self) -> Result<String> {
        written(self)
    }

    /// The text of a request in this shape, and its address.
    pub fn posted(&self, shape: MessageFormat, url: &str) -> Result<(String, String)> {
        match shape {
            MessageFormat::Json => Ok((self.written()?, url.to_owned())),
            MessageFormat::Slack => {
                let text = without_mentions(&format!("{}\n{}", self.title, self.text));
                Ok((written(&Slack { text })?, url.to_owned()))
            }
            MessageFormat::Ntfy => {
                let (server, topic) = topic(url).unwrap_or((url, ""));
                let NeedMessage { title, text: message, buttons: actions, .. } = self;
                let body = Ntfy { topic, title, message, actions };
                Ok((written(&body)?, server.to_owned()))
            }
        }
    }

    fn first(&self, field: impl Fn(&NeedItem) -> &String) -> String {
        self.needs.first().map(|item| field(item).clone()).unwrap_or_default()
    }
}

impl NeedItem {
    /// A labelled issue that waits for a person.
    pub fn of_issue(project: &str, issue: &WaitingIssue) -> NeedItem {
        NeedItem {
            project: plain(project, LONGEST),
            branch: format!("issue {}", issue.number),
            summary: plain(&issue.title, LONGEST),
            need: NeedKind::Stuck.as_str().to_owned(),
            why: issue.rule().to_owned(),
            command: "orange intake".to_owned(),
            ..NeedItem::default()
        }
    }

    /// A need of a task or mission.
    pub fn of(seen: &SeenNeed) -> NeedItem {
        let SeenNeed { dir, name, branch, summary, need, .. } = seen;
        let Need { kind, why, since, .. } = need;
        NeedItem {
            id: dir.id.clone(),
            project: plain(&dir.project, LONGEST),
            branch: plain(branch, LONGEST),
            summary: plain(summary, LONGEST),
            need: kind.as_str().to_owned(),
            why: plain(why, LONGEST),
            since: since.clone().unwrap_or_default(),
            command: format!("orange {} show {name}", dir.kind.word()),
        }
    }
}

/// A word of a command with its fields replaced, each once. `{{` and `}}` are braces.
pub fn replaced(template: &str, message: &NeedMessage) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        text += &rest[..at];
        rest = &rest[at..];
        let name = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(name, _)| name);
        let field = name.and_then(|name| FIELDS.iter().find(|(known, _)| *known == name));
        let length = match (rest.starts_with("{{") || rest.starts_with("}}"), field) {
            (false, Some((name, value))) => {
                text += &value(message);
                name.len() + 2
            }
            (is_double, _) => {
                text += &rest[..1];
                1 + usize::from(is_double)
            }
        };
        rest = &rest[length..];
    }
    text + rest
}

/// Problem with a word of a command, if it has one.
pub fn flaw(template: &str) -> Option<String> {
    let single = template.replace("{{", "").replace("}}", "");
    let mut rest = single.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        let field = rest[at..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, after)) = field else {
            return Some(format!("`{template}` has a single brace; a brace is written as `{{{{` or `}}}}`"));
        };
        if !FIELDS.iter().any(|(known, _)| *known == name) {
            let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
            return Some(format!("`{{{name}}}` is not a field: {}", suggest::help(name, &names, "fields")));
        }
        rest = after;
    }
    None
}

/// The server and the topic in an address of ntfy.
pub fn topic(url: &str) -> Option<(&str, &str)> {
    let (server, topic) = url.trim_end_matches('/').rsplit_once('/')?;
    (!server.ends_with('/') && server.contains("://") && !topic.is_empty()).then_some((server, topic))
}

fn written(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot write the message: {cause}")))
}

/// The text for Slack, which gives three characters a meaning.
fn without_mentions(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::store::{WorkItemDir, WorkItemKind};

    pub(in crate::flow::notify) fn seen(branch: &str, summary: &str, why: &str) -> SeenNeed {
        let dir = WorkItemDir {
            kind: WorkItemKind::Task,
            project: "toy".to_owned(),
            id: "t1".to_owned(),
            path: std::path::PathBuf::new(),
        };
        let need = Need {
            kind: orange_core::need::NeedKind::Stuck,
            person: true,
            since: Some("2026-11-25T20:00:00Z".to_owned()),
            why: why.to_owned(),
            agent: None,
            tool: None,
            argument: None,
            request: None,
            until: None,
            verdict: None,
            round: None,
            change: None,
            actions: Vec::new(),
        };
        let name = dir.id.clone();
        SeenNeed {
            dir,
            name,
            branch: branch.to_owned(),
            summary: summary.to_owned(),
            need,
            is_whole: false,
            call: None,
            asked: None,
            ask: None,
        }
    }

    const HOSTILE: &str =
        "x\u{1b}]0;owned\u{7}\r\n$(touch pwned) `id` {why} <!channel> '\";rm -rf #(id) %H \u{202e}";

    #[test]
    fn a_message_says_what_is_needed_and_why() {
        let message = NeedMessage::about(vec![NeedItem::of(&seen("fix", "Mend it", "agent 1 is gone"))]);
        assert_eq!(message.title, "stuck: fix (toy)");
        assert_eq!(message.text, "agent 1 is gone · Mend it");
        let many: Vec<SeenNeed> = (0..12).map(|at| seen(&format!("b{at}"), "", "w")).collect();
        let message = NeedMessage::about(many.iter().map(NeedItem::of).collect());
        assert_eq!((message.title.as_str(), message.needs.len()), ("12 tasks need you", 12));
        assert!(message.text.starts_with("b0: stuck: w · b1") && message.text.ends_with("and 2 more"));
    }

    #[test]
    fn no_text_of_an_agent_is_more_than_text() {
        let message = NeedMessage::about(vec![NeedItem::of(&seen(HOSTILE, HOSTILE, HOSTILE))]);
        let all = message.written().unwrap();
        assert!(message.fields().all(|(_, value)| !value.chars().any(char::is_control)), "{all}");
        assert!(!all.contains("\\u00") && !all.contains('\u{202e}'), "{all}");
        // A field in a value is not a field.
        assert!(replaced("--text={why}", &message).contains("{why}"));
        let (slack, _) = message.posted(MessageFormat::Slack, "https://x").unwrap();
        assert!(slack.contains("&lt;!channel&gt;") && !slack.contains('<'), "{slack}");
    }

    #[test]
    fn fields_are_replaced_once() {
        let message = NeedMessage::about(vec![NeedItem::of(&seen("fix", "Mend {id}", "w"))]);
        assert_eq!(replaced("{{{branch}}} {summary} {count}{", &message), "{fix} Mend {id} 1{");
        for fit in ["", "plain", "{title}: {text}", "{{}}", "{{{id}}}"] {
            assert_eq!(flaw(fit), None, "{fit}");
        }
        for unfit in ["{", "}", "{titel}", "{}", "{ id }", "{title} }"] {
            assert!(flaw(unfit).is_some(), "{unfit}");
        }
    }

    #[test]
    fn ntfy_has_a_topic() {
        assert_eq!(topic("https://ntfy.sh/me"), Some(("https://ntfy.sh", "me")));
        assert_eq!(topic("http://localhost:80/a/me/"), Some(("http://localhost:80/a", "me")));
        assert_eq!(topic("https://ntfy.sh"), None);
        assert_eq!(topic("https://ntfy.sh/"), None);
    }
}
