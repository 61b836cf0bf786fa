//! Activity of a task's living agents, by the reports of their harnesses, by tmux and by the gates of the task.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use orange_core::{Actor, Machine, Rejection, View};

use crate::Result;
use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::Snapshot;
use crate::flow::asked::{is_answered, known};
use crate::flow::doing::{AgentFacts, Wants};
use crate::flow::snapshot::status_of;
use crate::flow::typed;
use crate::hooks::agent_processes::AgentProcesses;
use crate::hooks::trace;
use crate::store::activity::{self, Activity};
use crate::store::event::{self, Report, Spawn, Spent};
use crate::store::{Event, LockedWorkItem, WorkItem, WorkItemDir, WorkItemHistory};
use orange_api::{Agent, AgentState};
use orange_system::{clock, fault};

/// True if a task can have agents by its journal: only one that has a worktree, or a session.
pub fn may_have_agents(task: &WorkItem) -> bool {
    task.owned.workspace.is_some() || task.owned.tmux_session.is_some()
}

/// Tokens and cost of each agent of a task so far, by spawn number: of ended ones by the journal, of living ones by the data of
/// their harnesses.
pub fn spent(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> BTreeMap<u32, Spent> {
    let mut all = history.agents.spent.clone();
    for record in history.agents.alive.values() {
        let spent = trace::spent(app, dir, record, trace::own_file(app, dir, task, record).as_ref());
        if spent != Spent::default() {
            all.insert(record.spawn, spent);
        }
    }
    all
}

/// The activity of the task's living agents, the one first that needs somebody most. `panes` is called only if a screen matters.
pub fn of_task(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
    panes: impl Fn() -> Option<Vec<Pane>>,
) -> Vec<Agent> {
    let alive: Vec<_> = history.agents.alive.values().filter(|record| is_alive(dir, record)).collect();
    if alive.is_empty() {
        return Vec::new();
    }
    let notes = activity::read(dir);
    let now = fault::now();
    let known_panes = OnceCell::new();
    let of = |record: &&Spawn| {
        let mut activity = known(&notes, record.spawn);
        typed::name_requests(app, dir, task, record, &mut activity);
        let age = AgentProcesses::age(dir, record.spawn).ok().flatten();
        let mut facts = AgentFacts {
            reports: activity.reports,
            age,
            heard: since(&activity.since, now).map(|heard| within(heard, age)),
            still: None,
            wants: wants(app, task, history, record),
            activity: &activity,
        };
        if facts.depends_on_screen() {
            let panes = known_panes.get_or_init(&panes).as_deref();
            let still = panes.and_then(|panes| still(panes, &task.id, &record.window, now));
            facts.still = still.map(|still| within(still, age));
        }
        let Spawn { spawn, actor, name, step, role, .. } = (*record).clone();
        let mut assessment = facts.assess();
        if let (Some(asked), Some(request)) = (&mut assessment.asked, &assessment.request) {
            asked.is_answered = is_answered(dir, request);
        }
        Agent { spawn, actor, name, step, role, assessment }
    };
    let mut agents: Vec<Agent> = alive.iter().map(of).collect();
    agents.sort_by_key(|agent| urgency(agent.assessment.state));
    agents
}

fn urgency(state: AgentState) -> u8 {
    match state {
        AgentState::Waiting => 0,
        AgentState::Ended => 1,
        AgentState::Limit => 2,
        AgentState::Quiet => 3,
        AgentState::Unknown => 4,
        AgentState::Busy => 5,
        AgentState::Idle => 6,
    }
}

/// Journals the new reports about the agents of a locked task, and returns them in words.
pub fn journal_reports(app: &App, locked: &mut LockedWorkItem) -> Result<Vec<String>> {
    let news = news(app, locked.dir(), locked.task(), locked.history());
    let stories = news.iter().map(words).collect();
    let events: Vec<_> = news.into_iter().map(|report| Event::AgentActivity(report).into()).collect();
    if !events.is_empty() {
        locked.append_many(events)?;
    }
    Ok(stories)
}

/// One report in a line.
pub fn words(report: &Report) -> String {
    format!("agent {} is {}: {}", report.spawn, report.state, report.reason)
}

/// The reports that are not in the journal yet.
pub fn news(app: &App, dir: &WorkItemDir, task: &WorkItem, history: &WorkItemHistory) -> Vec<Report> {
    if history.agents.alive.is_empty() {
        return Vec::new();
    }
    let notes = activity::read(dir);
    let agents = of_task(app, dir, task, history, || None).into_iter();
    let reports = agents.map(|agent| (report(&agent, &known(&notes, agent.spawn)), agent.assessment.state));
    reports
        .filter(|(report, state)| is_news(history.agents.reports.get(&report.spawn), report, *state))
        .map(|(report, _)| report)
        .collect()
}

/// True if the journal needs the report: it has what an agent waits for, and that it went on, but not each step.
fn is_news(last: Option<&Report>, report: &Report, state: AgentState) -> bool {
    let key = |report: &Report| (report.state.clone(), report.reason.clone(), report.request.clone());
    let was_kept =
        last.is_some_and(|last| !matches!(last.state, event::Activity::Busy | event::Activity::Idle));
    match (state.is_kept(), state.is_well()) {
        (true, _) => last.map(key) != Some(key(report)),
        (false, true) => was_kept,
        (false, false) => false,
    }
}

/// The report for the journal.
fn report(agent: &Agent, activity: &Activity) -> Report {
    Report {
        spawn: agent.spawn,
        state: agent.assessment.state.as_str().into(),
        reason: agent.assessment.reason.clone(),
        until: agent.assessment.until.clone(),
        request: agent.assessment.request.clone(),
        conversation: activity.session.clone(),
        transcript: activity.transcript.clone(),
        tokens: activity.tokens,
        cost: activity.cost,
        actor: None,
        via: None,
    }
}

/// The journal's last report about an agent that has ended; `None` if its harness reported no conversation.
pub fn at_its_end(dir: &WorkItemDir, spawn: u32, reason: &str) -> Option<Event> {
    let activity = Activity::of(&activity::read(dir), spawn);
    activity.session.as_ref()?;
    Some(Event::AgentActivity(Report {
        spawn,
        state: event::Activity::Ended,
        reason: reason.to_owned(),
        until: None,
        request: None,
        conversation: activity.session,
        transcript: activity.transcript,
        tokens: activity.tokens,
        cost: activity.cost,
        actor: None,
        via: None,
    }))
}

fn is_alive(dir: &WorkItemDir, record: &Spawn) -> bool {
    let processes = AgentProcesses::read(dir, record.spawn).ok().flatten();
    // Of one that cannot be looked for nobody knows what it does; its session is `unknown`.
    processes.is_some_and(|processes| processes.is_alive().unwrap_or(false))
}

/// Limits a time to the agent's age, in case the clock was set forwards.
fn within(time: Duration, age: Option<Duration>) -> Duration {
    age.map_or(time, |age| time.min(age))
}

/// The time since then; `None` if the clock was set back.
fn since(time: &str, now: SystemTime) -> Option<Duration> {
    now.duration_since(clock::parse(time)?).ok()
}

fn still(panes: &[Pane], task: &str, window: &str, now: SystemTime) -> Option<Duration> {
    let pane = panes.iter().find(|pane| pane.belongs_to(task) && pane.hosts(window))?;
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(pane.changed);
    (pane.changed > 0).then(|| now.duration_since(changed).unwrap_or_default())
}

/// Result that the task wants from this agent: what the gates of its transitions lack.
fn wants(app: &App, task: &WorkItem, history: &WorkItemHistory, record: &Spawn) -> Wants {
    let actor = record.actor.known().unwrap_or(Actor::Worker);
    let Ok(machine) = app.machine_of(&task.owned) else { return Wants::Turn };
    let Ok(status) = status_of(machine, task) else { return Wants::Turn };
    if machine.state(status).agent != actor {
        return Wants::Nothing { status: task.status().to_owned() };
    }
    let Ok(snapshot) = Snapshot::of(app, machine, task, history) else { return Wants::Turn };
    snapshot.with_facts(|facts| {
        let wants = wanted(machine, &facts.view, actor);
        let has_judged = || record.name.as_ref().is_some_and(|it| machine.has_judged(&facts.view, it));
        // The other reviewers write the rest.
        if matches!(wants, Wants::Artifact { .. }) && has_judged() {
            return Wants::Nothing { status: format!("{}, and others are still at work", task.status()) };
        }
        wants
    })
}

fn wanted(machine: &Machine<'_>, view: &View<'_>, actor: Actor) -> Wants {
    let mut missing = None;
    for choice in machine.options(view, actor) {
        let has_gate = !machine.transition(choice.transition).gates.is_empty();
        match choice.rejection {
            None | Some(Rejection::NotAsked { .. }) if has_gate => {
                return Wants::Request { status: machine.state(choice.to).name.to_owned() };
            }
            Some(Rejection::GateFailed { .. }) => missing = missing.or_else(|| choice.missing(machine, view)),
            None | Some(_) => {}
        }
    }
    missing.map_or(Wants::Turn, |missing| Wants::Artifact { missing })
}
