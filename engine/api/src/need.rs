//! Need of a task or a mission, as a part of several answers.

use orange_core::need;
use serde::{Deserialize, Serialize};

/// Need of a task or a mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Need {
    /// `permission`, `question`, `idle-without-artifact`, `crashed`, `stuck`, `review-ready`, `budget`, `paused`, `conflict`, `checks-red`
    /// or `hook-failed` need a person; `limit`, `queued`, `working` and `over` need nobody.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub kind: need::NeedKind,
    /// True if it needs a person.
    pub person: bool,
    /// Time of its begin, RFC 3339 UTC; null if unknown.
    pub since: Option<String>,
    /// One sentence without a duration.
    pub why: String,
    /// The number of the agent that it is about.
    pub agent: Option<u32>,
    /// The tool that this agent asks about.
    pub tool: Option<String>,
    /// Argument of the tool, or the question.
    pub argument: Option<String>,
    /// The name of the request; null when it can only be answered on the agent's screen.
    pub request: Option<String>,
    /// End of a limit, RFC 3339 UTC.
    pub until: Option<String>,
    /// The verdict of work that is ready for a person: `PASS`, `FAIL`, or another one of the workflow.
    #[cfg_attr(feature = "schemas", schemars(with = "Option<String>"))]
    pub verdict: Option<String>,
    /// The round of review of work that is ready for a person.
    pub round: Option<u32>,
    /// The size of work that is ready for a person; null when git cannot tell it.
    pub change: Option<ChangeSize>,
    /// All actions of a person: first those that the engine accepts now, the most likely before all others.
    pub actions: Vec<NeedAction>,
}

/// Action of a person, offered or refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NeedAction {
    /// `allow`, `deny`, `send`, `attach`, `logs`, `spawn`, `respawn`, `restart`, `retry-hooks`, `seen`, `merge`, `create-pr`, `open`,
    /// `refresh`, `status`, `resolve`, `add-budget`, `continue`, `retry`, `accept`, `cancel`, `undo` or `delete`.
    pub name: ActionName,
    /// The arguments of `orange` that do it.
    pub command: Vec<String>,
    /// Two or three words for a button or a menu.
    pub label: String,
    /// Keys of the dashboard, the shown one first; none for what stands in its menu alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<Vec<String>>"))]
    pub keys: Vec<String>,
    /// The state to which it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// True if it gives judged work back to the worker; a text of the person may follow as `--feedback`.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<bool>"))]
    pub returns: bool,
    /// True if a text of the person follows as the last argument.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<bool>"))]
    pub text: bool,
    /// Kind of output that it has for the person, where it changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<Shows>,
    /// Consequence that a person agrees to first, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Reason why it is refused now; absent for what the engine accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// Kind of output that an action has for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// The session of an agent, on the terminal of the person.
    Session,
    /// A text, on the terminal of the person.
    Text,
    /// A page, in the browser of the person.
    Page,
}

/// Name of an action of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ActionName {
    /// Allows what an agent asks.
    Allow,
    /// Denies what an agent asks.
    Deny,
    /// Sends a message to an agent.
    Send,
    /// Shows the session on the terminal.
    Attach,
    /// Shows the transcript of the last agent.
    Logs,
    /// Starts a task that waits for its start.
    Spawn,
    /// Starts the agent of the state again.
    Respawn,
    /// Ends a living agent and starts it again.
    Restart,
    /// Runs the hooks that wait.
    RetryHooks,
    /// Confirms the call for attention.
    Seen,
    /// Merges the work.
    Merge,
    /// Opens a pull request.
    CreatePr,
    /// Shows the pull request in a browser.
    Open,
    /// Asks the forge about the pull request now.
    Refresh,
    /// Takes the transition to a state.
    Status,
    /// Gives a conflict with the base to the worker.
    Resolve,
    /// Gives the task more budget.
    AddBudget,
    /// Answers a pause: the mission goes on.
    Continue,
    /// Answers a pause: the failure stays.
    Accept,
    /// Answers the question of a step.
    Answer,
    /// Runs a failed mission again.
    Retry,
    /// Ends the task or mission.
    Cancel,
    /// Takes a cancellation back.
    Undo,
    /// Removes a task or mission that is over.
    Delete,
}

