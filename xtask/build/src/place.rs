//! Puts files where people look for them: writes each beside its place and renames it, so that nobody sees a part of one. A program that
//! runs keeps its old file.

use std::io;
use std::path::{Path, PathBuf};

use crate::Result;

/// Makes a folder if need be, and refuses one in which no file can be written.
pub fn make_writable(folder: &Path) -> Result<()> {
    let probe = beside(folder, "orange");
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, ""))
        .and_then(|()| std::fs::remove_file(&probe))
        .map_err(|error| {
            format!("{} cannot be written: {error}; name a folder in which you may write", folder.display())
        })
}

/// Copies a program into a folder, and returns its path.
pub fn put_program(built: &Path, folder: &Path, name: &str) -> Result<PathBuf> {
    stage_program(built, folder, name)?;
    publish(folder, name)
}

/// Copies programs from one folder into another. Where one of them cannot be copied, none is replaced.
pub fn put_programs(from: &Path, folder: &Path, names: &[&str]) -> Result<()> {
    let staged = names.iter().try_for_each(|name| stage_program(&from.join(name), folder, name));
    if let Err(message) = staged {
        for name in names {
            // The first that failed, and those after it, were not begun.
            std::fs::remove_file(beside(folder, name)).unwrap_or_default();
        }
        return Err(message);
    }
    names.iter().try_for_each(|name| publish(folder, name).map(drop))
}

/// Writes a file into a folder.
pub fn put_text(text: &str, folder: &Path, name: &str) -> Result<()> {
    std::fs::write(beside(folder, name), text).map_err(|error| unwritten(&folder.join(name), &error))?;
    publish(folder, name).map(drop)
}

fn stage_program(built: &Path, folder: &Path, name: &str) -> Result<()> {
    let copied = std::fs::copy(built, beside(folder, name));
    let failed = |error| format!("{} cannot be copied to {}: {error}", built.display(), folder.display());
    copied.map(drop).map_err(failed)
}

fn publish(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    std::fs::rename(beside(folder, name), &path)
        .and_then(|()| path.canonicalize())
        .map_err(|error| unwritten(&path, &error))
}

fn beside(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.new"))
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be written: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;

    use super::*;

    #[test]
    fn a_program_that_is_open_keeps_its_bytes() {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        make_writable(&from).unwrap();
        make_writable(&to).unwrap();
        fs::write(from.join("orange"), "new").unwrap();
        fs::write(to.join("orange"), "old").unwrap();
        let mut open = fs::File::open(to.join("orange")).unwrap();
        put_programs(&from, &to, &["orange"]).unwrap();
        let mut before = String::new();
        open.read_to_string(&mut before).unwrap();
        assert_eq!(
            (before.as_str(), fs::read_to_string(to.join("orange")).unwrap().as_str()),
            ("old", "new")
        );
        assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
    }

    #[test]
    fn one_program_that_is_missing_replaces_none() {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        make_writable(&from).unwrap();
        make_writable(&to).unwrap();
        fs::write(from.join("orange"), "new").unwrap();
        fs::write(to.join("orange"), "old").unwrap();
        let message = put_programs(&from, &to, &["orange", "orange-dashboard"]).unwrap_err();
        assert!(message.contains("orange-dashboard cannot be copied to "), "{message}");
        assert_eq!(fs::read_to_string(to.join("orange")).unwrap(), "old");
        assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("file"), "mine").unwrap();
        let message = make_writable(&scratch.path().join("file/bin")).unwrap_err();
        assert!(
            message.contains("file/bin cannot be written: ") && message.contains("name a folder"),
            "{message}"
        );
        // Nobody may write there, not even root.
        assert!(make_writable(Path::new("/proc/self")).unwrap_err().contains("/proc/self cannot be written"));
        assert_eq!(fs::read_to_string(scratch.path().join("file")).unwrap(), "mine");
    }
}
