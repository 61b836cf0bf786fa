//! The private home of an agent: made once, from a person's files that its harness needs.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::drive::git::Git;
use crate::store::home::make_folder;
use crate::{Error, ErrorKind, Result};
use orange_system::files::{open_regular, remove_folder};
use orange_system::{atomic, nofollow};

/// The file of claude with its settings of every project.
const CLAUDE: &str = ".claude.json";

/// The most bytes that are copied into a home.
const MOST: u64 = 256 * 1024 * 1024;

/// The settings of claude, of which an agent gets those of its own project.
#[derive(Serialize, Deserialize)]
struct ClaudeSettings {
    #[serde(default)]
    projects: Map<String, Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// The origin of a private home.
#[derive(Clone, Copy, Debug)]
pub struct HomeSeed<'s> {
    /// The home of the person.
    pub home: &'s Path,
    /// Paths in it that are copied.
    pub seed: &'s [String],
    /// The main checkout of the project, whose git says who commits.
    pub project: &'s Path,
    /// The paths by which harnesses know the project.
    pub known_as: &'s [PathBuf],
}

/// Makes the private home at this path, unless it is there.
pub fn make(private: &Path, from: &HomeSeed<'_>) -> Result<()> {
    if nofollow::metadata(private).is_ok() {
        return Ok(());
    }
    let folder = private.parent().unwrap_or(private);
    make_folder(folder)?;
    let begun = atomic::temporary(private);
    // A process that was killed may have left it.
    remove_folder(&begun).or_else(absent).map_err(|cause| Error::io("remove", &begun, &cause))?;
    make_folder(&begun)?;
    let mut left = MOST;
    for path in from.seed {
        let target = begun.join(path);
        copy(&from.home.join(path), &target, &mut left)?;
        if path == CLAUDE {
            keep_own_project(&target, from.known_as)?;
        }
    }
    Git::at(from.project).copy_identity(&begun.join(".gitconfig"))?;
    nofollow::rename(&begun, private).map_err(|cause| Error::io("make", private, &cause))
}

/// Makes the places of mounts in a private home, whose agent may have put links there: a mount would follow them.
///
/// # Errors
/// `refused` for a link, with its path.
pub fn make_points(private: &Path, home: &Path, points: &[(PathBuf, bool)]) -> Result<()> {
    for (point, is_file) in points {
        let Ok(below) = point.strip_prefix(home) else { continue };
        let mut place = private.to_owned();
        let mut parts = below.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else { continue };
            place.push(name);
            make_point(&place, *is_file && parts.peek().is_none())?;
        }
    }
    Ok(())
}

fn make_point(place: &Path, is_file: bool) -> Result<()> {
    let found = match fs::symlink_metadata(place) {
        Ok(found) => found,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound && is_file => {
            return atomic::write(place, b"");
        }
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            return nofollow::make_folder(place).map_err(|cause| Error::io("make", place, &cause));
        }
        Err(cause) => return Err(Error::io("look at", place, &cause)),
    };
    if (is_file && found.is_file()) || (!is_file && found.is_dir()) {
        return Ok(());
    }
    let message = format!(
        "the wall mounts something at {}, and an agent has put something else there",
        place.display()
    );
    Err(Error::new(ErrorKind::Refused, message).help("remove that, then start the agent again"))
}

/// Copies a file or a folder, also one that a link of the person leads to. Pipes, sockets and devices are left out.
fn copy(from: &Path, to: &Path, left: &mut u64) -> Result<()> {
    let fail = |cause: io::Error| Error::io("copy", from, &cause);
    let found = match fs::metadata(from) {
        Ok(found) => found,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(fail(cause)),
    };
    make_folder(to.parent().unwrap_or(to))?;
    if found.is_dir() {
        make_folder(to)?;
        for entry in fs::read_dir(from).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            copy(&from.join(&name), &to.join(&name), left)?;
        }
        return Ok(());
    }
    if !found.is_file() {
        return Ok(());
    }
    *left = left.checked_sub(found.len()).ok_or_else(|| {
        let message = format!("the seed of a private home has more than {MOST} bytes at {}", from.display());
        Error::new(ErrorKind::Refused, message).help("name less in `seed` of the harness's table `sandbox`")
    })?;
    let bytes = open_regular(&fs::canonicalize(from).map_err(fail)?)
        .and_then(|file| nofollow::read_all(&file, MOST))
        .map_err(fail)?;
    atomic::write(to, &bytes)
}

