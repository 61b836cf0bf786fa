//! Budgets of tasks and projects: their limits, what is spent, and the starts that they refuse.

use std::collections::BTreeMap;
use std::time::SystemTime;

use orange_core::budget::{Budget, BudgetFacts, BudgetKind, BudgetVerdict, ReachedLimit};
use orange_core::{Actor, HarnessOf};

use crate::app::App;
use crate::drive::prices::Prices;
use crate::flow::{activity, delegation, lock_recovered};
use crate::store::effective::{EffectiveBudget, effective};
use crate::store::event::Spent;
use crate::store::history::AgentTimes;
use crate::store::settings::{BudgetSettings, parse_home};
use crate::store::{
    Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, list, projects,
};
use crate::{Error, ErrorKind, Result};
use orange_system::files::if_found;
use orange_system::{clock, fault, nofollow};

/// The word of events for the budget of a task.
const OF_TASK: &str = "task";

/// The budgets of all projects, in `budget.toml` of the home.
pub fn of_home(app: &App) -> Result<BudgetSettings> {
    let path = app.home.budget_toml();
    let bytes = if_found(&path, nofollow::read_linked(&path, nofollow::LONGEST))?;
    bytes.map_or_else(|| Ok(BudgetSettings::default()), |bytes| parse_home(&path, &bytes))
}

