//! Artifacts that have passed a gate: journaled with hash and commit, reported, and not let through again.

use serde_json::json;

use crate::task::{Task, kill};
use crate::world::World;

#[track_caller]
fn commit(world: &World, task: &Task<'_>, file: &str) -> String {
    let worktree = task.worktree();
    std::fs::write(worktree.join(file), "done\n").unwrap();
    world.git(&worktree, &["add", file]);
    world.git(&worktree, &["commit", "--quiet", "--message", file]);
    world.git(&worktree, &["rev-parse", "HEAD"])
}

#[test]
fn what_passed_is_on_record_with_the_commit_it_was_about() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let first = commit(&world, &task, "first");
    task.write("## Handoff\n\nDONE: all of it");
    task.ok("update", &["--status", "agent-review"]);
    let gate = &task.events_of("transition.started").pop().unwrap()["passed"][0];
    assert_eq!((&gate["section"], &gate["commit"]), (&json!("## Handoff"), &json!(first)));
    let expect = json!({ "## Handoff": { "hash": gate["hash"], "commit": first, "unchanged": true } });
    assert_eq!(task.show()["gates"], expect);

    task.write("## Review\n\nVerdict: FAIL");
    task.ok("update", &["--status", "working"]);
    let stale = task.fails(1, "gate_failed", "update", &["--status", "agent-review"]);
    let expect =
        format!("as it was when it last passed, at commit {}, where the worktree still stands", &first[..10]);
    assert!(stale.contains(&expect), "{stale}");

    let second = commit(&world, &task, "second");
    let stale = task.fails(1, "gate_failed", "update", &["--status", "agent-review"]);
    let expect = format!("at commit {}, and the worktree stands on {} now", &first[..10], &second[..10]);
    assert!(stale.contains(&expect), "{stale}");
    let next = task.ok("next", &[]);
    let next_one = next.as_array().unwrap().iter().find(|next_one| next_one["to"] == "agent-review").unwrap();
    assert!(next_one["missing"].as_str().unwrap().contains(&expect), "{next_one}");
    let shown = world.orange(&["task", "show", &task.id]).out;
    let expect = format!("\n## Handoff  (passed at {}, unchanged since)\n  DONE: all of it\n", &first[..10]);
    assert!(shown.contains(&expect), "{shown}");
}

/// Two sections have to be there, of which the same gates are had by an exit rule.
const SEVERAL: &str = "\
name: several
gates:
  handoff: {section: '## Handoff', fields: {all: [DONE, RISKS]}, fresh: true}
  notes: {section: '## Notes', required: true, fresh: true}
states: {pending: {}, working: {respawn_prompt: worker}, done: {terminal: true}, cancelled: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: done, gate: {all: [handoff, notes]}, hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: [pending, working], to: cancelled, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, has_artifact: {all: [handoff, notes]}, then: done}
    - {status: working, no_artifact: true, action: mark_dead}
prompts:
  worker: '{summary}'
";

#[test]
fn several_gates_hold_together_and_a_refusal_names_each() {
    let world = World::new();
    world.workflow("several.yml", SEVERAL);
    let task = world.create("fix", "Mend it [agents: hang]", &["--workflow", "several"]);
    let worker = task.agent(1).begun();
    task.write("## Handoff\n\nDONE: all of it");
    let refused = task.fails(1, "gate_failed", "update", &["--status", "done"]);
    let lacks = "`## Handoff` in TASK.md has no line that begins with `RISKS:`, and `## Notes` is missing from TASK.md";
    assert!(refused.contains(lacks), "{refused}");
    let next = task.ok("next", &[]);
    let words = "`## Handoff` (lines `DONE:` and `RISKS:`, rewritten) and `## Notes` (not empty, rewritten)";
    assert_eq!(next[0]["gate"], words);
    assert_eq!(next[0]["missing"], lacks);

    task.write("## Handoff\n\nDONE: all of it\nRISKS: none\n\n## Notes\n\nRead them.");
    kill(worker);
    task.reaches("done");
    let passed = &task.events_of("transition.started").pop().unwrap()["passed"];
    let sections: Vec<_> = passed.as_array().unwrap().iter().map(|it| &it["section"]).collect();
    assert_eq!(sections, ["## Handoff", "## Notes"]);
    assert_eq!(task.show()["gates"].as_object().unwrap().len(), 2);
}

#[test]
fn the_verdict_of_a_worker_does_not_pass_its_own_review() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang hang]", &[]);
    task.agent(1).begun();
    task.write("## Handoff\n\nDONE: all of it\n\n## Review\n\nVerdict: PASS");
    task.asks_its_last("worker", 1, "agent-review");
    let reviewer = task.agent(2).begun();
    let refused = task.asks("reviewer", 2, "reviewing").fails(1, "gate_failed");
    assert!(
        refused.contains("`## Review` in TASK.md is as it was when the task came to its status"),
        "{refused}"
    );
    kill(reviewer);
    task.has_events(1, "agent.crashed");
    assert_eq!(task.status(), "agent-review", "nobody has reviewed it");

    // Nor does what was written before the next reviewer was there.
    task.write("## Review\n\nVerdict: PASS\n\nStill all of it.");
    task.ok("respawn", &[]);
    task.agent(3).begun();
    let refused = task.fails(1, "gate_failed", "update", &["--status", "reviewing"]);
    assert!(refused.contains("as it was when the agent that is to judge was started"), "{refused}");
    task.write("## Review\n\n**Verdict: PASS**\n\nRead and run.");
    task.asks_its_last("reviewer", 3, "reviewing");
}

