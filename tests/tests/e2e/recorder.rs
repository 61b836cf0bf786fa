//! Recorders of the panes of a task's agents.

use std::fs;
use std::path::Path;

use crate::task::is_alive;

/// The processes that record a pane into a file below this folder.
pub(crate) fn of(folder: &Path) -> Vec<i32> {
    let is_recorder = |pid: i32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        let file = words.get(3).map(|file| String::from_utf8_lossy(file).into_owned()).unwrap_or_default();
        words.get(1..3) == Some(&[b"agent".as_slice(), b"record".as_slice()])
            && Path::new(&file).starts_with(folder)
            && is_alive(pid)
    };
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| is_recorder(*pid))
        .collect()
}
