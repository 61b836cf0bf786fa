//! Agents in a wall: whole lives of them, several at once.

use orange_tests::model::{ModelAct, Plan};

use super::HarnessPair;
use super::missions::{fails_once, started};
use super::sandbox::needs_namespaces;
use super::workflows::{PERSISTENT_PATH, persistent_plans};
use crate::plans::{all_went_well, came_through, fixer, is_written, reviewer, worker};
use crate::suite::LifeSuite;
use crate::world::{PROJECT, World};

/// Attacks of an agent from inside; one that succeeds prints `HOLE`. A place that it may write to is private.
fn attack(world: &World) -> ModelAct {
    let (store, home, repo) = (world.home(), world.path("home"), world.repo());
    let (store, home, repo) = (store.display(), home.display(), repo.display());
    let model = world.model.url().replace("http://", "").replace(':', "/");
    ModelAct::run(format!(
        "cat {store}/projects.json && echo HOLE store; cat {repo}/.git/HEAD {repo}/marker && echo HOLE checkout; \
         echo x > {store}/escape; echo x > {repo}/escape; echo x > {home}/escape; git branch --force main HEAD; \
         cat {home}/secret && echo HOLE home; tmux -S {tmux} list-sessions && echo HOLE tmux; \
         (exec 3<> /dev/tcp/{model}) && echo HOLE network; unshare --user true && echo HOLE namespace; \
         orange project list | grep {PROJECT} && echo HOLE projects; echo attacked",
        tmux = world.path("tmux").display(),
    ))
}

/// A task of `default`, one of `persistent` and a mission live at once, and come through a failed review, beside an agent that
/// attacks its wall.
pub(super) fn three(suite: &'static LifeSuite, pair: HarnessPair) {
    const ONCE: &str = "Paint the barn door";
    const LASTING: &str = "Paint the stable door";
    const ATTACKS: &str = "Break out of the barn";
    needs_namespaces(suite);
    let world = World::walled(suite);
    let HarnessPair(works, reviews) = pair;
    world.write("home/secret", "a key");
    world.write(&format!("{PROJECT}/marker"), "not committed");
    let before = world.git(&world.repo(), &["rev-parse", "main"]);
    let attacks = world.plan(Plan::new(&[ATTACKS], vec![attack(&world)]));
    let plans = [
        worker(&world, ONCE, "agent-review"),
        reviewer(&world, ONCE, 1, "FAIL", "working"),
        fixer(&world, ONCE),
        reviewer(&world, ONCE, 2, "PASS", "reviewing"),
    ];
    let (works_first, others) = persistent_plans(&world, LASTING);
    let steps = fails_once(&world);
    let options = ["--harness", works, "--review-harness", reviews];
    let once = world.create("barn", ONCE, &options);
    let lasting = world.create("stable", LASTING, &[&options[..], &["--workflow", "persistent"]].concat());
    let mission = started(&world, pair, &[]);
    let attacker = world.create("attack", ATTACKS, &[&options[..], &["--workflow", "minimal"]].concat());

    once.reaches("reviewing");
    assert_eq!(once.path(), ["working", "agent-review", "working", "agent-review", "reviewing"]);
    plans.into_iter().for_each(|plan| came_through(&world, plan, ONCE));
    is_written(&once, &["DECISIONS: blue", "Verdict: PASS", "Round 2"]);
    lasting.reaches("reviewing");
    assert_eq!(lasting.path(), PERSISTENT_PATH);
    assert_eq!(all_went_well(&world, works_first).len(), 7);
    others.into_iter().for_each(|plan| came_through(&world, plan, LASTING));
    mission.has_events(1, "mission.ended");
    assert_eq!(mission.events_of("mission.ended")[0]["status"], "completed");
    for plan in steps {
        all_went_well(&world, plan);
    }
    for one in [&once, &lasting, &mission] {
        let spawned = one.events_of("agent.spawned");
        assert!(spawned.iter().all(|event| event["sandbox"]["level"] == "wall"), "{spawned:#?}");
        assert!(one.events_of("agent.crashed").is_empty());
    }
    world.until("the attacks are made", || {
        world.report(attacks).exchanges.first().is_some_and(|exchange| exchange.answer.is_some())
    });
    let answer = world.report(attacks).exchanges[0].answer.clone().unwrap_or_default();
    assert!(answer.contains("attacked") && !answer.contains("HOLE"), "{answer}");
    for place in [world.home(), world.repo(), world.path("home")] {
        assert!(!place.join("escape").exists(), "{}", place.display());
    }
    assert_eq!(world.git(&world.repo(), &["rev-parse", "main"]), before);
    attacker.ok("cancel", &["--yes"]);
    // Their commits came out of their private repositories.
    let painted =
        world.git(&world.repo(), &["show", "barn:window.txt", "stable:window.txt", "paint:coat.txt"]);
    assert_eq!(painted, "painted\npainted\npainted");
}
