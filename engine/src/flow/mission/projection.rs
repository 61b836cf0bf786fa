//! Projection of a mission: the state that the events of its journal fold to.

use orange_core::mission::{self, Answer, Mission, Report};
use orange_core::plan::{Execution, Inputs, Intervene, Plan, Policy, StepId};

use crate::store::event::{EndedAttempt, PauseReason, Spawn, StepEnd};
use crate::store::{Event, Record, WorkItemDir, WorkItemHistory, mission_plan};
use crate::{Error, ErrorKind, Result};

/// State of a mission, and the values with which it was started.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The plan that it follows.
    pub plan: &'static Plan<'static>,
    /// State of the mission.
    pub mission: Mission,
    /// Work that it is asked to do.
    pub prompt: String,
    /// True if the agent that started it gets messages.
    pub notices: bool,
    /// The task or mission whose agent started it, and the number of that agent.
    pub starter: Option<(String, u32)>,
}

/// The first record of a mission.
struct CreatedMission<'h> {
    prompt: &'h str,
    plan_hash: &'h str,
    policy: Policy,
    notices: bool,
    starter: Option<(String, u32)>,
    inputs: &'h Inputs,
}

impl Projection {
    /// Folds a mission's journal.
    ///
    /// # Errors
    /// `corrupt` when its copy of the plan is gone or damaged, or when its journal does not fit the plan.
    pub fn of(dir: &WorkItemDir, history: &WorkItemHistory) -> Result<Projection> {
        let created = CreatedMission::of(dir, history)?;
        let plan = mission_plan::of(dir, created.plan_hash)?;
        let mut mission = Mission::with_inputs(plan, created.policy, created.inputs.clone());
        for record in &history.mission.records {
            follow(plan, &mut mission, record).map_err(|what| does_not_fit(dir, record, &what))?;
        }
        let CreatedMission { prompt, notices, starter, .. } = created;
        Ok(Projection { plan, mission, prompt: prompt.to_owned(), notices, starter })
    }

    /// The open attempt of this agent: its step and its number.
    pub(super) fn attempt_of(&self, agent: &Spawn) -> Option<(&'static str, u32)> {
        let names = self.mission.working().map(|(step, number)| (self.plan.step(step).id, number));
        let mut own = names.filter(|(step, number)| is_at(agent, step, *number));
        own.next()
    }

    /// True if an agent or a program works at this attempt.
    pub fn works_at(&self, step: StepId, number: u32) -> bool {
        self.mission.working().any(|it| it == (step, number))
    }
}

/// True if this agent was started for this attempt.
pub(super) fn is_at(agent: &Spawn, step: &str, number: u32) -> bool {
    agent.step.as_deref() == Some(step) && agent.attempt == Some(number)
}

/// Takes one record of the journal.
fn follow(plan: &Plan<'_>, mission: &mut Mission, record: &Record) -> std::result::Result<(), String> {
    let Some(input) = input(plan, &record.event).map_err(|error| error.message.clone())? else {
        return Ok(());
    };
    close_before(mission, &record.event);
    mission.apply(plan, input).map(drop).map_err(|refusal| format!("{refusal:?}"))
}

/// Closes the questions that an answer of an older version has closed with its own.
pub(super) fn close_before(mission: &mut Mission, event: &Event) {
    if let Event::MissionContinued { pause, still_open, .. } = event {
        mission.close_before(*pause, still_open);
    }
}

