//! `notified.json`: what was sent to each channel.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use orange_core::notify::Noted;
use serde::{Deserialize, Serialize};

use crate::store::Home;
use crate::{Error, ErrorKind, Result};
use orange_system::{atomic, nofollow};

/// Time for which a fact is remembered after its end, in seconds.
const MEMORY: u64 = 7 * 86_400;

/// The contents of the file. The monitor that works is the only process that writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SentMessages {
    /// By the names of the channels.
    pub channels: BTreeMap<String, SentTo>,
}

/// Record of the messages to one channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SentTo {
    /// Time of the last message, in seconds since 1970.
    pub last: Option<u64>,
    /// Time of the last message that it has taken, RFC 3339 UTC.
    pub taken_at: Option<String>,
    /// Failure of the last message, if it has not taken that.
    pub failure: Option<DeliveryFailure>,
    /// By the fact that the messages are about.
    pub facts: BTreeMap<String, SentFact>,
}

/// A failure of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryFailure {
    /// Time of the failure, RFC 3339 UTC.
    pub at: String,
    pub error: String,
}

/// The messages about one fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFact {
    /// Number of messages sent.
    pub tries: u8,
    /// Time of the last one, in seconds since 1970.
    pub at: u64,
    /// True if the channel has taken it.
    pub done: bool,
}

impl SentMessages {
    /// Reads the file; empty without one.
    ///
    /// # Errors
    /// `corrupt`; `environment` when it cannot be read.
    pub fn read(home: &Home) -> Result<SentMessages> {
        let path = home.notified_json();
        match nofollow::read(&path, nofollow::LONGEST) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|cause| {
                Error::new(ErrorKind::Corrupt, format!("{}: {cause}", path.display()))
                    .help("it says which messages were sent: remove it, and those about today's needs are sent again")
            }),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(SentMessages::default()),
            Err(cause) => Err(Error::io("read", &path, &cause)),
        }
    }

    /// Writes the file.
    pub fn write(&self, home: &Home) -> Result<()> {
        let text = serde_json::to_vec(self)
            .map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot note messages: {cause}")))?;
        atomic::write(&home.notified_json(), &text)
    }

    /// Record of the messages to this channel about this fact.
    pub fn noted(&self, channel: &str, fact: &str) -> Option<Noted> {
        let SentFact { tries, at, done } = *self.channels.get(channel)?.facts.get(fact)?;
        Some(Noted { tries, at, is_done: done })
    }

    /// Notes that a message about these facts is about to be sent. A process that is killed now sends it once more.
    pub fn begin(&mut self, channel: &str, facts: &[String], now: u64) {
        let sent = self.channels.entry(channel.to_owned()).or_default();
        sent.last = Some(now);
        for fact in facts {
            let fact = sent.facts.entry(fact.clone()).or_default();
            (fact.tries, fact.at) = (fact.tries.saturating_add(1), now);
        }
    }

    /// Notes what came of it.
    pub fn end(&mut self, channel: &str, facts: &[String], at: String, failure: Option<String>) {
        let sent = self.channels.entry(channel.to_owned()).or_default();
        for fact in facts {
            sent.facts.entry(fact.clone()).or_default().done = failure.is_none();
        }
        sent.failure = failure.map(|error| DeliveryFailure { at: at.clone(), error });
        if sent.failure.is_none() {
            sent.taken_at = Some(at);
        }
    }

    /// Forgets facts that have been over for a week, and channels that are gone. A fact whose beginning is not known is
    /// forgotten at once: the next one looks the same.
    pub fn forget(&mut self, channels: &BTreeSet<&str>, facts: &BTreeSet<String>, now: u64) {
        self.channels.retain(|name, _| channels.contains(name.as_str()));
        for sent in self.channels.values_mut() {
            sent.facts.retain(|mark, fact| {
                let is_old = now.saturating_sub(fact.at) >= MEMORY || mark.ends_with(' ');
                facts.contains(mark) || !is_old
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::home;

    #[test]
    fn what_was_sent_is_noted_for_each_channel() {
        let (_folder, home) = home();
        home.prepare().unwrap();
        let mut sent = SentMessages::read(&home).unwrap();
        let facts = ["t1 stuck 2026".to_owned(), "t2 stuck ".to_owned()];
        sent.begin("phone", &facts, 100);
        sent.write(&home).unwrap();
        let mut sent = SentMessages::read(&home).unwrap();
        let noted = |sent: &SentMessages| sent.noted("phone", &facts[0]).unwrap();
        assert_eq!(noted(&sent), Noted { tries: 1, at: 100, is_done: false });
        sent.end("phone", &facts, "now".to_owned(), Some("no".to_owned()));
        assert_eq!(
            (noted(&sent).is_done, sent.channels["phone"].failure.clone().unwrap().error),
            (false, "no".to_owned())
        );
        sent.end("phone", &facts, "now".to_owned(), None);
        assert!(noted(&sent).is_done && sent.channels["phone"].failure.is_none());
        assert_eq!(sent.noted("desk", &facts[0]), None);

        let (channels, none) = (BTreeSet::from(["phone"]), BTreeSet::new());
        sent.forget(&channels, &none, 101);
        assert_eq!((sent.noted("phone", &facts[1]), noted(&sent).tries), (None, 1));
        sent.forget(&channels, &BTreeSet::from([facts[0].clone()]), 100 + MEMORY);
        assert_eq!(noted(&sent).tries, 1);
        sent.forget(&channels, &none, 100 + MEMORY);
        assert_eq!(sent.noted("phone", &facts[0]), None);
        std::fs::write(home.notified_json(), "{").unwrap();
        assert_eq!(SentMessages::read(&home).unwrap_err().kind, ErrorKind::Corrupt);
    }
}
