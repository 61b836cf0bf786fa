//! Readers, fan-outs and own worktrees in random plans, and the events of several workers.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::conditions;
use super::random::{Random, Tables, ask, end};
use crate::mission::*;
use crate::plan::*;

const LISTS: [&[&str]; 4] = [&["x"], &["x", "y"], &["x", "y"], &["x", "y", "z"]];

/// The plan with other uses of the worktree and with fan-outs among its steps, one in two times. Everything else stays as it is.
pub fn with_items(random: &mut Random, mut tables: Tables) -> Tables {
    if !random.percent(50) {
        return tables;
    }
    tables.2 = 1 + random.below(4) as u8;
    for index in 0..tables.0.len() {
        let id = StepId(index as u16);
        let is_plain = tables.handled_by(id).is_some() || tables.0[index].max_retries > 0;
        let list = list(random, &tables, id);
        let row = &mut tables.0[index];
        if row.ask.is_some() {
            continue;
        }
        row.worktree =
            random.one_of(&[WorktreeUse::Write, WorktreeUse::Read, WorktreeUse::Read, WorktreeUse::Own]);
        if !is_plain && random.percent(45) {
            let enough = random.percent(40).then(|| 1 + random.below(2) as u16);
            row.fan_out = Some(FanOut { list, enough });
        }
    }
    let is_fan_out: Vec<bool> = tables.0.iter().map(|it| it.fan_out.is_some()).collect();
    for row in &mut tables.0 {
        // The list of a fan-out is that of a plain step.
        if let Some(FanOut { list, .. }) = &mut row.fan_out
            && list.step().is_some_and(|it| is_fan_out[it.index()])
        {
            *list = ItemList::Fixed(LISTS[1]);
        }
        let condition = row.condition.take();
        row.condition =
            condition.map(|it| conditions::over_items(&it, random, &|step| is_fan_out[step.index()]));
    }
    tables
}

/// A list that a step before reports, or one that the plan writes down.
fn list(random: &mut Random, tables: &Tables, id: StepId) -> ItemList<'static> {
    let mut lists = Vec::new();
    for step in tables.upstream(id) {
        let outputs = &tables.0[step.index()].outputs;
        let place = outputs.iter().position(|it| matches!(it.kind, ValueType::List { .. }));
        lists.extend(place.map(|it| ItemList::Output(step, OutputId(it as u16))));
    }
    match lists.is_empty() {
        false if random.percent(80) => random.one_of(&lists),
        _ => ItemList::Fixed(random.one_of(&LISTS)),
    }
}

/// Event from one of the agents of the mission, or from the one that would be started next; `None` if no job is open.
pub fn work(random: &mut Random, plan: &Plan<'_>, mission: &Mission) -> Option<Event> {
    if let Some((step, attempt)) = mission.next_landing().filter(|_| random.percent(60)) {
        return Some(match random.percent(80) {
            true => Event::Landed { step, attempt },
            false => Event::Conflict { step, attempt, reason: "a.rs".to_string() },
        });
    }
    let asked = mission.open_asks().map(|(step, attempt)| (step, attempt, None));
    let jobs = plan.step_ids().flat_map(|step| {
        let jobs = mission.step(step).open_jobs().into_iter();
        jobs.map(move |(attempt, status)| (step, attempt, Some(status)))
    });
    let mut open: Vec<_> = jobs.chain(asked).collect();
    open.sort_by_key(|it| (it.0, it.1));
    let working: Vec<(StepId, u32)> = mission.working().collect();
    let startable: Vec<(StepId, u32)> = mission.startable(plan).collect();
    let meant = match random.below(100) {
        0..50 if !working.is_empty() => random.one_of(&working),
        50..90 if !startable.is_empty() => random.one_of(&startable),
        0..92 if !working.is_empty() => random.one_of(&working),
        _ if open.is_empty() => return None,
        _ => {
            let (step, attempt, _) = random.one_of(&open);
            (step, attempt)
        }
    };
    let (step, attempt) = meant;
    let status = open.iter().find(|it| (it.0, it.1) == meant).and_then(|it| it.2);
    if plan.step(step).is_ask() && random.percent(95) {
        return Some(ask(random, plan, mission, step, attempt));
    }
    Some(match (status, random.below(10)) {
        (Some(ItemStatus::Queued), 0..2) => Event::Assign { step, attempt },
        (Some(ItemStatus::Queued), 2..8) | (Some(ItemStatus::Assigned), 0..8) => {
            Event::Start { step, attempt }
        }
        _ => end(random, plan, step, attempt),
    })
}

/// An event of a worktree that is its own or changes, about any attempt.
pub fn of_worktree(random: &mut Random, step: StepId, attempt: u32) -> Event {
    match random.below(3) {
        0 => Event::Landed { step, attempt },
        1 => Event::Conflict { step, attempt, reason: random.one_of(&["a.rs", "b.rs"]).to_string() },
        _ => Event::WorktreeChanged { files: Vec::from(["a.rs".to_string()]) },
    }
}
