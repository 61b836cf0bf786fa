//! Checks of tasks, their journals, and their sessions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use orange_core::mission::MissionStatus;

use crate::answer::Agent;
use crate::doctor::{Finding, Level, Seen, or_fine};
use crate::drive::process;
use crate::drive::tmux::Pane;
use crate::error::Unfit;
use crate::files::if_found;
use crate::flow::doing::works_as;
use crate::flow::observed::gone_unnoticed;
use crate::flow::queue::Queue;
use crate::flow::snapshot::status_of;
use crate::flow::{abandoned, activity};
use crate::nofollow;
use crate::store::create::plan_hash;
use crate::store::event::Event;
use crate::store::{DirKind, Listed, Task, TaskDir, TaskHistory, clock as time, owed, task};
use crate::{Error, Result, fault};

pub(super) fn readable(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let listed = seen.listed()?;
    let mut broken = Vec::new();
    for Listed { dir, task } in listed {
        match task {
            Err(error) => broken.push(Finding::of(Level::Broken, error)),
            Ok(_) => broken.extend(never_opened(dir)?),
        }
    }
    Ok(or_fine(broken, format!("{} can be read", listed.len())))
}

/// Checks a task's folder for what is neither a file nor a folder, and never opened.
fn never_opened(dir: &TaskDir) -> Result<Vec<Finding>> {
    let found = nofollow::unfit(&dir.path).map_err(|cause| Error::io("look at", &dir.path, &cause))?;
    let tell =
        |(path, why): (PathBuf, Unfit)| Finding::of(Level::Broken, &Error::io("open", &path, &why.into()));
    Ok(found.into_iter().map(tell).collect())
}

/// Checks that each unfinished mission has the plan that it was started with.
pub(super) fn plans(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for Listed { dir, task } in seen.listed()? {
        let is_needed = |task: &Task| task.kind == DirKind::Mission && !seen.app.is_done_with_worktree(task);
        if task.as_ref().is_ok_and(is_needed)
            && let Some(Event::MissionCreated { plan_hash, .. }) = first_event(dir)?
        {
            findings.extend(flaw_of_plan(&dir.plan(), &plan_hash)?.map(|flaw| {
                let message = format!("{}: {} {flaw}", dir.shown(), dir.plan().display());
                Finding::new(Level::Broken, message)
            }));
        }
    }
    Ok(or_fine(findings, "every mission has its plan"))
}

fn flaw_of_plan(path: &Path, hash: &str) -> Result<Option<&'static str>> {
    // The check of tasks reports what is no regular file.
    let is_unfit = nofollow::unfit_for_file(path).is_some();
    let found = if is_unfit { None } else { if_found(path, nofollow::read(path, nofollow::LONGEST))? };
    Ok(match found {
        Some(bytes) if plan_hash(&bytes) == hash => None,
        Some(_) => Some("was changed after the start"),
        None => Some("is gone"),
    })
}

fn first_event(dir: &TaskDir) -> Result<Option<Event>> {
    Ok(task::read_journal(dir)?.records.into_iter().next().map(|record| record.event))
}

pub(super) fn workflows(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for task in seen.tasks()? {
        let known = seen.app.machine_of(&task.owned).and_then(|machine| status_of(machine, task));
        if let Err(error) = known {
            let finding = Finding::of(Level::Warning, &error);
            findings.push(Finding { message: format!("task {}: {}", task.id, finding.message), ..finding });
        }
    }
    Ok(or_fine(findings, "every task has its own"))
}

