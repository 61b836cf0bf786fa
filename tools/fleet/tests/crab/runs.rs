//! An attempt from its assignment to its report.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::world::{World, orange, text};

/// The claim of the branch that attempts have.
pub(crate) const CLAIM: &str = "refs/orange-fleet/claims/m/one";

#[test]
fn an_attempt_is_run_pushed_and_reported() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    world.gateway.assign(world.attempt("plan", 1));
    let started = world.gateway.heard("/v1/runs/start", 1);
    let worktree = started["worktree_path"].as_str().unwrap().to_owned();
    assert_eq!(started["run_id"], "m.plan.1");
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!((&done["status"], &done["result"]), (&json!("completed"), &json!("PASS")));
    assert_eq!((&done["summary"], &done["warning"]), (&json!("plan is done"), &Value::Null));
    assert_eq!(done["commit"].as_str(), world.origin("m/one").as_deref());
    crab.is_idle();
    assert_eq!(world.origin(CLAIM), None);
    assert_eq!(crab.notes("prompt"), [format!("In {worktree}: {{{{step}}}} it")]);
    assert!(worktree.starts_with(&crab.home().display().to_string()), "{worktree}");
    let mission = crab.mission();
    assert_eq!((&mission["status"], &mission["worktree"]), (&json!("cancelled"), &Value::Null));
    // Everything is on the remote, so that nothing is backed up, and no branch is left.
    assert_eq!(crab.refs("refs/orange"), Vec::<String>::new());
    assert_eq!(crab.refs("refs/heads"), ["refs/heads/main"]);
    let registered = world.gateway.heard("/v1/crabs/register", 1);
    assert_eq!((&registered["roles"], &registered["name"]), (&json!(["worker"]), &json!("atlas")));
}

#[test]
fn a_crab_says_whether_it_can_make_walls() {
    let world = World::new();
    let broken = world.path("agents/bwrap");
    std::fs::write(&broken, "#!/bin/sh\necho 'no permissions' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    let without = world.crab("atlas", &[]);
    assert_eq!(world.gateway.heard("/v1/crabs/register", 1)["abilities"], json!(["gates"]));
    drop(without);
    std::fs::remove_file(&broken).unwrap();
    let examined = world.command(orange()).args(["doctor", "--wall"]).output().unwrap();
    let expect = if examined.status.success() { json!(["gates", "wall"]) } else { json!(["gates"]) };
    let crab = world.crab("coral", &[]);
    assert_eq!(world.gateway.heard("/v1/crabs/register", 2)["abilities"], expect);
    crab.is_idle();
}

#[test]
fn uncommitted_work_reaches_the_next_crab() {
    let world = World::new();
    let mut first = world.crab("atlas", &[]);
    first.acts(
        "plan",
        "echo left >left.txt; mkdir -p deep/er; echo more >deep/er/more.txt; complete PASS planned",
    );
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/complete", 1);
    first.is_idle();
    first.kill();
    let second = world.crab("coral", &[]);
    second.acts(
        "implement",
        "cat deep/er/more.txt left.txt >both.txt; complete PASS \"$(git log --format=%s -1)\"",
    );
    world.gateway.assign(world.attempt("implement", 1));
    let done = world.gateway.heard("/v1/runs/complete", 2);
    assert_eq!(done["summary"], "Uncommitted work of step plan, attempt 1");
    second.is_idle();
    assert_eq!(world.origin_file("m/one", "both.txt").as_deref(), Some("more\nleft\n"));
}

#[test]
fn an_agent_gets_the_number_that_its_attempt_has_in_the_fleet() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "complete PASS \"attempt $ORANGE_ATTEMPT\"");
    world.gateway.assign(world.attempt("plan", 3));
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!((&done["status"], &done["summary"]), (&json!("completed"), &json!("attempt 3")));
    crab.is_idle();
}

#[test]
fn a_failed_step_says_why_and_its_work_is_pushed() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts(
        "plan",
        "echo half >half.txt; orange step fail --reason 'it does not build'; exec sleep 100000",
    );
    world.gateway.assign(world.attempt("plan", 1));
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!((&done["status"], &done["summary"]), (&json!("failed"), &json!("it does not build")));
    crab.is_idle();
    assert_eq!(world.origin_file("m/one", "half.txt").as_deref(), Some("half\n"));
}

#[test]
fn an_agent_that_ends_without_a_word_is_started_again() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "exit 3");
    world.gateway.assign(world.attempt("plan", 1));
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!(done["status"], "failed");
    assert_eq!(done["summary"], "its agent ended without a word 2 times in a row");
    assert_eq!(crab.notes("pid").len(), 2);
    assert_eq!(world.gateway.called("/v1/runs/start").len(), 1);
}

#[test]
fn a_result_that_is_needed_is_asked_for() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("review", "orange step complete --summary no >>\"$notes.answers\" 2>&1; complete GO yes");
    let mut attempt = world.attempt("review", 1);
    attempt["needs_result"] = true.into();
    world.gateway.assign(attempt);
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!((&done["result"], &done["summary"]), (&json!("GO"), &json!("yes")));
    assert!(crab.notes("answers").concat().contains("a result is missing"));
}

#[test]
fn a_report_that_the_plan_does_not_take_is_a_failure() {
    let world = World::new();
    let _crab = world.crab("atlas", &[]);
    world.gateway.script().refusals.push_back(("/complete", 400, "`PASS` is not a result of plan"));
    world.gateway.assign(world.attempt("plan", 1));
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!(done["status"], "failed");
    assert!(done["summary"].as_str().unwrap().ends_with("`PASS` is not a result of plan"), "{done}");
}

#[test]
fn complete_run_reports_for_scripts() {
    let world = World::new();
    let words =
        ["complete-run", "--run-id", "m.plan.1", "--status", "completed", "--summary", "-Done", "--result"];
    let said = world.fleet(&[&words[..], &["PASS"]].concat());
    assert!(said.status.success(), "{}", text(&said.stderr));
    let mut done = world.gateway.heard("/v1/runs/complete", 1);
    assert!(done["key"].take().is_string());
    let expect = json!({ "run_id": "m.plan.1", "status": "completed", "summary": "-Done", "result": "PASS", "key": null });
    assert_eq!(done, expect);
    world.gateway.script().refusals.push_back(("/complete", 409, "the attempt is over"));
    let said = world.fleet(&[&words[..], &["FAIL"]].concat());
    assert_eq!((said.status.code(), text(&said.stderr).trim()), (Some(1), "error: the attempt is over"));
}

#[test]
fn an_attempt_is_reported_though_its_texts_are_not_taken() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "echo 'I look'; commit; complete PASS done");
    for (path, status) in
        [("/transcript", 503), ("/transcript", 503), ("/transcript", 503), ("/transcript", 503)]
    {
        world.gateway.script().refusals.push_back((path, status, "not now"));
    }
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/complete", 1);
    crab.is_idle();
    let left = world.gateway.script().refusals.len();
    assert!((1..=3).contains(&left), "it was sent {} times", 4 - left);
    world.gateway.script().refusals = [("/diff", 404, "there is nothing at this path"); 4].into();
    world.gateway.assign(world.attempt("plan", 2));
    world.gateway.heard("/v1/runs/complete", 2);
    crab.is_idle();
    assert_eq!(world.gateway.script().refusals.len(), 3);
    assert_eq!(world.gateway.called("/v1/runs/m.plan.2/transcript").len(), 1);
}
