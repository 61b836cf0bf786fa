//! Words for people about missions, steps and pauses.

use orange_core::mission::{Mission, MissionStatus, Pause, PauseReason, StepFailure, StepState, StepStatus};
use orange_core::plan::{Execution, Intervene, Plan, StepId};

use crate::model::mission::work;

/// Urgency or success of something: a class of the style sheet. Words beside it say so, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing happens, and nothing is wrong.
    Calm,
    /// An agent works.
    Busy,
    /// A person is asked.
    Ask,
    /// It has ended well.
    Good,
    /// It has failed.
    Bad,
    /// It was left out or called off.
    Off,
}

impl Tone {
    pub const fn class(self) -> &'static str {
        match self {
            Tone::Calm => "calm",
            Tone::Busy => "busy",
            Tone::Ask => "ask",
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Off => "off",
        }
    }

    /// The tone of a mission.
    pub const fn of_mission(status: MissionStatus) -> Tone {
        match status {
            MissionStatus::Pending => Tone::Calm,
            MissionStatus::Running => Tone::Busy,
            MissionStatus::Paused => Tone::Ask,
            MissionStatus::Completed => Tone::Good,
            MissionStatus::Failed => Tone::Bad,
            MissionStatus::Cancelled => Tone::Off,
        }
    }

    /// The tone of a step.
    pub fn of_step(state: &StepState) -> Tone {
        match state.standing() {
            StepStatus::Blocked | StepStatus::Queued => Tone::Calm,
            StepStatus::Assigned | StepStatus::Running => Tone::Busy,
            StepStatus::Asked => Tone::Ask,
            StepStatus::Completed => Tone::Good,
            StepStatus::Failed if state.is_handled || !has_failed_itself(state) => Tone::Off,
            StepStatus::Failed => Tone::Bad,
            StepStatus::Skipped | StepStatus::Cancelled => Tone::Off,
        }
    }
}

/// A mission by the word of its status; a word of a newer version is shown as it is.
pub fn tone_of(status: &str) -> Tone {
    MissionStatus::from_name(status).map_or(Tone::Calm, Tone::of_mission)
}

/// State of a step, in a word or two.
pub fn standing(state: &StepState) -> &'static str {
    match state.standing() {
        StepStatus::Failed if state.is_exhausted => "exhausted",
        StepStatus::Failed if state.is_handled => "failed, handled",
        StepStatus::Failed if !has_failed_itself(state) => "not run",
        StepStatus::Blocked
        | StepStatus::Queued
        | StepStatus::Assigned
        | StepStatus::Running
        | StepStatus::Asked
        | StepStatus::Completed
        | StepStatus::Failed
        | StepStatus::Skipped
        | StepStatus::Cancelled => state.standing().as_str(),
    }
}

/// True if a step has failed, and not only because another one has.
fn has_failed_itself(state: &StepState) -> bool {
    state.failure.as_ref().is_none_or(StepFailure::is_own)
}

/// Reason for which a mission waits, in one sentence.
pub fn reason(plan: &Plan<'_>, mission: &Mission, pause: &Pause) -> String {
    let name = |step: StepId| plan.step(step).id;
    match &pause.reason {
        PauseReason::Boundary(step) => format!("{} has ended", name(*step)),
        PauseReason::Warning(step) => {
            let warning = mission.step(*step).latest.as_ref().and_then(|it| it.warning.as_deref());
            format!("{} has completed with a warning: {}", name(*step), warning.unwrap_or("(none)"))
        }
        PauseReason::Error(step) | PauseReason::Exhausted(step) if mission.asks_about(pause).is_none() => {
            format!(
                "{} has failed, and a loop has sent it back since: nothing is left to decide",
                name(*step)
            )
        }
        PauseReason::Error(step) | PauseReason::Exhausted(step) => mission.failure(plan, *step),
        PauseReason::Cap(step) => mission.cap_reached(plan, *step),
        PauseReason::Obstacle(_) | PauseReason::Changed(_) => pause.reason.obstacle().unwrap_or_default(),
    }
}

/// Kind of question that a pause asks, as a heading.
pub fn question(pause: &Pause) -> &'static str {
    match pause.reason {
        PauseReason::Boundary(_) => "Go on?",
        PauseReason::Warning(_) => "A step has a warning",
        PauseReason::Error(_) => "A step has failed",
        PauseReason::Exhausted(_) => "A loop is exhausted",
        PauseReason::Cap(_) => "The attempts are used up",
        PauseReason::Obstacle(_) => "Something is in the way",
        PauseReason::Changed(_) => "The worktree has changed",
    }
}

/// An answer that a pause offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseChoice {
    /// True if it takes the failure as it is.
    pub accepts: bool,
    /// Label of its button.
    pub label: String,
    /// Effect of the answer.
    pub effect: String,
}