/// Checks for what the next command on a task will repair or cut off.
pub(super) fn journals(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for dir in readable_dirs(seen)? {
        let journal = task::read_journal(dir)?;
        let history = journal.history();
        for repair in task::differences(dir, &task::document(dir, &history)?, &history.owned) {
            if let Event::TaskRepaired { field, found, kept } = repair {
                let [found, kept] = [found, kept].map(|value| value.unwrap_or_else(|| "nothing".to_owned()));
                let (shown, file) = (dir.shown(), dir.kind.file());
                let message = format!("{shown}: {file} has {found} for {field}, the journal {kept}");
                let remedy = format!("{} puts it right; the journal decides", next_change(dir));
                findings.push(Finding::new(Level::Warning, message).remedy(remedy));
            }
        }
        if journal.torn.is_some() {
            let message = format!("{}: the last line of its journal is torn", dir.shown());
            let remedy = format!("{} cuts it off", next_change(dir));
            findings.push(Finding::new(Level::Warning, message).remedy(remedy));
        }
    }
    Ok(or_fine(findings, "every TASK.md and MISSION.md agrees with its journal"))
}

/// The next command that locks it, in words.
fn next_change(dir: &TaskDir) -> String {
    let commands = match dir.kind {
        DirKind::Task => "`orange task update`",
        DirKind::Mission => "`orange mission continue`, `retry` or `cancel`",
    };
    format!("the next command that changes the {}, such as {commands},", dir.kind.word())
}

pub(super) fn transitions(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let pending = |(dir, history): (&TaskDir, TaskHistory)| {
        // One that is being carried out is no finding.
        let plan = &abandoned(dir, &history)?.plan;
        let message = format!("{}: {} → {} is begun and not finished", dir.shown(), plan.from, plan.to);
        Some(Finding::new(Level::Warning, message))
    };
    Ok(or_fine(histories(seen)?.into_iter().filter_map(pending).collect(), "every transition is finished"))
}

pub(super) fn sessions(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    process::check()?;
    let panes = seen.panes()?;
    let mut findings = Vec::new();
    for (dir, history) in histories(seen)? {
        // The check of tasks reports files that cannot be read.
        let gone = gone_unnoticed(seen.app, dir, &history, &seen.panes).unwrap_or_default();
        for agent in history.agents.values() {
            if gone.contains(&agent.spawn) {
                let what = works_as(&agent.seat(), agent.step.as_deref(), agent.role.as_deref());
                let message = format!("{}: agent {} ({what}) is gone, unnoticed", dir.shown(), agent.spawn);
                findings.push(Finding::new(Level::Warning, message));
            }
        }
    }
    let mut strays: Vec<(&str, &str)> = Vec::new();
    for pane in panes {
        let Some(id) = pane.task.as_deref() else { continue };
        let is_known = seen.listed()?.iter().any(|listed| listed.dir.id == id);
        if !is_known && !strays.contains(&(id, &pane.session)) {
            strays.push((id, &pane.session));
        }
    }
    findings.extend(strays.into_iter().map(|(id, session)| {
        let message = format!("the tmux session {session} is of task {id}, which is gone");
        Finding::new(Level::Warning, message)
            .remedy(format!("look at it, then `{} kill-session -t '={session}'`", seen.app.tmux.shown()))
    }));
    Ok(or_fine(findings, "every agent has a session, and every session a task"))
}

/// Checks for tasks that need a person, and living agents that do not go on by themselves.
pub(super) fn agents(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let panes = || seen.panes().ok().map(<[Pane]>::to_vec);
    for listed in seen.listed()? {
        let Ok(task) = &listed.task else { continue };
        let (shown, word) = (listed.dir.shown(), task.kind.word());
        if let Some(attention) = &task.attention {
            let message = format!("{shown}: {attention}");
            let remedy =
                format!("`orange {word} attach {}` shows its agent, or says what can be done", task.id);
            findings.push(Finding::new(Level::Warning, message).remedy(remedy));
        }
        let history = task::read_journal(&listed.dir)?.history();
        for Agent { spawn, assessment, .. } in activity::of_task(seen.app, &listed.dir, task, &history, panes)
        {
            if !assessment.state.is_well() {
                let message =
                    format!("{shown}: agent {spawn} is {}: {}", assessment.state.as_str(), assessment.reason);
                let finding = Finding::new(Level::Warning, message);
                let answer = assessment
                    .request
                    .map(|request| format!("`orange task answer {request} allow`, or `deny`"));
                findings.push(answer.into_iter().fold(finding, Finding::remedy));
            }
        }
    }
    Ok(or_fine(findings, "no agent waits for a person"))
}

