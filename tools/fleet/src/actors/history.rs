//! Records of an accepted event of a mission: the differences between before and after.

use orange_core::mission::{
    Answerer, AttemptEnd, Effect, Event, Mission, MissionStatus, Pause, PauseReason, Report, StepFailure,
    StepState, StepStatus,
};
use orange_core::plan::{Plan, StepId};
use serde_json::{Value, json};

use super::{AttemptChange, HostChange, MissionActor};
use crate::host::CallDetails;

/// The longest summary in a record, in characters; the mission has it whole.
const SUMMARY: usize = 200;

/// Everything that has changed: attempts that have ended, then step by step in the order of the plan what follows, and then the mission
/// itself.
pub(super) fn history(
    actor: &MissionActor,
    before: &Mission,
    event: &Event,
    effects: &[Effect],
    about: &CallDetails,
) -> Vec<HostChange> {
    let mut writer = HistoryWriter { actor, about, changes: Vec::new() };
    if let Event::Retry { step } = event {
        writer.record("mission.retried", json!({"step": step.map(|it| writer.name(it))}));
    }
    if let Event::Start { step, attempt } = event {
        writer.started(*step, *attempt);
    }
    let steps = || before.steps.iter().zip(&actor.mission.steps).enumerate();
    // A loop step comes after the step that waits again when it ends.
    steps().for_each(|(index, (old, new))| writer.end(StepId(index as u16), old, new));
    steps().for_each(|(index, (old, new))| writer.step(StepId(index as u16), old, new));
    if let Event::Continue { pause, .. } = event {
        let answered = pause.or_else(|| before.pause().map(|it| it.number));
        writer.record("mission.continued", json!({"pause": answered}));
    }
    effects.iter().for_each(|effect| writer.effect(effect));
    writer.changes
}

struct HistoryWriter<'a> {
    actor: &'a MissionActor,
    about: &'a CallDetails,
    changes: Vec<HostChange>,
}

