//! What the notes of one agent add up to.

use super::{Kind, Note};

/// What an agent's harness has reported so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// Whether its harness was started so that it reports.
    pub reports: bool,
    /// What it was doing when it was last heard of.
    pub doing: Doing,
    /// Since when, RFC 3339 UTC; empty as long as nothing was heard.
    pub since: String,
    /// The limit that ended its last turn, even if its conversation has ended since.
    pub limit: Option<Limit>,
    /// What it asks and nobody has answered, oldest first.
    pub asked: Vec<Note>,
    /// The harness's name for the conversation.
    pub session: Option<String>,
    /// The harness's own record of the conversation.
    pub transcript: Option<String>,
    /// How many tokens the conversation has taken so far.
    pub tokens: Option<u64>,
    /// What it has cost so far, in millionths of a dollar.
    pub cost: Option<u64>,
}

/// What an agent was last heard to do, apart from what it asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// Nothing was heard.
    #[default]
    Unknown,
    /// It has begun, and has no prompt yet.
    Started,
    /// It thinks.
    Thinking,
    /// It runs a tool.
    Tool {
        /// The tool.
        tool: String,
        /// What it was given.
        text: String,
    },
    /// It waits for a prompt.
    Idle,
    /// Its turn was ended by an error.
    Failed {
        /// What the harness says.
        text: String,
    },
    /// Its turn was ended by a limit.
    Limit(Limit),
    /// The conversation is over.
    Ended,
}

/// A limit of its provider that an agent has met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// When it is over, RFC 3339 UTC, where the harness says so.
    pub until: Option<String>,
    /// What the harness says.
    pub text: String,
}

impl Activity {
    /// What these notes tell of the agent of this spawn.
    pub fn of(notes: &[Note], spawn: u32) -> Activity {
        let mut activity = Activity::default();
        for note in notes.iter().filter(|note| note.spawn == spawn) {
            activity.apply(note);
        }
        activity
    }

    fn apply(&mut self, note: &Note) {
        let newer = |new: &Option<String>, old: &mut Option<String>| {
            if new.is_some() {
                old.clone_from(new);
            }
        };
        newer(&note.session, &mut self.session);
        newer(&note.transcript, &mut self.transcript);
        self.tokens = note.tokens.or(self.tokens);
        self.cost = note.cost.or(self.cost);
        let text = || note.text.clone().unwrap_or_default();
        match note.kind {
            // A conversation that is made shorter begins anew in the middle of a turn.
            Kind::Started if self.doing != Doing::Unknown && self.doing != Doing::Ended => {}
            Kind::Started => self.now(Doing::Started, note),
            Kind::Prompt => {
                self.limit = None;
                self.turn(Doing::Thinking, note);
            }
            Kind::Tool => {
                self.now(Doing::Tool { tool: note.tool.clone().unwrap_or_default(), text: text() }, note);
            }
            Kind::ToolEnded => {
                self.asked.retain(|asked| (&asked.tool, &asked.text) != (&note.tool, &note.text));
                self.now(Doing::Thinking, note);
            }
            Kind::Permission | Kind::Question => {
                // A request that can no longer be answered from outside is noted a second time.
                self.asked.retain(|asked| (&asked.tool, &asked.text) != (&note.tool, &note.text));
                self.asked.push(note.clone());
            }
            Kind::Answered => self.asked.retain(|asked| asked.request != note.request),
            Kind::Idle => self.turn(Doing::Idle, note),
            Kind::Failed => self.turn(Doing::Failed { text: text() }, note),
            Kind::Limit => {
                let limit = Limit { until: note.until.clone(), text: text() };
                self.limit = Some(limit.clone());
                self.turn(Doing::Limit(limit), note);
            }
            Kind::Ended => self.turn(Doing::Ended, note),
            Kind::Reports => self.reports = true,
            Kind::Other => {}
        }
    }

    /// A turn begins or ends: nothing is asked any more.
    fn turn(&mut self, doing: Doing, note: &Note) {
        self.asked.clear();
        self.now(doing, note);
    }

    fn now(&mut self, doing: Doing, note: &Note) {
        if self.doing != doing {
            self.since.clone_from(&note.time);
        }
        self.doing = doing;
    }
}
