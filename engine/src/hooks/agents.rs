//! Starting, ending and telling agents.

use std::ffi::{OsStr, OsString};
use std::thread;
use std::time::{Duration, Instant};

use orange_core::{Actor, HarnessOf, Hook, Machine, Permissions, Values};
use rustix::process::Pid;

use crate::drive::process::{Family, Kin};
use crate::drive::terminal;
use crate::drive::tmux::{self, Pane};
use crate::hooks::attended::Attended;
use crate::hooks::workspace;
use crate::orange::Orange;
use crate::store::event::Spawn;
use crate::store::{Event, Open, Set, Task, TaskDir};
use crate::{Error, Kind, Result};

/// Why an agent is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A transition's hook says so.
    Spawn,
    /// The one before has died, and the task stays where it is.
    Respawn,
}

/// Refuses a spawn that cannot work.
///
/// # Errors
/// `environment`: tmux or the harness is missing; `not_found`: there is no such harness.
pub fn preflight(orange: &Orange, task: &Task, spawn: &orange_core::Spawn) -> Result<()> {
    orange.tmux.check()?;
    orange.harness(harness_of(task, spawn))?.check(orange.path())
}

/// Starts an agent: writes its prompt, journals it, then has tmux run the wrapper (`orange agent run`), which reads both.
/// There are never two live agents of one actor in a worktree: a second one is refused.
///
/// # Errors
/// `refused` without a worktree, or while the one before is alive; `environment` when tmux fails.
pub fn start(
    orange: &Orange,
    machine: &Machine<'_>,
    open: &mut Open,
    hook: &Hook<'_>,
    counter: Option<&(String, u32)>,
    occasion: Occasion,
) -> Result<()> {
    let Some(spawn) = hook.spawn() else { return Ok(()) };
    if open.task().owned.workspace.is_none() {
        return Err(Error::new(Kind::Refused, "the task has no worktree to start an agent in")
            .help("`orange task spawn` gives it one"));
    }
    // Somebody may have removed its folder.
    workspace::acquire(orange, open)?;
    make_room(orange, open, spawn.actor())?;

    let record = record(machine, open, spawn, counter);
    open.write_prompt(record.spawn, &prompt(machine, open.task(), spawn, counter))?;
    let set = Set::new().tmux_session(Some(&record.session));
    let set = counter.iter().fold(set, |set, (name, value)| set.counter(name, *value));
    let event = match occasion {
        Occasion::Spawn => Event::AgentSpawned(record.clone()),
        Occasion::Respawn => Event::AgentRespawned(record.clone()),
    };
    open.append(event, set)?;
    match run_wrapper(orange, open.task(), &record) {
        Ok(session) if session != record.session => moved(open, &record.session, &session),
        Ok(_) => Ok(()),
        Err(error) => {
            let reason = format!("could not be started: {}", error.message);
            gone(open, &[record.spawn], &reason)?;
            Err(error)
        }
    }
}

/// Whether this transition has already started the agent of this hook: then a kill came between the start and its record.
/// Such an agent is alive, or it has begun, and its end is still to be judged.
///
/// # Errors
/// `environment` when tmux cannot tell; those of reading which processes it is.
pub fn started_since(orange: &Orange, open: &Open, hook: &Hook<'_>, since: u64) -> Result<bool> {
    let Some(spawn) = hook.spawn() else { return Ok(false) };
    let last = open.log().last_spawn;
    let Some(record) = open.log().agents.get(&last).filter(|_| open.log().last_spawn_seq >= since) else {
        return Ok(false);
    };
    if record.actor != spawn.actor().as_str() {
        return Ok(false);
    }
    if Attended::read(open.dir(), last)?.is_some() {
        return Ok(true);
    }
    let panes = orange.tmux.panes_of(&open.task().id)?;
    is_alive(open.dir(), record, &panes)
}

