//! The workflow `default`: a worker, a reviewer, a person.

use serde_json::json;

use crate::task::{is_alive, kill};
use crate::world::World;

#[test]
fn a_task_lives_from_creation_to_the_merge() {
    let world = World::new();
    let task = world.create("fix/login", "Mend the login form", &[]);
    task.reaches("reviewing");
    assert_eq!(
        task.arrows(),
        [
            "pending → working",
            "working → agent-review",
            "agent-review → working",
            "working → agent-review",
            "agent-review → reviewing",
        ]
    );
    let show = task.show();
    assert_eq!(show["counters"], json!({"review_round": 2, "crash_count": 0, "questions": 0}));
    assert_eq!((&show["session"], &show["attention"]), (&json!("inactive"), &json!(null)));
    world.until("no pane is left", || world.panes().is_empty());

    let merged = task.ok("merge", &["--local"]);
    assert_eq!((&merged["from"], &merged["to"]), (&json!("reviewing"), &json!("done")));
    assert_eq!(merged["hooks_executed"], json!(["release_workspace", "delete_remote_branch", "spawn_next"]));
    assert_eq!((&merged["hook_errors"], &merged["pushed"]), (&json!([]), &json!(true)));
    assert_eq!(task.status(), "done");
    assert_eq!(task.owned("workspace"), json!(null));

    let work = format!("work-{}.txt", task.id);
    let lines = world.git(&world.repo(), &["show", &format!("origin/main:{work}")]);
    assert_eq!(lines, "agent 1 was here\nagent 3 was here");
    let in_origin = world.git(&world.path("toy.git"), &["log", "--format=%s", "main"]);
    assert_eq!(in_origin, "Agent 3 did its part\nAgent 1 did its part\nBegin");
}

#[test]
fn each_agent_gets_the_prompt_that_its_transition_names() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let headings: Vec<_> =
        (1..=4).map(|spawn| task.agent(spawn).prompt().lines().next().unwrap().to_owned()).collect();
    assert_eq!(
        headings,
        ["# Task: Mend it", "# Review Task: Mend it", "# Fixing Issues: Mend it", "# Review Task: Mend it"]
    );
    let second_review = task.agent(4).prompt();
    assert!(second_review.contains("\nProject: toy\nBranch: fix\nReview round: 2\n"), "{second_review}");

    let spawned = task.events_of("agent.spawned");
    let given: Vec<_> = spawned
        .iter()
        .map(|event| ["actor", "permissions", "window"].map(|key| event[key].as_str().unwrap()))
        .collect();
    let worker = ["worker", "full", "worker"];
    assert_eq!(
        given,
        [worker, ["reviewer", "reduced", "review-1"], worker, ["reviewer", "reduced", "review-2"]]
    );
}

#[test]
fn the_hooks_outlive_the_session_that_asked_for_them() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    let worker = task.agent(1).begun();
    task.agent(2).begun();
    task.reaches("agent-review");
    let ended = task.events_of("hook.ended");
    let hooks: Vec<_> = ended.iter().map(|event| event["hook"].as_str().unwrap()).collect();
    assert_eq!(hooks, ["acquire_workspace", "spawn_agent", "reset", "kill_session", "spawn_agent"]);
    assert!(!is_alive(worker), "the worker asked for its own end");
    assert_eq!(world.panes(), ["toy/fix review-1"]);
}

#[test]
fn a_second_failed_review_is_for_a_person() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work fail work fail work pass]", &[]);
    task.reaches("stuck");
    assert_eq!(task.arrows().last().unwrap(), "agent-review → stuck");
    world.until("the reviewer's session is gone", || world.panes().is_empty());

    let moved = task.ok("update", &["--status", "working"]);
    assert_eq!(moved["hooks_executed"], json!(["kill_session", "spawn_agent"]));
    assert!(task.agent(5).prompt().starts_with("# Resuming Stuck Task: Mend it"));
    task.reaches("reviewing");
    assert_eq!(task.owned("review_round"), 3);
}