/// The answers that a pause offers, the usual one first.
pub fn choices(plan: &Plan<'_>, mission: &Mission, pause: &Pause) -> Vec<PauseChoice> {
    let go_on = |label: String, effect: String| PauseChoice { accepts: false, label, effect };
    if matches!(pause.reason, PauseReason::Cap(_)) {
        let most = plan.max_attempts.unwrap_or_default();
        let first =
            go_on("Grant as many again".to_owned(), format!("The mission may start {most} more attempts."));
        let effect = "No step starts any more.".to_owned();
        return vec![first, PauseChoice { accepts: true, label: "Stop here".to_owned(), effect }];
    }
    let Some(step) = mission.asks_about(pause) else {
        return vec![go_on("Go on".to_owned(), "The mission continues where it is.".to_owned())];
    };
    let name = plan.step(step).id;
    let first = match pause.reason {
        PauseReason::Exhausted(_) => {
            go_on("One more round".to_owned(), format!("The loop of {name} may go round once more."))
        }
        PauseReason::Boundary(_)
        | PauseReason::Warning(_)
        | PauseReason::Error(_)
        | PauseReason::Cap(_)
        | PauseReason::Obstacle(_)
        | PauseReason::Changed(_) => {
            go_on(format!("Try {name} again"), format!("{name} gets a new attempt."))
        }
    };
    let effect = match plan.step(step).on_fail {
        Some(handler) => format!("{} runs next, which handles failures of {name}.", plan.step(handler).id),
        None => format!("What depends on {name} does not run."),
    };
    vec![first, PauseChoice { accepts: true, label: "Accept the failure".to_owned(), effect }]
}

/// Reasons for which a mission has failed: the failure of each step that has failed itself, a sentence for each.
pub fn failures(plan: &Plan<'_>, mission: &Mission) -> Vec<String> {
    let own = |id: &StepId| {
        let state = mission.step(*id);
        state.is_exhausted || (!state.is_handled && state.failure.as_ref().is_some_and(|it| it.is_own()))
    };
    plan.step_ids().filter(own).map(|id| mission.failure(plan, id)).filter(|it| !it.is_empty()).collect()
}

/// True if a loop of it is exhausted.
pub fn is_exhausted(mission: &Mission) -> bool {
    let asks = mission.questions.iter().any(|it| matches!(it.reason, PauseReason::Exhausted(_)));
    asks || mission.steps.iter().any(|it| it.is_exhausted)
}

/// The steps from which a failed mission can be run again.
pub fn retriable<'p>(plan: &Plan<'p>, mission: &Mission) -> Vec<&'p str> {
    let has_failed = |id: &StepId| {
        let state = mission.step(*id);
        state.status == StepStatus::Failed && state.failure.as_ref().is_some_and(|it| it.is_own())
    };
    plan.step_ids().filter(has_failed).map(|id| plan.step(id).id).collect()
}

/// Meaning of an execution.
pub const fn execution(value: Execution) -> &'static str {
    match value {
        Execution::Step => "step: pause after every step",
        Execution::Auto => "auto: go from step to step",
    }
}

/// Meaning of an intervention.
pub const fn intervene(value: Intervene) -> &'static str {
    match value {
        Intervene::Never => "never: a failure counts at once",
        Intervene::OnWarning => "on-warning: pause after a warning or an error",
        Intervene::OnError => "on-error: pause after an error",
        Intervene::Always => "always: pause after every step",
    }
}

/// Current activity of a mission, in a few words: for titles, and for those who hear this page. `holder` is the step that starts
/// next, and its crab.
pub fn doing(plan: &Plan<'_>, mission: &Mission, holder: Option<(StepId, &str)>) -> String {
    match mission.status {
        MissionStatus::Pending => "The mission has not begun.".to_owned(),
        MissionStatus::Paused => match &mission.questions[..] {
            [] => "The mission waits for you.".to_owned(),
            [pause] => format!("Pause {}: the mission waits for you.", pause.number),
            pauses => format!("{} questions are open: the mission waits for you.", pauses.len()),
        },
        MissionStatus::Running => match (mission.busy(), holder) {
            (Some(step), _) => {
                let state = mission.step(step);
                format!("{} is {}, attempt {}.", plan.step(step).id, state.status.as_str(), state.attempt())
            }
            (None, Some((step, holder))) => {
                let (name, attempt) = (plan.step(step).id, mission.step(step).attempt());
                format!("{holder} has {name}, attempt {attempt}, and has not started its agent.")
            }
            (None, None) => waiting(plan, mission),
        },
        MissionStatus::Completed => "The mission has completed.".to_owned(),
        MissionStatus::Failed => "The mission has failed.".to_owned(),
        MissionStatus::Cancelled => "The mission was cancelled.".to_owned(),
    }
}

fn waiting(plan: &Plan<'_>, mission: &Mission) -> String {
    let names: Vec<&str> = work(plan, mission).map(|(step, _)| plan.step(step).id).collect();
    let asked: Vec<&str> = mission.open_asks().map(|(step, _)| plan.step(step).id).collect();
    match (&names[..], work(plan, mission).next()) {
        ([], _) if !asked.is_empty() => format!("{}: a person is asked.", asked.join(", ")),
        ([name], Some((_, attempt))) => format!("{name} waits for a crab, attempt {attempt}."),
        ([], _) | (_, None) => "The mission runs.".to_owned(),
        (names, Some(_)) => format!("{} wait for a crab.", names.join(", ")),
    }
}

/// "1 attempt", "3 attempts"
pub fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
