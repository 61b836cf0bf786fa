//! `orange notify`.

use serde::{Deserialize, Serialize};

/// A channel for messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListedChannel {
    /// Its name.
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
    /// How long a message may take, in seconds.
    pub timeout: u64,
    /// When it has taken a message, RFC 3339 UTC; null for none.
    pub taken_at: Option<String>,
    /// Why it has not taken the last message; null if it has, or for none.
    pub failure: Option<ChannelFailure>,
    /// The number of needs about which it has taken no message yet, after at least one try.
    pub untaken: usize,
}

/// A failure of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ChannelFailure {
    /// When, RFC 3339 UTC.
    pub at: String,
    /// Why.
    pub error: String,
}

/// What came of a test message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TestedChannel {
    /// The channel's name.
    pub channel: String,
    /// Whether it has taken the message.
    pub success: bool,
    /// How it has taken the message, or why not.
    pub outcome: String,
}
