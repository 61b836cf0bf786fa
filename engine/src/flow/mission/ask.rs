//! Steps that ask a person: the question is put, answered, or its time is over.

use std::time::{Duration, SystemTime};

use orange_api::MissionAsk;
use orange_core::mission::{Effect, MissionStatus, StepStatus};
use orange_core::plan::{StepId, StepValues};

use super::advance;
use super::locked::LockedMission;
use super::projection::{Projection, named};
use crate::app::App;
use crate::drive::git::Git;
use crate::store::event::{EndedAttempt, StepEnd};
use crate::store::{Event, Record, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_system::{clock, fault};

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
}

/// Puts every question to its people that can be put now. The first one of the queued steps comes first, as with agents.
pub(super) fn put_all(app: &App, mission: &mut LockedMission) -> Result<()> {
    while let Some((step, attempt)) = mission.projection.mission.next_ask(mission.projection.plan) {
        let commit = tip(app, mission.locked.task())?;
        put(mission, step, attempt, commit)?;
        fault::step("tell people of", "a question");
    }
    Ok(())
}

fn put(mission: &mut LockedMission, step: StepId, attempt: u32, commit: Option<String>) -> Result<()> {
    let step = mission.projection.plan.step(step).id.to_owned();
    mission.record(Event::StepAsked { step, attempt, commit }, Vec::new()).map(drop)
}

/// The last commit of the mission's branch.
fn tip(app: &App, task: &WorkItem) -> Result<Option<String>> {
    Git::at(&app.project_of(task)?.path).branch_tip(&task.branch)
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
    let attempt = mission.projection.mission.step(step).attempt();
    show_anew(app, &mut mission, step, attempt, answer.commit)?;
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
fn show_anew(
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
fn person(app: &App, task: &WorkItem) -> Result<String> {
    let project = app.project_of(task)?;
    let name = Git::at(&project.path).user_name()?;
    name.ok_or_else(|| {
        Error::new(ErrorKind::Environment, "git knows no name of yours, and answers have one")
            .help("run `git config --global user.name \"…\"`")
    })
}

/// Ends the questions whose time is over. Returns what was done, in words.
pub(super) fn expire_all(mission: &mut LockedMission) -> Result<Vec<String>> {
    let mut stories = Vec::new();
    let open: Vec<(StepId, u32)> = mission.projection.mission.open_asks().collect();
    for (step, attempt) in open {
        let until = mission.projection.until(step, attempt, mission.locked.history());
        if until.is_none_or(|it| fault::now() < it) {
            continue;
        }
        let step = mission.projection.plan.step(step);
        let ended = EndedAttempt {
            step: step.id.to_owned(),
            attempt,
            end: StepEnd::Expired,
            result: step.ask.and_then(|it| it.on_timeout).map(str::to_owned),
            ..EndedAttempt::default()
        };
        // An answer to another question may have sent this step back.
        if mission.record(Event::StepEnded(ended), Vec::new()).is_ok() {
            stories.push(format!("step {}, attempt {attempt}: nobody answered in time", step.id));
        }
    }
    Ok(stories)
}

impl Projection {
    /// Time until which a question waits for an answer; `None` of one that waits for ever.
    fn until(&self, step: StepId, attempt: u32, history: &WorkItemHistory) -> Option<SystemTime> {
        let timeout = self.plan.step(step).timeout?;
        let since = clock::parse(&asked(self.plan.step(step).id, attempt, history)?.timestamp)?;
        since.checked_add(Duration::from_secs(timeout.into()))
    }

    /// The open questions of steps, in the order of the plan's source, with the commands that answer them.
    pub fn asks(&self, dir: &WorkItemDir, history: &WorkItemHistory) -> Vec<MissionAsk> {
        let is_open = matches!(self.mission.status, MissionStatus::Running | MissionStatus::Paused);
        let open = self.mission.open_asks().filter(|_| is_open);
        open.map(|(step, attempt)| self.open_ask(dir, step, attempt, history)).collect()
    }

    fn open_ask(
        &self,
        dir: &WorkItemDir,
        step: StepId,
        attempt: u32,
        history: &WorkItemHistory,
    ) -> MissionAsk {
        let rule = self.plan.step(step);
        let context = self.mission.context(self.plan, step);
        let question = rule.prompt.fill(&StepValues {
            mission_prompt: &self.prompt,
            worktree_path: "",
            context: &context,
            step: rule.id,
            attempt,
            branch: &history.branch.name,
            base: "",
            reads: &self.mission.reads(self.plan, &rule.prompt),
        });
        let question = question.trim().to_owned();
        let who: Vec<String> =
            rule.ask.map_or(&[][..], |it| it.who).iter().map(|it| (*it).to_owned()).collect();
        let commit = self.mission.step(step).shown().cloned();
        let rest = commit.as_ref().map(|it| format!(" --commit {it}")).unwrap_or_default();
        let answers: Vec<String> = rule.answers().into_iter().map(str::to_owned).collect();
        let whom = if who.is_empty() { "a person".to_owned() } else { who.join(", ") };
        MissionAsk {
            step: rule.id.to_owned(),
            attempt,
            what: format!("step {} asks {whom}: {question}", rule.id),
            question,
            context: rule.ask.is_some_and(|it| it.shows_context).then_some(context),
            shows_diff: rule.ask.is_some_and(|it| it.shows_diff),
            offers: answers
                .iter()
                .map(|it| format!("orange mission answer {} {} {it}{rest}", dir.id, rule.id))
                .collect(),
            answers,
            who,
            since: asked(rule.id, attempt, history).map(|record| record.timestamp.clone()),
            until: self.until(step, attempt, history).map(clock::rfc3339),
            on_timeout: rule
                .timeout
                .map(|_| rule.ask.and_then(|it| it.on_timeout).unwrap_or("fail").to_owned()),
            commit,
        }
    }
}

/// The record of the first time that a question was put.
fn asked<'h>(step: &str, attempt: u32, history: &'h WorkItemHistory) -> Option<&'h Record> {
    history.mission.records.iter().find(|record| {
        matches!(&record.event, Event::StepAsked { step: of, attempt: number, .. } if of == step && *number == attempt)
    })
}
