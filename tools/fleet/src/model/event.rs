//! Events as they are sent and compared: the same event is always the same text.

use orange_core::mission;
use orange_core::plan::{Execution, Intervene, StepId};
use orange_core::scheduler::{self, Waiting};
use serde::{Deserialize, Serialize};

use super::words::{ExecutionForm, InterveneForm, StepForm, WaitingForm, maybe_step};
use super::{Unreadable, VERSION};
use crate::host::Event;

#[derive(Serialize, Deserialize)]
struct EventForm {
    v: u32,
    #[serde(flatten)]
    event: ActorForm,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ActorForm {
    Mission { id: String, event: Mission },
    Scheduler { id: String, event: Scheduler },
}

#[derive(Serialize, Deserialize)]
struct Mission(#[serde(with = "MissionEventForm")] mission::Event);

#[derive(Serialize, Deserialize)]
struct Scheduler(#[serde(with = "SchedulerEventForm")] scheduler::Event);

/// See [`mission::Report`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "mission::Report")]
struct ReportForm {
    result: Option<String>,
    summary: String,
    warning: Option<String>,
}

/// See [`mission::Event`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "mission::Event", rename_all = "snake_case")]
enum MissionEventForm {
    Begin,
    Assign {
        #[serde(with = "StepForm")]
        step: StepId,
        attempt: u32,
    },
    Start {
        #[serde(with = "StepForm")]
        step: StepId,
        attempt: u32,
    },
    Complete {
        #[serde(with = "StepForm")]
        step: StepId,
        attempt: u32,
        #[serde(with = "ReportForm")]
        report: mission::Report,
    },
    Fail {
        #[serde(with = "StepForm")]
        step: StepId,
        attempt: u32,
        reason: String,
    },
    Lose {
        #[serde(with = "StepForm")]
        step: StepId,
        attempt: u32,
    },
    Abandon {
        #[serde(with = "StepForm")]
        step: StepId,
        attempt: u32,
    },
    Obstruct {
        reason: String,
    },
    Continue {
        pause: Option<u32>,
        accept_failure: bool,
        #[serde(with = "maybe_execution")]
        execution: Option<Execution>,
        #[serde(with = "maybe_intervene")]
        intervene: Option<Intervene>,
    },
    Retry {
        #[serde(with = "maybe_step")]
        step: Option<StepId>,
    },
    Cancel,
}

/// See [`scheduler::Event`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "scheduler::Event", rename_all = "snake_case")]
enum SchedulerEventForm {
    Register {
        crab: String,
        roles: Vec<String>,
    },
    Leave {
        crab: String,
    },
    Want {
        mission: String,
        version: u64,
        ticket: u64,
        #[serde(with = "items")]
        next: Vec<scheduler::Item>,
        #[serde(with = "maybe_running")]
        running: Option<(StepId, u32)>,
        #[serde(with = "rows")]
        waiting: Vec<Waiting>,
    },
    Park {
        crab: String,
    },
    Unpark {
        crab: String,
    },
    Beat {
        #[serde(with = "beats")]
        leases: Vec<(String, String, StepId, u32)>,
    },
    GiveBack {
        crab: String,
        mission: String,
        #[serde(with = "StepForm")]
        step: StepId,
        attempt: u32,
        reason: String,
    },
    Sweep {
        seen: Option<u64>,
    },
}

/// The text of an event and its actor.
pub fn write(event: &Event) -> String {
    let event = match event.clone() {
        Event::Mission { id, event } => ActorForm::Mission { id, event: Mission(event) },
        Event::Scheduler { id, event } => ActorForm::Scheduler { id, event: Scheduler(event) },
    };
    super::write(&EventForm { v: VERSION, event })
}

/// The event of this text.
///
/// # Errors
/// It is of a newer version, or is no event that this program knows.
pub fn read(text: &str) -> Result<Event, Unreadable> {
    let EventForm { event, .. } = super::read(text)?;
    Ok(match event {
        ActorForm::Mission { id, event } => Event::Mission { id, event: event.0 },
        ActorForm::Scheduler { id, event } => Event::Scheduler { id, event: event.0 },
    })
}

/// The forms of a value of another crate.
macro_rules! remote {
    ($value:ty, $form:literal) => {
        use super::*;
        use serde::{Deserializer, Serializer};

        #[derive(Deserialize)]
        struct Read(#[serde(with = $form)] $value);

        #[derive(Serialize)]
        struct Written<'v>(#[serde(with = $form)] &'v $value);
    };
}

/// Reads and writes a value that may be absent as its remote form.
macro_rules! optional {
    ($module:ident, $value:ty, $form:literal) => {
        mod $module {
            remote!($value, $form);

            pub(super) fn serialize<S: Serializer>(value: &Option<$value>, to: S) -> Result<S::Ok, S::Error> {
                value.as_ref().map(Written).serialize(to)
            }

            pub(super) fn deserialize<'t, D: Deserializer<'t>>(from: D) -> Result<Option<$value>, D::Error> {
                Ok(Option::<Read>::deserialize(from)?.map(|it| it.0))
            }
        }
    };
}

/// Reads and writes a list of values as their remote form.
macro_rules! list {
    ($module:ident, $value:ty, $form:literal) => {
        mod $module {
            remote!($value, $form);

            pub(super) fn serialize<S: Serializer>(values: &[$value], to: S) -> Result<S::Ok, S::Error> {
                to.collect_seq(values.iter().map(Written))
            }

            pub(super) fn deserialize<'t, D: Deserializer<'t>>(from: D) -> Result<Vec<$value>, D::Error> {
                Ok(Vec::<Read>::deserialize(from)?.into_iter().map(|it| it.0).collect())
            }
        }
    };
}

/// See [`scheduler::Item`].
type ItemForm = super::words::ItemForm;

optional!(maybe_execution, Execution, "ExecutionForm");
optional!(maybe_intervene, Intervene, "InterveneForm");
list!(items, scheduler::Item, "ItemForm");
list!(rows, Waiting, "WaitingForm");

mod beats {
    use super::{Deserialize, Serialize, StepId};
    use serde::{Deserializer, Serializer};

    type Beat = (String, String, StepId, u32);

    pub(super) fn serialize<S: Serializer>(beats: &[Beat], to: S) -> Result<S::Ok, S::Error> {
        let written =
            |(crab, mission, step, attempt): &Beat| (crab.clone(), mission.clone(), step.0, *attempt);
        beats.iter().map(written).collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'t, D: Deserializer<'t>>(from: D) -> Result<Vec<Beat>, D::Error> {
        let read = Vec::<(String, String, u16, u32)>::deserialize(from)?;
        Ok(read
            .into_iter()
            .map(|(crab, mission, step, attempt)| (crab, mission, StepId(step), attempt))
            .collect())
    }
}

mod maybe_running {
    use super::{Deserialize, Serialize, StepId};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Option<(StepId, u32)>, to: S) -> Result<S::Ok, S::Error> {
        value.map(|(step, attempt)| (step.0, attempt)).serialize(to)
    }

    pub(super) fn deserialize<'t, D: Deserializer<'t>>(from: D) -> Result<Option<(StepId, u32)>, D::Error> {
        let read = Option::<(u16, u32)>::deserialize(from)?;
        Ok(read.map(|(step, attempt)| (StepId(step), attempt)))
    }
}
