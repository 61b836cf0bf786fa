//! The wall around an agent: its level, its access to git and to the network, and a person's grants.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::hash::fnv1a;
use crate::host::HostPattern;

/// The confinement of agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Level {
    /// None but that of the harness itself.
    #[default]
    Off,
    /// Namespaces of its own, in which everything is invisible that is not granted.
    Wall,
}

/// The git repository of a walled agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum GitAccess {
    /// A private one, whose branch is imported.
    #[default]
    Own,
    /// The project's, read-only.
    Read,
    /// None at all.
    None,
}

/// The network of a walled agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Network {
    /// None at all.
    None,
    /// The hosts of its harness.
    #[default]
    Model,
    /// The hosts of its harness and those that a person grants.
    Listed,
    /// Every host.
    Open,
}

/// The openings that a person makes in the walls of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Grants {
    /// Paths that are readable.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub read: Vec<String>,
    /// Paths that are writable.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub write: Vec<String>,
    /// Variables of the environment.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub env: Vec<String>,
    /// Hosts, as `host:port`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub hosts: Vec<String>,
}

impl Level {
    /// Every level, from the weakest.
    pub const ALL: [Level; 2] = [Level::Off, Level::Wall];

    /// The word in settings and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Wall => "wall",
        }
    }

    /// The level of this word.
    pub fn parse(word: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

impl Grants {
    /// A short digest, equal for equal grants in the same order.
    pub fn digest(&self) -> u64 {
        let mut text = String::new();
        for (name, list) in
            [("read", &self.read), ("write", &self.write), ("env", &self.env), ("hosts", &self.hosts)]
        {
            for entry in list {
                text.extend([name, "\0", entry, "\n"]);
            }
        }
        fnv1a(text.bytes())
    }
}

/// Reason for which a text is not a host of a list; `None` if it is: `registry.npmjs.org:443`, `*.example.org:443`.
pub fn flaw_of_host(text: &str) -> Option<String> {
    let flaw = || {
        Some(format!(
            "`{text}` is not a host and a port, such as registry.npmjs.org:443 or *.example.org:443"
        ))
    };
    let Some((host, port)) = text.rsplit_once(':') else { return flaw() };
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !label.is_empty() && label.len() <= 63 && label.bytes().all(plain)
    };
    // `*.org` would be half the world.
    let is_wide = name.len() != host.len() && !name.contains('.');
    let is_port = port.parse::<u16>().is_ok_and(|number| number > 0 && !port.starts_with('+'));
    let is_host = host.starts_with('[') || name.len() <= 253 && name.split('.').all(is_label) && !is_wide;
    if is_port && is_host && HostPattern::parse(text).is_ok() { None } else { flaw() }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::vec;

    use super::*;

    #[test]
    fn a_level_has_a_word_and_walls_are_stricter() {
        for level in Level::ALL {
            assert_eq!(Level::parse(level.as_str()), Some(level));
        }
        assert!(Level::Wall > Level::Off && Level::parse("own").is_none());
    }

    #[test]
    fn a_host_has_a_port_and_no_more() {
        for good in ["api.anthropic.com:443", "*.example.net:8443", "localhost:1", "10.0.0.1:80", "[::1]:443"]
        {
            assert_eq!(flaw_of_host(good), None, "{good}");
        }
        for wrong in [
            "",
            ":",
            "a",
            "a:",
            "a:0",
            "a:65536",
            "a:+1",
            "*:443",
            "*.org:443",
            "a.*.b:1",
            "a..b:1",
            "https://a:443",
            "a b:1",
            "a/b:1",
            "u@a:1",
            "[::x]:443",
            "127.1:80",
            "a:1:2",
            "ä.de:1",
        ] {
            assert!(flaw_of_host(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn other_grants_have_another_digest() {
        let of = |read: &str, env: &str| {
            Grants { read: vec![read.to_owned()], env: vec![env.to_owned()], ..Grants::default() }.digest()
        };
        assert_eq!(of("a", "b"), of("a", "b"));
        assert_ne!(of("a", "b"), of("b", "a"));
        assert_ne!(Grants::default().digest(), of("", ""));
    }
}
