//! The workflow `persistent`: one worker from the plan to the end, reviewers in a window beside it.

use serde_json::json;

use crate::task::{Task, is_alive};
use crate::world::World;

const MESSAGE: &str = "\
The review failed and the task is back in working. Read ## Review in TASK.md, fix each issue it raises,
update ## Handoff, then run: {orange} task update --status agent-review
";

fn begin<'w>(world: &'w World, summary: &str) -> Task<'w> {
    world.create("fix", summary, &["--workflow", "persistent"])
}

#[test]
fn one_worker_lives_from_the_plan_to_the_merge() {
    let world = World::new();
    let task = begin(&world, "Mend it");
    let worker = task.agent(1).begun();
    task.reaches("reviewing");
    assert_eq!(
        task.arrows(),
        [
            "pending → planning",
            "planning → working",
            "working → agent-review",
            "agent-review → working",
            "working → agent-review",
            "agent-review → reviewing",
        ]
    );
    let actors: Vec<_> = task.events_of("agent.spawned").iter().map(|event| event["actor"].clone()).collect();
    assert_eq!(actors, ["worker", "reviewer", "reviewer"]);
    assert_eq!((world.panes(), is_alive(worker)), (vec!["toy/fix worker".to_owned()], true));
    let orange = world.program.display().to_string();
    assert_eq!(
        task.agent(1).heard(),
        MESSAGE.replace("{orange}", &orange),
        "its shell may have another PATH"
    );

    let merged = task.ok("merge", &["--local"]);
    let hooks = json!(["kill_session", "release_workspace", "delete_remote_branch", "spawn_next"]);
    assert_eq!((&merged["hooks_executed"], &merged["hook_errors"]), (&hooks, &json!([])));
    assert_eq!((world.panes(), is_alive(worker)), (vec![], false));
}

#[test]
fn a_reviewer_works_in_a_window_beside_the_worker() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: work hang]");
    let reviewer = task.agent(2).begun();
    task.reaches("agent-review");
    assert_eq!(world.panes(), ["toy/fix review-1", "toy/fix worker"]);
    task.write("## Review\n\nVerdict: PASS");
    task.ok("update", &["--status", "reviewing"]);
    assert_eq!((world.panes(), is_alive(reviewer)), (vec!["toy/fix worker".to_owned()], false));
}

#[test]
fn a_reviewer_that_dies_is_started_again_in_the_same_round() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: work crash pass]");
    task.reaches("reviewing");
    let again = &task.events_of("agent.respawned")[0];
    assert_eq!(
        (&again["spawn"], &again["window"], &again["actor"]),
        (&json!(3), &json!("review-1"), &json!("reviewer"))
    );
    assert_eq!(task.events_of("agent.crashed").len(), 1);
    assert_eq!((task.owned("review_round"), task.owned("crash_count")), (json!(1), json!(0)));
}

#[test]
fn two_dead_reviewers_escalate_and_leave_the_worker_alone() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: work crash crash]");
    let worker = task.agent(1).begun();
    task.reaches("stuck");
    let last = task.events_of("status.changed").pop().unwrap();
    assert_eq!((&last["cause"], &last["actor"]), (&json!("escalation"), &json!("engine")));
    assert_eq!(task.owned("crash_count"), 2, "an escalation keeps the count that led to it");
    assert!(task.show()["attention"].is_string());
    assert!(is_alive(worker));
    task.fails(1, "not_respawnable", "respawn", &[]);
    task.ok("update", &["--status", "reviewing"]);
    assert_eq!(task.owned("crash_count"), 0);
}

#[test]
fn a_worker_that_dies_while_planning_crashes_until_it_is_stuck() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: crash crash]");
    task.has_events(1, "agent.crashed");
    assert_eq!(task.status(), "planning");
    assert!(task.show()["attention"].is_string());
    task.ok("respawn", &[]);
    assert!(task.agent(2).prompt().starts_with("# Resuming: Mend it"));
    task.reaches("stuck");
}

#[test]
fn a_worker_that_dies_after_its_plan_is_missed_in_working() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: plan-die]");
    task.has_events(1, "agent.crashed");
    assert_eq!(task.arrows(), ["pending → planning", "planning → working"]);
    assert_eq!((task.status(), task.owned("crash_count")), ("working".to_owned(), json!(1)));
    task.ok("respawn", &[]);
    task.reaches("reviewing");
}

