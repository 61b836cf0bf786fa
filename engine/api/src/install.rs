//! `orange install`, `orange setup`, `orange completions` and `orange complete`.

use serde::{Deserialize, Serialize};

use super::{Finding, Success};

/// Answer of `orange install`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Install {
    /// The skill was written.
    Written {
        /// Always `true`: the command has done its work.
        success: Success,
        /// The file of each harness, and whether it was changed.
        files: Vec<SkillFile>,
    },
    /// The skill, which `--print` asks for.
    Printed {
        /// Text of the skill.
        skill: String,
    },
}

/// The file with the skill for a harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SkillFile {
    /// Name of the harness.
    pub harness: String,
    /// Path of the file.
    pub file: String,
    /// `written`, `updated` or `unchanged`.
    pub change: String,
}

/// Answer of `orange setup`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Setup {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// True if a person has agreed to everything.
    pub agreed: bool,
    /// The files that were changed.
    pub changed: Vec<String>,
    /// Questions of each harness in each project; not with `--undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harnesses: Option<Vec<HarnessInProject>>,
    /// The name of the project that was added: the repository in which the command was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
    /// Problems that no consent answers, as `orange doctor` reports them; not with `--undo`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The harnesses that lack the skill; not with `--undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_skills: Option<Vec<String>>,
}

/// Questions of a harness in a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HarnessInProject {
    /// Name of the harness.
    pub harness: String,
    /// Name of its project.
    pub project: String,
    /// Its repository.
    pub repo: String,
    /// Questions that the harness asks before it works there, such as a login.
    pub matters: Vec<SetupMatter>,
}

/// One thing that a harness asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SetupMatter {
    /// `login`, `key`, `trust`, `bypass` or `root`.
    pub name: String,
    /// Permission that the answer gives to the harness.
    pub allows: String,
    /// True if it is answered, so that there is nothing left to do.
    pub answered: bool,
    /// Command or step that answers it.
    pub remedy: String,
}

/// Answer of `orange demo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Demo {
    /// Always `true`: the task went as it should.
    pub success: Success,
    /// The statuses of the task, in order.
    pub statuses: Vec<String>,
    /// The folder with the files, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// Answer of `orange uninstall`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Uninstall {
    /// True if the parts were removed; without `--yes` they are only named.
    pub removed: bool,
    /// The parts of the installation.
    pub parts: Vec<InstalledPart>,
    /// The parts that stay.
    pub kept: Vec<KeptPart>,
}

/// A file or folder that `orange uninstall` removes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct InstalledPart {
    /// `consent`, `skill`, `completions`, `manual`, `cache`, `home` or `program`. Of a file with consents, only these are removed.
    pub kind: String,
    /// Absolute path of the file or folder.
    pub path: String,
}

/// Something that `orange uninstall` leaves, such as work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct KeptPart {
    /// Description, in words.
    pub what: String,
    /// The command that removes it.
    pub by_hand: String,
}

/// Answer of `orange completions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Completions {
    /// Name of the shell.
    pub shell: String,
    /// The script that the shell reads.
    pub script: String,
}

/// A word that could be typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// The word; empty where the shell completes files and folders itself.
    pub word: String,
    /// Description that the shell shows beside the word.
    pub about: String,
}
