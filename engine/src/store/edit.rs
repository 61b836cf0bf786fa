//! Edits a `TASK.md` that people and agents edit too, without locks of ours: nothing that they write is lost.

use std::path::Path;

use crate::store::frontmatter::Document;
use crate::store::history::WorkItemHistory;
use crate::store::{WorkItemDir, late_write, work_item};
use crate::{Error, ErrorKind, Result};
use orange_system::{atomic, regular};

/// Edits the current file, and again if it was written meanwhile. `change` gets the file as it was read, and the one to be
/// written. Returns the file as it is afterwards.
///
/// # Errors
/// Those of `change`, and `refused` for a text that is too long, nothing being written; `corrupt` when the file cannot be
/// understood; `environment`.
pub fn edit(
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    change: impl Fn(&Document, &mut Document) -> Result<()>,
) -> Result<Document> {
    const ATTEMPTS: usize = 50;
    let path = dir.task_md();
    for _ in 0..ATTEMPTS {
        let late = late_write::found(&path)?;
        let before = work_item::document(dir, history)?;
        let mut after = before.clone();
        change(&before, &mut after)?;
        if let Some(body) = late_write::carried(&late, after.body()) {
            after.set_body(&body);
        }
        regular::check_length(after.text())?;
        if after == before || replace(&path, &before, &after)? {
            late.into_iter().try_for_each(|late| late.done(&path))?;
            return Ok(after);
        }
    }
    Err(Error::new(ErrorKind::Environment, format!("{} is being written all the time", path.display()))
        .help("something rewrites this file in a loop: stop it and try again"))
}

/// Returns whether the file was unchanged. A write between the comparison and the exchange is found as a late write.
fn replace(path: &Path, before: &Document, after: &Document) -> Result<bool> {
    let former = late_write::name(path, before.body());
    let swapped = atomic::swap(path, before.text().as_bytes(), after.text().as_bytes(), &former)?;
    Ok(swapped && late_write::at(&former).is_none())
}
