//! The workflows that ship, from the first prompt to a person's review, unattended.

use std::fs;

use orange_tests::model::{ModelAct, Plan};

use super::HarnessPair;
use crate::plans::{all_went_well, came_through, fixer, is_written, paint, reviewer, worker};
use crate::record;
use crate::suite::LifeSuite;
use crate::world::World;

const SUMMARY: &str = "Paint the garden door";

/// A worker hands over, a reviewer passes it.
pub(super) fn default(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    let world = World::new(suite);
    let (worker, reviewer) =
        (worker(&world, SUMMARY, "agent-review"), reviewer(&world, SUMMARY, 1, "PASS", "reviewing"));
    let task = world.create("paint", SUMMARY, &["--harness", works, "--review-harness", reviews]);
    task.reaches("reviewing");
    assert_eq!(task.path(), ["working", "agent-review", "reviewing"]);
    came_through(&world, worker, SUMMARY);
    came_through(&world, reviewer, SUMMARY);
    is_written(&task, &["DONE: the door is painted", "Verdict: PASS"]);
    let diff = all_went_well(&world, reviewer)[1].answer.clone().unwrap_or_default();
    assert!(diff.contains("+painted"), "the reviewer saw no diff: {diff}");
    for (plan, harness, role) in [(worker, works, "worker"), (reviewer, reviews, "reviewer")] {
        let report = world.report(plan);
        let length = |exchange: &orange_tests::model::Exchange| {
            exchange.input.to_string().len() + exchange.answer.as_deref().unwrap_or_default().len()
        };
        // What it did for its own work is not ours.
        let ours = report.exchanges.iter().filter(|exchange| exchange.act != 1).map(length).sum::<usize>();
        record::cost(harness, role, report.prompt.len() + ours, report.requests);
    }
}

/// A worker hands over to a person. By its own tools it reads `TASK.md`, writes it whole, edits it and reads it again; both copies
/// have all of it, and what people wrote meanwhile.
pub(super) fn minimal(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::new(suite);
    let acts = vec![
        ModelAct::read("TASK.md"),
        ModelAct::append("TASK.md", "## Notes\n\nWritten whole"),
        ModelAct::read("TASK.md"),
        ModelAct::edit("TASK.md", "Written whole", "Written whole, then edited"),
        paint("door"),
        ModelAct::hold("a person"),
        ModelAct::read("TASK.md"),
        ModelAct::extend("TASK.md", "## Handoff\n\nDONE: all"),
        ModelAct::orange("task update --status reviewing"),
    ];
    let plan = world.plan(Plan::new(&[&format!("# Task: {SUMMARY}")], acts));
    let task = world.create("paint", SUMMARY, &["--workflow", "minimal", "--harness", works]);
    world.until_held("a person");
    let noted = "Written whole, then edited";
    world.until("the store has it", || task.text().contains(noted));
    let store = task.file();
    fs::write(&store, task.text() + "\n## Context\n\nThe door is round.\n").unwrap();
    world.ok(&["monitor", "--once"]);
    let copy = fs::read_to_string(task.worktree().join("TASK.md")).unwrap();
    assert!(copy.contains("The door is round."), "{copy}");
    world.model.open("a person");
    task.reaches("reviewing");
    let exchanges = all_went_well(&world, plan);
    let tools: Vec<_> = exchanges.iter().map(|exchange| exchange.tool.as_str()).collect();
    let expect: &[&str] = match works {
        "claude" => &["Read", "Write", "Read", "Edit", "Bash", "Read", "Edit", "Bash"],
        "codex" => &["exec_command"; 8],
        _ => &["read", "write", "read", "edit", "bash", "read", "edit", "bash"],
    };
    assert_eq!(tools, expect);
    let read = exchanges[5].answer.clone().unwrap_or_default();
    assert!(read.contains(noted) && read.contains("The door is round."), "{read}");
    let all = [noted, "The door is round.", "DONE: all"];
    let worktree = fs::read_to_string(task.worktree().join("TASK.md")).unwrap();
    for (place, text) in [("the store", task.text()), ("the worktree", worktree)] {
        assert!(all.iter().all(|wanted| text.contains(wanted)), "{place}: {text}");
    }
    assert!(world.git(&task.worktree(), &["log", "--format=%s", "paint"]).contains("Paint it"));
}

