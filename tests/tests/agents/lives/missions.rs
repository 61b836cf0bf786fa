//! Missions of the workflow `dev-task`: each step by an agent of its own, with the prompts that ship.

use orange_tests::model::{ModelAct, Plan};
use serde_json::{Value, json};

use super::HarnessPair;
use crate::plans::{all_went_well, paint};
use crate::suite::LifeSuite;
use crate::task::Task;
use crate::world::World;

pub(super) const PROMPT: &str = "Paint the garden door";

/// Text in the first message of each step's agent, and of no other's.
const PLANS: &str = "You plan a change";
const IMPLEMENTS: &str = "You carry out a plan";
const REVIEWS: &str = "You review a change";
const FIXES: &str = "You fix what a review found";
const HANDS_OVER: &str = "You write down what is left";
const OPENS: &str = "You open its pull request";

/// The first review passes. In step mode the mission pauses after each step, until a person lets it go on by itself.
pub(super) fn pass_at_once(suite: &'static LifeSuite, pair: HarnessPair) {
    let world = World::new(suite);
    let plans = [
        begins(&world),
        reviews(&world, &[REVIEWS, "The door is green"], "PASS", "It is green all over"),
        step(&world, &[OPENS], None, "", "There is no remote that takes pull requests"),
    ];
    let mission = started(&world, pair, &["--execution", "step"]);
    mission.has_events(1, "mission.paused");
    assert_eq!(ran(&world, &mission), [1, 0, 0, 0, 0, 0]);
    world.ok(&["mission", "continue", &mission.id, "--pause", "1"]);
    mission.has_events(2, "mission.paused");
    assert_eq!(ran(&world, &mission), [1, 1, 0, 0, 0, 0]);
    world.ok(&["mission", "continue", &mission.id, "--pause", "2", "--execution", "auto"]);
    mission.has_events(1, "mission.ended");
    assert_eq!(mission.events_of("mission.ended")[0]["status"], "completed");
    for plan in plans {
        all_went_well(&world, plan);
    }
    assert_eq!(ran(&world, &mission), [1, 1, 1, 0, 1, 0]);
}

/// A review fails, the next one passes after a fix, and the mission is complete.
pub(super) fn fail_fix_pass(suite: &'static LifeSuite, pair: HarnessPair) {
    let world = World::new(suite);
    let plans = fails_once(&world);
    let mission = started(&world, pair, &[]);
    mission.has_events(1, "mission.ended");
    assert_eq!(mission.events_of("mission.ended")[0]["status"], "completed");
    for plan in plans {
        all_went_well(&world, plan);
    }
    assert_eq!(ran(&world, &mission), [1, 1, 2, 1, 1, 0]);
    world.until("the worktree is given back", || mission.owned("workspace") == Value::Null);
}

/// The plans of agents whose first review fails, and whose second one passes after a fix.
pub(super) fn fails_once(world: &World) -> [usize; 5] {
    [
        begins(world),
        reviews(world, &[REVIEWS], "FAIL", "The door has no second coat"),
        step(world, &[FIXES, "no second coat"], Some(paint("coat")), "", "It has a second coat"),
        reviews(world, &[REVIEWS, "It has a second coat"], "PASS", "Both coats are there"),
        step(world, &[OPENS], None, "", "There is no remote that takes pull requests"),
    ]
}

/// Every review fails: after the last fix the mission hands over to a person, and fails loudly.
pub(super) fn exhausted(suite: &'static LifeSuite, pair: HarnessPair) {
    let world = World::new(suite);
    begins(&world);
    reviews(&world, &[REVIEWS], "FAIL", "The door has no second coat");
    step(&world, &[FIXES], Some(paint("coat")), "", "It has another coat");
    let last = step(&world, &[HANDS_OVER], None, "", "The second coat is left");
    let mission = started(&world, pair, &["--intervene", "never"]);
    mission.has_events(1, "mission.ended");
    assert_eq!(mission.events_of("mission.ended")[0]["status"], "failed");
    all_went_well(&world, last);
    let shown = world.ok(&["mission", "show", &mission.id]);
    let fix = shown["steps"].as_array().unwrap().iter().find(|step| step["id"] == "fix").unwrap();
    assert_eq!(fix["loops"], json!({ "completions": 3, "max": 3, "is_exhausted": true }));
    assert!(shown["worktree"].is_string(), "it keeps its worktree");
}

/// Number of started attempts at each step.
fn ran(world: &World, mission: &Task) -> [usize; 6] {
    let shown = world.ok(&["mission", "show", &mission.id]);
    let steps = shown["steps"].as_array().unwrap();
    let is_started = |attempt: &&Value| attempt["started_at"].is_string();
    let attempts = |step: &Value| step["attempts"].as_array().unwrap().iter().filter(is_started).count();
    ["plan", "implement", "review", "fix", "pr", "hand-over"]
        .map(|id| steps.iter().find(|step| step["id"] == id).map(attempts).unwrap())
}

pub(super) fn started<'w>(
    world: &'w World,
    HarnessPair(works, reviews): HarnessPair,
    more: &[&str],
) -> Task<'w> {
    let harness = ["--branch", "paint", "--harness", works, "--review-harness", reviews];
    world.start("dev-task", PROMPT, &[&harness[..], more].concat())
}

/// The first two steps. Returns the plan of the second.
fn begins(world: &World) -> usize {
    step(world, &[PLANS, PROMPT], None, "", "Paint it green");
    step(world, &[IMPLEMENTS, "Paint it green"], Some(paint("door")), "", "The door is green")
}

/// A reviewer looks at the work and reports.
fn reviews(world: &World, marks: &[&str], result: &str, summary: &str) -> usize {
    let look = ModelAct::run("git log --oneline -3");
    step(world, marks, Some(look), &format!("--result {result} "), summary)
}

/// The agent of a step: does this, and reports as its prompt says.
fn step(world: &World, marks: &[&str], does: Option<ModelAct>, result: &str, summary: &str) -> usize {
    let report = ModelAct::run(format!("orange step complete {result}--summary - <<'END'\n{summary}\nEND"));
    world.plan(Plan::new(marks, does.into_iter().chain([report]).collect()))
}
