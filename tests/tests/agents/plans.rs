//! Plans of agents for a task when all goes well, and the record that must be there of it then.

use orange_tests::model::{Exchange, ModelAct, Plan};

use crate::task::Task;
use crate::world::World;

/// Handoff of a worker.
const HANDOFF: &str =
    "## Handoff\n\nDONE: the door is painted\nREMAINING: nothing\nDECISIONS: green\nUNCERTAIN: nothing";

/// A command that does work and commits it.
pub(crate) fn paint(what: &str) -> ModelAct {
    ModelAct::run(format!(
        "echo painted >> {what}.txt && git add {what}.txt && git commit --quiet --message 'Paint it'"
    ))
}

/// The worker of `default` and `minimal`: reads, works, hands over, and asks for this status.
pub(crate) fn worker(world: &World, summary: &str, next: &str) -> usize {
    let ask = ModelAct::orange(format!("task update --status {next}"));
    let acts = vec![ModelAct::read("TASK.md"), paint("door"), ModelAct::extend("TASK.md", HANDOFF), ask];
    world.plan(Plan::new(&[&format!("# Task: {summary}")], acts))
}

/// A worker that starts again after a failed review.
pub(crate) fn fixer(world: &World, summary: &str) -> usize {
    let ask = ModelAct::orange("task update --status agent-review");
    let handoff = ModelAct::edit("TASK.md", "DECISIONS: green", "DECISIONS: blue, as the review wants it");
    let acts = vec![ModelAct::read("TASK.md"), paint("window"), handoff, ask];
    world.plan(Plan::new(&[&format!("# Fixing Issues: {summary}")], acts))
}

/// The reviewer of one round: reads, looks at the diff, writes its verdict, and asks for this status.
pub(crate) fn reviewer(world: &World, summary: &str, round: u32, verdict: &str, next: &str) -> usize {
    let review = format!("## Review\n\nVerdict: {verdict}\n\nRound {round}: looked at it.");
    let write = match round {
        1 => ModelAct::extend("TASK.md", review),
        _ => {
            let verdict = format!("Verdict: {verdict}\n\nRound {round}: looked at it.");
            ModelAct::edit("TASK.md", "Verdict: FAIL\n\nRound 1: looked at it.", verdict)
        }
    };
    let ask = ModelAct::orange(format!("task update --status {next}"));
    let acts = vec![ModelAct::read("TASK.md"), ModelAct::quoted("git diff "), write, ask];
    // Only reviewers are told to look at a diff.
    world.plan(Plan::new(&[summary, "git diff ", &format!("Review round: {round}")], acts))
}

/// Asserts that every tool did what it was asked to, and gives what each answered. The last one may have been ended by
/// its own success.
#[track_caller]
pub(crate) fn all_went_well(world: &World, plan: usize) -> Vec<Exchange> {
    let exchanges = world.report(plan).exchanges;
    for (place, exchange) in exchanges.iter().enumerate() {
        let is_last = place + 1 == exchanges.len();
        assert!(!exchange.is_error && (is_last || exchange.answer.is_some()), "plan {plan}: {exchange:#?}");
    }
    exchanges
}

/// Asserts that a plan was followed to its end, and that the agent's own tools saw and changed `TASK.md`.
#[track_caller]
pub(crate) fn came_through(world: &World, plan: usize, summary: &str) {
    let exchanges = all_went_well(world, plan);
    assert_eq!(exchanges.len(), 4, "plan {plan}: {exchanges:#?}");
    let read = exchanges[0].answer.as_deref().unwrap_or_default();
    assert!(read.contains(summary) && read.contains("workflow: "), "{read}");
}

/// Asserts that what agents wrote into `TASK.md` is in the store's.
#[track_caller]
pub(crate) fn is_written(task: &Task<'_>, texts: &[&str]) {
    let text = task.text();
    assert!(texts.iter().all(|wanted| text.contains(wanted)), "{texts:?} are not all in\n{text}");
}
