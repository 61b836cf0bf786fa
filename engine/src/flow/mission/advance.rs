//! Compares a mission with the world, and does what is missing: ends agents whose attempts are over, gives the mission its
//! worktree, starts the next agent, and gives the worktree back at the end.

use orange_core::mission::{AttemptEnd, MissionStatus};
use orange_core::plan::StepId;

use super::Projection;
use super::locked::LockedMission;
use super::projection::is_at;
use super::{ask, notices, program, readers, wait};
use crate::app::App;
use crate::drive::git::Git;
use crate::flow::{budget, life, queue, waiting};
use crate::hooks::steps::{self, StepAttempt};
use crate::hooks::{agents, workspace};
use crate::store::event::Spawn;
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory, work_item};
use crate::{Error, ErrorKind, Result};
use orange_system::fault;

/// The name of this machine in records of attempts.
pub(super) const WORKER: &str = "local";

/// Brings a mission forward as far as it goes without an agent or a person. If this process is killed, the next one calls it
/// again.
///
/// # Errors
/// Those of the store; `environment` when tmux or git fails. A mission without a worktree or a harness to continue with is
/// paused, and that is not an error.
pub fn advance(app: &App, dir: &WorkItemDir) -> Result<()> {
    let mut mission = LockedMission::lock(app, dir)?;
    program::end_over(&mission)?;
    end_agents(app, &mut mission)?;
    begin(app, &mut mission)?;
    ask::put_all(app, &mut mission)?;
    start_all(app, &mut mission)?;
    leave(app, &mut mission)?;
    drop(mission);
    notices::send(app, dir)
}

/// Brings a mission forward in a process that outlives the caller, and waits for that process. If it is killed, a second one
/// takes over.
///
/// # Errors
/// `environment` when the second process did not advance the mission either; `orange.log` has the other errors.
pub fn advance_detached(app: &App, dir: &WorkItemDir) -> Result<()> {
    const PROCESSES: usize = 2;
    let length = || work_item::read_journal_last(dir, 0).map(|journal| journal.history().last_seq);
    let before = length()?;
    for _ in 0..PROCESSES {
        app.detached(&["mission", "advance", &dir.id], dir)?;
        if !is_due(app, dir)? {
            return Ok(());
        }
    }
    if length()? > before {
        // The mission advances: its agents end before this process can see it at rest.
        return Ok(());
    }
    let message = format!("mission {} could not advance", dir.id);
    Err(Error::new(ErrorKind::Environment, message)
        .help("what was asked for is recorded: `orange log` says what went wrong, and `orange monitor --once` goes on"))
}

/// True if the mission has work to do now that needs neither an agent nor a person.
fn is_due(app: &App, dir: &WorkItemDir) -> Result<bool> {
    let (task, journal) = WorkItem::read_last(&app.home, dir, 0)?;
    let history = journal.history();
    // A mission that cannot be followed is paused, and the next command says why.
    let Ok(projection) = Projection::of(dir, &history) else { return Ok(false) };
    let mission = &projection.mission;
    let has_session = task.owned.tmux_session.is_some() || !history.agents.alive.is_empty();
    match mission.status {
        MissionStatus::Pending => workspace::is_free(app, &dir.project, &dir.id),
        MissionStatus::Running => {
            let is_missing = mission.working().any(|(step, number)| {
                !has_agent(&projection, &history, step, number)
                    && !program::is_running(dir, &projection, step, number)
            });
            let mut next = mission.startable(projection.plan).map(|(step, _)| projection.plan.step(step));
            // The process that runs a program records its start itself, and may not have come to it.
            let is_next = next.any(|step| !step.is_program());
            let is_asked = mission.next_ask(projection.plan).is_some();
            Ok(is_asked || !wait::is_early(&history) && (is_next || is_missing))
        }
        MissionStatus::Paused => Ok(false),
        MissionStatus::Failed => Ok(has_session),
        MissionStatus::Completed | MissionStatus::Cancelled => {
            Ok(has_session || task.owned.workspace.is_some() && task.attention.is_none())
        }
    }
}

/// Brings a mission forward in another process without waiting for it: the caller is an agent that is about to be ended.
pub fn advance_later(app: &App, dir: &WorkItemDir) -> Result<()> {
    app.start_detached(&["mission", "advance", &dir.id], dir)
}

/// Ends the agents whose attempts are over.
fn end_agents(app: &App, mission: &mut LockedMission) -> Result<()> {
    let LockedMission { locked, projection } = mission;
    steps::end(app, locked, |record| projection.attempt_of(record).is_none())
}

