//! Processes of this machine, as `/proc` has them.

use std::fs;
use std::path::Path;

/// The processes whose folders below `/proc` are as asked. A process that another one of them has just forked is
/// left out: until it runs a program of its own, it looks like its parent.
pub(crate) fn that(is_wanted: impl Fn(&Path) -> bool) -> Vec<i32> {
    let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let numbered = folders.filter_map(|folder| Some((folder.file_name()?.to_str()?.parse().ok()?, folder)));
    let wanted: Vec<(i32, Option<i32>)> = numbered
        .filter(|(_, folder)| is_wanted(folder))
        .map(|(pid, folder)| (pid, parent(&folder)))
        .collect();
    let is_a_fork = |parent: Option<i32>| wanted.iter().any(|(pid, _)| Some(*pid) == parent);
    wanted.iter().filter(|(_, parent)| !is_a_fork(*parent)).map(|(pid, _)| *pid).collect()
}

/// True if these are the first arguments of a process.
pub(crate) fn runs(folder: &Path, arguments: &[&str]) -> bool {
    let line = fs::read(folder.join("cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0).skip(1);
    arguments.iter().all(|argument| words.next() == Some(argument.as_bytes()))
}

/// True if a process works for the task with this id: it has the id in its arguments or its environment, and is not the tmux
/// server, which has both from the process that asked for its first session.
pub(crate) fn is_about(folder: &Path, id: &str) -> bool {
    let has = |file: &str| {
        let bytes = fs::read(folder.join(file)).unwrap_or_default();
        bytes.windows(id.len()).any(|some| some == id.as_bytes())
    };
    let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
    !name.starts_with("tmux") && (has("cmdline") || has("environ"))
}

/// The process that has started this one.
pub(crate) fn parent(folder: &Path) -> Option<i32> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
}