#[test]
fn a_failed_review_starts_the_worker_that_had_died_again() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: work-die fail]");
    task.reaches("reviewing");
    let advanced: Vec<_> = task.events_of("auto.advanced").iter().map(|event| event["to"].clone()).collect();
    assert_eq!(advanced, ["agent-review"]);
    let worker = &task.events_of("agent.spawned")[2];
    assert_eq!(
        (&worker["actor"], &worker["prompt"], &worker["permissions"], &worker["window"]),
        (&json!("worker"), &json!("worker_respawn"), &json!("full"), &json!("worker"))
    );
    assert_eq!(task.show()["attention"], json!(null));
}

#[test]
fn a_task_begun_with_a_review_gets_a_worker_when_it_fails() {
    let world = World::new();
    world.commit_on("fix", "work.txt");
    let task = world.create("fix", "Look at it", &["--workflow", "persistent", "--status", "agent-review"]);
    task.reaches("reviewing");
    assert_eq!(
        task.arrows(),
        ["agent-review → working", "working → agent-review", "agent-review → reviewing"]
    );
    let actors: Vec<_> = task.events_of("agent.spawned").iter().map(|event| event["actor"].clone()).collect();
    assert_eq!(actors, ["reviewer", "worker", "reviewer"]);
    assert!(task.agent(2).prompt().starts_with("# Resuming: Look at it"));
    assert_eq!(world.panes(), ["toy/fix worker"]);
    // It is the worker from here on: a person who wants changes tells this one.
    task.ok("update", &["--status", "working"]);
    task.has_events(5, "status.changed");
    assert!(task.agent(2).heard().starts_with("A person asks for changes"));
}

#[test]
fn a_person_asks_for_changes_and_the_worker_hears_it() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: work pass]");
    task.reaches("reviewing");
    task.ok("update", &["--status", "working"]);
    task.has_events(7, "status.changed");
    assert_eq!(task.status(), "reviewing");
    let heard = task.agent(1).heard();
    assert!(heard.starts_with("A person asks for changes"), "{heard}");
}

#[test]
fn a_plan_from_before_the_questions_is_gone_over_again() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: hang]");
    task.agent(1).begun();
    task.write("## Plan\n\nAPPROACH: the simplest one");
    for status in ["working", "clarification", "planning"] {
        task.asks("worker", 1, status).ok();
    }
    let refused = task.asks("worker", 1, "working").fails(1, "gate_failed");
    assert!(refused.contains("`## Plan` in TASK.md is as it was when it last passed"), "{refused}");
    task.write("## Plan\n\nAPPROACH: the one that was asked for");
    task.asks("worker", 1, "working").ok();
}

#[test]
fn merging_is_not_for_the_worker_that_is_still_there() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: hang hang]");
    task.agent(1).begun();
    task.write("## Plan\n\nAPPROACH: the simplest one");
    task.asks("worker", 1, "working").ok();
    task.write("## Handoff\n\nDONE: all of it");
    task.asks("worker", 1, "agent-review").ok();
    task.agent(2).begun();
    task.write("## Review\n\nVerdict: PASS");
    task.asks_its_last("reviewer", 2, "reviewing");
    let refused = task.asks("worker", 1, "done").fails(1, "not_allowed");
    assert!(refused.contains("human"), "{refused}");
}

#[test]
fn a_worker_that_does_not_read_its_message_is_noticed() {
    let world = World::new();
    let task = begin(&world, "Mend it [agents: hang hang]");
    task.agent(1).begun();
    task.write("## Plan\n\nAPPROACH: the simplest one");
    task.asks("worker", 1, "working").ok();
    task.write("## Handoff\n\nDONE: all of it");
    task.asks("worker", 1, "agent-review").ok();
    task.agent(2).begun();
    task.write("## Review\n\nVerdict: FAIL");
    let moved = task.ok("update", &["--status", "working"]);
    let error = moved["hook_errors"][0].as_str().unwrap();
    assert!(error.contains("agent 1 does not read its message"), "{moved}");
    assert!(task.show()["attention"].as_str().unwrap().contains("orange task attach"));
}
