//! Finds the processes that may use a file.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use super::table;
use crate::Result;
use crate::files::real;

/// True if a process has this file open, or is one of a program whose name begins with `program` in a folder for which `is_around`
/// holds; its folder may be unreadable, which counts, too. `None` where the process table cannot be read.
pub fn may_use(file: &Path, program: &str, is_around: &dyn Fn(&Path) -> bool) -> Option<bool> {
    table::check().ok()?;
    let mut entries = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
    let uses_it =
        |process: &Path| has_open(process, file) || runs(process, program) && may_stand(process, is_around);
    Some(entries.any(|entry| is_process(&entry) && uses_it(&entry)))
}

/// A process that uses a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUser {
    pid: i32,
    name: String,
}

impl fmt::Display for FileUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

/// The other processes of this user that have a file below this folder open for writing; none on a system without a process table.
///
/// # Errors
/// `environment` where the process table cannot be read.
pub fn writers(folder: &Path) -> Result<Vec<FileUser>> {
    let folder = real(folder);
    those(&|process| has_open_below(process, &folder, &|descriptor| is_for_writing(process, descriptor)))
}

/// The processes that have any file below this folder open, or are in it; as [`writers`].
pub fn users(folder: &Path) -> Result<Vec<FileUser>> {
    let folder = real(folder);
    let stands = |process: &Path| fs::read_link(process.join("cwd")).is_ok_and(|at| at.starts_with(&folder));
    those(&|process| stands(process) || has_open_below(process, &folder, &|_| true))
}

fn those(wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<FileUser>> {
    table::check()?;
    let own = std::process::id().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let others = entries.filter(|entry| is_process(entry) && !entry.ends_with(&own));
    Ok(others.filter(|process| wanted(process)).filter_map(|process| user(&process)).collect())
}

fn user(process: &Path) -> Option<FileUser> {
    let pid = process.file_name()?.to_str()?.parse().ok()?;
    let name = fs::read(process.join("comm")).unwrap_or_default();
    Some(FileUser { pid, name: String::from_utf8_lossy(&name).trim_end().to_owned() })
}

fn has_open_below(process: &Path, folder: &Path, wanted: &dyn Fn(&OsStr) -> bool) -> bool {
    let open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let is_below = |link: &Path| fs::read_link(link).is_ok_and(|file| file.starts_with(folder));
    open.filter(|entry| is_below(&entry.path())).any(|entry| wanted(&entry.file_name()))
}

/// True if the octal flags say that the file is open for writing: the last two bits are 0 for read-only.
fn is_for_writing(process: &Path, descriptor: &OsStr) -> bool {
    let about = fs::read_to_string(process.join("fdinfo").join(descriptor)).unwrap_or_default();
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & 3 != 0)
}

fn is_process(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit))
}

fn has_open(process: &Path, file: &Path) -> bool {
    let open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    open.map(|entry| entry.path()).any(|link| fs::read_link(link).is_ok_and(|open| open == file))
}

fn runs(process: &Path, program: &str) -> bool {
    fs::read(process.join("comm")).is_ok_and(|name| name.starts_with(program.as_bytes()))
}

fn may_stand(process: &Path, is_around: &dyn Fn(&Path) -> bool) -> bool {
    match fs::read_link(process.join("cwd")) {
        Ok(folder) => is_around(&folder),
        Err(cause) => cause.kind() != io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;
    use orange_testkit::until;

    /// A process that lives until it is killed.
    struct Cat(Child);

    impl Cat {
        fn at(folder: &Path) -> Cat {
            Cat(Command::new("cat").current_dir(folder).stdin(Stdio::piped()).spawn().unwrap())
        }

        /// It opens the file itself: what other tests start at the same moment would inherit it from this process.
        fn with(file: &Path) -> Cat {
            let mut shell = Command::new("sh");
            shell.args(["-c", "exec cat 3>\"$0\""]).arg(file).current_dir("/");
            Cat(shell.stdin(Stdio::piped()).spawn().unwrap())
        }
    }

    impl Drop for Cat {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn a_file_is_in_use_by_who_has_it_open_and_who_is_around() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let file = folder.join("file");
        let may_use = |program| may_use(&file, program, &|at| at == folder);
        let cat = Cat::with(&file);
        // A process that is being started has nothing open at first, and another name.
        until("it has the file open", || may_use("dog") == Some(true));
        drop(cat);
        assert_eq!(may_use("cat"), Some(false));
        let cat = Cat::at(&folder);
        until("it stands in the folder", || may_use("cat") == Some(true));
        assert_eq!(may_use("dog"), Some(false));
        drop(cat);
        assert_eq!(may_use("cat"), Some(false));
    }
}
