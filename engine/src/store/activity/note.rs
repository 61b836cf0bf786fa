//! A line of `activity.jsonl`.

use serde::{Deserialize, Serialize};

use orange_system::clock;

/// A report of a harness about one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActivityNote {
    /// Time of the report, RFC 3339 UTC.
    pub time: String,
    /// The number of the agent's spawn.
    pub spawn: u32,
    /// Event that it reports.
    pub kind: NoteKind,
    /// The tool, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The tool's argument, a question or a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// True if the text is all that the tool would get.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_whole: bool,
    /// The id of a request that can be answered from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The process that waits for that answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Start of that process, in clock ticks since boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// End of a limit, RFC 3339 UTC, if the harness reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The harness's id of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The harness's own record of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// Number of tokens that the conversation has used so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Its cost so far, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
}

/// NoteKind of event that a note reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// The harness was started so that it reports.
    Reports,
    /// The harness has begun a conversation.
    Started,
    /// It works on a prompt.
    Prompt,
    /// It runs a tool.
    Tool,
    /// A tool has ended.
    ToolEnded,
    /// It asks whether it may use a tool.
    Permission,
    /// It asks something else.
    Question,
    /// A request was answered from outside.
    Answered,
    /// Its turn is over: it waits for a prompt.
    Idle,
    /// Its turn was ended by an error.
    Failed,
    /// Its turn was ended by a limit of its provider.
    Limit,
    /// The conversation has ended.
    Ended,
    /// Its wall has refused a host, the note's tool, as many times as the text says.
    Refused,
    /// A note with figures only, or of a newer version.
    #[default]
    #[serde(other)]
    Other,
}

/// The longest text of a note, in bytes.
const LONGEST_TEXT: usize = 8000;

/// The longest text of a note in a sentence, in bytes.
const LONGEST_SENTENCE: usize = 2000;

impl ActivityNote {
    /// A note of the current time.
    pub fn now(spawn: u32, kind: NoteKind) -> ActivityNote {
        ActivityNote { time: clock::now(), spawn, kind, ..ActivityNote::default() }
    }

    /// Its text on one line, for sentences.
    pub fn line(&self) -> String {
        bounded(self.text.as_deref().unwrap_or_default(), LONGEST_SENTENCE)
    }

    /// A copy of the note, cut to the bounds of a line. Its text stays as it was given: a person decides from it what
    /// an agent may do.
    #[must_use]
    pub fn bounded(&self) -> ActivityNote {
        let cut = |text: &Option<String>, longest| text.as_ref().map(|text| bounded(text, longest));
        ActivityNote {
            tool: cut(&self.tool, 200),
            text: self.text.as_deref().map(verbatim),
            is_whole: self.is_whole && self.text.as_ref().is_some_and(|text| text.len() <= LONGEST_TEXT),
            request: cut(&self.request, 200),
            until: cut(&self.until, 40),
            session: cut(&self.session, 200),
            transcript: cut(&self.transcript, 4096),
            ..self.clone()
        }
    }
}

/// The text, or its beginning with a last line that says how much is missing.
fn verbatim(text: &str) -> String {
    if text.len() <= LONGEST_TEXT {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(LONGEST_TEXT - 100)];
    format!("{kept}\n… and {} more bytes, which only the agent's screen shows", text.len() - kept.len())
}

/// The beginning of the text, at most `longest` bytes, without control characters.
fn bounded(text: &str, longest: usize) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let mut kept = String::new();
    for letter in text.chars().map(plain) {
        if kept.len() + letter.len_utf8() > longest {
            break;
        }
        kept.push(letter);
    }
    kept
}