impl HistoryWriter<'_> {
    fn started(&mut self, step: StepId, attempt: u32) {
        let CallDetails { crab, worktree, .. } = self.about;
        let data = json!({"step": self.name(step), "attempt": attempt, "crab": crab, "worktree": worktree});
        let what = AttemptChange::Started { crab: crab.clone(), worktree: worktree.clone() };
        self.attempt(step, attempt, what);
        self.record("run.started", data);
    }

    /// The attempt that was open. Those before it have ended, and stay as they are.
    fn end(&mut self, step: StepId, old: &StepState, new: &StepState) {
        let (Some(was), Some(is)) =
            (old.attempts.last(), new.attempts.get(old.attempts.len().saturating_sub(1)))
        else {
            return;
        };
        if let Some(end) = is.end.as_ref().filter(|_| was.end.is_none()) {
            self.ended(step, old.attempts.len() as u32, end);
        }
    }

    fn step(&mut self, step: StepId, old: &StepState, new: &StepState) {
        for (index, is) in new.attempts.iter().enumerate().skip(old.attempts.len()) {
            let attempt = index as u32 + 1;
            self.attempt(step, attempt, AttemptChange::Queued);
            self.record("step.queued", json!({"step": self.name(step), "attempt": attempt}));
            if let Some(end) = &is.end {
                self.ended(step, attempt, end);
            }
        }
        if new.status == StepStatus::Skipped && old.status != StepStatus::Skipped {
            self.record("step.skipped", json!({"step": self.name(step)}));
        }
        if new.status == StepStatus::Failed && old.status != StepStatus::Failed {
            let (name, why) = (self.name(step), failure(self.actor.plan, new.failure.as_ref()));
            self.record("step.failed", json!({"step": name, "why": why}));
        }
    }

    fn ended(&mut self, step: StepId, attempt: u32, end: &AttemptEnd) {
        let CallDetails { crab, commit, .. } = self.about;
        let (name, crab) = (self.name(step), crab.as_ref());
        if self.actor.plan.step(step).is_ask() {
            return self.ask_ended(step, attempt, end);
        }
        let (kind, commit, data) = match end {
            AttemptEnd::Completed(Report { result, summary, warning, outputs, answer: _ }) => {
                let summary = shortened(summary);
                let mut data = json!({"step": name, "attempt": attempt, "crab": crab, "result": result,
                    "summary": summary, "warning": warning, "commit": commit});
                if !outputs.is_empty() {
                    data["outputs"] = json!(outputs);
                }
                ("run.completed", commit.clone(), data)
            }
            AttemptEnd::Failed { reason } | AttemptEnd::Rejected { reason, .. } => {
                let data = json!({"step": name, "attempt": attempt, "crab": crab, "reason": shortened(reason),
                    "commit": commit});
                ("run.failed", commit.clone(), data)
            }
            AttemptEnd::Lost => ("run.lost", None, json!({"step": name, "attempt": attempt})),
            AttemptEnd::Abandoned => ("run.abandoned", None, json!({"step": name, "attempt": attempt})),
            AttemptEnd::Withdrawn => ("run.withdrawn", None, json!({"step": name, "attempt": attempt})),
        };
        self.attempt(step, attempt, AttemptChange::Ended { commit });
        self.record(kind, data);
    }

    /// The end of a question: its answer, the end of its time, or its withdrawal.
    fn ask_ended(&mut self, step: StepId, attempt: u32, end: &AttemptEnd) {
        let name = self.name(step);
        let answer = end.answered();
        let by = answer.as_ref().map(|(_, origin)| origin.by.as_str());
        let shown = answer.as_ref().and_then(|(_, origin)| origin.commit.clone());
        let word = answer.as_ref().map(|(word, _)| word.as_str());
        let (kind, data) = match end {
            AttemptEnd::Completed(Report { summary: text, answer, .. }) => {
                match answer.as_ref().map(|it| &it.by) {
                    Some(Answerer::Timeout) => {
                        ("step.expired", json!({"step": name, "attempt": attempt, "answer": word}))
                    }
                    Some(Answerer::Person(_)) | None => (
                        "step.answered",
                        json!({"step": name, "attempt": attempt, "answer": word, "by": by,
                        "comment": shortened(text), "commit": shown}),
                    ),
                }
            }
            AttemptEnd::Rejected { reason, .. } => (
                "step.answered",
                json!({"step": name, "attempt": attempt, "answer": word, "by": by,
                    "comment": shortened(reason), "commit": shown}),
            ),
            AttemptEnd::Failed { .. } => {
                ("step.expired", json!({"step": name, "attempt": attempt, "answer": word}))
            }
            AttemptEnd::Lost | AttemptEnd::Abandoned | AttemptEnd::Withdrawn => {
                ("step.withdrawn", json!({"step": name, "attempt": attempt}))
            }
        };
        self.attempt(step, attempt, AttemptChange::Ended { commit: None });
        self.record(kind, data);
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Paused(Pause { number, reason, is_pointless: _ }) => {
                let (why, step) = reason_of(reason);
                let step = step.map(|it| self.name(it));
                self.record("mission.paused", json!({"pause": number, "why": why, "step": step}));
            }
            Effect::Ended(status) => self.record(end_of(*status), json!({"status": status.as_str()})),
            Effect::Continued(_)
            | Effect::EndAgent { .. }
            | Effect::Repeated
            | Effect::Land { .. }
            | Effect::Start { .. }
            | Effect::Ask { .. } => {}
        }
    }

    fn name(&self, step: StepId) -> &'static str {
        self.actor.plan.steps.get(step.index()).map_or("", |it| it.id)
    }

    fn attempt(&mut self, step: StepId, attempt: u32, what: AttemptChange) {
        self.changes.push(HostChange::Attempt { mission: self.actor.id.clone(), step, attempt, what });
    }

    fn record(&mut self, kind: &'static str, data: Value) {
        let MissionActor { id, colony, .. } = self.actor;
        self.changes.push(HostChange::Record {
            colony: colony.clone(),
            mission: Some(id.clone()),
            kind,
            data,
        });
    }
}

fn end_of(status: MissionStatus) -> &'static str {
    match status {
        MissionStatus::Completed => "mission.completed",
        MissionStatus::Failed => "mission.failed",
        MissionStatus::Cancelled => "mission.cancelled",
        MissionStatus::Pending | MissionStatus::Running | MissionStatus::Paused => "mission.ended",
    }
}

fn failure(plan: &Plan<'_>, failure: Option<&StepFailure>) -> Value {
    match failure {
        None => Value::Null,
        Some(StepFailure::Reported(reason)) => json!({"reported": shortened(reason)}),
        Some(StepFailure::Stuck(times)) => json!({"stuck": times}),
        Some(StepFailure::Abandoned(times)) => json!({"abandoned": times}),
        Some(StepFailure::Items { failed, of }) => json!({"items": of, "failed": failed}),
        Some(StepFailure::Exhausted(completions)) => json!({"exhausted": completions}),
        Some(StepFailure::Cap) => json!({"cap": plan.max_attempts}),
        Some(StepFailure::Because(step)) => json!({"because": plan.steps.get(step.index()).map(|it| it.id)}),
    }
}

/// The word for a reason, and the step that it is about.
fn reason_of(reason: &PauseReason) -> (&str, Option<StepId>) {
    match reason {
        PauseReason::Boundary(step) => ("boundary", Some(*step)),
        PauseReason::Warning(step) => ("warning", Some(*step)),
        PauseReason::Error(step) => ("error", Some(*step)),
        PauseReason::Exhausted(step) => ("exhausted", Some(*step)),
        PauseReason::Cap(step) => ("cap", Some(*step)),
        PauseReason::Obstacle(reason) => (reason, None),
        PauseReason::Changed(_) => ("worktree changed", None),
    }
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(SUMMARY).map_or(text, |(end, _)| &text[..end])
}