/// Lists the tasks and missions that wait to be started, and owed starts.
pub(super) fn queue(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for project in seen.projects()? {
        let owed = owed::all(&seen.app.home, &project.name).unwrap_or_else(|error| vec![Err(error)]);
        findings.extend(owed.into_iter().map(|owed| match owed {
            Ok(owed) => {
                let message = format!(
                    "task {} has made room for the next task of {}, and none is started yet",
                    owed.by, project.name
                );
                Finding::new(Level::Warning, message)
            }
            Err(error) => Finding::of(Level::Broken, &error),
        }));
    }
    let (queue, tasks) = (Queue::read(&seen.app.home)?, seen.tasks()?);
    findings.extend(queue.without_monitor(seen.app, &tasks).into_iter().map(|name| {
        let message = format!("the queue of {name} is automatic, and no monitor runs that starts its tasks");
        let remedy = format!(
            "leave `orange monitor` or the dashboard running, or start each with `orange task spawn`: `orange project update {name} --queue manual`"
        );
        Finding::new(Level::Warning, message).remedy(remedy)
    }));
    for project in queue.held_by_person(seen.app, &tasks) {
        let (name, size) = (&project.name, project.pool_size);
        let what = if size == 1 { "the worktree".to_owned() } else { format!("all {size} worktrees") };
        let message = format!("{what} of {name}: held by work that waits for you, and tasks wait for one");
        let remedy = format!(
            "`orange task list --needs-me` lists that work; `orange project update {name} --release-when-waiting true` lends its worktrees to others meanwhile"
        );
        findings.push(Finding::new(Level::Warning, message).remedy(remedy));
    }
    for task in tasks {
        // The checks of harnesses and dialogs say what is to be done about it.
        let forbidden = queue.forbids(seen.app, task).map(|why| format!("cannot start: {why}"));
        let what = forbidden.or_else(|| queue.waits_for(seen.app, task));
        findings.extend(what.map(|what| Finding::fine(format!("task {} {what}", task.id))));
    }
    for mission in seen.unfinished()?.into_iter().filter(|it| it.kind == DirKind::Mission) {
        if mission.status() == MissionStatus::Pending.as_str() {
            let message = format!("mission {} waits for a worktree of {}", mission.id, mission.project);
            findings.push(Finding::fine(message));
        }
    }
    Ok(or_fine(findings, "no task and no mission waits to be started"))
}

pub(super) fn clock(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    // Two processes may read the clock in one order and write in the other.
    let soon = time::rfc3339(fault::now() + Duration::from_secs(60));
    let mut findings = Vec::new();
    for dir in readable_dirs(seen)? {
        let journal = task::read_journal(dir)?;
        if let Some(record) = journal.records.last().filter(|record| record.timestamp > soon) {
            let shown = dir.shown();
            let message =
                format!("{shown}: its journal ends at {}, which is in the future", record.timestamp);
            findings.push(Finding::new(Level::Warning, message));
        }
    }
    Ok(or_fine(findings, "no journal has a time in the future"))
}

fn readable_dirs<'s>(seen: &'s Seen<'_>) -> Result<Vec<&'s TaskDir>> {
    Ok(seen.listed()?.iter().filter(|listed| listed.task.is_ok()).map(|listed| &listed.dir).collect())
}

fn histories<'s>(seen: &'s Seen<'_>) -> Result<Vec<(&'s TaskDir, TaskHistory)>> {
    let read = |dir| Ok((dir, task::read_journal(dir)?.history()));
    readable_dirs(seen)?.into_iter().map(read).collect()
}