/// Removes the settings of other projects. A file that claude cannot read either stays empty.
fn keep_own_project(file: &Path, known_as: &[PathBuf]) -> Result<()> {
    let bytes = match nofollow::read(file, MOST) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        // It would show other projects as it is.
        Err(cause) => return Err(Error::io("read", file, &cause)),
    };
    let written = serde_json::from_slice(&bytes).and_then(|settings: ClaudeSettings| {
        let is_own = |path: &str| known_as.iter().any(|known| known == Path::new(path));
        let projects = settings.projects.into_iter().filter(|(path, _)| is_own(path)).collect();
        serde_json::to_vec(&ClaudeSettings { projects, ..settings })
    });
    atomic::write(file, &written.unwrap_or_default())
}

fn absent(cause: io::Error) -> io::Result<()> {
    if cause.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(cause) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use orange_system::files::real;

    #[test]
    fn a_home_is_seeded_once_and_knows_one_project() {
        let folder = tempfile::tempdir().unwrap();
        let (home, private) = (real(folder.path()).join("ada"), real(folder.path()).join("wall/worker"));
        fs::create_dir_all(home.join("dotfiles/skills/x")).unwrap();
        fs::create_dir_all(home.join(".claude")).unwrap();
        fs::write(home.join("dotfiles/skills/x/SKILL.md"), "s").unwrap();
        fs::write(home.join(".claude/.credentials.json"), "secret").unwrap();
        symlink(home.join("dotfiles/skills"), home.join(".claude/skills")).unwrap();
        fs::write(home.join(CLAUDE), r#"{"a":1,"projects":{"/p":{"b":2},"/other":{"c":"secret"}}}"#).unwrap();
        let seed = [CLAUDE, ".claude/skills", ".absent"].map(str::to_owned);
        let known_as = [PathBuf::from("/p")];
        let from = HomeSeed { home: &home, seed: &seed, project: &home, known_as: &known_as };
        make(&private, &from).unwrap();
        let text = |name: &str| fs::read_to_string(private.join(name)).unwrap();
        assert_eq!(text(CLAUDE), r#"{"projects":{"/p":{"b":2}},"a":1}"#);
        assert_eq!(text(".claude/skills/x/SKILL.md"), "s");
        assert!(
            !private.join(".claude/skills").is_symlink()
                && !private.join(".claude/.credentials.json").exists()
        );
        fs::write(private.join(CLAUDE), "own").unwrap();
        make(&private, &from).unwrap();
        assert_eq!(text(CLAUDE), "own");
    }

    #[test]
    fn a_link_at_the_place_of_a_mount_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (outside, private) = (folder.path().join("outside"), folder.path().join("private"));
        fs::create_dir(&outside).unwrap();
        fs::create_dir(&private).unwrap();
        let points =
            [(PathBuf::from("/h/a/b"), false), (PathBuf::from("/h/a/c"), true), (PathBuf::from("/x"), true)];
        make_points(&private, Path::new("/h"), &points).unwrap();
        make_points(&private, Path::new("/h"), &points).unwrap();
        assert!(private.join("a/b").is_dir() && private.join("a/c").is_file());
        fs::remove_dir_all(private.join("a")).unwrap();
        symlink(&outside, private.join("a")).unwrap();
        let error = make_points(&private, Path::new("/h"), &points).unwrap_err();
        assert!(error.kind == ErrorKind::Refused && fs::read_dir(&outside).unwrap().next().is_none());
    }
}
