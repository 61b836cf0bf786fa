//! The plan of a mission, as it was when the mission was started.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use orange_api::stored_plan;
use orange_core::plan::Plan;
use orange_system::nofollow;

use super::WorkItemDir;
use super::create::plan_hash;
use crate::{Error, ErrorKind, Result};

/// The plan of a mission: its own copy. The compiled-in one may come from another compiler.
///
/// # Errors
/// `corrupt` for a copy that is damaged, or was changed.
pub fn of(dir: &WorkItemDir, hash: &str) -> Result<&'static Plan<'static>> {
    /// The plans that this process has made of copies, by their hashes: each lives as long as the process.
    static READ: Mutex<BTreeMap<String, &'static Plan<'static>>> = Mutex::new(BTreeMap::new());
    let path = dir.plan();
    let damaged = |what: &str| {
        Error::new(ErrorKind::Corrupt, format!("{}: {what}", path.display())).help(format!(
            "it is the plan that the mission was started with: restore it from a backup, then `orange mission continue {id}`; \
             or `orange mission cancel {id}`",
            id = dir.id
        ))
    };
    let text = nofollow::read(&path, nofollow::LONGEST).map_err(|cause| damaged(&cause.to_string()))?;
    if plan_hash(&text) != hash {
        return Err(damaged("it was changed since the mission was started"));
    }
    let mut known = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = known.get(hash) {
        return Ok(plan);
    }
    let plan = stored_plan::read(&text).map_err(|what| damaged(&what))?;
    known.insert(hash.to_owned(), plan);
    Ok(plan)
}
