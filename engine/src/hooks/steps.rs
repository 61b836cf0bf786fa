//! Starts and ends the agents of a mission's steps.

use orange_core::mission::{Attempt, Mission};
use orange_core::plan::{Plan, Step, StepId, StepPrompt, StepValue, StepValues, WorktreeUse};
use orange_core::wall::{Demand, GitAccess, WorktreeAccess};
use orange_core::{Actor, Role};

use crate::app::App;
use crate::drive::git::Git;
use crate::drive::harness::Harness;
use crate::drive::tmux;
use crate::hooks::agent_processes::AgentProcesses;
use crate::hooks::{agents, trace, wall, workspace};
use crate::setup;
use crate::store::event::{self, Ending, Exited, Spawn};
use crate::store::{Event, LockedWorkItem, Seat, Set, WorkItem};
use crate::{Error, ErrorKind, Result};
use orange_system::{fault, process};

/// The role whose steps get the harness of reviewers.
pub const REVIEWER: &str = "reviewer";

/// One attempt at a step of a mission.
#[derive(Clone, Copy, Debug)]
pub struct StepAttempt<'a> {
    /// The plan of the mission.
    pub plan: &'static Plan<'static>,
    /// The mission, as it is before the attempt starts.
    pub mission: &'a Mission,
    /// Work that the mission is asked to do.
    pub mission_prompt: &'a str,
    pub step: StepId,
    /// The number of the attempt.
    pub number: u32,
}

impl StepAttempt<'_> {
    fn step(&self) -> &'static Step<'static> {
        self.plan.step(self.step)
    }

    /// The seat of its agent. Where steps work at once, each step and each item has one of its own.
    pub fn seat(&self) -> Seat {
        let id = self.step().id;
        let name = self.plan.is_concurrent().then(|| match self.place() {
            Some(place) => format!("{id}.{}", place + 1),
            None => id.to_owned(),
        });
        Seat { actor: event::Actor::Worker, name }
    }

    /// The attempt before it at the same work, with its number.
    pub fn before(&self) -> Option<(u32, &Attempt)> {
        let attempts = &self.mission.step(self.step).attempts;
        let before = (1..self.number).zip(attempts).collect::<Vec<_>>();
        before.into_iter().rev().find(|(_, it)| it.item == self.place())
    }

    /// Place of its item in the list of a fan-out.
    fn place(&self) -> Option<u16> {
        let index = (self.number as usize).checked_sub(1)?;
        self.mission.step(self.step).attempts.get(index)?.item
    }

    /// The harness of its agent: the step's own, else that of reviewers or of workers.
    fn harness<'t>(&self, task: &'t WorkItem) -> &'t str {
        match self.step().harness {
            Some(harness) => harness,
            None if self.plan.role(self.step().role) == REVIEWER => &task.review_harness,
            None => &task.harness,
        }
    }
}

/// Refuses an attempt that no agent can begin.
///
/// # Errors
/// `environment`: tmux or the harness is missing, or the harness would ask a question that nobody answers; `not_found`:
/// there is no such harness.
pub fn preflight(app: &App, task: &WorkItem, attempt: &StepAttempt<'_>) -> Result<()> {
    let is_full = attempt.step().permissions == orange_core::Permissions::Full;
    process::check()?;
    if attempt.step().is_program() {
        return Ok(());
    }
    app.tmux.check()?;
    let harness = app.harness(attempt.harness(task))?;
    harness.check(app.path())?;
    check_switches(&harness, attempt.step())?;
    wall::decide(app, task, &harness, demand(attempt.step()), Role::Worker)?;
    setup::check(&app.home, &app.around()?, &harness.name, &app.project_of(task)?.path, is_full)
}

/// Demand of a step on the wall around its agent. Behind one, a step that only reads cannot write to the worktree or the repository.
fn demand(step: &Step<'_>) -> Demand {
    match step.worktree {
        WorktreeUse::Read => Demand {
            git: Some(step.sandbox.git.map_or(GitAccess::Read, |it| it.min(GitAccess::Read))),
            worktree: Some(WorktreeAccess::Read),
            ..step.sandbox
        },
        WorktreeUse::Write | WorktreeUse::Own => step.sandbox,
    }
}

/// Refuses a step whose model or effort the harness has no option for.
///
/// # Errors
/// `refused`.
pub fn check_switches(harness: &Harness, step: &Step<'_>) -> Result<()> {
    harness.check_option("model", &harness.model, step.model)?;
    step.effort.map_or(Ok(()), |it| harness.effort_word(it).map(drop))
}

/// Starts the agent of an attempt, in the mission's worktree. `with` is journaled in the same write, before the agent.
/// `is_again` continues the conversation of the agent before, if that is possible.
///
/// # Errors
/// `refused` while another agent is alive in the worktree; `environment` when tmux or git fails.
pub fn start(
    app: &App,
    locked: &mut LockedWorkItem,
    attempt: &StepAttempt<'_>,
    is_again: bool,
    with: Vec<(Event, Set)>,
) -> Result<()> {
    // Somebody may have removed its folder.
    workspace::acquire(app, locked)?;
    agents::make_room(app, locked, Actor::Worker, attempt.seat().name.as_deref())?;
    let record = record(app, locked, attempt, is_again)?;
    let prompt = prompt(app, locked.task(), attempt)?;
    let mut events = with;
    let set = Set::new().tmux_session(Some(&record.session));
    events.push((Event::AgentSpawned(record.clone()), set));
    agents::launch(app, locked, &record, &prompt, events)
}

