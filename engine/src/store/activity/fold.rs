//! Activity of one agent: the state that its notes fold to.

use std::collections::BTreeMap;

use super::{ActivityNote, NoteKind};

/// The state that the reports of an agent's harness fold to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// True if its harness was started so that it reports.
    pub reports: bool,
    /// Its activity by the last report.
    pub doing: ReportedDoing,
    /// Since when, RFC 3339 UTC; empty before the first report.
    pub since: String,
    /// The limit that ended its last turn, even if its conversation has ended since.
    pub limit: Option<ReportedLimit>,
    /// The hosts that its wall has refused, and how often, to about a factor of ten.
    pub refused: BTreeMap<String, u64>,
    /// Its requests that nobody has answered, oldest first.
    pub asked: Vec<ActivityNote>,
    /// The harness's id of the conversation.
    pub session: Option<String>,
    /// The harness's own record of the conversation.
    pub transcript: Option<String>,
    /// Number of tokens that the conversation has used so far.
    pub tokens: Option<u64>,
    /// Its cost so far, in millionths of a dollar.
    pub cost: Option<u64>,
}

/// Activity of an agent by the last report, apart from its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReportedDoing {
    /// There was no report.
    #[default]
    Unknown,
    /// It has begun, and has no prompt yet.
    Started,
    Thinking,
    /// It runs a tool.
    Tool {
        tool: String,
        /// Its argument.
        text: String,
    },
    /// It waits for a prompt.
    Idle,
    /// Its turn was ended by an error.
    Failed {
        /// Message of the harness.
        text: String,
    },
    /// Its turn was ended by a limit.
    Limit(ReportedLimit),
    /// The conversation has ended.
    Ended,
}

/// A limit of its provider that an agent has met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedLimit {
    /// Its end, RFC 3339 UTC, if the harness reports it.
    pub until: Option<String>,
    /// Message of the harness.
    pub text: String,
}

impl Activity {
    /// Adds up the notes about the agent of this spawn.
    pub fn of(notes: &[ActivityNote], spawn: u32) -> Activity {
        let mut activity = Activity::default();
        for note in notes.iter().filter(|note| note.spawn == spawn) {
            activity.apply(note);
        }
        activity
    }

    fn apply(&mut self, note: &ActivityNote) {
        let newer = |new: &Option<String>, old: &mut Option<String>| {
            if new.is_some() {
                old.clone_from(new);
            }
        };
        newer(&note.session, &mut self.session);
        newer(&note.transcript, &mut self.transcript);
        self.tokens = note.tokens.or(self.tokens);
        self.cost = note.cost.or(self.cost);
        let text = || note.line();
        match note.kind {
            // Compacting a conversation starts it again in the middle of a turn.
            NoteKind::Started
                if self.doing != ReportedDoing::Unknown && self.doing != ReportedDoing::Ended => {}
            NoteKind::Started => self.now(ReportedDoing::Started, note),
            NoteKind::Prompt => {
                self.limit = None;
                self.turn(ReportedDoing::Thinking, note);
            }
            NoteKind::Tool => {
                self.now(
                    ReportedDoing::Tool { tool: note.tool.clone().unwrap_or_default(), text: text() },
                    note,
                );
            }
            NoteKind::ToolEnded => {
                self.asked.retain(|asked| (&asked.tool, &asked.text) != (&note.tool, &note.text));
                self.now(ReportedDoing::Thinking, note);
            }
            NoteKind::Permission | NoteKind::Question => {
                // Who asks works, even if the harness has reported nothing before.
                if self.doing == ReportedDoing::Unknown {
                    self.now(ReportedDoing::Thinking, note);
                }
                // The harness repeats a request that can no longer be answered from outside.
                self.asked.retain(|asked| (&asked.tool, &asked.text) != (&note.tool, &note.text));
                self.asked.push(note.clone());
            }
            NoteKind::Answered => self.asked.retain(|asked| asked.request != note.request),
            NoteKind::Idle => self.turn(ReportedDoing::Idle, note),
            NoteKind::Failed => self.turn(ReportedDoing::Failed { text: text() }, note),
            NoteKind::Limit => {
                let limit = ReportedLimit { until: note.until.clone(), text: text() };
                self.limit = Some(limit.clone());
                self.turn(ReportedDoing::Limit(limit), note);
            }
            NoteKind::Ended => self.turn(ReportedDoing::Ended, note),
            NoteKind::Reports => self.reports = true,
            NoteKind::Refused => {
                let count = note.text.as_deref().and_then(|text| text.parse().ok()).unwrap_or(1);
                self.refused.insert(note.tool.clone().unwrap_or_default(), count);
            }
            NoteKind::Other => {}
        }
    }

    /// Records that a turn begins or ends, which withdraws all requests.
    fn turn(&mut self, doing: ReportedDoing, note: &ActivityNote) {
        self.asked.clear();
        self.now(doing, note);
    }

    fn now(&mut self, doing: ReportedDoing, note: &ActivityNote) {
        if self.doing != doing {
            self.since.clone_from(&note.time);
        }
        self.doing = doing;
    }
}
