//! Budgets of tasks and projects: their limits, what is spent, and the starts that they refuse.

mod mission;
mod period;

use std::collections::BTreeMap;
use std::time::SystemTime;

use orange_core::budget::{Budget, BudgetFacts, BudgetKind, BudgetVerdict, ReachedLimit};
use orange_core::{Actor, HarnessOf};

use crate::app::App;
use crate::drive::prices::Prices;
use crate::flow::{activity, delegation};
use crate::store::effective::{EffectiveBudget, effective};
use crate::store::event::Spent;
use crate::store::history::{AgentTimes, OF_STATE, OF_TASK, RecordedLimit};
use crate::store::settings::{BudgetSettings, parse_home};
use crate::store::{
    Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, projects,
};
use crate::{Error, ErrorKind, Result};
use orange_system::files::if_found;
use orange_system::{clock, fault, nofollow};

pub use mission::of_mission;
pub use period::pause;

/// The budgets of all projects, in `budget.toml` of the home.
pub fn of_home(app: &App) -> Result<BudgetSettings> {
    let path = app.home.budget_toml();
    let bytes = if_found(&path, nofollow::read_linked(&path, nofollow::LONGEST))?;
    bytes.map_or_else(|| Ok(BudgetSettings::default()), |bytes| parse_home(&path, &bytes))
}

