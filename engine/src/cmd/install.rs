//! `orange install`: writes the skill for agents to where each coding agent looks for such.

use std::io::ErrorKind;
use std::path::Path;

use crate::answer::{Install, SkillFile, Success};
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::InstallArgs;
use crate::cmd::skill::{self, MARK};
use crate::drive::exec::find_on_path;
use crate::drive::harness::built_in;
use crate::files::real;
use crate::setup::skill::{HARNESS_FOLDERS, HarnessFolder};
use crate::store::{atomic, home};
use crate::{Error, Kind, Result, nofollow};

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Written,
    Updated,
    Unchanged,
}

/// Writes it for the harness that is named, or for every one whose program is there; or only prints it.
pub fn run(app: &App, args: &InstallArgs) -> Result<Answer> {
    let text = skill::text(&app.machines.usable()?);
    if args.print {
        let printed = text.trim_end().to_owned();
        return Answer::of(&Install::Printed { skill: text }, printed);
    }
    let around = app.around()?;
    let files = places(app, args.harness.as_deref())?
        .into_iter()
        .map(|place| (place.harness, place.file(&around)))
        .collect::<Vec<_>>();
    // Nothing is written if one of them cannot be.
    let changes = files.iter().map(|(_, file)| change(file, &text)).collect::<Result<Vec<_>>>()?;
    for ((_, file), _) in files.iter().zip(&changes).filter(|(_, change)| **change != Change::Unchanged) {
        home::make_folder(&real(file.parent().unwrap_or(file)))?;
        atomic::write_linked(file, text.as_bytes())?;
    }
    let written = files.iter().zip(changes).map(|((harness, file), change)| SkillFile {
        harness,
        file: file.display().to_string(),
        change: change.word(),
    });
    let files: Vec<_> = written.collect();
    let lines: Vec<_> = files.iter().map(|it| format!("{} {}", it.change, it.file)).collect();
    Answer::of(&Install::Written { success: Success, files }, lines.join("\n"))
}

fn places(app: &App, named: Option<&str>) -> Result<Vec<&'static HarnessFolder>> {
    if let Some(name) = named {
        let harness = app.harness(name)?;
        let place = HARNESS_FOLDERS.iter().find(|place| place.harness == harness.name).ok_or_else(|| {
            Error::new(Kind::Refused, format!("where {name} keeps its skills is not known"))
                .help("`orange install --print` writes the skill to standard output")
        })?;
        return Ok(vec![place]);
    }
    let harnesses = built_in();
    let is_there = |place: &&HarnessFolder| {
        let harness = harnesses.iter().find(|harness| harness.name == place.harness);
        harness.is_some_and(|harness| find_on_path(&harness.binary, app.path()).is_some())
    };
    let found: Vec<_> = HARNESS_FOLDERS.iter().filter(is_there).collect();
    if found.is_empty() {
        let names: Vec<_> = HARNESS_FOLDERS.iter().map(|place| place.harness).collect();
        return Err(Error::new(Kind::Environment, format!("none of these is on PATH: {}", names.join(", ")))
            .help("name one: `orange install --harness claude`"));
    }
    Ok(found)
}

/// What writing this text would change.
///
/// # Errors
/// `refused` for a file that somebody else wrote; `environment`.
fn change(file: &Path, text: &str) -> Result<Change> {
    match nofollow::read_linked(file, nofollow::LONGEST) {
        Ok(bytes) if bytes == text.as_bytes() => Ok(Change::Unchanged),
        Ok(bytes) if String::from_utf8_lossy(&bytes).contains(MARK) => Ok(Change::Updated),
        Ok(_) => Err(Error::new(
            Kind::Refused,
            format!("{} was not written by `orange install`", file.display()),
        )
        .help("move it away, or take over what you need from `orange install --print`; nothing was written")),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Change::Written),
        Err(cause) => Err(Error::io("read", file, &cause)),
    }
}

impl Change {
    fn word(self) -> &'static str {
        match self {
            Change::Written => "written",
            Change::Updated => "updated",
            Change::Unchanged => "unchanged",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_harness_has_its_place() {
        let names = built_in().into_iter().map(|harness| harness.name);
        assert!(names.eq(HARNESS_FOLDERS.iter().map(|place| place.harness)));
    }

    #[test]
    fn what_is_somebody_else_s_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("SKILL.md");
        assert_eq!(change(&file, "new").unwrap(), Change::Written);
        fs::write(&file, format!("old\n{MARK}\n")).unwrap();
        assert_eq!(change(&file, "new").unwrap(), Change::Updated);
        fs::write(&file, "mine").unwrap();
        assert_eq!(change(&file, "new").unwrap_err().kind, Kind::Refused);
        assert_eq!(change(&file, "mine").unwrap(), Change::Unchanged);
    }
}