/// Ends the agents for which this holds, with everything that they have started, and records their ends. The session ends with
/// the last one.
///
/// # Errors
/// `environment` when tmux cannot tell, or a process survives.
pub fn end(app: &App, locked: &mut LockedWorkItem, is_over: impl Fn(&Spawn) -> bool) -> Result<()> {
    let over: Vec<u32> =
        locked.history().agents.alive.values().filter(|it| is_over(it)).map(|it| it.spawn).collect();
    for spawn in over {
        agents::clear_away(app, locked, spawn)?;
        let exited = Event::AgentExited(trace::keep(app, locked, Exited::of(spawn, Ending::Killed)));
        fault::step("record the end of", "an agent");
        let set = without_session(locked);
        locked.append(exited, set)?;
        AgentProcesses::forget(locked.dir(), spawn)?;
    }
    Ok(())
}

/// The values that change with the end of an agent: the mission has no session without one.
pub fn without_session(locked: &LockedWorkItem) -> Set {
    let is_last = locked.history().agents.alive.len() == 1;
    if is_last { Set::new().tmux_session(None) } else { Set::new() }
}

fn record(app: &App, locked: &LockedWorkItem, attempt: &StepAttempt<'_>, is_again: bool) -> Result<Spawn> {
    let task = locked.task();
    let harness = app.harness(attempt.harness(task))?;
    let seat = attempt.seat();
    let sandbox = wall::decide(app, task, &harness, demand(attempt.step()), Role::Worker)?;
    let beginning = trace::beginning(app, locked, &harness, &seat, is_again, sandbox.is_some())?;
    let step = attempt.step();
    let effort = match step.effort {
        Some(effort) => Some(harness.effort_word(effort)?.to_owned()),
        None => task.effort.clone().filter(|_| step.harness.is_none()),
    };
    let of_mission = || task.model.clone().filter(|_| step.harness.is_none());
    Ok(Spawn {
        spawn: locked.history().agents.last_spawn + 1,
        actor: event::Actor::Worker,
        prompt: step.id.to_owned(),
        harness: harness.name,
        session: tmux::session_name(&task.project, &task.branch),
        window: format!("{}-{}", step.id, attempt.number),
        permissions: step.permissions.into(),
        model: step.model.map(str::to_owned).or_else(of_mission),
        effort,
        conversation: beginning.conversation,
        resumed: beginning.resumed,
        not_resumed: beginning.not_resumed,
        step: Some(step.id.to_owned()),
        role: Some(attempt.plan.role(step.role).to_owned()),
        attempt: Some(attempt.number),
        name: seat.name,
        sandbox,
        ..Spawn::default()
    })
}

/// A program of a step, its own or a gate's, and its arguments, with their values.
///
/// # Errors
/// `refused` without a worktree; `environment` when git fails.
pub fn argv(
    app: &App,
    task: &WorkItem,
    attempt: &StepAttempt<'_>,
    run: &[StepPrompt<'static>],
) -> Result<Vec<String>> {
    run.iter().map(|it| filled(app, task, attempt, it, StepPrompt::fill)).collect()
}

fn prompt(app: &App, task: &WorkItem, attempt: &StepAttempt<'_>) -> Result<String> {
    let prompt = filled(app, task, attempt, &attempt.step().prompt, StepPrompt::render)?;
    Ok(prompt + &attempt.plan.outputs_text(attempt.step))
}

/// A text of a step, with its values.
fn filled(
    app: &App,
    task: &WorkItem,
    attempt: &StepAttempt<'_>,
    text: &StepPrompt<'static>,
    fill: impl Fn(&StepPrompt<'static>, &StepValues<'_>) -> String,
) -> Result<String> {
    let step = attempt.step();
    let Some(name) = &task.owned.workspace else {
        return Err(Error::new(ErrorKind::Refused, "the mission has no worktree to start an agent in"));
    };
    let worktree = app.home.workspace(name);
    let base = match text.has(StepValue::Base) {
        true => {
            let project = app.project_of(task)?;
            Git::at(&project.path).fork_point(&worktree, &project.default_branch)?
        }
        false => String::new(),
    };
    let values = StepValues {
        mission_prompt: attempt.mission_prompt,
        worktree_path: &worktree.display().to_string(),
        context: &attempt.mission.context(attempt.plan, attempt.step),
        step: step.id,
        attempt: attempt.number,
        branch: &task.branch,
        base: &base,
        item: attempt.mission.item(attempt.step, attempt.number).unwrap_or_default(),
        reads: &attempt.mission.reads(attempt.plan, text),
    };
    Ok(fill(text, &values))
}