/// Gives a pending mission a worktree, if one is free.
fn begin(app: &App, mission: &mut LockedMission) -> Result<()> {
    if mission.projection.mission.status != MissionStatus::Pending {
        return Ok(());
    }
    let dir = mission.locked.dir().clone();
    if !workspace::is_free(app, &dir.project, &dir.id)? {
        return Ok(());
    }
    fault::step("begin", "a mission");
    match workspace::acquire(app, &mut mission.locked) {
        Ok(bound) => {
            let name = bound.0.get("workspace").and_then(|name| name.as_str()).unwrap_or_default().to_owned();
            let hook = "acquire_workspace".to_owned();
            let acquired = Event::HookEnded { hook, index: 0, error: None, held: false };
            mission.record(Event::MissionStarted { workspace: name }, vec![(acquired, bound)])?;
            // Two worktrees that become free at once both begin this mission, so the next mission is begun here.
            queue::begin_mission(app, &dir.project)
        }
        Err(error) => {
            mission.record(Event::MissionStarted { workspace: String::new() }, Vec::new())?;
            mission.obstruct(&error.one_line(), Vec::new())
        }
    }
}

/// Starts what may start now, and the agents of attempts that were recorded and never started, or have met a limit that is over. A step
/// that waits is left alone.
fn start_all(app: &App, mission: &mut LockedMission) -> Result<()> {
    if !wait::runs(mission) || wait::holds(app, mission)? {
        return Ok(());
    }
    program::lose_killed(mission)?;
    restart_unbegun(app, mission)?;
    for (step, number) in due(mission) {
        if !wait::runs(mission) || wait::is_early(mission.locked.history()) {
            return Ok(());
        }
        start(app, mission, step, number)?;
    }
    Ok(())
}

/// The attempts whose agents or programs are to be started now: those that have none any more, then those that may start.
fn due(mission: &LockedMission) -> Vec<(StepId, u32)> {
    let (projection, dir) = (&mission.projection, mission.locked.dir());
    if !wait::runs(mission) {
        return Vec::new();
    }
    let missing = projection.mission.working().filter(|(step, number)| {
        let is_program = projection.plan.step(*step).is_program();
        !is_program && !has_agent(projection, mission.locked.history(), *step, *number)
    });
    let next = projection.mission.startable(projection.plan).filter(|(step, number)| {
        let rule = projection.plan.step(*step);
        let is_running = rule.is_program() && program::is_running(dir, projection, *step, *number);
        !rule.is_ask() && !is_running
    });
    missing.chain(next).collect()
}

/// True if an agent of this attempt is on record as alive.
fn has_agent(projection: &Projection, history: &WorkItemHistory, step: StepId, number: u32) -> bool {
    let name = projection.plan.step(step).id;
    history.agents.alive.values().any(|it| is_at(it, name, number))
}

/// Starts the agent or the program of an attempt, unless a budget is used up or something is in its place.
fn start(app: &App, mission: &mut LockedMission, step: StepId, number: u32) -> Result<()> {
    if let Some((events, why)) = budget::of_mission(app, &mission.locked, mission.projection.plan.budget) {
        return mission.obstruct(&why, events);
    }
    if let Some(pause) = budget::pause(app, &mission.locked.dir().project)? {
        let last = mission.locked.history().agents.last_spawn;
        mission.locked.append_many(vec![life::waits(last, pause.left(), &pause.why)])?;
        return waiting::start_resumer(app, &mission.locked).map(drop);
    }
    let projection = mission.projection.clone();
    let attempt = StepAttempt {
        plan: projection.plan,
        mission: &projection.mission,
        mission_prompt: &projection.prompt,
        step,
        number,
    };
    if let Err(error) = make_ready(app, mission, &attempt) {
        return mission.obstruct(&error.one_line(), Vec::new());
    }
    if projection.plan.step(step).is_program() {
        return program::start(app, mission.locked.dir());
    }
    start_agent(app, mission, &attempt)
}

fn start_agent(app: &App, mission: &mut LockedMission, attempt: &StepAttempt<'_>) -> Result<()> {
    let StepAttempt { plan, step, number, .. } = *attempt;
    let found = match readers::found(app, mission, step) {
        Ok(found) => found,
        Err(error) => return mission.obstruct(&error.one_line(), Vec::new()),
    };
    let started = Event::StepStarted {
        step: plan.step(step).id.to_owned(),
        attempt: number,
        worker: WORKER.to_owned(),
        spawn: mission.locked.history().agents.last_spawn + 1,
        found,
    };
    let is_recorded = mission.projection.works_at(step, number);
    let with = if is_recorded { Vec::new() } else { mission.planned(started)? };
    let is_again = goes_on_with(mission, attempt);
    let outcome = steps::start(app, &mut mission.locked, attempt, is_again, with);
    mission.reload()?;
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => {
            give_up(mission, step, number)?;
            mission.obstruct(&error.one_line(), Vec::new())
        }
    }
}

/// Makes sure that the mission has its worktree and its branch, and that the harness can start.
fn make_ready(app: &App, mission: &mut LockedMission, attempt: &StepAttempt<'_>) -> Result<()> {
    check_branch_is_there(app, &mission.locked)?;
    if mission.locked.task().owned.workspace.is_none() {
        let bound = workspace::acquire(app, &mut mission.locked)?;
        let hook = "acquire_workspace".to_owned();
        mission.locked.append(Event::HookEnded { hook, index: 0, error: None, held: false }, bound)?;
    }
    check_branch(app, mission.locked.task())?;
    steps::preflight(app, mission.locked.task(), attempt)
}

