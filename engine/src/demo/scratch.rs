//! The files of a scratch home: a user without settings of their own, who has answered what claude asks, and a toy repository.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::Serialize;

use crate::{Error, ErrorKind, Result};

/// The scripted agent, which does what its prompt says.
pub const AGENT: &str = include_str!("claude");

/// The name of the project and of its folder.
pub const PROJECT: &str = "toy";

/// The author of commits.
const GIT_SETTINGS: &str =
    "[user]\n\tname = Toy Maker\n\temail = toy@example.org\n[init]\n\tdefaultBranch = main\n";

/// The calls of git that make the toy repository and its bare origin, each with the folder in which it runs.
pub const REPOSITORY: &[(&str, &[&str])] = &[
    ("", &["init", "--quiet", "--bare", "toy.git"]),
    ("", &["init", "--quiet", PROJECT]),
    (PROJECT, &["commit", "--quiet", "--allow-empty", "--message", "Begin"]),
    (PROJECT, &["remote", "add", "origin", "../toy.git"]),
    (PROJECT, &["push", "--quiet", "--set-upstream", "origin", "main"]),
    (PROJECT, &["remote", "set-head", "origin", "main"]),
];

/// Claude's record of its first start, in which its user has answered its dialogs.
#[derive(Serialize)]
struct ClaudeState {
    #[serde(rename = "hasCompletedOnboarding")]
    has_begun: bool,
    /// By their folders.
    projects: BTreeMap<String, ClaudeProject>,
}

#[derive(Serialize)]
struct ClaudeProject {
    #[serde(rename = "hasTrustDialogAccepted")]
    is_trusted: bool,
}

#[derive(Serialize)]
struct ClaudeSettings {
    #[serde(rename = "skipDangerousModePermissionPrompt")]
    may_bypass: bool,
}

fn as_json(value: &impl Serialize) -> Result<String> {
    let unwritten =
        |cause| Error::new(ErrorKind::Environment, format!("cannot write the scratch home: {cause}"));
    serde_json::to_string(value).map_err(unwritten)
}

/// Writes the user's files and the agent, which is called `claude`, into an empty folder.
///
/// # Errors
/// `environment` where a file cannot be written.
pub fn furnish(root: &Path, agent: &str) -> Result<()> {
    let trusted = [PROJECT, "orange/workspaces"].map(|folder| root.join(folder).display().to_string());
    let projects = trusted.into_iter().map(|folder| (folder, ClaudeProject { is_trusted: true })).collect();
    let known = as_json(&ClaudeState { has_begun: true, projects })?;
    let settings = as_json(&ClaudeSettings { may_bypass: true })?;
    let folders = ["home", "home/.claude", "agents"];
    let files = [
        ("home/.gitconfig", GIT_SETTINGS),
        ("home/.claude.json", &known),
        ("home/.claude/settings.json", &settings),
        ("agents/claude", agent),
    ];
    let write = || {
        folders.iter().try_for_each(|folder| fs::create_dir_all(root.join(folder)))?;
        files.iter().try_for_each(|(file, text)| fs::write(root.join(file), text))?;
        fs::set_permissions(root.join("agents/claude"), fs::Permissions::from_mode(0o755))
    };
    write().map_err(|cause| Error::io("write", root, &cause))
}

/// The variables of a program in this home, which has no others of the user.
pub fn environment(root: &Path) -> Vec<(&'static str, OsString)> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders = [root.join("agents")].into_iter().chain(std::env::split_paths(&folders));
    vec![
        ("PATH", std::env::join_paths(folders).unwrap_or_default()),
        ("HOME", root.join("home").into()),
        ("ORANGE_HOME", root.join("orange").into()),
        ("ORANGE_TMUX_SOCKET", root.join("tmux").into()),
        // Root may try it, too, whom claude accepts only in a container.
        ("IS_SANDBOX", "1".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("LC_ALL", "C.UTF-8".into()),
    ]
}