/// Ends the agents of the task with everything that they have started, and the session that they lived in. What a person
/// has opened in that session stays.
///
/// # Errors
/// `environment` when tmux fails or a process does not end.
pub fn kill_session(orange: &Orange, open: &mut Open) -> Result<Set> {
    let (session, log) = (open.task().owned.tmux_session.clone(), open.log());
    if session.is_none() && log.last_spawn == 0 {
        return Ok(Set::new());
    }
    let id = open.dir().id.clone();
    let spawns: Vec<u32> = log.agents.keys().copied().collect();
    let kin = Kin::of([families(open, &spawns)?, vec![Family::Task(id.clone())]].concat());
    let killed = session.map_or(Ok(Vec::new()), |session| orange.tmux.kill_session(&session, &id));
    end(kin, killed)?;
    gone(open, &spawns, "killed")?;
    Ok(Set::new().tmux_session(None))
}

/// Ends the reviewers with everything that they have started, and leaves the rest of the session alone. Where nobody else
/// lived in it, the session is over with them.
///
/// # Errors
/// `environment` when tmux fails or a process does not end.
pub fn kill_reviewer(orange: &Orange, open: &mut Open) -> Result<Set> {
    let reviewers: Vec<_> =
        of_actor(open, Actor::Reviewer).map(|(n, record)| (*n, record.window.clone())).collect();
    for (number, window) in &reviewers {
        kill_agent(orange, open, *number, window)?;
        gone(open, &[*number], "killed")?;
    }
    let is_over = !reviewers.is_empty() && open.log().agents.is_empty();
    Ok(if is_over { Set::new().tmux_session(None) } else { Set::new() })
}

/// Ends what an agent whose end was not reported has left: what it has started, and its pane.
///
/// # Errors
/// `environment` when tmux fails or a process does not end.
pub fn clear_away(orange: &Orange, open: &Open, spawn: u32) -> Result<()> {
    let window = open.log().agents.get(&spawn).map(|record| record.window.clone());
    window.map_or(Ok(()), |window| kill_agent(orange, open, spawn, &window))
}

/// Pastes a message into the worker's window, unless it was told that under this mark already. False where no worker is
/// alive to read it.
///
/// # Errors
/// `environment` when tmux fails; `refused` when the worker has no window any more, or does not read.
pub fn notify_worker(orange: &Orange, open: &Open, mark: &str, message: &str) -> Result<bool> {
    let panes = orange.tmux.panes_of(&open.task().id)?;
    let Some((number, record)) = live(open, &panes, Actor::Worker)? else { return Ok(false) };
    match panes.iter().find(|pane| is_alive_in(pane, &record.window)) {
        Some(pane) => {
            until_it_listens(open, *number, pane)?;
            orange.tmux.send_text(&pane.pane_id, mark, message.trim_end().as_bytes())?;
            until_it_has_read(*number, pane).map(|()| true)
        }
        None => Err(Error::new(Kind::Refused, format!("agent {number} is alive, and its window is gone"))
            .help(without_window(open, *number)?)),
    }
}

/// Waits for an agent that has just begun until it reads its keys; one that leaves them to its terminal is given ten
/// seconds for that.
fn until_it_listens(open: &Open, spawn: u32, pane: &Pane) -> Result<()> {
    const STARTING: Duration = Duration::from_secs(10);
    let until = Instant::now() + STARTING;
    terminal::until_raw(&pane.tty, || {
        let age = Attended::age(open.dir(), spawn)?;
        Ok(age.is_none_or(|age| age < STARTING) && Instant::now() < until)
    })
}

