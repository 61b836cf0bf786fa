//! The budget of a mission, which its step workflow gives it.

use std::collections::BTreeMap;

use orange_core::budget::{Budget, ReachedLimit};

use super::used;
use crate::app::App;
use crate::flow::activity;
use crate::store::history::OF_MISSION;
use crate::store::{Event, LockedWorkItem, Set};
use orange_system::fault;

/// The limits of a mission that are reached before the next start of an agent, as events, and the first one in one sentence.
pub fn of_mission(app: &App, locked: &LockedWorkItem, limits: Budget) -> Option<(Vec<(Event, Set)>, String)> {
    let history = locked.history();
    let limits = history.budget.granted(limits);
    if limits.is_empty() {
        return None;
    }
    let now = fault::now();
    let all = match limits.counts_tokens() {
        true => activity::spent(app, locked.dir(), locked.task(), history),
        false => BTreeMap::new(),
    };
    let each = history.agents.times.iter().map(|(spawn, times)| used(times, all.get(spawn), now));
    let spent = each.fold(Budget::default(), Budget::plus);
    let reached: Vec<ReachedLimit> = limits.reached(spent).collect();
    let first = reached.first()?.words();
    let event = |ReachedLimit { kind, limit, spent }: ReachedLimit| {
        let (of, kind) = (OF_MISSION.to_owned(), kind.as_str().to_owned());
        Event::BudgetReached { of, kind, limit, spent, unpriced: None }.into()
    };
    let id = &locked.dir().id;
    let why = format!(
        "the budget of the mission is used up: {first}; `orange mission continue {id}` gives it as much again"
    );
    Some((reached.into_iter().map(event).collect(), why))
}