/// The limits of a task: its own, then those of its project, then those of all projects.
pub fn limits(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Budget> {
    let of_project = of_project(app, &task.project)?.task.unwrap_or_default();
    Ok(history.budget.own.completed_by(of_project).completed_by(of_home(app)?.task.unwrap_or_default()))
}

/// The budgets of a project; none of one that was removed.
fn of_project(app: &App, name: &str) -> Result<BudgetSettings> {
    let project = projects::read(&app.home)?.into_iter().find(|project| project.name == name);
    let Some(project) = project else { return Ok(BudgetSettings::default()) };
    let EffectiveBudget { task, day, month } = effective(&app.home, &project)?.budget;
    Ok(BudgetSettings { task: Some(task.value), day: Some(day.value), month: Some(month.value) })
}

/// The budget of a task as it is now.
#[derive(Clone, Debug)]
pub struct TaskBudget {
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
        if dir.kind == WorkItemKind::Mission {
            return Ok(None);
        }
        let limits = limits(app, task, history)?;
        if limits.is_empty() {
            return Ok(None);
        }
        let now = fault::now();
        let all = match limits.counts_tokens() {
            true => activity::spent(app, dir, task, history),
            false => BTreeMap::new(),
        };
        let each = history.agents.times.iter().map(|(spawn, times)| used(times, all.get(spawn), now));
        let own = each.fold(Budget::default(), Budget::plus);
        let is_alive = !history.agents.alive.is_empty();
        let unpriced = history.agents.alive.keys().find_map(|spawn| all.get(spawn)?.unpriced.clone());
        let since = history.budget.standing(&limits).and_then(|(.., record)| clock::parse(&record.at));
        let facts = BudgetFacts {
            limits,
            spent: own.plus(spent_below(app, task, limits.counts_tokens(), now)?),
            is_alive,
            is_unpriced: unpriced.is_some(),
            // A clock that was set back makes no agent wait for ever.
            since: since.map(|since| now.duration_since(since).unwrap_or_default().as_secs()),
        };
        let mut budget = TaskBudget { facts, unpriced, is_recorded: false };
        budget.is_recorded = budget.events(history, false).is_empty();
        Ok(Some(budget))
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
            if is_due(kind) && !history.budget.has(kind, limit) {
                let (of, kind) = (OF_TASK.to_owned(), kind.as_str().to_owned());
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

/// Reason for which no agent of a task may be started now, because of its own budget.
pub fn refusal(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<Option<Error>> {
    let Some(budget) = TaskBudget::of(app, dir, task, history)? else { return Ok(None) };
    let standing = || history.budget.standing(&budget.facts.limits);
    let what = match budget.verdict().reached() {
        Some(reached) => words(reached, None),
        None => match standing() {
            Some((kind, limit, record)) => {
                words(ReachedLimit { kind, limit, spent: record.spent }, record.unpriced.as_deref())
            }
            None => return Ok(None),
        },
    };
    let help = help(app, &task.id, standing().is_some_and(|(.., record)| record.unpriced.is_some()));
    Ok(Some(Error::new(ErrorKind::Refused, what).help(help)))
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

/// A reached limit of a task in one sentence.
fn words(reached: ReachedLimit, unpriced: Option<&str>) -> String {
    match unpriced {
        Some(why) => format!("the cost of the task is unknown ({why}), and it has a budget of {}", {
            orange_core::budget::amount(reached.kind, reached.limit)
        }),
        None => format!("the budget of the task is used up: {}", reached.words()),
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
    if history.budget.reached.is_empty() {
        return None;
    }
    let limits = limits(app, task, history).ok()?;
    let (kind, limit, record) = history.budget.standing(&limits)?;
    let reached = ReachedLimit { kind, limit, spent: record.spent };
    let price =
        record.unpriced.as_ref().map(|_| format!("; {} gets the price", app.home.prices_toml().display()));
    let what = words(reached, record.unpriced.as_deref());
    Some((format!("{what}{}", price.unwrap_or_default()), record.at.clone()))
}

/// Journals the limits that are reached and not on record. `is_refused` says that a start is refused now.
pub fn note(app: &App, locked: &mut LockedWorkItem, is_refused: bool) -> Result<()> {
    let found = TaskBudget::of(app, locked.dir(), locked.task(), locked.history())?;
    let events = found.map(|budget| budget.events(locked.history(), is_refused)).unwrap_or_default();
    if events.is_empty() { Ok(()) } else { locked.append_many(events) }
}

/// Journals the limits of the tasks above a task that are reached and not on record: those tasks may have no agent of their own.
pub fn note_above(app: &App, task: &WorkItem) -> Result<()> {
    for (parent, _) in TaskBudget::above(app, task)?.into_iter().filter(|(_, it)| !it.is_recorded) {
        let dir = app.home.task(&parent.project, &parent.id);
        let noted = lock_recovered(app, &dir).and_then(|mut locked| note(app, &mut locked, false));
        match noted {
            // A command works on that task; the next look comes soon.
            Err(error) if error.kind == ErrorKind::Locked => {}
            noted => noted?,
        }
    }
    Ok(())
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
    if !is_priced_here || limits(app, task, history)?.cost.is_none() {
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
        let limit = limits(app, locked.task(), locked.history())?.cost.unwrap_or_default();
        if !locked.history().budget.has(BudgetKind::Cost, limit) {
            let (of, kind) = (OF_TASK.to_owned(), BudgetKind::Cost.as_str().to_owned());
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

/// A day or a month of a project, or of all projects, whose budget is used up: no agent starts until its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// In one sentence, without the end.
    pub why: String,
    /// The end of the day or the month.
    pub until: SystemTime,
}

impl Pause {
    /// The remaining seconds.
    pub fn left(&self) -> u32 {
        let left = self.until.duration_since(fault::now()).unwrap_or_default().as_secs() + 1;
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// The refusal of a start that a person asks for.
    pub fn refusal(&self) -> Error {
        let until = clock::rfc3339(self.until);
        Error::new(ErrorKind::Refused, format!("{}, until {until}", self.why)).help(
            "a person raises it in `orange project update --budget-day`, in orange.toml or in budget.toml",
        )
    }
}

/// The used-up budget of the present day or month for which no agent of a project starts.
pub fn pause(app: &App, project: &str) -> Result<Option<Pause>> {
    let of_project = of_project(app, project)?;
    let of_all = of_home(app)?;
    let limits = [
        (Some(project), Period::Day, of_project.day.unwrap_or_default()),
        (Some(project), Period::Month, of_project.month.unwrap_or_default()),
        (None, Period::Day, of_all.day.unwrap_or_default()),
        (None, Period::Month, of_all.month.unwrap_or_default()),
    ];
    let now = fault::now();
    let today = clock::rfc3339(now);
    for (of, period, limits) in limits.into_iter().filter(|(.., limits)| !limits.is_empty()) {
        let spent = spent_in(app, of, period.of(&today), now)?;
        if let Some(reached) = limits.reached(spent).next() {
            let of = of.map_or_else(|| "all projects".to_owned(), str::to_owned);
            let why = format!("the {}'s budget of {of} is used up: {}", period.word(), reached.words());
            return Ok(Some(Pause { why, until: period.end(&today).unwrap_or(now) }));
        }
    }
    Ok(None)
}

#[derive(Clone, Copy)]
enum Period {
    Day,
    Month,
}

impl Period {
    fn word(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Month => "month",
        }
    }

    /// The beginning of a time in RFC 3339 that names the period.
    fn of(self, time: &str) -> &str {
        let length = match self {
            Period::Day => 10,
            Period::Month => 7,
        };
        time.get(..length).unwrap_or_default()
    }

    /// The end of the period of a time.
    fn end(self, time: &str) -> Option<SystemTime> {
        const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
        match self {
            Period::Day => Some(clock::parse(&format!("{}T00:00:00Z", self.of(time)))? + DAY),
            Period::Month => {
                let (year, month) = self.of(time).split_once('-')?;
                let (year, month): (u32, u32) = (year.parse().ok()?, month.parse().ok()?);
                let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                clock::parse(&format!("{year:04}-{month:02}-01T00:00:00Z"))
            }
        }
    }
}

/// Amounts that the agents used whose end is in a period, or that are alive. A journal that cannot be read counts nothing:
/// `orange usage` reports it.
fn spent_in(app: &App, project: Option<&str>, period: &str, now: SystemTime) -> Result<Budget> {
    let mut all = Budget::default();
    for dir in list::dirs(&app.home, &WorkItemKind::ALL, project)? {
        let Ok((item, journal)) = WorkItem::read_last(&app.home, &dir, 0) else { continue };
        let history = journal.history();
        let is_in = |times: &AgentTimes| times.ended.as_deref().is_none_or(|ended| ended.starts_with(period));
        if !history.agents.times.values().any(is_in) {
            continue;
        }
        let spent = activity::spent(app, &dir, &item, &history);
        let within = history.agents.times.iter().filter(|(_, times)| is_in(times));
        let each = within.map(|(spawn, times)| used(times, spent.get(spawn), now));
        all = each.fold(all, Budget::plus);
    }
    Ok(all)
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
        let times = AgentTimes { began: at("10:00:00"), ended: None, duration: None, waits };
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
    fn periods_end_at_midnight_in_utc() {
        let end = |period: Period, time: &str| period.end(time).map(clock::rfc3339);
        assert_eq!(end(Period::Day, &at("23:59:59")).as_deref(), Some("2026-11-22T00:00:00.000Z"));
        assert_eq!(end(Period::Month, &at("00:00:00")).as_deref(), Some("2026-12-01T00:00:00.000Z"));
        assert_eq!(
            end(Period::Month, "2026-12-31T10:00:00.000Z").as_deref(),
            Some("2027-01-01T00:00:00.000Z")
        );
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
