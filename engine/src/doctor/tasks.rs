//! Checks of tasks, their journals, and their sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use orange_core::mission::MissionStatus;

use crate::doctor::{CheckData, CheckFinding, Examined, FindingLevel, or_fine};
use crate::drive::tmux::Pane;
use crate::flow::doing::works_as;
use crate::flow::observed::gone_unnoticed;
use crate::flow::queue::StartQueue;
use crate::flow::snapshot::status_of;
use crate::flow::{abandoned, activity};
use crate::store::create::plan_hash;
use crate::store::event::Event;
use crate::store::index::fine::FineTasks;
use crate::store::index::{self, AskedTasks, EngineKeys, Idle};
use crate::store::list::ListedTask;
use crate::store::{WorkItem, WorkItemDir, WorkItemEntry, WorkItemHistory, WorkItemKind, owed, work_item};
use crate::{Error, Result};
use orange_api::Agent;
use orange_api::Unfit;
use orange_system::clock as time;
use orange_system::files::if_found;
use orange_system::many::in_order;
use orange_system::{atomic, fault, nofollow, process};

pub(super) fn readable(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let found = in_order(seen.examined()?, &|one, _| match &one.listed.task {
        Err(error) => Ok(vec![CheckFinding::of(FindingLevel::Broken, error)]),
        Ok(_) => never_opened(&one.listed.dir),
    });
    let mut broken = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
    broken.extend(seen.wrong_lists.iter().map(|error| CheckFinding::of(FindingLevel::Broken, error)));
    Ok(or_fine(broken, format!("{} can be read", seen.examined()?.len() + seen.fine.len())))
}

/// Notes in which of the tasks that were looked at no check would find anything. A list that is wrong about one of its tasks is dropped;
/// returns why that is not possible.
pub(super) fn note_fine(examined: &[Examined], listed: &[ListedTask], looked: Vec<FineTasks>) -> Vec<Error> {
    let by_id: BTreeMap<&str, &Examined> =
        examined.iter().map(|one| (one.listed.dir.id.as_str(), one)).collect();
    let found = |task: &ListedTask| by_id.get(task.dir.id.as_str())?.listed.task.as_ref().ok();
    let mut failures: Vec<Error> = listed.iter().filter_map(|task| task.check(found(task)).err()).collect();
    // The tasks of one folder have one list.
    failures.dedup();
    let soon = soon();
    for looked in looked.into_iter().filter(FineTasks::is_worth_it) {
        looked.write(|id| by_id.get(id).is_some_and(|one| is_fine(one, &soon)));
    }
    failures
}

fn is_fine(Examined { listed: WorkItemEntry { dir, task }, idle }: &Examined, soon: &str) -> bool {
    let (Ok(task), Some(last)) = (task, idle.as_ref().and_then(Idle::last)) else { return false };
    let keys = || index::read::<EngineKeys>(std::slice::from_ref(dir)).pop().unwrap_or_default();
    let agrees =
        |keys: EngineKeys| work_item::differences_from(dir, |key| keys.get(key), &task.owned).is_empty();
    task.attention.is_none()
        && *last.ends <= *soon
        && never_opened(dir).is_ok_and(|found| found.is_empty())
        && nofollow::unfit_for_file(&dir.lock_file()).is_none()
        && atomic::leftovers_with(&dir.path, "prompts").is_empty()
        && agrees(keys())
}

/// The time that no journal has reached yet: two processes may read the clock in one order and write in the other.
fn soon() -> String {
    time::rfc3339(fault::now() + Duration::from_secs(60))
}

/// Checks a task's folder for what is neither a file nor a folder, and never opened. What its walled agents have for themselves can be
/// anything.
fn never_opened(dir: &WorkItemDir) -> Result<Vec<CheckFinding>> {
    let found =
        nofollow::unfit(&dir.path, &dir.wall()).map_err(|cause| Error::io("look at", &dir.path, &cause))?;
    let tell = |(path, why): (PathBuf, Unfit)| {
        CheckFinding::of(FindingLevel::Broken, &Error::io("open", &path, &why.into()))
    };
    Ok(found.into_iter().map(tell).collect())
}

