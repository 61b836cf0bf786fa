//! View of a mission, for answers: its steps with their attempts, and its question to a person.

use std::path::Path;
use std::time::Duration;

use orange_core::mission::{
    AttemptEnd, ItemStatus, ItemView, MissionStatus, Pause, PauseReason, StepFailure, StepState,
};
use orange_core::plan::{Plan, StepId};

use super::Projection;
use crate::drive::harness::shell_word;
use crate::store::event::EndedAttempt;
use crate::store::{Event, Record, WorkItem, WorkItemHistory};
use orange_api::{LoopCount, MissionAttempt, MissionItem, MissionPause, MissionStep, StepResult};
use orange_system::clock;

/// Reason for the failure of an item that needed another attempt.
const NO_ATTEMPT: &str = "the mission has no attempt left";

impl Projection {
    /// The step that runs or comes next, or about which it asks.
    pub fn current(&self) -> Option<StepId> {
        let mission = &self.mission;
        let asked = mission.pause().and_then(|pause| pause.reason.step());
        let open = || mission.open_asks().next().map(|(step, _)| step);
        asked
            .or(mission.working().next().map(|(step, _)| step))
            .or_else(|| mission.next(self.plan).map(|(step, _)| step))
            .or_else(open)
    }

    /// The place of the step that runs, or would run next, in the order in which steps can run.
    pub fn current_index(&self) -> Option<usize> {
        let upcoming = self.mission.upcoming()?;
        self.plan.order.iter().position(|step| *step == upcoming)
    }

    /// The name of a step.
    pub fn name(&self, step: StepId) -> String {
        self.plan.step(step).id.to_owned()
    }

    /// The oldest pause that waits for the answer of a person, with the commands that answer.
    pub fn pause(&self, id: &str) -> Option<MissionPause> {
        self.mission.pause().map(|pause| self.asked(id, pause))
    }

    /// Every pause that waits for the answer of a person, the oldest first.
    pub fn pauses(&self, id: &str) -> Vec<MissionPause> {
        self.mission.questions.iter().map(|pause| self.asked(id, pause)).collect()
    }

    fn asked(&self, id: &str, pause: &Pause) -> MissionPause {
        let command = |rest: &str| format!("orange mission {rest}");
        let go_on = command(&format!("continue {id} --pause {}", pause.number));
        let accept = format!("{go_on} --accept-failure");
        let cancel = command(&format!("cancel {id}"));
        let reason = match &pause.reason {
            PauseReason::Boundary(_) => "boundary",
            PauseReason::Warning(_) => "warning",
            PauseReason::Error(_) => "error",
            PauseReason::Exhausted(_) => "exhausted",
            PauseReason::Cap(_) => "cap",
            PauseReason::Changed(_) => "changed",
            PauseReason::Obstacle(_) => "obstacle",
        };
        let offers = match self.mission.offers_acceptance(pause) {
            true => vec![go_on, accept, cancel],
            false => vec![go_on, cancel],
        };
        MissionPause {
            number: pause.number,
            reason: reason.to_owned(),
            step: pause.reason.step().map(|step| self.name(step)),
            what: self.what(pause),
            offers,
        }
    }

    /// The commands with which a person decides about it.
    pub fn commands(&self, id: &str) -> Vec<String> {
        match self.mission.status {
            MissionStatus::Paused => {
                // Each pause offers to end the mission: once is enough.
                let mut offers: Vec<String> = Vec::new();
                for offer in self.pauses(id).into_iter().flat_map(|pause| pause.offers) {
                    offers.retain(|it| *it != offer);
                    offers.push(offer);
                }
                offers
            }
            MissionStatus::Failed => {
                vec![format!("orange mission retry {id}"), format!("orange mission cancel {id}")]
            }
            MissionStatus::Pending | MissionStatus::Running => vec![format!("orange mission cancel {id}")],
            MissionStatus::Completed | MissionStatus::Cancelled => Vec::new(),
        }
    }

    fn what(&self, pause: &Pause) -> String {
        match &pause.reason {
            PauseReason::Boundary(step) => format!("step {} has ended", self.name(*step)),
            PauseReason::Warning(step) => {
                let warning = self.mission.step(*step).latest.as_ref().and_then(|it| it.warning.clone());
                format!(
                    "step {} has completed with a warning: {}",
                    self.name(*step),
                    warning.unwrap_or_default()
                )
            }
            PauseReason::Error(step) | PauseReason::Exhausted(step)
                if self.mission.asks_about(pause).is_none() =>
            {
                format!(
                    "step {} has failed, and a loop has sent it back since: nothing is left to decide",
                    self.name(*step)
                )
            }
            PauseReason::Error(step) | PauseReason::Exhausted(step) => self.mission.failure(self.plan, *step),
            PauseReason::Cap(step) => self.mission.cap_reached(self.plan, *step),
            PauseReason::Changed(_) | PauseReason::Obstacle(_) => pause.reason.obstacle().unwrap_or_default(),
        }
    }

