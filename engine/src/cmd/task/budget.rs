//! `orange task budget`

use orange_core::budget::{Budget, BudgetKind, amount};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::flow::person_budget::{self, BudgetWish, ShownBudget};
use crate::store::WorkItemDir;
use orange_api::{BudgetState, Success, TaskBudget};

/// Prints the budget of a task.
pub fn show(app: &App, dir: &WorkItemDir) -> Result<CommandAnswer> {
    let (answer, text) = answer(dir, person_budget::show(app, dir)?, false);
    CommandAnswer::of(&answer, text)
}

/// Changes the budget of a task.
pub fn change(app: &App, dir: &WorkItemDir, wish: BudgetWish) -> Result<(TaskBudget, String)> {
    Ok(answer(dir, person_budget::change(app, dir, wish)?, wish.dry_run))
}

fn answer(dir: &WorkItemDir, shown: ShownBudget, dry_run: bool) -> (TaskBudget, String) {
    let ShownBudget { limits, spent, state, goes_on } = shown;
    let mut text = line(&limits, &spent);
    if let Some((limits, spent)) = &state {
        text += &format!("\nin its state: {}", line(limits, spent));
    }
    if dry_run {
        text = format!("would be {text}");
    }
    let state = state.map(|(limits, spent)| BudgetState { limits, spent });
    text.extend(goes_on.iter().map(|what| format!("\n{what}")));
    (TaskBudget { success: Success, id: dir.id.clone(), limits, spent, state, goes_on, dry_run }, text)
}

/// The spent amount of each limit: `$1.20 of $5.00, 3 starts of 12 starts`.
pub fn line(limits: &Budget, spent: &Budget) -> String {
    let of = |kind| {
        let spent = amount(kind, spent.get(kind).unwrap_or_default());
        limits.get(kind).map(|limit| format!("{spent} of {}", amount(kind, limit)))
    };
    let all: Vec<String> = BudgetKind::ALL.into_iter().filter_map(of).collect();
    if all.is_empty() { "no budget".to_owned() } else { all.join(", ") }
}
