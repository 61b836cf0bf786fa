//! The abilities of crabs that steps need beside a role.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;

use super::Item;
use crate::plan::{Plan, StepId};

/// Between the role and the needs of a lane. No role has it.
const SEPARATOR: char = ',';

/// Part of an assignment that only a crab with this ability carries out; one without it would pass over that part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Ability {
    /// It checks the gates of a step before the report of its agent counts.
    Gates,
    /// It can make a wall around the agent of a step.
    Wall,
}

impl Ability {
    /// Every ability.
    pub const ALL: [Ability; 2] = [Ability::Gates, Ability::Wall];

    /// The word in messages and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Ability::Gates => "gates",
            Ability::Wall => "wall",
        }
    }

    /// The ability of this word.
    pub fn parse(word: &str) -> Option<Ability> {
        Ability::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// The abilities that a step needs.
    pub fn needed_by(plan: &Plan<'_>, id: StepId) -> BTreeSet<Ability> {
        let needs = |ability: &Ability| match ability {
            Ability::Gates => !plan.step(id).gates.is_empty(),
            Ability::Wall => !plan.demand_on(id).level.is_off(),
        };
        Ability::ALL.into_iter().filter(needs).collect()
    }
}

impl Item {
    /// The lane in which it waits. A crab takes every step of a lane, or none: `worker`, `worker,gates,wall`.
    pub fn lane(&self) -> String {
        let mut lane = self.role.clone();
        for need in &self.needs {
            lane.push(SEPARATOR);
            lane.push_str(need.as_str());
        }
        lane
    }

    /// The step of a mission that waits in this lane. A need of a newer version stays a part of the role, which no crab has.
    pub fn of_lane(lane: &str, mission: String, step: StepId, attempt: u32) -> Item {
        let (mut role, mut needs) = (lane, BTreeSet::new());
        while let Some((rest, need)) = role.rsplit_once(SEPARATOR)
            && let Some(need) = Ability::parse(need)
        {
            needs.insert(need);
            role = rest;
        }
        Item { mission, step, attempt, role: role.to_owned(), needs }
    }
}