/// A reviewer finds fault, another worker mends it, a second reviewer passes it.
pub(super) fn fail_fix_pass(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    let world = World::new(suite);
    let plans = [
        worker(&world, SUMMARY, "agent-review"),
        reviewer(&world, SUMMARY, 1, "FAIL", "working"),
        fixer(&world, SUMMARY),
        reviewer(&world, SUMMARY, 2, "PASS", "reviewing"),
    ];
    let task = world.create("paint", SUMMARY, &["--harness", works, "--review-harness", reviews]);
    task.reaches("reviewing");
    assert_eq!(task.path(), ["working", "agent-review", "working", "agent-review", "reviewing"]);
    for plan in plans {
        came_through(&world, plan, SUMMARY);
    }
    is_written(&task, &["DECISIONS: blue", "Verdict: PASS", "Round 2"]);
}

/// One worker plans, works, gets the message of a failed review, and lives until a person has decided.
pub(super) fn persistent(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    let world = World::new(suite);
    let (works_first, others) = persistent_plans(&world, SUMMARY);
    let options = ["--workflow", "persistent", "--harness", works, "--review-harness", reviews];
    let task = world.create("paint", SUMMARY, &options);
    task.reaches("reviewing");
    assert_eq!(task.path(), PERSISTENT_PATH);
    assert_eq!(all_went_well(&world, works_first).len(), 7);
    for plan in others {
        came_through(&world, plan, SUMMARY);
    }
    is_written(&task, &["APPROACH: with a brush", "DECISIONS: blue", "Verdict: PASS"]);
    let workers = task.events_of("agent.spawned").iter().filter(|event| event["actor"] == "worker").count();
    assert_eq!(workers, 1, "the first worker lives through all of it");
    task.ok("cancel", &["--yes"]);
    task.reaches("cancelled");
}

/// States of a task of `persistent` whose first review fails.
pub(super) const PERSISTENT_PATH: [&str; 6] =
    ["planning", "working", "agent-review", "working", "agent-review", "reviewing"];

/// The plans for such a task: that of the worker, then those of its fix and of the two reviews.
pub(super) fn persistent_plans(world: &World, summary: &str) -> (usize, [usize; 3]) {
    let planned = "## Plan\n\nAPPROACH: with a brush\nTOUCHING: the door";
    let handoff = "## Handoff\n\nDONE: all\nREMAINING: nothing\nDECISIONS: green\nUNCERTAIN: nothing";
    let acts = vec![
        ModelAct::read("TASK.md"),
        ModelAct::extend("TASK.md", planned),
        ModelAct::orange("task update --status working"),
        paint("door"),
        ModelAct::read("TASK.md"),
        ModelAct::extend("TASK.md", handoff),
        ModelAct::orange("task update --status agent-review"),
    ];
    let works_first = world.plan(Plan::new(&[&format!("# Task: {summary}")], acts));
    let acts = vec![
        ModelAct::read("TASK.md"),
        paint("window"),
        ModelAct::edit("TASK.md", "DECISIONS: green", "DECISIONS: blue, as the review wants it"),
        ModelAct::orange("task update --status agent-review"),
    ];
    let fixes = world.plan(Plan::new(&["The review failed"], acts).within(&[summary]));
    let finds_fault = reviewer(world, summary, 1, "FAIL", "working");
    let passes = reviewer(world, summary, 2, "PASS", "reviewing");
    (works_first, [fixes, finds_fault, passes])
}
