//! Steps that ask a person: the question is put, answered, or its time is over.

use std::time::{Duration, SystemTime};

use orange_api::MissionAsk;
use orange_core::mission::MissionStatus;
use orange_core::plan::{StepId, StepValues};

use super::locked::LockedMission;
use super::projection::Projection;
use crate::app::App;
use crate::drive::git::Git;
use crate::store::event::{EndedAttempt, StepEnd};
use crate::store::{Event, Record, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{ErrorKind, Result};
use orange_system::{clock, fault};

/// Puts every question to its people that can be put now. The first one of the queued steps comes first, as with agents.
pub(super) fn put_all(app: &App, mission: &mut LockedMission) -> Result<()> {
    while let Some((step, attempt)) = mission.projection.mission.next_ask(mission.projection.plan) {
        let commit = tip(app, mission.locked.task())?;
        put(mission, step, attempt, commit)?;
        fault::step("tell people of", "a question");
    }
    Ok(())
}

pub(super) fn put(
    mission: &mut LockedMission,
    step: StepId,
    attempt: u32,
    commit: Option<String>,
) -> Result<()> {
    let step = mission.projection.plan.step(step).id.to_owned();
    mission.record(Event::StepAsked { step, attempt, commit }, Vec::new()).map(drop)
}

/// The last commit of the mission's branch.
pub(super) fn tip(app: &App, task: &WorkItem) -> Result<Option<String>> {
    Git::at(&app.project_of(task)?.path).branch_tip(&task.branch)
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
        match mission.record(Event::StepEnded(ended), Vec::new()) {
            Ok(_) => stories.push(format!("step {}, attempt {attempt}: nobody answered in time", step.id)),
            // The end of another question has sent this step back.
            Err(error) if error.kind == ErrorKind::Refused => {}
            Err(error) => return Err(error),
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

    /// The identity of the open questions in messages. It changes with each question, and with each reminder that is due.
    pub fn ask_mark(&self, history: &WorkItemHistory) -> String {
        let mark = |(step, attempt): (StepId, u32)| {
            let rule = self.plan.step(step);
            let since = asked(rule.id, attempt, history).and_then(|record| clock::parse(&record.timestamp));
            let waited = since.and_then(|since| fault::now().duration_since(since).ok()).unwrap_or_default();
            let due = rule.reminders().into_iter().filter(|it| u64::from(*it) <= waited.as_secs()).count();
            format!("{}.{attempt}.{due}", rule.id)
        };
        self.mission.open_asks().map(mark).collect::<Vec<_>>().join("+")
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
            item: "",
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
