//! Starts agents, ends them, and pastes messages into their windows.

use orange_system::variables;
use std::ffi::{OsStr, OsString};
use std::thread;
use std::time::{Duration, Instant};

use orange_core::{Actor, HarnessOf, Hook, Machine, ORIGIN_HEAD, Prompt, Value, Values, Workspace, need};
use rustix::process::Pid;

use crate::app::App;
use crate::drive::git::Git;
use crate::drive::harness::shell_word;
use crate::drive::tmux::{self, Pane};
use crate::hooks::agent_processes::{AgentProcesses, is_alive, is_alive_in};
use crate::hooks::{prepare, trace, wall, workspace};
use crate::store::event::{Ending, Exited, Pass, Spawn};
use crate::store::{Event, LockedWorkItem, Seat, Set, WorkItem, WorkItemHistory, WorkItemKind, secret};
use crate::{Error, ErrorKind, Result};
use orange_system::process::{ProcessRoot, ProcessTree};
use orange_system::{fault, terminal};

/// Reason for the start of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A hook of a transition starts it.
    Spawn,
    /// The agent before it has died, and the task keeps its state. The new agent continues the conversation if that is possible.
    Respawn,
    /// The agent before it has died, and the task keeps its state. The new agent begins a new conversation.
    Afresh,
}

/// A start of an agent.
#[derive(Clone, Debug)]
pub struct AgentStart {
    pub occasion: Occasion,
    /// The call for attention that a person answers with this start; it is over when the agent is there.
    pub answers: Option<String>,
}

impl From<Occasion> for AgentStart {
    fn from(occasion: Occasion) -> AgentStart {
        AgentStart { occasion, answers: None }
    }
}

/// Starts an agent: writes its prompt and its secret, journals it, then has tmux run the wrapper (`orange agent run`), which
/// reads them.
/// There are never two live agents of one actor in a worktree, unless they are reviewers with different names: a second one is
/// refused.
///
/// # Errors
/// `refused` without a worktree, or while the agent before it is alive; `environment` when tmux fails.
pub fn start(
    app: &App,
    machine: &Machine<'_>,
    locked: &mut LockedWorkItem,
    hook: &Hook<'_>,
    counter: Option<&(String, u32)>,
    AgentStart { occasion, answers }: AgentStart,
) -> Result<()> {
    let Some(spawn) = hook.spawn() else { return Ok(()) };
    workspace::check_ready(locked.task(), spawn.workspace)?;
    if spawn.workspace == Workspace::Worktree {
        // Somebody may have removed its folder.
        workspace::acquire(app, locked)?;
    }
    make_room(app, locked, spawn.actor(), spawn.reviewer)?;
    // A reviewer before this one has no say in its verdict, however late it wrote.
    locked.sync()?;

    let record = Spawn { answers, ..record(app, machine, locked, spawn, counter, occasion)? };
    let prompt = prompt(app, machine, locked.task(), spawn, counter)?;
    let set = counter.iter().fold(Set::new(), |set, (name, value)| set.counter(name, *value));
    let event = match occasion {
        Occasion::Spawn => Event::AgentSpawned(record.clone()),
        Occasion::Respawn | Occasion::Afresh => Event::AgentRespawned(record.clone()),
    };
    let set = set.tmux_session(Some(&record.session));
    let set = match spawn.workspace {
        Workspace::Worktree => set,
        Workspace::Folder => set.workspace(Some(&locked.dir().id)),
    };
    launch(app, locked, &record, &prompt, vec![(event, set)])
}

/// Writes the prompt and the secret of a recorded agent, journals these events, and has tmux run its wrapper.
pub(super) fn launch(
    app: &App,
    locked: &mut LockedWorkItem,
    record: &Spawn,
    prompt: &str,
    events: Vec<(Event, Set)>,
) -> Result<()> {
    locked.write_prompt(record.spawn, prompt)?;
    secret::make(locked.dir(), record.spawn)?;
    locked.append_many(events)?;
    // The agent begins with the text as it is now.
    let there = workspace::make_folder(app, locked.task()).and_then(|()| locked.sync());
    match there.and_then(|()| run_wrapper(app, locked, record)) {
        Ok(session) => {
            is_answered(locked.task(), locked.history()).then(|| locked.clear_attention()).transpose()?;
            if session == record.session { Ok(()) } else { moved(locked, &record.session, &session) }
        }
        Err(error) => {
            // The server may have obeyed a tmux client that was killed: while that is unknown, the agent stays recorded.
            if is_there(app, locked, record)? {
                return Ok(());
            }
            let reason = format!("could not be started: {}", error.message);
            gone(app, locked, &[record.spawn], &reason.as_str().into())?;
            // A wrapper that began meanwhile reads the journal after it has recorded itself, and this looks for it now.
            kill_agent(app, locked, record.spawn, &record.window)?;
            Err(error)
        }
    }
}

