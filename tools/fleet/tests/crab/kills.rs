//! A crab that is killed at every call that it makes, and in the middle of an attempt.

use crate::runs::CLAIM;
use crate::world::World;

/// Kills the crab when it makes this call, before the call is answered, and starts it again.
#[track_caller]
fn check(path: &'static str) {
    let world = World::new();
    let mut crab = world.crab("atlas", &[]);
    world.gateway.heard("/v1/crabs/register", 1);
    world.gateway.script().kill = Some((path, crab.pid()));
    world.gateway.assign(world.attempt("plan", 1));
    crab.gone();
    crab.start();
    world.gateway.heard("/v1/runs/complete", 1);
    crab.is_idle();
    let reports = world.gateway.called("/v1/runs/complete");
    assert!(reports.iter().all(|it| *it == reports[0]), "{reports:?}");
    assert_eq!(reports[0]["commit"].as_str(), world.origin("m/one").as_deref());
    assert_eq!(crab.notes("pid").len(), 1, "the step was run once");
    assert_eq!(world.origin(CLAIM), None);
    assert_eq!(crab.mission()["status"], "cancelled");
}

#[test]
fn a_crab_killed_when_it_gets_work_does_it_once() {
    check("/poll");
}

#[test]
fn a_crab_killed_at_a_heartbeat_goes_on() {
    check("/heartbeat");
}

#[test]
fn a_crab_killed_when_it_reports_the_start_goes_on() {
    check("/start");
}

#[test]
fn a_crab_killed_when_it_reports_the_end_reports_it_again() {
    check("/complete");
}

#[test]
fn an_agent_goes_on_without_its_crab() {
    let world = World::new();
    let mut crab = world.crab("atlas", &[]);
    crab.acts("plan", "until_end; commit; complete PASS alone");
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/start", 1);
    crab.has_agent();
    crab.kill();
    let mission = crab.mission()["run_id"].as_str().unwrap().to_owned();
    std::fs::write(crab.home().join(format!("orange/agents/{mission}.1.end")), "").unwrap();
    crate::world::until("the agent has reported", || crab.mission()["steps"][0]["status"] == "completed");
    crab.start();
    assert_eq!(world.gateway.heard("/v1/runs/complete", 1)["summary"], "alone");
    crab.is_idle();
    let starts = world.gateway.called("/v1/runs/start");
    assert!(starts.iter().all(|it| *it == starts[0]), "{starts:?}");
    assert_eq!(crab.notes("pid").len(), 1);
}

#[test]
fn a_lease_lost_while_the_crab_was_dead_ends_the_agent() {
    let world = World::new();
    let mut crab = world.crab("atlas", &[]);
    crab.acts("plan", "exec sleep 100000");
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/start", 1);
    crab.kill();
    world.gateway.script().lost.insert("m.plan.1".to_owned());
    crab.start();
    crab.is_idle();
    assert_eq!(crab.mission()["status"], "cancelled");
    assert_eq!(world.origin("m/one"), None);
}

#[test]
fn a_mission_without_a_job_is_ended() {
    let world = World::new();
    let mut crab = world.crab("atlas", &[]);
    crab.acts("plan", "exec sleep 100000");
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/start", 1);
    crab.kill();
    std::fs::remove_file(crab.home().join("job.json")).unwrap();
    crab.start();
    world.gateway.heard("/v1/crabs/register", 2);
    crate::world::until("the mission is over", || crab.mission()["worktree"].is_null());
}