    /// Its steps, in the order in which they can run.
    pub fn steps(&self, id: &str, history: &WorkItemHistory) -> Vec<MissionStep> {
        self.plan.order.iter().map(|step| self.step(id, *step, history)).collect()
    }

    fn step(&self, id: &str, step: StepId, history: &WorkItemHistory) -> MissionStep {
        let (of_plan, state) = (self.plan.step(step), self.mission.step(step));
        let is_skipped_handler = of_plan.handles.is_some() && state.attempts.is_empty();
        let latest = state.latest.as_ref().filter(|_| !is_skipped_handler);
        MissionStep {
            id: of_plan.id.to_owned(),
            title: of_plan.title.to_owned(),
            role: self.plan.role(of_plan.role).to_owned(),
            status: state.standing(),
            result: latest.and_then(|it| it.result.clone()),
            summary: latest.map(|it| it.summary.clone()),
            failure: state.failure.as_ref().map(|_| self.mission.failure(self.plan, step)),
            reason: state.failure.as_ref().and_then(StepFailure::reason),
            loops: of_plan.is_loop().then_some(LoopCount {
                completions: state.completions,
                max: of_plan.max_retries.saturating_add(state.granted),
                is_exhausted: state.is_exhausted,
            }),
            items: if of_plan.is_fan_out() {
                self.mission.items(step).map(item).collect()
            } else {
                Vec::new()
            },
            attempts: attempts(id, of_plan.id, state, history),
        }
    }

    /// The words for an attempt in a sentence: the step, and the item if it is one of a fan-out.
    pub(super) fn named_attempt(&self, step: &str, attempt: u32) -> String {
        let item = self.plan.step_named(step).and_then(|id| self.mission.item(id, attempt));
        match item {
            Some(item) => format!("{step} ({})", short(item)),
            None => step.to_owned(),
        }
    }

    /// Duration of an attempt in milliseconds, if its start and its end are recorded.
    pub fn duration_ms(&self, step: &str, attempt: u32, history: &WorkItemHistory) -> Option<u64> {
        one("", step, attempt, None, history).duration_ms
    }

    /// The end of the last attempt.
    pub fn last_result(&self, id: &str, history: &WorkItemHistory) -> Option<StepResult> {
        let last = history.mission.records.iter().rev().find_map(|record| {
            let Event::StepEnded(ended) = &record.event else { return None };
            Some(ended)
        })?;
        let step = self.plan.step_named(&last.step)?;
        let attempts = attempts(id, &last.step, self.mission.step(step), history);
        let attempt = attempts.into_iter().find(|it| it.attempt == last.attempt)?;
        Some(StepResult {
            step: last.step.clone(),
            status: last.end.to_string(),
            warning: last.warning.clone(),
            duration_ms: attempt.duration_ms,
            job_id: attempt.job_id,
            worker_id: attempt.worker_id,
        })
    }
}

/// The commands that make branches of the work that a mission's worktree had when it was given back.
pub fn restoring(repo: &Path, task: &WorkItem, history: &WorkItemHistory) -> Vec<String> {
    let refs = history.transition.kept.iter().filter(|kept| kept.starts_with("refs/"));
    let command = |reference: &String| {
        let number = reference.rsplit('/').next().unwrap_or_default();
        let branch = format!("{}-backup-{number}", task.branch);
        format!("git -C {} branch {} {reference}", shell_word(repo), shell_word(Path::new(&branch)))
    };
    refs.map(command).collect()
}

/// The words for how a mission has ended or stands.
pub fn standing(plan: &Plan<'_>, projection: &Projection) -> String {
    let mission = &projection.mission;
    let failed = || {
        let own = plan.step_ids().find(|step| {
            let state = mission.step(*step);
            state.is_exhausted || is_own_failure(state)
        });
        own.map(|step| format!("failed: {}", mission.failure(plan, step)))
            .unwrap_or_else(|| "failed".to_owned())
    };
    match mission.status {
        MissionStatus::Pending => "waits for a worktree".to_owned(),
        MissionStatus::Failed => failed(),
        MissionStatus::Running
        | MissionStatus::Paused
        | MissionStatus::Completed
        | MissionStatus::Cancelled => mission.status.as_str().to_owned(),
    }
}

