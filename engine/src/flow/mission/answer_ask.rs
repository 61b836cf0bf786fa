//! Answers of persons to the questions of steps.

use orange_core::mission::{Effect, StepStatus};
use orange_core::plan::StepId;

use super::advance;
use super::ask::{put, tip};
use super::locked::LockedMission;
use super::projection::{Projection, named};
use crate::app::App;
use crate::drive::git::Git;
use crate::store::event::{EndedAttempt, StepEnd};
use crate::store::{Event, WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};

/// The least letters that name a commit.
const SHORTEST_COMMIT: usize = 7;

/// Answer of a person to the question of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskAnswer<'a> {
    /// The step that asks; the only one that does by default.
    pub step: Option<&'a str>,
    /// The answer in one word.
    pub word: &'a str,
    /// Comment of the person; may be empty.
    pub comment: &'a str,
    /// The commit that the person has seen, or its first letters.
    pub commit: Option<&'a str>,
    /// The number of the attempt whose question is meant; the current one by default.
    pub attempt: Option<u32>,
}

/// Answers the question of a step in the name of the person who runs this, and lets the mission go on. Returns what was done, in words.
///
/// # Errors
/// `not_allowed` for an agent and for a person whom the step does not ask; `refused` when the question is answered, or shows another
/// commit than the one that was meant.
pub fn answer(app: &App, dir: &WorkItemDir, answer: &AskAnswer<'_>) -> Result<String> {
    app.caller.check_person("answer the question of a step")?;
    let mut mission = LockedMission::lock(app, dir)?;
    let plan = mission.projection.plan;
    let step = match answer.step {
        Some(name) => named(plan, name)?,
        None => only(&mission.projection, dir)?,
    };
    let by = person(app, mission.locked.task())?;
    let attempt = answer.attempt.unwrap_or_else(|| mission.projection.mission.step(step).attempt());
    show_again(app, &mut mission, step, attempt, answer.commit)?;
    let shown = mission.projection.mission.step(step).shown().cloned();
    let is_meant = |shown: &&String| answer.commit.is_none_or(|it| names(it, shown));
    let commit = match shown.as_ref().filter(is_meant) {
        Some(shown) => Some(shown.clone()),
        None => answer.commit.map(str::to_owned),
    };
    let name = plan.step(step).id;
    let ended = EndedAttempt {
        step: name.to_owned(),
        attempt,
        end: StepEnd::Answered,
        result: Some(answer.word.to_owned()),
        summary: Some(answer.comment.to_owned()),
        by: Some(by.clone()),
        commit,
        ..EndedAttempt::default()
    };
    let effects = mission.record(Event::StepEnded(ended), Vec::new())?;
    drop(mission);
    advance::advance_detached(app, dir)?;
    let before = if effects == [Effect::Repeated] { " (it was before)" } else { "" };
    Ok(format!("step {name} is answered: {}, by {by}{before}", answer.word))
}

/// The only step that asks.
fn only(projection: &Projection, dir: &WorkItemDir) -> Result<StepId> {
    let open: Vec<StepId> = projection.mission.open_asks().map(|(step, _)| step).collect();
    match &open[..] {
        [step] => Ok(*step),
        [] => Err(Error::new(ErrorKind::Refused, format!("no step of mission {} asks a person now", dir.id))
            .help(format!("`orange mission show {}` shows its steps", dir.id))),
        several => {
            let names: Vec<String> = several.iter().map(|it| projection.name(*it)).collect();
            let message = format!("several steps ask: {}", names.join(", "));
            Err(Error::new(ErrorKind::Usage, message)
                .help(format!("name one: `orange mission answer {} STEP ANSWER`", dir.id)))
        }
    }
}

/// Shows the commits that have come since the question was put. Only an answer that names the last one goes through.
fn show_again(
    app: &App,
    mission: &mut LockedMission,
    step: StepId,
    attempt: u32,
    meant: Option<&str>,
) -> Result<()> {
    let state = mission.projection.mission.step(step);
    let shows_diff = mission.projection.plan.step(step).ask.is_some_and(|it| it.shows_diff);
    if state.status != StepStatus::Asked || !shows_diff {
        return Ok(());
    }
    let tip = tip(app, mission.locked.task())?;
    if state.shown() == tip.as_ref() {
        return Ok(());
    }
    put(mission, step, attempt, tip.clone())?;
    let tip = tip.unwrap_or_default();
    if meant.is_some_and(|it| names(it, &tip)) {
        return Ok(());
    }
    let (id, name) = (&mission.locked.dir().id, mission.projection.plan.step(step).id);
    Err(Error::new(
        ErrorKind::Refused,
        format!("moved: the branch is at {tip} now, and step {name} shows that"),
    )
    .help(format!("look at it, then `orange mission answer {id} {name} ANSWER --commit {tip}`")))
}

/// True if this is a commit or its first letters.
fn names(given: &str, commit: &str) -> bool {
    given == commit || given.len() >= SHORTEST_COMMIT && commit.starts_with(given)
}

/// Name of the person who runs this: git's `user.name` in the repository of the mission.
pub fn person(app: &App, task: &WorkItem) -> Result<String> {
    let project = app.project_of(task)?;
    let name = Git::at(&project.path).user_name()?;
    name.ok_or_else(|| {
        Error::new(ErrorKind::Environment, "git knows no name of yours, and answers have one")
            .help("run `git config --global user.name \"…\"`")
    })
}
