//! One round over all tasks: agents that died unnoticed, transitions that no process finishes, and pull requests.

use std::collections::BTreeSet;
use std::time::Duration;

use orange_core::mission::MissionStatus;
use orange_core::{FactKind, Workspace};

use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::agent::ended::{self, ended_or_begun};
use crate::flow::mission;
use crate::flow::person::{stop, undo};
use crate::flow::polls::{PolledTask, Polls};
use crate::flow::queue::Queues;
use crate::flow::watch::reclaim::Reclaims;
use crate::flow::watch::{budget, interrupted_reclaim, rules};
use crate::flow::{
    activity, ask, created, end_leftovers, garbage, limit, lock_recovered, sync_copy, waiting,
};
use crate::hooks::agent_processes::{AgentProcesses, missing};
use crate::hooks::{agents, reclaim};
use crate::store::event::{Ending, Exited};
use crate::store::{LockedWorkItem, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, list, pool};
use crate::{ErrorKind, Result};
use orange_system::{fault, process};

/// The result of a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorRound {
    /// The number of tasks that need the monitor.
    pub watched: usize,
    /// Actions of the monitor, in words, each with the task's id, or the project's name.
    pub events: Vec<(String, String)>,
    /// The failures, with the task's id.
    pub errors: Vec<(String, String)>,
}

/// Checks every task, then the pull requests that are due, and once an hour the leftovers. A failure of one task does not stop
/// the others.
///
/// # Errors
/// `environment` where the process table cannot be read: nothing would prove the end of an agent.
pub fn look(app: &App, polls: &mut Polls) -> Result<MonitorRound> {
    process::check()?;
    let mut look = MonitorRound::default();
    let (mut panes, mut pull_requests, mut queues) = (None, Vec::new(), Queues::default());
    let mut reclaims = Reclaims::default();
    let holders = pool::holders_by_file(&app.home)?;
    for dir in list::dirs(&app.home, &[WorkItemKind::Task], None)? {
        let outcome = WorkItem::read_last(&app.home, &dir, 0).and_then(|(task, journal)| {
            pull_requests.extend(PolledTask::of(app, &dir, &task));
            queues.see(app, &dir, &task);
            let history = journal.history();
            reclaims.see(app, &dir, &task, &history);
            watch(app, &dir, &task, &history, &holders, &mut panes)
        });
        match outcome {
            Ok(None) => {}
            Ok(Some(stories)) => {
                look.watched += 1;
                look.events.extend(stories.into_iter().map(|story| (dir.id.clone(), story)));
            }
            Err(error) => look.errors.push((dir.id.clone(), error.for_person().to_string())),
        }
    }
    for dir in list::dirs(&app.home, &[WorkItemKind::Mission], None)? {
        if WorkItem::read_last(&app.home, &dir, 0)
            .is_ok_and(|(it, _)| it.status() == MissionStatus::Pending.as_str())
        {
            reclaims.see_pending(&dir);
        }
        match look_at_mission(app, &dir, &holders, &mut panes) {
            Ok(None) => {}
            Ok(Some(stories)) => {
                look.watched += 1;
                look.events.extend(stories.into_iter().map(|story| (dir.id.clone(), story)));
            }
            Err(error) => look.errors.push((dir.id.clone(), error.for_person().to_string())),
        }
    }
    for (dir, outcome) in
        polls.round(app, pull_requests).into_iter().chain(reclaims.serve(app)).chain(queues.serve(app))
    {
        match outcome {
            Ok(story) => look.events.push((dir.id, story)),
            Err(error) => look.errors.push((dir.id, error.for_person().to_string())),
        }
    }
    let swept = if polls.is_time_to_sweep() { garbage::sweep(app) } else { Vec::new() };
    let begun = polls.intake.round(app).into_iter().chain(polls.schedule.round(app));
    for (project, outcome) in begun.chain(swept) {
        match outcome {
            Ok(story) => look.events.push((project, story)),
            Err(error) => look.errors.push((project, error.for_person().to_string())),
        }
    }
    Ok(look)
}

