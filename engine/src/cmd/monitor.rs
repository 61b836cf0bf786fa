//! `orange monitor`: looks after agents whose wrapper could not report their end, and after unfinished transitions.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::Result;
use crate::cmd::answer::Answer;
use crate::cmd::args::MonitorArgs;
use crate::drive::tmux::Pane;
use crate::flow::polls::{Polls, Watched};
use crate::flow::{self, End, waiting};
use crate::hooks::agents;
use crate::orange::Orange;
use crate::store::{Log, Task, TaskDir, list};

/// Looks once, or again and again until it is interrupted; `tell` gets what each look found.
pub fn run(orange: &Orange, args: &MonitorArgs, tell: impl Fn(&Answer) -> Result<()>) -> Result<Answer> {
    let shortest = orange.machines.usable()?.iter().map(|machine| machine.poll_interval).min();
    let interval = Duration::from_secs(args.interval.or(shortest).unwrap_or(30).into());
    let mut polls = Polls::default();
    loop {
        orange.machines.look_again();
        let found = look(orange, &mut polls);
        if args.once {
            return found;
        }
        // What fails at one look may be well at the next.
        let found = found.unwrap_or_else(|error| {
            let body = json!({ "code": error.kind.code(), "message": error.message, "help": error.help });
            Answer::new(json!({ "error": body }), format!("error: {error}"))
        });
        if !found.text.is_empty() {
            tell(&found)?;
        }
        std::thread::sleep(interval);
    }
}

/// One look at every task, then at the pull requests whose time has come. A task that fails stops none of the others.
fn look(orange: &Orange, polls: &mut Polls) -> Result<Answer> {
    let (mut events, mut errors) = (Vec::new(), Vec::new());
    let mut watched = 0;
    let (mut panes, mut pull_requests) = (None, Vec::new());
    for dir in list::dirs(&orange.home, None)? {
        let outcome = Task::read(&orange.home, &dir).and_then(|(task, journal)| {
            pull_requests.extend(Watched::of(orange, &dir, &task));
            watch(orange, &dir, &task, &journal.log(), &mut panes)
        });
        match outcome {
            Ok(None) => {}
            Ok(Some(stories)) => {
                watched += 1;
                events.extend(stories.into_iter().map(|story| (dir.id.clone(), story)));
            }
            Err(error) => errors.push((dir.id.clone(), error.to_string())),
        }
    }
    for (dir, outcome) in polls.round(orange, pull_requests) {
        match outcome {
            Ok(story) => events.push((dir.id, story)),
            Err(error) => errors.push((dir.id, error.to_string())),
        }
    }
    let pairs = |pairs: &[(String, String)], key: &str| -> Vec<Value> {
        pairs.iter().map(|(id, text)| json!({ "id": id, key: text })).collect()
    };
    let lines = events.iter().map(|(id, story)| format!("{id}: {story}"));
    let lines = lines.chain(errors.iter().map(|(id, error)| format!("{id}: error: {error}")));
    let text = lines.collect::<Vec<_>>().join("\n");
    let json =
        json!({ "watched": watched, "events": pairs(&events, "outcome"), "errors": pairs(&errors, "error") });
    Ok(Answer::new(json, text))
}

/// Looks at one task; `None` when it has no agent, is to get none, and has nothing unfinished.
fn watch(
    orange: &Orange,
    dir: &TaskDir,
    task: &Task,
    log: &Log,
    panes: &mut Option<Vec<Pane>>,
) -> Result<Option<Vec<String>>> {
    let mut stories = Vec::new();
    if let Some(pending) = &log.open {
        drop(flow::settled(orange, dir)?);
        stories.push(format!("finished {} → {}", pending.plan.from, pending.plan.to));
    } else if is_left_over(orange, task) {
        return flow::end_leftovers(orange, dir).map(|story| Some(vec![story]));
    } else if log.agents.is_empty() && log.waiting.is_none() {
        return Ok(None);
    }
    if log.waiting.as_ref().is_some_and(|waiting| waiting.is_due(SystemTime::now())) {
        stories.extend(waiting::overdue(orange, dir)?);
    }
    if panes.is_none() && !log.agents.is_empty() {
        *panes = Some(believable_panes(orange)?);
    }
    for spawn in missing(dir, log, panes.as_deref().unwrap_or_default())? {
        // What was seen before the lock may be old: only what is still gone under it counts.
        if is_still_missing(orange, dir, spawn)? {
            let end = End { spawn, reason: "its pane is gone".to_owned(), ..End::default() };
            stories.push(flow::ended(orange, dir, &end)?);
        }
    }
    Ok(Some(stories))
}

/// Whether the task is over and still has a session: the hook that should have ended it has failed.
fn is_left_over(orange: &Orange, task: &Task) -> bool {
    task.owned.tmux_session.is_some() && orange.is_over(&task.owned)
}

fn missing(dir: &TaskDir, log: &Log, panes: &[Pane]) -> Result<Vec<u32>> {
    let mut missing = Vec::new();
    for agent in log.agents.values() {
        if !agents::is_alive(dir, agent, panes)? {
            missing.push(agent.spawn);
        }
    }
    Ok(missing)
}

/// If it is, what it has left is cleared away.
fn is_still_missing(orange: &Orange, dir: &TaskDir, spawn: u32) -> Result<bool> {
    let open = flow::settled(orange, dir)?;
    let is_missing = missing(dir, open.log(), &orange.tmux.panes()?)?.contains(&spawn);
    if is_missing {
        agents::clear_away(orange, &open, spawn)?;
    }
    Ok(is_missing)
}

/// One empty answer is no proof that every agent is gone (design §6): it is asked for again.
fn believable_panes(orange: &Orange) -> Result<Vec<Pane>> {
    const ASKS: usize = 3;
    for _ in 1..ASKS {
        let panes = orange.tmux.panes()?;
        if !panes.is_empty() {
            return Ok(panes);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    orange.tmux.panes()
}
