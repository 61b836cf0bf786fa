//! The open files of processes, by the program `lsof`.

use std::borrow::Cow;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::processes::{OpenFile, ProcessFiles, ProcessFolder};
use crate::exec::ProgramCall;
use crate::{Error, ErrorKind, Result};

/// The program on macOS: not every `PATH` has its folder.
const PLACE: &str = "/usr/sbin/lsof";

/// The processes with their folders and those open files that are this one or below it.
///
/// # Errors
/// `environment` where `lsof` does not run, or does not even show this process: then anybody may use the files.
pub(super) fn files(at: &Path) -> Result<Vec<ProcessFiles>> {
    let program = if Path::new(PLACE).is_file() { PLACE } else { "lsof" };
    let call = ProgramCall::new(program).args(["-w", "-n", "-P", "-F", "pcfan"]);
    // Its status only says that it cannot look at everything.
    let said = call.env("LC_ALL", "C").bound(Duration::from_secs(20)).run()?.stdout;
    let found = parse(&said, at);
    let own = rustix::process::getpid().as_raw_nonzero().get();
    if found.iter().any(|process| process.pid == own) {
        return Ok(found);
    }
    let message = "which processes use a file is unknown: `lsof` does not even show this process";
    Err(Error::new(ErrorKind::Environment, message).help("let this program run `lsof`, then try again"))
}

/// Lines of `lsof -F pcfan`: `p` begins a process and `f` a file, with its access in `a` and its name in `n`.
fn parse(said: &[u8], at: &Path) -> Vec<ProcessFiles> {
    let at = shown(at);
    let mut found: Vec<ProcessFiles> = Vec::new();
    let (mut descriptor, mut access) = (String::new(), String::new());
    for line in said.split(|byte| *byte == b'\n') {
        let Some((kind, rest)) = line.split_first() else { continue };
        let rest = String::from_utf8_lossy(rest);
        match kind {
            b'p' => found.push(ProcessFiles {
                pid: rest.parse().unwrap_or_default(),
                name: String::new(),
                folder: Some(ProcessFolder::Unknown),
                open: Vec::new(),
            }),
            b'f' => (descriptor, access) = (rest.into_owned(), String::new()),
            b'a' => access = rest.into_owned(),
            _ => {
                let Some(process) = found.last_mut() else { continue };
                match (kind, descriptor.as_str()) {
                    (b'c', _) => process.name = rest.into_owned(),
                    (b'n', "cwd") => process.folder = folder(&rest),
                    (b'n', "rtd" | "txt" | "mem") => {}
                    (b'n', _) => process.open.extend(open_file(&rest, &access, &at)),
                    _ => {}
                }
            }
        }
    }
    found
}

/// A folder by its name. A sign that may stand for another one makes it unknown.
fn folder(name: &str) -> Option<ProcessFolder> {
    if name.ends_with("/cwd (readlink: No such file or directory)") {
        return None;
    }
    match name.starts_with('/') && !name.contains(['\\', '^', '\u{fffd}', '(']) {
        true => Some(ProcessFolder::At(PathBuf::from(name))),
        false => Some(ProcessFolder::Unknown),
    }
}

/// The file of this name, if it is the one at this path or below it. One whose access is not said counts as open for writing.
fn open_file(name: &str, access: &str, at: &str) -> Option<OpenFile> {
    let below = name.strip_prefix(at)?;
    let is_itself = below.is_empty();
    // `/` itself ends with the separator.
    (is_itself || below.starts_with('/') || at.ends_with('/'))
        .then(|| OpenFile { is_itself, is_for_writing: access.trim() != "r" })
}

/// A path as `lsof` shows it in the locale `C`: what is not a visible letter becomes an escape.
fn shown(path: &Path) -> Cow<'_, str> {
    let is_visible = |byte: &u8| (0x20..0x7f).contains(byte);
    if let Some(text) = path.to_str().filter(|text| text.bytes().all(|byte| is_visible(&byte))) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            0x08 => text.push_str("\\b"),
            0x0c => text.push_str("\\f"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            0..0x20 => {
                text.push('^');
                text.push(char::from(byte + b'@'));
            }
            0x20..0x7f => text.push(char::from(*byte)),
            0x7f.. => write!(text, "\\x{byte:02x}").unwrap_or_default(),
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_a_folder_are_found_with_their_access() {
        let said = "p7\ncvim\nfcwd\na \nn/w\nf3\nar\nn/w/a\nf4\nau\nn/w/b\nf5\nn/w/c\nf6\naw\nn/wide\n\
                    p8\nccat\nfcwd\nn/proc/8/cwd (readlink: Permission denied)\np6\ncend\nfcwd\nn/proc/6/cwd (readlink: No such file or directory)\n\
                    p9\ncgit\nfcwd\nn/a\\xc3\n";
        let found = parse(said.as_bytes(), Path::new("/w"));
        let open = |is_for_writing| OpenFile { is_itself: false, is_for_writing };
        let names: Vec<_> = found.iter().map(|process| (process.pid, process.name.as_str())).collect();
        assert_eq!(names, [(7, "vim"), (8, "cat"), (6, "end"), (9, "git")]);
        assert_eq!(found[0].folder, Some(ProcessFolder::At("/w".into())));
        assert_eq!(found[0].open, [open(false), open(true), open(true)]);
        let folders: Vec<_> = found[1..].iter().map(|process| process.folder.clone()).collect();
        assert_eq!(folders, [Some(ProcessFolder::Unknown), None, Some(ProcessFolder::Unknown)]);
        assert!(parse(said.as_bytes(), Path::new("/w/b"))[0].open[0].is_itself);
    }

    #[test]
    fn a_path_is_compared_as_it_is_shown() {
        assert_eq!(shown(Path::new("/a b")), "/a b");
        assert_eq!(shown(Path::new("/ä\n\u{1}")), "/\\xc3\\xa4\\n^A");
    }
}
