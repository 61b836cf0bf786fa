//! Room on the disk: what a run needs, and what is free.

use std::env;
use std::path::Path;

use orange_system::files::{disk_space, size};

use crate::Result;
use crate::workspace::OwnRepository;

/// Bytes that a run takes at most from a fresh clone: builds, installed agents, and what tests leave for a while.
const NEEDED: u64 = 10 << 30;

/// Bytes that a run takes where everything is built.
const NEEDED_WHEN_BUILT: u64 = 3 << 30;

/// Bytes that are free for builds and for temporary files, whichever are fewer.
///
/// # Errors
/// A disk cannot be looked at.
pub(super) fn free(workspace: &OwnRepository) -> Result<u64> {
    let free = |folder: &Path| disk_space(folder).map(|it| it.free).map_err(|error| error.to_string());
    Ok(free(&workspace.programs()?)?.min(free(&env::temp_dir())?))
}

/// Refuses a run for which the disk has no room: without it, every test fails in its own words.
///
/// # Errors
/// There is too little room.
pub(super) fn refuse_if_full(workspace: &OwnRepository, free: u64) -> Result<()> {
    let is_built = workspace.programs()?.join("orange-fleet").is_file();
    let needed = if is_built { NEEDED_WHEN_BUILT } else { NEEDED };
    if free >= needed {
        return Ok(());
    }
    Err(format!(
        "a run needs {} on the disk, and {} are free: make room, and run it again",
        size(needed),
        size(free)
    ))
}
