//! Answers from a phone: the buttons of a message, the codes that they send, and the effect of each code that comes back.
//!
//! A code stands for one answer to one need on one channel. The book knows the SHA-256 of each code and never the code. The caller
//! has the time, the random bytes, the hashes and the messages; it writes the book down before it carries out what this module decides.

mod buttons;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

pub use self::buttons::{LONGEST_ARGUMENT, MOST_BUTTONS, PhoneAnswer, ShownNeed, buttons};

/// Number of wrong codes within [`GUESS_WINDOW`] that close the answers of a channel.
pub const MOST_GUESSES: usize = 5;

/// Seconds within which wrong codes count together.
pub const GUESS_WINDOW: u64 = 60;

/// Seconds for which the answers of a channel are closed after too many wrong codes.
pub const CLOSED_FOR: u64 = 600;

/// Seconds for which a dead code is remembered, so that a late press does not count as a guess.
pub const MEMORY: u64 = 86_400;

/// Number of ids of messages that a channel remembers.
const MOST_IDS: usize = 1000;

/// Beginning of the text of a message with a code.
const PREFIX: &str = "o1 ";

/// Number of digits of a code: 128 bits.
const DIGITS: usize = 32;

/// The text that a button sends for this code.
pub fn text_of(code: &str) -> String {
    [PREFIX, code].concat()
}

/// The code in the text of a message, if the text has the form of one.
pub fn code_in(text: &str) -> Option<&str> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let code = text.trim().strip_prefix(PREFIX)?;
    (code.len() == DIGITS && code.bytes().all(is_digit)).then_some(code)
}

/// Effect of a code: the exact command that it gives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "answer", rename_all = "kebab-case")
)]
pub enum PhoneCommand {
    /// Allows what an agent asks.
    Allow {
        /// Name of the request.
        request: String,
    },
    /// Denies what an agent asks.
    Deny {
        /// Name of the request.
        request: String,
    },
    /// Answers a pause: the mission goes on.
    Continue {
        /// Id of the mission.
        mission: String,
        /// Number of the pause.
        pause: u32,
    },
    /// Confirms a call for attention.
    Seen {
        /// Id of the task.
        task: String,
        /// Text of the call.
        call: String,
    },
    /// Answers the question of a step.
    Answer {
        /// Id of the mission.
        mission: String,
        /// Name of the step.
        step: String,
        /// Number of its attempt.
        attempt: u32,
        /// The answer in one word.
        word: String,
    },
}

impl PhoneCommand {
    /// The answer that it gives.
    pub const fn answer(&self) -> PhoneAnswer {
        match self {
            PhoneCommand::Allow { .. } => PhoneAnswer::Allow,
            PhoneCommand::Deny { .. } => PhoneAnswer::Deny,
            PhoneCommand::Continue { .. } => PhoneAnswer::Continue,
            PhoneCommand::Seen { .. } => PhoneAnswer::Seen,
            PhoneCommand::Answer { .. } => PhoneAnswer::Answer,
        }
    }

    /// The word on its button.
    pub fn label(&self) -> &str {
        match self {
            PhoneCommand::Allow { .. } => "Allow",
            PhoneCommand::Deny { .. } => "Deny",
            PhoneCommand::Continue { .. } => "Continue",
            PhoneCommand::Seen { .. } => "Seen",
            PhoneCommand::Answer { word, .. } => word,
        }
    }
}

/// A code that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Code {
    /// SHA-256 of the code, as hexadecimal digits.
    pub hash: String,
    /// Channel that it was sent to.
    pub channel: String,
    /// Identity of the need that it answers.
    pub need: String,
    /// Effect of its use.
    pub command: PhoneCommand,
    /// Time of its creation, in seconds since 1970.
    pub made: u64,
    /// End of its validity, in seconds since 1970.
    pub expires: u64,
    /// State of its use.
    pub state: CodeState,
}

/// State of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum CodeState {
    /// It can be used.
    Open,
    /// It was used, and its command may not have been carried out yet.
    Taken,
    /// It has no effect any more.
    Dead {
        /// Reason for its end.
        end: CodeEnd,
        /// Time of its end, in seconds since 1970.
        at: u64,
    },
}

/// Reason for the end of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum CodeEnd {
    /// It was used.
    Used,
    /// Another code for the same need was used.
    Sibling,
    /// Its time is over.
    Expired,
    /// Its need is over.
    NeedOver,
    /// A person has revoked it.
    Revoked,
}

impl CodeEnd {
    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            CodeEnd::Used => "it was used already",
            CodeEnd::Sibling => "another answer to the same need was given already",
            CodeEnd::Expired => "its time is over",
            CodeEnd::NeedOver => "what it answers is over",
            CodeEnd::Revoked => "it was revoked",
        }
    }
}