/// Starts the wrapper of a recorded agent once more if nothing of it is there: the process that recorded it was killed before
/// tmux had it.
///
/// # Errors
/// `environment` when tmux fails.
pub fn start_unbegun(app: &App, locked: &mut LockedWorkItem, record: &Spawn) -> Result<()> {
    if AgentProcesses::read(locked.dir(), record.spawn)?.is_some() || is_there(app, locked, record)? {
        return Ok(());
    }
    // A wrapper may have been killed after it had started the agent and before it had recorded that.
    clear_away(app, locked, record.spawn)?;
    workspace::make_folder(app, locked.task())?;
    locked.sync()?;
    let session = run_wrapper(app, locked, record)?;
    if session == record.session { Ok(()) } else { moved(locked, &record.session, &session) }
}

/// True if the last recorded start of an agent answers the task's call for attention.
pub fn is_answered(task: &WorkItem, history: &WorkItemHistory) -> bool {
    history.agents.answered.is_some() && history.agents.answered == task.attention
}

/// Ends that call once the agent is there: the process that started the agent was killed before it could.
///
/// # Errors
/// Those of the store; `environment` when tmux cannot tell.
pub fn take_answered(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    if !is_answered(locked.task(), locked.history()) {
        return Ok(());
    }
    match locked.history().agents.alive.get(&locked.history().agents.last_spawn) {
        Some(record) if is_there(app, locked, record)? => locked.clear_attention(),
        Some(_) | None => Ok(()),
    }
}

/// True if an agent was started, even if the process that asked tmux for it has died: by its mark on a pane, or by the record of
/// its wrapper.
fn is_there(app: &App, locked: &LockedWorkItem, record: &Spawn) -> Result<bool> {
    if let Some(processes) = AgentProcesses::read(locked.dir(), record.spawn)?
        && processes.is_alive()?
    {
        return Ok(true);
    }
    Ok(app.tmux.panes_of(&locked.task().id)?.iter().any(|pane| is_alive_in(pane, &record.window)))
}

/// True if this transition has already started the agent of this hook: then a kill came between the start and its record. Such an
/// agent is alive, or it has begun and no exit rule has been applied to its end.
///
/// # Errors
/// `environment` when tmux cannot tell; those of reading which processes it is.
pub fn started_since(app: &App, locked: &LockedWorkItem, hook: &Hook<'_>, since: u64) -> Result<bool> {
    let Some(spawn) = hook.spawn() else { return Ok(false) };
    let last = locked.history().agents.last_spawn;
    let Some(record) =
        locked.history().agents.alive.get(&last).filter(|_| locked.history().agents.last_spawn_seq >= since)
    else {
        return Ok(false);
    };
    if record.actor.known() != Some(spawn.actor()) || record.name.as_deref() != spawn.reviewer {
        return Ok(false);
    }
    if AgentProcesses::read(locked.dir(), last)?.is_some() {
        return Ok(true);
    }
    let panes = app.tmux.panes_of(&locked.task().id)?;
    is_alive(locked.dir(), record, &panes)
}

/// Ends the agents of the task with everything that they have started, and their session. Windows that a person has
/// opened in that session stay.
pub fn kill_session(app: &App, locked: &mut LockedWorkItem) -> Result<Set> {
    let (session, history) = (locked.task().owned.tmux_session.clone(), locked.history());
    if session.is_none() && history.agents.last_spawn == 0 {
        return Ok(Set::new());
    }
    let id = locked.dir().id.clone();
    let spawns: Vec<u32> = history.agents.alive.keys().copied().collect();
    let tree = ProcessTree::of([roots(locked, &spawns)?, vec![ProcessRoot::Task(id.clone())]].concat())?;
    end(tree, || session.map_or(Ok(Vec::new()), |session| app.tmux.kill_session(&session, &id)))?;
    gone(app, locked, &spawns, &Ending::Killed)?;
    Ok(Set::new().tmux_session(None))
}

