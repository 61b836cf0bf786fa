//! Stored texts of missions, schedulers, events and answers: the JSON of their types, with a version.

pub mod ids;
pub mod mission;
pub mod plan;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of every form that this program writes.
const VERSION: u32 = 1;

/// Reason for which a stored text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadableText {
    /// A newer program has written it.
    Newer(u32),
    /// It is no such text.
    Broken(String),
}

impl fmt::Display for UnreadableText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnreadableText::Newer(version) => write!(
                f,
                "it has version {version}, and this program reads versions up to {VERSION}: upgrade orange-fleet"
            ),
            UnreadableText::Broken(cause) => write!(f, "it cannot be read: {cause}"),
        }
    }
}

impl std::error::Error for UnreadableText {}

impl From<serde_json::Error> for UnreadableText {
    fn from(cause: serde_json::Error) -> UnreadableText {
        UnreadableText::Broken(cause.to_string())
    }
}

/// The version of a stored text, whatever it is.
#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

/// A value with its version.
#[derive(Serialize)]
struct VersionedValue<'t, T> {
    v: u32,
    #[serde(flatten)]
    value: &'t T,
}

/// The value of a stored text. The version is compared first, so that a newer text is not half read.
///
/// # Errors
/// It is of a newer version, or another text.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, UnreadableText> {
    let Versioned { v } = serde_json::from_str(text)?;
    match v {
        VERSION => Ok(serde_json::from_str(text)?),
        0 => Err(UnreadableText::Broken("there is no version 0".to_owned())),
        newer => Err(UnreadableText::Newer(newer)),
    }
}

/// The text of a value. Its maps have text as keys, so that it always can be written.
pub fn write<T: Serialize>(value: &T) -> String {
    serde_json::to_string(&VersionedValue { v: VERSION, value }).unwrap_or_default()
}