/// Replies of one channel, as far as they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Replies {
    /// Mark of the topic that they are read from.
    pub topic: String,
    /// Id of the last message that was read.
    pub place: Option<String>,
    /// Ids of the messages that were read, the oldest first.
    read: Vec<String>,
    /// True if everything that came before the last read is known, so that wrong codes are new ones.
    is_current: bool,
    /// Times of the last wrong codes, in seconds since 1970.
    wrong: Vec<u64>,
    /// End of the time in which no answer is taken, in seconds since 1970.
    closed_until: Option<u64>,
}

impl Replies {
    /// End of the time in which no answer is taken; `None` if answers are taken. A clock that was set back closes nothing for longer.
    pub fn closed(&self, now: u64) -> Option<u64> {
        self.closed_until.filter(|until| now < *until && *until <= now + CLOSED_FOR)
    }

    /// True if the id is new; then it is known from now on.
    fn note(&mut self, id: &str) -> bool {
        if self.read.iter().any(|known| known == id) {
            return false;
        }
        self.read.push(String::from(id));
        let extra = self.read.len().saturating_sub(MOST_IDS);
        self.read.drain(..extra);
        true
    }

    /// Counts a wrong code. Returns true if that closes the answers.
    fn guess(&mut self, now: u64) -> bool {
        if !self.is_current {
            return false;
        }
        self.wrong.retain(|at| *at <= now && now - *at < GUESS_WINDOW);
        self.wrong.push(now);
        let is_over = self.wrong.len() >= MOST_GUESSES;
        if is_over {
            self.wrong.clear();
            self.closed_until = Some(now + CLOSED_FOR);
        }
        is_over
    }
}

/// A message of a reply topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'r> {
    /// Id that the server gave it.
    pub id: &'r str,
    /// SHA-256 of the code in it, as hexadecimal digits; `None` if its text does not have the form of a code.
    pub hash: Option<&'r str>,
}

/// Decision about one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// Its command is to be carried out, and the code finished afterwards.
    Take(PhoneCommand),
    /// It was read before.
    Repeated,
    /// It has no code.
    NoCode,
    /// Its code belongs to another channel.
    OtherChannel,
    /// Answers are closed.
    Closed {
        /// In seconds since 1970.
        until: u64,
    },
    /// Its code is not known.
    Wrong {
        /// True if it was one too many, and answers are closed now.
        closes: bool,
    },
    /// Its code is dead.
    Dead(CodeEnd),
}

/// The codes of all channels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct CodeBook {
    /// Codes that are open, and dead ones that are remembered.
    pub codes: Vec<Code>,
    /// By the names of the channels.
    pub channels: BTreeMap<String, Replies>,
}

/// Time of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// In seconds since 1970.
    pub now: u64,
    /// In seconds.
    pub lasts: u64,
}

impl Code {
    /// True if its time has begun and is not over. A clock that was set back ends it, too.
    fn is_in_time(&self, now: u64) -> bool {
        (self.made..self.expires).contains(&now)
    }

    /// True if its message can still lead to something.
    fn is_alive(&self) -> bool {
        matches!(self.state, CodeState::Open | CodeState::Taken)
    }

    fn end(&mut self, end: CodeEnd, at: u64) {
        self.state = CodeState::Dead { end, at };
    }
}

impl CodeBook {
    /// The replies of a channel.
    pub fn replies(&mut self, channel: &str) -> &mut Replies {
        self.channels.entry(String::from(channel)).or_default()
    }

    /// Makes the topic that a channel reads known. The place in another one has no meaning there.
    pub fn read_from(&mut self, channel: &str, topic: &str) {
        let replies = self.replies(channel);
        if replies.topic != topic {
            let closed_until = replies.closed_until;
            *replies = Replies { topic: String::from(topic), closed_until, ..Replies::default() };
        }
    }

    /// Adds the codes of a message, each by its hash.
    pub fn offer(
        &mut self,
        channel: &str,
        need: &str,
        commands: impl IntoIterator<Item = (String, PhoneCommand)>,
        time: Validity,
    ) {
        if !self.waits(channel) {
            // Nobody has read the topic meanwhile.
            self.replies(channel).is_current = false;
        }
        let Validity { now, lasts } = time;
        self.codes.extend(commands.into_iter().map(|(hash, command)| Code {
            hash,
            channel: String::from(channel),
            need: String::from(need),
            command,
            made: now,
            expires: now.saturating_add(lasts),
            state: CodeState::Open,
        }));
    }

    /// True if an answer may come on this channel.
    pub fn waits(&self, channel: &str) -> bool {
        self.open(channel) > 0
    }