/// Ends the reviewers with everything that they have started. The session ends with them if it has no other agent.
pub fn kill_reviewer(app: &App, locked: &mut LockedWorkItem) -> Result<Set> {
    let reviewers: Vec<_> =
        of_actor(locked, Actor::Reviewer).map(|(n, record)| (*n, record.window.clone())).collect();
    for (number, window) in &reviewers {
        kill_agent(app, locked, *number, window)?;
        gone(app, locked, &[*number], &Ending::Killed)?;
    }
    let is_over = !reviewers.is_empty() && locked.history().agents.alive.is_empty();
    Ok(if is_over { Set::new().tmux_session(None) } else { Set::new() })
}

/// Ends the agents that a person has stopped and whose end is not recorded, with everything that they have started. The
/// session ends with them if it has no other agent.
pub fn end_stopped(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    let agents = &locked.history().agents;
    let stopped: Vec<_> =
        agents.stopped.iter().filter_map(|number| agents.alive.get(number)).cloned().collect();
    for Spawn { spawn, window, .. } in &stopped {
        fault::step("stop", format_args!("agent {spawn}"));
        kill_agent(app, locked, *spawn, window)?;
        let is_last = locked.history().agents.alive.len() == 1;
        let set = if is_last { Set::new().tmux_session(None) } else { Set::new() };
        let exited = trace::keep(app, locked, Exited::of(*spawn, Ending::Stopped));
        locked.append(Event::AgentExited(exited), set)?;
        AgentProcesses::forget(locked.dir(), *spawn)?;
    }
    Ok(())
}

/// The record of an agent whose end is to be recorded, after everything that it has left is ended: its wrapper may have been killed
/// before it had done that. None for an agent whose end is on record, or that never was.
///
/// # Errors
/// `environment` when tmux or the process table cannot tell, or a process survives: the end is not recorded then.
pub fn left_nothing(app: &App, locked: &LockedWorkItem, spawn: u32) -> Result<Option<Spawn>> {
    clear_away(app, locked, spawn)?;
    Ok(locked.history().agents.alive.get(&spawn).cloned())
}

/// Ends the processes and the pane of an agent whose end was not reported.
pub fn clear_away(app: &App, locked: &LockedWorkItem, spawn: u32) -> Result<()> {
    let window = locked.history().agents.alive.get(&spawn).map(|record| record.window.clone());
    window.map_or(Ok(()), |window| kill_agent(app, locked, spawn, &window))
}

/// Pastes a message into the worker's window, unless it has the message with this mark already. False where no worker is
/// alive to read it.
///
/// # Errors
/// `environment` when tmux fails; `refused` when the worker has no window any more, or does not read.
pub fn notify_worker(app: &App, locked: &LockedWorkItem, mark: &str, message: &str) -> Result<bool> {
    let panes = app.tmux.panes_of(&locked.task().id)?;
    match live(locked, &panes, Actor::Worker)? {
        Some((number, _)) => say(app, locked, *number, mark, message).map(|()| true),
        None => Ok(false),
    }
}

/// Pastes a message into the window of a living agent, unless it has the message with this mark already.
///
/// # Errors
/// `environment` when tmux fails; `refused` when the agent has no window any more, or does not read.
pub fn say(app: &App, locked: &LockedWorkItem, spawn: u32, mark: &str, message: &str) -> Result<()> {
    let panes = app.tmux.panes_of(&locked.task().id)?;
    let window = locked.history().agents.alive.get(&spawn).map_or("", |record| &record.window);
    match panes.iter().find(|pane| is_alive_in(pane, window)) {
        Some(pane) => {
            until_it_listens(locked, spawn, pane)?;
            app.tmux.send_text(&pane.pane_id, mark, message.trim_end().as_bytes())?;
            until_it_has_read(locked, spawn, pane)
        }
        None => {
            Err(Error::new(ErrorKind::Refused, format!("agent {spawn} is alive, and its window is gone"))
                .help(without_window(locked, spawn)?))
        }
    }
}

/// Waits until a new agent reads its terminal key by key, for at most ten seconds: some agents never do.
fn until_it_listens(locked: &LockedWorkItem, spawn: u32, pane: &Pane) -> Result<()> {
    const STARTING: Duration = Duration::from_secs(10);
    let until = Instant::now() + STARTING;
    terminal::until_raw(&pane.tty, || {
        let age = AgentProcesses::age(locked.dir(), spawn)?;
        Ok(age.is_none_or(|age| age < STARTING) && Instant::now() < until)
    })
}

