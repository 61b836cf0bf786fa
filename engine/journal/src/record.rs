//! A line of a journal.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::event::Event;
use crate::event::declare::EventFields;
use crate::set::Set;

/// One line of `history.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// Its number: from 1, without gaps unless somebody removes lines by hand.
    pub seq: u64,
    /// Time of writing, RFC 3339 UTC.
    pub timestamp: String,
    /// Event that happened.
    #[serde(flatten)]
    pub event: Event,
    /// The engine-owned values that it changed.
    #[serde(skip_serializing_if = "Set::is_empty")]
    pub set: Set,
}

impl Record {
    /// Its line as a JSON value.
    pub fn to_json(&self) -> Value {
        // The line is parsed again: a second serializer for each event would add more to the binary than it saves in time.
        let line = serde_json::to_vec(self).unwrap_or_default();
        serde_json::from_slice(&line).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Record, D::Error> {
        let mut fields = EventFields::read(from)?;
        Record::take(&mut fields).map_err(D::Error::custom)
    }
}

impl Record {
    fn take(fields: &mut EventFields) -> Result<Record, serde_json::Error> {
        let set = Set(fields.take("set", Some(serde_json::Map::new()))?);
        if let Some((key, value)) = set.misnamed() {
            return Err(serde_json::Error::custom(format!("its `{key}` is not a name: {value}")));
        }
        let kind: String = fields.take("type", None)?;
        Ok(Record {
            seq: fields.take("seq", None)?,
            timestamp: fields.take("timestamp", None)?,
            event: Event::take(&kind, fields)?,
            set,
        })
    }
}
