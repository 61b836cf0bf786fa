//! The confinement of agents in `orange.toml` and `projects.json`: how strict it is, and what a person opens in it.

use std::path::{Component, Path};

use orange_core::wall::{Level, NetworkGrant, flaw_of_host};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::DeValue;

use super::entries::{SettingResult, each, strings, table, word};
use super::flaw_of_variable;

/// The confinement of agents; `None` where the source says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SandboxSettings {
    /// The least confinement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The most network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkGrant>,
    /// Paths that are readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
    /// Paths that are writable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// Variables that agents get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<String>>,
    /// Hosts that agents reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
}

const KEYS: &[&str] = &["level", "network", "read", "write", "env", "hosts"];

impl SandboxSettings {
    /// True if it sets nothing.
    pub fn is_empty(&self) -> bool {
        *self == SandboxSettings::default()
    }
}

/// The table `sandbox` of an `orange.toml`.
pub(super) fn read(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<SandboxSettings> {
    let mut settings = SandboxSettings::default();
    each(table(key, value)?, KEYS, &mut |key, value| {
        let list = |example: &str, flaw| {
            strings(value, &|| format!("`{key}` is a list in quotes: [\"{example}\"]"), flaw)
        };
        match key {
            "level" => settings.level = Some(word(key, value, &Level::ALL, Level::as_str)?),
            "network" => {
                settings.network = Some(word(key, value, &NetworkGrant::ALL, NetworkGrant::as_str)?);
            }
            "read" => settings.read = Some(list("~/.cargo", flaw_of_grant)?),
            "write" => settings.write = Some(list("~/.cache/sccache", flaw_of_grant)?),
            "env" => settings.env = Some(list("CARGO_TERM_COLOR", flaw_of_variable)?),
            _ => settings.hosts = Some(list("registry.npmjs.org:443", flaw_of_host)?),
        }
        Ok(())
    })?;
    Ok(settings)
}

/// Reason for which a path cannot be granted; `None` if it can. It is absolute, or below the home: `~/.cargo`.
pub fn flaw_of_grant(path: &str) -> Option<String> {
    let below = path.strip_prefix("~/").or_else(|| path.strip_prefix('/'));
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_place = below.is_some_and(|below| {
        let parts = Path::new(below).components();
        parts.clone().count() > 0 && parts.into_iter().all(is_plain)
    });
    (!is_place || path.contains(['\0', '\n'])).then(|| {
        let path = path.escape_debug();
        format!("`{path}` is not a path that can be granted: give one from `/`, or `~/` and a place below the home, without `..`")
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::store::settings;

    #[test]
    fn grants_are_read_from_the_file() {
        let text = "[sandbox]\nlevel = 'wall'\nnetwork = 'open'\nread = ['~/.cargo', '/opt/x']\nwrite = []\nenv = ['A']\nhosts = ['a.org:443']\n";
        let read = settings::parse(Path::new("orange.toml"), text.as_bytes()).unwrap().sandbox;
        assert_eq!((read.level, read.network), (Some(Level::Wall), Some(NetworkGrant::Open)));
        assert_eq!(read.read.unwrap(), ["~/.cargo", "/opt/x"]);
        assert_eq!((read.write, read.env), (Some(Vec::new()), Some(vec!["A".to_owned()])));
        assert_eq!(read.hosts.unwrap(), ["a.org:443"]);
    }

    #[test]
    fn a_flaw_of_a_grant_names_its_line() {
        for (text, part) in [
            ("level = 'on'", "`level` is one of these words in quotes: off, wall"),
            ("network = 'model'", "`network` is one of these words in quotes: listed, open"),
            ("read = ['~']", "`~` is not a path that can be granted"),
            ("read = ['/']", "not a path"),
            ("read = ['a']", "not a path"),
            ("write = ['/a/../b']", "not a path"),
            ("env = ['A=b']", "not a name of a variable"),
            ("hosts = ['a.org']", "not a host and a port"),
            ("hosts = 'a'", "is a list"),
            ("git = 'own'", "`git` is not a key here"),
        ] {
            let text = format!("[sandbox]\n{text}\n");
            let error = settings::parse(Path::new("orange.toml"), text.as_bytes()).unwrap_err();
            assert!(error.message.contains(part) && error.message.contains("orange.toml:2: "), "{error}");
        }
    }
}
