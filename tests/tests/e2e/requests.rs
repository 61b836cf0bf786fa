//! Requests and their answers: gates, guards, exit statuses, what can be asked from where.

use serde_json::{Value, json};

use crate::task::Task;
use crate::world::World;

/// A task whose agent leaves everything to the test.
fn idle<'w>(world: &'w World) -> Task<'w> {
    let task = world.create("fix", "Mend it [agents: hang hang hang hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

#[track_caller]
fn check_gate(section: &str, message: &str) {
    let world = World::new();
    let task = idle(&world);
    task.write(section);
    let before = task.events().len();
    let refused = task.fails(1, "gate_failed", "update", &["--status", "agent-review"]);
    // The caller stands in no worktree.
    let help = format!("then run `orange task update {} --status agent-review` again", task.name());
    assert!(refused.contains(message) && refused.contains(&help), "{refused}");
    assert_eq!(
        (task.status().as_str(), task.events().len()),
        ("working", before),
        "a refusal leaves no trace"
    );
}

#[test]
fn a_gate_says_what_is_missing_and_what_to_run_then() {
    check_gate("", "`## Handoff` is missing");
    check_gate("## Handoff\n\n  \n## Notes\n\nx", "`## Handoff` in TASK.md is empty");
    check_gate("```\n## Handoff\n\nDONE: a template\n```", "`## Handoff` is missing");
    check_gate("<!--\n## Handoff\n\nDONE: a template\n-->", "`## Handoff` is missing");
    check_gate("## Handoff\n\n<!-- DONE: what was done -->", "`## Handoff` in TASK.md is empty");
}

#[test]
fn a_verdict_must_fit_the_status() {
    let world = World::new();
    let task = idle(&world);
    task.write("## Handoff\n\nDONE: all of it");
    task.ok("update", &["--status", "agent-review"]);
    let missing = task.fails(1, "gate_failed", "update", &["--status", "reviewing"]);
    assert!(missing.contains("`## Review` is missing"), "{missing}");
    task.write("## Review\n\nI cannot say PASS or FAIL");
    let undecided = task.fails(1, "gate_failed", "update", &["--status", "reviewing"]);
    assert!(undecided.contains("does not begin with `Verdict: PASS`"), "{undecided}");
    task.write("## Review\n\nVerdict: FAIL\nIt does not pass.");
    let other = task.fails(1, "gate_failed", "update", &["--status", "reviewing"]);
    assert!(other.contains("is FAIL, and this needs PASS"), "{other}");
    task.ok("update", &["--status", "working"]);
}

#[test]
fn a_guard_says_what_the_counters_are_and_what_is_open() {
    let world = World::new();
    let task = idle(&world);
    for (handoff, review) in [("all of it", "Not yet."), ("and mended", "Still not.")] {
        task.write(&format!("## Handoff\n\nDONE: {handoff}"));
        task.ok("update", &["--status", "agent-review"]);
        task.write(&format!("## Handoff\n\nDONE: {handoff}\n\n## Review\n\nVerdict: FAIL\n\n{review}"));
        if handoff == "all of it" {
            task.ok("update", &["--status", "working"]);
        }
    }
    let refused = task.fails(1, "guard_failed", "update", &["--status", "working"]);
    assert!(refused.contains("`review_round < 2`, and review_round is 2"), "{refused}");
    assert!(
        refused.contains("open from agent-review now: cancelled, reviewing, stuck")
            || refused.contains("stuck"),
        "{refused}"
    );
    task.ok("update", &["--status", "stuck"]);
}

#[test]
fn what_is_not_declared_is_refused() {
    let world = World::new();
    let task = idle(&world);
    let refused = task.fails(1, "no_transition", "update", &["--status", "done"]);
    assert!(refused.contains("agent-review"), "{refused}");
    let unknown = task.fails(3, "not_found", "update", &["--status", "agent_review"]);
    assert!(unknown.contains("agent-review"), "{unknown}");
    task.ok("cancel", &["--yes"]);
    let over = task.fails(1, "no_transition", "update", &["--status", "working"]);
    assert!(over.contains("final"), "{over}");
}

#[test]
fn next_says_what_each_transition_needs() {
    let world = World::new();
    let task = idle(&world);
    let next = task.ok("next", &[]);
    let transitions = next.as_array().unwrap();
    let keys: Vec<_> = transitions[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["allowed", "by", "gate", "guard", "hooks", "missing", "returns", "to"]);
    let transition = |to: &str| transitions.iter().find(|it| it["to"] == to).unwrap();
    assert_eq!(transitions.len(), 4);
    assert_eq!(transition("agent-review")["allowed"], false);
    assert!(transition("agent-review")["missing"].as_str().unwrap().contains("## Handoff"));
    assert_eq!(
        (&transition("cancelled")["allowed"], &transition("cancelled")["missing"]),
        (&json!(true), &json!(null))
    );
    assert_eq!(transition("cancelled")["hooks"], json!(["kill_session", "release_workspace"]));
}

#[test]
fn a_dry_run_answers_and_changes_nothing() {
    let world = World::new();
    let task = idle(&world);
    let before = (task.events(), std::fs::read(task.file()).unwrap(), world.panes());
    task.fails(1, "gate_failed", "update", &["--status", "agent-review", "--dry-run"]);
    let moved = task.ok("update", &["--status", "cancelled", "--dry-run"]);
    assert_eq!(
        moved,
        json!({
            "success": true, "id": task.id, "from": "working", "to": "cancelled", "review_round": 0,
            "hooks_executed": ["kill_session", "release_workspace"], "hook_errors": [], "dry_run": true,
        })
    );
    let after = (task.events(), std::fs::read(task.file()).unwrap(), world.panes());
    assert_eq!(before, after);
}

#[test]
fn a_transition_answers_as_the_contract_says() {
    let world = World::new();
    let task = idle(&world);
    task.write("## Handoff\n\nDONE: all of it");
    let moved = task.ok("update", &["--status", "agent-review"]);
    assert_eq!(
        moved,
        json!({
            "success": true, "id": task.id, "from": "working", "to": "agent-review", "review_round": 1,
            "hooks_executed": ["reset", "kill_session", "spawn_agent"], "hook_errors": [],
        })
    );
}

#[test]
fn lists_have_the_keys_of_the_contract() {
    let world = World::new();
    let task = idle(&world);
    let listed = world.ok(&["task", "list"]);
    let mut keys: Vec<_> = listed[0].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let mut expect: Vec<_> =
        "id project branch status workflow review_round crash_count summary harness workspace your_turn need tmux_session \
                              session agents spent attention unnoticed updated_at waiting_until waits_for \
                              blocked_by priority"
            .split_whitespace()
            .collect();
    expect.sort_unstable();
    assert_eq!(keys, expect);
    assert_eq!((&listed[0]["session"], &listed[0]["tmux_session"]), (&json!("active"), &json!("toy/fix")));

    task.ok("cancel", &["--yes"]);
    let ids = |args: &[&str]| -> Vec<Value> {
        world.ok(args).as_array().unwrap().iter().map(|task| task["id"].clone()).collect()
    };
    assert_eq!(ids(&["task", "list"]), [] as [Value; 0]);
    assert_eq!(ids(&["task", "list", "--all"]), [task.id.as_str()]);
    assert_eq!(ids(&["task", "list", "--status", "cancelled"]), [task.id.as_str()]);
}

#[test]
fn the_task_is_the_one_whose_worktree_one_stands_in() {
    let world = World::new();
    let task = idle(&world);
    let below = task.worktree().join("deep/down");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(world.orange_in(&below, &["task", "show", "--json"]).ok()["id"], task.id.as_str());
    assert_eq!(task.here(&["next"]).ok().as_array().unwrap().len(), 4);
    // A worktree is a place of its project, too.
    assert_eq!(
        world.orange_in(&below, &["task", "create", "other", "--no-spawn", "--json"]).ok()["project"],
        "toy"
    );

    let nowhere = world.path("home");
    let lost = world.orange_in(&nowhere, &["task", "show", "--json"]).fails(2, "usage");
    assert!(lost.contains("orange task list"), "{lost}");
    world.orange_in(&nowhere, &["task", "create", "x", "--json"]).fails(3, "not_found");
}

#[test]
fn a_task_has_several_names() {
    let world = World::new();
    let task = idle(&world);
    for name in [&task.id, &task.id[..8], "fix"] {
        assert_eq!(world.ok(&["task", "show", name])["id"], task.id.as_str());
    }
    let near = world.fails(3, "not_found", &["task", "show", "fixx"]);
    assert!(near.contains("did you mean `fix`"), "{near}");
}

#[test]
fn an_agent_that_was_replaced_is_not_heard_any_more() {
    let world = World::new();
    let task = idle(&world);
    let refused = task.asks("worker", 7, "clarification").fails(1, "not_allowed");
    assert!(refused.contains("stop here"), "{refused}");
    assert_eq!(task.asks("worker", 1, "clarification").ok()["to"], "clarification");
    assert_eq!(task.events_of("status.changed").pop().unwrap()["actor"], "worker");
}

#[test]
fn one_branch_has_one_task() {
    let world = World::new();
    let task = idle(&world);
    let refused = world.fails(1, "refused", &["task", "create", "fix", "Again"]);
    assert!(refused.contains(&task.id), "{refused}");
    assert_eq!(world.ok(&["task", "list", "--all"]).as_array().unwrap().len(), 1);
    task.ok("cancel", &["--yes"]);
    world.ok(&["task", "create", "fix", "Again", "--no-spawn"]);
    // Git has no branch of either task yet, and could not have both.
    world.ok(&["task", "create", "brew/tea", "Make tea", "--no-spawn"]);
    let above = world.fails(1, "refused", &["task", "create", "brew", "Make coffee", "--no-spawn"]);
    assert!(above.contains("not `brew/tea`, nor above or below it"), "{above}");
}

#[test]
fn help_and_version_are_json_too_when_that_is_asked_for() {
    let world = World::empty();
    for args in [["--version", "--json"], ["--json", "--help"]] {
        let said = world.orange(&args).ok();
        assert!(said["text"].as_str().unwrap().contains("range"), "{said}");
    }
}

#[test]
fn wrong_arguments_are_usage() {
    let world = World::new();
    for args in [
        &["task", "create", "--bogus"] as &[&str],
        &["tusk"],
        &["task", "update"],
        &["task", "show", "x", "y"],
        &["task", "cancel", "x", "--where", "status=working"],
    ] {
        let error = world.fails(2, "usage", args);
        assert!(!error.trim().is_empty());
    }
    let task = idle(&world);
    task.fails(2, "usage", "cancel", &[]);
    assert_eq!(task.status(), "working");
}
