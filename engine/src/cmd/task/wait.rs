//! `orange task wait`: until a task has come to a status, or something needs a person.

use std::time::{Duration, Instant};

use orange_core::StateId;

use super::{doings, named_or_here};
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::WaitArgs;
use crate::flow::need::look;
use crate::flow::queue::StartQueue;
use crate::flow::snapshot::state_named;
use crate::flow::{abandoned, activity, lock_recovered};
use crate::store::{Owned, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, list, work_item};
use crate::{Error, ErrorKind, Result};
use orange_api::{Need, Success, Waited};

/// The time between two looks. A look is one `stat`, so that a wait of hours costs nothing.
const POLL: Duration = Duration::from_millis(100);

/// The time between two looks at what needs a person: each reads the tasks under way.
const LOOK: Duration = Duration::from_secs(1);

/// Waits until the named task needs a person, or without a name any task or mission.
///
/// # Errors
/// `timed_out`; `refused` when the named task is over.
pub fn needs_me(app: &App, args: &WaitArgs) -> Result<CommandAnswer> {
    let dir = args.task.name.as_ref().map(|_| named_or_here(app, &args.task)).transpose()?;
    let begun = Instant::now();
    loop {
        let found = match &dir {
            Some(dir) => of_one(app, dir)?,
            None => of_any(app)?,
        };
        if let Some((task, need)) = found {
            let mut text = format!("{} {}: {}", shown(&task), need.kind.as_str(), need.why);
            let answers = need.answers().map(|action| format!("\n  orange {}", action.command.join(" ")));
            text.extend(answers);
            let (id, status) = (task.id, task.owned.status);
            return CommandAnswer::of(&Waited { success: Success, id, status, need: Some(need) }, text);
        }
        if let Some(seconds) = args.timeout
            && begun.elapsed() >= Duration::from_secs(seconds.into())
        {
            let who = dir.as_ref().map_or_else(|| "nothing".to_owned(), |dir| format!("{} does not", dir.id));
            let need = if dir.is_some() { "need" } else { "needs" };
            let message = format!("{who} {need} you after {seconds} s");
            return Err(Error::new(ErrorKind::TimedOut, message)
                .help("wait again, or longer; `orange task list` shows what each task does"));
        }
        std::thread::sleep(LOOK);
    }
}

fn shown(task: &WorkItem) -> String {
    format!("{}/{}", task.project, task.branch)
}

/// Need of a task that a person has to answer; an error when the task is over.
fn of_one(app: &App, dir: &WorkItemDir) -> Result<Option<(WorkItem, Need)>> {
    let queue = StartQueue::read(&app.home).ok();
    let Some((task, need)) = look(app, dir, queue.as_ref())?.filter(|(_, need)| !need.is_over()) else {
        let message = format!("{} is over and needs nobody any more", dir.id);
        return Err(Error::new(ErrorKind::Refused, message)
            .help(format!("{} says what happened", dir.command("show"))));
    };
    Ok(need.person.then_some((task, need)))
}

/// The most urgent need of all tasks and missions; what cannot be read is left to the list.
fn of_any(app: &App) -> Result<Option<(WorkItem, Need)>> {
    let queue = StartQueue::read(&app.home).ok();
    let mut found = Vec::new();
    let may_be = |kind, owned: &Owned| kind == WorkItemKind::Mission || !app.is_end(kind, owned);
    for listed in list::journals(&app.home, &WorkItemKind::ALL, None, &may_be)? {
        let is_under_way = listed.may_be(|owned| may_be(listed.dir.kind, owned));
        if is_under_way && let Ok(Some((task, need))) = look(app, &listed.dir, queue.as_ref()) {
            found.extend(need.person.then_some((task, need)));
        }
    }
    let urgency = |need: &Need| orange_core::need::NeedKind::ALL.iter().position(|it| *it == need.kind);
    found.sort_by_key(|(_, need)| (urgency(need), need.since.clone()));
    Ok(found.into_iter().next())
}

/// Waits until the task has one of the statuses, and its hooks have ended; hooks that wait may still be mended. A
/// transition whose process has died would never end, so the wait finishes it.
pub fn run(app: &App, dir: &WorkItemDir, args: &WaitArgs) -> Result<CommandAnswer> {
    let deadline =
        args.timeout.map(|seconds| (seconds, Instant::now() + Duration::from_secs(seconds.into())));
    let (mut seen, mut pending) = (None, None);
    loop {
        let length = std::fs::metadata(dir.history()).map(|metadata| metadata.len()).ok();
        if seen != Some(length) {
            seen = Some(length);
            let history = work_item::read_journal(dir)?.history();
            if has_come(app, dir, &history, &args.status)? {
                let status = history.owned.status;
                let waited = Waited { success: Success, id: dir.id.clone(), status, need: None };
                return CommandAnswer::of(&waited, format!("{} is {}", waited.id, waited.status));
            }
            pending = Some(history).filter(|history| history.transition.open.is_some());
        }
        if pending.as_ref().is_some_and(|history| abandoned(dir, history).is_some()) {
            drop(lock_recovered(app, dir)?);
        }
        if let Some((seconds, deadline)) = deadline
            && Instant::now() >= deadline
        {
            return Err(timed_out(app, dir, &args.status, seconds)?);
        }
        std::thread::sleep(POLL);
    }
}

/// True if it has one of the statuses; `refused` when it can reach none of them any more.
fn has_come(app: &App, dir: &WorkItemDir, history: &WorkItemHistory, statuses: &[String]) -> Result<bool> {
    let machine = app.machine_of(&history.owned)?;
    let wanted: Vec<StateId> =
        statuses.iter().map(|name| state_named(machine, name)).collect::<Result<_>>()?;
    if history.transition.open.is_some() || history.transition.waiting_hooks.is_some() {
        return Ok(false);
    }
    let Some(state) = machine.state_named(&history.owned.status) else { return Ok(false) };
    if wanted.contains(&state) {
        return Ok(true);
    }
    if machine.state(state).terminal {
        let status = &history.owned.status;
        let message = format!("{} is {status} and can no longer reach {}", dir.id, statuses.join(" or "));
        return Err(Error::new(ErrorKind::Refused, message)
            .help(format!("`orange task show {}` says what happened", dir.id)));
    }
    Ok(false)
}

fn timed_out(app: &App, dir: &WorkItemDir, statuses: &[String], seconds: u32) -> Result<Error> {
    let history = work_item::read_journal(dir)?.history();
    let status = &history.owned.status;
    let message = format!("{} is still {status} after {seconds} s, not {}", dir.id, statuses.join(" or "));
    // An agent may be in the middle of writing the file: then the line leaves out its state.
    let panes = || app.tmux.panes().ok();
    let agents =
        WorkItem::read(&app.home, dir).map(|(task, _)| activity::of_task(app, dir, &task, &history, panes));
    let agents = agents.unwrap_or_default();
    let message = agents.iter().fold(message, |message, agent| format!("{message}; {}", doings::line(agent)));
    let message = match history.transition.waiting_hooks {
        Some(_) => {
            format!("{message}; its hooks wait: `orange task update {} --retry-hooks` runs them", dir.id)
        }
        None => message,
    };
    let answer = agents.iter().find_map(doings::how_to_answer);
    let answer = answer.map(|how| format!("`{how}`, or `deny`, answers it; ")).unwrap_or_default();
    Ok(Error::new(ErrorKind::TimedOut, message)
        .help(format!("{answer}wait again, or longer; `orange task watch` shows what happens")))
}
