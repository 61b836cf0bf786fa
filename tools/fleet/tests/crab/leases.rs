//! Leases that are lost, and gateways that do not answer.

use crate::runs::CLAIM;
use crate::world::{World, until};

#[test]
fn a_lost_lease_ends_the_agent_and_keeps_its_work() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "echo half >half.txt; git commit --quiet --allow-empty -m More; touch \"$notes.ready\"; exec sleep 100000");
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/start", 1);
    until("the agent has worked", || !crab.notes("ready").is_empty());
    world.gateway.script().lost.insert("m.plan.1".to_owned());
    crab.is_idle();
    let mission = crab.mission();
    assert_eq!(mission["status"], "cancelled");
    assert_eq!(mission["agents"].as_array().map(Vec::len), Some(0));
    assert_eq!(crab.refs("refs/orange/backup").len(), 1);
    assert_eq!((world.origin("m/one"), world.origin(CLAIM)), (None, None));
    assert!(world.gateway.called("/v1/runs/complete").is_empty());
    let shown = world.gateway.called("/v1/runs/m.plan.1/diff");
    assert!(shown[0].as_str().unwrap().contains("+++ b/half.txt\n@@ -0,0 +1 @@\n+half\n"), "{shown:?}");
    assert_eq!(world.gateway.called("/v1/runs/m.plan.1/transcript").len(), 1);
    // The crab has work again.
    crab.acts("plan", "complete PASS \"$(ls half.txt 2>&1)\"");
    world.gateway.assign(world.attempt("plan", 2));
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert!(done["summary"].as_str().unwrap().contains("No such file"), "{done}");
    crab.is_idle();
    // The commits of the lost attempt are kept, too.
    assert_eq!(crab.refs("refs/orange-fleet/kept").len(), 1);
}

#[test]
fn an_attempt_that_is_refused_at_its_start_is_lost() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "exec sleep 100000");
    world.gateway.script().refusals.push_back(("/start", 409, "attempt 2 is current"));
    world.gateway.assign(world.attempt("plan", 1));
    until("the start is refused", || world.gateway.script().refusals.is_empty());
    crab.is_idle();
    assert_eq!(crab.mission()["status"], "cancelled");
}

#[test]
fn an_agent_works_on_while_the_gateway_is_away() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "until_end; commit; complete PASS patient");
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/start", 1);
    crab.has_agent();
    world.gateway.script().is_down = true;
    let mission = crab.mission()["run_id"].as_str().unwrap().to_owned();
    std::fs::write(crab.home().join(format!("orange/agents/{mission}.1.end")), "").unwrap();
    until("the agent has reported", || crab.mission()["steps"][0]["status"] == "completed");
    // Nothing is pushed as long as nobody says whose turn it is.
    assert_eq!(world.origin("m/one"), None);
    world.gateway.script().is_down = false;
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!(done["summary"], "patient");
    assert_eq!(done["commit"].as_str(), world.origin("m/one").as_deref());
    crab.is_idle();
    assert_eq!(crab.notes("pid").len(), 1);
}

#[test]
fn a_crab_that_is_not_known_registers_again() {
    let world = World::new();
    let _crab = world.crab("atlas", &[]);
    world.gateway.heard("/v1/crabs/register", 1);
    world.gateway.script().refusals.push_back(("/poll", 404, "there is no such crab"));
    world.gateway.heard("/v1/crabs/register", 2);
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/complete", 1);
}

#[test]
fn a_crab_whose_role_is_taken_ends_with_the_reason() {
    let world = World::new();
    let taken = "role 'worker' is already taken in this colony by crab 'atlas-id'";
    world.gateway.script().refusals.push_back(("/register", 400, taken));
    let mut crab = world.crab("atlas", &[]);
    assert_eq!(crab.gone(), Some(2));
    let log = std::fs::read_to_string(crab.home().join("crab.log")).unwrap();
    assert!(log.contains(taken), "{log}");
}

#[test]
fn a_crab_leaves_with_its_work_backed_up() {
    let world = World::new();
    let mut crab = world.crab("atlas", &[]);
    crab.acts("plan", "echo half >half.txt; touch \"$notes.ready\"; exec sleep 100000");
    world.gateway.assign(world.attempt("plan", 1));
    until("the agent has worked", || !crab.notes("ready").is_empty());
    crab.kill();
    let mut leaving = world.crab("atlas", &["--leave"]);
    assert_eq!(leaving.gone(), Some(0));
    assert_eq!(crab.refs("refs/orange/backup").len(), 1);
    assert!(world.gateway.script().calls.iter().any(|(_, body)| body == "delete"));
}
