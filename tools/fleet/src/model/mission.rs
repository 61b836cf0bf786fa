//! A mission as it is stored.

use std::borrow::Cow;

use orange_core::mission::{
    Attempt, AttemptEnd, Failure, Mission, MissionStatus, Pause, PauseReason, Report, StepState, StepStatus,
};
use orange_core::plan::{Execution, Intervene, Plan, Policy, StepId};
use serde::{Deserialize, Serialize};

use super::words::{ExecutionForm, InterveneForm, MissionStatusForm, StepStatusForm};
use super::{Unreadable, VERSION};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MissionForm<'m> {
    v: u32,
    #[serde(with = "MissionStatusForm")]
    status: MissionStatus,
    #[serde(with = "ExecutionForm")]
    execution: Execution,
    #[serde(with = "InterveneForm")]
    intervene: Intervene,
    #[serde(borrow)]
    steps: Vec<StepStateForm<'m>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<PauseForm<'m>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pauses: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepStateForm<'m> {
    #[serde(with = "StepStatusForm")]
    status: StepStatus,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptForm<'m>>,
    #[serde(default, skip_serializing_if = "is_default")]
    lost: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    abandoned: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    completions: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    granted: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    exhausted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<FailureForm<'m>>,
    #[serde(default, skip_serializing_if = "is_default")]
    handled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latest: Option<ReportForm<'m>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent_back_by: Option<u16>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AttemptForm<'m> {
    Open,
    #[serde(borrow)]
    Completed(ReportForm<'m>),
    Failed(Cow<'m, str>),
    Lost,
    Abandoned,
    Withdrawn,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportForm<'m> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Cow<'m, str>>,
    summary: Cow<'m, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<Cow<'m, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FailureForm<'m> {
    Reported(Cow<'m, str>),
    Stuck(u16),
    Abandoned(u16),
    Exhausted(u16),
    Because(u16),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PauseForm<'m> {
    number: u32,
    #[serde(borrow)]
    reason: ReasonForm<'m>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReasonForm<'m> {
    Boundary(u16),
    Warning(u16),
    Error(u16),
    Exhausted(u16),
    Obstacle(Cow<'m, str>),
}

/// The text of a mission.
pub fn write(mission: &Mission) -> String {
    super::write(&MissionForm::of(mission))
}

/// The mission of this text.
///
/// # Errors
/// It is of a newer version, is no mission, or is a mission of another plan.
pub fn read(text: &str, plan: &Plan<'_>) -> Result<Mission, Unreadable> {
    let mission: MissionForm<'_> = super::read(text)?;
    let mission = mission.into_mission();
    if mission.steps.len() != plan.steps.len() {
        let (has, plan) = (mission.steps.len(), plan.steps.len());
        return Err(Unreadable::Broken(format!("the mission has {has} steps, and its plan {plan}")));
    }
    match named(&mission).into_iter().find(|step| step.index() >= plan.steps.len()) {
        Some(StepId(step)) => {
            Err(Unreadable::Broken(format!("the mission names step {step}, which its plan does not have")))
        }
        None => Ok(mission),
    }
}

/// Every step that a mission names by its number.
fn named(mission: &Mission) -> Vec<StepId> {
    let mut named = Vec::new();
    for step in &mission.steps {
        named.extend(step.sent_back_by);
        if let Some(Failure::Because(cause)) = step.failure {
            named.push(cause);
        }
    }
    match mission.pause.as_ref().map(|it| &it.reason) {
        Some(
            PauseReason::Boundary(step)
            | PauseReason::Warning(step)
            | PauseReason::Error(step)
            | PauseReason::Exhausted(step),
        ) => named.push(*step),
        Some(PauseReason::Obstacle(_)) | None => {}
    }
    named
}

impl<'m> MissionForm<'m> {
    fn of(mission: &'m Mission) -> MissionForm<'m> {
        let Mission { status, policy, steps, pause, pauses } = mission;
        MissionForm {
            v: VERSION,
            status: *status,
            execution: policy.execution,
            intervene: policy.intervene,
            steps: steps.iter().map(StepStateForm::of).collect(),
            pause: pause.as_ref().map(PauseForm::of),
            pauses: *pauses,
        }
    }

    fn into_mission(self) -> Mission {
        Mission {
            status: self.status,
            policy: Policy { execution: self.execution, intervene: self.intervene },
            steps: self.steps.into_iter().map(StepStateForm::into_state).collect(),
            pause: self.pause.map(PauseForm::into_pause),
            pauses: self.pauses,
        }
    }
}

impl<'m> StepStateForm<'m> {
    fn of(state: &'m StepState) -> StepStateForm<'m> {
        StepStateForm {
            status: state.status,
            attempts: state.attempts.iter().map(|it| AttemptForm::of(it.end.as_ref())).collect(),
            lost: state.lost,
            abandoned: state.abandoned,
            completions: state.completions,
            granted: state.granted,
            exhausted: state.is_exhausted,
            failure: state.failure.as_ref().map(FailureForm::of),
            handled: state.is_handled,
            latest: state.latest.as_ref().map(ReportForm::of),
            sent_back_by: state.sent_back_by.map(|it| it.0),
        }
    }

    fn into_state(self) -> StepState {
        StepState {
            status: self.status,
            attempts: self.attempts.into_iter().map(|it| Attempt { end: it.into_end() }).collect(),
            lost: self.lost,
            abandoned: self.abandoned,
            completions: self.completions,
            granted: self.granted,
            is_exhausted: self.exhausted,
            failure: self.failure.map(FailureForm::into_failure),
            is_handled: self.handled,
            latest: self.latest.map(ReportForm::into_report),
            sent_back_by: self.sent_back_by.map(StepId),
        }
    }
}

impl<'m> AttemptForm<'m> {
    fn of(end: Option<&'m AttemptEnd>) -> AttemptForm<'m> {
        match end {
            None => AttemptForm::Open,
            Some(AttemptEnd::Completed(report)) => AttemptForm::Completed(ReportForm::of(report)),
            Some(AttemptEnd::Failed { reason }) => AttemptForm::Failed(reason.into()),
            Some(AttemptEnd::Lost) => AttemptForm::Lost,
            Some(AttemptEnd::Abandoned) => AttemptForm::Abandoned,
            Some(AttemptEnd::Withdrawn) => AttemptForm::Withdrawn,
        }
    }

    fn into_end(self) -> Option<AttemptEnd> {
        match self {
            AttemptForm::Open => None,
            AttemptForm::Completed(report) => Some(AttemptEnd::Completed(report.into_report())),
            AttemptForm::Failed(reason) => Some(AttemptEnd::Failed { reason: reason.into_owned() }),
            AttemptForm::Lost => Some(AttemptEnd::Lost),
            AttemptForm::Abandoned => Some(AttemptEnd::Abandoned),
            AttemptForm::Withdrawn => Some(AttemptEnd::Withdrawn),
        }
    }
}

impl<'m> ReportForm<'m> {
    fn of(report: &'m Report) -> ReportForm<'m> {
        ReportForm {
            result: report.result.as_deref().map(Cow::from),
            summary: Cow::from(&report.summary),
            warning: report.warning.as_deref().map(Cow::from),
        }
    }

    fn into_report(self) -> Report {
        Report {
            result: self.result.map(Cow::into_owned),
            summary: self.summary.into_owned(),
            warning: self.warning.map(Cow::into_owned),
        }
    }
}

impl<'m> FailureForm<'m> {
    fn of(failure: &'m Failure) -> FailureForm<'m> {
        match failure {
            Failure::Reported(reason) => FailureForm::Reported(reason.into()),
            Failure::Stuck(times) => FailureForm::Stuck(*times),
            Failure::Abandoned(times) => FailureForm::Abandoned(*times),
            Failure::Exhausted(completions) => FailureForm::Exhausted(*completions),
            Failure::Because(step) => FailureForm::Because(step.0),
        }
    }

    fn into_failure(self) -> Failure {
        match self {
            FailureForm::Reported(reason) => Failure::Reported(reason.into_owned()),
            FailureForm::Stuck(times) => Failure::Stuck(times),
            FailureForm::Abandoned(times) => Failure::Abandoned(times),
            FailureForm::Exhausted(completions) => Failure::Exhausted(completions),
            FailureForm::Because(step) => Failure::Because(StepId(step)),
        }
    }
}

impl<'m> PauseForm<'m> {
    fn of(pause: &'m Pause) -> PauseForm<'m> {
        let reason = match &pause.reason {
            PauseReason::Boundary(step) => ReasonForm::Boundary(step.0),
            PauseReason::Warning(step) => ReasonForm::Warning(step.0),
            PauseReason::Error(step) => ReasonForm::Error(step.0),
            PauseReason::Exhausted(step) => ReasonForm::Exhausted(step.0),
            PauseReason::Obstacle(reason) => ReasonForm::Obstacle(reason.into()),
        };
        PauseForm { number: pause.number, reason }
    }

    fn into_pause(self) -> Pause {
        let reason = match self.reason {
            ReasonForm::Boundary(step) => PauseReason::Boundary(StepId(step)),
            ReasonForm::Warning(step) => PauseReason::Warning(StepId(step)),
            ReasonForm::Error(step) => PauseReason::Error(StepId(step)),
            ReasonForm::Exhausted(step) => PauseReason::Exhausted(StepId(step)),
            ReasonForm::Obstacle(reason) => PauseReason::Obstacle(reason.into_owned()),
        };
        Pause { number: self.number, reason }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
