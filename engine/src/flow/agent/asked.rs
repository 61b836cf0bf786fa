//! The requests of agents for a permission, and the files with the answers, for which the asking processes wait.

use std::fs::DirEntry;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::store::WorkItemDir;
use crate::store::activity::{Activity, ActivityNote};
use crate::{Error, Result};
use orange_system::process::Process;
use orange_system::{atomic, nofollow};

/// A person's answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestAnswer {
    /// True if the agent may do it.
    pub allow: bool,
    /// A message to the agent.
    pub message: Option<String>,
}

/// The name of a request: `<task>.<spawn>.<mark>`.
pub fn name(dir: &WorkItemDir, spawn: u32, mark: &str) -> String {
    format!("{}.{spawn}.{mark}", dir.id)
}

/// The file for the answer to this request.
pub fn path(dir: &WorkItemDir, request: &str) -> PathBuf {
    let own = request.strip_prefix(&dir.id).unwrap_or(request).trim_start_matches('.');
    dir.answers().join(format!("{}.json", own.replace('/', "-")))
}

/// True if this request has an answer.
pub fn is_answered(dir: &WorkItemDir, request: &str) -> bool {
    path(dir, request).symlink_metadata().is_ok()
}

/// The answer to this request, if there is one.
pub fn given(dir: &WorkItemDir, request: &str) -> Option<RequestAnswer> {
    serde_json::from_slice(&nofollow::read(&path(dir, request), nofollow::LONGEST).ok()?).ok()
}

/// The activity that the harness has reported: a request for which no process waits was answered on the screen.
pub fn known(notes: &[ActivityNote], spawn: u32) -> Activity {
    let mut activity = Activity::of(notes, spawn);
    activity.asked.retain(is_asked);
    activity
}

/// True if the process that waits for the answer is alive; a request without one is on the screen alone.
pub fn is_asked(note: &ActivityNote) -> bool {
    match (note.pid, note.start) {
        // Nothing proves its end where the process table cannot be read.
        (Some(pid), Some(start)) => Process { pid, start }.is_alive().unwrap_or(true),
        (None, _) | (_, None) => true,
    }
}

/// Removes the answers to requests of an agent that has ended.
pub fn forget(dir: &WorkItemDir, spawn: u32) -> Result<()> {
    let of_spawn = format!("{spawn}.");
    let folder = dir.answers();
    let entries =
        nofollow::entries(&folder).map_err(|cause| Error::io("read the folder", &folder, &cause))?;
    let is_its = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(&of_spawn);
    entries.iter().filter(|entry| is_its(entry)).try_for_each(|entry| atomic::remove(&entry.path()))
}
