//! `orange notify`.

use serde::{Deserialize, Serialize};

/// A channel for messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListedChannel {
    /// Name of the channel.
    pub name: String,
    /// `terminal`, `desktop`, `command` or `webhook`.
    pub via: String,
    /// The kinds of needs that it is sent.
    pub needs: Vec<String>,
    /// The quiet hours, such as `22:00-07:00`, local time; null for none.
    pub quiet: Option<String>,
    /// The kinds of needs that it is sent in quiet hours, too.
    pub urgent: Vec<String>,
    /// The shortest time between two messages, in minutes; null for a message for each need.
    pub digest: Option<u32>,
    /// Timeout of a message, in seconds.
    pub timeout: u64,
    /// Time of the last message that it took, RFC 3339 UTC; null for none.
    pub taken_at: Option<String>,
    /// Failure of the last message; null if it was taken, or for none.
    pub failure: Option<ChannelFailure>,
    /// The number of needs about which it has taken no message yet, after at least one try.
    pub untaken: usize,
    /// The answers that its buttons may give: `allow`, `deny`, `continue` and `seen`.
    pub answers: Vec<String>,
    /// The number of codes of buttons that can be used.
    pub open_codes: usize,
    /// End of the time in which no answer is taken, since too many wrong codes came, RFC 3339 UTC; null if answers are taken.
    pub closed_until: Option<String>,
}

/// The buttons of a channel were revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RevokedCodes {
    /// The channel's name.
    pub channel: String,
    /// The number of codes that could have been used.
    pub codes: usize,
}

/// A failure of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ChannelFailure {
    /// Time, RFC 3339 UTC.
    pub at: String,
    /// Message of the error.
    pub error: String,
}

/// Outcome of a test message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TestedChannel {
    /// The channel's name.
    pub channel: String,
    /// True if it has taken the message.
    pub success: bool,
    /// Outcome in words.
    pub outcome: String,
}
