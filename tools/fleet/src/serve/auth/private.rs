//! Files with secrets, which others may not read, and folders into which others may not write.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use orange_api::{Error, ErrorKind, Result};

/// Refuses a folder into which others may write: they could make tokens.
///
/// # Errors
/// Others may write, or the folder cannot be looked at.
pub fn folder(path: &Path) -> Result<()> {
    let (shown, mode) = (path.display(), metadata(path)?.permissions().mode());
    if mode & 0o022 == 0 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Refused, format!("others may make tokens in {shown}")).help(format!(
        "run `chmod 700 {shown}`, and look at `orange-fleet token list` for tokens that you do not know"
    )))
}

/// Refuses a file with a secret that others may read. One that belongs to another user, such as root, may be read by the group that has it
/// for this use.
///
/// # Errors
/// Others may read it, or it cannot be looked at.
pub fn file(path: &Path, what: &str) -> Result<()> {
    let found = metadata(path)?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    let forbidden = if is_own { 0o077 } else { 0o007 };
    if found.permissions().mode() & forbidden == 0 {
        return Ok(());
    }
    let shown = path.display();
    Err(Error::new(ErrorKind::Refused, format!("others may read {what} {shown}"))
        .help(format!("run `chmod 600 {shown}`; where somebody may have read it, replace it by a new one")))
}

fn metadata(path: &Path) -> Result<fs::Metadata> {
    fs::metadata(path).map_err(|cause| Error::io("read", path, &cause))
}
