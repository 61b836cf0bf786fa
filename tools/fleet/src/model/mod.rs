//! The stored form of missions, schedulers, events and answers: JSON with a version, read whole or refused with the reason.

pub mod event;
pub mod ids;
pub mod mission;
pub mod outcome;
pub mod plan;
pub mod scheduler;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use serde::Deserialize;

/// The version of every form that this program writes.
const VERSION: u32 = 1;

/// Reason for which a stored text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A newer program has written it.
    Newer(u32),
    /// It is no such text.
    Broken(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Newer(version) => write!(
                f,
                "it has version {version}, and this program reads versions up to {VERSION}: upgrade orange-fleet"
            ),
            Unreadable::Broken(cause) => write!(f, "it cannot be read: {cause}"),
        }
    }
}

impl std::error::Error for Unreadable {}

impl From<serde_json::Error> for Unreadable {
    fn from(cause: serde_json::Error) -> Unreadable {
        Unreadable::Broken(cause.to_string())
    }
}

/// The part that every stored text has, whatever its version.
#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

/// Reads a text of version 1. The version is compared first, so that a newer text is not half read.
fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, Unreadable> {
    let Versioned { v } = serde_json::from_str(text)?;
    match v {
        VERSION => Ok(serde_json::from_str(text)?),
        0 => Err(Unreadable::Broken("there is no version 0".to_owned())),
        newer => Err(Unreadable::Newer(newer)),
    }
}

/// Writes a form. Its maps have text as keys, so that it always can be written.
fn write<T: serde::Serialize>(form: &T) -> String {
    serde_json::to_string(form).unwrap_or_default()
}
