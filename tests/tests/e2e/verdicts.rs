//! Sections with other verdicts than PASS and FAIL.

use crate::task::{Task, kill};
use crate::world::World;

/// A review passes the work, sends it back, or asks a person.
const DISCUSSED: &str = "\
name: discussed
states: {pending: {}, reviewing: {respawn_prompt: reviewer}, asking: {wait: human}, done: {terminal: true}}
gates:
  passed: {section: '## Review', verdict: PASS, verdicts: [PASS, FAIL, DISCUSS], strict: true, fresh: true}
  open: {section: '## Review', verdict: DISCUSS, strict: true, fresh: true}
transitions:
  - {from: pending, to: reviewing, hooks: [{action: acquire_workspace}, {action: spawn_reviewer, prompt: reviewer}]}
  - {from: reviewing, to: done, gate: passed, hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: reviewing, to: asking, gate: open, hooks: [{action: kill_session}]}
  - {from: asking, to: done, by: human, hooks: [{action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: reviewing, has_artifact: passed, then: done}
    - {status: reviewing, has_artifact: open, then: asking}
    - {status: reviewing, no_artifact: true, action: mark_dead}
prompts:
  reviewer: '{summary}'
";

fn reviewed(world: &World) -> Task<'_> {
    world.workflow("discussed.yml", DISCUSSED);
    world.create("fix", "Look at it [agents: hang hang]", &["--workflow", "discussed"])
}

fn body(task: &Task<'_>) -> String {
    std::fs::read_to_string(task.copy()).unwrap()
}

#[test]
fn a_third_verdict_leads_where_its_gate_says() {
    let world = World::new();
    let task = reviewed(&world);
    let reviewer = task.agent(1).begun();
    task.write("## Review\n\nVerdict: DISCUSS\n\nIs this in scope?");
    let refused = task.asks("reviewer", 1, "done").fails(1, "gate_failed");
    let words = "the verdict of `## Review` in TASK.md is DISCUSS, and this needs PASS";
    assert!(refused.contains(words), "{refused}");
    kill(reviewer);
    task.reaches("asking");
    task.ok("update", &["--status", "done"]);
}

#[test]
fn the_engine_writes_the_verdicts_of_the_section_alone() {
    let world = World::new();
    let task = reviewed(&world);
    task.agent(1).begun();
    let judge = |verdict: &str| {
        let mut command = task.as_agent("reviewer", "1");
        command.current_dir(task.worktree()).args(["task", "verdict", verdict, "Is this in scope?"]);
        world.said(&mut command)
    };
    let before = body(&task);
    let refused = judge("MAYBE").fails(2, "usage");
    assert!(refused.contains("PASS or FAIL or DISCUSS"), "{refused}");
    assert_eq!(body(&task), before);
    assert_eq!(judge("discuss").ok()["verdict"], "DISCUSS");
    assert!(body(&task).contains("## Review\n\nVerdict: DISCUSS\n\nIs this in scope?"), "{}", body(&task));
    task.asks_its_last("reviewer", 1, "asking");
}
