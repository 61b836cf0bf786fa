//! Finds the processes that may use a file.

use std::fmt;
use std::path::Path;

use super::processes::{ProcessFiles, ProcessFolder, system};
use crate::Result;
use crate::files::real;

/// True if a process has this file open, or is one of a program whose name begins with `program` in a folder for which `is_around`
/// holds; its folder may be unreadable, which counts, too. `None` where that cannot be known.
pub fn may_use(file: &Path, program: &str, is_around: &dyn Fn(&Path) -> bool) -> Option<bool> {
    let may_stand = |folder: &ProcessFolder| match folder {
        ProcessFolder::At(folder) => is_around(folder),
        ProcessFolder::Unknown => true,
    };
    let uses_it = |process: &ProcessFiles| {
        process.open.iter().any(|file| file.is_itself)
            || process.name.starts_with(program) && process.folder.as_ref().is_some_and(may_stand)
    };
    Some(system().files(file).ok()?.iter().any(uses_it))
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

/// The other processes of this user that have a file below this folder open for writing.
///
/// # Errors
/// `environment` where that cannot be known.
pub fn writers(folder: &Path) -> Result<Vec<FileUser>> {
    those(&real(folder), |process| process.open.iter().any(|file| file.is_for_writing))
}

/// The processes that have any file below this folder open, or are in it; as [`writers`].
pub fn users(folder: &Path) -> Result<Vec<FileUser>> {
    let folder = real(folder);
    let stands = |process: &ProcessFiles| matches!(&process.folder, Some(ProcessFolder::At(at)) if at.starts_with(&folder));
    those(&folder, |process| stands(process) || !process.open.is_empty())
}

fn those(folder: &Path, wanted: impl Fn(&ProcessFiles) -> bool) -> Result<Vec<FileUser>> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let others = system().files(folder)?.into_iter().filter(|process| process.pid != own && wanted(process));
    Ok(others.map(|ProcessFiles { pid, name, .. }| FileUser { pid, name }).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
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
