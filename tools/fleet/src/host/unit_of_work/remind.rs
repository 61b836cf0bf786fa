//! Questions of steps by the clock: people are reminded of those that wait, and those end whose time is over.

use orange_core::mission::{self, StepStatus};
use serde_json::json;

use super::load::Loaded;
use super::{Failed, Rows, UnitOfWork};
use crate::actors::{Cascade, HostChange};
use crate::host::{ActorCall, CallDetails, Event, HostError, Millis, OpenQuestion};

impl<R: Rows> UnitOfWork<R> {
    /// Does what is due about a question. Says whether anything was due.
    pub(super) fn remind(&mut self, question: &OpenQuestion) -> Result<Result<bool, HostError>, Failed> {
        // The store has to know which questions have been answered in this transaction.
        self.save()?;
        let Some(since) = self.rows.asked(question, self.now)? else { return Ok(Ok(false)) };
        let OpenQuestion { mission: id, step, attempt } = question;
        let found = self.load_mission(id)?;
        let Some(actor) =
            self.missions.get(id).map(|it| &it.actor).filter(|_| matches!(found, Loaded::Found))
        else {
            return Ok(Err(HostError::Corrupt(format!("mission {id} cannot be read"))));
        };
        let of_plan = actor.plan.steps.get(step.index());
        let is_open = actor
            .mission
            .steps
            .get(step.index())
            .is_some_and(|it| it.status == StepStatus::Asked && it.attempt() == *attempt);
        let Some(of_plan) = of_plan.filter(|_| is_open) else {
            self.next_due(question, None);
            return Ok(Ok(false));
        };
        let waited = u32::try_from((self.now - since) / 1000).unwrap_or(u32::MAX);
        if of_plan.timeout.is_some_and(|it| it <= waited) {
            let event = mission::Event::Expire { step: *step, attempt: *attempt };
            let event = Event::Mission { id: id.clone(), event };
            let call = ActorCall { key: None, event, about: CallDetails::default() };
            return Ok(self.run(Cascade::new(call))?.map(|_| true));
        }
        let (colony, due) = (actor.colony.clone(), of_plan.due_after(waited));
        let data = json!({"step": of_plan.id, "attempt": attempt});
        self.note(HostChange::Record { colony, mission: Some(id.clone()), kind: "step.reminded", data })?;
        self.next_due(question, due.map(|it| since + 1000 * Millis::from(it)));
        Ok(Ok(true))
    }

    fn next_due(&mut self, question: &OpenQuestion, due: Option<Millis>) {
        let OpenQuestion { mission, step, attempt } = question;
        let key = (mission.clone(), step.0, *attempt);
        self.writes.attempts.entry(key).or_default().due = Some(due);
    }
}