/// Waits until an agent that reads its keys as they come has taken all of them from its terminal (F2). What it makes of
/// them, nobody can see from outside.
fn until_it_has_read(spawn: u32, pane: &Pane) -> Result<()> {
    const PATIENCE: Duration = Duration::from_secs(15);
    const PAUSE: Duration = Duration::from_millis(20);
    let until = Instant::now() + PATIENCE;
    while terminal::is_raw(&pane.tty) == Some(true)
        && terminal::unread(&pane.tty).is_some_and(|left| left > 0)
    {
        if Instant::now() >= until {
            let message = format!("agent {spawn} does not read what it was told: it waits in its terminal");
            return Err(Error::new(Kind::Refused, message)
                .help("`orange task attach` shows what it does; it reads it when it goes on"));
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// The agent of this actor that is alive, by the journal, by the processes that are on record, and by tmux.
///
/// # Errors
/// Those of reading that record.
pub fn live<'o>(open: &'o Open, panes: &[Pane], actor: Actor) -> Result<Option<(&'o u32, &'o Spawn)>> {
    for (number, record) in of_actor(open, actor) {
        if is_alive(open.dir(), record, panes)? {
            return Ok(Some((number, record)));
        }
    }
    Ok(None)
}

/// Whether an agent is alive: by its processes, whatever tmux says, as soon as they are on record; before that, by its
/// pane.
///
/// # Errors
/// Those of reading that record.
pub fn is_alive(dir: &TaskDir, record: &Spawn, panes: &[Pane]) -> Result<bool> {
    let in_its_pane =
        || panes.iter().any(|pane| pane.belongs_to(&dir.id) && is_alive_in(pane, &record.window));
    Ok(Attended::read(dir, record.spawn)?.map_or_else(in_its_pane, |attended| attended.is_alive()))
}

/// Refuses while an agent of the task is alive.
///
/// # Errors
/// `refused` for that; `environment` when tmux cannot tell; those of reading which processes it is.
pub fn check_gone(orange: &Orange, open: &Open) -> Result<()> {
    for record in open.log().agents.values() {
        // Where its processes are on record, tmux need not even be there.
        let is_noted = Attended::read(open.dir(), record.spawn)?.is_some();
        let panes = if is_noted { Vec::new() } else { orange.tmux.panes_of(&open.task().id)? };
        if is_alive(open.dir(), record, &panes)? {
            let Spawn { spawn, actor, .. } = record;
            return Err(Error::new(Kind::Refused, format!("agent {spawn} ({actor}) is still alive in it"))
                .help(format!(
                    "end it, then `orange task cancel {}` gives the worktree back",
                    open.task().id
                )));
        }
    }
    Ok(())
}

/// Puts the end of these agents on record, and forgets their processes.
///
/// # Errors
/// Those of writing.
pub fn gone(open: &mut Open, spawns: &[u32], reason: &str) -> Result<()> {
    open.append_many(spawns.iter().map(|number| exited(*number, reason).into()).collect())?;
    spawns.iter().try_for_each(|number| Attended::forget(open.dir(), *number))
}

/// The event of an agent's end that did not report itself.
pub fn exited(spawn: u32, reason: impl Into<String>) -> Event {
    Event::AgentExited {
        spawn,
        code: None,
        signal: None,
        reason: reason.into(),
        duration: None,
        last_lines: Vec::new(),
    }
}

fn of_actor(open: &Open, actor: Actor) -> impl Iterator<Item = (&u32, &Spawn)> {
    open.log().agents.iter().filter(move |(_, record)| record.actor == actor.as_str())
}

fn is_alive_in(pane: &Pane, window: &str) -> bool {
    pane.hosts(window) && !pane.dead
}

/// Refuses while an agent of this actor is alive; clears away what is left of one that is not.
fn make_room(orange: &Orange, open: &mut Open, actor: Actor) -> Result<()> {
    let panes = orange.tmux.panes_of(&open.task().id)?;
    if let Some((number, record)) = live(open, &panes, actor)? {
        let message = format!("agent {number} ({actor}) is still alive in window {}", record.window);
        let help = match panes.iter().any(|pane| pane.hosts(&record.window)) {
            true => "`orange task attach` shows it; the workflow may want `kill_session` before the spawn"
                .to_owned(),
            false => without_window(open, *number)?,
        };
        return Err(Error::new(Kind::Refused, message).help(help));
    }
    let left: Vec<_> = of_actor(open, actor).map(|(number, _)| *number).collect();
    for number in left {
        clear_away(orange, open, number)?;
        gone(open, &[number], "its pane is gone")?;
    }
    Attended::sweep(open.dir(), |spawn| open.log().agents.contains_key(&spawn))
}

/// What can be done about an agent whose window is gone.
fn without_window(open: &Open, spawn: u32) -> Result<String> {
    let survivor = Attended::read(open.dir(), spawn)?.and_then(|attended| attended.survivor());
    Ok(match survivor {
        Some(process) => {
            format!("its window is gone: end it with `kill {}`, or cancel the task", process.pid)
        }
        None => "it is about to end: ask again".to_owned(),
    })
}

fn kill_agent(orange: &Orange, open: &Open, spawn: u32, window: &str) -> Result<()> {
    let id = &open.dir().id;
    let kin = Kin::of([families(open, &[spawn])?, vec![Family::Agent(id.clone(), spawn)]].concat());
    end(kin, orange.tmux.kill_agent(id, window))
}

/// The processes of these agents that are on record, with their wrappers.
fn families(open: &Open, spawns: &[u32]) -> Result<Vec<Family>> {
    let mut families = Vec::new();
    for spawn in spawns {
        families.extend(
            Attended::read(open.dir(), *spawn)?.map(|attended| attended.families()).unwrap_or_default(),
        );
    }
    Ok(families)
}

/// Ends these processes and those of these panes, even when tmux has failed.
fn end(kin: Kin, killed: Result<Vec<Pane>>) -> Result<()> {
    let panes = killed.as_deref().unwrap_or_default();
    let sessions: Vec<Family> =
        panes.iter().filter_map(|pane| Pid::from_raw(pane.pid)).map(Family::Session).collect();
    kin.and(sessions).end()?;
    killed.map(drop)
}

fn record(
    machine: &Machine<'_>,
    open: &Open,
    spawn: &orange_core::Spawn,
    counter: Option<&(String, u32)>,
) -> Spawn {
    let task = open.task();
    let session = task.owned.tmux_session.clone();
    let permissions = match spawn.permissions {
        Permissions::Full => "full",
        Permissions::Reduced => "reduced",
    };
    Spawn {
        spawn: open.log().last_spawn + 1,
        actor: spawn.actor().as_str().to_owned(),
        prompt: machine.prompt(spawn.prompt).name.to_owned(),
        harness: harness_of(task, spawn).to_owned(),
        session: session.unwrap_or_else(|| tmux::session_name(&task.project, &task.branch)),
        window: match spawn.actor() {
            Actor::Reviewer => format!("review-{}", counter_value(task, "review_round", counter)),
            Actor::Worker | Actor::Human | Actor::Engine => "worker".to_owned(),
        },
        permissions: permissions.to_owned(),
    }
}

fn prompt(
    machine: &Machine<'_>,
    task: &Task,
    spawn: &orange_core::Spawn,
    counter: Option<&(String, u32)>,
) -> String {
    let counters: Vec<_> =
        machine.counters.iter().map(|known| counter_value(task, known.name, counter)).collect();
    machine.prompt(spawn.prompt).render(&Values {
        summary: &task.summary,
        project: &task.project,
        branch: &task.branch,
        status: task.status(),
        id: &task.id,
        workflow: &task.owned.workflow,
        counters: &counters,
    })
}

fn counter_value(task: &Task, name: &str, raised: Option<&(String, u32)>) -> u32 {
    raised.filter(|(raised, _)| raised == name).map_or_else(|| task.counter(name), |(_, value)| *value)
}

fn harness_of<'t>(task: &'t Task, spawn: &orange_core::Spawn) -> &'t str {
    match spawn.harness {
        HarnessOf::Task => &task.harness,
        HarnessOf::Review => &task.review_harness,
    }
}

