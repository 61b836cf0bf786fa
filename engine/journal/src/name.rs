//! Names that become part of a path: each names one entry of one folder.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// The name of a worktree, a project or a task: no path, and not hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(String);

impl Name {
    /// The name, unless it is empty, hidden, too long or a path.
    pub fn parse(text: &str) -> Option<Name> {
        const LONGEST: usize = 255;
        let fits = (1..=LONGEST).contains(&text.len()) && !text.starts_with('.');
        let is_plain = !text.chars().any(|letter| letter == '/' || letter.is_control());
        (fits && is_plain).then(|| Name(text.to_owned()))
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Name, String> {
        Name::parse(&text)
            .ok_or_else(|| format!("{text:?} is not a name: it is empty, hidden, too long or a path"))
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<Name> for String {
    fn eq(&self, other: &Name) -> bool {
        *self == other.0
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_name() {
        for name in ["coffee--1", "a", "Überall 2", "x..y"] {
            assert_eq!(Name::parse(name).as_deref(), Some(name));
        }
        for other in ["", ".", "..", ".pool.json", "/etc", "a/b", "../a", "a\0", "a\nb", &"a".repeat(256)] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
        assert!(serde_json::from_str::<Name>("\"/etc\"").is_err());
    }
}