/// Checks one task; `None` if it has and waits for no agent, no time of its status is limited, and nothing is unfinished.
fn watch(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
    holders: &BTreeSet<String>,
    panes: &mut Option<Vec<Pane>>,
) -> Result<Option<Vec<String>>> {
    let mut stories = Vec::new();
    let is_overdue = ended::is_overdue(app, task, history);
    if agents::is_answered(task, history) {
        drop(lock_recovered(app, dir)?);
    }
    match sync_copy(app, dir) {
        Err(error) if error.kind != ErrorKind::Locked => return Err(error),
        Ok(_) | Err(_) => {}
    }
    if let Some((seq, _)) = &history.gates.asked {
        // Its process was killed, or it runs; what follows from the answer is for a later round.
        if !ask::is_running(dir, history) {
            ask::start(app, dir, *seq)?;
        }
        return Ok(Some(stories));
    }
    if let Some(story) = delegated(app, dir, task, history)? {
        return Ok(Some(vec![story]));
    }
    if let Some(pending) = &history.transition.open {
        drop(lock_recovered(app, dir)?);
        stories.push(format!("finished {} → {}", pending.plan.from, pending.plan.to));
    } else if reclaim::is_unfinished(task, history, holders.contains(&task.id)) {
        return interrupted_reclaim::finish(app, dir).map(|story| Some(vec![story]));
    } else if history.worktree.reopening.is_some() && undo::may_go_on(app, task) {
        stories.extend(undo::go_on(app, dir)?);
    } else if is_left_over(app, task) {
        return end_leftovers(app, dir).map(|story| Some(vec![story]));
    } else if history.agents.alive.is_empty()
        && history.agents.waiting.is_none()
        && !ended::has_limit(app, task)
        && !budget::holds(history)
    {
        return Ok(None);
    }
    stories.extend(budget::look(app, dir, task, history)?);
    if !history.agents.stopped.is_empty() {
        stories.extend(stop::go_on(app, dir)?);
    }
    if history.agents.waiting.as_ref().is_some_and(|waiting| waiting::is_due(waiting, fault::now())) {
        stories.extend(waiting::overdue(app, dir)?);
    }
    if is_overdue {
        stories.extend(ended::overdue(app, dir)?);
    }
    if panes.is_none() && !history.agents.alive.is_empty() {
        *panes = Some(believable_panes(app)?);
    }
    stories.extend(look_at_agents(app, dir, task, history)?);
    for spawn in missing(dir, history, || Ok(panes.as_deref().unwrap_or_default()))? {
        // The check before the lock may be outdated, so it is repeated under the lock.
        if is_still_missing(app, dir, spawn)? {
            stories.push(ended_or_begun(app, dir, &Exited::of(spawn, Ending::PaneGone))?);
        }
    }
    Ok(Some(stories))
}