/// The limits of a task: its own, then those of its workflow, of its project, and of all projects.
pub fn limits(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Budget> {
    let of_project = of_project(app, &task.project)?.task.unwrap_or_default();
    // A workflow that is gone is reported elsewhere, and nothing starts without it.
    let of_workflow = app.machine_of(&task.owned).map_or(Budget::NONE, |machine| machine.budget);
    let own = history.budget.own.completed_by(of_workflow);
    Ok(own.completed_by(of_project).completed_by(of_home(app)?.task.unwrap_or_default()))
}

/// The limits of the stay of a task in its state: those that a person has given it, then those of the state.
pub fn limits_of_stay(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Budget {
    let machine = app.machine_of(&task.owned).ok();
    let state = machine.and_then(|machine| Some(machine.state(machine.state_named(task.status())?)));
    history.budget.stay.own.completed_by(state.map_or(Budget::NONE, |state| state.budget))
}

/// True if a task moves on because the budget of its state is used up: a limit is on record, no agent of the stay is alive, and no
/// hooks wait.
pub fn leaves(app: &App, task: &WorkItem, history: &WorkItemHistory) -> bool {
    let Ok(machine) = app.machine_of(&task.owned) else { return false };
    let has_rule = machine.state_named(task.status()).is_some_and(|id| machine.leaves_when_spent(id));
    let stay = &history.budget.stay;
    has_rule
        && history.transition.waiting_hooks.is_none()
        && history.agents.alive.range(stay.first..).next().is_none()
        && stay.standing(&limits_of_stay(app, task, history)).is_some()
}

/// The budgets of a project; none of one that was removed.
fn of_project(app: &App, name: &str) -> Result<BudgetSettings> {
    let project = projects::read(&app.home)?.into_iter().find(|project| project.name == name);
    let Some(project) = project else { return Ok(BudgetSettings::default()) };
    let EffectiveBudget { task, day, month } = effective(&app.home, &project)?.budget;
    Ok(BudgetSettings { task: Some(task.value), day: Some(day.value), month: Some(month.value) })
}

/// Subject of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The task, with all its agents and the tasks that they have created.
    Task,
    /// Its stay in the present state, with the agents that were started there.
    Stay,
}

impl Subject {
    const ALL: [Subject; 2] = [Subject::Task, Subject::Stay];

    fn word(self) -> String {
        let word = match self {
            Subject::Task => OF_TASK,
            Subject::Stay => OF_STATE,
        };
        word.to_owned()
    }

    /// Its name in sentences.
    fn name(self, task: &WorkItem) -> String {
        match self {
            Subject::Task => "the task".to_owned(),
            Subject::Stay => format!("`{}`", task.status()),
        }
    }

    fn limits(self, app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Budget> {
        match self {
            Subject::Task => limits(app, task, history),
            Subject::Stay => Ok(limits_of_stay(app, task, history)),
        }
    }

    fn has(self, history: &WorkItemHistory, kind: BudgetKind, limit: u64) -> bool {
        match self {
            Subject::Task => history.budget.has(kind, limit),
            Subject::Stay => history.budget.stay.has(kind, limit),
        }
    }

    fn standing<'h>(
        self,
        history: &'h WorkItemHistory,
        limits: &Budget,
    ) -> Option<(BudgetKind, u64, &'h RecordedLimit)> {
        match self {
            Subject::Task => history.budget.standing(limits),
            Subject::Stay => history.budget.stay.standing(limits),
        }
    }

    /// The first agent that counts.
    fn first(self, history: &WorkItemHistory) -> u32 {
        match self {
            Subject::Task => 0,
            Subject::Stay => history.budget.stay.first,
        }
    }
}

/// The budget of a task, or of its stay in a state, as it is now.
#[derive(Clone, Debug)]
pub struct TaskBudget {
    pub subject: Subject,
    pub facts: BudgetFacts,
    /// Reason for the unknown cost of a living agent.
    unpriced: Option<String>,
    /// True if each limit that is reached is on record; that of starts need not be.
    pub is_recorded: bool,
}

impl TaskBudget {
    /// The budget of a task; `None` if it has no limit.
    pub fn of(
        app: &App,
        dir: &WorkItemDir,
        task: &WorkItem,
        history: &WorkItemHistory,
    ) -> Result<Option<TaskBudget>> {
        Ok(TaskBudget::about(app, dir, task, history, &[Subject::Task])?.pop())
    }

    /// The budgets of a task and of its stay in its state that have a limit.
    pub fn all(
        app: &App,
        dir: &WorkItemDir,
        task: &WorkItem,
        history: &WorkItemHistory,
    ) -> Result<Vec<TaskBudget>> {
        TaskBudget::about(app, dir, task, history, &Subject::ALL)
    }

    fn about(
        app: &App,
        dir: &WorkItemDir,
        task: &WorkItem,
        history: &WorkItemHistory,
        subjects: &[Subject],
    ) -> Result<Vec<TaskBudget>> {
        if dir.kind == WorkItemKind::Mission {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for subject in subjects {
            let limits = subject.limits(app, task, history)?;
            if !limits.is_empty() {
                found.push((*subject, limits));
            }
        }
        let now = fault::now();
        let all = match found.iter().any(|(_, limits)| limits.counts_tokens()) {
            true => activity::spent(app, dir, task, history),
            false => BTreeMap::new(),
        };
        let budget = |(subject, limits): (Subject, Budget)| {
            let first = subject.first(history);
            let each = history.agents.times.range(first..);
            let own = each.map(|(spawn, times)| used(times, all.get(spawn), now));
            let own = own.fold(Budget::default(), Budget::plus);
            let below = match subject {
                Subject::Task => spent_below(app, task, limits.counts_tokens(), now)?,
                Subject::Stay => Budget::NONE,
            };
            let mut alive = history.agents.alive.range(first..).map(|(spawn, _)| spawn).peekable();
            let is_alive = alive.peek().is_some();
            let unpriced = alive.find_map(|spawn| all.get(spawn)?.unpriced.clone());
            let since = subject.standing(history, &limits).and_then(|(.., record)| clock::parse(&record.at));
            let facts = BudgetFacts {
                limits,
                spent: own.plus(below),
                is_alive,
                is_unpriced: unpriced.is_some(),
                // A clock that was set back makes no agent wait for ever.
                since: since.map(|since| now.duration_since(since).unwrap_or_default().as_secs()),
            };
            let mut budget = TaskBudget { subject, facts, unpriced, is_recorded: false };
            budget.is_recorded = budget.events(history, false).is_empty();
            Ok(budget)
        };
        found.into_iter().map(budget).collect()
    }

    /// The budgets of the tasks above a task, in which what it spends counts, with those of them that have a limit.
    pub fn above(app: &App, task: &WorkItem) -> Result<Vec<(WorkItem, TaskBudget)>> {
        let mut found = Vec::new();
        for (dir, parent) in delegation::above(app, task)? {
            let history = WorkItem::read_last(&app.home, &dir, 0)?.1.history();
            if let Some(mut budget) = TaskBudget::of(app, &dir, &parent, &history)? {
                budget.facts.is_alive = true;
                found.push((parent, budget));
            }
        }
        Ok(found)
    }

    /// The first agent that counts.
    pub fn first(&self, history: &WorkItemHistory) -> u32 {
        self.subject.first(history)
    }

    /// Its subject in sentences.
    pub fn name(&self, task: &WorkItem) -> String {
        self.subject.name(task)
    }

    /// Consequence of the budget.
    pub fn verdict(&self) -> BudgetVerdict {
        self.facts.verdict()
    }

    /// The events of the limits that are reached and not on record. That of starts is reached when one more is refused.
    fn events(&self, history: &WorkItemHistory, is_refused: bool) -> Vec<(Event, Set)> {
        let BudgetFacts { limits, spent, .. } = self.facts;
        let unpriced = self.facts.unpriced().map(|reached| (reached, self.unpriced.clone()));
        let reached = limits.reached(spent).map(|reached| (reached, None));
        let is_due = |kind| kind != BudgetKind::Starts || is_refused;
        let mut events: Vec<(Event, Set)> = Vec::new();
        for (ReachedLimit { kind, limit, spent }, unpriced) in reached.chain(unpriced) {
            if is_due(kind) && !self.subject.has(history, kind, limit) {
                let (of, kind) = (self.subject.word(), kind.as_str().to_owned());
                events.push(Event::BudgetReached { of, kind, limit, spent, unpriced }.into());
            }
        }
        events
    }
}

/// Amounts that the agents of the tasks below a task have used.
fn spent_below(app: &App, task: &WorkItem, counts_tokens: bool, now: SystemTime) -> Result<Budget> {
    let mut all = Budget::default();
    for child in delegation::below(app, task)? {
        let (item, journal) = WorkItem::read_last(&app.home, &child.dir, 0)?;
        let history = journal.history();
        let spent = match counts_tokens {
            true => activity::spent(app, &child.dir, &item, &history),
            false => BTreeMap::new(),
        };
        let each = history.agents.times.iter().map(|(spawn, times)| used(times, spent.get(spawn), now));
        all = each.fold(all, Budget::plus);
    }
    Ok(all)
}

/// Amounts that an agent has used. Time at which it waited does not count.
fn used(times: &AgentTimes, spent: Option<&Spent>, now: SystemTime) -> Budget {
    let parse = |time: &str| clock::parse(time).unwrap_or(now);
    let between = |from: SystemTime, to: SystemTime| to.duration_since(from).unwrap_or_default().as_secs();
    let end = times.ended.as_deref().map_or(now, parse);
    let lived = times.duration.unwrap_or_else(|| between(parse(&times.began), end));
    let waited = times.waits.iter().map(|(from, to)| between(parse(from), to.as_deref().map_or(end, parse)));
    let waited = waited.fold(0, u64::saturating_add);
    Budget {
        // What a harness reports comes before the list price.
        cost: spent.and_then(|spent| spent.cost.or(spent.list_price)),
        tokens: spent.and_then(|spent| spent.tokens),
        fresh_tokens: spent.and_then(|spent| spent.fresh_tokens),
        time: Some(lived.saturating_sub(waited)),
        starts: Some(1),
    }
}

/// Reason for which no agent of a task may be started now, because of its own budget or that of its state.
pub fn refusal(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<Option<Error>> {
    for budget in TaskBudget::all(app, dir, task, history)? {
        let standing = budget.subject.standing(history, &budget.facts.limits);
        let of = budget.subject.name(task);
        let what = match (budget.verdict().reached(), standing) {
            (Some(reached), _) => words(&of, reached, None),
            (None, Some((kind, limit, record))) => {
                words(&of, ReachedLimit { kind, limit, spent: record.spent }, record.unpriced.as_deref())
            }
            (None, None) => continue,
        };
        let help = help(app, &task.id, standing.is_some_and(|(.., record)| record.unpriced.is_some()));
        return Ok(Some(Error::new(ErrorKind::Refused, what).help(help)));
    }
    Ok(None)
}

/// Reason for which no agent of a task may be started now, because of the budget of a task above it.
pub fn refusal_above(app: &App, task: &WorkItem) -> Result<Option<Error>> {
    for (parent, budget) in TaskBudget::above(app, task)? {
        if let Some(reached) = budget.verdict().reached() {
            let what = format!(
                "the budget of {}, for which this task was created, is used up: {}",
                parent.branch,
                reached.words()
            );
            return Ok(Some(Error::new(ErrorKind::Refused, what).help(help(app, &parent.id, false))));
        }
    }
    Ok(None)
}

/// A reached limit of a budget in one sentence.
fn words(of: &str, reached: ReachedLimit, unpriced: Option<&str>) -> String {
    match unpriced {
        Some(why) => format!("the cost of {of} is unknown ({why}), and it has a budget of {}", {
            orange_core::budget::amount(reached.kind, reached.limit)
        }),
        None => format!("the budget of {of} is used up: {}", reached.words()),
    }
}

fn help(app: &App, id: &str, is_unpriced: bool) -> String {
    let add = format!("a person gives it more: `orange task budget {id} --add cost=5`");
    match is_unpriced {
        true => format!("{} gets the price; then {add}", app.home.prices_toml().display()),
        false => add,
    }
}

/// The recorded limit for which a task needs a person, in one sentence, and since when.
pub fn need(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Option<(String, String)> {
    if history.budget.reached.is_empty() && history.budget.stay.reached.is_empty() {
        return None;
    }
    Subject::ALL.into_iter().find_map(|subject| {
        let limits = subject.limits(app, task, history).ok()?;
        let (kind, limit, record) = subject.standing(history, &limits)?;
        let reached = ReachedLimit { kind, limit, spent: record.spent };
        let price = record
            .unpriced
            .as_ref()
            .map(|_| format!("; {} gets the price", app.home.prices_toml().display()))
            .unwrap_or_default();
        let what = words(&subject.name(task), reached, record.unpriced.as_deref());
        Some((format!("{what}{price}"), record.at.clone()))
    })
}

/// Journals the limits that are reached and not on record. `is_refused` says that a start is refused now.
pub fn note(app: &App, locked: &mut LockedWorkItem, is_refused: bool) -> Result<()> {
    let found = TaskBudget::all(app, locked.dir(), locked.task(), locked.history())?;
    let events: Vec<_> =
        found.iter().flat_map(|budget| budget.events(locked.history(), is_refused)).collect();
    if events.is_empty() { Ok(()) } else { locked.append_many(events) }
}

/// Refuses the start of an agent whose model is known and has no price, if the task has a budget of its cost.
pub fn check_price(
    app: &App,
    task: &WorkItem,
    history: &WorkItemHistory,
    spawn: &orange_core::Spawn<'_>,
) -> Result<()> {
    let model = match spawn.harness {
        HarnessOf::Task | HarnessOf::Review => spawn.model.or(task.model.as_deref()),
        HarnessOf::Named(_) => spawn.model,
    };
    let Some(model) = model.and_then(known_model) else { return Ok(()) };
    let harness = app.harness(spawn.harness_name(&task.harness, &task.review_harness))?;
    let is_priced_here = ["claude", "codex"].contains(&harness.binary.as_str());
    if !is_priced_here || limit_of_cost(app, task, history)?.is_none() {
        return Ok(());
    }
    let file = app.home.prices_toml();
    if Prices::read(&file)?.has(model) {
        return Ok(());
    }
    let what = format!("no price for `{model}`, and the task has a budget of its cost");
    Err(Error::new(ErrorKind::Refused, what)
        .help(format!("add it to {}: [\"{model}\"] with input, output and cache_read", file.display())))
}

/// The limit of the cost of a task or of its stay, and which of the two.
fn limit_of_cost(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Option<(Subject, u64)>> {
    for subject in Subject::ALL {
        if let Some(limit) = subject.limits(app, task, history)?.cost {
            return Ok(Some((subject, limit)));
        }
    }
    Ok(None)
}

/// The name of a model, if it is that of a version: `opus` is one of several.
fn known_model(model: &str) -> Option<&str> {
    let name = model.split('[').next().unwrap_or_default();
    name.bytes().any(|it| it.is_ascii_digit()).then_some(name)
}

/// Reason for which no agent of a task starts now: its own budget, or that of the day or the month.
pub fn obstacle(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<Option<Error>> {
    if let Some(error) = refusal(app, dir, task, history)? {
        return Ok(Some(error));
    }
    if let Some(error) = refusal_above(app, task)? {
        return Ok(Some(error));
    }
    Ok(pause(app, &dir.project)?.map(|pause| pause.refusal()))
}

/// Refuses a start while a budget is used up, and journals the limits that are reached.
pub fn check_start(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    match obstacle(app, locked.dir(), locked.task(), locked.history())? {
        Some(error) => note(app, locked, true).and(Err(error)),
        None => Ok(()),
    }
}

/// The error with which a hook that starts an agent waits for a budget; `None` if it may start.
pub fn held_hook(
    app: &App,
    locked: &mut LockedWorkItem,
    spawn: &orange_core::Spawn<'_>,
) -> Result<Option<String>> {
    let held = |error: &Error| format!("the start waits: {}", error.message);
    if let Err(error) = check_price(app, locked.task(), locked.history(), spawn) {
        let limit = limit_of_cost(app, locked.task(), locked.history())?;
        if let Some((subject, limit)) =
            limit.filter(|(subject, limit)| !subject.has(locked.history(), BudgetKind::Cost, *limit))
        {
            let (of, kind) = (subject.word(), BudgetKind::Cost.as_str().to_owned());
            let unpriced = Some(error.message.clone());
            locked.append(Event::BudgetReached { of, kind, limit, spent: 0, unpriced }, Set::new())?;
        }
        return Ok(Some(held(&error)));
    }
    Ok(check_start(app, locked).err().as_ref().map(held))
}

/// Leaves the task without an agent until it has more budget; no agent is waited for any more.
pub fn hold(locked: &mut LockedWorkItem, spawns: &[u32]) -> Result<()> {
    let stopped = Event::AgentStopped { spawns: spawns.to_vec(), actor: Actor::Engine.into() };
    locked.append(stopped, Set::new().stopped_at(Some(&clock::now())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> String {
        format!("2026-11-21T{time}.000Z")
    }

    #[test]
    fn time_is_life_without_waits() {
        let now = clock::parse(&at("11:00:00")).unwrap();
        let waits = vec![(at("10:10:00"), Some(at("10:20:00"))), (at("10:50:00"), None)];
        let times = AgentTimes { began: at("10:00:00"), waits, ..AgentTimes::default() };
        let time = |times: &AgentTimes| used(times, None, now).time;
        assert_eq!(time(&times), Some(40 * 60));
        let ended = AgentTimes { ended: Some(at("10:52:00")), duration: Some(52 * 60), ..times };
        assert_eq!(time(&ended), Some(40 * 60));
        let unknown = AgentTimes { began: String::new(), ..AgentTimes::default() };
        assert_eq!(used(&unknown, None, now), Budget { time: Some(0), starts: Some(1), ..Budget::default() });
    }

    #[test]
    fn a_reported_cost_comes_before_the_list_price() {
        let cost = |cost, list_price| {
            let spent = Spent { cost, list_price, ..Spent::default() };
            used(&AgentTimes::default(), Some(&spent), SystemTime::UNIX_EPOCH).cost
        };
        assert_eq!((cost(Some(1), Some(2)), cost(None, Some(2)), cost(None, None)), (Some(1), Some(2), None));
    }

    #[test]
    fn a_model_is_known_by_its_version() {
        for (model, expect) in [
            ("opus", None),
            ("sonnet[1m]", None),
            ("claude-opus-4-8[1m]", Some("claude-opus-4-8")),
            ("gpt-9", Some("gpt-9")),
        ] {
            assert_eq!(known_model(model), expect, "{model}");
        }
    }
}
