//! Steps that cannot start on this machine go back, with the reason; one that could not start on any machine fails.

use serde_json::Value;

use crate::world::{TestCrab, World};

/// A crab gives this attempt back for this reason, and registers again.
#[track_caller]
fn check<'w>(world: &'w World, more: &[&str], attempt: Value, reason: &str) -> TestCrab<'w> {
    let crab = world.crab("atlas", more);
    world.gateway.assign(attempt);
    let back = world.gateway.heard("/v1/runs/give-back", 1);
    assert!(back["reason"].as_str().unwrap().contains(reason), "{back}");
    assert_eq!(back["run_id"], "m.plan.1");
    world.gateway.heard("/v1/crabs/register", 2);
    assert!(!crab.home().join("job.json").exists());
    assert!(world.gateway.called("/v1/runs/start").is_empty());
    assert!(world.gateway.called("/v1/runs/complete").is_empty());
    crab
}

#[test]
fn a_harness_that_is_missing() {
    let world = World::new();
    let mut attempt = world.attempt("plan", 1);
    attempt["harness"] = "codex".into();
    let _crab = check(&world, &[], attempt, "codex");
    // The crab takes another step.
    world.gateway.assign(world.attempt("plan", 2));
    world.gateway.heard("/v1/runs/complete", 1);
}

#[test]
fn what_comes_back_is_given_back_again() {
    let world = World::new();
    let mut attempt = world.attempt("plan", 1);
    attempt["harness"] = "codex".into();
    let _crab = check(&world, &[], attempt.clone(), "codex");
    world.gateway.assign(attempt);
    world.gateway.heard("/v1/runs/give-back", 2);
    let keys: Vec<_> =
        world.gateway.called("/v1/runs/give-back").iter().map(|it| it["key"].clone()).collect();
    assert!(keys[0].is_string() && keys[0] != keys[1], "the gateway would take {keys:?} once");
}

#[test]
fn a_remote_that_git_cannot_reach() {
    let world = World::new();
    let mut attempt = world.attempt("plan", 1);
    attempt["repository"] = "/no/such/repository".into();
    check(&world, &[], attempt, "/no/such/repository");
}

/// A fault that every crab would find fails the mission, and the crab takes the next step at once.
#[track_caller]
fn fails(world: &World, attempt: Value, reason: &str) {
    let _crab = world.crab("atlas", &[]);
    world.gateway.assign(attempt);
    let failed = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!((&failed["run_id"], &failed["status"]), (&"m.plan.1".into(), &"failed".into()));
    assert!(failed["summary"].as_str().unwrap().contains(reason), "{failed}");
    world.gateway.assign(world.attempt("plan", 2));
    assert_eq!(world.gateway.heard("/v1/runs/complete", 2)["status"], "completed");
    assert!(world.gateway.called("/v1/runs/give-back").is_empty());
    assert_eq!(world.gateway.called("/v1/crabs/register").len(), 1);
}

#[test]
fn a_mission_on_the_default_branch_fails() {
    let world = World::new();
    let mut attempt = world.attempt("plan", 1);
    attempt["branch"] = "main".into();
    fails(&world, attempt, "the mission is on `main`, the branch that work starts from");
}

#[test]
fn a_mission_whose_base_is_not_there_fails() {
    let world = World::new();
    let mut attempt = world.attempt("plan", 1);
    attempt["base"] = "next".into();
    fails(&world, attempt, "no branch `next`");
}

#[test]
fn a_repository_without_a_commit() {
    let world = World::new();
    world.git(".", &["init", "--quiet", "--bare", "--initial-branch", "trunk", "new.git"]);
    let mut attempt = world.attempt("plan", 1);
    attempt["repository"] = world.path("new.git").to_str().into();
    let _crab = world.crab("atlas", &[]);
    world.gateway.assign(attempt.clone());
    let failed = world.gateway.heard("/v1/runs/complete", 1);
    assert!(failed["summary"].as_str().unwrap().contains("no commit to start from"), "{failed}");
    // The crab takes the next attempt when there is one.
    world.git("seed", &["push", "--quiet", "../new.git", "main:trunk"]);
    attempt["run_id"] = "m.plan.2".into();
    attempt["attempt"] = 2.into();
    world.gateway.assign(attempt);
    assert_eq!(world.gateway.heard("/v1/runs/complete", 2)["status"], "completed");
}

#[test]
fn a_disk_that_is_full() {
    let world = World::new();
    check(
        &world,
        &["--least-free-mb", "1000000000"],
        world.attempt("plan", 1),
        "MB left, less than 1000000000",
    );
}

#[test]
fn an_agent_that_would_ask_before_it_works() {
    let world = World::new();
    std::fs::write(world.path("home/.claude.json"), "{}").unwrap();
    check(&world, &[], world.attempt("plan", 1), "claude is not logged in");
}
