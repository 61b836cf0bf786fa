//! `orange attempt`: attempts at steps of missions that another program keeps.

use orange_api::{AttemptState, MissionStep, NewAttempt, ShownAttempt, ShownMission};
use orange_core::mission::{MissionStatus, StepStatus};

use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::AttemptCommand;
use crate::cmd::mission::show;
use crate::cmd::stdin;
use crate::flow::mission::single;
use crate::store::{WorkItemDir, WorkItemKind, find};
use crate::{Error, ErrorKind, Result};

/// Runs a command.
pub fn run(app: &App, command: &AttemptCommand) -> Result<CommandAnswer> {
    match command {
        AttemptCommand::Run { attempt } => {
            let text = stdin::or_text(attempt, "the attempt")?;
            let new: NewAttempt = serde_json::from_str(&text).map_err(|cause| {
                Error::new(ErrorKind::Usage, format!("the attempt cannot be read: {cause}"))
                    .help("docs/missions.md describes its keys")
            })?;
            shown(app, &single::run(app, &new)?)
        }
        AttemptCommand::Show { mission } => shown(
            app,
            &find::named(&app.home, WorkItemKind::Mission, mission, None, &|kind, owned| {
                app.is_end(kind, owned)
            })?,
        ),
    }
}

fn shown(app: &App, dir: &WorkItemDir) -> Result<CommandAnswer> {
    let (mission, projection) = show::record(app, dir)?;
    let step = projection.plan.steps.first().map(|it| it.id).unwrap_or_default();
    let state = state_of(&mission, step);
    let words = words(&state);
    let text = format!("{}  {}  {step}  {words}", mission.run_id, mission.workflow_id);
    let attempt = ShownAttempt {
        mission: mission.run_id,
        key: mission.workflow_id,
        journal: dir.history().display().to_string(),
        state,
    };
    CommandAnswer::of(&attempt, text)
}

fn words(state: &AttemptState) -> String {
    match state {
        AttemptState::Pending => "waits for a worktree".to_owned(),
        AttemptState::Running { has_agent: true } => "runs".to_owned(),
        AttemptState::Running { has_agent: false } => "starts".to_owned(),
        AttemptState::Ending => "ends".to_owned(),
        AttemptState::Completed { result, .. } => match result {
            Some(result) => format!("completed: {result}"),
            None => "completed".to_owned(),
        },
        AttemptState::Failed { reason } => format!("failed: {reason}"),
        AttemptState::Obstructed { what, .. } => format!("cannot go on: {what}"),
        AttemptState::Over => "is over".to_owned(),
    }
}

/// State of the attempt at the step of this name.
fn state_of(mission: &ShownMission, step: &str) -> AttemptState {
    let has_session = mission.tmux_session.is_some() || !mission.agents.is_empty();
    let found = mission.steps.iter().find(|it| it.id == step);
    match (mission.status, found) {
        (MissionStatus::Pending, _) => AttemptState::Pending,
        (MissionStatus::Cancelled | MissionStatus::Completed, _) if has_session || has_worktree(mission) => {
            AttemptState::Ending
        }
        (MissionStatus::Cancelled | MissionStatus::Completed, _) | (_, None) => AttemptState::Over,
        (MissionStatus::Running | MissionStatus::Paused | MissionStatus::Failed, Some(step)) => {
            state_of_step(mission, step, has_session)
        }
    }
}

/// True if it still has a worktree that the engine gives back. One that it could not give back calls for a person.
fn has_worktree(mission: &ShownMission) -> bool {
    mission.worktree.is_some() && mission.attention.is_none()
}

fn state_of_step(mission: &ShownMission, step: &MissionStep, has_session: bool) -> AttemptState {
    let has_worked = step.attempts.iter().any(|it| it.started_at.is_some());
    match (step.status, &mission.pause) {
        (StepStatus::Completed | StepStatus::Failed, _) if has_session => AttemptState::Ending,
        (StepStatus::Completed, _) => completed(step),
        (StepStatus::Failed, _) => failed(step),
        (_, Some(pause)) => AttemptState::Obstructed { what: pause.what.clone(), has_worked },
        (_, None) => AttemptState::Running { has_agent: has_worked },
    }
}

fn completed(step: &MissionStep) -> AttemptState {
    AttemptState::Completed {
        result: step.result.clone(),
        summary: step.summary.clone().unwrap_or_default(),
        warning: step.attempts.last().and_then(|it| it.warning.clone()),
        outputs: step.attempts.last().map(|it| it.outputs.clone()).unwrap_or_default(),
    }
}

fn failed(step: &MissionStep) -> AttemptState {
    let reason = step.reason.as_ref().or(step.failure.as_ref());
    let reason = reason.cloned().unwrap_or_else(|| "its agents ended without a report".to_owned());
    AttemptState::Failed { reason }
}

#[cfg(test)]
mod tests;
