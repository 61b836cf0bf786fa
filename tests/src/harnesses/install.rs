//! Installs coding agents from the npm registry into a folder that is kept.

use std::fs;
use std::path::{Path, PathBuf};

use orange_testkit::npm::NpmPackages;
use serde_json::Value;

const PACKAGE: &str = include_str!("../../harnesses/package.json");
const LOCK: &str = include_str!("../../harnesses/package-lock.json");

/// A coding agent that the tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestedHarness {
    /// Its name in tasks, which is also its program.
    pub name: &'static str,
    /// Its package.
    pub package: &'static str,
}

/// All of them, by name.
pub const ALL: [TestedHarness; 4] = [
    TestedHarness { name: "claude", package: "@anthropic-ai/claude-code" },
    TestedHarness { name: "codex", package: "@openai/codex" },
    TestedHarness { name: "opencode", package: "opencode-ai" },
    TestedHarness { name: "pi", package: "@mariozechner/pi-coding-agent" },
];

/// A folder with all of them.
#[derive(Clone, Debug)]
pub struct Installed {
    folder: PathBuf,
}

impl Installed {
    /// The folder with their programs.
    pub fn programs(&self) -> PathBuf {
        self.folder.join("node_modules/.bin")
    }

    /// The version of one.
    pub fn version(&self, harness: TestedHarness) -> Option<String> {
        let package = self.folder.join("node_modules").join(harness.package).join("package.json");
        let package: Value = serde_json::from_str(&fs::read_to_string(package).ok()?).ok()?;
        package["version"].as_str().map(str::to_owned)
    }
}

/// The pinned version of one.
pub fn pinned(harness: TestedHarness) -> String {
    let package: Value = serde_json::from_str(PACKAGE).unwrap_or_default();
    package["dependencies"][harness.package].as_str().unwrap_or_default().to_owned()
}

/// Installs the pinned versions below this folder, once; another process may do the same.
pub fn pinned_below(cache: &Path) -> Result<Installed, String> {
    let packages = NpmPackages { package: PACKAGE, lock: Some(LOCK), runs_scripts: true };
    Ok(Installed { folder: packages.installed_below(cache)? })
}

/// Installs the newest versions below this folder, in place of those that were the newest before.
pub fn latest_below(cache: &Path) -> Result<Installed, String> {
    let newest: serde_json::Map<String, Value> =
        ALL.iter().map(|harness| (harness.package.to_owned(), Value::from("latest"))).collect();
    let package = serde_json::json!({ "private": true, "dependencies": newest }).to_string();
    let folder = cache.join("latest");
    NpmPackages { package: &package, lock: None, runs_scripts: true }.installed_again(&folder)?;
    Ok(Installed { folder })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_harness_is_pinned_to_one_version() {
        for harness in ALL {
            let version = pinned(harness);
            assert!(version.starts_with(|letter: char| letter.is_ascii_digit()), "{harness:?}: {version}");
        }
    }

    #[test]
    fn the_lock_file_names_no_server() {
        assert!(!LOCK.contains("\"resolved\""));
    }
}