#[test]
fn what_an_agent_wrote_before_passes_nothing() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang hang hang]", &[]);
    task.agent(1).begun();
    task.write("## Handoff\n\nDONE: all of it");
    task.asks_its_last("worker", 1, "agent-review");
    task.agent(2).begun();
    task.write("## Review\n\nVerdict: FAIL");
    task.asks_its_last("reviewer", 2, "working");

    let worker = task.agent(3).begun();
    let refused = task.asks("worker", 3, "agent-review").fails(1, "gate_failed");
    assert!(refused.contains("`## Handoff` in TASK.md is as it was when it last passed"), "{refused}");
    kill(worker);
    task.has_events(1, "agent.crashed");
    assert_eq!(task.status(), "working", "the handoff of the first round is not the second's");

    task.write("## Handoff\n\nDONE: all of it, and mended");
    task.ok("update", &["--status", "agent-review"]);
    let reviewer = task.agent(4).begun();
    let refused = task.asks("reviewer", 4, "stuck").fails(1, "gate_failed");
    assert!(refused.contains("`## Review` in TASK.md is as it was when it last passed"), "{refused}");
    kill(reviewer);
    task.has_events(2, "agent.crashed");
    assert_eq!((task.status(), task.owned("crash_count")), ("agent-review".to_owned(), json!(1)));
}

#[test]
fn a_review_without_a_verdict_is_a_crash() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    let reviewer = task.agent(2).begun();
    task.write("## Review\n\nIt looks fine.");
    kill(reviewer);
    task.has_events(1, "agent.crashed");
    assert_eq!((task.status(), task.owned("crash_count")), ("agent-review".to_owned(), json!(1)));
}

#[test]
fn a_person_sends_work_back() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work pass hang pass]", &[]);
    task.reaches("reviewing");
    task.write("## Feedback\n\nThe button is still green.");
    let moved = task.ok("update", &["--status", "working"]);
    let hooks = json!(["acquire_workspace", "spawn_agent"]);
    assert_eq!((&moved["hooks_executed"], &moved["hook_errors"]), (&hooks, &json!([])));
    let worker = task.agent(3);
    assert!(worker.prompt().contains("A person has looked at the branch"), "{}", worker.prompt());

    let refused = task.asks("worker", 3, "agent-review").fails(1, "gate_failed");
    assert!(refused.contains("as it was when it last passed"), "{refused}");
    task.write("## Handoff\n\nDONE: it is blue");
    task.asks_its_last("worker", 3, "agent-review");
    task.reaches("reviewing");
    assert!(!is_alive(worker.begun()));
    assert_eq!((task.arrows().len(), task.owned("review_round")), (6, json!(2)));
}

#[test]
fn a_person_sends_work_back_that_was_done_elsewhere() {
    let world = World::new();
    world.git(&world.repo(), &["branch", "theirs"]);
    let task = world.create("theirs", "Look at it [agents: work pass]", &["--status", "reviewing"]);
    assert_eq!(task.owned("workspace"), json!(null));
    task.ok("update", &["--status", "working"]);
    task.reaches("reviewing");
    assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), "theirs");
}

#[test]
fn an_agent_that_gave_up_is_ended_before_the_next_one_starts() {
    for (to, next) in [("working", "toy/fix worker"), ("agent-review", "toy/fix review-1")] {
        let world = World::new();
        let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
        let first = task.agent(1).begun();
        task.asks("worker", 1, "stuck").ok();
        assert!(is_alive(first), "a person may want to talk to it");
        task.fails(1, "gate_failed", "update", &["--status", "agent-review"]);

        task.write("## Handoff\n\nDONE: what could be done");
        let moved = task.ok("update", &["--status", to]);
        assert_eq!(moved["hooks_executed"], json!(["kill_session", "spawn_agent"]));
        let second = task.agent(2).begun();
        assert_eq!((is_alive(first), is_alive(second), world.panes()), (false, true, vec![next.to_owned()]));
    }
}