/// Waits until an agent that reads its terminal key by key has read everything. Nothing shows from outside what it does with
/// the text.
fn until_it_has_read(locked: &LockedWorkItem, spawn: u32, pane: &Pane) -> Result<()> {
    const PATIENCE: Duration = Duration::from_secs(15);
    const PAUSE: Duration = Duration::from_millis(20);
    let until = Instant::now() + PATIENCE;
    while terminal::is_raw(&pane.tty) == Some(true)
        && terminal::unread(&pane.tty).is_some_and(|left| left > 0)
    {
        if Instant::now() >= until {
            let message = format!("agent {spawn} does not read its message: it waits in its terminal");
            return Err(Error::new(ErrorKind::Refused, message).help(format!(
                "{} shows what it does; it reads it when it goes on",
                locked.dir().command("attach")
            )));
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// The living agent of this actor, by the journal, by the recorded processes, and by tmux.
pub fn live<'o>(
    locked: &'o LockedWorkItem,
    panes: &[Pane],
    actor: Actor,
) -> Result<Option<(&'o u32, &'o Spawn)>> {
    first_live(locked, panes, of_actor(locked, actor))
}

fn first_live<'o>(
    locked: &LockedWorkItem,
    panes: &[Pane],
    agents: impl Iterator<Item = (&'o u32, &'o Spawn)>,
) -> Result<Option<(&'o u32, &'o Spawn)>> {
    for (number, record) in agents {
        if is_alive(locked.dir(), record, panes)? {
            return Ok(Some((number, record)));
        }
    }
    Ok(None)
}

/// Keeps the transcripts of these agents, records their end, and deletes the record of their processes.
pub fn gone(app: &App, locked: &mut LockedWorkItem, spawns: &[u32], reason: &Ending) -> Result<()> {
    let exited = |spawn: &u32| trace::keep(app, locked, Exited::of(*spawn, reason.clone()));
    let ends = spawns.iter().map(|spawn| Event::AgentExited(exited(spawn)).into()).collect();
    fault::step("record the end of", "agents");
    locked.append_many(ends)?;
    spawns.iter().try_for_each(|number| AgentProcesses::forget(locked.dir(), *number))
}

fn of_actor(locked: &LockedWorkItem, actor: Actor) -> impl Iterator<Item = (&u32, &Spawn)> {
    locked.history().agents.alive.iter().filter(move |(_, record)| record.actor.known() == Some(actor))
}

/// The agents beside which none of this actor and name can be alive: only reviewers with different names can.
fn in_the_way_of<'o>(
    locked: &'o LockedWorkItem,
    actor: Actor,
    name: Option<&str>,
) -> impl Iterator<Item = (&'o u32, &'o Spawn)> {
    let seat = Seat { actor: actor.into(), name: name.map(str::to_owned) };
    locked.history().agents.alive.iter().filter(move |(_, it)| it.seat().excludes(&seat))
}

/// Refuses while an agent in whose place one is to be started is alive; clears away what a dead one has left.
pub(super) fn make_room(
    app: &App,
    locked: &mut LockedWorkItem,
    actor: Actor,
    name: Option<&str>,
) -> Result<()> {
    let nobody = in_the_way_of(locked, actor, name).next().is_none();
    let panes = if nobody { Vec::new() } else { app.tmux.panes_of(&locked.task().id)? };
    if let Some((number, record)) = first_live(locked, &panes, in_the_way_of(locked, actor, name))? {
        let (seat, window) = (record.seat(), &record.window);
        let message = format!("agent {number} ({seat}) is still alive in window {window}");
        let help = match panes.iter().any(|pane| pane.hosts(&record.window)) {
            true => shown_by(locked),
            false => without_window(locked, *number)?,
        };
        return Err(Error::new(ErrorKind::Refused, message).help(help));
    }
    let left: Vec<_> = in_the_way_of(locked, actor, name).map(|(number, _)| *number).collect();
    for number in left {
        clear_away(app, locked, number)?;
        gone(app, locked, &[number], &Ending::PaneGone)?;
    }
    AgentProcesses::sweep(locked.dir(), |spawn| locked.history().agents.alive.contains_key(&spawn))
}

/// Help with the commands that show and end the living agent in whose place another one was to be started.
fn shown_by(locked: &LockedWorkItem) -> String {
    let attach = locked.dir().command("attach");
    match locked.dir().kind {
        WorkItemKind::Task => {
            format!("{attach} shows it; the workflow may want `kill_session` before the spawn")
        }
        WorkItemKind::Mission => format!("{attach} shows it; {} ends it", locked.dir().command("cancel")),
    }
}

