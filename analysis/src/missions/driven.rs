//! A mission as the engine drives it: it merges branches, puts questions and starts agents at once.

use std::collections::BTreeSet;

use orange_core::mission::{Effect, Event, Mission, Refusal};
use orange_core::plan::{Plan, StepId};

use super::MissionAct;

/// The attempts whose branches are not going to merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Conflicts(BTreeSet<(StepId, u32)>);

impl Conflicts {
    /// Notes that the branch of an attempt is not going to merge, if this event of an act says so.
    pub(crate) fn note(&mut self, act: &MissionAct, event: &Event) {
        if let (MissionAct::Conflict(..), Event::Complete { step, attempt, .. }) = (act, event) {
            self.0.insert((*step, *attempt));
        }
    }

    /// True if the branch of this attempt is not going to merge.
    pub(crate) fn has(&self, step: StepId, attempt: u32) -> bool {
        self.0.contains(&(step, attempt))
    }

    /// Carries out what the engine does at once. Adds the effects to those of the event before.
    ///
    /// # Errors
    /// A refusal, which no mission gives to what it has asked for itself.
    pub(crate) fn drive(
        &self,
        plan: &Plan<'_>,
        mission: &mut Mission,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        loop {
            let (event, effect) = if let Some((step, attempt)) = mission.next_landing() {
                let event = match self.has(step, attempt) {
                    true => Event::Conflict { step, attempt, reason: "conflict".to_owned() },
                    false => Event::Landed { step, attempt },
                };
                (event, Effect::Land { step, attempt })
            } else if let Some((step, attempt)) = mission.next_ask(plan) {
                (Event::Ask { step, attempt, commit: None }, Effect::Ask { step, attempt })
            } else if let Some((step, attempt)) = mission.next(plan) {
                (Event::Start { step, attempt }, Effect::Start { step, attempt })
            } else {
                return Ok(());
            };
            if !effects.contains(&effect) {
                effects.push(effect);
            }
            let is_landing = matches!(event, Event::Landed { .. } | Event::Conflict { .. });
            let more = mission.apply(plan, event)?;
            // The start of what a landing makes possible follows here.
            effects.extend(more.into_iter().filter(|_| is_landing));
        }
    }
}
