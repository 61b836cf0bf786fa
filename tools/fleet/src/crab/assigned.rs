//! Messages of a gateway to a crab.

use serde::{Deserialize, Serialize};

/// An attempt that a crab is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assigned {
    /// The run: `<mission>.<step>.<attempt>`.
    pub run_id: String,
    pub mission_id: String,
    pub step_id: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// The role of the step.
    pub role: String,
    /// The prompt of its agent, whole but for the path of the worktree.
    pub prompt: String,
    /// The text that stands in the prompt for the path of the worktree.
    #[serde(default)]
    pub worktree_token: Option<String>,
    /// The branch of the mission.
    pub branch: String,
    /// The repository: an address or a path for git.
    pub repository: String,
    /// The branch that work starts from; the repository's own if none is named.
    #[serde(default)]
    pub base: Option<String>,
    /// The harness that the step names.
    #[serde(default)]
    pub harness: Option<String>,
    /// Permissions of its agent, which it has without asking: `full` or `reduced`.
    #[serde(default)]
    pub permissions: Option<String>,
    /// The results that it may report; any word if there are none.
    #[serde(default)]
    pub results: Vec<String>,
    /// True if it must report one.
    #[serde(default)]
    pub needs_result: bool,
    /// The seconds that the attempt may take.
    #[serde(default)]
    pub timeout: Option<u32>,
    /// Number of ends without a word, one after the other, that fail it.
    #[serde(default)]
    pub stuck_after: Option<u32>,
}

/// A message to a crab. Those of newer gateways that this version does not know are passed over.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type")]
pub enum Message {
    /// It has this attempt.
    TaskAssigned(Box<Assigned>),
    /// It ends the agent of a run, and keeps its work.
    EndAgent { run_id: String },
    /// The gateway stops, and answers again after this time.
    Retry {
        /// In milliseconds.
        after_ms: u64,
    },
    /// A message of a newer gateway.
    #[serde(other)]
    Unknown,
}

impl Assigned {
    /// The prompt with the path of the worktree.
    pub fn prompt_in(&self, worktree: &str) -> String {
        match self.worktree_token.as_deref().filter(|token| !token.is_empty()) {
            Some(token) => self.prompt.replace(token, worktree),
            None => self.prompt.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_unknown_ones_passed_over() {
        let text = r#"[{"type":"TaskAssigned","run_id":"m.plan.1","mission_id":"m","step_id":"plan","attempt":1,
            "role":"planner","prompt":"In @W: do","worktree_token":"@W","branch":"b","repository":"r","base":null,
            "harness":null,"worktree_path":null,"context":"","results":["PASS"],"needs_result":true},
            {"type":"EndAgent","run_id":"m.plan.1","mission_id":"m","attempt":1},
            {"type":"Retry","after_ms":5},{"type":"Dance","how":"well"}]"#;
        let messages: Vec<Message> = serde_json::from_str(text).unwrap();
        let [Message::TaskAssigned(assigned), end, retry, unknown] = &messages[..] else { panic!() };
        assert_eq!(assigned.prompt_in("/w"), "In /w: do");
        assert_eq!(assigned.results, ["PASS"]);
        assert_eq!(*end, Message::EndAgent { run_id: "m.plan.1".to_owned() });
        assert_eq!(*retry, Message::Retry { after_ms: 5 });
        assert_eq!(*unknown, Message::Unknown);
    }
}