/// Checks that each unfinished mission has the plan that it was started with.
pub(super) fn plans(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for WorkItemEntry { dir, task } in seen.not_idle()? {
        let is_needed =
            |task: &WorkItem| task.kind == WorkItemKind::Mission && !seen.app.is_done_with_worktree(task);
        if task.as_ref().is_ok_and(is_needed)
            && let Some(Event::MissionCreated { plan_hash, .. }) = first_event(dir)?
        {
            findings.extend(flaw_of_plan(&dir.plan(), &plan_hash)?.map(|flaw| {
                let message = format!("{}: {} {flaw}", dir.shown(), dir.plan().display());
                CheckFinding::new(FindingLevel::Broken, message)
            }));
        }
    }
    Ok(or_fine(findings, "every mission has its plan"))
}

fn flaw_of_plan(path: &Path, hash: &str) -> Result<Option<&'static str>> {
    // The check of tasks reports what is not a regular file.
    let is_unfit = nofollow::unfit_for_file(path).is_some();
    let found = if is_unfit { None } else { if_found(path, nofollow::read(path, nofollow::LONGEST))? };
    Ok(match found {
        Some(bytes) if plan_hash(&bytes) == hash => None,
        Some(_) => Some("was changed after the start"),
        None => Some("is gone"),
    })
}

fn first_event(dir: &WorkItemDir) -> Result<Option<Event>> {
    Ok(work_item::read_journal(dir)?.records.into_iter().next().map(|record| record.event))
}

pub(super) fn workflows(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for task in seen.tasks()? {
        let known = seen.app.machine_of(&task.owned).and_then(|machine| status_of(machine, task));
        if let Err(error) = known {
            let finding = CheckFinding::of(FindingLevel::Warning, &error);
            findings
                .push(CheckFinding { message: format!("task {}: {}", task.id, finding.message), ..finding });
        }
    }
    Ok(or_fine(findings, "every task has its own"))
}

/// Checks for what the next command on a task will repair or cut off.
pub(super) fn journals(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let idle = idle_keys(seen)?;
    let mut findings = Vec::new();
    for WorkItemEntry { dir, task } in seen.listed()? {
        let Ok(task) = task else { continue };
        let (differences, is_torn) = match idle.get(dir) {
            Some(keys) => (work_item::differences_from(dir, |key| keys.get(key), &task.owned), false),
            None => {
                let journal = work_item::read_journal_last(dir, 0)?;
                let history = journal.history();
                let document = work_item::document(dir, &history)?;
                (work_item::differences(dir, &document, &history.owned), journal.torn.is_some())
            }
        };
        for repair in differences {
            if let Event::TaskRepaired { field, found, kept } = repair {
                let [found, kept] = [found, kept].map(|value| value.unwrap_or_else(|| "nothing".to_owned()));
                let (shown, file) = (dir.shown(), dir.kind.file());
                let message = format!("{shown}: {file} has {found} for {field}, the journal {kept}");
                let remedy = format!("{} puts it right; the journal decides", next_change(dir));
                findings.push(CheckFinding::new(FindingLevel::Warning, message).remedy(remedy));
            }
        }
        if is_torn {
            let message = format!("{}: the last line of its journal is torn", dir.shown());
            let remedy = format!("{} cuts it off", next_change(dir));
            findings.push(CheckFinding::new(FindingLevel::Warning, message).remedy(remedy));
        }
    }
    Ok(or_fine(findings, "every TASK.md and MISSION.md agrees with its journal"))
}

