//! Changes the budget of a task for a person, and has the task go on where its budget had stopped it.

use orange_core::Actor;
use orange_core::budget::{Budget, BudgetKind};

use crate::app::App;
use crate::flow::budget::{self, Subject, TaskBudget};
use crate::flow::person::respawn;
use crate::flow::request::retry;
use crate::flow::{TaskPreview, lock_recovered};
use crate::hooks::agents::Occasion;
use crate::store::history::OF_STATE;
use crate::store::{Event, Set, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};

/// The wish of a person.
#[derive(Clone, Copy, Debug, Default)]
pub struct BudgetWish {
    /// Amounts by which limits rise.
    pub add: Option<Budget>,
    /// Limits that it has from now on.
    pub set: Option<Budget>,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// The budget of a task, and what followed from its change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownBudget {
    /// Limits that apply.
    pub limits: Budget,
    /// Amounts that are spent.
    pub spent: Budget,
    /// Limits of the stay in its state, and what is spent there, if the state has a budget.
    pub state: Option<(Budget, Budget)>,
    /// Work that goes on, in words.
    pub goes_on: Option<String>,
}

/// The budget of a task.
pub fn show(app: &App, dir: &WorkItemDir) -> Result<ShownBudget> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    shown(app, dir, &task, &journal.history())
}

/// The limits of a task, and the amounts that it has spent.
pub fn shown(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<ShownBudget> {
    let mut shown = ShownBudget::default();
    for TaskBudget { subject, facts, .. } in TaskBudget::all(app, dir, task, history)? {
        match subject {
            Subject::Task => (shown.limits, shown.spent) = (facts.limits, facts.spent),
            Subject::Stay => shown.state = Some((facts.limits, facts.spent)),
        }
    }
    Ok(shown)
}

/// Changes the limits of a task, and starts again what its budget had stopped, in the same conversation.
///
/// # Errors
/// `not_allowed` for an agent; `usage` for a limit that is to rise and that the task does not have; `refused` where the raised limit
/// would still be used up.
pub fn change(app: &App, dir: &WorkItemDir, wish: BudgetWish) -> Result<ShownBudget> {
    app.caller.check_person("change a task's budget")?;
    if wish.dry_run {
        let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
        let Changed { own, stay } = changed(app, dir, &task, &history, wish)?;
        let before = shown(app, dir, &task, &history)?;
        let state = before.state.map(|(limits, spent)| (stay.completed_by(limits), spent));
        return Ok(ShownBudget { limits: own.completed_by(before.limits), state, ..before });
    }
    let mut locked = lock_recovered(app, dir)?;
    let Changed { own, stay } = changed(app, dir, locked.task(), locked.history(), wish)?;
    let before = &locked.history().budget;
    let all = [(String::new(), own, before.own), (OF_STATE.to_owned(), stay, before.stay.own)];
    for (of, budget, before) in all {
        if budget != before {
            locked.append(Event::BudgetChanged { of, budget, actor: Actor::Human.into() }, Set::new())?;
        }
    }
    drop(locked);
    let goes_on = go_on(app, dir, Actor::Human)?;
    Ok(ShownBudget { goes_on, ..show(app, dir)? })
}

/// Limits that a person has given.
struct Changed {
    /// Those of the task.
    own: Budget,
    /// Those of its stay in its state.
    stay: Budget,
}

/// The task's own limits, and those of its stay, after the change. A limit of the stay that stops the task rises in the place of
/// the task's.
fn changed(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
    wish: BudgetWish,
) -> Result<Changed> {
    let mut own = wish.set.unwrap_or_default().completed_by(history.budget.own);
    let mut stay = history.budget.stay.own;
    let Some(add) = wish.add else { return Ok(Changed { own, stay }) };
    let ShownBudget { limits, spent, state, .. } = shown(app, dir, task, history)?;
    for kind in BudgetKind::ALL {
        let Some(more) = add.get(kind) else { continue };
        if let Some((limits, spent)) = state
            && let Some(limit) = limits.get(kind)
        {
            let mut of_kind = Budget::NONE;
            of_kind.set(kind, Some(limit));
            if history.budget.stay.standing(&of_kind).is_some() {
                stay.set(kind, Some(raised(kind, limit, more, spent)?));
                continue;
            }
        }
        let Some(limit) = limits.get(kind) else {
            let (what, id) = (kind.as_str(), &task.id);
            return Err(Error::new(
                ErrorKind::Usage,
                format!("the task has no limit of `{what}` that could rise"),
            )
            .help(format!("`orange task budget {id} --set {what}=…` gives it one")));
        };
        own.set(kind, Some(raised(kind, limit, more, spent)?));
    }
    Ok(Changed { own, stay })
}

/// A limit that has risen.
fn raised(kind: BudgetKind, limit: u64, more: u64, spent: Budget) -> Result<u64> {
    let raised = limit.saturating_add(more);
    let used = spent.get(kind).unwrap_or_default();
    if used < raised {
        return Ok(raised);
    }
    let amount = |value| orange_core::budget::amount(kind, value);
    let message = format!("{} are spent, and the limit would be {}", amount(used), amount(raised));
    Err(Error::new(ErrorKind::Refused, message)
        .help(format!("add more than {}", amount(used.saturating_sub(limit)))))
}

/// Has a task go on that its budget had stopped: runs the hooks that wait for it, or starts the agent of its state again. Returns
/// what was done, in words; `None` if nothing was stopped, or the budget is still used up.
pub fn go_on(app: &App, dir: &WorkItemDir, by: Actor) -> Result<Option<String>> {
    if let Some(result) = retry::go_on(app, dir, by)? {
        return Ok(Some(format!("{} → {} goes on: {}", result.from, result.to, result.hooks.join(", "))));
    }
    let mut locked = lock_recovered(app, dir)?;
    let history = locked.history();
    if !history.budget.holds || history.owned.stopped_at.is_none() || !history.agents.alive.is_empty() {
        return Ok(None);
    }
    if budget::obstacle(app, dir, locked.task(), history)?.is_some() {
        return Ok(None);
    }
    let machine = app.machine_of(&locked.task().owned)?;
    match respawn::restartable(app, machine, locked.task(), locked.history()) {
        Ok(_) => {}
        // A state in which nobody works has nothing to go on with.
        Err(error) if error.kind == ErrorKind::NotRespawnable => return Ok(None),
        Err(error) => return Err(error),
    }
    let started = respawn::again(app, machine, &mut locked, Occasion::Respawn.into())?;
    Ok(Some(format!("started {}", respawn::names(&started))))
}