/// Help for an agent whose window is gone.
fn without_window(locked: &LockedWorkItem, spawn: u32) -> Result<String> {
    let processes = AgentProcesses::read(locked.dir(), spawn)?;
    Ok(match processes.map(|processes| processes.survivor()).transpose()?.flatten() {
        Some(process) => {
            let cancel = locked.dir().command("cancel");
            format!("its window is gone: end it with `kill {}`, or everything with {cancel}", process.pid)
        }
        None => "it is about to end: ask again".to_owned(),
    })
}

fn kill_agent(app: &App, locked: &LockedWorkItem, spawn: u32, window: &str) -> Result<()> {
    let id = &locked.dir().id;
    let tree =
        ProcessTree::of([roots(locked, &[spawn])?, vec![ProcessRoot::Agent(id.clone(), spawn)]].concat())?;
    end(tree, || app.tmux.kill_agent(id, window))
}

/// The recorded processes of these agents, with their wrappers.
fn roots(locked: &LockedWorkItem, spawns: &[u32]) -> Result<Vec<ProcessRoot>> {
    let mut roots = Vec::new();
    for spawn in spawns {
        if let Some(processes) = AgentProcesses::read(locked.dir(), *spawn)? {
            roots.extend(processes.roots(locked.dir(), *spawn)?);
        }
    }
    Ok(roots)
}

/// Ends these processes and those of the panes that this kills, even when tmux has failed. A wrapper dies with its pane, so that
/// goes last.
fn end(mut tree: ProcessTree, kill: impl FnOnce() -> Result<Vec<Pane>>) -> Result<()> {
    tree.end_below_wrappers()?;
    let killed = kill();
    let panes = killed.as_deref().unwrap_or_default();
    let sessions: Vec<ProcessRoot> =
        panes.iter().filter_map(|pane| Pid::from_raw(pane.pid)).map(ProcessRoot::Session).collect();
    tree.and(sessions).end()?;
    killed.map(drop)
}

fn record(
    app: &App,
    machine: &Machine<'_>,
    locked: &LockedWorkItem,
    spawn: &orange_core::Spawn<'_>,
    counter: Option<&(String, u32)>,
    occasion: Occasion,
) -> Result<Spawn> {
    let task = locked.task();
    let harness = app.harness(spawn.harness_name(&task.harness, &task.review_harness))?;
    let (model, effort) = match spawn.harness {
        HarnessOf::Task | HarnessOf::Review => {
            (spawn.model.or(task.model.as_deref()), spawn.effort.or(task.effort.as_deref()))
        }
        // The task's are words of the task's harnesses.
        HarnessOf::Named(_) => (spawn.model, spawn.effort),
    };
    let seat = Seat { actor: spawn.actor().into(), name: spawn.reviewer.map(str::to_owned) };
    let resumes = occasion == Occasion::Respawn;
    let sandbox = wall::decide(app, task, &harness, spawn.sandbox, spawn.role)?;
    let beginning = trace::beginning(app, locked, &harness, &seat, resumes, sandbox.is_some())?;
    let before = locked.history().agents.here.get(&seat);
    let session = task.owned.tmux_session.clone();
    Ok(Spawn {
        spawn: locked.history().agents.last_spawn + 1,
        actor: seat.actor,
        prompt: machine.prompt(spawn.prompt).name.to_owned(),
        harness: harness.name,
        session: session.unwrap_or_else(|| tmux::session_name(&task.project, &task.branch)),
        window: match spawn.actor() {
            Actor::Reviewer => {
                let round = counter_value(task, "review_round", counter);
                let name = spawn.reviewer.map(|name| format!("-{name}"));
                format!("review-{round}{}", name.unwrap_or_default())
            }
            Actor::Worker | Actor::Human | Actor::Engine | Actor::Declared(_) => "worker".to_owned(),
        },
        permissions: spawn.permissions.into(),
        conversation: beginning.conversation,
        resumed: beginning.resumed,
        not_resumed: beginning.not_resumed,
        stood: stood(machine, task, spawn.reviewer),
        asked: match before.filter(|_| beginning.resumed) {
            Some(before) => before.asked.clone(),
            None => need::questions(&task.body).map(|hash| format!("{hash:016x}")),
        },
        answers: None,
        model: model.map(str::to_owned),
        effort: effort.map(str::to_owned),
        name: seat.name,
        step: None,
        role: None,
        attempt: None,
        sandbox,
    })
}

