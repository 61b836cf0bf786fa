//! `trusted.json`: the content of each project's `orange.toml` that a person has agreed to. Any other content is not used.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::Home;
use crate::store::lock::{self, LockRank};
use crate::store::projects::Project;
use crate::store::settings::{self, FILE, Settings};
use crate::{Error, ErrorKind, Result};
use orange_system::files::{if_found, real};
use orange_system::{atomic, clock, nofollow};

/// Trust in the `orange.toml` of a repository, which counts if it is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// There is none, and none was trusted.
    Absent,
    /// A person has agreed to its content.
    Trusted,
    /// Nobody has agreed to any content of it.
    Untrusted,
    /// It has another content than the one that was agreed to.
    Changed,
    /// It was agreed to, and is gone.
    Gone,
    /// It cannot be read or has an error, which this says.
    Unfit(String),
}

/// A content that was agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedContent {
    pub project: String,
    /// The SHA-256 of the bytes.
    pub sha256: String,
    /// The text, for the comparison with a later one.
    pub text: String,
    /// Time of the agreement.
    pub at: String,
}

impl Trust {
    /// The [`Trust::warning`] for a call for attention; `None` if the file is gone: a person who removes it knows that,
    /// and nothing is left that anybody could agree to.
    pub fn call(&self, project: &str) -> Option<String> {
        match self {
            Trust::Gone => None,
            Trust::Absent | Trust::Trusted | Trust::Untrusted | Trust::Changed | Trust::Unfit(_) => {
                self.warning(project)
            }
        }
    }

    /// Reason for which the file is not used, with a remedy for a person; `None` if nothing is left out.
    pub fn warning(&self, project: &str) -> Option<String> {
        let why = match self {
            Trust::Absent | Trust::Trusted => return None,
            Trust::Untrusted => "is not trusted".to_owned(),
            Trust::Changed => "has changed since a person agreed to it".to_owned(),
            Trust::Gone => "is gone since a person agreed to it".to_owned(),
            Trust::Unfit(why) => format!("cannot be used ({why})"),
        };
        Some(format!("{FILE} of {project} {why}, so none of it is used: {}", command(project)))
    }
}

fn command(project: &str) -> String {
    format!("`orange project trust {project}` shows it")
}

/// True if a text is the warning about the file of this project, as it was at some time.
pub fn is_warning(text: &str, project: &str) -> bool {
    text.starts_with(&format!("{FILE} of {project} ")) && text.ends_with(&command(project))
}

/// The path of a project's file: in the main checkout, and never in a worktree, where agents write.
pub fn path(project: &Project) -> PathBuf {
    real(&project.path).join(FILE)
}

/// The file's bytes; `None` if there is no file.
///
/// # Errors
/// `environment` for a link, a pipe and the like, and for a file that is too long.
pub fn read_file(project: &Project) -> Result<Option<Vec<u8>>> {
    let path = path(project);
    match nofollow::read(&path, settings::LONGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(cause) => Err(Error::io("read", &path, &cause)),
    }
}

/// Trust in a project's file, and its settings if it counts. The bytes are read once: those whose hash was compared are those that
/// are used.
pub fn of(home: &Home, project: &Project) -> Result<(Trust, Option<Settings>)> {
    let agreed = agreed(home, &project.name)?;
    let bytes = match read_file(project) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok((agreed.map_or(Trust::Absent, |_| Trust::Gone), None)),
        Err(error) => return Ok((Trust::Unfit(error.one_line()), None)),
    };
    let Some(agreed) = agreed else { return Ok((Trust::Untrusted, None)) };
    if agreed.sha256 != hash(&bytes) {
        return Ok((Trust::Changed, None));
    }
    Ok(match settings::parse(&path(project), &bytes) {
        Ok(settings) => (Trust::Trusted, Some(settings)),
        Err(error) => (Trust::Unfit(error.message.clone()), None),
    })
}

/// The settings of the content that was agreed to last, whatever the file is now.
pub fn last(home: &Home, project: &Project) -> Result<Option<Settings>> {
    let agreed = agreed(home, &project.name)?;
    Ok(agreed.and_then(|agreed| settings::parse(&path(project), agreed.text.as_bytes()).ok()))
}

/// The content that a person has agreed to.
pub fn agreed(home: &Home, project: &str) -> Result<Option<AgreedContent>> {
    Ok(read(home)?.into_iter().find(|agreed| agreed.project == project))
}

/// Keeps that a person agrees to this content; `None` for that the file is gone.
pub fn agree(home: &Home, project: &str, text: Option<&str>) -> Result<()> {
    change(home, |all| {
        all.retain(|agreed| agreed.project != project);
        all.extend(text.map(|text| AgreedContent {
            project: project.to_owned(),
            sha256: hash(text.as_bytes()),
            text: text.to_owned(),
            at: clock::now(),
        }));
    })
}

/// The SHA-256 of these bytes, as hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(home: &Home) -> Result<Vec<AgreedContent>> {
    let path = home.trusted_json();
    let bytes = if_found(&path, nofollow::read(&path, nofollow::LONGEST))?;
    bytes.map_or(Ok(Vec::new()), |bytes| {
        serde_json::from_slice(&bytes).map_err(|cause| {
            Error::new(ErrorKind::Corrupt, format!("cannot read {}: {cause}", path.display())).help(format!(
                "correct it, or delete it: then no {FILE} is trusted until `orange project trust`"
            ))
        })
    })
}

fn change(home: &Home, edit: impl FnOnce(&mut Vec<AgreedContent>)) -> Result<()> {
    home.prepare()?;
    let path = home.trusted_json();
    let _lock =
        lock::acquire(home, &path.with_file_name(".trusted.lock"), LockRank::Projects, "the trusted files")?;
    atomic::sweep(home.root());
    let mut all = read(home)?;
    edit(&mut all);
    let mut text = serde_json::to_vec_pretty(&all).map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("cannot write {}: {cause}", path.display()))
    })?;
    text.push(b'\n');
    atomic::write(&path, &text)
}
