//! The questions of copilot: a login, and trust in a repository.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Matter, Remedy};
use crate::around::Around;

/// Variables that replace a login.
const LOGINS: &[&str] = &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"];

pub(super) fn matters(repo: &Path, around: &Around) -> Vec<Matter> {
    let file = around.folder("COPILOT_HOME", ".copilot").join("config.json");
    let config = fs::read_to_string(file).unwrap_or_default();
    vec![
        Matter {
            name: "login",
            allows: "begin logged in".to_owned(),
            is_answered: LOGINS.iter().any(|name| around.variable(name).is_some()),
            is_for_full: false,
            // The login may be in a keyring, which cannot be read.
            blocks: false,
            remedy: Remedy::Person("run `copilot login`".to_owned()),
        },
        Matter {
            name: "trust",
            allows: format!("read, edit and run what is in {}", repo.display()),
            is_answered: trusts(&config, repo) || around.variable("COPILOT_ALLOW_ALL") == Some("true"),
            is_for_full: false,
            blocks: true,
            remedy: Remedy::Person(format!(
                "run `copilot` once in {}, and answer \"Yes, and remember this folder\": no argument says it",
                repo.display()
            )),
        },
    ]
}

/// True if its own file, which begins with comments, names the repository or a folder around it. It names the main checkout, which
/// includes every worktree.
fn trusts(config: &str, repo: &Path) -> bool {
    let plain: String = config.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let config: Value = serde_json::from_str(&plain).unwrap_or_default();
    let folders = config.get("trustedFolders").and_then(Value::as_array);
    let mut folders = folders.into_iter().flatten().filter_map(Value::as_str);
    folders.any(|folder| repo.starts_with(folder))
}