#[test]
fn prose_is_no_verdict() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    let reviewer = task.agent(2).begun();
    task.write("## Review\n\nThis cannot pass: the tests are red.");
    let refused = task.asks("reviewer", 2, "reviewing").fails(1, "gate_failed");
    assert!(refused.contains("does not begin with `Verdict: PASS`"), "{refused}");
    kill(reviewer);
    task.has_events(1, "agent.crashed");
    assert_eq!(task.status(), "agent-review");
}

#[test]
fn a_verdict_beside_a_living_worker_does_not_count_at_an_end() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang hang hang]", &["--workflow", "persistent"]);
    task.agent(1).begun();
    task.write("## Plan\n\nAPPROACH: the simplest one");
    task.asks("worker", 1, "working").ok();
    task.write("## Handoff\n\nDONE: all of it");
    task.asks("worker", 1, "agent-review").ok();
    let reviewer = task.agent(2).begun();
    // The worker writes this, and the reviewer dies without a word.
    task.write("## Review\n\nVerdict: PASS");
    kill(reviewer);
    task.has_events(1, "agent.crashed");
    assert_eq!(task.status(), "agent-review");
    let reason = task.events_of("agent.crashed")[0]["reason"].to_string();
    assert!(reason.contains("beside another one"), "{reason}");
}

/// A worker that stays alive beside its reviewer; a merge wants a verdict about this.
fn judged(of: &str) -> String {
    format!(
        "name: judged
states: {{pending: {{}}, working: {{}}, ready: {{}}, done: {{terminal: true}}}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: work}}]}}
  - {{from: working, to: ready, gate: {{section: '## Review', verdict: PASS, strict: true, fresh: true}}}}
  - {{from: ready, to: working, by: human}}
  - {{from: ready, to: done, by: human, gate: {{section: '## Review', verdict: PASS, strict: true, of: {of}}}, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
prompts: {{work: 'Work. {{summary}}'}}
"
    )
}

#[track_caller]
fn accepted<'w>(world: &'w World, of: &str) -> Task<'w> {
    world.workflow("judged.yml", &judged(of));
    let task = world.create("fix", "Mend it [agents: hang]", &["--workflow", "judged"]);
    task.agent(1).begun();
    commit(world, &task, "first");
    task.write("## Review\n\nVerdict: PASS");
    task.ok("update", &["--status", "ready"]);
    task
}

/// A commit on the base that the work takes in.
fn sync(world: &World, task: &Task<'_>) {
    std::fs::write(world.repo().join("elsewhere"), "new\n").unwrap();
    world.git(&world.repo(), &["add", "elsewhere"]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "elsewhere"]);
    world.git(&world.repo(), &["push", "--quiet"]);
    world.git(&task.worktree(), &["merge", "--quiet", "--no-edit", "main"]);
}

#[test]
fn a_verdict_counts_for_the_work_it_was_given_to() {
    let world = World::new();
    let task = accepted(&world, "patch");
    let passed = &task.events_of("transition.started").pop().unwrap()["passed"][0];
    assert_eq!(passed["commit"], json!(world.git(&task.worktree(), &["rev-parse", "HEAD"])));
    assert!(passed["patch"].as_str().is_some_and(|it| it.len() == 16), "{passed}");
    commit(&world, &task, "second");
    commit(&world, &task, "third");
    let expect = "the verdict of `## Review` in TASK.md is of 2 commits ago";
    let refused = task.fails(1, "gate_failed", "update", &["--status", "done"]);
    assert!(refused.contains(expect) && refused.contains("let a review judge the present work"), "{refused}");
    assert!(task.fails(1, "gate_failed", "merge", &[]).contains(expect));
    let next = task.ok("next", &[]);
    let done = next.as_array().unwrap().iter().find(|next| next["to"] == "done").unwrap();
    assert!(done["missing"].as_str().unwrap().contains(expect), "{done}");
    assert!(task.show()["need"]["why"].as_str().unwrap().contains(expect), "{}", task.show());
    // A review judges it again.
    task.ok("update", &["--status", "working"]);
    task.write("## Review\n\nVerdict: PASS\n\nThat, too.");
    task.ok("update", &["--status", "ready"]);
    task.ok("merge", &[]);
    assert_eq!(task.status(), "done");
}

#[test]
fn a_clean_sync_keeps_a_verdict_about_the_patch() {
    let world = World::new();
    let task = accepted(&world, "patch");
    sync(&world, &task);
    assert!(!task.show()["need"]["why"].as_str().unwrap().contains("ago"), "{}", task.show());
    task.ok("merge", &[]);
    assert_eq!(task.status(), "done");
}

#[test]
fn a_sync_ends_a_verdict_about_the_commit() {
    let world = World::new();
    let task = accepted(&world, "commit");
    sync(&world, &task);
    let refused = task.fails(1, "gate_failed", "merge", &[]);
    assert!(refused.contains("is of 2 commits ago"), "{refused}");
}

#[test]
fn a_verdict_of_unknown_work_is_refused() {
    let world = World::new();
    let task = accepted(&world, "patch");
    let journal = task.folder().join("history.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let passed = &task.events_of("transition.started").pop().unwrap()["passed"][0];
    let known = ["commit", "patch"].map(|key| format!(",\"{key}\":{}", passed[key]));
    let older = known.iter().fold(text, |text, key| text.replace(key, ""));
    std::fs::write(&journal, older).unwrap();
    let refused = task.fails(1, "gate_failed", "merge", &[]);
    assert!(refused.contains("it is not known of which commit the verdict"), "{refused}");
}