fn is_own_failure(state: &StepState) -> bool {
    !state.is_handled
        && matches!(
            state.failure,
            Some(
                StepFailure::Reported(_)
                    | StepFailure::Stuck(_)
                    | StepFailure::Abandoned(_)
                    | StepFailure::Items { .. }
                    | StepFailure::Exhausted(_)
                    | StepFailure::Cap
            )
        )
}

fn attempts(id: &str, step: &str, state: &StepState, history: &WorkItemHistory) -> Vec<MissionAttempt> {
    let numbered = (1..).zip(&state.attempts);
    let shown = numbered.map(|(number, attempt)| MissionAttempt {
        item: attempt.item.map(|place| place + 1),
        ..one(id, step, number, attempt.end.as_ref(), history)
    });
    shown.collect()
}

/// An item of a fan-out, for answers.
fn item(item: ItemView<'_>) -> MissionItem {
    let report = item.report.filter(|_| item.status == ItemStatus::Completed);
    MissionItem {
        item: item.text.to_owned(),
        status: item.status,
        attempt: item.attempt,
        result: report.and_then(|it| it.result.clone()),
        summary: report.map(|it| it.summary.clone()),
        reason: item.failure.map(|failure| failure.reason().unwrap_or_else(|| NO_ATTEMPT.to_owned())),
    }
}

/// The first line of an item, cut where it is long.
fn short(item: &str) -> String {
    const LONGEST: usize = 60;
    let line = item.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

fn one(
    id: &str,
    step: &str,
    attempt: u32,
    end: Option<&AttemptEnd>,
    history: &WorkItemHistory,
) -> MissionAttempt {
    let started = history.mission.records.iter().find(|record| {
        matches!(&record.event, Event::StepStarted { step: of, attempt: number, .. }
            | Event::StepAsked { step: of, attempt: number, .. } if of == step && *number == attempt)
    });
    let ended = history.mission.records.iter().find(|record| {
        matches!(&record.event, Event::StepEnded(EndedAttempt { step: of, attempt: number, .. })
            if of == step && *number == attempt)
    });
    let by = started.and_then(|record| {
        let Event::StepStarted { worker, spawn, .. } = &record.event else { return None };
        Some((worker.clone(), format!("{id}.{spawn}")))
    });
    let (worker_id, job_id) = by.unzip();
    let shown = MissionAttempt {
        attempt,
        worker_id,
        job_id,
        started_at: started.map(|record| record.timestamp.clone()),
        ended_at: ended.map(|record| record.timestamp.clone()),
        duration_ms: duration(started, ended).and_then(|it| u64::try_from(it.as_millis()).ok()),
        ..MissionAttempt::default()
    };
    match end {
        None => shown,
        Some(AttemptEnd::Completed(report)) => MissionAttempt {
            status: Some("completed".to_owned()),
            result: report.result.clone(),
            summary: Some(report.summary.clone()),
            warning: report.warning.clone(),
            outputs: report.outputs.clone(),
            by: report.answer.as_ref().map(|it| it.by.as_str().to_owned()),
            commit: report.answer.as_ref().and_then(|it| it.commit.clone()),
            ..shown
        },
        Some(AttemptEnd::Rejected { reason, answer }) => MissionAttempt {
            status: Some("rejected".to_owned()),
            reason: Some(reason.clone()),
            by: Some(answer.by.as_str().to_owned()),
            commit: answer.commit.clone(),
            ..shown
        },
        Some(AttemptEnd::Failed { reason }) => {
            MissionAttempt { status: Some("failed".to_owned()), reason: Some(reason.clone()), ..shown }
        }
        Some(AttemptEnd::Lost) => MissionAttempt { status: Some("lost".to_owned()), ..shown },
        Some(AttemptEnd::Abandoned) => MissionAttempt { status: Some("abandoned".to_owned()), ..shown },
        Some(AttemptEnd::Withdrawn) => MissionAttempt { status: Some("withdrawn".to_owned()), ..shown },
    }
}

fn duration(started: Option<&Record>, ended: Option<&Record>) -> Option<Duration> {
    let time = |record: &Record| clock::parse(&record.timestamp);
    time(ended?)?.duration_since(time(started?)?).ok()
}
