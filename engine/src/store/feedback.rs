//! The feedback on the pull request of a task, a file for each round.

use std::path::PathBuf;

use orange_api::Feedback;
use orange_system::files::{entries, if_found};
use orange_system::{atomic, nofollow};

use crate::store::{LockedWorkItem, WorkItemDir, home};
use crate::{Error, ErrorKind, Result};

/// The longest file that is read.
const LONGEST: u64 = 16 << 20;

/// Writes the feedback of a round. A file of the same round is replaced: its transition was not taken.
pub fn write(locked: &LockedWorkItem, feedback: &Feedback) -> Result<()> {
    let path = file(locked.dir(), feedback.number);
    home::make_folder(path.parent().unwrap_or(&path))?;
    let json = serde_json::to_vec(feedback)
        .map_err(|cause| Error::new(ErrorKind::Environment, format!("the feedback has no JSON: {cause}")))?;
    atomic::write(&path, &json)
}

/// The feedback of a round; `None` if there is none.
pub fn read(dir: &WorkItemDir, number: u32) -> Result<Option<Feedback>> {
    let path = file(dir, number);
    let Some(bytes) = if_found(&path, nofollow::read(&path, LONGEST))? else { return Ok(None) };
    let feedback = serde_json::from_slice(&bytes).map_err(|cause| {
        let message = format!("{} cannot be read: {cause}", path.display());
        Error::new(ErrorKind::Corrupt, message).help("remove it: the next round does not need it")
    })?;
    Ok(Some(feedback))
}

/// The feedback of the newest round; `None` before the first one.
pub fn newest(dir: &WorkItemDir) -> Result<Option<Feedback>> {
    match rounds(dir)?.last() {
        Some(number) => read(dir, *number),
        None => Ok(None),
    }
}

/// The rounds of which there is feedback, in order.
pub fn rounds(dir: &WorkItemDir) -> Result<Vec<u32>> {
    let names = entries(&dir.feedback())?.into_iter().map(|entry| entry.file_name());
    let mut rounds: Vec<u32> = names
        .filter_map(|name| {
            let number: u32 = name.to_str()?.strip_suffix(".json")?.parse().ok()?;
            (*name == *format!("{number}.json")).then_some(number)
        })
        .collect();
    rounds.sort_unstable();
    Ok(rounds)
}

fn file(dir: &WorkItemDir, number: u32) -> PathBuf {
    dir.feedback().join(format!("{number}.json"))
}