    /// Number of codes of a channel that can be used.
    pub fn open(&self, channel: &str) -> usize {
        let is_open = |code: &&Code| code.channel == channel && code.state == CodeState::Open;
        self.codes.iter().filter(is_open).count()
    }

    /// Decides about a message on a channel. A code that is taken ends all others of its need.
    pub fn receive(&mut self, channel: &str, reply: Reply<'_>, now: u64) -> Received {
        let replies = self.replies(channel);
        replies.place = Some(String::from(reply.id));
        if !replies.note(reply.id) {
            return Received::Repeated;
        }
        let Some(hash) = reply.hash else { return Received::NoCode };
        if let Some(until) = replies.closed(now) {
            return Received::Closed { until };
        }
        let Some(code) = self.codes.iter_mut().find(|code| code.hash == hash) else {
            return Received::Wrong { closes: self.replies(channel).guess(now) };
        };
        if code.channel != channel {
            return Received::OtherChannel;
        }
        match code.state {
            CodeState::Dead { end, .. } => return Received::Dead(end),
            CodeState::Taken => return Received::Dead(CodeEnd::Used),
            CodeState::Open if !code.is_in_time(now) => {
                code.end(CodeEnd::Expired, now);
                return Received::Dead(CodeEnd::Expired);
            }
            CodeState::Open => code.state = CodeState::Taken,
        }
        let (need, command) = (code.need.clone(), code.command.clone());
        self.end_open(CodeEnd::Sibling, now, |code| code.need == need);
        Received::Take(command)
    }

    /// Notes that everything on the topic of a channel is read.
    pub fn caught_up(&mut self, channel: &str) {
        self.replies(channel).is_current = true;
    }

    /// The commands of taken codes, each with its hash: their process may have been killed before it carried them out.
    pub fn taken(&self) -> Vec<(String, PhoneCommand)> {
        let taken = self.codes.iter().filter(|code| code.state == CodeState::Taken);
        taken.map(|code| (code.hash.clone(), code.command.clone())).collect()
    }

    /// Notes that the command of a taken code was carried out or refused.
    pub fn finish(&mut self, hash: &str, now: u64) {
        let is_its = |code: &&mut Code| code.hash == hash && code.state == CodeState::Taken;
        for code in self.codes.iter_mut().filter(is_its) {
            code.end(CodeEnd::Used, now);
        }
    }

    /// Ends the codes whose time or need is over, and forgets those that have been dead for long. `needs` are those of now.
    pub fn tidy(&mut self, needs: &BTreeSet<String>, now: u64) {
        self.end_late(now);
        self.end_open(CodeEnd::NeedOver, now, |code| !needs.contains(&code.need));
        self.codes.retain(|code| match code.state {
            CodeState::Dead { at, .. } => now.abs_diff(at) < MEMORY,
            CodeState::Open | CodeState::Taken => true,
        });
    }

    /// Ends the codes whose time is over; also taken ones, so that no command is carried out late.
    pub fn end_late(&mut self, now: u64) {
        for code in self.codes.iter_mut().filter(|code| code.is_alive() && !code.is_in_time(now)) {
            code.end(CodeEnd::Expired, now);
        }
    }

    /// Ends the codes of a channel. Returns the number of those that could have been used.
    pub fn revoke(&mut self, channel: &str, now: u64) -> usize {
        let mut count = 0;
        for code in self.codes.iter_mut().filter(|code| code.channel == channel && code.is_alive()) {
            count += usize::from(code.is_in_time(now));
            code.end(CodeEnd::Revoked, now);
        }
        count
    }

    /// Ends the codes that their channels do not allow any more, and forgets the replies of channels that are gone. `allowed` has the
    /// answers by the names of the channels.
    pub fn keep_allowed(&mut self, allowed: &BTreeMap<&str, &[PhoneAnswer]>, now: u64) {
        self.channels.retain(|name, _| allowed.contains_key(name.as_str()));
        let is_allowed = |answers: &&[PhoneAnswer], code: &Code| answers.contains(&code.command.answer());
        let is_gone = |code: &Code| {
            !allowed.get(code.channel.as_str()).is_some_and(|answers| is_allowed(answers, code))
        };
        for code in self.codes.iter_mut().filter(|code| code.is_alive() && is_gone(code)) {
            code.end(CodeEnd::Revoked, now);
        }
    }

    fn end_open(&mut self, end: CodeEnd, now: u64, is_meant: impl Fn(&Code) -> bool) {
        let is_open = |code: &&mut Code| code.state == CodeState::Open && is_meant(code);
        for code in self.codes.iter_mut().filter(is_open) {
            code.end(end, now);
        }
    }
}