/// The sections in which this agent is to write its verdict, as they are now.
fn stood(machine: &Machine<'_>, task: &WorkItem, reviewer: Option<&str>) -> Vec<Pass> {
    let state = machine.state_named(task.status());
    let found = state.map(|state| machine.found(state, &task.body, reviewer));
    found.unwrap_or_default().into_iter().map(Pass::of).collect()
}

fn prompt(
    app: &App,
    machine: &Machine<'_>,
    task: &WorkItem,
    spawn: &orange_core::Spawn<'_>,
    counter: Option<&(String, u32)>,
) -> Result<String> {
    let counters: Vec<_> =
        machine.counters.iter().map(|known| counter_value(task, known.name, counter)).collect();
    let prompt = machine.prompt(spawn.prompt);
    let base = base(app, task, prompt)?;
    let port = prepare::ports_of(app, task)?.map(|ports| ports.first.to_string());
    Ok(prompt.render(&Values {
        summary: &task.summary,
        project: &task.project,
        branch: &task.branch,
        status: task.status(),
        id: &task.id,
        workflow: &task.owned.workflow,
        base: &base.commit,
        orange: &shell_word(&app.program),
        reviewer: spawn.reviewer.unwrap_or_default(),
        port: &port.unwrap_or_default(),
        origin_head: if base.has_origin_head { ORIGIN_HEAD } else { &base.commit },
        counters: &counters,
    }))
}

/// The commit to compare the work with. A prompt that does not name it needs no call of git.
struct BaseCommit {
    commit: String,
    has_origin_head: bool,
}

fn base(app: &App, task: &WorkItem, prompt: &Prompt<'_>) -> Result<BaseCommit> {
    let says_origin_head = prompt.says(ORIGIN_HEAD);
    let Some(workspace) = task.worktree().filter(|_| says_origin_head || prompt.has(Value::Base)) else {
        return Ok(BaseCommit { commit: String::new(), has_origin_head: true });
    };
    let project = app.project_of(task)?;
    let git = Git::at(&project.path);
    Ok(BaseCommit {
        commit: git.fork_point(&app.home.workspace(workspace), &project.default_branch)?,
        has_origin_head: !says_origin_head || git.has_commit(ORIGIN_HEAD)?,
    })
}

fn counter_value(task: &WorkItem, name: &str, raised: Option<&(String, u32)>) -> u32 {
    raised.filter(|(raised, _)| raised == name).map_or_else(|| task.counter(name), |(_, value)| *value)
}

/// Has tmux start the wrapper, in a window of the task's session if there is one. Returns the session's name.
fn run_wrapper(app: &App, locked: &LockedWorkItem, record: &Spawn) -> Result<String> {
    let task = locked.task();
    let number = record.spawn.to_string();
    let folder = app.home.workspace(task.owned.workspace.as_deref().unwrap_or_default());
    prepare::offer_environment(app, locked, record.spawn)?;
    let mut env = app.own_env();
    // A server that a person has started from a session may have the identity of an agent.
    let of_agents = [
        variables::TASK,
        variables::ACTOR,
        variables::SPAWN,
        variables::MISSION,
        variables::STEP,
        variables::ATTEMPT,
    ];
    env.extend(of_agents.map(|name| (name, OsString::new())));
    let env: Vec<(&str, &OsStr)> = env.iter().map(|(name, value)| (*name, value.as_os_str())).collect();
    let args = ["agent", "run", "--task", &task.id, "--spawn", &number].map(OsString::from);
    let spawn = tmux::TmuxSpawn {
        session: &record.session,
        window: &record.window,
        task: &task.id,
        folder: &folder,
        env: &env,
        program: app.program.as_os_str(),
        args: &args,
    };
    let panes = app.tmux.panes_of(&task.id)?;
    let (left_over, others): (Vec<Pane>, Vec<Pane>) =
        panes.into_iter().partition(|pane| pane.hosts(&record.window));
    app.tmux.kill_panes(&left_over)?;
    let beside = if others.is_empty() { None } else { app.tmux.new_window(&spawn)? };
    // The other agents may have ended meanwhile, and the session with them.
    let pane = beside.map_or_else(|| app.tmux.new_session(&spawn), Ok);
    pane.map(|pane| pane.session)
}

/// Records the name that tmux gave, since another session has the wanted one.
fn moved(locked: &mut LockedWorkItem, asked: &str, given: &str) -> Result<()> {
    let event = Event::TaskRepaired {
        field: "tmux_session".to_owned(),
        found: Some(asked.to_owned()),
        kept: Some(given.to_owned()),
    };
    locked.append(event, Set::new().tmux_session(Some(given)))
}
