//! Tests of pushes: the state in which an agent leaves its worktree, and pushes of others.

use serde_json::json;

use crate::runs::CLAIM;
use crate::world::{World, until};

/// Runs one step with this script, and gives its report.
fn report(world: &World, script: &str) -> serde_json::Value {
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", script);
    world.gateway.assign(world.attempt("plan", 1));
    let done = world.gateway.heard("/v1/runs/complete", 1);
    crab.is_idle();
    done
}

#[test]
fn an_agent_that_pushes_itself_is_no_stranger() {
    let world = World::new();
    let script =
        "commit; git push --quiet origin HEAD; git commit --quiet --amend -m Again; complete PASS done";
    let done = report(&world, script);
    assert_eq!(done["status"], "completed");
    assert_eq!(done["commit"].as_str(), world.origin("m/one").as_deref());
    assert_eq!(world.git("toy.git", &["log", "--format=%s", "m/one"]), "Again\nBegin");
}

#[test]
fn what_the_remote_will_never_take_fails_at_once() {
    let world = World::new();
    let hook = world.path("toy.git/hooks/update");
    std::fs::write(&hook, "#!/bin/sh\ncase $1 in refs/heads/*) echo 'signed commits only'; exit 1;; esac\n")
        .unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let done = report(&world, "commit; complete PASS done");
    assert_eq!(done["status"], "failed");
    let why = done["summary"].as_str().unwrap();
    assert!(why.contains("signed commits only") && why.contains("refs/orange-fleet/kept/"), "{why}");
    assert_eq!(world.origin("m/one"), None);
}

#[test]
fn what_is_in_the_way_in_the_clone_fails_soon() {
    let hook = r#"hooks="$(git rev-parse --git-common-dir)/hooks"; echo 'echo "tests fail"; exit 1' >"$hooks/pre-push"; chmod +x "$hooks/pre-push""#;
    let lock = r#"echo more >more.txt; : >"$(git rev-parse --git-path index.lock)""#;
    for (script, part) in [(hook, "tests fail"), (lock, "index.lock': File exists")] {
        let world = World::new();
        let done = report(&world, &format!("commit; {script}; complete PASS done"));
        assert_eq!(done["status"], "failed");
        let why = done["summary"].as_str().unwrap();
        assert!(why.starts_with("the crab atlas cannot push m/one: ") && why.contains(part), "{why}");
        assert_eq!((world.origin("m/one"), world.origin(CLAIM)), (None, None));
    }
}

#[test]
fn a_remote_that_an_agent_has_changed_is_set_right() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "git remote set-url origin /nonexistent; exec sleep 100000");
    world.gateway.assign(world.attempt("plan", 1));
    crab.has_agent();
    world.gateway.script().lost.insert("m.plan.1".to_owned());
    crab.is_idle();
    crab.acts("plan", "commit; complete PASS done");
    world.gateway.assign(world.attempt("plan", 2));
    assert_eq!(world.gateway.heard("/v1/runs/complete", 1)["status"], "completed");
}

#[test]
fn a_branch_that_somebody_else_has_changed_is_left_alone() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "commit; until_end; complete PASS done");
    world.gateway.assign(world.attempt("plan", 1));
    crab.has_agent();
    world.push_as_another("m/one", "other.txt");
    let theirs = world.origin("m/one");
    let mission = crab.mission()["run_id"].as_str().unwrap().to_owned();
    std::fs::write(crab.home().join(format!("orange/agents/{mission}.1.end")), "").unwrap();
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!(done["status"], "failed");
    let why = done["summary"].as_str().unwrap();
    assert!(why.starts_with("somebody else has changed m/one"), "{why}");
    crab.is_idle();
    assert_eq!((world.origin("m/one"), world.origin(CLAIM)), (theirs, None));
    assert!(crab.refs("refs/orange-fleet/kept").iter().any(|it| why.contains(it)), "{why}");
}

#[test]
fn a_claim_of_an_older_attempt_is_taken_back() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "commit; until_end; complete PASS done");
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/start", 1);
    let main = world.origin("main").unwrap();
    world.git("toy.git", &["update-ref", CLAIM, &main]);
    let mission = crab.mission()["run_id"].as_str().unwrap().to_owned();
    until("the agent is there", || !crab.notes("pid").is_empty());
    std::fs::write(crab.home().join(format!("orange/agents/{mission}.1.end")), "").unwrap();
    let done = world.gateway.heard("/v1/runs/complete", 1);
    assert_eq!(done["status"], "completed");
    crab.is_idle();
    assert_eq!(world.origin(CLAIM), None);
}

#[test]
fn a_repository_inside_the_worktree_is_a_warning() {
    let world = World::new();
    let script = "git init --quiet inner; git -C inner commit --quiet --allow-empty -m x; echo a >a.txt; complete PASS done";
    let done = report(&world, script);
    assert_eq!(done["warning"], "the repository that the agent has made in inner is not on the branch");
    assert_eq!(world.git("toy.git", &["ls-tree", "--name-only", "m/one"]), "README.md\na.txt");
}

#[test]
fn work_on_another_branch_counts_if_it_continues_the_mission() {
    let world = World::new();
    let done = report(&world, "git switch --quiet -c mine; commit; complete PASS done");
    assert_eq!(done["commit"].as_str(), world.origin("m/one").as_deref());
    assert_eq!(world.git("toy.git", &["log", "--format=%s", "m/one"]), "plan did its part\nBegin");
}

#[test]
fn a_worktree_somewhere_else_is_a_failure() {
    let world = World::new();
    let script = "commit; git switch --quiet --detach HEAD~1; echo b >b.txt; complete PASS done";
    let done = report(&world, script);
    assert_eq!(done["status"], "failed");
    assert!(done["summary"].as_str().unwrap().contains("which is not on the branch m/one"), "{done}");
    assert_eq!(world.origin("m/one"), None);
}

#[test]
fn conflicts_that_are_left_are_a_failure() {
    let world = World::new();
    let script = "echo a >README.md; git commit --quiet -am a; git switch --quiet -c other HEAD~1; \
                  echo b >README.md; git commit --quiet -am b; git switch --quiet -; git merge other; complete PASS done";
    let done = report(&world, script);
    assert_eq!(done["status"], "failed");
    assert_eq!(done["summary"], json!("the agent has left conflicts in its worktree: README.md"));
}

#[test]
fn an_origin_that_is_away_for_a_moment_gets_the_push() {
    let world = World::new();
    let crab = world.crab("atlas", &[]);
    crab.acts("plan", "until_end; commit; complete PASS done");
    world.gateway.assign(world.attempt("plan", 1));
    world.gateway.heard("/v1/runs/start", 1);
    crab.has_agent();
    std::fs::rename(world.path("toy.git"), world.path("away.git")).unwrap();
    let mission = crab.mission()["run_id"].as_str().unwrap().to_owned();
    std::fs::write(crab.home().join(format!("orange/agents/{mission}.1.end")), "").unwrap();
    let log = || std::fs::read_to_string(crab.home().join("crab.log")).unwrap();
    until("the push has failed", || log().contains("pushes again"));
    std::fs::rename(world.path("away.git"), world.path("toy.git")).unwrap();
    assert_eq!(world.gateway.heard("/v1/runs/complete", 1)["status"], "completed");
}
