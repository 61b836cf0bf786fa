//! The core's enums as serde reads and writes them. Each is checked against the core's by the compiler.

use orange_core::mission::{Answered, MissionStatus, Refusal, StepStatus};
use orange_core::plan::{Execution, Intervene, StepId};
use orange_core::scheduler;
use serde::{Deserialize, Serialize};

/// The number of a step.
#[derive(Serialize, Deserialize)]
#[serde(remote = "StepId")]
pub(super) struct StepForm(u16);

/// A step that may be absent.
pub(super) mod maybe_step {
    use super::{Deserialize, StepId};
    use serde::{Deserializer, Serializer};

    pub(in crate::model) fn serialize<S: Serializer>(
        step: &Option<StepId>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match step {
            Some(step) => to.serialize_some(&step.0),
            None => to.serialize_none(),
        }
    }

    pub(in crate::model) fn deserialize<'t, D: Deserializer<'t>>(
        from: D,
    ) -> Result<Option<StepId>, D::Error> {
        Ok(Option::<u16>::deserialize(from)?.map(StepId))
    }
}

/// See [`MissionStatus`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "MissionStatus", rename_all = "lowercase")]
pub(super) enum MissionStatusForm {
    Pending,
    Running,
    Paused,
    Completed,
    Failed,
    Cancelled,
}

/// See [`StepStatus`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "StepStatus", rename_all = "lowercase")]
pub(super) enum StepStatusForm {
    Blocked,
    Queued,
    Assigned,
    Running,
    Completed,
    Failed,
    Skipped,
    Cancelled,
}

/// See [`Execution`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Execution", rename_all = "kebab-case")]
pub(super) enum ExecutionForm {
    Step,
    Auto,
}

/// See [`Intervene`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Intervene", rename_all = "kebab-case")]
pub(super) enum InterveneForm {
    Never,
    OnWarning,
    OnError,
    Always,
}

/// See [`Answered`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Answered", rename_all = "snake_case")]
pub(super) enum AnsweredForm {
    WentOn,
    TriedAgain(#[serde(with = "StepForm")] StepId),
    Granted(#[serde(with = "StepForm")] StepId),
    Accepted(#[serde(with = "StepForm")] StepId),
}

/// See [`Refusal`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Refusal", rename_all = "snake_case")]
pub(super) enum RefusalForm {
    Closed(#[serde(with = "MissionStatusForm")] MissionStatus),
    HasBegun,
    Pending,
    Paused,
    NoSuchStep,
    Stale { current: u32 },
    NoSuchAttempt { current: u32 },
    HasEnded,
    NotQueued(#[serde(with = "StepStatusForm")] StepStatus),
    Busy(#[serde(with = "StepForm")] StepId),
    ResultNeeded,
    ResultUndeclared,
    NotPaused,
    OtherPause { current: u32 },
    NothingToAccept,
    NotFailed(#[serde(with = "MissionStatusForm")] MissionStatus),
    NothingToRetry,
}

/// See [`scheduler::Refusal`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "scheduler::Refusal", rename_all = "snake_case")]
pub(super) enum SchedulerRefusalForm {
    RoleTaken { role: String, holder: String },
    NoRole,
    NoSuchCrab,
    NoSuchLease,
    HasSwept,
}

/// See [`scheduler::Item`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "scheduler::Item")]
pub(super) struct ItemForm {
    mission: String,
    #[serde(with = "StepForm")]
    step: StepId,
    attempt: u32,
    role: String,
}

/// See [`scheduler::Waiting`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "scheduler::Waiting")]
pub(super) struct WaitingForm {
    #[serde(with = "ItemForm")]
    item: scheduler::Item,
    ticket: u64,
    version: u64,
}