#[test]
fn only_the_agent_goes_on_from_its_questions() {
    let world = World::new();
    let task = world.create("vague", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    task.asks("worker", 1, "clarification").ok();
    let refused = task.fails(1, "not_allowed", "update", &["--status", "working"]);
    assert!(refused.contains("worker"), "{refused}");
    task.asks("worker", 1, "working").ok();
    assert_eq!(task.events_of("agent.spawned").len(), 1);
}

#[test]
fn a_task_without_a_summary_is_clarified_first() {
    let world = World::new();
    let task = world.task(&world.ok(&["task", "create", "vague"]));
    task.reaches("clarification");
    let agent = task.agent(1);
    assert!(agent.prompt().contains("The task requirements are unclear."), "{}", agent.prompt());
    world.until("it has asked", || task.show()["sections"]["## Questions"] == "1. What is to be done?");

    world.tmux(&["send-keys", "-t", "=toy/vague:worker", "-l", "Mend the login form"]);
    world.tmux(&["send-keys", "-t", "=toy/vague:worker", "Enter"]);
    task.reaches("reviewing");
    assert_eq!(task.show()["summary"], "Mend the login form");
    assert_eq!(task.arrows()[..2], ["pending → clarification", "clarification → working"]);
}

#[test]
fn a_branch_that_nobody_named_is_named_by_the_agent() {
    let world = World::new();
    let task = world.task(&world.ok(&["task", "create", "--no-spawn"]));
    assert_eq!(task.show()["branch"], format!("orange-tasks/{}", task.id));
    task.ok("update", &["--summary", "Mend the login form"]);
    task.ok("spawn", &[]);
    task.reaches("reviewing");
    assert_eq!(task.show()["branch"], "named-by-agent-1");
    assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), "named-by-agent-1");
    task.ok("merge", &["--local"]);
}

#[test]
fn work_that_is_there_already_may_begin_with_its_review() {
    let world = World::new();
    world.git(&world.repo(), &["branch", "theirs"]);
    let task = world.create("theirs", "Look at it [agents: pass]", &["--status", "agent-review"]);
    task.reaches("reviewing");
    let prompt = task.agent(1).prompt();
    assert!(
        prompt.starts_with("# Review Task: Look at it") && prompt.contains("Review round: 1\n"),
        "{prompt}"
    );
    assert_eq!(
        (task.arrows(), task.owned("review_round")),
        (vec!["agent-review → reviewing".to_owned()], json!(1))
    );

    world.git(&world.repo(), &["branch", "seen"]);
    let seen = world.create("seen", "Merge it", &["--status", "reviewing"]);
    assert_eq!((seen.status().as_str(), seen.events_of("agent.spawned").len()), ("reviewing", 0));
    let refused = world.fails(1, "refused", &["task", "create", "x", "y", "--status", "done"]);
    assert!(refused.contains("agent-review"), "{refused}");
}

#[test]
fn two_tasks_run_beside_each_other() {
    let world = World::new();
    let tasks = ["one", "two"].map(|branch| world.create(branch, "Mend it", &[]));
    for task in &tasks {
        task.reaches("reviewing");
        assert_eq!(task.arrows().len(), 5);
    }
    assert_ne!(tasks[0].worktree(), tasks[1].worktree());
    tasks[0].ok("merge", &["--local"]);
    // The default branch has moved on: only a merge commit brings the second one in.
    let refused = tasks[1].fails(1, "refused", "merge", &["--local"]);
    assert!(refused.contains("merge"), "{refused}");
    assert_eq!(tasks[1].status(), "reviewing");
    tasks[1].ok("merge", &["--local", "--strategy", "merge"]);
    let files = world.git(&world.repo(), &["ls-tree", "--name-only", "main"]);
    assert_eq!(files.lines().count(), 3, "{files}");
}

#[test]
fn the_small_workflow_has_no_reviewer() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--workflow", "minimal"]);
    task.reaches("reviewing");
    assert_eq!(task.arrows(), ["pending → working", "working → reviewing"]);
    world.until("the worker's session is gone", || world.panes().is_empty());

    task.ok("update", &["--status", "working"]);
    task.has_events(4, "status.changed");
    assert_eq!(task.status(), "reviewing", "a person may ask for more");
    task.ok("merge", &["--local"]);
    assert_eq!(task.status(), "done");
}
