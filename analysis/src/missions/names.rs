//! What people call the states of missions and steps.

use orange_core::mission::{MissionStatus, StepStatus};

/// The status of a mission in words.
pub fn status_name(status: MissionStatus) -> &'static str {
    match status {
        MissionStatus::Pending => "pending",
        MissionStatus::Running => "running",
        MissionStatus::Paused => "paused",
        MissionStatus::Completed => "completed",
        MissionStatus::Failed => "failed",
        MissionStatus::Cancelled => "cancelled",
    }
}

/// The status of a step in words.
pub fn step_status_name(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Blocked => "blocked",
        StepStatus::Queued => "queued",
        StepStatus::Assigned => "assigned",
        StepStatus::Running => "running",
        StepStatus::Completed => "completed",
        StepStatus::Failed => "failed",
        StepStatus::Skipped => "skipped",
        StepStatus::Cancelled => "cancelled",
    }
}
