//! The folder in which each coding agent looks for skills, and the skill that is written there.

use std::io;
use std::path::{Path, PathBuf};

use crate::app::App;
use crate::around::Around;
use crate::setup::installed;
use crate::store::home;
use crate::{Error, ErrorKind, Result};
use orange_system::files::real;
use orange_system::{atomic, nofollow};

/// The line by which a file of ours is known.
pub const MARK: &str = "<!-- Written by `orange install`";

/// The folder of a harness for its user.
#[derive(Debug)]
pub struct HarnessFolder {
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

/// True if this is a file that `orange install` wrote.
pub fn is_ours(file: &Path) -> bool {
    let read = nofollow::read_linked(file, nofollow::LONGEST);
    read.is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(MARK))
}

/// Change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillChange {
    Written,
    /// It had another text.
    Updated,
    /// It has this text.
    Unchanged,
}

/// Writes this text as the skill of the harness of this name, or of every one whose program is there. Nothing is written if
/// one of the files cannot be.
pub fn write(
    app: &App,
    named: Option<&str>,
    text: &str,
) -> Result<Vec<(&'static str, PathBuf, SkillChange)>> {
    let around = app.around()?;
    let place = |place: &HarnessFolder| {
        let file = place.file(&around);
        let change = change(&file, text)?;
        Ok((place.harness, file, change))
    };
    let files: Vec<_> = places(app, named)?.into_iter().map(place).collect::<Result<_>>()?;
    for (_, file, _) in files.iter().filter(|(_, _, change)| *change != SkillChange::Unchanged) {
        home::make_folder(&real(file.parent().unwrap_or(file)))?;
        atomic::write_linked(file, text.as_bytes())?;
    }
    Ok(files)
}

fn places(app: &App, named: Option<&str>) -> Result<Vec<&'static HarnessFolder>> {
    if let Some(name) = named {
        let harness = app.harness(name)?;
        let place = HARNESS_FOLDERS.iter().find(|place| place.harness == harness.name).ok_or_else(|| {
            Error::new(ErrorKind::Refused, format!("where {name} keeps its skills is not known"))
                .help("`orange install --print` writes the skill to standard output")
        })?;
        return Ok(vec![place]);
    }
    let installed = installed(app);
    let is_there = |place: &&HarnessFolder| installed.iter().any(|name| name == place.harness);
    let found: Vec<_> = HARNESS_FOLDERS.iter().filter(is_there).collect();
    if found.is_empty() {
        let names: Vec<_> = HARNESS_FOLDERS.iter().map(|place| place.harness).collect();
        return Err(Error::new(
            ErrorKind::Environment,
            format!("none of these is on PATH: {}", names.join(", ")),
        )
        .help("name one: `orange install --harness claude`"));
    }
    Ok(found)
}

/// Change that writing this text would make; a file that `orange install` did not write is refused.
fn change(file: &Path, text: &str) -> Result<SkillChange> {
    match nofollow::read_linked(file, nofollow::LONGEST) {
        Ok(bytes) if bytes == text.as_bytes() => Ok(SkillChange::Unchanged),
        Ok(bytes) if String::from_utf8_lossy(&bytes).contains(MARK) => Ok(SkillChange::Updated),
        Ok(_) => Err(Error::new(
            ErrorKind::Refused,
            format!("{} was not written by `orange install`", file.display()),
        )
        .help("move it away, or take over what you need from `orange install --print`; nothing was written")),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(SkillChange::Written),
        Err(cause) => Err(Error::io("read", file, &cause)),
    }
}

impl SkillChange {
    /// As answers have it.
    pub fn word(self) -> &'static str {
        match self {
            SkillChange::Written => "written",
            SkillChange::Updated => "updated",
            SkillChange::Unchanged => "unchanged",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::drive::harness::built_in;

    #[test]
    fn every_harness_has_its_place() {
        let names = built_in().into_iter().map(|harness| harness.name);
        assert!(names.eq(HARNESS_FOLDERS.iter().map(|place| place.harness)));
    }

    #[test]
    fn what_is_somebody_else_s_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("SKILL.md");
        assert_eq!(change(&file, "new").unwrap(), SkillChange::Written);
        fs::write(&file, format!("old\n{MARK}\n")).unwrap();
        assert_eq!(change(&file, "new").unwrap(), SkillChange::Updated);
        fs::write(&file, "mine").unwrap();
        assert_eq!(change(&file, "new").unwrap_err().kind, ErrorKind::Refused);
        assert_eq!(change(&file, "mine").unwrap(), SkillChange::Unchanged);
    }
}
