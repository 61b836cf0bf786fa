//! The folder in which each coding agent looks for skills.

use std::path::{Path, PathBuf};

use crate::around::Around;

/// The folder of a harness for its user.
#[derive(Debug)]
pub struct HarnessFolder {
    /// The harness.
    pub harness: &'static str,
    /// The variable that names another folder.
    variable: &'static str,
    /// The folder below the user's home, if that is not set.
    default: &'static str,
    /// The folder of skills in it.
    skills: &'static str,
}

/// The folders of the built-in harnesses.
pub const HARNESS_FOLDERS: &[HarnessFolder] = &[
    HarnessFolder { harness: "claude", variable: "CLAUDE_CONFIG_DIR", default: ".claude", skills: "skills" },
    HarnessFolder { harness: "codex", variable: "CODEX_HOME", default: ".codex", skills: "skills" },
    HarnessFolder {
        harness: "opencode",
        variable: "XDG_CONFIG_HOME",
        default: ".config",
        skills: "opencode/skills",
    },
    HarnessFolder { harness: "pi", variable: "PI_CODING_AGENT_DIR", default: ".pi/agent", skills: "skills" },
    // The variable names the parent of `.gemini`.
    HarnessFolder { harness: "gemini", variable: "GEMINI_CLI_HOME", default: "", skills: ".gemini/skills" },
    HarnessFolder { harness: "copilot", variable: "COPILOT_HOME", default: ".copilot", skills: "skills" },
];

impl HarnessFolder {
    /// The file of the skill.
    pub fn file(&self, around: &Around) -> PathBuf {
        around.folder(self.variable, self.default).join(self.skills).join("orange/SKILL.md")
    }
}

/// The file of the skill that a harness lacks; `None` if it exists, or if its path is unknown.
pub fn missing(harness: &str, around: &Around) -> Option<PathBuf> {
    let place = HARNESS_FOLDERS.iter().find(|place| place.harness == harness)?;
    Some(place.file(around)).filter(|file: &PathBuf| !Path::exists(file))
}
