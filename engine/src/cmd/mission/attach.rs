//! `orange mission attach`

use orange_core::mission::MissionStatus;

use crate::Result;
use crate::flow::mission::Course;
use crate::store::{TaskDir, TaskHistory};

/// What a person can do about a mission without an agent, each with the command.
pub fn commands(dir: &TaskDir, history: &TaskHistory) -> Result<Vec<String>> {
    let course = Course::of(dir, history)?;
    let id = &dir.id;
    Ok(match course.mission.status {
        MissionStatus::Paused => course.pause(id).map(|pause| pause.offers).unwrap_or_default(),
        MissionStatus::Failed => {
            vec![format!("orange mission retry {id}"), format!("orange mission cancel {id}")]
        }
        MissionStatus::Pending | MissionStatus::Running => vec![format!("orange mission cancel {id}")],
        MissionStatus::Completed | MissionStatus::Cancelled => Vec::new(),
    })
}