impl ActionName {
    /// Its word in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            ActionName::Allow => "allow",
            ActionName::Deny => "deny",
            ActionName::Send => "send",
            ActionName::Attach => "attach",
            ActionName::Logs => "logs",
            ActionName::Spawn => "spawn",
            ActionName::Respawn => "respawn",
            ActionName::Restart => "restart",
            ActionName::RetryHooks => "retry-hooks",
            ActionName::Seen => "seen",
            ActionName::Merge => "merge",
            ActionName::CreatePr => "create-pr",
            ActionName::Open => "open",
            ActionName::Refresh => "refresh",
            ActionName::Status => "status",
            ActionName::Resolve => "resolve",
            ActionName::AddBudget => "add-budget",
            ActionName::Continue => "continue",
            ActionName::Accept => "accept",
            ActionName::Answer => "answer",
            ActionName::Retry => "retry",
            ActionName::Cancel => "cancel",
            ActionName::Undo => "undo",
            ActionName::Delete => "delete",
        }
    }
}

/// The size of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Change"))]
pub struct ChangeSize {
    /// The number of commits that the base lacks.
    pub commits: u32,
    /// The number of files that differ from the base.
    pub files: u32,
    /// The number of lines that were added.
    pub added: u32,
    /// The number of lines that were removed.
    pub removed: u32,
}

impl Need {
    /// True if the work has ended.
    pub fn is_over(&self) -> bool {
        self.kind == need::NeedKind::Over
    }

    /// Actions that the engine accepts now and that lead the work on, the most likely first.
    pub fn answers(&self) -> impl Iterator<Item = &NeedAction> {
        self.actions.iter().filter(|action| action.is_open() && !action.keys.is_empty())
    }
}

impl NeedAction {
    /// True if it is accepted now.
    pub fn is_open(&self) -> bool {
        self.refusal.is_none()
    }

    /// True if it answers what an agent asks, which the person must have seen.
    pub fn answers_request(&self) -> bool {
        matches!(self.name, ActionName::Allow | ActionName::Deny)
    }

    /// True if a person writes a text with it: a message, or, if they like, the reason why work goes back or a comment on an answer.
    pub fn takes_text(&self) -> bool {
        self.text || self.returns || self.takes_comment()
    }

    /// True if it answers the question of a step, to which a person may write a comment.
    pub fn takes_comment(&self) -> bool {
        self.name == ActionName::Answer
    }

    /// The arguments of `orange` that do it without a question. A text comes on the standard input.
    pub fn arguments(&self, has_text: bool) -> Vec<String> {
        let mut arguments = self.command.clone();
        let asks = matches!(self.name, ActionName::Merge | ActionName::Cancel | ActionName::Delete);
        if asks && !arguments.iter().any(|it| it == "--yes") {
            arguments.push("--yes".to_owned());
        }
        if has_text {
            let word = match self {
                _ if self.returns => "--feedback=-",
                _ if self.takes_comment() => "--comment=-",
                _ => "-",
            };
            arguments.push(word.to_owned());
        }
        arguments
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(holds: &bool) -> bool {
    !holds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_becomes_arguments_that_ask_nothing() {
        let action = |name: ActionName, command: &[&str]| {
            let command = command.iter().map(|it| (*it).to_owned()).collect();
            let label = name.as_str().to_owned();
            NeedAction {
                name,
                command,
                label,
                keys: Vec::new(),
                to: None,
                returns: false,
                text: false,
                shows: None,
                warning: None,
                refusal: None,
            }
        };
        let merge = action(ActionName::Merge, &["task", "merge", "t1"]);
        assert_eq!(merge.arguments(false), ["task", "merge", "t1", "--yes"]);
        let cancel = action(ActionName::Cancel, &["task", "cancel", "t1", "--yes"]);
        assert_eq!(cancel.arguments(false), cancel.command);
        let send = NeedAction { text: true, ..action(ActionName::Send, &["task", "send", "t1"]) };
        assert_eq!(send.arguments(true), ["task", "send", "t1", "-"]);
        let back = action(ActionName::Status, &["task", "update", "t1", "--status", "working"]);
        let back = NeedAction { returns: true, ..back };
        assert_eq!(back.arguments(false), back.command);
        assert_eq!(back.arguments(true).last().map(String::as_str), Some("--feedback=-"));
        let answer = action(ActionName::Answer, &["mission", "answer", "m1", "approve", "reject"]);
        assert!(answer.takes_text() && answer.arguments(false) == answer.command);
        assert_eq!(answer.arguments(true).last().map(String::as_str), Some("--comment=-"));
    }
}
