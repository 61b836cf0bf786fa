//! Who may be using a file: those who have it open, and a program that is at work around it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Whether a process has this file open, or is one of a program whose name begins like this and stands in a folder for which
/// `is_around` holds; one of that program that does not show where it stands counts, too. None where there is no `/proc`.
pub fn may_use(file: &Path, program: &str, is_around: &dyn Fn(&Path) -> bool) -> Option<bool> {
    let mut entries = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
    let uses_it =
        |process: &Path| has_open(process, file) || runs(process, program) && may_stand(process, is_around);
    Some(entries.any(|entry| is_process(&entry) && uses_it(&entry)))
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
        Err(cause) => cause.kind() != ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::drive::testing::eventually;

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
    fn those_who_have_it_open_and_those_who_are_around_may_use_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let file = folder.join("file");
        let may_use = |program| may_use(&file, program, &|at| at == folder);
        let cat = Cat::with(&file);
        // Whoever is being started has nothing open at first, and another name.
        eventually("it has the file open", || may_use("dog") == Some(true));
        drop(cat);
        assert_eq!(may_use("cat"), Some(false));
        let cat = Cat::at(&folder);
        eventually("it stands in the folder", || may_use("cat") == Some(true));
        assert_eq!(may_use("dog"), Some(false));
        drop(cat);
        assert_eq!(may_use("cat"), Some(false));
    }
}