/// The engine's keys in the texts of idle tasks and missions.
fn idle_keys<'s>(seen: &'s CheckData<'_>) -> Result<BTreeMap<&'s WorkItemDir, EngineKeys>> {
    let idle = seen.examined()?.iter().filter(|one| one.idle.is_some());
    let mut idle: Vec<&WorkItemDir> = idle.map(|one| &one.listed.dir).collect();
    idle.sort_unstable();
    let dirs: Vec<WorkItemDir> = idle.iter().map(|dir| (*dir).clone()).collect();
    Ok(idle.into_iter().zip(index::facts(&dirs, AskedTasks::Some)).collect())
}

/// The next command that locks it, in words.
fn next_change(dir: &WorkItemDir) -> String {
    let commands = match dir.kind {
        WorkItemKind::Task => "`orange task update`",
        WorkItemKind::Mission => "`orange mission continue`, `retry` or `cancel`",
    };
    format!("the next command that changes the {}, such as {commands},", dir.kind.word())
}

pub(super) fn transitions(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let pending = |(dir, history): (&WorkItemDir, WorkItemHistory)| {
        // One that is being carried out is not a finding.
        let plan = &abandoned(dir, &history)?.plan;
        let message = format!("{}: {} → {} is begun and not finished", dir.shown(), plan.from, plan.to);
        Some(CheckFinding::new(FindingLevel::Warning, message))
    };
    Ok(or_fine(histories(seen)?.into_iter().filter_map(pending).collect(), "every transition is finished"))
}

pub(super) fn sessions(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    process::check()?;
    let panes = seen.panes()?;
    let mut findings = Vec::new();
    for (dir, history) in histories(seen)? {
        // The check of tasks reports files that cannot be read.
        let gone = gone_unnoticed(seen.app, dir, &history, &seen.panes).unwrap_or_default();
        for agent in history.agents.alive.values() {
            if gone.contains(&agent.spawn) {
                let what = works_as(&agent.seat(), agent.step.as_deref(), agent.role.as_deref());
                let message = format!("{}: agent {} ({what}) is gone, unnoticed", dir.shown(), agent.spawn);
                findings.push(CheckFinding::new(FindingLevel::Warning, message));
            }
        }
    }
    let fine = seen.fine.iter().map(|dir| dir.id.as_str());
    let known: BTreeSet<&str> =
        seen.examined()?.iter().map(|one| one.listed.dir.id.as_str()).chain(fine).collect();
    let mut strays: Vec<(&str, &str)> = Vec::new();
    for pane in panes {
        let Some(id) = pane.task.as_deref() else { continue };
        if !known.contains(id) && !strays.contains(&(id, &pane.session)) {
            strays.push((id, &pane.session));
        }
    }
    findings.extend(strays.into_iter().map(|(id, session)| {
        let message = format!("the tmux session {session} is of task {id}, which is gone");
        CheckFinding::new(FindingLevel::Warning, message)
            .remedy(format!("look at it, then `{} kill-session -t '={session}'`", seen.app.tmux.shown()))
    }));
    Ok(or_fine(findings, "every agent has a session, and every session a task"))
}

/// Checks for tasks that need a person, and living agents that do not go on by themselves.
pub(super) fn agents(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    let panes = || seen.panes().ok().map(<[Pane]>::to_vec);
    for Examined { listed, idle } in seen.examined()? {
        let Ok(task) = &listed.task else { continue };
        let (shown, word) = (listed.dir.shown(), task.kind.word());
        if let Some(attention) = &task.attention {
            let message = format!("{shown}: {attention}");
            let remedy =
                format!("`orange {word} attach {}` shows its agent, or says what can be done", task.id);
            findings.push(CheckFinding::new(FindingLevel::Warning, message).remedy(remedy));
        }
        if idle.is_some() {
            continue;
        }
        let history = work_item::read_journal_last(&listed.dir, 0)?.history();
        for Agent { spawn, assessment, .. } in activity::of_task(seen.app, &listed.dir, task, &history, panes)
        {
            if !assessment.state.is_well() {
                let message =
                    format!("{shown}: agent {spawn} is {}: {}", assessment.state.as_str(), assessment.reason);
                let finding = CheckFinding::new(FindingLevel::Warning, message);
                let answer = assessment
                    .request
                    .map(|request| format!("`orange task answer {request} allow`, or `deny`"));
                findings.push(answer.into_iter().fold(finding, CheckFinding::remedy));
            }
        }
    }
    Ok(or_fine(findings, "no agent waits for a person"))
}

