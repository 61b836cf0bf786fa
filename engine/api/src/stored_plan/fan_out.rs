//! Use of the worktree, and fan-outs, as programs store them.

use orange_core::plan::{FanOut, InputId, ItemList, OutputId, StepId, WorktreeUse};
use serde::{Deserialize, Serialize};

use super::{owned, words};

/// Use of the mission's worktree by a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredUse {
    #[default]
    Write,
    Read,
    Own,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredFanOut {
    list: StoredList,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enough: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredList {
    Output(u16, u16),
    Input(u16),
    Fixed(Vec<String>),
}

impl StoredUse {
    pub(super) fn of(worktree: WorktreeUse) -> StoredUse {
        match worktree {
            WorktreeUse::Write => StoredUse::Write,
            WorktreeUse::Read => StoredUse::Read,
            WorktreeUse::Own => StoredUse::Own,
        }
    }

    pub(super) fn leak(self) -> WorktreeUse {
        match self {
            StoredUse::Write => WorktreeUse::Write,
            StoredUse::Read => WorktreeUse::Read,
            StoredUse::Own => WorktreeUse::Own,
        }
    }

    pub(super) fn is_usual(&self) -> bool {
        *self == StoredUse::Write
    }
}

impl StoredFanOut {
    pub(super) fn of(fan_out: &FanOut<'_>) -> StoredFanOut {
        let list = match fan_out.list {
            ItemList::Output(step, output) => StoredList::Output(step.0, output.0),
            ItemList::Input(input) => StoredList::Input(input.0),
            ItemList::Fixed(items) => StoredList::Fixed(owned(items)),
        };
        StoredFanOut { list, enough: fan_out.enough }
    }

    /// `None` where it names a step that the plan does not have, or no item is enough.
    pub(super) fn leak(self, id: &dyn Fn(u16) -> Option<StepId>) -> Option<FanOut<'static>> {
        let list = match self.list {
            StoredList::Output(step, output) => ItemList::Output(id(step)?, OutputId(output)),
            StoredList::Input(input) => ItemList::Input(InputId(input)),
            StoredList::Fixed(items) => ItemList::Fixed(words(items)),
        };
        (self.enough != Some(0)).then_some(FanOut { list, enough: self.enough })
    }
}
