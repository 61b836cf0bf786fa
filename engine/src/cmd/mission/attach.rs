//! `orange mission attach`

use crate::Result;
use crate::flow::mission::Projection;
use crate::store::{WorkItemDir, WorkItemHistory};

/// Actions that a person can take on a mission without an agent, each with the command.
pub fn commands(dir: &WorkItemDir, history: &WorkItemHistory) -> Result<Vec<String>> {
    Ok(Projection::of(dir, history)?.commands(&dir.id))
}