/// Lists the tasks and missions that wait to be started, and owed starts.
pub(super) fn queue(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for project in seen.projects()? {
        let owed = owed::all(&seen.app.home, &project.name).unwrap_or_else(|error| vec![Err(error)]);
        findings.extend(owed.into_iter().map(|owed| match owed {
            Ok(owed) => {
                let message = format!(
                    "task {} has made room for the next task of {}, and none is started yet",
                    owed.by, project.name
                );
                CheckFinding::new(FindingLevel::Warning, message)
            }
            Err(error) => CheckFinding::of(FindingLevel::Broken, &error),
        }));
    }
    let queue = StartQueue::new(seen.projects()?.to_vec(), seen.slots()?.to_vec());
    let tasks = seen.tasks()?;
    findings.extend(queue.without_monitor(seen.app, &tasks).into_iter().map(|name| {
        let message = format!("the queue of {name} is automatic, and no monitor runs that starts its tasks");
        let remedy = format!(
            "leave `orange monitor` or the dashboard running, or start each with `orange task spawn`: `orange project update {name} --queue manual`"
        );
        CheckFinding::new(FindingLevel::Warning, message).remedy(remedy)
    }));
    for project in queue.held_by_person(seen.app, &tasks) {
        let (name, size) = (&project.name, project.pool_size);
        let what = if size == 1 { "the worktree".to_owned() } else { format!("all {size} worktrees") };
        let message = format!("{what} of {name}: held by work that waits for you, and tasks wait for one");
        let remedy = format!(
            "`orange task list --needs-me` lists that work; `orange project update {name} --reclaim-when-waiting true` reclaims its worktrees for others meanwhile"
        );
        findings.push(CheckFinding::new(FindingLevel::Warning, message).remedy(remedy));
    }
    for task in tasks {
        // The checks of harnesses and dialogs say what is to be done about it.
        let forbidden = queue.forbids(seen.app, task).map(|why| format!("cannot start: {why}"));
        let what = forbidden.or_else(|| queue.waits_for(seen.app, task));
        findings.extend(what.map(|what| CheckFinding::fine(format!("task {} {what}", task.id))));
    }
    for mission in seen.unfinished()?.into_iter().filter(|it| it.kind == WorkItemKind::Mission) {
        if mission.status() == MissionStatus::Pending.as_str() {
            let message = format!("mission {} waits for a worktree of {}", mission.id, mission.project);
            findings.push(CheckFinding::fine(message));
        }
    }
    Ok(or_fine(findings, "no task and no mission waits to be started"))
}

pub(super) fn clock(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let soon = soon();
    let mut findings = Vec::new();
    for Examined { listed: WorkItemEntry { dir, task }, idle } in seen.examined()? {
        if task.is_err() {
            continue;
        }
        let ends = match idle.as_ref().and_then(Idle::last) {
            Some(last) => Some(last.ends),
            None => work_item::read_journal_last(dir, 1)?.records.pop().map(|record| record.timestamp),
        };
        if let Some(ends) = ends.filter(|ends| *ends > soon) {
            let message = format!("{}: its journal ends at {ends}, which is in the future", dir.shown());
            findings.push(CheckFinding::new(FindingLevel::Warning, message));
        }
    }
    Ok(or_fine(findings, "no journal has a time in the future"))
}

/// The journals that may have something unfinished.
fn histories<'s>(seen: &'s CheckData<'_>) -> Result<Vec<(&'s WorkItemDir, WorkItemHistory)>> {
    let read = |dir| Ok((dir, work_item::read_journal_last(dir, 0)?.history()));
    let not_idle = seen.not_idle()?.into_iter().filter(|listed| listed.task.is_ok());
    not_idle.map(|listed| read(&listed.dir)).collect()
}