/// Has tmux start the wrapper, in a window of the task's session where there is one. Gives the session's name.
fn run_wrapper(orange: &Orange, task: &Task, record: &Spawn) -> Result<String> {
    let number = record.spawn.to_string();
    let folder = orange.home.workspace(task.owned.workspace.as_deref().unwrap_or_default());
    let env = orange.agent_env();
    let env: Vec<(&str, &OsStr)> = env.iter().map(|(name, value)| (*name, value.as_os_str())).collect();
    let args = ["agent", "run", "--task", &task.id, "--spawn", &number].map(OsString::from);
    let spawn = tmux::Spawn {
        session: &record.session,
        window: &record.window,
        task: &task.id,
        folder: &folder,
        env: &env,
        program: orange.program.as_os_str(),
        args: &args,
    };
    orange.tmux.kill_agent(&task.id, &record.window)?;
    let has_session = !orange.tmux.panes_of(&task.id)?.is_empty();
    let pane = if has_session { orange.tmux.new_window(&spawn) } else { orange.tmux.new_session(&spawn) };
    pane.map(|pane| pane.session)
}

/// Another session has the name that was asked for.
fn moved(open: &mut Open, asked: &str, given: &str) -> Result<()> {
    let event = Event::TaskRepaired {
        field: "tmux_session".to_owned(),
        found: Some(asked.to_owned()),
        kept: Some(given.to_owned()),
    };
    open.append(event, Set::new().tmux_session(Some(given)))
}
