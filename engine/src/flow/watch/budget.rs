//! Keeps the budgets of tasks: ends agents once a limit is reached, and starts them again once there is more.

use orange_core::Actor;
use orange_core::budget::BudgetVerdict;

use crate::app::App;
use crate::flow::agent::ended;
use crate::flow::budget::{self, TaskBudget};
use crate::flow::person::budget::go_on;
use crate::flow::{activity, lock_recovered};
use crate::hooks::agents;
use crate::store::{WorkItem, WorkItemDir, WorkItemHistory};
use crate::{ErrorKind, Result};
use orange_api::{Agent, AgentState};
use orange_system::fault;

/// True if the budget of a task, or of its project, has stopped it, so that it goes on once there is more.
pub fn holds(history: &WorkItemHistory) -> bool {
    let waiting = history.transition.waiting_hooks.as_ref();
    waiting.is_some_and(|it| it.held.is_some()) || history.budget.holds && history.owned.stopped_at.is_some()
}

/// Looks at the budget of one task, and returns what was done, in words.
pub fn look(app: &App, dir: &WorkItemDir, task: &WorkItem, history: &WorkItemHistory) -> Result<Vec<String>> {
    if budget::leaves(app, task, history)
        && let Some(story) = ended::spent(app, dir)?
    {
        return Ok(vec![story]);
    }
    if holds(history) && history.agents.alive.is_empty() {
        let is_free = budget::obstacle(app, dir, task, history)?.is_none();
        return Ok(if is_free { go_on(app, dir, Actor::Engine)?.into_iter().collect() } else { Vec::new() });
    }
    // What a task spends counts in the budgets of those above it, too.
    let ends = |task: &WorkItem, history: &WorkItemHistory| {
        let own = TaskBudget::all(app, dir, task, history)?;
        let above = TaskBudget::above(app, task)?.into_iter().map(|(_, budget)| budget);
        let mut all: Vec<_> = own.into_iter().chain(above).filter(|it| ends_agents(it.verdict())).collect();
        // One that ends agents at once comes first.
        all.sort_by_key(|it| !matches!(it.verdict(), BudgetVerdict::EndNow(_)));
        Ok::<_, crate::Error>(all.into_iter().next())
    };
    if history.agents.alive.is_empty() || ends(task, history)?.is_none() {
        return Ok(Vec::new());
    }
    // Before this task is locked: a command that works on the one above may lock this one.
    note_above(app, task)?;
    let mut locked = lock_recovered(app, dir)?;
    budget::note(app, &mut locked, false)?;
    fault::step("end agents", "of a budget");
    let Some(found) = ends(locked.task(), locked.history())? else { return Ok(Vec::new()) };
    let reached = found.verdict().reached();
    let is_now = matches!(found.verdict(), BudgetVerdict::EndNow(_));
    let seen = activity::of_task(app, dir, locked.task(), locked.history(), || None);
    let due = |spawn: &u32| is_now || seen.iter().any(|it| it.spawn == *spawn && is_at_turn_end(it));
    let first = found.first(locked.history());
    let alive = locked.history().agents.alive.range(first..).map(|(spawn, _)| *spawn);
    let spawns: Vec<u32> = alive.filter(due).collect();
    if spawns.is_empty() {
        return Ok(Vec::new());
    }
    budget::hold(&mut locked, &spawns)?;
    agents::end_stopped(app, &mut locked)?;
    let numbers: Vec<String> = spawns.iter().map(u32::to_string).collect();
    let why = reached.map(|reached| reached.words()).unwrap_or_default();
    let of = found.name(locked.task());
    drop(locked);
    let story = format!("ended agent {}: the budget of {of} is used up ({why})", numbers.join(", "));
    fault::step("move on", "after a budget");
    Ok([story].into_iter().chain(ended::spent(app, dir)?).collect())
}

/// Journals the limits of the tasks above a task that are reached and not on record: those tasks may have no agent of their own.
fn note_above(app: &App, task: &WorkItem) -> Result<()> {
    for (parent, _) in TaskBudget::above(app, task)?.into_iter().filter(|(_, it)| !it.is_recorded) {
        let dir = app.home.task(&parent.project, &parent.id);
        let noted = lock_recovered(app, &dir).and_then(|mut locked| budget::note(app, &mut locked, false));
        match noted {
            // A command works on that task; the next look comes soon.
            Err(error) if error.kind == ErrorKind::Locked => {}
            noted => noted?,
        }
    }
    Ok(())
}

fn ends_agents(verdict: BudgetVerdict) -> bool {
    match verdict {
        BudgetVerdict::Within | BudgetVerdict::NoStart(_) => false,
        BudgetVerdict::EndTurns(_) | BudgetVerdict::EndNow(_) => true,
    }
}

/// True if the turn of an agent has ended. One that asks whether it may use a tool is in its turn.
fn is_at_turn_end(agent: &Agent) -> bool {
    match agent.assessment.state {
        AgentState::Waiting => agent.assessment.asked.is_none(),
        AgentState::Limit | AgentState::Idle | AgentState::Ended => true,
        AgentState::Quiet | AgentState::Unknown | AgentState::Busy => false,
    }
}
