//! Installs coding agents from the npm registry into a folder that is kept.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    let mut hasher = DefaultHasher::new();
    (PACKAGE, LOCK).hash(&mut hasher);
    let folder = cache.join(format!("{:016x}", hasher.finish()));
    let _guard = guard(cache)?;
    if !folder.exists() {
        install(&folder, &[("package.json", PACKAGE), ("package-lock.json", LOCK)])?;
    }
    Ok(Installed { folder })
}

/// Installs the newest versions below this folder, in place of those that were the newest before.
pub fn latest_below(cache: &Path) -> Result<Installed, String> {
    let newest: serde_json::Map<String, Value> =
        ALL.iter().map(|harness| (harness.package.to_owned(), Value::from("latest"))).collect();
    let package = serde_json::json!({ "private": true, "dependencies": newest }).to_string();
    let folder = cache.join("latest");
    let _guard = guard(cache)?;
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    install(&folder, &[("package.json", &package)])?;
    Ok(Installed { folder })
}

/// A lock that is held during an installation.
fn guard(cache: &Path) -> Result<File, String> {
    let locked = fs::create_dir_all(cache).and_then(|()| {
        let file = File::create(cache.join(".lock"))?;
        file.lock().map(|()| file)
    });
    locked.map_err(|error| format!("{}: {error}", cache.display()))
}

/// Installs these packages whole or not at all.
fn install(folder: &Path, files: &[(&str, &str)]) -> Result<(), String> {
    let begun = folder.with_extension("new");
    let in_folder = |error: std::io::Error| format!("{}: {error}", begun.display());
    if begun.exists() {
        fs::remove_dir_all(&begun).map_err(in_folder)?;
    }
    fs::create_dir_all(&begun).map_err(in_folder)?;
    for (file, text) in files {
        fs::write(begun.join(file), text).map_err(in_folder)?;
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&begun)
        .stdin(Stdio::null());
    let output = npm.output().map_err(|error| format!("npm cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rfind(|line| line.contains("error")).unwrap_or("no word of why").to_owned();
        return Err(format!("`npm install` failed: {last}"));
    }
    fs::rename(&begun, folder).map_err(in_folder)
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
