//! The answer to a call, as it is stored under the call's key.

use orange_core::mission::{Answered, Refusal};
use orange_core::scheduler::{self, Item};
use serde::{Deserialize, Serialize};

use super::words::{AnsweredForm, ItemForm, RefusalForm, SchedulerRefusalForm};
use super::{Unreadable, VERSION};
use crate::host::Reply;

#[derive(Serialize, Deserialize)]
struct OutcomeForm {
    v: u32,
    #[serde(flatten)]
    kind: KindForm,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindForm {
    Done {
        version: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mission: Option<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repeated: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered: Option<AnsweredText>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        offers: Vec<(String, ItemText)>,
    },
    MissionRefused(RefusalText),
    SchedulerRefused(SchedulerRefusalText),
    NotFound(()),
    Conflict(()),
    BranchTaken {
        mission: String,
    },
}

#[derive(Serialize, Deserialize)]
struct AnsweredText(#[serde(with = "AnsweredForm")] Answered);

#[derive(Serialize, Deserialize)]
struct ItemText(#[serde(with = "ItemForm")] Item);

#[derive(Serialize, Deserialize)]
struct RefusalText(#[serde(with = "RefusalForm")] Refusal);

#[derive(Serialize, Deserialize)]
struct SchedulerRefusalText(#[serde(with = "SchedulerRefusalForm")] scheduler::Refusal);

/// The text of an outcome.
pub fn write(outcome: &Reply) -> String {
    super::write(&OutcomeForm { v: VERSION, kind: KindForm::of(outcome.clone()) })
}

/// The outcome of this text.
///
/// # Errors
/// It is of a newer version, or is no outcome.
pub fn read(text: &str) -> Result<Reply, Unreadable> {
    super::read::<OutcomeForm>(text).map(|it| it.kind.into_outcome())
}

impl KindForm {
    fn of(outcome: Reply) -> KindForm {
        match outcome {
            Reply::Done { version, mission, is_repeated, answered, offers } => KindForm::Done {
                version,
                mission,
                repeated: is_repeated,
                answered: answered.map(AnsweredText),
                offers: offers.into_iter().map(|(crab, item)| (crab, ItemText(item))).collect(),
            },
            Reply::MissionRefused(refusal) => KindForm::MissionRefused(RefusalText(refusal)),
            Reply::SchedulerRefused(refusal) => KindForm::SchedulerRefused(SchedulerRefusalText(refusal)),
            Reply::NotFound => KindForm::NotFound(()),
            Reply::Conflict => KindForm::Conflict(()),
            Reply::BranchTaken { mission } => KindForm::BranchTaken { mission },
        }
    }

    fn into_outcome(self) -> Reply {
        match self {
            KindForm::Done { version, mission, repeated, answered, offers } => Reply::Done {
                version,
                mission,
                is_repeated: repeated,
                answered: answered.map(|it| it.0),
                offers: offers.into_iter().map(|(crab, item)| (crab, item.0)).collect(),
            },
            KindForm::MissionRefused(refusal) => Reply::MissionRefused(refusal.0),
            KindForm::SchedulerRefused(refusal) => Reply::SchedulerRefused(refusal.0),
            KindForm::NotFound(()) => Reply::NotFound,
            KindForm::Conflict(()) => Reply::Conflict,
            KindForm::BranchTaken { mission } => Reply::BranchTaken { mission },
        }
    }
}
