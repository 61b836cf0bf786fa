//! `orange install`, `orange setup`, `orange completions` and `orange complete`.

use serde::{Deserialize, Serialize};

use super::Success;

/// What `orange install` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Install {
    /// The skill was written.
    Written {
        /// True.
        success: Success,
        /// The file of each harness, and whether it was changed.
        files: Vec<SkillFile>,
    },
    /// The skill, which `--print` asks for.
    Printed {
        /// Its text.
        skill: String,
    },
}

/// The file with the skill for a harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SkillFile {
    /// The harness.
    pub harness: String,
    /// The file.
    pub file: String,
    /// `written`, `updated` or `unchanged`.
    pub change: String,
}

/// What `orange setup` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Setup {
    /// True.
    pub success: Success,
    /// Whether a person has agreed to everything.
    pub agreed: bool,
    /// The files that were changed.
    pub changed: Vec<String>,
    /// What each harness asks in each project; not with `--undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harnesses: Option<Vec<HarnessInProject>>,
    /// The harnesses that lack the skill; not with `--undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_skills: Option<Vec<String>>,
}

/// What a harness asks in a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HarnessInProject {
    /// The harness.
    pub harness: String,
    /// The project.
    pub project: String,
    /// Its repository.
    pub repo: String,
    /// What the harness asks.
    pub matters: Vec<SetupMatter>,
}

/// One thing that a harness asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SetupMatter {
    /// `login`, `key`, `trust`, `bypass` or `root`.
    pub name: String,
    /// What the answer allows the harness to do.
    pub allows: String,
    /// Whether it is answered, so that there is nothing left to do.
    pub answered: bool,
    /// What to do to answer it.
    pub remedy: String,
}

/// What `orange completions` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Completions {
    /// The shell.
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
    /// What it means.
    pub about: String,
}