/// Leads a task on that waits for those that it has created, and merges one that another has created.
fn delegated(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<Option<String>> {
    if history.transition.open.is_some() {
        return Ok(None);
    }
    // A workflow that is gone is reported where it is asked for.
    let Ok(machine) = app.machine_of(&task.owned) else { return Ok(None) };
    if rules::watches_for(machine, task, |kind| kind == FactKind::Children)
        && let Some(story) = rules::apply(app, dir, None)?
    {
        return Ok(Some(story));
    }
    if !created::is_ready(app, dir, task)? {
        return Ok(None);
    }
    app.detached(&["task", "merge-into-parent", &dir.id], dir)?;
    Ok(Some(format!("saw to the merge of {}", task.branch)))
}

/// Checks one mission; `None` if nothing of it can have changed: it waits for a person, or is over and has left nothing.
fn look_at_mission(
    app: &App,
    dir: &WorkItemDir,
    holders: &BTreeSet<String>,
    panes: &mut Option<Vec<Pane>>,
) -> Result<Option<Vec<String>>> {
    let (task, journal) = WorkItem::read_last(&app.home, dir, 0)?;
    let history = journal.history();
    let has_agents = !history.agents.alive.is_empty() || task.owned.tmux_session.is_some();
    let has_slot = task.owned.workspace.is_some() || holders.contains(&task.id);
    let has_left = app.is_done_with_worktree(&task) && has_slot;
    let open = [MissionStatus::Pending, MissionStatus::Running];
    let may_go_on = open.iter().any(|status| status.as_str() == task.status());
    // The process that journaled it may have been killed before it sent a message.
    let has_news = history.mission.records.last().is_some_and(|record| record.seq > history.mission.noticed);
    if !has_agents && !has_left && !may_go_on && !has_news {
        return Ok(None);
    }
    if panes.is_none() && !history.agents.alive.is_empty() {
        *panes = Some(believable_panes(app)?);
    }
    let gone: Vec<u32> = missing(dir, &history, || Ok(panes.as_deref().unwrap_or_default()))?;
    // One that was never started is not an end without a word.
    let begun = |spawn: &u32| AgentProcesses::read(dir, *spawn).is_ok_and(|processes| processes.is_some());
    let mut gone: Vec<u32> = gone.into_iter().filter(begun).collect();
    // The report of its wrapper knows more of its end.
    if !gone.is_empty() && process::is_reported(&dir.id, &gone)? {
        gone.clear();
    }
    let mut stories = look_at_agents(app, dir, &task, &history)?;
    stories.extend(mission::ended::look(app, dir, &gone)?);
    Ok(Some(stories))
}

/// Records what agents have begun to do that a person should know; one that has met a limit waits for its end.
fn look_at_agents(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<Vec<String>> {
    let spawns: Vec<u32> = history.agents.alive.keys().copied().collect();
    for spawn in &spawns {
        limit::look_into_transcript(dir, *spawn);
    }
    let news = activity::news(app, dir, task, history);
    if !news.is_empty() {
        match dir.kind {
            // Locking the task journals it.
            WorkItemKind::Task => drop(lock_recovered(app, dir)?),
            WorkItemKind::Mission => {
                drop(activity::journal_reports(app, &mut LockedWorkItem::lock(&app.home, dir)?)?)
            }
        }
    }
    let mut stories: Vec<String> = news.iter().map(activity::words).collect();
    let is_new = |spawn: &u32| history.agents.waiting.is_none() && limit::met(dir, *spawn).is_some();
    for spawn in spawns.into_iter().filter(is_new) {
        stories.extend(match dir.kind {
            WorkItemKind::Task => waiting::limit_met(app, dir, spawn)?,
            WorkItemKind::Mission => mission::limit::met(app, dir, spawn)?,
        });
    }
    Ok(stories)
}

/// True if the task is finished and still has a session or a plain folder, because a hook failed.
fn is_left_over(app: &App, task: &WorkItem) -> bool {
    let is_left = task.owned.tmux_session.is_some() || task.holds() == Some(Workspace::Folder);
    is_left && app.is_over(task)
}

/// If it is missing, what is left of it is ended. One whose wrapper has reported its end is left to that report, which knows more.
fn is_still_missing(app: &App, dir: &WorkItemDir, spawn: u32) -> Result<bool> {
    let open = lock_recovered(app, dir)?;
    let is_missing = missing(dir, open.history(), || app.tmux.panes())?.contains(&spawn)
        && !process::is_reported(&dir.id, &[spawn])?;
    if is_missing {
        agents::clear_away(app, &open, spawn)?;
    }
    Ok(is_missing)
}

/// The panes. A single empty answer is not proof that every agent is gone, so it is asked again.
fn believable_panes(app: &App) -> Result<Vec<Pane>> {
    const ASKS: usize = 3;
    for _ in 1..ASKS {
        let panes = app.tmux.panes()?;
        if !panes.is_empty() {
            return Ok(panes);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    app.tmux.panes()
}