/// Refuses to go on without the branch on which agents have worked before: on a new one, the next agent would begin from nothing.
fn check_branch_is_there(app: &App, locked: &LockedWorkItem) -> Result<()> {
    let task = locked.task();
    let git = Git::at(&app.project_of(task)?.path);
    if locked.history().agents.last_spawn == 0 || git.branch_tip(&task.branch)?.is_some() {
        return Ok(());
    }
    let (branch, id) = (&task.branch, &task.id);
    let worktree = task.worktree().map(|name| app.home.workspace(name)).filter(|folder| folder.is_dir());
    let shows = worktree.map_or_else(
        || format!("`git ls-remote origin {branch}` shows the commit that was pushed"),
        |folder| format!("`git -C '{}' reflog` shows its commits", folder.display()),
    );
    Err(Error::new(ErrorKind::Refused, format!("the mission's branch {branch} is gone, and the work of its steps with it")).help(
        format!("{shows}; `git branch {branch} COMMIT` makes it again, then `orange mission continue {id}`; or `orange mission cancel {id}`"),
    ))
}

/// Refuses a worktree in which an agent or a person has checked out something else: the next agent would commit to that.
fn check_branch(app: &App, task: &WorkItem) -> Result<()> {
    let worktree = app.home.workspace(task.owned.workspace.as_deref().unwrap_or_default());
    if !worktree.is_dir() {
        // The worktree is made again before the agent starts.
        return Ok(());
    }
    let found = Git::at(&app.project_of(task)?.path).current_branch(&worktree)?;
    if found.as_ref() == Some(&task.branch) {
        return Ok(());
    }
    let (found, branch) = (found.as_deref().unwrap_or("no branch"), &task.branch);
    Err(Error::new(
        ErrorKind::Refused,
        format!("the worktree is on {found}, and the mission's branch is {branch}"),
    )
    .help(format!("bring the work to {branch}, then `git switch {branch}` in {}", worktree.display())))
}

/// True if the last agent of this seat worked on this attempt, or on the one before it at the same work, if that was lost.
fn goes_on_with(mission: &LockedMission, attempt: &StepAttempt<'_>) -> bool {
    let StepAttempt { plan, step, number, .. } = *attempt;
    let before = attempt.before();
    let lost = before.filter(|(_, it)| it.end == Some(AttemptEnd::Lost)).map(|(before, _)| before);
    let last = mission.locked.history().agents.here.get(&attempt.seat());
    last.filter(|last| last.step.as_deref() == Some(plan.step(step).id))
        .is_some_and(|last| last.attempt == Some(number) || last.attempt.is_some() && last.attempt == lost)
}

/// Records an attempt whose agent could not be started as lost.
fn give_up(mission: &mut LockedMission, step: StepId, number: u32) -> Result<()> {
    if !mission.projection.works_at(step, number) {
        return Ok(());
    }
    let lost = super::attempt_end::lost(mission.projection.plan.step(step).id, number);
    mission.record(lost, Vec::new()).map(drop)
}

/// Starts the wrapper of a recorded agent again if tmux does not have it: the process that recorded the agent was killed before
/// it started the wrapper.
fn restart_unbegun(app: &App, mission: &mut LockedMission) -> Result<()> {
    let locked = &mut mission.locked;
    let recorded: Vec<Spawn> = locked.history().agents.alive.values().cloned().collect();
    for record in recorded {
        agents::start_unbegun(app, locked, &record)?;
    }
    Ok(())
}

/// Ends the session of a finished mission, and gives its worktree back unless the mission may be tried again.
fn leave(app: &App, mission: &mut LockedMission) -> Result<()> {
    let status = mission.projection.mission.status;
    if !status.is_terminal() {
        return Ok(());
    }
    leave_as(app, &mut mission.locked, status)
}

/// Ends the session of a mission with this final status, and gives its worktree back unless it has failed. It needs only the
/// status, so it also works if the journal cannot be followed.
pub fn leave_as(app: &App, locked: &mut LockedWorkItem, status: MissionStatus) -> Result<()> {
    let owned = &locked.task().owned;
    if owned.tmux_session.is_some() || !locked.history().agents.alive.is_empty() {
        let found = owned.tmux_session.clone();
        let set = agents::kill_session(app, locked)?;
        locked.append(Event::TaskRepaired { field: "tmux_session".to_owned(), found, kept: None }, set)?;
    }
    if status != MissionStatus::Failed && locked.task().owned.workspace.is_some() {
        release(app, locked)?;
    }
    workspace::give_back(app, locked.task())
}

/// Backs the work up, as for a task, and gives the worktree back. A failure calls for attention.
fn release(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    let (set, error) = match workspace::release(app, locked) {
        Ok(set) => (set, None),
        Err(error) => (Set::new(), Some(error.one_line())),
    };
    if let Some(error) = &error {
        locked.call_attention(error)?;
    }
    let is_released = error.is_none();
    locked.append(
        Event::HookEnded { hook: "release_workspace".to_owned(), index: 0, error, held: false },
        set,
    )?;
    workspace::give_back(app, locked.task())?;
    if is_released { queue::after_release(app, locked.dir()) } else { Ok(()) }
}
