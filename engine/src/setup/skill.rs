//! Where each coding agent looks for skills.

use std::path::{Path, PathBuf};

use crate::around::Around;

/// Where a harness keeps what belongs to its user.
#[derive(Debug)]
pub struct HarnessFolder {
    /// The harness.
    pub harness: &'static str,
    /// The variable that names another folder.
    variable: &'static str,
    /// Below the user's home, where that is not set.
    default: &'static str,
    /// Where skills are in it.
    skills: &'static str,
}

/// Of every harness that is built in.
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
    // The variable names the folder in which `.gemini` is.
    HarnessFolder { harness: "gemini", variable: "GEMINI_CLI_HOME", default: "", skills: ".gemini/skills" },
    HarnessFolder { harness: "copilot", variable: "COPILOT_HOME", default: ".copilot", skills: "skills" },
];

impl HarnessFolder {
    /// The file of the skill.
    pub fn file(&self, around: &Around) -> PathBuf {
        around.folder(self.variable, self.default).join(self.skills).join("orange/SKILL.md")
    }
}

/// The file of the skill that a harness lacks; nothing where it is there, or where its place is not known.
pub fn missing(harness: &str, around: &Around) -> Option<PathBuf> {
    let place = HARNESS_FOLDERS.iter().find(|place| place.harness == harness)?;
    Some(place.file(around)).filter(|file: &PathBuf| !Path::exists(file))
}
