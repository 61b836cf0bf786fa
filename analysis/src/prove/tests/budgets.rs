//! The most that agents use, and loops that a number of starts bounds.

use orange_core::budget::BudgetKind;

use super::*;

/// Limits for the task, and for `working` and `agent-review`.
fn budgeted(task: &str, working: &str, review: &str) -> Figures {
    let text = BESIDE
        .replace("name: beside", &format!("name: beside\n{task}"))
        .replace(
            "  planning: {respawn_prompt: worker}",
            "  planning: {respawn_prompt: worker, budget: {cost: 1}}",
        )
        .replace(
            "  working: {respawn_prompt: worker}",
            &format!("  working: {{respawn_prompt: worker{working}}}"),
        )
        .replace(
            "  agent-review: {respawn_prompt: reviewer}",
            &format!("  agent-review: {{respawn_prompt: reviewer{review}}}"),
        );
    proof(&text).figures
}

#[track_caller]
fn check_cost(task: &str, review: &str, most: Option<u64>, rests_on: &str) {
    let figures = budgeted(task, ", budget: {cost: 9}", review);
    let cost = figures.spending.into_iter().find(|it| it.kind == BudgetKind::Cost).unwrap();
    assert_eq!((cost.most, cost.rests_on.as_str()), (most, rests_on));
}

#[test]
fn the_worst_case_is_that_of_the_stays_or_of_the_task() {
    let review = ", budget: {cost: 2}";
    // A person may start the worker of `working` again, and two reviews follow.
    let stays = "1 stay in `working` with $9.00, 2 stays in `agent-review` with $2.00 each";
    check_cost("", review, Some(13_000_000), stays);
    check_cost("budget: {cost: 99}", review, Some(13_000_000), stays);
    let capped = format!("the budget of the task; {stays} would be $13.00");
    check_cost("budget: {cost: 5}", review, Some(5_000_000), &capped);
    check_cost("budget: {cost: 5}", "", Some(5_000_000), "the budget of the task alone");
    check_cost("", "", None, "agents in `agent-review` have no limit of `cost`");
    assert!(proof(BESIDE).figures.spending.is_empty());
}

#[test]
fn starts_of_the_task_alone_bound_loops_that_start_agents() {
    let endless =
        round("", "{status: checking, action: mark_dead}").replace("then: checking", "action: mark_dead");
    let endless = endless.replace("to: checking}", "to: checking, by: worker}");
    let endless = endless
        .replace("to: working, hooks: [{action: kill", "to: working, by: worker, hooks: [{action: kill");
    check_refuted(&endless, "loops-bounded", &["C05"]);
    let starts = endless.replacen("states:", "budget: {starts: 12}\nstates:", 1);
    let alone = "bounded by budget alone: every loop starts an agent, and the task has 12 starts; then the next start waits for a person";
    check_proved(&starts, "loops-bounded", alone);
    assert_eq!(proof(&starts).figures.longest_run, None);
    // Money bounds no loop whose agents crash at once.
    let cost = endless.replacen("states:", "budget: {cost: 12}\nstates:", 1);
    check_refuted(&cost, "loops-bounded", &["C05"]);
}
