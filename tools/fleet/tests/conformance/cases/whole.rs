//! Missions driven to their ends by crabs.

use std::path::Path;
use std::sync::Arc;

use orange_fleet::simulate::SimulatedCrabs;
use tokio::sync::watch;

use crate::TestedStore;
use crate::world::{World, agent, roles, until};

const RUNS: [&str; 6] = ["plan 1", "implement 1", "review 1", "fix 1", "review 2", "pr 1"];

pub async fn a_mission_goes_through_fail_fix_and_pass(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let id = world.start("one").await;
    let (stop, stopped) = watch::channel(false);
    let crabs = SimulatedCrabs::new(Arc::clone(&world.host), &world.colony, "c", agent());
    let running = tokio::spawn(crabs.run(roles(&["planner", "worker", "reviewer"]), stopped));
    let mission = world.ended(&id).await;
    stop.send(true).unwrap();
    running.await.unwrap().unwrap();
    assert_eq!(mission.row.status, "completed");
    assert_eq!(mission.prompt, "Change one\nas I say");
    assert_eq!((mission.row.summary.as_str(), mission.row.workflow.as_str()), ("Change one", "dev-task"));
    let runs: Vec<String> = mission.runs.iter().map(|it| format!("{} {}", it.step, it.attempt)).collect();
    assert_eq!(runs, RUNS);
    for run in &mission.runs {
        assert!(run.queued <= run.offered.unwrap() && run.offered <= run.started && run.started <= run.ended);
        assert!(run.crab.is_some());
    }
    let kinds = world.kinds(Some(&id)).await;
    assert_eq!(kinds[..4], ["mission.created", "step.queued", "run.offered", "run.started"], "{kinds:?}");
    assert_eq!(kinds.last().unwrap(), "mission.completed");
    assert_eq!(kinds.iter().filter(|it| *it == "run.completed").count(), RUNS.len());
    let counts = world.host.counts().await.unwrap();
    assert_eq!((counts.missions, counts.waiting, counts.alarms), (vec![("completed".to_owned(), 1)], 0, 0));
}

pub async fn many_missions_come_to_their_ends(store: TestedStore, folder: &Path) {
    const MISSIONS: usize = 30;
    let world = World::new((store.open)(folder)).await;
    let (stop, stopped) = watch::channel(false);
    let crabs = SimulatedCrabs::new(Arc::clone(&world.host), &world.colony, "c", agent());
    let lists = roles(&["planner", "worker", "reviewer", "any", "any", "any,planner-2"]);
    let running = tokio::spawn(Arc::clone(&crabs).run(lists, stopped));
    for number in 0..MISSIONS {
        world.start(&number.to_string()).await;
    }
    let all = || vec![("completed".to_owned(), MISSIONS as u64)];
    until(&*world.host, async || (world.host.counts().await.unwrap().missions == all()).then_some(())).await;
    stop.send(true).unwrap();
    running.await.unwrap().unwrap();
    assert_eq!(crabs.completed.load(std::sync::atomic::Ordering::Relaxed), (MISSIONS * RUNS.len()) as u64);
    let state = world.state().await;
    assert_eq!((state.scheduler.leases.len(), state.waiting), (0, Vec::new()));
}