/// The event of the core that this record of a mission is; `None` for one that only tells what has followed.
///
/// # Errors
/// `corrupt` when it names no step of the plan, or has a word of a newer version.
pub(super) fn input(plan: &Plan<'_>, event: &Event) -> Result<Option<mission::Event>> {
    if let Event::MissionStarted { .. } = event {
        return Ok(Some(mission::Event::Begin));
    }
    if let Event::StepStarted { step, attempt, .. } = event {
        return Ok(Some(mission::Event::Start { step: named(plan, step)?, attempt: *attempt }));
    }
    if let Event::WorktreeChanged { files, .. } = event {
        return Ok(Some(mission::Event::WorktreeChanged { files: files.clone() }));
    }
    if let Event::StepAsked { step, attempt, commit } = event {
        let (step, commit) = (named(plan, step)?, commit.clone());
        return Ok(Some(mission::Event::Ask { step, attempt: *attempt, commit }));
    }
    if let Event::StepEnded(ended) = event {
        return ended_input(named(plan, &ended.step)?, ended).map(Some);
    }
    if let Event::MissionPaused { reason: PauseReason::Obstacle, obstacle, .. } = event {
        return Ok(Some(mission::Event::Obstruct { reason: obstacle.clone().unwrap_or_default() }));
    }
    if let Event::MissionContinued { pause, accept_failure, execution, intervene, .. } = event {
        return Ok(Some(mission::Event::Continue {
            pause: Some(*pause),
            accept_failure: *accept_failure,
            execution: execution.as_deref().map(execution_of).transpose()?,
            intervene: intervene.as_deref().map(intervene_of).transpose()?,
        }));
    }
    if let Event::MissionRetried { step, .. } = event {
        let step = step.as_deref().map(|name| named(plan, name)).transpose()?;
        return Ok(Some(mission::Event::Retry { step }));
    }
    Ok(matches!(event, Event::MissionCancelled { .. }).then_some(mission::Event::Cancel))
}

fn ended_input(step: StepId, ended: &EndedAttempt) -> Result<mission::Event> {
    let EndedAttempt { attempt, result, summary, warning, outputs, reason, commit, by, .. } = ended.clone();
    Ok(match ended.end {
        StepEnd::Completed => {
            let summary = summary.unwrap_or_default();
            let report = Report { result, summary, warning, outputs, answer: None };
            mission::Event::Complete { step, attempt, report }
        }
        StepEnd::Failed => mission::Event::Fail { step, attempt, reason: reason.unwrap_or_default() },
        StepEnd::Lost => mission::Event::Lose { step, attempt },
        StepEnd::Answered => {
            let (word, comment) = (result.unwrap_or_default(), summary.unwrap_or_default());
            let answer = Answer { word, comment, by: by.unwrap_or_default(), commit };
            mission::Event::Answer { step, attempt, answer }
        }
        StepEnd::Expired => mission::Event::Expire { step, attempt },
        StepEnd::Other(ref word) => return Err(unknown("end of an attempt", word)),
    })
}

/// The step of this name.
///
/// # Errors
/// `not_found`, with the names of the plan.
pub(super) fn named(plan: &Plan<'_>, name: &str) -> Result<StepId> {
    plan.step_named(name).ok_or_else(|| {
        let known: Vec<_> = plan.steps.iter().map(|step| step.id).collect();
        Error::new(ErrorKind::NotFound, format!("{} has no step `{name}`", plan.name))
            .help(format!("its steps are: {}", known.join(", ")))
    })
}

fn execution_of(word: &str) -> Result<Execution> {
    Execution::from_name(word).ok_or_else(|| unknown("execution", word))
}

fn intervene_of(word: &str) -> Result<Intervene> {
    Intervene::from_name(word).ok_or_else(|| unknown("policy of intervention", word))
}

fn unknown(what: &str, word: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("`{word}` is no {what} that this version knows"))
        .help("a newer version has written it: use that one")
}

impl CreatedMission<'_> {
    fn of<'h>(dir: &WorkItemDir, history: &'h WorkItemHistory) -> Result<CreatedMission<'h>> {
        let first = history.mission.records.first().map(|record| &record.event);
        let Some(Event::MissionCreated {
            prompt,
            plan_hash,
            execution,
            intervene,
            notices,
            creator,
            creator_spawn,
            inputs,
            ..
        }) = first
        else {
            return Err(Error::new(
                ErrorKind::Corrupt,
                format!("{} does not begin with the creation of a mission", dir.history().display()),
            )
            .help("restore the file from a backup"));
        };
        let policy = Policy { execution: execution_of(execution)?, intervene: intervene_of(intervene)? };
        let starter = creator.clone().zip(*creator_spawn);
        Ok(CreatedMission { prompt, plan_hash, policy, notices: *notices, starter, inputs })
    }
}

fn does_not_fit(dir: &WorkItemDir, record: &Record, what: &str) -> Error {
    let path = dir.history();
    Error::new(
        ErrorKind::Corrupt,
        format!("{}: event {} does not fit the mission: {what}", path.display(), record.seq),
    )
    .help("somebody has changed the file: restore it from a backup")
}
