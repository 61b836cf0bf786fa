//! The buttons of a message.

use alloc::vec::Vec;

use crate::notify::plain;

/// The longest argument of a tool that a message shows whole, in characters.
pub const LONGEST_ARGUMENT: usize = 300;

/// Number of buttons that ntfy shows.
pub const MOST_BUTTONS: usize = 3;

/// Answer of a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhoneAnswer {
    /// Allows what an agent asks.
    Allow,
    /// Denies what an agent asks.
    Deny,
    /// Answers a pause: the mission goes on.
    Continue,
    /// Confirms a call for attention.
    Seen,
    /// Answers the question of a step, with a button for each answer.
    Answer,
}

impl PhoneAnswer {
    /// Every answer, in the order of buttons.
    pub const ALL: [PhoneAnswer; 5] = [
        PhoneAnswer::Allow,
        PhoneAnswer::Deny,
        PhoneAnswer::Continue,
        PhoneAnswer::Seen,
        PhoneAnswer::Answer,
    ];

    /// The word in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            PhoneAnswer::Allow => "allow",
            PhoneAnswer::Deny => "deny",
            PhoneAnswer::Continue => "continue",
            PhoneAnswer::Seen => "seen",
            PhoneAnswer::Answer => "answer",
        }
    }
}

/// A need in a message, as far as its buttons depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownNeed<'n> {
    /// The answers that the engine accepts now.
    pub open: &'n [PhoneAnswer],
    /// Whole input of the tool that an agent asks for; `None` if only a part of it is known.
    pub argument: Option<&'n str>,
    /// Call for attention.
    pub call: Option<&'n str>,
    /// Question of a step, of which the message shows all that a person needs for an answer.
    pub question: Option<&'n str>,
    /// Text of the message.
    pub text: &'n str,
    /// True if the message is about other needs, too, or is one of a digest.
    pub is_digest: bool,
    /// True if a button shows the console.
    pub has_console: bool,
}

/// The answers that a message offers, of those that its channel allows.
pub fn buttons(allowed: &[PhoneAnswer], need: &ShownNeed<'_>) -> Vec<PhoneAnswer> {
    if need.is_digest {
        return Vec::new();
    }
    let is_offered = |answer: &PhoneAnswer| {
        allowed.contains(answer)
            && need.open.contains(answer)
            && match answer {
                PhoneAnswer::Allow => need.argument.is_some_and(|argument| need.shows(argument)),
                PhoneAnswer::Seen => need.call.is_some_and(|call| need.shows(call)),
                PhoneAnswer::Answer => need.question.is_some_and(|question| need.shows(question)),
                PhoneAnswer::Deny | PhoneAnswer::Continue => true,
            }
    };
    PhoneAnswer::ALL.into_iter().filter(is_offered).take(need.room()).collect()
}

impl ShownNeed<'_> {
    /// Number of buttons that answer.
    pub fn room(&self) -> usize {
        MOST_BUTTONS - usize::from(self.has_console)
    }

    /// True if the message shows every character of this text, and none of it is hidden.
    fn shows(&self, text: &str) -> bool {
        !text.is_empty()
            && text.chars().count() <= LONGEST_ARGUMENT
            && plain(text, LONGEST_ARGUMENT) == text
            && self.text.contains(text)
    }
}
